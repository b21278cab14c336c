"""Statements that find the columns in which pairs of rows differ: random pairs, and pairs that agree on a column set.

They return only bit masks. A search sends dozens of the second kind over dozens of columns, and copying and rendering
such a syntax tree takes longer than running it. So the frame is rendered once, with marks in its holes and without any
name of the user's, and each relation and each part of a column once; a statement is made by joining rendered parts.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache, wraps
from typing import Any

from sqlglot import exp

from qidsql.core.tables import Nulls
from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import LANE, add, big, lanes_of, mask_of
from qidsql.sql.packed_rows import PackedRows
from qidsql.sql.pieces import mark, mark_of_table, marks, pieces_of, put_together
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill, fill_query

SCANS_ANEW = 7  # of agreeing_by_content.sql, if every table expression is evaluated wherever it is named


def pair_masks(
    dialect: Dialect,
    sample: Relation,
    columns: ColumnNames,
    rows: int,
    pairs: int,
    seed: int,
    nulls: Nulls = Nulls.EQUAL,
) -> Statement[dict[int, int]]:
    """{mask: number of pairs} over independent random pairs of distinct rows of a table of `rows` >= 2 rows.

    Bit i of a mask is set if the two rows differ in column i. NULL differs from every value, or from nothing if it is a
    wildcard. `sample` must have min(rows, 2 * pairs) rows of the table, drawn without replacement. One
    statement, one scan.
    """
    number, nodes = exp.column("pair_number"), sample.columns(columns)
    lanes = lanes_of(len(columns))
    names = [f"mask_{lane}" for lane in range(len(lanes))]
    differing = [add(difference_bit(place, "left_row", "right_row", nulls) for place in lane) for lane in lanes]
    tree = fill(
        "row_pairs/pair_masks",
        relation=sample.node,
        aliased=[exp.alias_(node, f"c{place}") for place, node in enumerate(nodes)],
        order=[dialect.row_hash(nodes), *dialect.decided(nodes)],
        pairs=pairs,
        sample=min(rows, 2 * pairs),
        rows=rows,
        first=dialect.shuffled(number, 3 * seed),
        step=dialect.shuffled(number, 3 * seed + 1),
        shuffle=dialect.shuffled(exp.column("row_number"), 3 * seed + 2),
        masks=[exp.alias_(mask, name) for mask, name in zip(differing, names, strict=True)],
        names=[exp.column(name) for name in names],
    )

    def read(answer: list[Row]) -> dict[int, int]:
        return {mask_of(cells): integer(number) for *cells, number in answer}

    return Statement(dialect.render(tree), f"differences of {pairs:,} pairs of rows", read)


def agreeing(
    dialect: Dialect,
    source: Relation,
    columns: ColumnNames,
    agree: int,
    max_pairs: int,
    max_masks: int,
    hashed: Collection[str] = (),
) -> Statement[tuple[int, list[int]]]:
    """How many ordered pairs of rows agree on the set `agree`, and the masks of the columns on which they differ.

    The masks are of all pairs if there are at most `max_pairs`, else of some; at most the `max_masks` smallest. Masks
    are over `columns`. NULL equals NULL. `hashed` columns are compared by hash, which requires that their hashes are
    all distinct, and `dialect.hashes_values`. One statement, one or two scans.
    """
    inside = [place for place in range(len(columns)) if agree >> place & 1]
    outside = [place for place in range(len(columns)) if not agree >> place & 1]
    names: list[str | None] = [columns[place] for place in inside]
    names = names or [None]
    lanes = range(len(lanes_of(len(columns))))
    carried = range(len(columns)) if dialect.hashes_values else outside
    parts = {
        "relation": dialect.render(source.node),
        "place": _placed(dialect, source, tuple(columns)),
        "columns": _listed(_column(dialect, source, name) for name in names),
        "class_hash": _hashed(dialect, source, tuple(names)),
        "aliased": _listed(
            _carried(dialect, source, columns[place], f"c{place}", columns[place] in hashed) for place in carried
        )
        or _carried(dialect, source, None, "c", False),
        "names": _listed(f"c{place}" for place in carried) or "c",
        "agree": " AND ".join(_agrees(dialect, place) for place in inside) or "TRUE",
        "lanes": _listed(
            " + ".join([*(_differs(dialect, place) for place in outside if place // LANE == lane), _end(dialect, lane)])
            for lane in lanes
        ),
        "lane_names": _listed(f"lane{lane}" for lane in lanes),
        "sizes": " + ".join(dialect.render(dialect.bit_count(exp.column(f"lane{lane}"))) for lane in lanes),
        "max_pairs": str(max_pairs),
        "max_masks": str(max_masks),
        "zeros": _listed(_end(dialect, lane) for lane in lanes),
        "differ": " OR ".join(f"lane{lane} <> 0" for lane in lanes),
    }
    sql = put_together(_frame(dialect), parts)

    def read(rows: list[Row]) -> tuple[int, list[int]]:
        return integer(rows[0][0]), [] if rows[0][1] is None else [mask_of(row[1:]) for row in rows]

    return Statement(sql, _purpose(agree, len(columns)), read, scans=2 if dialect.materialized else SCANS_ANEW)


def agreeing_packed(
    dialect: Dialect, packed: PackedRows, agree: int, rows: int, max_pairs: int, max_masks: int
) -> Statement[tuple[int, list[int]]]:
    """The same of packed rows with guards, so many, whose words are compared, and not one column after the other.

    Of more than `max_pairs` pairs it counts one more. One statement, two scans of the packed rows.
    """
    packing = packed.packing
    words, columns = range(len(packing.words)), len(packing.names)
    codes, guards = packing.bits((1 << columns) - 1), packing.guards
    names = _listed(f"lane{word}" for word in words)
    parts = {
        "one": dialect.render(packed.named("a")),
        "other": dialect.render(packed.named("b")),
        "agree": " AND ".join(
            f"(a.w{word} & {bits}) = (b.w{word} & {bits})" for word, bits in packing.bits(agree).items()
        )
        or "TRUE",
        "lanes": _listed(
            f"(({_xor(dialect, word)}) + {codes.get(word, 0)}) & {guards[word]} AS lane{word}" for word in words
        ),
        "lane_names": names,
        "sizes": " + ".join(dialect.render(dialect.bit_count(exp.column(f"lane{word}"))) for word in words),
        "most": str(rows + max_pairs + 1),
        "max_masks": str(max_masks + 1),  # and 0
    }

    def read(found: list[Row]) -> tuple[int, list[int]]:
        pairs = max((integer(row[0]) for row in found), default=rows) - rows
        masks = ((packing.differing([*map(integer, row[2:])]), integer(row[1])) for row in found)
        return pairs, [mask for mask, together in masks if mask or together > rows][:max_masks]

    return Statement(put_together(_packed_frame(dialect), parts), _purpose(agree, columns), read, scans=2)


def _purpose(agree: int, columns: int) -> str:
    return f"difference masks of rows that agree on {agree.bit_count()} of {columns} columns"


@cache
def _packed_frame(dialect: Dialect) -> tuple[str, ...]:
    holes = ("agree", "lanes", "lane_names", "sizes", "most", "max_masks")
    tables = {hole: mark_of_table(hole) for hole in ("one", "other")}
    return pieces_of(dialect, fill("row_pairs/agreeing_packed", **tables, **marks(*holes)))


@lru_cache
def _xor(dialect: Dialect, word: int) -> str:
    one, other = (exp.column(f"w{word}", table=table) for table in ("a", "b"))
    return dialect.render(exp.BitwiseXor(this=one, expression=other))


@cache
def _frame(dialect: Dialect) -> tuple[str, ...]:
    """The statement's text in pieces, with the names of the parts between them."""
    relation = mark_of_table("relation")
    holes = marks("lanes", "lane_names", "sizes", "max_pairs", "max_masks")
    if dialect.hashes_values:
        holes |= marks("class_hash", "aliased", "agree", "place")
        spread = dialect.row_hash([exp.column("place", table="placed")])
        block = exp.Mod(this=spread, expression=exp.column("blocks", table="chosen"))
        meeting = dialect.row_hash([exp.column("class_number", table="chosen"), block])
        if not dialect.materialized:
            holes |= marks("names", "zeros", "differ")
        way = "agreeing_by_hash" if dialect.materialized else "agreeing_by_content"
        tree = fill(f"row_pairs/{way}", relation=relation, meeting=meeting, **holes)
    else:
        inner = marks("columns", "names") | {"rest": mark("aliased")}
        members = fill_query("row_pairs/members_by_window", relation=relation, **inner)
        tree = fill("row_pairs/agreeing", members=members.subquery("found"), **holes)
    return pieces_of(dialect, tree)


def _placed(dialect: Dialect, source: Relation, names: ColumnNames) -> str:
    """What orders the two rows of a pair: any numbering, or where rows have none that lasts, a hash of all columns."""
    if not dialect.materialized:
        return _hashed(dialect, source, names)
    return dialect.render(source.address or dialect.numbering())


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _rendered(build: Callable[..., exp.Expr]) -> Callable[..., str]:
    """Makes a cached function that returns the node's text."""

    @wraps(build)
    @lru_cache(maxsize=16_384)
    def text(dialect: Dialect, *arguments: Any) -> str:
        return dialect.render(build(dialect, *arguments))

    return text


def _value(source: Relation, name: str | None) -> exp.Expr:
    """A column of the relation, or a constant without a name, since all rows agree on the empty set."""
    return big(0) if name is None else source.column(name)


@_rendered
def _column(_: Dialect, source: Relation, name: str | None) -> exp.Expr:
    return _value(source, name)


@_rendered
def _hashed(dialect: Dialect, source: Relation, names: tuple[str | None, ...]) -> exp.Expr:
    return dialect.row_hash([_value(source, name) for name in names])


@_rendered
def _carried(dialect: Dialect, source: Relation, name: str | None, alias: str, hashed: bool) -> exp.Expr:
    value = _value(source, name)
    return exp.alias_(dialect.row_hash([value]) if hashed else value, alias)


@_rendered
def _agrees(_: Dialect, place: int) -> exp.Expr:
    """Whether the rows a and b have the same value in the column."""
    return exp.NullSafeEQ(this=exp.column(f"c{place}", table="a"), expression=exp.column(f"c{place}", table="b"))


@_rendered
def _differs(_: Dialect, place: int) -> exp.Expr:
    """The column's bit in the mask of the rows a and b."""
    return difference_bit(place, "a", "b")


@_rendered
def _end(_: Dialect, lane: int) -> exp.Expr:
    """The last term of a lane's sum, 0, so that a lane without columns is an integer too."""
    return exp.alias_(big(0), f"lane{lane}")


def difference_bit(place: int, one: str, other: str, nulls: Nulls = Nulls.EQUAL) -> exp.Expr:
    """The bit of a column in its lane if two rows differ in it, else 0."""
    differs = exp.NEQ if nulls is Nulls.WILDCARD else exp.NullSafeNEQ  # with a NULL, <> is not true
    test = differs(this=exp.column(f"c{place}", table=one), expression=exp.column(f"c{place}", table=other))
    return exp.Case(ifs=[exp.If(this=test, true=big(1 << place % LANE))], default=exp.Literal.number(0))
