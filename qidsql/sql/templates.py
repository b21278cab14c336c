"""Loads `sql_templates/*.sql` and fills their `:name` holes with syntax-tree nodes. Never with text.

A folder of templates is named after the only module or package that fills them: `classes/` after `qidsql.sql.classes`,
`history/` after `qidsql.operations.history`, `workbench/uniques/` after `qidsql.protection.uniques`.
Most are in sqlglot's own dialect, so that one file serves every engine; those for a single engine are in its dialect.
Scripts for SQL shells have such holes too, but are not templates.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias

import sqlglot
from sqlglot import exp

from qidsql.sql.folder import sql_file

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
    """The same for a template that is a query, so that other statements can contain it."""
    query = fill(name, **holes)
    assert isinstance(query, exp.Query), f"template {name} is no query"
    return query


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """The rows of all queries, of which there is one at least."""
    return queries[0] if len(queries) == 1 else exp.union(*queries, distinct=False)


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
