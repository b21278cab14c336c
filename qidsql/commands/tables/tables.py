"""The tables and columns of a source, from its catalog."""

from collections.abc import Callable

from qidsql.commands.tables.ranking import ranked
from qidsql.commands.tables.request import TablesRequest
from qidsql.commands.tables.result import ListedColumn, ListedTable, TablesResult
from qidsql.core.catalog import CatalogTable
from qidsql.core.results import Verdict
from qidsql.core.tables import fits
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName
from qidsql.wording.texts import plural


def tables(
    engine: Engine, request: TablesRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> TablesResult:
    """The tables and views that the user can see, with the names of their columns.

    Two or three statements on the catalog; no table is read, but for one statement and one scan of each if they are
    ranked. Names match in any letter case.
    Raises UnknownName with near misses if a table, a pattern or a schema matches nothing, and StatementError; Stopped
    while tables are ranked.
    """
    on_stage("reading the catalog")
    listed = sorted(engine.catalog(request.schema).tables, key=lambda table: table.name)
    names = [str(table.name) for table in listed]
    if request.table is not None:
        wanted = request.table
        matching = [table for table in listed if fits(wanted, str(table.name))]
        listed = matching or [table for table in listed if fits(wanted.lower(), str(table.name).lower())]
        if not listed:
            raise UnknownName("table", [wanted], engine.label, names)
    found = [_listed(table) for table in listed]
    if request.rank:
        on_stage(f"counting the rows of {plural(len(listed), 'table')}")
        found = ranked(engine, listed, found)
    return TablesResult(
        verdict=Verdict.FINISHED if listed else Verdict.INCONCLUSIVE,
        reason=plural(len(listed), "table") if listed else "there is no table that this user can see",
        source=engine.label,
        engine=engine.version,
        tables=tuple(found),
    )


def _listed(table: CatalogTable) -> ListedTable:
    columns = (ListedColumn(each.name, each.type, each.nullable, each.readable) for each in table.columns)
    return ListedTable(table.name, table.kind, table.estimated_rows, tuple(columns), table.obstacle)
