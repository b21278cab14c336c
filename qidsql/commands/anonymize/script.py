"""A statement that anonymizes a table by a plan, printed instead of a copy."""

from sqlglot import exp

from qidsql.commands.table_protection import Printed, TableProtection
from qidsql.core.copies import Script
from qidsql.core.tables import FILES, TableName
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.protection.anonymization.anonymizer import write_plan
from qidsql.protection.copies import plan_by_codes
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.copies import create_table, create_view, suppressed_by_plan
from qidsql.sql.templates import integer
from qidsql.wording.texts import count

MAX_LINES = 10_000  # of a plan within a printed statement


def anonymizing(engine: Engine, protection: TableProtection, patterns: RowPatterns, script: Script) -> Printed:
    """The statement, by the table `shares` of the workbench. The plan in it consists of codes: it contains no value.

    Raises UsageError, StatementError.
    """
    table, columns, dialect = protection.table, protection.columns, engine.dialect
    if table.kind in FILES:
        raise UsageError(f"a {table.kind} takes no statements; --into writes a copy of it")
    if dialect.own_hashes:
        raise UsageError("no statement can make the codes of the plan in this engine by itself; leave out --sql")
    write_plan(patterns)
    codes = [f"c{place}" for place in range(len(columns))]
    ends = ["first_row", "last_row"]
    in_order = plan_by_codes(len(columns), parting=True).order_by("plan.pattern", "plan.first_row")
    rows = patterns.bench.query(in_order, "plan")
    if len(rows) > MAX_LINES:
        raise UsageError(
            f"the plan has {count(len(rows))} lines, too many for one statement ({count(MAX_LINES)}); write the "
            f"copy with --into, or anonymize fewer columns (--column)"
        )
    lines = [tuple(map(integer, row)) for row in rows] or [(0,) * (len(codes) + 3)]
    plan = exp.values(lines, alias="lines", columns=["mask", *codes, *ends])
    query = suppressed_by_plan(dialect, table, columns, protection.copied, plan, patterns.shuffle_key, parting=True)
    name = TableName(dialect.name_beside(table.name.name, "_anonymized"), table.name.schema, table.name.catalog)
    make = create_view if script is Script.VIEW else create_table
    return Printed(dialect.script(make(dialect, name, query)), query, protection.copied)
