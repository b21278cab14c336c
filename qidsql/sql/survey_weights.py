"""The statement that counts the classes of a column set by size and by the sum of their survey weights."""

from dataclasses import dataclass

from sqlglot import exp

from qidsql.measures.individual_risk import WeightedClasses
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill

STEPS = 1000
LARGEST = 10**15


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
        "survey_weights/weighted_classes",
        relation=source.node,
        columns=source.columns(columns),
        weight=exp.cast(source.column(weight), exp.DataType.Type.DOUBLE),
        steps=STEPS,
        largest=LARGEST,
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
