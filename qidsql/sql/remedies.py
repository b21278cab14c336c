"""What a remedy does to the classes of equal codes: one column coarser, or columns blank in the rows below k."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import Row, Statement, fill_query, integer, union_all

Masks: TypeAlias = Sequence[int]  # bits, one number a word


@dataclass(frozen=True)
class Merged:
    """The classes after a remedy: how many there are of each size, and what those of each size have lost, by column."""

    sizes: dict[int, int] = field(default_factory=dict)
    lost: dict[int, list[int]] = field(default_factory=dict)


Remedy: TypeAlias = tuple[list[exp.Expr], list[exp.Expr]]  # what decides a class after it, and figures that are lost


def coarser(masks: Masks, lost: Sequence[str]) -> Remedy:
    """All rows decided by these bits; lost are figures of the classes with these names."""
    return [_bits(word, bits) for word, bits in enumerate(masks)], [exp.column(each) for each in lost]


def blank(k: int, masks: Masks, columns: Sequence[Masks]) -> Remedy:
    """The rows in classes below k decided by these bits, as others are NULL there; lost are the cells of `columns`,
    given by their bits, that were not NULL before."""
    below = exp.column("n") < k
    merged: list[exp.Expr] = [
        exp.Case(ifs=[exp.If(this=below.copy(), true=_bits(word, bits))], default=exp.column(f"w{word}"))
        for word, bits in enumerate(masks)
    ]
    lost: list[exp.Expr] = []
    for column in columns:
        filled = [_bits(word, bits).neq(0) for word, bits in enumerate(column) if bits]
        lost.append(exp.Case(ifs=[exp.If(this=exp.and_(below, *filled), true=exp.column("n"))], default=_number(0)))
    return merged, lost


def _bits(word: int, bits: int) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=exp.column(f"w{word}"), expression=exp.cast(_number(bits), "BIGINT")))


def _number(number: int) -> exp.Expr:
    return exp.Literal.number(number)


def classes_after(
    dialect: Dialect, classes: exp.Query, remedies: Sequence[Remedy], scans: int
) -> Statement[list[Merged]]:
    """The classes after each remedy. `classes` is the query for the classes of equal codes, of so many scans."""
    most = max(len(lost) for _, lost in remedies)
    names = [f"s{place}" for place in range(most)] or ["s0"]
    parts: list[exp.Query] = []
    for node, (merged, lost) in enumerate(remedies):
        figures = [*lost, *[_number(0)] * (len(names) - len(lost))]
        sums = [exp.alias_(exp.Sum(this=figure), name) for figure, name in zip(figures, names, strict=True)]
        again = [exp.alias_(exp.Sum(this=exp.column(name)), name) for name in names]
        holes = {"merged": merged, "lost": sums, "sums": again}
        parts.append(fill_query("remedies/class_sizes", node=node, classes=exp.to_table("classes"), **holes))
    query = union_all(parts).with_("classes", as_=classes, materialized=True, copy=False)

    def read(rows: list[Row]) -> list[Merged]:
        found = [Merged() for _ in remedies]
        for node, size, number, *lost in (map(integer, row) for row in rows):
            found[node].sizes[size], found[node].lost[size] = number, lost
        return found

    return Statement(dialect.render(query), "classes after remedies", read, scans=scans)
