"""How random pairs of rows differ: bit masks of columns, counted inside the engine."""

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from qidsql.core.tables import Nulls
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill

LANE = 62  # columns in one integer of the engine


def pair_masks(
    dialect: Dialect,
    sample: Relation,
    columns: ColumnNames,
    rows: int,
    pairs: int,
    seed: int,
    nulls: Nulls = Nulls.EQUAL,
) -> Statement[dict[int, int]]:
    """{mask: number of pairs} over independent random pairs of different rows of a table of `rows` >= 2 rows.

    Bit i of a mask tells that the two rows differ in column i: a NULL differs from a value, or from nothing where it
    is a wildcard. `sample` must hold min(rows, 2 * pairs) rows of the
    table, drawn without replacement. One statement, one scan.
    """
    number, nodes = exp.column("pair_number"), sample.columns(columns)
    lanes = [range(start, min(start + LANE, len(columns))) for start in range(0, len(columns), LANE)]
    names = [f"mask_{lane}" for lane in range(len(lanes))]
    tree = fill(
        "row_pairs/pair_masks",
        relation=sample.node,
        aliased=[exp.alias_(node, f"c{place}") for place, node in enumerate(nodes)],
        row_hash=dialect.row_hash(nodes),
        pairs=pairs,
        sample=min(rows, 2 * pairs),
        rows=rows,
        first=dialect.shuffled(number, 3 * seed),
        step=dialect.shuffled(number, 3 * seed + 1),
        shuffle=dialect.shuffled(exp.column("row_number"), 3 * seed + 2),
        masks=[exp.alias_(_difference(lane, nulls), name) for lane, name in zip(lanes, names, strict=True)],
        names=[exp.column(name) for name in names],
    )

    def read(answer: list[Row]) -> dict[int, int]:
        counts: dict[int, int] = {}
        for *cells, count in answer:
            mask = sum(integer(cell) << (LANE * lane) for lane, cell in enumerate(cells))
            counts[mask] = integer(count)
        return counts

    return Statement(dialect.render(tree), f"differences of {pairs:,} pairs of rows", read)


def _difference(places: Sequence[int], nulls: Nulls) -> exp.Expr:
    """The integer that has a bit for each of these columns in which left_row and right_row differ."""
    differs = exp.NEQ if nulls is Nulls.WILDCARD else exp.NullSafeNEQ  # with a NULL, <> is not true
    bits: list[exp.Expr] = [
        exp.Case()
        .when(
            differs(this=exp.column(f"c{place}", "left_row"), expression=exp.column(f"c{place}", "right_row")),
            exp.cast(exp.Literal.number(1 << bit), "BIGINT"),
        )
        .else_(exp.Literal.number(0))
        for bit, place in enumerate(places)
    ]
    return reduce(lambda total, bit: exp.Add(this=total, expression=bit), bits)
