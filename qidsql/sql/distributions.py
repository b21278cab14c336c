"""The statements that compare a table with its protected copy: distributions value by value, sums of regressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison, Table
from qidsql.measures.least_squares import Covariate, Sums
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import ALIAS, Relation, rows_node
from qidsql.sql.templates import Row, Statement, fill, fill_query, integer


@dataclass(frozen=True, slots=True)
class SharedColumn:
    """A column of the table and the same column of the protected copy. `mark` is the text for NULL in the copy."""

    original: Column
    protected: Column
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """The number of rows: all, with a NULL weight, with a negative or infinite one, and with a positive one."""

    rows: int
    null: int
    bad: int
    used: int


@dataclass(frozen=True, slots=True)
class ValueRows:
    """A value's rows before and after, their weights and the weights' squares. `shown` is set only on request.

    `level` is its rank among the column's values from 1, by decreasing rows in the original.
    """

    level: int
    shown: str | None
    rows: tuple[int, int]
    weights: tuple[float, float]
    squares: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A column before and after: NULLs, distinct values, and the values, those that lost most rows first.

    `vanished` and `added` count values that exist only before and only after; `gained` counts rows that values gained.
    `values` is complete only if there are at most as many as requested.
    """

    nulls: tuple[int, int]
    distinct: tuple[int, int]
    vanished: int
    added: int
    gained: int
    values: tuple[ValueRows, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """The rows of a regression: the original's or the copy's, NULL covariates replaced by `fill` if it is given."""

    table: Table
    protected: bool
    fill: float | None = None


def numeric(dialect: Dialect, column: Column) -> bool:
    """Whether a column's type is numeric."""
    kind = _type(dialect, column)
    others = (exp.DataType.Type.BIT, exp.DataType.Type.MONEY, exp.DataType.Type.SMALLMONEY)
    return kind is not None and kind.is_type(*exp.DataType.NUMERIC_TYPES) and not kind.is_type(*others)


def weighed_rows(dialect: Dialect, table: Table, weight: str | None) -> Statement[WeighedRows]:
    """Counts rows, and unusable weights. One statement, one scan."""
    tree = fill("distributions/weighed_rows", relation=_rows(table).node, weight=_weight(table, weight))

    def read(rows: list[Row]) -> WeighedRows:
        return WeighedRows(*map(integer, rows[0]))

    return Statement(dialect.render(tree), f"rows and weights of {table.name}", read)


def value_distribution(
    dialect: Dialect,
    original: Table,
    protected: Table,
    column: SharedColumn,
    weights: tuple[str | None, str | None],
    most: int,
    shown: bool,
) -> Statement[Distribution]:
    """A column's distribution in both tables, of `most` values at most. One statement, a scan of each table."""
    text = exp.cast(exp.column("value"), dialect.type(dialect.text)) if shown else exp.null()
    counted = _values(dialect, original, protected, column, weights)
    tree = fill("distributions/value_distribution", counted=counted, shown=text, most=most + 1)

    def read(rows: list[Row]) -> Distribution:
        nulls, totals, values = (0, 0), (0, 0, 0, 0, 0), []
        for level, shown, missing, *sums, distinct_before, distinct_after, vanished, added, gained in rows:
            before, after = sums[:3], sums[3:]
            both = (integer(before[0]), integer(after[0]))
            if integer(missing):
                nulls = both
            else:
                weighed, squares = (_number(before[1]), _number(after[1])), (_number(before[2]), _number(after[2]))
                text = None if shown is None else str(shown)
                values.append(ValueRows(integer(level), text, both, weighed, squares))
            one, two, three, four, five = map(integer, (distinct_before, distinct_after, vanished, added, gained))
            totals = (one, two, three, four, five)
        return Distribution(nulls, totals[:2], *totals[2:], tuple(values[:most]))

    return Statement(dialect.render(tree), f"distribution of {column.original.name} before and after", read)


def columns_of_both(
    dialect: Dialect, original: Table, protected: Table, columns: Sequence[SharedColumn]
) -> tuple[tuple[exp.Expr, list[exp.Expr]], tuple[exp.Expr, list[exp.Expr]]]:
    """For the table and for its copy: the node to select from, and the columns' values, comparable with each other."""
    before, after = ([_side(dialect, column, side) for column in columns] for side in (False, True))
    return (_rows(original).node, before), (_rows(protected).node, after)


def regression_sums(
    dialect: Dialect,
    original: Table,
    protected: Table,
    outcome: SharedColumn,
    columns: Sequence[SharedColumn],
    covariates: Sequence[Covariate],
    cases: Cases,
) -> Statement[Sums]:
    """The sums of a regression over the rows that have the outcome and all covariates. One statement.

    A factor's levels have the same numbers for every choice of cases. A NULL number is replaced by `fill`, a NULL
    factor by the level SUPPRESSED.
    """
    names = dict(zip((covariate.name for covariate in covariates), columns, strict=True))
    numbers = [outcome, *(names[covariate.name] for covariate in covariates if covariate.number)]
    factors = [names[covariate.name] for covariate in covariates if not covariate.number]
    query, found = exp.Select().from_(_rows(cases.table).node), []
    for place, column in enumerate(numbers):
        value = _double(_side(dialect, column, cases.protected, numbers=True))
        if place and cases.fill is not None:
            value = exp.func("COALESCE", value, _double(exp.Literal.string(repr(cases.fill))))
        query = query.select(exp.alias_(value, f"v{place}"))
        found += [exp.GT(this=value.copy(), expression=_huge(-1)), exp.LT(this=value.copy(), expression=_huge(1))]
    for place, column in enumerate(factors):
        value = _side(dialect, column, cases.protected)
        table, level = f"levels{place}", exp.column("level", f"levels{place}")
        query = query.join(
            _values(dialect, original, protected, column, (None, None), table),
            on=exp.EQ(this=value, expression=exp.column("value", table)),
            join_type="left" if cases.fill is not None else "inner",
        ).select(exp.alias_(exp.func("COALESCE", level, exp.Literal.number(0)), f"k{place}"))
    places, keys = range(len(numbers)), [exp.column(f"k{place}") for place in range(len(factors))]
    pairs = list(combinations_with_replacement(places, 2))
    means = [exp.column(f"m{place}") for place in places]
    centred = [exp.column(f"c{place}") for place in places]
    tree = fill(
        "distributions/regression_sums",
        cases=query.where(*found).subquery("complete"),
        means=[exp.alias_(exp.Avg(this=exp.column(f"v{place}")), f"m{place}") for place in places],
        centred=[
            *(exp.alias_(exp.column(f"v{place}") - exp.column(f"m{place}"), f"c{place}") for place in places),
            *means,
            *keys,
        ],
        levels=keys,
        sums=[
            *(exp.Max(this=mean) for mean in means),
            *(exp.Sum(this=each) for each in centred),
            *(exp.Sum(this=exp.Mul(this=centred[one], expression=centred[two])) for one, two in pairs),
        ],
        sets=[exp.Tuple(expressions=list(some)) for size in range(3) for some in combinations(keys, size)],
    )

    def read(rows: list[Row]) -> Sums:
        total, shifts, summed = 0, (0.0,) * len(numbers), (0.0,) * len(numbers)
        products: dict[tuple[int, int], float] = {}
        level_rows: dict[tuple[int, int], int] = {}
        level_numbers: dict[tuple[int, int], tuple[float, ...]] = {}
        pair_rows: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
        for row in rows:
            levels = [(place, integer(row[place])) for place in range(len(factors)) if row[place] is not None]
            count = integer(row[len(factors)])
            cells = [_number(cell) for cell in row[len(factors) + 1 :]]
            inside = tuple(cells[len(numbers) : 2 * len(numbers)])
            if not levels:
                total, shifts, summed = count, tuple(cells[: len(numbers)]), inside
                products = dict(zip(pairs, cells[2 * len(numbers) :], strict=True))
            elif len(levels) == 1:
                level_rows[levels[0]], level_numbers[levels[0]] = count, inside
            else:
                pair_rows[levels[0], levels[1]] = count
        return Sums(total, shifts, summed, products, level_rows, level_numbers, pair_rows)

    return Statement(dialect.render(tree), f"sums of a regression over {cases.table.name}", read)


def _values(
    dialect: Dialect,
    original: Table,
    protected: Table,
    column: SharedColumn,
    weights: tuple[str | None, str | None],
    alias: str = "counted",
) -> exp.Expr:
    tree = fill_query(
        "distributions/values_of_both",
        original=_rows(original).node,
        protected=_rows(protected).node,
        original_value=_side(dialect, column, protected=False),
        protected_value=_side(dialect, column, protected=True),
        original_weight=_weight(original, weights[0]),
        protected_weight=_weight(protected, weights[1]),
    )
    return tree.subquery(alias)


def _side(dialect: Dialect, column: SharedColumn, protected: bool, numbers: bool = False) -> exp.Expr:
    """The column's value in one of the tables: comparable with that of the other, or with `numbers` unchanged.

    Numbers are compared as numbers, other types by their text unless both columns have the same type.
    """
    own = column.protected if protected else column.original
    node: exp.Expr = exp.column(exp.to_identifier(own.name, quoted=True), table=exp.to_identifier(ALIAS))
    if own.comparison is Comparison.TEXT:
        return dialect.comparable(node, own.comparison)
    if protected and column.mark is not None and not numeric(dialect, own):
        marked = exp.EQ(
            this=exp.Cast(this=node.copy(), to=dialect.type(dialect.text)), expression=exp.Literal.string(column.mark)
        )
        node = exp.Case(ifs=[exp.If(this=marked, true=exp.null())], default=node)
    return node if numbers else dialect.comparable(node, _comparison(dialect, column))


def _comparison(dialect: Dialect, column: SharedColumn) -> Comparison:
    both = (column.original, column.protected)
    texts = [
        kind is not None and kind.is_type(*exp.DataType.TEXT_TYPES) for kind in (_type(dialect, each) for each in both)
    ]
    if all(texts):
        return Comparison.BYTES  # the collations can differ, which is an error in a comparison
    same = column.original.type == column.protected.type or all(numeric(dialect, each) for each in both)
    if same and all(each.comparison is Comparison.VALUE for each in both):
        return Comparison.VALUE
    return Comparison.BYTES if any(texts) or not same else column.original.comparison


def _type(dialect: Dialect, column: Column) -> exp.DataType | None:
    try:
        return exp.DataType.build(column.type, dialect=dialect.name)
    except sqlglot.errors.SqlglotError:
        return None  # a user-defined type


def _rows(table: Table) -> Relation:
    return Relation(exp.alias_(rows_node(table), ALIAS, table=True))


def _weight(table: Table, name: str | None) -> exp.Expr:
    return _double(exp.Literal.number(1) if name is None else _rows(table).column(name))


def _double(node: exp.Expr) -> exp.Expr:
    return exp.cast(node, exp.DataType.Type.DOUBLE)


def _huge(sign: int) -> exp.Expr:
    return _double(exp.Literal.string(f"{sign}e300"))


def _number(cell: object) -> float:
    return 0.0 if cell is None else float(cell)  # type: ignore[arg-type]
