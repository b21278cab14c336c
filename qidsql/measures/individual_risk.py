"""The risk of each record of a weighted survey: the expected 1 / F, F being the unknown size of its population class.

A class has f records with the weights w_1, ..., w_f, each the number of people that its record represents. F given f is
negative binomial with the probability p = f / sum of w. [Benedetti & Franconi 1998, Statistical and technological
solutions for controlled data dissemination; Polettini 2003] Independent of engines and SQL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

MANY = 30  # records from which on few terms of the series suffice for every p
NEGLIGIBLE = 1e-17
ROUNDING = 1e-9  # a risk that is larger than a threshold by less equals it

EDGES = tuple(Fraction(n, 1000) for n in (0, 1, 5, 10, 50, 100, 200, 500, 1000))  # of the histogram


@dataclass(frozen=True, slots=True, order=True)
class WeightedClasses:
    """A number of classes with the same number of records, and the same sum of weights."""

    records: int
    weight: float
    classes: int

    @property
    def rows(self) -> int:
        return self.records * self.classes

    @property
    def risk(self) -> float:
        """The risk of each record; a class of the population has at least the records of the sample."""
        return individual_risk(self.records, min(1.0, self.records / self.weight))


def individual_risk(records: int, p: float) -> float:
    """The expected 1 / F of a class with so many records, each in the sample with the probability p.

    It is p times the integral of y^(f-1) / (p + (1-p) y) from 0 to 1, and p / f * 2F1(1, 1; f + 1; 1 - p). The series'
    terms are positive; for small p it converges slowly, and the integral's recursion E(f+1) = p / (1-p) (1/f - E(f)),
    from E(1) = p / (1-p) ln(1/p), loses no digits. Correct to about 14 digits.

    >>> round(individual_risk(1, 0.01), 4)  # a unique record that stands for 100 people
    0.0465
    """
    if records < MANY and p <= 0.5:
        found = p / (1 - p) * log(1 / p)
        for size in range(1, records):
            found = p / (1 - p) * (1 / size - found)
        return found
    term = found = 1.0
    step = 0
    while term > NEGLIGIBLE * found:
        term *= (step + 1) * (1 - p) / (records + 1 + step)
        found += term
        step += 1
    return p / records * found


@dataclass(frozen=True, slots=True)
class RiskBin:
    """The records whose risk is above `low` and at most `high`."""

    low: Fraction
    high: Fraction
    records: int


@dataclass(frozen=True, slots=True)
class RecordRisks:
    """The risks of all records together. `above`: records whose risk is above the threshold."""

    highest: float
    average: float
    expected: float  # re-identifications, if every record is attacked
    above: int
    bins: tuple[RiskBin, ...]


def record_risks(found: Iterable[WeightedClasses], threshold: Fraction) -> RecordRisks:
    """The risks of the records of these classes, at least one. The threshold is an edge of a bin.

    >>> risks = record_risks([WeightedClasses(records=2, weight=200.0, classes=5)], Fraction(1, 100))
    >>> risks.above, round(risks.expected, 3)
    (0, 0.096)
    """
    risks = [(each.risk, each.rows) for each in found]
    expected = sum(risk * rows for risk, rows in risks)
    return RecordRisks(
        highest=max(risk for risk, _ in risks),
        average=expected / sum(rows for _, rows in risks),
        expected=expected,
        above=sum(rows for risk, rows in risks if _exceeds(risk, threshold)),
        bins=_bins(risks, sorted({*EDGES, threshold})),
    )


def _bins(risks: Sequence[tuple[float, int]], edges: Sequence[Fraction]) -> tuple[RiskBin, ...]:
    above = [sum(rows for risk, rows in risks if _exceeds(risk, edge)) for edge in edges]
    return tuple(
        RiskBin(low, high, more - fewer)
        for low, high, more, fewer in zip(edges, edges[1:], above, above[1:], strict=False)
    )


def _exceeds(risk: float, threshold: Fraction) -> bool:
    return risk > float(threshold) * (1 + ROUNDING)
