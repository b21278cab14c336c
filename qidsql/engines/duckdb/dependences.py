"""What a view or table of DuckDB depends on besides rows: by the names in its text, and in those of the views, macros
and generated columns that it rests on; the time zone by its plan."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp

from qidsql.engines.condition import LITERAL, MOMENTS, OF_SESSION, CatalogQuery, Dependences, picks
from qidsql.engines.duckdb.condition import UP_TO_NOW, FunctionEntry

NAME = re.compile(r'(?:"((?:[^"]|"")+)"|([^\W\d]\w*))(\s*\()?')  # the last group: it is called
RUNNING = {"query", "query_table", "json_execute_serialized_sql"}  # they run a text
WITHOUT_VALUE = {"error", "sleep_ms"}  # called volatile, yet they fail or wait, and return no value
# Words that mean the session in a text: its role and schema, and the catalog, which shows settings and files.
# `user` alone is written like a column of that name; for DuckDB it is a constant.
SESSION = re.compile(
    rf"{'|'.join(sorted(OF_SESSION - {'user'}))}|duckdb_\w+|pragma_\w+|which_secret|information_schema"
    r"|pg_(settings|timezone_names|prepared_statements|database|namespace|class|tables|views)|sqlite_(temp_)?(master|schema)"
)
COLUMN = re.compile(r"(?:\bas|\.)\s*\"?$", re.IGNORECASE)  # what comes before the name of a column
DATED = re.compile(r"^(try_)?cast$|date|time|year|month|day|week|quarter|decade|hour|minute|^era$|^age$|^extract$")
GENERATED = re.compile(r"\bGENERATED ALWAYS AS\s*\(", re.IGNORECASE)
# Of functions of times with a zone: those that do not go by the days and hours of the session's zone, and those that do
# although their result is such a time again; and those that are today's date or the time of day there.
OF_MOMENTS = re.compile(r"timezone|epoch\w*|hash|typeof|isfinite|isinf|.*distinct.*")
OF_DAY = frozenset(
    {"current_date", "today", "localtime", "localtimestamp", "current_localtime", "current_localtimestamp"}
)
BY_DAYS = re.compile(r"\+|-|date_\w+|datetrunc|time_bucket|last_day|generate_series|range")
SHOWN = re.compile(r"(?<![\"\w.])(describe)\b(?!\")", re.IGNORECASE)  # SHOW, as DuckDB writes it
MOST_READS = 5_000  # a plan of so many takes 0.2 s; of views that each read the one before twice, 22 take minutes
DEEPEST = 300  # views that read each other: as deep as Python may go, and more
SAMPLE = re.compile(r"\b(using\s+sample|tablesample)\b", re.IGNORECASE)


def dependences(catalog: CatalogQuery, query: str, definition: str, behind: Mapping[str, Sequence[str]]) -> Dependences:
    """What the rows of a query depend on. `definition` is its text, `behind` those of all views and of the generated
    columns of tables, by name in lower case.

    Views and macros of these names in any schema count as called, so that no call is missed. Two statements to the
    catalog, and one for each level of views and macros behind it.
    """
    changing: set[str] = set()
    session: set[str] = set()
    met: set[tuple[str, bool]] = set()  # names, and whether they are called
    time_dependent, order, waiting = False, picks(definition), [definition]
    while waiting:
        texts, waiting = _outside_literals(waiting), []
        found = {(_name(each), bool(each[3])) for text in texts for each in NAME.finditer(text)} - met
        met |= found
        words, called = {name for name, _ in found}, {name for name, is_call in found if is_call}
        changing |= {each.upper() for text in texts for each in SAMPLE.findall(text)}
        named = {name for name in words if name in behind}
        columns = _columns_in_all(texts, named)
        met -= {each for each in met if each[0] in columns}  # a view behind can read them as views
        views = [text for name in sorted(named - columns) for text in behind[name]]
        names: list[exp.Expr] = [exp.Literal.string(name) for name in sorted(called)]
        functions = [FunctionEntry(*row) for row in (catalog("functions", names=names) if names else ())]  # type: ignore[arg-type]
        changing |= {each.name for each in functions if each.stability == "VOLATILE"} - WITHOUT_VALUE
        session |= {each.upper() for text in texts for each in SHOWN.findall(text)}
        session |= {each.name for each in functions if each.depends_on_session}
        session |= {name for name in _asking(texts) - columns if SESSION.fullmatch(name)}
        time_dependent |= bool(words & MOMENTS) or any(each.depends_on_time for each in functions if not each.macro)
        own = [each.macro for each in functions if each.macro and not each.internal]
        order |= any(map(picks, [*views, *own]))
        waiting += [*views, *(each.macro for each in functions if each.macro)]
    zone = up_to_now = False
    if not (changing or session):
        zone, up_to_now = _by_zone_and_day(catalog, query, {name for name, is_call in met if is_call})
    zone |= not OF_DAY.isdisjoint(name for name, is_call in met if is_call or name in MOMENTS)
    return Dependences(frozenset(changing), frozenset(session), zone, time_dependent or up_to_now, order=order)


class Reads:
    """How often queries read views and tables once every view in them is written out, which DuckDB does to plan any.

    `behind` as for `dependences`; of several views of a name the largest counts.
    """

    def __init__(self, behind: Mapping[str, Sequence[str]]) -> None:
        self._behind = behind
        self._words: dict[str, int] = {}
        self._tables: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Those of a view. Words count as names; only where these are too many, a parser tells which are tables."""
        if self._counted(name, _words, self._words) <= MOST_READS:
            return self._words[name]
        return self._counted(name, _tables, self._tables)

    def _counted(self, name: str, named: Callable[[str], Counter[str]], known: dict[str, int], depth: int = 1) -> int:
        if name not in known:
            known[name] = 1  # where views are named like what they read
            texts = self._behind.get(name, ()) if depth < DEEPEST else ()
            below = [
                sum(
                    times * self._counted(each, named, known, depth + 1)
                    for each, times in named(text).items()
                    if each != name and each in self._behind
                )
                for text in texts
            ]
            known[name] = 1 + max(below, default=0) if depth < DEEPEST else MOST_READS + 1
        return known[name]


def _words(text: str) -> Counter[str]:
    return Counter(map(_name, NAME.finditer(text)))


def _tables(text: str) -> Counter[str]:
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return _words(text)
    return Counter(table.name.lower() for table in tree.find_all(exp.Table))


def generated(definition: str) -> str:
    """The expressions of the generated columns in the statement that makes a table; "" if it has none."""
    blank = LITERAL.sub(lambda each: "_" * len(each[0]), definition)
    found = []
    for start in (each.end() for each in GENERATED.finditer(blank)):
        depth = 1
        for place in range(start, len(blank)):
            depth += (blank[place] == "(") - (blank[place] == ")")
            if not depth:
                found.append(definition[start:place])
                break
    return f"SELECT {', '.join(found)}" if found else ""


def _by_zone_and_day(catalog: CatalogQuery, query: str, called: set[str]) -> tuple[bool, bool]:
    """Whether a function or a cast goes by the session's time zone, and whether an age is up to today: by the plan, or
    where DuckDB does not tell it, as of files, by whether any that could is called."""
    plan = json.loads(str(catalog("plan", query=query)[0][0]))
    if plan["error"]:
        return any(map(DATED.search, called)), UP_TO_NOW in called
    bound = list(_bound(plan))
    ages = [len(each["children"]) for each in bound if _bound_name(each) == UP_TO_NOW]
    return any(map(_goes_by_zone, bound)), UP_TO_NOW in called and min(ages, default=1) == 1  # none: of a constant


def _bound(tree: object) -> Iterator[dict[str, Any]]:
    """The functions and casts in a plan."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            if node.get("expression_class") in ("BOUND_FUNCTION", "BOUND_CAST"):
                yield node


def _bound_name(node: dict[str, Any]) -> str:
    return str(node.get("qname", {}).get("path", [node.get("name", "")])[-1])


def _goes_by_zone(node: dict[str, Any]) -> bool:
    name = _bound_name(node)
    given = [_type(each) for each in (*node.get("children", ()), *filter(None, [node.get("child")]))]
    taken, made = any("TIME ZONE" in each for each in given), "TIME ZONE" in _type(node)
    if node["expression_class"] == "BOUND_CAST" or name == "__cast":
        return taken != made and '"NULL"' not in given[0]
    if name in ("make_timestamptz", "strptime"):
        return made
    by_zone = OF_MOMENTS if not made else BY_DAYS
    direct = any(each.startswith('{"id": "TIME') and "TIME ZONE" in each for each in given)
    return direct and bool(by_zone.fullmatch(name)) == made and not str(node.get("type")).startswith("COMPARE_")


def _type(node: dict[str, Any]) -> str:
    return json.dumps(node.get("return_type") or node.get("value", {}).get("type"))


def _asking(texts: Sequence[str]) -> set[str]:
    """The names that can mean the session: not those of columns, `x AS current_user`, `t.current_user`."""
    found = ((text, each) for text in texts for each in NAME.finditer(text))
    return {
        name
        for text, each in found
        if (name := _name(each)) not in OF_SESSION or each[3] or not COLUMN.search(text[: each.start()])
    }


def _outside_literals(texts: Sequence[str]) -> list[str]:
    """The texts without literals and comments, unless one can be run as a query."""
    if any(_name(each) in RUNNING for text in texts for each in NAME.finditer(text)):
        return list(texts)
    return [LITERAL.sub(lambda each: each[1] or "''", text) for text in texts]


def _columns_in_all(texts: Sequence[str], names: set[str]) -> set[str]:
    """Those of the names that are only columns of the queries. None, so that each counts as a view, in any doubt."""
    named: Counter[str] = Counter()
    try:
        for tree in (sqlglot.parse_one(text, dialect="duckdb") for text in texts) if names else ():
            called = any(isinstance(table.this, exp.Func) for table in tree.find_all(exp.Table))
            if called or tree.find(exp.Command, exp.Pivot):
                return set()
            named.update(column.name.lower() for column in tree.find_all(exp.Column))
    except sqlglot.errors.SqlglotError:
        return set()
    met = Counter(_name(each) for text in texts for each in NAME.finditer(text))
    return {name for name in names if met[name] == named[name]}


def _name(match: re.Match[str]) -> str:
    return (match[1].replace('""', '"') if match[1] else match[2]).lower()


# Parses the CREATE statements in DuckDB's catalog, for facts that it has in no other form.


def query_of_view(statement: str) -> str:
    """The query in CREATE VIEW name (columns) AS query, unchanged."""
    try:
        tokens = sqlglot.tokenize(statement, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return statement
    for token in tokens:
        if token.token_type.name == "ALIAS":  # the first AS: only names come before it
            return statement[token.end + 1 :].strip().removesuffix(";")
    return statement


def indexed_columns(statement: str) -> tuple[str, ...]:
    """The columns of CREATE UNIQUE INDEX; empty if it is on an expression or cannot be parsed."""
    try:
        tree = sqlglot.parse_one(statement, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return ()
    parts = [part.this if isinstance(part, exp.Ordered) else part for part in _indexed(tree)]
    if not all(isinstance(part, exp.Column) for part in parts):
        return ()
    return tuple(part.name for part in parts)


def _indexed(tree: exp.Expr) -> list[exp.Expr]:
    parameters = tree.find(exp.IndexParameters)
    return list(parameters.args.get("columns") or []) if parameters is not None else []
