"""Statements that suppress the cells of a plan in the engine alone, printed instead of a copy."""

from collections.abc import Collection

from qidsql.commands.table_protection import Printed, TableProtection
from qidsql.core.copies import Script
from qidsql.core.tables import FILES, TableName, names_of, weight_of
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.sql.copies import create_table, create_view, suppressed_by_counts, suppression_in_place
from qidsql.wording.texts import count

MAX_WINDOWS = 200  # column sets that a printed statement tries: each is a sort of the table there


def suppressing(engine: Engine, protection: TableProtection, masks: Collection[int], k: int, script: Script) -> Printed:
    """The statements; each row loses the lightest of these column sets that make it safe. Raises UsageError."""
    table, dialect = protection.table, engine.dialect
    if table.kind in FILES:
        raise UsageError(f"a {table.kind} takes no statements; --into writes a copy of it")
    ordered = sorted(masks, key=lambda mask: (weight_of(mask, protection.weights), mask))
    if len(ordered) > MAX_WINDOWS:
        raise UsageError(
            f"the plan suppresses {count(len(ordered))} different column sets, too many for one statement "
            f"({MAX_WINDOWS}); write the copy with --into, or suppress fewer columns (--column)"
        )
    if script is Script.UPDATE:
        if not table.row_address:
            raise UsageError(f"{table.name} is a {table.kind}, whose rows have no addresses; use --sql view")
        lost = {name for mask in ordered for name in names_of(mask, protection.names)}
        fixed = [column.name for column in protection.columns if column.name in lost and not column.nullable]
        if fixed:
            raise UsageError(f"{', '.join(fixed)} may not be NULL in {table.name}; use --sql view, or --into")
        columns = tuple(column for column in table.columns if column.readable)
        query = suppressed_by_counts(dialect, table, protection.columns, columns, ordered, k)
        made = suppression_in_place(dialect, table, protection.columns, ordered, k)
        return Printed(dialect.script(made), query, columns)
    name = TableName(dialect.name_beside(table.name.name, "_suppressed"), table.name.schema, table.name.catalog)
    query = suppressed_by_counts(dialect, table, protection.columns, protection.copied, ordered, k)
    make = create_view if script is Script.VIEW else create_table
    return Printed(dialect.script(make(dialect, name, query)), query, protection.copied)
