"""Statements that publish columns of a table, printed by `mask`."""

from collections.abc import Sequence

from qidsql.core.tables import FILES, Table, TableName
from qidsql.engines.base import Engine
from qidsql.sql.copies import granting_columns, publishing_view


def publishing(engine: Engine, table: Table, published: Sequence[str], view: str | None, role: str) -> tuple[str, ...]:
    """A view of these columns, or a grant of them to the role. Empty for files and if nothing is published."""
    dialect = engine.dialect
    if not published or table.kind in FILES:
        return ()
    name = TableName(view or dialect.name_beside(table.name.name, "_published"), table.name.schema, table.name.catalog)
    statements = publishing_view(dialect, table, published, name, role)
    if dialect.has_roles and table.condition is None:  # a grant of columns would publish every row
        statements += granting_columns(dialect, table, published, role)
    return dialect.script(*statements)
