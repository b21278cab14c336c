"""A condition as DuckDB reads it: its own syntax tree, checked node by node, and its own catalog of functions."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlglot import exp

from qidsql.core.tables import Condition, Table
from qidsql.engines.condition import (
    CHANGES,
    NO_GROUPS,
    NO_PARAMETER,
    NO_QUERY,
    NO_STAR,
    NOT_OF_A_ROW,
    SESSION,
    UNKNOWN,
    UNREADABLE,
    bindings,
    call_refused,
    hidden_refused,
    no_columns,
)
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.errors import UsageError
from qidsql.sql.statements import Row
from qidsql.sql.templates import Filling

Node: TypeAlias = dict[str, Any]

# The classes of nodes that a condition is made of, and what is said of others; of those not named here: UNREADABLE.
PLAIN = {
    *("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "BETWEEN", "OPERATOR", "FUNCTION", "CASE", "CAST", "TYPE"),
    *("COLLATE", "LAMBDA", "LAMBDA_REF"),
}
REFUSED = {"SUBQUERY": NO_QUERY, "WINDOW": NO_GROUPS, "STAR": NO_STAR, "PARAMETER": NO_PARAMETER}
HIDDEN = "rowid"
MOMENTS = {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
# SQL's own words, which call a function without parentheses where no column has their name.
WORDS = MOMENTS | {"current_catalog", "current_role", "current_schema", "current_user", "session_user", "user"}
UP_TO_NOW = {"age"}  # age(x) is the time from x to today; the catalog does not say so
# What depends on more than its arguments, though the catalogs of DuckDB 1.4 and 1.5 do not say so.
UNSTABLE = {"current_setting", "getvariable", "vector_type"}
FOREIGN = "is a macro of this database, and only DuckDB's own functions are accepted; audit a view that calls it"


class Ask(Protocol):
    """Answers a catalog query by the name of its template."""

    def __call__(self, template: str, **holes: Filling) -> list[Row]: ...


class _Function(NamedTuple):
    """The columns of duckdb/functions.sql."""

    name: str
    kind: str
    internal: bool
    stability: str | None
    returns: str | None
    parameters: int | None
    macro: str | None

    @property
    def tells_time(self) -> bool:
        of_time = (self.returns or "").startswith(("DATE", "TIME"))
        return self.name in UP_TO_NOW or (of_time and (self.parameters == 0 or self.stability != "CONSISTENT"))


def accepted(ask: Ask, put: Callable[[str, str], list[Row]], table: Table, where: str) -> Condition:
    """The text as a condition on the table's rows. `put` runs any statement.

    A few statements, none of which reads a row. Raises as `Engine.narrowed`.
    """
    alone, bound = bindings(DUCKDB, table, where)
    nodes = list(_nodes(_condition(_parsed(ask, alone))))
    words = _words(table, nodes)
    momentary = _judged(ask, _called(nodes) | words)
    put(bound, "where condition")
    return Condition(where, momentary or bool(words & MOMENTS))


def _parsed(ask: Ask, statement: str) -> Node:
    """The SELECT as DuckDB parses it. Raises UsageError."""
    try:
        tree = json.loads(str(ask("parsed_condition", statement=statement)[0][0]))
    except RecursionError:
        raise UsageError("the where condition is nested too deeply") from None
    statements = tree.get("statements", ())
    if tree["error"] or len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        raise UsageError(UNREADABLE)
    node: Node = statements[0]["node"]
    return node


def _condition(select: Node) -> Node:
    """What stands between CASE WHEN and THEN. Raises UsageError."""
    case = select["where_clause"]
    if case["class"] != "CASE" or len(case["case_checks"]) != 1 or case["else_expr"]["class"] != "CONSTANT":
        raise UsageError(UNREADABLE)
    node: Node = case["case_checks"][0]["when_expr"]
    return node


def _nodes(tree: Node) -> Iterator[Node]:
    """Every expression in the tree. Raises UsageError where one does not belong into a condition."""
    waiting: list[Any] = [tree]
    while waiting:  # no recursion: conditions may be deep
        node = waiting.pop()
        if isinstance(node, list):
            waiting += reversed(node)
        elif isinstance(node, dict):
            kind = node.get("class")
            if kind == "SUBQUERY" and (elements := _elements(node)) is not None:
                waiting += reversed([node["child"], *elements])
                continue
            if kind is not None and kind not in PLAIN:
                raise UsageError(REFUSED.get(kind, UNREADABLE))
            if kind is not None:
                yield node
            waiting += reversed(node.values())


def _elements(subquery: Node) -> list[Node] | None:
    """The list in `x = ANY(list)`, which DuckDB parses as SELECT UNNEST(list); None for a person's own query."""
    select = subquery["subquery"]["node"]
    plain = select["type"] == "SELECT_NODE" and select["from_table"]["type"] == "EMPTY"
    if subquery["subquery_type"] != "ANY" or not plain or select["where_clause"] or len(select["select_list"]) != 1:
        return None
    [unnest] = select["select_list"]
    return _arguments(unnest) if unnest.get("function_name") == "unnest" else None


def _arguments(function: Node) -> list[Node]:
    found: list[Node] = function.get("children") or [each["expression"] for each in function.get("arguments", ())]
    return found


def _called(nodes: Sequence[Node]) -> set[str]:
    return {node["function_name"].lower() for node in nodes if node["class"] == "FUNCTION"}


def _words(table: Table, nodes: Sequence[Node]) -> set[str]:
    """SQL's own words among the names; every other is a column of the table, or of a lambda. Raises UsageError."""
    lambdas = [node["lhs"] for node in nodes if node["class"] == "LAMBDA"]
    bound = {name.lower() for each in lambdas for node in _nodes(each) for name in node.get("column_names", ())}
    words, unknown = set(), []
    for node in nodes:
        names = [name.lower() for name in node.get("column_names", ())]
        if not names or names[0] in bound or _is_column(table, names):
            continue
        if names[-1] == HIDDEN:
            raise hidden_refused(HIDDEN)
        if len(names) == 1 and names[0] in WORDS:
            words.add(names[0])
        else:
            unknown.append(".".join(node["column_names"]))
    if unknown:
        raise no_columns(table, unknown, [column.name for column in table.columns])
    return words


def _is_column(table: Table, names: Sequence[str]) -> bool:
    """Whether a name means something of the table: [[[catalog.]schema.]table.]column[.field ...], or a whole row."""
    columns = {column.name.lower() for column in table.columns}
    catalog, schema, name = (part.lower() for part in (table.name.catalog, table.name.schema, table.name.name))
    for qualifier in ([], [name], [schema, name], [catalog, name], [catalog, schema, name]):
        rest = names[len(qualifier) :]
        if list(names[: len(qualifier)]) == qualifier and (rest[0] in columns if rest else qualifier):
            return True
    return False


def _judged(ask: Ask, called: set[str], macro: str | None = None) -> bool:
    """Whether one of the functions tells the time. `macro`: the one of DuckDB's own macros that they stand in.

    Raises UsageError where a function is not safe, or not DuckDB's own.
    """
    if not called:
        return False
    names: list[exp.Expr] = [exp.Literal.string(name) for name in sorted(called)]
    found = [_Function(*row) for row in ask("functions", names=names)]  # type: ignore[arg-type]
    for name in sorted(called - MOMENTS):
        if why := _why_not([function for function in found if function.name == name]):
            raise call_refused(macro or name, why)
    telling = [function for function in found if _tells_time(ask, function, macro)]  # looks into every macro
    return bool(telling)


def _tells_time(ask: Ask, function: _Function, macro: str | None) -> bool:
    if function.macro is None:
        return function.tells_time
    [value] = _parsed(ask, f"SELECT {function.macro}")["select_list"]
    nodes = list(_nodes(value))
    words = {name for node in nodes for name in node.get("column_names", ())} & WORDS
    return _judged(ask, _called(nodes) | words, macro or function.name) or bool(words & MOMENTS)


def _why_not(versions: Sequence[_Function]) -> str | None:
    """Why a function of that name is refused; None where it is not. Raises UsageError for an aggregate."""
    if not versions:
        return UNKNOWN
    if not all(version.internal for version in versions):
        return FOREIGN
    kinds = {version.kind for version in versions}
    if not {"scalar", "macro"} & kinds:
        if {"aggregate", "window"} & kinds:
            raise UsageError(NO_GROUPS)
        return NOT_OF_A_ROW
    if versions[0].name in UNSTABLE:
        return SESSION
    stabilities = {version.stability for version in versions if not version.tells_time}
    return CHANGES if "VOLATILE" in stabilities else SESSION if "CONSISTENT_WITHIN_QUERY" in stabilities else None
