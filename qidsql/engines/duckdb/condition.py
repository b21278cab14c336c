"""Checks a condition in DuckDB: node by node in DuckDB's own syntax tree, and against its catalog of functions."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlglot import exp

from qidsql.core.tables import Condition, Table
from qidsql.engines.condition import (
    CHANGES,
    MOMENTS,
    NO_GROUPS,
    NO_PARAMETER,
    NO_QUERY,
    NO_STAR,
    NOT_OF_A_ROW,
    OF_SESSION,
    SESSION,
    UNKNOWN,
    UNREADABLE,
    CatalogQuery,
    bindings,
    call_refused,
    hidden_refused,
)
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.errors import UnknownName, UsageError
from qidsql.sql.templates import Row

Node: TypeAlias = dict[str, Any]

# The node classes allowed in a condition, and the messages for others; for those not listed here: UNREADABLE.
PLAIN = {
    *("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "BETWEEN", "OPERATOR", "FUNCTION", "CASE", "CAST", "TYPE"),
    *("COLLATE", "LAMBDA", "LAMBDA_REF"),
}
REFUSED = {"SUBQUERY": NO_QUERY, "WINDOW": NO_GROUPS, "STAR": NO_STAR, "PARAMETER": NO_PARAMETER}
HIDDEN = "rowid"
WORDS = MOMENTS | OF_SESSION
UP_TO_NOW = "age"  # age(x) is the time from x to today, age(x, y) no such time; the catalog does not tell them apart
# Functions that depend on more than their arguments, although the catalogs of DuckDB 1.4 and 1.5 do not say so.
UNSTABLE = {"current_setting", "getenv", "getvariable", "vector_type", "version"}
FOREIGN = "is a macro of this database, and only DuckDB's own functions are accepted; audit a view that calls it"


class FunctionEntry(NamedTuple):
    """The columns of duckdb/functions.sql."""

    name: str
    kind: str
    internal: bool
    stability: str | None
    returns: str | None
    parameters: int | None
    macro: str | None

    @property
    def depends_on_time(self) -> bool:
        of_time = (self.returns or "").startswith(("DATE", "TIME"))
        return of_time and (self.parameters == 0 or self.stability != "CONSISTENT")

    @property
    def depends_on_session(self) -> bool:
        within_query = self.stability == "CONSISTENT_WITHIN_QUERY" and not self.depends_on_time
        return self.name in UNSTABLE or (self.internal and within_query)


def parse_condition(
    catalog: CatalogQuery, execute: Callable[[str, str], list[Row]], table: Table, where: str
) -> Condition:
    """Checks a condition on the table's rows. `execute` runs any statement.

    Sends a few statements; none reads a row. Raises as `Engine.narrowed`.
    """
    alone, bound = bindings(DUCKDB, table, where)
    nodes = list(_nodes(_condition(_parsed(catalog, alone))))
    time_dependent = _depends_on_time(catalog, nodes, _words(table, nodes))
    execute(bound, "where condition")
    return Condition(where, time_dependent)


def _parsed(catalog: CatalogQuery, statement: str) -> Node:
    """The SELECT as DuckDB parses it. Raises UsageError."""
    try:
        tree = json.loads(str(catalog("parsed_condition", statement=statement)[0][0]))
    except RecursionError:
        raise UsageError("the where condition is nested too deeply") from None
    statements = tree.get("statements", ())
    if tree["error"] or len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        raise UsageError(UNREADABLE)
    node: Node = statements[0]["node"]
    return node


def _condition(select: Node) -> Node:
    """The expression between CASE WHEN and THEN. Raises UsageError."""
    case = select["where_clause"]
    if case["class"] != "CASE" or len(case["case_checks"]) != 1 or case["else_expr"]["class"] != "CONSTANT":
        raise UsageError(UNREADABLE)
    node: Node = case["case_checks"][0]["when_expr"]
    return node


def _nodes(tree: Node) -> Iterator[Node]:
    """Every expression in the tree. Raises UsageError if one is not allowed in a condition."""
    waiting: list[Any] = [tree]
    while waiting:  # no recursion, since conditions can be deeply nested
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
    """The list in `x = ANY(list)`, which DuckDB parses as SELECT UNNEST(list); None for a subquery of the user."""
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
    """The keywords among the names; others are columns of the table or parameters of a lambda. Raises UsageError."""
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
        raise UnknownName("column", unknown, str(table.name), [column.name for column in table.columns])
    return words


def _is_column(table: Table, names: Sequence[str]) -> bool:
    """Whether a name refers to the table: [[[catalog.]schema.]table.]column[.field ...], or a whole row."""
    columns = {column.name.lower() for column in table.columns}
    catalog, schema, name = (part.lower() for part in (table.name.catalog, table.name.schema, table.name.name))
    for qualifier in ([], [name], [schema, name], [catalog, name], [catalog, schema, name]):
        rest = names[len(qualifier) :]
        if list(names[: len(qualifier)]) == qualifier and (rest[0] in columns if rest else qualifier):
            return True
    return False


def _depends_on_time(catalog: CatalogQuery, nodes: Sequence[Node], words: set[str], macro: str | None = None) -> bool:
    """Whether a call or a keyword depends on the time. `macro` is the built-in macro that has them, if any.

    Raises UsageError if a function is not safe or not built in.
    """
    called = _called(nodes) | words
    if not called:
        return False
    names: list[exp.Expr] = [exp.Literal.string(name) for name in sorted(called)]
    found = [FunctionEntry(*row) for row in catalog("functions", names=names)]  # type: ignore[arg-type]
    for name in sorted(called - MOMENTS):
        if why := _why_not([function for function in found if function.name == name]):
            raise call_refused(macro or name, why)
    # A list, so that every macro is checked.
    dependent = [_function_depends_on_time(catalog, function, macro) for function in found]
    return any(dependent) or bool(words & MOMENTS) or any(map(_is_up_to_now, nodes))


def _is_up_to_now(node: Node) -> bool:
    called = node["class"] == "FUNCTION" and node["function_name"].lower() == UP_TO_NOW
    return called and len(_arguments(node)) == 1


def _function_depends_on_time(catalog: CatalogQuery, function: FunctionEntry, macro: str | None) -> bool:
    if function.macro is None:
        return function.depends_on_time
    [value] = _parsed(catalog, f"SELECT {function.macro}")["select_list"]
    nodes = list(_nodes(value))
    words = {name for node in nodes for name in node.get("column_names", ())} & WORDS
    return _depends_on_time(catalog, nodes, words, macro or function.name)


def _why_not(versions: Sequence[FunctionEntry]) -> str | None:
    """The reason to refuse a function; None if it is allowed. Raises UsageError for an aggregate."""
    if not versions:
        return UNKNOWN
    if not all(version.internal for version in versions):
        return FOREIGN
    kinds = {version.kind for version in versions}
    if not {"scalar", "macro"} & kinds:
        if {"aggregate", "window"} & kinds:
            raise UsageError(NO_GROUPS)
        return NOT_OF_A_ROW
    if versions[0].name in OF_SESSION | UNSTABLE:
        return SESSION
    stabilities = {version.stability for version in versions if not version.depends_on_time}
    return CHANGES if "VOLATILE" in stabilities else SESSION if "CONSISTENT_WITHIN_QUERY" in stabilities else None
