"""The table functions: parameters, columns, and the rows of a result."""

import inspect
import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from qidsql.duckdb_extension.figures import (
    CELLS,
    GRAPH,
    IMPACT,
    LINK,
    PEOPLE,
    PROTECT,
    REPORT,
    RISK,
    ROLES,
    TURNS,
    VERDICT,
    cells_rows,
    columns_named,
    graph_rows,
    impact_rows,
    link_rows,
    people_rows,
    protect_rows,
    report_rows,
    risk_rows,
    roles_rows,
    row_of,
    turns_rows,
    verdict_rows,
    with_what_is_undone,
)
from qidsql.duckdb_extension.guard import MANY, as_typed
from qidsql.duckdb_extension.guard import NAME as GUARD_NAME
from qidsql.errors import Interrupted, UsageError
from qidsql.sql import quoted, sql_file
from qidsql.wording.texts import BY_REQUIRE

if TYPE_CHECKING:
    from qidsql.commands.audit.command import AuditResult
    from qidsql.commands.keys.command import KeysResult
    from qidsql.commands.protect.columns.command import ColumnsResult
    from qidsql.commands.uniques.command import UniquesResult
    from qidsql.declarations.options import Command, Parameter
    from qidsql.engines.base import Engine
    from qidsql.engines.duckdb.embedded import HostEngine
    from qidsql.engines.postgres.attached import AttachedEngine
    from qidsql.engines.runner import ExecutedStatement
    from qidsql.measures.profiles import ClassProfile

Columns: TypeAlias = dict[str, str]  # name: type as in values.py
Row: TypeAlias = tuple[Any, ...]

MEASURED = (
    "rows classes smallest largest k classes_below_k rows_below_k unique_rows colliding_pairs "
    "distinct_ratio separation_ratio share_below_k"
)
MEASURES = columns_named(MEASURED)
WORDS = ("note", "reason", "line")  # columns whose text can name options
GUARD = {
    "seen": "VARCHAR[]",
    "audited": "VARCHAR",
}  # of rows that are no part of the result: what the audit saw of what
SESSION = {"session_path": "VARCHAR", "session_zone": "VARCHAR"}  # the caller's settings, which its macro passes
RESERVED = {"all", "by", "distinct", "limit", "on", "order", "then", "where"}  # by SQL: as parameters they end with _
NOT_GIVEN: dict[str, tuple[str, Any]] = {  # by type: the default of a macro's parameter, and its value; NULL is refused
    "VARCHAR": ("''", ""),
    "VARCHAR[]": ("CAST('[]' AS VARCHAR[])", []),
    "BIGINT": ("CAST('-9223372036854775808' AS BIGINT)", -(2**63)),
    "DOUBLE": ("CAST('-inf' AS DOUBLE)", float("-inf")),
}
CALLERS = ("system.main.current_setting('search_path')", "system.main.current_setting('TimeZone')")  # SESSION
PASSED = "".join(f", {name} := {value}" for name, value in zip(SESSION, CALLERS, strict=True))
STATEMENT = "CAST(system.main.current_query_id() AS VARCHAR)"  # the caller's; DuckDB 1.3 has no such function
FIRST = "system.main.list_extract({name}, 1)"
REQUIREMENT = f"""WHEN {FIRST.format(name="verdict")} IS DISTINCT FROM 'pass'
    THEN system.main.error(system.main.concat(
      'qidsql: ', {FIRST.format(name="verdict")}, ': ', {FIRST.format(name="reason")}
    ))"""
TRACE = columns_named("step seconds purpose statement")


@dataclass(frozen=True)
class TableFunction:
    """A command as a macro, FROM qidsql.COMMAND('table', parameter := value, ...), over a table function qid_COMMAND.

    A table function runs on a connection of its own; only a macro is a part of the caller's statement, and can refuse
    what the audit saw if the caller sees something else. The parameters are the options of the command's request;
    `rows` converts its result. `tables` are the fields of the request that are given by place; `called` is the name of
    a second function of the same command.
    """

    command: str
    columns: Columns
    rows: Callable[[Any], Iterable[Row]]
    tables: tuple[str, ...] = ("table",)
    called: str = ""
    purpose: str = ""  # of a second function; else the first line of the command's help
    passes: bool = False  # an error unless the verdict is pass
    many: bool = False  # of each check in a table of checks
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that nobody gives

    @property
    def macro(self) -> str:
        return self.called or self.command

    @property
    def name(self) -> str:
        return f"qid_{self.macro}"

    @cached_property
    def options(self) -> tuple["Parameter", ...]:
        from qidsql.declarations.options import parameters

        return parameters(self._request)

    @cached_property
    def fields(self) -> dict[str, "Parameter"]:
        """The options by their names in SQL."""
        shown = (each for each in self.options if each.option.in_shells and not each.option.argument)
        return {parameter_name(each): each for each in shown if each.name not in (*self.tables, *self.fixed)}

    @cached_property
    def parameters(self) -> Columns:
        """The types by name. A truth value is a text, so that it can be left out."""
        kinds = {name: each.form.sql.replace("BOOLEAN", "VARCHAR") for name, each in self.fields.items()}
        return {**kinds, "trace": "VARCHAR"}

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the request, by the arguments of the table function. Raises UsageError."""
        given = {}
        for name, value in values.items():
            if value is None or (isinstance(value, list) and None in value):
                raise UsageError(f"{name} must not be NULL; leave it out")
            if value != NOT_GIVEN[self.parameters[name]][1]:
                option = self.fields.get(name)
                truth = option is None or option.form.sql == "BOOLEAN"
                given[option.name if option else name] = _truth(name, value) if truth else value
        return {**self.fixed, **given}

    @property
    def usage(self) -> str:
        tables = ", ".join(f"'{each}'" for each in self.tables)
        return f"{'CALL' if self.passes else 'FROM'} qidsql.{self.macro}({tables})"

    def definition(self, statement: str) -> str:
        """The statement that creates the macro; `statement` is an expression that identifies the caller's."""
        places = [f'"{each}"' for each in self.tables]
        defaults = [f"{name} := {NOT_GIVEN[kind][0]}" for name, kind in self.parameters.items()]
        where = "where_" if "where_" in self.parameters else "''"
        given = list(zip(places, (where, "''"), (*places[1:], *places[:1]) if places[1:] else ("''",), strict=False))
        given = given or [("''", "''", "''")]
        given = [(places[0], where, quoted(MANY))] if self.many else given
        asked = (f"system.main.{GUARD_NAME}({', '.join((*each, *CALLERS, statement))})" for each in given)
        seen = [f"(FROM system.main.query({each}))" for each in asked]
        holes = {
            "name": self.macro,
            "parameters": ", ".join(places + defaults),
            "seen": ", '; ', ".join(seen),
            "requirement": REQUIREMENT if self.passes else "",
            "function": self.name,
            "arguments": ", ".join([*places, *(f"{name} := {name}" for name in self.parameters)]) + PASSED,
        }
        return script_with("duckdb_extension/shell_guard", holes)

    @property
    def said(self) -> str:
        """What it is for, in a line."""
        return in_sql(self.purpose or str(self._request.__doc__).strip().splitlines()[0])

    @property
    def help(self) -> Iterator[tuple[str, str, str]]:
        """Rows of qidsql.help about the function: what it is about, a parameter, its description."""
        yield from help_of(self.macro, self.usage, self.said)
        for name, each in self.fields.items():
            default = "" if each.default in (None, (), inspect.Parameter.empty) else f", by default {each.default}"
            yield self.macro, name, f"{each.form.sql}{default}: {in_sql(each.option.help)}"

    @property
    def _declared(self) -> "Command":
        declared: Command = import_module(f"qidsql.commands.{self.command}.command").COMMAND
        return declared

    @property
    def _request(self) -> Any:
        return self._declared.request

    def check(self, engine: "Engine", tables: Sequence[str], options: Mapping[str, Any]) -> None:
        """Checks the call without reading a row of the table. Raises UsageError, UnknownName or another QidsqlError."""
        engine.planned_statements(lambda: self._result(engine, tables, options))

    def run(
        self, engine: "HostEngine | AttachedEngine", tables: Sequence[str], options: Mapping[str, Any]
    ) -> list[Row]:
        """The rows of the result. Raises QidsqlError; Interrupted after Ctrl-C."""
        result = self._result(engine, tables, options)
        if any("interrupted" in reason for reason in result.account.unfinished):
            raise Interrupted("interrupted")
        words = [place for place, name in enumerate(self.columns) if name in WORDS]
        rows = [_in_sql(row, words) for row in self.rows(result)]
        if "table_name" in self.columns:  # with its database, of which a result knows nothing
            rows = [(as_typed(engine.whole_name(tables[0])), *row[1:]) for row in rows]
        return rows

    def trace(self, engine: "Engine", tables: Sequence[str], options: Mapping[str, Any]) -> list[Row]:
        """The statements with their seconds instead of the result, followed by the verdict."""
        steps: list[ExecutedStatement] = []
        engine.watchers.append(steps.append)
        result = self._result(engine, tables, options)
        rows: list[Row] = [(place, step.seconds, step.purpose, step.sql) for place, step in enumerate(steps, start=1)]
        return [*rows, (len(rows) + 1, result.account.seconds, in_sql(f"{result.verdict}: {result.reason}"), None)]

    def _result(self, engine: "Engine", tables: Sequence[str], options: Mapping[str, Any]) -> Any:
        name = self.command.rpartition(".")[2]
        work = getattr(import_module(f"qidsql.commands.{self.command}.{name}"), name)
        options = {**dict(zip(self.tables, tables, strict=True)), **options}
        subject: Any = engine
        if self._declared.opens:
            from qidsql.engines.connect import Source

            subject = Source(engine)
        request = completed_request(engine, self._request, options)
        from qidsql.core.budget import within_bytes
        from qidsql.core.options import size_in_bytes

        with within_bytes(size_in_bytes("max_bytes", getattr(request, "max_bytes", None))):
            return work(subject, request)


def completed_request(engine: "Engine", kind: Any, options: Mapping[str, Any]) -> Any:
    """The request with these options, completed by the policy file if they name one. Raises UsageError."""
    if "policy_file" not in options:
        return kind(**options)
    from qidsql.declarations.options import with_given
    from qidsql.operations.table_policy import with_policy

    return with_policy(engine, with_given(kind, options, **options), None, search=False)


def script_with(template: str, holes: Mapping[str, str]) -> str:
    """A statement of a shell's script, its holes filled by texts."""
    pattern = rf":({'|'.join(holes)})\b"
    return re.sub(pattern, lambda hole: holes[hole[1]], sql_file(template))


def parameter_name(option: "Parameter") -> str:
    """The name of an option in SQL: that of Python, --l and --t by their letters, and none needs quotes."""
    letters = (flag.removeprefix("--") for flag in option.flags if flag.startswith("--"))
    name = next((letter for letter in letters if len(letter) == 1), option.name)
    return f"{name}_" if name in RESERVED else name


def _truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UsageError(f"{name} must be true or false")
    return text.lower() == "true"


FLAG = r"--([a-z][a-z-]*[a-z]|[a-z])"
VALUE = r" (?!and |or )('(?:[^']|'\"'\"')*'|\d[\d.]*(?= )|[^\s,;:()']+?(?=$|[.,;)](?: |$)| --))"


def in_sql(text: str) -> str:
    """The text as read at a prompt, options as parameters: --identifier a --identifier b as identifiers := [...]."""
    text = re.sub(r"--require ([a-z-]+)(=)?", _by_name, as_typed(text))
    one = f"{FLAG}{VALUE}"
    text = re.sub(f"{one}(?: {one})*", lambda run: ", ".join(_assigned(re.findall(one, run[0]))), text)
    return re.sub(FLAG, lambda option: _parameter(option[1])[0], text)


def _by_name(limit: re.Match[str]) -> str:
    """A limit that is asked for by its name as an option of its own, as it is one in SQL."""
    known = limit[1].replace("-", "_") in BY_REQUIRE
    return f"--{limit[1]}{' ' if limit[2] else ''}" if known else limit[0]


def _assigned(options: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The parameters with the values of the options; one that takes a list, once with all."""
    lists: dict[str, list[str]] = {}
    for flag, value in options:
        name, kind = _parameter(flag)
        given = quoted(shlex.split(value)[0])
        if kind == "VARCHAR[]":
            lists.setdefault(name, []).append(given)
        elif kind == "VARCHAR" or (kind in ("BIGINT", "DOUBLE") and re.fullmatch(r"[\d.]+", value)):
            yield f"{name} := {given if kind == 'VARCHAR' else value}"
        else:
            yield f"--{flag} {value}"  # the name follows, as that of each option without a value
    yield from (f"{name} := [{', '.join(values)}]" for name, values in lists.items())


def _parameter(flag: str) -> tuple[str, str]:
    name = flag.replace("-", "_")
    return _parameters().get(name, (name, ""))


@cache
def _parameters() -> dict[str, tuple[str, str]]:
    """The parameter and its type for each option of the command line, by its name with underscores."""
    found = {}
    for each in (each for function in FUNCTIONS for each in function.options):
        flags = "/".join(each.flags).replace("--require ", "--")
        for flag in flags.split("/"):
            name = flag.lstrip("-").replace("-", "_")
            shown = f"{each.name} := false" if name == f"no_{each.name}" else parameter_name(each)
            if each.option.in_shells:
                found[name] = shown, each.form.sql
            else:
                found.setdefault(name, (f"the command line's {flag}", ""))
    return found


def _in_sql(row: Row, words: Sequence[int]) -> Row:
    return tuple(in_sql(cell) if cell and place in words else cell for place, cell in enumerate(row))


def measure_cells(profile: "ClassProfile | None") -> Row:
    """The cells of MEASURES; with an entity, "rows" counts entities."""
    if profile is None:
        return (None,) * len(MEASURES)
    cells = profile.to_plain()
    return tuple(cells["entities"] if name == "rows" and profile.entities else cells[name] for name in MEASURES)


# audit

# a shell shows as many of the first and the last as fit
LAST = ["rows_below_k", "share_below_k", "verdict"]
SHOWN = f"finding columns smallest {MEASURED} nulls criterion complete type note role".split()
AUDIT = columns_named(" ".join([*(name for name in SHOWN if name not in LAST), *LAST]))


def _audit_rows(result: "AuditResult") -> Iterable[Row]:
    """The table with the verdict, then columns, searches, the effect of withholding columns, and notes."""

    def row(
        finding: str,
        columns: Sequence[str] | None = None,
        profile: "ClassProfile | None" = None,
        note: str | None = None,
        **cells: object,
    ) -> Row:
        given = dict(zip(MEASURES, measure_cells(profile), strict=True)) | cells
        given |= {"finding": finding, "columns": columns, "note": note}
        return tuple(given.get(name) for name in AUDIT)

    from qidsql.report.sections import disclosed_lines  # after the command, so that loading stays fast

    audited = [column.name for column in result.columns if column.audited]
    yield row("table", audited, result.profile, result.reason, verdict=str(result.verdict), complete=result.complete)
    for column in result.columns:
        cells = {"nulls": column.nulls, "type": column.type, "role": str(column.role)}
        yield row("column", [column.name], column.profile, column.reason or None, **cells)
        if column.without is not None:
            yield row("without column", [column.name], column.without)
    texts = disclosed_lines(result.disclosed, result.account.policy)
    for each, text in zip(result.disclosed, texts, strict=True):
        yield row("disclosed", each.known, note=text, role="sensitive")
    for search in result.searches:
        note = search.impossible or search.unfinished or None
        yield row("search", None, None, note, criterion=search.criterion, complete=search.complete)
        for found in result.found_by(search):
            yield row("column set", found.columns, found.profile, _linked(found.profile), criterion=search.criterion)
    for option in result.withheld:
        verdict = "pass" if option.passes else "violation"
        yield row("withheld", option.columns, option.profile, option.still or None, verdict=verdict)
    if result.least_withheld:
        note = f"at least {result.least_withheld.at_least} columns must be withheld"
        yield row("least withheld", result.least_withheld.columns, None, note)
    for coarse in result.coarser or ():
        verdict, note = "pass" if coarse.passes else "violation", f"as {', '.join(coarse.becomes)}"
        note += f"; still: {coarse.still}" if coarse.still else ""
        yield row("coarser", coarse.columns, coarse.profile, note, verdict=verdict)
    for blank in result.blanked or ():
        verdict = "pass" if blank.passes else "violation"
        yield row("blank", blank.columns, blank.profile, blank.still or None, verdict=verdict)
    for finding, notes in (
        ("assumption", result.assumptions),
        ("note", (result.account.snapshot, *result.account.notes)),
        ("unfinished", result.account.unfinished),
    ):
        yield from (row(finding, note=note) for note in notes)


def _linked(profile: "ClassProfile") -> str | None:
    """What several known rows of a person leave, beside the measures by one."""
    found = profile.histories
    if found is None:
        return None
    return f"{found.known_rows.words} leave {found.smallest} or more persons; {found.persons_below_k} are below k"


# keys

KEYS = columns_named(f"columns weight meets {MEASURED} criterion verdict complete optimal reason")


def _keys_rows(result: "KeysResult") -> Iterable[Row]:
    """One row per column set; no row if there is proved to be none, else one row without columns."""
    end = (result.criterion, str(result.verdict), result.complete, result.optimal, result.reason)
    for found in result.column_sets:
        yield (found.columns, found.weight, found.meets, *measure_cells(found.profile), *end)
    if not result.column_sets and result.verdict != "finished":
        yield (None, None, None, *measure_cells(None), *end)


# protect by columns

COLUMNS_PUBLISHED = columns_named(
    f"published withheld weight bound optimal safe {MEASURED} criterion algorithm verdict script reason"
)


def _columns_rows(result: "ColumnsResult") -> Iterable[Row]:
    plan = (result.published, result.withheld, result.weight, result.bound, result.optimal, result.safe)
    reason = with_what_is_undone(result)
    words = (result.criterion, result.algorithm, str(result.verdict), result.script, reason)
    yield (*plan, *measure_cells(result.profile), *words)


# uniques

UNIQUES = columns_named("finding columns size combinations rows contribution record key score verdict complete reason")


def _uniques_rows(result: "UniquesResult") -> Iterable[Row]:
    """The table, then combinations by size and by column, the column sets with the most, and scored records."""
    yield row_of(
        UNIQUES,
        finding="table",
        columns=result.account.columns,
        combinations=result.combinations,
        rows=result.rows_unsafe,
        verdict=str(result.verdict),
        complete=result.complete,
        reason=result.reason,
    )
    for size, combinations in result.by_size.items():
        yield row_of(
            UNIQUES, finding="size", size=size, combinations=combinations, rows=result.by_smallest.get(size, 0)
        )
    for column in result.by_column:
        yield row_of(UNIQUES, column, finding="column", columns=[column.name])
    for found in result.column_sets:
        yield row_of(UNIQUES, found, finding="column set", size=len(found.columns))
    for record in result.scores.top if result.scores else ():
        yield row_of(UNIQUES, record, finding="record", size=record.smallest)


FUNCTIONS = (
    TableFunction("audit", AUDIT, _audit_rows),
    TableFunction("keys", KEYS, _keys_rows),
    TableFunction("protect", PROTECT, protect_rows),
    TableFunction("protect.cells", CELLS, cells_rows, called="protect_cells", fixed={"by": "cells"}),
    TableFunction(
        "protect.columns", COLUMNS_PUBLISHED, _columns_rows, called="protect_columns", fixed={"by": "columns"}
    ),
    TableFunction("protect.turns", TURNS, turns_rows, called="protect_turns", fixed={"by": "turns"}),
    TableFunction("uniques", UNIQUES, _uniques_rows),
    TableFunction("audit", REPORT, report_rows, called="report", purpose="The lines of the report of an audit."),
    TableFunction("audit", VERDICT, verdict_rows, called="verdict", purpose="The verdict of an audit, in one row."),
    TableFunction(
        "audit",
        VERDICT,
        verdict_rows,
        called="check",
        purpose="The same, but an error with its reason unless the verdict is pass.",
        passes=True,
    ),
    TableFunction(
        "audit",
        VERDICT,
        verdict_rows,
        tables=("checks",),
        called="checks",
        purpose="The verdicts of a table of checks (table_name, k, ...), or of all tables of a schema: 'main.*'.",
        many=True,
    ),
    TableFunction(
        "audit",
        ROLES,
        roles_rows,
        called="roles",
        purpose="The columns of a table: their roles, proposed or declared, and their classes.",
        fixed={"max_size": 1},
    ),
    TableFunction("risk", RISK, risk_rows),
    TableFunction("link", LINK, link_rows, tables=("left", "right")),
    TableFunction("risk.population", PEOPLE, people_rows, tables=("table", "population"), called="risk_population"),
    TableFunction("impact", IMPACT, impact_rows, tables=("table", "protected")),
    TableFunction("graph", GRAPH, graph_rows, tables=()),
)


VERDICTS = next(each for each in FUNCTIONS if each.macro == "verdict")

OWN = (  # the macros that need no Python
    ("profile", "FROM qidsql.profile('table', ['column', ...], k := 5)", "The measures of a column set."),
    (
        "violations",
        "FROM qidsql.violations('table', ['column', ...], k := 5)",
        "The classes below k of a column set, with values.",
    ),
    ("columns", "FROM qidsql.columns('table', k := 5)", "The measures of every single column."),
    (
        "anonymity",
        "FROM qidsql.anonymity('table', ['column', ...], k := 5, entity := 'column')",
        "Whether each class of a column set has k rows, or k persons.",
    ),
    (
        "diversity",
        "FROM qidsql.diversity('table', ['column', ...], 'sensitive', l := 2, entity := 'column')",
        "Whether each class has l different values of a sensitive column, by rows or persons.",
    ),
    (
        "closeness",
        "FROM qidsql.closeness('table', ['column', ...], 'sensitive', t := 0.2)",
        "Whether the values of each class are distributed as in the table.",
    ),
    ("risks", "FROM qidsql.risks('table', ['column', ...], k := 5)", "The risk of the rows to be re-identified."),
    ("sizes", "FROM qidsql.sizes('table', ['column', ...])", "How many classes there are of each size, as bars."),
    (
        "matches",
        "FROM qidsql.matches('table', 'people', ['column', ...], k := 5, entity := 'column')",
        "How many rows of another table fit each row, or how many persons: a link, or k-map for a population.",
    ),
)

PROTECTED = (
    "protected",
    "COPY (FROM qidsql.protected('table', k := 5)) TO 'file.parquet'",
    "The rows, each as coarse as it takes to be identical to k - 1 others; an error unless they pass.",
)


HELP = ("help", "FROM qidsql.help('audit')", "The functions of qidsql, or the parameters of one.")
DESCRIBED = 76  # characters of a description, so that a prompt of 100 columns shows the functions whole


def help_of(name: str, usage: str, purpose: str) -> Iterator[tuple[str, str, str]]:
    """Rows of qidsql.help: in the list of functions as many lines as it takes, and how to call it."""
    for place, line in enumerate(textwrap.wrap(purpose, DESCRIBED)):
        yield "", "" if place else name, line
    yield name, name, usage


def help_definition(functions: Sequence["TableFunction"] | None = None, *more: str) -> str:
    """The statement that creates the macro help: the functions, or the parameters of one; `more` are rows in SQL."""
    functions = FUNCTIONS if functions is None else functions
    own = (*OWN, PROTECTED) if functions else OWN
    rows = [row for each in own for row in help_of(*each)] + [row for function in functions for row in function.help]
    cells = [", ".join(map(quoted, row)) for row in [*rows, ("", "", "How to call one: FROM qidsql.help('profile')")]]
    values = ",\n".join(f"  ({line})" for line in [*cells, *more])
    return (
        "CREATE OR REPLACE MACRO qidsql.main.help(function := '') AS TABLE\n"
        "SELECT found.name, found.description\n"
        f"FROM (VALUES\n{values}\n) AS found (of, name, description)\nWHERE found.of = function"
    )


def descriptions() -> list[tuple[str, str, str]]:
    """Of each macro its name, an example, and what it is for."""
    functions = ((each.macro, each.usage, each.said) for each in FUNCTIONS)
    return [*OWN, PROTECTED, *functions, HELP]


def comments(described: Iterable[tuple[str, str, str]]) -> str:
    """The statements that say so where DuckDB lists its functions."""
    return ";\n".join(
        f"COMMENT ON MACRO TABLE qidsql.main.{name} IS {quoted(f'{purpose} {usage}')}"
        for name, usage, purpose in described
    )
