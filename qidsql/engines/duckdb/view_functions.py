"""The functions that a view of DuckDB calls, through the views and macros behind it: by the names in their texts."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp

from qidsql.engines.changing_views import ViewFunctions
from qidsql.engines.condition import CatalogQuery
from qidsql.engines.duckdb.condition import MOMENTS, OF_SESSION, FunctionEntry

NAME = re.compile(r'(?:"((?:[^"]|"")+)"|([^\W\d]\w*))(\s*\()?')  # the last group: it is called
RUNNING = {"query", "query_table", "json_execute_serialized_sql"}  # they run a text
WITHOUT_VALUE = {"error", "sleep_ms"}  # called volatile, yet they fail or wait, and return no value
# Words that mean the session in a view's text: its role and schema, and the catalog, which shows settings and files.
# `user` alone is written like a column of that name; for DuckDB it is a constant.
SESSION = re.compile(
    rf"{'|'.join(sorted(OF_SESSION - {'user'}))}|duckdb_\w+|pragma_\w+|which_secret|information_schema"
    r"|pg_(settings|prepared_statements|database|namespace|class|tables|views)|sqlite_(temp_)?(master|schema)"
)
LITERAL = re.compile(r"'(?:[^']|'')*'|(\"(?:[^\"]|\"\")*\")")
SAMPLE = re.compile(r"\b(using\s+sample|tablesample)\b", re.IGNORECASE)


def view_functions(catalog: CatalogQuery, definition: str, views: Mapping[str, str]) -> ViewFunctions:
    """What the query of a view calls; `views` are the definitions of all views, by name in lower case.

    Views and macros of these names in any schema count as called, so that no call is missed. One statement to the
    catalog for the view, and one for each level of views and macros behind it.
    """
    changing: set[str] = set()
    session: set[str] = set()
    met: set[tuple[str, bool]] = set()  # names, and whether they are called
    time_dependent, waiting = False, [definition]
    while waiting:
        texts, waiting = waiting, []
        found = {(_name(each), bool(each[3])) for text in texts for each in NAME.finditer(text)} - met
        met |= found
        words, called = {name for name, _ in found}, {name for name, is_call in found if is_call}
        changing |= {each.upper() for text in texts for each in SAMPLE.findall(text)}
        behind = {name for name in words if name in views}
        columns = _columns_in_all(texts, behind)
        met -= {each for each in met if each[0] in columns}  # a view behind can read them as views
        waiting += [views[name] for name in sorted(behind - columns)]
        names: list[exp.Expr] = [exp.Literal.string(name) for name in sorted(called)]
        functions = [FunctionEntry(*row) for row in (catalog("functions", names=names) if names else ())]  # type: ignore[arg-type]
        changing |= {each.name for each in functions if each.stability == "VOLATILE"} - WITHOUT_VALUE
        session |= {each.name for each in functions if each.depends_on_session}
        session |= {name for name in _outside_literals(texts, called) - columns if SESSION.fullmatch(name)}
        time_dependent |= bool(words & MOMENTS) or any(each.depends_on_time for each in functions if not each.macro)
        waiting += [each.macro for each in functions if each.macro]
    return ViewFunctions(frozenset(changing), frozenset(session), time_dependent)


def _outside_literals(texts: Sequence[str], called: set[str]) -> set[str]:
    """The names that are in no text literal, unless one can be run as a query."""
    kept = texts if called & RUNNING else [LITERAL.sub(lambda each: each[1] or "''", text) for text in texts]
    return {_name(each) for text in kept for each in NAME.finditer(text)}


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
