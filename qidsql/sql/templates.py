"""Loads `sql_templates/*.sql` and fills their `:name` holes with syntax-tree nodes. Never with text.

A folder of templates is named after the only module or package that fills them: `classes/` after `qidsql.sql.classes`,
`history/` after `qidsql.operations.history`, `workbench/uniques/` after `qidsql.protection.uniques`.
Most are in sqlglot's own dialect, so that one file serves every engine; those for a single engine are in its dialect.
Scripts for SQL shells have such holes too, but are not templates.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import sqlglot
from sqlglot import exp

from qidsql.sql import sql_file
from qidsql.sql.dialects import Dialect

Filling: TypeAlias = exp.Expr | Sequence[exp.Expr] | int | str


DIALECTS = {  # of folders whose statements are for a single engine
    "duckdb": "duckdb",
    "duckdb_extension": "duckdb",
    "postgres": "postgres",
    "sqlite": "sqlite",
    "workbench": "duckdb",
}


@cache
def template(name: str) -> exp.Expr:
    """The parsed template of that name, such as "classes/class_sizes". Do not change it in place."""
    tree = sqlglot.parse_one(sql_file(name), read=DIALECTS.get(name.partition("/")[0]))
    for node in tree.walk():
        node._meta = None  # places in the file, whose copies would cost more than those of the nodes
    return tree


def fill(name: str, **holes: Filling) -> exp.Expr:
    """A copy of the template with every hole filled.

    A node replaces its hole, or a copy of it if it is part of another tree; a sequence of nodes is spliced into the
    list that contains the hole; an int or str becomes a literal. Raises ValueError unless holes and arguments match.
    """
    tree = template(name).copy()
    places = [_at(tree, path) for path in _paths_to_holes(name)]
    if {place.name for place in places} != set(holes):
        raise ValueError(f"template {name} has the holes {sorted({p.name for p in places})}, got {sorted(holes)}")
    for place in places:
        filling = holes[place.name]
        if isinstance(filling, int):
            place.replace(exp.Literal.number(filling))
        elif isinstance(filling, str):
            place.replace(exp.Literal.string(filling))
        elif isinstance(filling, exp.Expr):
            place.replace(_free(filling))
        else:
            _splice(place, filling)
    return tree


def fill_query(name: str, **holes: Filling) -> exp.Query:
    """Fill a template that is a query, so that other statements can contain it."""
    query = fill(name, **holes)
    assert isinstance(query, exp.Query), f"template {name} is no query"
    return query


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """The rows of all queries, of which there is one at least."""
    return queries[0] if len(queries) == 1 else exp.union(*queries, distinct=False, copy=False)


@cache
def _paths_to_holes(name: str) -> list[list[tuple[str, int | None]]]:
    """The way from the root to each hole: cheaper to follow in a copy than the hole is to find."""
    return [list(_path(hole))[::-1] for hole in template(name).find_all(exp.Placeholder)]


def _path(node: exp.Expr) -> Iterator[tuple[str, int | None]]:
    while node.parent is not None:
        assert node.arg_key is not None
        yield node.arg_key, node.index
        node = node.parent


def _at(node: exp.Expr, path: Sequence[tuple[str, int | None]]) -> exp.Expr:
    for key, index in path:
        node = node.args[key] if index is None else node.args[key][index]
    return node


def _splice(place: exp.Expr, nodes: Sequence[exp.Expr]) -> None:
    """Replaces a hole in a list by several nodes."""
    if isinstance(place.parent, exp.Ordered):  # ORDER BY :columns
        return _splice(place.parent, [exp.Ordered(this=_free(node)) for node in nodes])
    parent, key = place.parent, place.arg_key
    assert parent is not None and key is not None
    before = parent.args[key]
    assert isinstance(before, list), f"the hole {place.sql()} is not in a list"
    free = [_free(node) for node in nodes]
    return parent.set(key, [new for old in before for new in (free if old is place else [old])])


def _free(node: exp.Expr) -> exp.Expr:
    """The node, or a copy if it is part of a tree. Avoids copies of copies, the main cost of large statements."""
    return node if node.parent is None else node.copy()


# The text of a statement in pieces: rendered once, with marks where one statement differs from the next.
#
# So each of thousands of column sets costs a join of rendered pieces, not a syntax tree.


MARK = "part_of_the_statement_"  # needs no quotes, which differ between engines


def mark(hole: str) -> exp.Expr:
    """A node at the place of an expression."""
    return exp.column(f"{MARK}{hole}")


def marks(*holes: str) -> dict[str, exp.Expr]:
    return {hole: mark(hole) for hole in holes}


def mark_of_table(hole: str) -> exp.Expr:
    """A node at the place of a table."""
    return exp.to_table(f"{MARK}{hole}")


def pieces_of(dialect: Dialect, tree: exp.Expr) -> tuple[str, ...]:
    """The statement's text in pieces, with the names of the holes between them. Uses the tree up."""
    return tuple(re.split(rf"{MARK}(\w+)", dialect.render(tree)))


def put_together(pieces: Sequence[str], parts: Mapping[str, str]) -> str:
    """The text with these parts in the holes."""
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def in_pieces(build: Callable[..., exp.Expr]) -> Any:
    """Makes a cached function that returns the text of the tree in pieces. It takes a dialect, and numbers or words."""

    @lru_cache(maxsize=4096)
    @wraps(build)
    def pieces(dialect: Dialect, *arguments: int | str) -> tuple[str, ...]:
        return pieces_of(dialect, build(dialect, *arguments))

    return pieces


# A statement for an engine, with its purpose and a function that reads its rows.


Answer = TypeVar("Answer")
Row: TypeAlias = tuple[object, ...]
ColumnNames: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement(Generic[Answer]):
    """A statement: its text, its purpose for messages (without values), and a function that reads its rows.

    With `into` the engine writes the rows to that file of its exports and returns none. With `out_of` it loads that
    file. `scans`: how often the table is read, at most.
    """

    sql: str
    purpose: str
    read: Callable[[list[Row]], Answer]
    into: Path | None = None
    out_of: Path | None = None
    scans: int = 1


def integer(cell: object) -> int:
    """A count as int. Drivers return int, Decimal, str or NULL."""
    return 0 if cell is None else int(cell)  # type: ignore[call-overload]


def whole_count(cell: object) -> int:
    """A count. Raises ValueError if it is below 0, which no honest server says."""
    if (number := integer(cell)) < 0:
        raise ValueError
    return number
