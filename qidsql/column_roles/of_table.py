"""The proposed roles of the columns of one table, as `init` would propose them: from its catalog, names and counts."""

from collections.abc import Mapping

from qidsql.column_roles.proposal import ValueCounts
from qidsql.column_roles.proposals import Proposal
from qidsql.column_roles.table_proposals import TableProposals
from qidsql.core.catalog import Catalog, CatalogColumn, CatalogTable
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, StatementError


def proposed_roles(
    engine: Engine, table: Table, measured: Mapping[str, ValueCounts] | None = None
) -> dict[str, Proposal]:
    """The proposals by column. Labels, comments and keys count where the engine's catalog has them.

    Queries only the system catalog; where that fails, names alone count. Raises Stopped.
    """
    catalog = _catalog(engine, table)
    listed = next(each for each in catalog.tables if each.name == table.name)
    return {each.column: each for each in TableProposals(catalog).of(listed, measured=measured).columns}


def _catalog(engine: Engine, table: Table) -> Catalog:
    """The catalog of the table's schema; one of the described table alone if the engine has no more to say."""
    described = tuple(CatalogColumn(column.name, column.type) for column in table.columns)
    alone = Catalog((CatalogTable(table.name, table.kind, described),))
    if not engine.labelled:
        return alone
    try:
        found = engine.catalog(table.name.schema or None)
    except (StatementError, AccessError):
        return alone
    return found if any(each.name == table.name for each in found.tables) else alone
