"""The statement that puts a published table's classes beside those of a population."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qidsql.measures.population import MANY_RECORDS, NEGLIGIBLE, MatchedClasses, PopulationMatch, WeightedClasses
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Filling, Row, Statement, fill, fill_query, integer


def population_match(
    dialect: Dialect,
    published: exp.Expr,
    population: exp.Expr,
    columns: Sequence[tuple[exp.Expr, exp.Expr]],
    k: int,
    counts: exp.Expr | None = None,
) -> Statement[PopulationMatch]:
    """The classes of two relations on pairs of columns, by their sizes in both. One statement, one scan of each.

    `counts`: the column of the population that holds how many people a row stands for; without it each row is one. It
    returns a row for each pair of sizes that occurs: no value leaves the engine.
    """
    names = [exp.column(f"c{place}") for place in range(len(columns))]
    aliased = [
        [exp.alias_(each.copy(), name.name) for each, name in zip(side, names, strict=True)]
        for side in zip(*columns, strict=True)
    ]
    tree = fill(
        "population/matched_classes",
        published=published,
        population=population,
        published_columns=[one for one, _ in columns],
        population_columns=[other for _, other in columns],
        published_aliased=aliased[0],
        population_aliased=aliased[1],
        names=names,
        incomplete=exp.or_(*(exp.Is(this=each.copy(), expression=exp.null()) for each in names)),
        people=exp.Count(this=exp.Star(), big_int=True) if counts is None else _sum_of_counts(counts, counts, 0),
        uncounted=0 if counts is None else _sum_of_counts(counts, exp.Literal.number(0), 1),
    )

    def read(rows: list[Row]) -> PopulationMatch:
        found = [[integer(cell) for cell in row] for row in rows]
        classes = tuple(MatchedClasses(rows, people, bool(null), many) for rows, people, null, many, _ in found)
        return PopulationMatch(classes, k, sum(row[-1] for row in found))

    return Statement(dialect.render(tree), f"people in the classes of {len(columns)} columns", read, scans=2)


def _sum_of_counts(counts: exp.Expr, value: exp.Expr, otherwise: int) -> exp.Expr:
    """The sum of a value over rows that have a count; of another one over rows whose count is NULL or negative."""
    counted = exp.GTE(this=counts.copy(), expression=exp.Literal.number(0))
    case = exp.Case(ifs=[exp.If(this=counted, true=value.copy())], default=exp.Literal.number(otherwise))
    return exp.Sum(this=case)


# The statement that counts the classes of a column set by size and by the sum of their survey weights.


SIZE_STEPS = 1000
LARGEST_WEIGHT = 10**15


@dataclass(frozen=True, slots=True)
class SurveyWeights:
    """The rows whose weight cannot be used, and the classes by size and weight: none if there are such rows."""

    classes: tuple[WeightedClasses, ...]
    null: int
    bad: int

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.classes)

    @property
    def total(self) -> float:
        """The sum of all weights: the size of the population, as the survey estimates it."""
        return sum(each.weight * each.classes for each in self.classes)


def survey_weights(dialect: Dialect, source: Relation, columns: ColumnNames, weight: str) -> Statement[SurveyWeights]:
    """The classes of a column set by size and sum of weights. One statement, one scan.

    Sums within 0.1 % of each other are taken together, at their mean, so that the result is small also if every weight
    is different: the risk of a row is then off by less than 0.1 %, and the mean risk by less than 0.0001 %. The sum of
    a class of one row is its weight.
    """
    tree = fill(
        "population/weighted_classes",
        relation=source.node,
        columns=source.columns(columns),
        weight=exp.cast(source.column(weight), exp.DataType.Type.DOUBLE),
        steps=SIZE_STEPS,
        largest=LARGEST_WEIGHT,
    )

    def read(rows: list[Row]) -> SurveyWeights:
        null, bad = (sum(integer(row[place]) for row in rows) for place in (3, 4))
        if null or bad:
            return SurveyWeights((), null, bad)
        classes = (
            WeightedClasses(integer(size), float(str(total)) / integer(number), integer(number))
            for size, number, total, *_ in rows
        )
        return SurveyWeights(tuple(sorted(classes)), 0, 0)  # sorted, so that sums of them can be reproduced

    return Statement(dialect.render(tree), f"class sizes and sums of weights of {len(columns)} columns", read)


# The statements for the risk that somebody of a household is re-identified.


@dataclass(frozen=True, slots=True)
class HouseholdRisks:
    """The risks of all households together. `without`: rows without one, each taken for one. `certain`: households of
    risk 1. `expected`: households of whom somebody is re-identified; `expected_rows`: the rows of these."""

    households: int
    rows: int
    without: int
    certain: int
    highest: float
    expected: float
    expected_rows: float


def household_risks(
    dialect: Dialect, source: Relation, columns: ColumnNames, household: str, weight: str | None = None
) -> Statement[HouseholdRisks]:
    """The risks of households: in the table by the classes of these columns, or by survey weights in its population.
    One statement, one scan. [sdcMicro, measure_risk: hierarchical risk]
    """
    holes: dict[str, Filling] = {
        "household": source.column(household),
        "columns": source.columns(columns),
        "relation": source.node,
    }
    if weight is None:
        people = fill_query("population/risk_by_class", **holes)
    else:
        people = fill_query(
            "population/risk_by_weight",
            **holes,
            weight=exp.cast(source.column(weight), exp.DataType.Type.DOUBLE),
            fewest=MANY_RECORDS,
            negligible=exp.Literal.number(str(NEGLIGIBLE)),
        )
    tree = fill("population/household_risk", people=people.subquery("of_rows"))

    def read(rows: list[Row]) -> HouseholdRisks:
        [found] = rows
        counts = [integer(each or 0) for each in found[:4]]
        return HouseholdRisks(*counts, *(float(str(each or 0)) for each in found[4:]))

    words = "the risk of households" if weight is None else "the risk of households by weights"
    return Statement(dialect.render(tree), words, read)
