"""The protected rows of a table as a query of the caller's own statement: COPY (FROM qidsql.protected('p')) TO ..."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from qidsql.commands.protect.way import Way
from qidsql.core.copies import Script
from qidsql.core.options import choice
from qidsql.duckdb_extension.functions import CALLERS, FUNCTIONS, NOT_GIVEN, completed_request, in_sql, script_with
from qidsql.duckdb_extension.guard import query_rows
from qidsql.errors import StatementError, UsageError
from qidsql.sql import quoted
from qidsql.wording.texts import setting

if TYPE_CHECKING:
    from sqlglot import exp

    from qidsql.commands.protect.cells.matching_result import MatchingRows
    from qidsql.commands.protect.result import ProtectResult
    from qidsql.core.tables import Column
    from qidsql.engines.duckdb.embedded import HostEngine
    from qidsql.engines.postgres.attached import AttachedEngine

NAME = "qid_protected"  # of the scalar function that returns the query
BY = "\x1f"  # between the names of a list
PROTECTION_SECONDS = 60  # the most, unless max_seconds is given: not every DuckDB notices an interrupt while it plans
LEFT_OUT = ("sql", "frontier", "trace")  # what no statement carries out
COLLATION = "system.main.current_setting('default_collation')"
PROTECT, CELLS = (next(each for each in FUNCTIONS if each.macro == name) for name in ("protect", "protect_cells"))
LISTED = f"COALESCE(system.main.list_aggregate({{0}}, 'string_agg', {quoted(BY)}), '')"


def carried_out() -> dict[str, str]:
    """The types of the parameters by name: those of protect that a statement can carry out, and `against`."""
    return {
        **{name: kind for name, kind in PROTECT.parameters.items() if name not in LEFT_OUT},
        "against": CELLS.parameters["against"],
    }


def arguments() -> int:
    """The number of arguments of the scalar function, all texts: table, collation, settings, statement, parameters."""
    return 3 + len(CALLERS) + len(carried_out())


def definition(statement: str) -> str:
    """The statement that creates the macro."""
    defaults = ", ".join(f"{name} := {NOT_GIVEN[kind][0]}" for name, kind in carried_out().items())
    text = {True: LISTED, False: "CAST({0} AS VARCHAR)"}
    texts = (text[kind.endswith("[]")].format(name) for name, kind in carried_out().items())
    given = ", ".join(('"table"', COLLATION, *CALLERS, statement, *texts))
    return (
        f'CREATE OR REPLACE MACRO qidsql.main.protected("table", {defaults}) AS TABLE\n'
        f"FROM system.main.query(system.main.{NAME}({given}))"
    )


def options_of(texts: Mapping[str, str]) -> dict[str, Any]:
    """The options of the request by the texts of the macro's parameters. Raises UsageError."""
    values: dict[str, Any] = {}
    for name, kind in carried_out().items():
        text = texts[name]
        if kind == "VARCHAR[]":
            values[name] = text.split(BY) if text else []
        else:
            values[name] = {"BIGINT": int, "DOUBLE": float}.get(kind, str)(text)
    against = values.pop("against")
    given = PROTECT.given({**values, **dict.fromkeys(LEFT_OUT, NOT_GIVEN["VARCHAR"][1])})
    return {**given, "against": against} if against else given


def protected_query(engine: "HostEngine | AttachedEngine", table: str, asked: str, given: Mapping[str, Any]) -> str:
    """The query of the rows of a checked plan; `asked` is the query of what the caller sees of the table.

    Raises QidsqlError: also where the plan is not finished, its rows do not pass, or other columns give cells back.
    """
    from sqlglot import exp, parse_one

    from qidsql.commands.protect.result import ProtectResult
    from qidsql.core.results import Verdict
    from qidsql.engines.duckdb.dialect import DUCKDB
    from qidsql.engines.duckdb.embedded import HostEngine
    from qidsql.engines.duckdb.own_functions import by_whole_names

    if not isinstance(engine, HostEngine):
        raise UsageError(
            f"{table} is in an attached Postgres: the command line's protect writes a protected copy there"
        )
    if query_rows(table):
        raise UsageError("the rows of a query are not protected: create a view of it, and protect that")
    result = _planned(engine, {"table": table, "max_seconds": PROTECTION_SECONDS, **given})
    if result.verdict != Verdict.FINISHED or result.given_back or not result.script:
        more = (f"max_seconds := {10 * PROTECTION_SECONDS} allows it more",) if "max_seconds" not in given else ()
        reasons = "; ".join((result.reason, *result.account.unfinished, *(more if result.account.unfinished else ())))
        raise StatementError(f"no rows of {table} are given out: {in_sql(reasons)}")
    made = parse_one(result.script[0], dialect="duckdb")
    made = made.expression if isinstance(made, exp.Create) else made
    assert isinstance(made, exp.Query)
    if not isinstance(result, ProtectResult):
        _check(engine, engine.describe(table).resolve(result.account.columns), made, result)
    (seen,), _ = engine.seen([table], given.get("where", ""))
    rows = DUCKDB.render(by_whole_names(made))
    holes = {"rows": rows, "asked": asked, "seen": quoted(seen), "table": quoted(table)}
    return script_with("duckdb_extension/shell_protected", holes)


def _planned(engine: "HostEngine", options: Mapping[str, Any]) -> "ProtectResult | MatchingRows":
    """The plan that a query carries out: by values, unless another one is asked for. Raises QidsqlError."""
    from qidsql.commands.protect.cells.command import Attack, CellsRequest
    from qidsql.commands.protect.cells.matching import matching_rows
    from qidsql.commands.protect.command import ProtectRequest
    from qidsql.commands.protect.protect import rows_to_query

    way = choice(Way, "by", options.get("by") or (Way.LEVELS if options.get("levels") else Way.VALUES))
    against = options.get("against")
    if way is Way.CELLS:
        if against != Attack.RELEASED_ROWS:
            raise UsageError(
                "no query holds the blank cells by which nobody is found: leave out --by cells, or write the copy with "
                f"the protect of the command line; --against {Attack.RELEASED_ROWS} withstands only someone who looks "
                f"up a released row"
            )
        own = {each.name for each in fields(CellsRequest)}
        if more := [name for name in options if name not in own]:
            raise UsageError(f"{setting(more[0])} is not for --by {way}")
        return matching_rows(engine, completed_request(engine, CellsRequest, {**options, "sql": Script.VIEW}))
    if against is not None:
        raise UsageError(f"--against is for --by cells: by {way} nobody is found, whoever looks")
    if way not in (Way.VALUES, Way.LEVELS):
        call = f"qidsql.protect_{way}"
        raise UsageError(f"{call} says what to publish, which you select: --by {way} gives no rows")
    return rows_to_query(engine, completed_request(engine, ProtectRequest, {**options, "by": way}))


def _check(engine: "HostEngine", columns: Sequence["Column"], made: "exp.Query", result: "MatchingRows") -> None:
    """Audits the rows that the query makes. Raises StatementError."""
    from qidsql.profiling.by_value import ByValue
    from qidsql.protection.copies import rows_of_query
    from qidsql.protection.row_patterns import RowPatterns
    from qidsql.protection.suppression.verification import wildcard_check
    from qidsql.sql.relation import Relation

    rows = Relation(rows_of_query(engine.dialect, made, columns))
    names = tuple(column.name for column in columns)
    with RowPatterns.of(ByValue(engine, rows, names, result.k)) as patterns:
        check = wildcard_check(patterns, result.k)
    if not check.passes or check.rows != result.account.rows:
        raise StatementError(f"the protected rows failed their audit ({check.rows_below_k} below k)")
