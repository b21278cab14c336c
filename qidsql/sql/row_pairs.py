"""Statements that find the columns in which pairs of rows differ: random pairs, and pairs that agree on a column set.

They return only bit masks. A search sends dozens of the second kind over dozens of columns, and copying and rendering
such a syntax tree takes longer than running it. So the frame is rendered once, with marks in its holes and without any
name of the user's, and each relation and each part of a column once; a statement is made by joining rendered parts.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache

from sqlglot import exp

from qidsql.core.tables import Nulls
from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import LANE, add, big, lanes_of, mask_of
from qidsql.sql.relation import Relation
from qidsql.sql.row_codes import PackedRows
from qidsql.sql.templates import (
    MARK,
    ColumnNames,
    Row,
    Statement,
    fill,
    fill_query,
    in_pieces,
    integer,
    mark,
    mark_of_table,
    marks,
    put_together,
)

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
        "relation": source.text(dialect),
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
        "sizes": " + ".join(_bits(dialect, lane) for lane in lanes),
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
    """Pairs that agree, of so many packed rows with guards: words are compared, not one column after the other.

    Of more than `max_pairs` pairs it counts one more. One statement, two scans of the packed rows.
    """
    packing = packed.packing
    words, columns = range(len(packing.words)), len(packing.names)
    codes, guards = packing.bits((1 << columns) - 1), packing.guards
    names = _listed(f"lane{word}" for word in words)
    differences = [put_together(_xor(dialect), {"one": f"a.w{word}", "other": f"b.w{word}"}) for word in words]
    parts = {
        "one": packed.named(dialect, "a"),
        "other": packed.named(dialect, "b"),
        "agree": " AND ".join(
            f"(a.w{word} & {bits}) = (b.w{word} & {bits})" for word, bits in packing.bits(agree).items()
        )
        or "TRUE",
        "lanes": _listed(
            f"(({xor}) + {codes.get(word, 0)}) & {guards[word]} AS lane{word}" for word, xor in enumerate(differences)
        ),
        "lane_names": names,
        "sizes": " + ".join(_bits(dialect, word) for word in words),
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


@in_pieces
def _packed_frame(_: Dialect) -> exp.Expr:
    holes = ("agree", "lanes", "lane_names", "sizes", "most", "max_masks")
    tables = {hole: mark_of_table(hole) for hole in ("one", "other")}
    return fill("row_pairs/agreeing_packed", **tables, **marks(*holes))


@in_pieces
def _xor(_: Dialect) -> exp.Expr:
    return exp.BitwiseXor(this=mark("one"), expression=mark("other"))


@in_pieces
def _frame(dialect: Dialect) -> exp.Expr:
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
        return fill(f"row_pairs/{way}", relation=relation, meeting=meeting, **holes)
    inner = marks("columns", "names") | {"rest": mark("aliased")}
    members = fill_query("row_pairs/members_by_window", relation=relation, **inner)
    return fill("row_pairs/agreeing", members=members.subquery("found"), **holes)


def _placed(dialect: Dialect, source: Relation, names: ColumnNames) -> str:
    """What orders the two rows of a pair: any numbering, or where rows have none that lasts, a hash of all columns."""
    if not dialect.materialized:
        return _hashed(dialect, source, names)
    return source.address or put_together(_numbering(dialect), {})


@in_pieces
def _numbering(dialect: Dialect) -> exp.Expr:
    return dialect.numbering()


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _column(dialect: Dialect, source: Relation, name: str | None) -> str:
    """A column of the relation, or a constant without a name, since all rows agree on the empty set."""
    return put_together(_zero(dialect), {}) if name is None else source.column_text(dialect, name)


def _hashed(dialect: Dialect, source: Relation, names: tuple[str | None, ...]) -> str:
    values = {f"value{place}": _column(dialect, source, name) for place, name in enumerate(names)}
    return put_together(_row_hash(dialect, len(names)), values)


def _carried(dialect: Dialect, source: Relation, name: str | None, alias: str, hashed: bool) -> str:
    value = _hashed(dialect, source, (name,)) if hashed else _column(dialect, source, name)
    return put_together(_aliased(dialect), {"value": value, "alias": alias})


@lru_cache(maxsize=4096)
def _agrees(dialect: Dialect, place: int) -> str:
    """Whether the rows a and b have the same value in the column."""
    return put_together(_same(dialect), {"one": f"a.c{place}", "other": f"b.c{place}"})


@lru_cache(maxsize=4096)
def _differs(dialect: Dialect, place: int) -> str:
    """The column's bit in the mask of the rows a and b."""
    return put_together(_bit(dialect, place % LANE), {"one": f"a.c{place}", "other": f"b.c{place}"})


@lru_cache
def _end(dialect: Dialect, lane: int) -> str:
    """The last term of a lane's sum, 0, so that a lane without columns is an integer too."""
    return put_together(_last(dialect), {"alias": f"lane{lane}"})


@lru_cache
def _bits(dialect: Dialect, lane: int) -> str:
    return put_together(_bit_count(dialect), {"lane": f"lane{lane}"})


@in_pieces
def _zero(_: Dialect) -> exp.Expr:
    return big(0)


@in_pieces
def _last(_: Dialect) -> exp.Expr:
    return exp.alias_(big(0), f"{MARK}alias")


@in_pieces
def _row_hash(dialect: Dialect, columns: int) -> exp.Expr:
    return dialect.row_hash([mark(f"value{place}") for place in range(columns)])


@in_pieces
def _aliased(_: Dialect) -> exp.Expr:
    return exp.alias_(mark("value"), f"{MARK}alias")


@in_pieces
def _same(_: Dialect) -> exp.Expr:
    return exp.NullSafeEQ(this=mark("one"), expression=mark("other"))


@in_pieces
def _bit(_: Dialect, bit: int) -> exp.Expr:
    return _difference(mark("one"), mark("other"), bit, Nulls.EQUAL)


@in_pieces
def _bit_count(dialect: Dialect) -> exp.Expr:
    return dialect.bit_count(mark("lane"))


def difference_bit(place: int, one: str, other: str, nulls: Nulls = Nulls.EQUAL) -> exp.Expr:
    """The bit of a column in its lane if two rows differ in it, else 0."""
    mine, others = (exp.column(f"c{place}", table=table) for table in (one, other))
    return _difference(mine, others, place % LANE, nulls)


def _difference(one: exp.Expr, other: exp.Expr, bit: int, nulls: Nulls) -> exp.Expr:
    differs = exp.NEQ if nulls is Nulls.WILDCARD else exp.NullSafeNEQ  # with a NULL, <> is not true
    test = differs(this=one, expression=other)
    return exp.Case(ifs=[exp.If(this=test, true=big(1 << bit))], default=exp.Literal.number(0))
