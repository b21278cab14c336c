"""Statements about the values that columns of different tables have in common. They return only counts, ranks and
booleans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qidsql.core.tables import Comparison, Table, TableName, Version
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import rows_node
from qidsql.sql.templates import Row, Statement, fill, integer

TABLE = "rows_of_table"
MEASURES = ("lows", "highs", "distinct_values")
DIGITS = "^[0-9]{1,18}$"  # texts that are integers which fit every engine's


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column, and the type in which its values are compared with those of others."""

    table: TableName
    column: str
    form: exp.DataType | None  # None: as texts, byte by byte
    number: bool
    measured: bool  # whether its values have distances
    digits: bool = False  # texts are compared as numbers, ignoring those that are not only digits
    version: Version | None = None  # of the table

    def value(self, dialect: Dialect) -> exp.Expr:
        column = exp.column(exp.to_identifier(self.column, quoted=True), table=exp.to_identifier(TABLE))
        if self.form is None:
            return dialect.comparable(column, Comparison.BYTES)
        if self.digits:
            digits = exp.RegexpLike(
                this=dialect.comparable(column, Comparison.BYTES), expression=exp.Literal.string(DIGITS)
            )
            text = exp.cast(column.copy(), dialect.type(dialect.text))
            return exp.Case(ifs=[exp.If(this=digits, true=exp.TryCast(this=text, to=self.form.copy()))])
        value: exp.Expr = exp.cast(column, self.form.copy())
        if self.measured and not self.number:  # an infinite date is ignored: it has no distance to others
            finite = exp.Anonymous(this="ISFINITE", expressions=[column.copy()])
            value = exp.Case(ifs=[exp.If(this=finite, true=value)])
        return value

    def source(self) -> exp.Expr:
        return exp.alias_(rows_node(Table(self.table, "table", (), version=self.version)), TABLE, table=True)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """First facts about a column: its number of distinct values (approximate), and the ranks of its minimum and maximum
    among those of all columns.

    `crowded`: the values fill more than half of their range; `far`: zero is farther from the range than its length;
    `digits`: some texts may begin with a digit.
    """

    distinct: int
    low: int
    high: int
    crowded: bool
    far: bool
    digits: bool = False


@dataclass(frozen=True, slots=True)
class Overlap:
    """The number of distinct values of two columns, and of those they have in common.

    `crowded_left` and so on: see ColumnFacts. `aligned`: both cover nearly the same range.
    """

    left: int
    right: int
    common: int
    crowded_left: bool
    crowded_right: bool
    far_left: bool
    far_right: bool
    aligned: bool

    def reversed(self) -> "Overlap":
        """This overlap with left and right exchanged."""
        left, right, crowded, far = self.left, self.right, self.crowded_left, self.far_left
        return Overlap(right, left, self.common, self.crowded_right, crowded, self.far_right, far, self.aligned)


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A column in a group of columns to compare. `share`: its sample has one of so many values."""

    number: int
    group: int
    column: ComparedColumn
    share: int


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """The sizes of samples of columns, by column number, and how many of their values are in other columns."""

    sizes: Mapping[int, int]
    found_in: Mapping[tuple[int, int], int]  # by (sampled column, other column), if it has at least half of the sample


def column_ranges(
    dialect: Dialect, tables: Sequence[Sequence[tuple[int, ComparedColumn, int | None]]]
) -> Statement[dict[int, ColumnFacts]]:
    """Facts about columns, with one type, table by table: (number, column, number of distinct values if known).

    A column without values is omitted. One statement, one scan per table.
    """
    facts = []
    for columns in tables:
        measures: list[exp.Expr] = []
        holes: dict[str, list[exp.Expr]] = {name: [] for name in MEASURES}
        for number, column, known in columns:
            value = column.value(dialect)
            least, greatest = exp.Min(this=value), exp.Max(this=value.copy())
            values = dialect.about_distinct(value) if known is None else exp.Literal.number(known)
            for name, part in zip(MEASURES, (least, greatest, values), strict=True):
                measures.append(exp.alias_(part, f"{name}{number}"))
                holes[name].append(exp.column(f"{name}{number}", table="measured"))
        numbers: list[exp.Expr] = [exp.Literal.number(number) for number, *_ in columns]
        source = columns[0][1].source()
        facts.append(fill("values_in_common/column_facts", measures=measures, table=source, numbers=numbers, **holes))
    example = tables[0][0][1]
    low, high, distinct = (exp.column(name, table="facts") for name in ("low", "high", "distinct_values"))
    tree = fill(
        "values_in_common/column_ranges",
        facts=_together(facts, "all_facts"),
        crowded=_crowded(dialect, example, low, high, distinct),
        far=_far(dialect, example, low, high),
        digits=_digits(dialect, example, low, high),
    )

    def read(rows: list[Row]) -> dict[int, ColumnFacts]:
        return {
            integer(number): ColumnFacts(
                integer(distinct),
                integer(low),
                integer(high),
                bool(crowded),
                bool(far),
                bool(digits),
            )
            for number, distinct, low, high, crowded, far, digits in rows
        }

    number_of_columns = sum(map(len, tables))
    return Statement(
        dialect.render(tree),
        f"ranges of {number_of_columns} columns of {len(tables)} tables",
        read,
        scans=len(tables),
    )


def values_in_common(
    dialect: Dialect, columns: Sequence[ComparedColumn], pairs: Sequence[tuple[int, int]]
) -> Statement[dict[tuple[int, int], Overlap]]:
    """The distinct values that pairs of columns have in common; pairs are positions in the list.

    Exact; NULL is not a value. One statement, one scan per column, one look-up per pair and value of its first column.
    """
    ends = {
        name: exp.column(end, table=table)
        for name, end, table in (("la", "low", "a"), ("ha", "high", "a"), ("lb", "low", "b"), ("hb", "high", "b"))
    }
    example = columns[0]
    tree = fill(
        "values_in_common/values_in_common",
        column_values=_together([_distinct(dialect, place, each) for place, each in enumerate(columns)], "all_values"),
        one_numbers=[exp.Literal.number(one) for one, _ in pairs],
        other_numbers=[exp.Literal.number(other) for _, other in pairs],
        crowded=_crowded(dialect, example, ends["lb"], ends["hb"], exp.column("distinct_values", table="b")),
        far=_far(dialect, example, ends["lb"], ends["hb"]),
        aligned=_aligned(dialect, example, ends),
    )

    def read(rows: list[Row]) -> dict[tuple[int, int], Overlap]:
        own = {integer(row[0]): row for row in rows if row[0] == row[1]}
        common = {(integer(row[0]), integer(row[1])): row for row in rows if row[0] != row[1]}
        none: Row = (0, 0, 0, False, False, False)
        found = {}
        for one, other in pairs:
            left, right, both = own.get(one, none), own.get(other, none), common.get((one, other), none)
            found[one, other] = Overlap(
                integer(left[2]),
                integer(right[2]),
                integer(both[2]),
                bool(left[3]),
                bool(right[3]),
                bool(left[4]),
                bool(right[4]),
                bool(both[5]),
            )
        return found

    purpose = f"values in common of {len(pairs)} pairs of columns"
    return Statement(dialect.render(tree), purpose, read, scans=len(columns))


def sampled_in_common(
    dialect: Dialect, smalls: Sequence[GroupMember], bigs: Sequence[GroupMember]
) -> Statement[SampleCounts]:
    """How many sampled values of some columns are in other columns of their groups.

    A sample has one of `share` distinct values (a power of 2), chosen by hash. One statement, at most two scans per
    table.
    """
    samples = [
        fill(
            "values_in_common/sampled_values",
            numbers=[exp.Literal.number(each.number) for each in columns],
            groups=[exp.Literal.number(each.group) for each in columns],
            shares=[exp.Literal.number(each.share) for each in columns],
            compared=[each.column.value(dialect) for each in columns],
            table=columns[0].column.source(),
            place=dialect.value_hash(exp.column("column_value"), columns[0].column.number),
        )
        for columns in _by_table(smalls)
    ]
    cells = [
        fill(
            "values_in_common/column_cells",
            numbers=[exp.Literal.number(each.number) for each in columns],
            groups=[exp.Literal.number(each.group) for each in columns],
            compared=[each.column.value(dialect) for each in columns],
            table=columns[0].column.source(),
        )
        for columns in _by_table(bigs)
    ]
    tree = fill(
        "values_in_common/sampled_in_common",
        samples=_together(samples, "all_samples"),
        cells=_together(cells, "all_cells"),
    )

    def read(rows: list[Row]) -> SampleCounts:
        counts = {(integer(one), integer(other)): integer(counted) for _, one, other, counted in rows}
        return SampleCounts(
            {one: counted for (one, other), counted in counts.items() if one == other},
            {pair: counted for pair, counted in counts.items() if pair[0] != pair[1]},
        )

    purpose = f"samples of {len(smalls)} columns in {len(bigs)} columns"
    return Statement(dialect.render(tree), purpose, read, scans=len(samples) + len(cells))


def _by_table(columns: Sequence[GroupMember]) -> list[list[GroupMember]]:
    tables: dict[TableName, list[GroupMember]] = {}
    for each in columns:
        tables.setdefault(each.column.table, []).append(each)
    return list(tables.values())


def rows_by_match(
    dialect: Dialect, left: exp.Expr, right: exp.Expr, columns: Sequence[tuple[exp.Expr, exp.Expr]], k: int
) -> Statement[tuple[int, ...]]:
    """How many rows of two relations match none, one, or fewer than k of the other on pairs of columns.

    One statement, one scan of each. The eleven counts of sql_templates/values_in_common/rows_by_match.sql.
    """
    names = [f"c{place}" for place in range(len(columns))]
    own: list[exp.Expr] = [exp.column(name) for name in names]
    aliased = [
        [exp.alias_(each.copy(), name) for each, name in zip(side, names, strict=True)]
        for side in zip(*columns, strict=True)
    ]
    tree = fill(
        "values_in_common/rows_by_match",
        left=left,
        right=right,
        left_columns=[one for one, _ in columns],
        right_columns=[other for _, other in columns],
        left_aliased=aliased[0],
        right_aliased=aliased[1],
        names=own,
        incomplete=exp.or_(*(exp.Is(this=each.copy(), expression=exp.null()) for each in own)),
        k=k,
    )

    def read(rows: list[Row]) -> tuple[int, ...]:
        return tuple(map(integer, rows[0]))

    return Statement(dialect.render(tree), f"rows by their matches on {len(columns)} columns", read, scans=2)


def _distinct(dialect: Dialect, number: int, column: ComparedColumn) -> exp.Expr:
    return fill("values_in_common/distinct_values", number=number, value=column.value(dialect), table=column.source())


def _together(queries: Sequence[exp.Expr], alias: str) -> exp.Expr:
    """The rows of all queries."""
    rest = [query for query in queries if isinstance(query, exp.Query)]
    while len(rest) > 1:  # pair by pair: engines plan a balanced tree faster than a long chain
        pairs = zip(rest[::2], rest[1::2], strict=False)
        joined: list[exp.Query] = [
            exp.Union(this=_enclosed(one), expression=_enclosed(other), distinct=False) for one, other in pairs
        ]
        rest = joined + rest[len(rest) & ~1 :]
    [query] = rest
    return query.subquery(alias)


def _enclosed(query: exp.Query) -> exp.Expr:
    return query.subquery(copy=False) if isinstance(query, exp.Union) else query


def _crowded(dialect: Dialect, column: ComparedColumn, low: exp.Expr, high: exp.Expr, distinct: exp.Expr) -> exp.Expr:
    """Whether the values fill more than half of the range."""
    if not column.measured:
        return exp.false()
    span = _span(dialect, column, low, high)
    return exp.LT(this=span, expression=exp.Mul(this=exp.Literal.number(2), expression=distinct.copy()))


def _far(dialect: Dialect, column: ComparedColumn, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """Whether zero is farther from the range than its length. Always true for dates, which have no zero."""
    if not column.measured:
        return exp.false()
    if not column.number:
        return exp.true()
    away = exp.func("LEAST", exp.Abs(this=_float(dialect, low)), exp.Abs(this=_float(dialect, high)))
    return exp.GT(this=away, expression=_span(dialect, column, low, high))


def _digits(dialect: Dialect, column: ComparedColumn, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """Whether a text that begins with a digit can be in the range."""
    if column.form is not None:
        return exp.false()
    above = exp.LT(this=dialect.comparable(low.copy(), Comparison.BYTES), expression=exp.Literal.string(":"))
    below = exp.GTE(this=dialect.comparable(high.copy(), Comparison.BYTES), expression=exp.Literal.string("0"))
    return exp.and_(above, below)


def _aligned(dialect: Dialect, column: ComparedColumn, ends: Mapping[str, exp.Expr]) -> exp.Expr:
    """Whether the intersection of the ranges is at least half as long as their union."""
    if not column.measured:
        return exp.false()
    shared = _span(
        dialect,
        column,
        exp.func("GREATEST", ends["la"].copy(), ends["lb"].copy()),
        exp.func("LEAST", ends["ha"].copy(), ends["hb"].copy()),
    )
    whole = _span(
        dialect,
        column,
        exp.func("LEAST", ends["la"].copy(), ends["lb"].copy()),
        exp.func("GREATEST", ends["ha"].copy(), ends["hb"].copy()),
    )
    return exp.GTE(this=exp.Mul(this=exp.Literal.number(2), expression=shared), expression=whole)


def _span(dialect: Dialect, column: ComparedColumn, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """The length of a range: in days, or as a number that cannot overflow."""
    if not column.number:
        return exp.paren(dialect.days(low.copy(), high.copy()))
    return exp.paren(exp.Sub(this=_float(dialect, high), expression=_float(dialect, low)))


def _float(dialect: Dialect, value: exp.Expr) -> exp.Expr:
    return exp.cast(value.copy(), dialect.type(dialect.number))
