"""People and released rows as one relation, so that both get the same codes."""

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from qidsql.sql.relation import ALIAS, Relation
from qidsql.sql.templates import union_all

Side: TypeAlias = tuple[exp.Expr, Sequence[exp.Expr]]  # a node to select from, and values of its rows


def people_and_rows(people: Side, rows: Side) -> tuple[Relation, list[str]]:
    """The relation of both, and its columns: the values of either, then one that is NULL for people and 1 for rows.

    The values of one are comparable with those of the other.
    """
    names = [f"q{place}" for place in range(len(people[1]))]
    mark = [exp.cast(exp.null(), "INTEGER"), exp.cast(exp.Literal.number(1), "INTEGER")]
    sides = [
        exp.select(*(exp.alias_(v, n) for v, n in zip(values, names, strict=True)), exp.alias_(side, "released")).from_(
            node
        )
        for (node, values), side in zip((people, rows), mark, strict=True)
    ]
    return Relation(union_all(sides).subquery(ALIAS)), [*names, "released"]
