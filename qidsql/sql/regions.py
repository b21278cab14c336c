"""Statements that count classes in a part of the rows, chosen by hashes so that it holds whole classes.

A region is a bucket of the hash of some columns. Rows that agree on these columns lie in it together, so it holds whole
classes of every column set that contains them. Classes are told apart by the XOR of their columns' hashes: equal hashes
of different values can only merge classes, so a class of fewer than k rows here proves that the set has one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce

from sqlglot import exp

from qidsql.core.tables import positions
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.classes import profiles_of_sizes, sizes_text
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Row, Statement, fill, fill_query, integer, whole_count

SEED = 0x5DEECE66D  # of the hash of the first column; each column has its own, so that equal columns do not cancel out


@dataclass(frozen=True, slots=True)
class Region:
    """The rows whose hash of these columns, a mask over their places, lies in one of so many buckets (2 to the n)."""

    columns: int
    buckets: int
    bucket: int = 0


def bucket_sizes(
    dialect: Dialect, source: Relation, names: ColumnNames, buckets: int, share: int
) -> Statement[list[dict[int, int]]]:
    """Of each column about how many rows lie in its buckets, counted in about one row in `share`. One scan."""
    places, everything = range(len(names)), (1 << len(names)) - 1
    aliases = [exp.column(f"b{place}") for place in places]
    tree = fill(
        "regions/bucket_sizes",
        hashes=_hashes(dialect, source, names),
        relation=source.node,
        drawn=_inside(Region(everything, share)),
        aliased=[exp.alias_(_bucket(1 << place, buckets), f"b{place}") for place in places],
        buckets=aliases,
        bucket=exp.func("COALESCE", *(alias.copy() for alias in aliases)),
        sets=[exp.Tuple(expressions=[alias.copy()]) for alias in aliases],
    )

    def read(rows: list[Row]) -> list[dict[int, int]]:
        numbers = {everything ^ 1 << (len(names) - 1 - place): place for place in places}
        sizes: list[dict[int, int]] = [{} for _ in places]
        for number, bucket, count in rows:
            sizes[numbers[whole_count(number)]][integer(bucket)] = whole_count(count) * share
        return sizes

    return Statement(dialect.render(tree), f"buckets of {len(names)} columns", read)


def profiles_in_regions(
    dialect: Dialect, source: Relation, names: ColumnNames, sets: Sequence[tuple[int, Region]], k: int
) -> Statement[list[ClassProfile]]:
    """The profile of the classes of each set in a region of some of its columns. One statement, one scan."""
    regions = list(dict.fromkeys(region for _, region in sets))
    hashes = [exp.column(f"h{place}") for place in range(len(names))]
    every = fill_query(
        "regions/rows_of_regions",
        hashes=_hashes(dialect, source, names),
        relation=source.node,
        names=hashes,
        regions=exp.or_(*map(_inside, regions)),
    )
    frame = exp.select("*").from_("sets").with_("every_region", as_=every, materialized=True)
    for number, region in enumerate(regions):
        rows = exp.to_table("every_region")
        part = fill_query("regions/rows_of_region", names=hashes, rows=rows, region=_inside(region))
        frame = frame.with_(f"region_{number}", as_=part, materialized=True)
    head, _, _ = dialect.render(frame).rpartition("SELECT")
    texts = [sizes_text(dialect, _region(number)) for number in range(len(regions))]
    parts = []
    for number, (mask, region) in enumerate(sets):
        begin, middle, end = texts[regions.index(region)]
        parts.append(f"{begin}{number}{middle}{dialect.render(_together(mask))}{end}")
    read = profiles_of_sizes(k, range(len(sets)))
    return Statement(f"{head}{' UNION ALL '.join(parts)}", f"classes of {len(sets)} column sets in regions", read)


@cache
def _region(number: int) -> Relation:
    return Relation(exp.to_table(f"region_{number}"))


def _hashes(dialect: Dialect, source: Relation, names: ColumnNames) -> list[exp.Expr]:
    return [
        exp.alias_(dialect.column_hash(source.column(name), source.types[name], SEED + place), f"h{place}")
        for place, name in enumerate(names)
        if dialect.column_hash is not None
    ]


def _inside(region: Region) -> exp.Expr:
    return _bucket(region.columns, region.buckets).eq(exp.Literal.number(region.bucket))


def _bucket(columns: int, buckets: int) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=exp.paren(_together(columns)), expression=exp.Literal.number(buckets - 1)))


def _together(columns: int) -> exp.Expr:
    """The hash of some columns. Nested, since the operator's precedence differs from engine to engine."""

    def both(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        return exp.paren(exp.BitwiseXor(this=one, expression=other))

    hashes: list[exp.Expr] = [exp.column(f"h{place}") for place in positions(columns)]
    return reduce(both, hashes)
