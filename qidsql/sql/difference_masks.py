"""The statement that compares rows: on which columns do those differ that agree on a column set?

A search asks dozens of these over dozens of columns, and a syntax tree of that size takes longer to copy and render
than the engine takes to answer. So the frame is rendered once per relation, with marks in its holes that nothing in
the relation is named like, and every part of a column once; a statement is the rendered parts joined.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache, wraps
from itertools import count
from typing import Any

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill

LANE = 63  # columns in one mask integer: what a signed 64-bit integer holds on every engine


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

    The masks of all of them where they are at most `max_pairs`, else of some; the `max_masks` smallest. All masks
    are over `columns`. NULL equals NULL. `hashed` columns are compared by their hashes: right where these tell all
    their values apart, and where `dialect.hashes_values`. One statement, one or two scans.
    """
    inside = [place for place in range(len(columns)) if agree >> place & 1]
    outside = [place for place in range(len(columns)) if not agree >> place & 1]
    names: list[str | None] = [columns[place] for place in inside]
    names = names or [None]
    lanes = range(-(-len(columns) // LANE))
    carried = range(len(columns)) if dialect.hashes_values else outside
    parts = {
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
    }
    pieces = _frame(dialect, source)
    sql = "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))

    def read(rows: list[Row]) -> tuple[int, list[int]]:
        masks = [sum(integer(cell) << LANE * lane for lane, cell in enumerate(row[1:])) for row in rows]
        return integer(rows[0][0]), [] if rows[0][1] is None else masks

    purpose = f"difference masks of rows that agree on {agree.bit_count()} of {len(columns)} columns"
    return Statement(sql, purpose, read, scans=2)


@lru_cache(maxsize=64)
def _frame(dialect: Dialect, source: Relation) -> tuple[str, ...]:
    """The statement's text in pieces, and between each two the name of the part that goes there."""
    given = dialect.render(source.node)
    mark = next(mark for number in count() if (mark := f"the part {number}: ") not in given)

    def marks(*holes: str) -> dict[str, exp.Expr]:
        return {hole: exp.column(exp.to_identifier(f"{mark}{hole}", quoted=True)) for hole in holes}

    holes = marks("lanes", "lane_names", "sizes", "max_pairs", "max_masks")
    if dialect.hashes_values:
        place = source.address or exp.Window(this=exp.Anonymous(this="ROW_NUMBER"))
        holes |= marks("class_hash", "aliased", "agree")
        spread = dialect.row_hash([exp.column("place", table="placed")])
        block = exp.Mod(this=spread, expression=exp.column("blocks", table="chosen"))
        meeting = dialect.row_hash([exp.column("class_number", table="chosen"), block])
        tree = fill("row_pairs/agreeing_by_hash", relation=source.node, place=place, meeting=meeting, **holes)
    else:
        inner = marks("columns", "names") | {"rest": marks("aliased")["aliased"]}
        members = fill("row_pairs/members_by_window", relation=source.node, **inner)
        assert isinstance(members, exp.Query)
        tree = fill("row_pairs/agreeing", members=members.subquery("found"), **holes)
    return tuple(re.split(f'"{mark}(\\w+)"', dialect.render(tree)))


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _rendered(build: Callable[..., exp.Expr]) -> Callable[..., str]:
    """The function that gives the node's text, each made once."""

    @wraps(build)
    @lru_cache(maxsize=16_384)
    def text(dialect: Dialect, *arguments: Any) -> str:
        return dialect.render(build(dialect, *arguments))

    return text


def _big(number: int) -> exp.Expr:
    return exp.cast(exp.Literal.number(number), exp.DataType.Type.BIGINT)


def _value(source: Relation, name: str | None) -> exp.Expr:
    """A column of the relation; without a name a constant: all rows agree on the empty set."""
    return _big(0) if name is None else source.column(name)


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
    """The rows a and b have the same value in the column."""
    return exp.NullSafeEQ(this=exp.column(f"c{place}", table="a"), expression=exp.column(f"c{place}", table="b"))


@_rendered
def _differs(_: Dialect, place: int) -> exp.Expr:
    """The column's bit in the mask of the rows a and b."""
    rows = [exp.column(f"c{place}", table=row) for row in ("a", "b")]
    test = exp.NullSafeNEQ(this=rows[0], expression=rows[1])
    return exp.Case(ifs=[exp.If(this=test, true=_big(1 << place % LANE))], default=exp.Literal.number(0))


@_rendered
def _end(_: Dialect, lane: int) -> exp.Expr:
    """The last term of a lane's sum: nothing, so that a lane without columns is an integer too."""
    return exp.alias_(_big(0), f"lane{lane}")
