"""What a table tells of the population that it is a sample of: risks by the people of another table, estimates of
population uniques, and each record's own risk.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import exp, expm1, inf, lgamma, log, log1p
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class MatchedClasses:
    """So many classes that have this many published rows and this many people.

    `null`: with a NULL in one of the columns. Nobody can look a NULL up, so its rows match no people.
    """

    rows: int
    people: int
    null: bool
    classes: int


@dataclass(frozen=True)
class PopulationMatch:
    """The classes of a published table and of a population, by their sizes in both; figures are exact.

    A class *matches* if it has no NULL and both rows and people; the risks are those of the rows in such classes.
    `uncounted`: rows of a population given as counts that have none, or a negative one; they stand for nobody.
    """

    sizes: Sequence[MatchedClasses]
    k: int
    uncounted: int = 0

    # the published table

    @cached_property
    def rows(self) -> int:
        return _rows(self.sizes)

    @cached_property
    def classes(self) -> int:
        return _classes(self._published)

    @cached_property
    def smallest(self) -> int | None:
        """The published table alone is k-anonymous for k up to that."""
        return min((each.rows for each in self._published), default=None)

    @cached_property
    def sample_uniques(self) -> int:
        """Rows that are alone in their class in the published table."""
        return _classes(each for each in self._published if each.rows == 1)

    @cached_property
    def rows_with_null(self) -> int:
        return _rows(each for each in self._published if each.null)

    @cached_property
    def rows_absent(self) -> int:
        """Rows without a NULL whose class has no people: the population lacks them."""
        return _rows(self._absent)

    @cached_property
    def classes_absent(self) -> int:
        return _classes(self._absent)

    @cached_property
    def rows_exceeding(self) -> int:
        """Rows in classes of more rows than people, but some: the population lacks people of these classes."""
        return _rows(self._exceeding)

    @cached_property
    def classes_exceeding(self) -> int:
        return _classes(self._exceeding)

    @cached_property
    def rows_matched(self) -> int:
        return _rows(self._matched)

    # the population

    @cached_property
    def people(self) -> int:
        return _people(self.sizes)

    @cached_property
    def people_with_null(self) -> int:
        return _people(each for each in self.sizes if each.null)

    @cached_property
    def population_classes(self) -> int:
        return _classes(each for each in self.sizes if each.people)

    @cached_property
    def population_classes_absent(self) -> int:
        """Classes of the population without a published row."""
        return _classes(each for each in self.sizes if each.people and (each.null or not each.rows))

    @cached_property
    def population_uniques(self) -> int:
        """People who are alone in their class in the population."""
        return _classes(each for each in self.sizes if each.people == 1)

    # the risks

    @cached_property
    def k_map(self) -> int | None:
        """The fewest people that a published row could be [Sweeney 2002, k-map]; 0 if a class is absent. None: no row
        without a NULL."""
        return 0 if self._absent else min((each.people for each in self._matched), default=None)

    @cached_property
    def rows_below_k(self) -> int:
        """Rows that could be fewer than k people, but some."""
        return _rows(each for each in self._matched if each.people < self.k)

    @cached_property
    def classes_below_k(self) -> int:
        return _classes(each for each in self._matched if each.people < self.k)

    @cached_property
    def rows_of_one(self) -> int:
        """Rows that could be one person only."""
        return _rows(each for each in self._matched if each.people == 1)

    @cached_property
    def uniques_of_both(self) -> int:
        """Rows that are alone in both tables: the sample uniques that are population unique."""
        return _classes(each for each in self._matched if each.people == each.rows == 1)

    @cached_property
    def journalist_max(self) -> Fraction | None:
        """The highest chance that a row is the person picked from its class: 1 / smallest F."""
        return Fraction(1, min(each.people for each in self._matched)) if self._matched else None

    @cached_property
    def journalist_by_classes(self) -> Fraction | None:
        """The average of that over classes, as the number of classes / their people [El Emam 2013]."""
        return Fraction(_classes(self._matched), _people(self._matched)) if self._matched else None

    @cached_property
    def marketer(self) -> Fraction | None:
        """The share of the rows that whoever links all of them gets right on average: the mean over rows of 1 / F."""
        if not self._matched:
            return None
        rows: Counter[int] = Counter()
        for each in self._matched:
            rows[each.people] += each.rows * each.classes
        return _sum([Fraction(number, people) for people, number in rows.items()]) / self.rows_matched

    @property
    def journalist_average(self) -> Fraction | None:
        """The greater of the two averages, by classes and by rows (`marketer`) [ARX]."""
        averages = [each for each in (self.journalist_by_classes, self.marketer) if each is not None]
        return max(averages, default=None)

    @cached_property
    def presence(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest share of people who are published, over ALL classes of the population without a
        NULL [Nergiz et al. 2007, delta-presence]: 0 for a class without a published row."""
        shares = [Fraction(each.rows, each.people) for each in self.sizes if each.people and not each.null]
        return (min(shares), max(shares)) if shares else None

    @cached_property
    def _published(self) -> list[MatchedClasses]:
        return [each for each in self.sizes if each.rows]

    @cached_property
    def _absent(self) -> list[MatchedClasses]:
        return [each for each in self._published if not each.people and not each.null]

    @cached_property
    def _matched(self) -> list[MatchedClasses]:
        return [each for each in self._published if each.people and not each.null]

    @cached_property
    def _exceeding(self) -> list[MatchedClasses]:
        return [each for each in self._matched if each.rows > each.people]


def _rows(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.rows * each.classes for each in classes)


def _people(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.people * each.classes for each in classes)


def _classes(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.classes for each in classes)


def _sum(parts: list[Fraction]) -> Fraction:
    """The exact sum, in pairs: the numbers stay short for as long as possible."""
    while len(parts) > 1:
        parts = [sum(parts[place : place + 2], Fraction(0)) for place in range(0, len(parts), 2)]
    return parts[0]


# Population uniques, estimated from a sample: rows that no other row of the whole population equals.
#
# Each method sees the class sizes of the sample and the size of the population from which it was drawn, at random and
# without replacement. They rest on different assumptions, and err in both directions by amounts that no sample shows:
# none of them alone is an answer.


# The risk of each record of a weighted survey: the expected 1 / F, F being the unknown size of its population class.
#
# A class has f records with the weights w_1, ..., w_f, each the number of people that its record represents. F given f
# is negative binomial with the probability p = f / sum of w. [Benedetti & Franconi 1998, Statistical and technological
# solutions for controlled data dissemination; Polettini 2003] Independent of engines and SQL.


MANY_RECORDS = 30  # records from which on few terms of the series suffice for every p
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
    if records < MANY_RECORDS and p <= 0.5:
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


# Roots of functions of one variable by bisection: slow, but certain to converge.


Function: TypeAlias = Callable[[float], float]

MOST_HALVINGS = 200


def root(function: Function, low: float, high: float) -> float:
    """A root between two ends at which the function has different signs.

    Converged when no float is left between the ends, or after 200 halvings.

    >>> round(root(lambda x: x * x - 2, 0, 2), 6)
    1.414214
    """
    rising = function(high) > 0
    for _ in range(MOST_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if (function(middle) > 0) is rising else (middle, high)
    return (low + high) / 2


def sign_changes(function: Callable[[float], float | None], places: Sequence[float]) -> Iterator[tuple[float, float]]:
    """The pairs of successive places between which the function changes its sign; None: it has no value there.

    >>> [*sign_changes(lambda x: x - 2.5, [1, 2, 3])]
    [(2, 3)]
    """
    values = [(place, function(place)) for place in places]
    for (one, before), (other, after) in pairwise(values):
        if before is not None and after is not None and (before > 0) is not (after > 0):
            yield one, other


# Class sizes of a population as 1 + a negative binomial number, fitted to a sample by the method of moments.
#
# Each row of the population is in the sample with the probability f. With q = (1 - f) (1 - b) the expected sample
# uniques and doubles of K classes are
#
#     h_1 = K f (b / (1 - q))^a (1 + a q / (1 - q))
#     h_2 = K a b^a f^2 (1 - b) / 2 * (2 - (1 - a) q) / (1 - q)^(a + 2)
#
# [Chen & Keller-McNulty 1998, Estimation of identification disclosure risk in microdata, JOS 14]. Each equation was
# derived anew: ARX 3.9.2 has the last factor of the second as a product, and K's sum (see `shlosser`) misplaced.


EDGE = 1e-12
GRID = [1 / (1 + exp(25 - place / 10)) for place in range(351)]  # values of b, between which solutions are searched


@dataclass(frozen=True, slots=True)
class NegativeBinomialFit:
    """The classes of the population, and the parameters of their sizes: a > 0, 0 < b < 1."""

    classes: float
    a: float
    b: float

    @property
    def uniques(self) -> float:
        """The expected classes of size 1: K b^a."""
        return self.classes * exp(self.a * log(self.b))


@dataclass(frozen=True, slots=True)
class _Moments:
    """The equations of a sample, as logarithms of expected by found numbers."""

    classes: float
    fraction: float
    ones: int
    twos: int

    def first(self, a: float, b: float) -> float:
        q, rest, ratio = self._terms(b)
        return log(self.classes * self.fraction / self.ones) - a * ratio + log1p(a * q / rest)

    def second(self, a: float, b: float) -> float:
        q, rest, ratio = self._terms(b)
        scale = log(self.classes / (2 * self.twos)) + log(a) + 2 * log(self.fraction / rest) - a * ratio
        return scale + log1p(-b) + log(2 - (1 - a) * q)

    def _terms(self, b: float) -> tuple[float, float, float]:
        """q, 1 - q, and the logarithm of (1 - q) / b."""
        f = self.fraction
        return (1 - f) * (1 - b), f + b - f * b, log1p(f * (1 - b) / b)

    def peak(self, b: float) -> float:
        """The a up to which the first equation's left side rises; from there on it falls."""
        q, rest, ratio = self._terms(b)
        return max(0.0, 1 / ratio - rest / q)

    def a_of(self, b: float, rising: bool) -> float | None:
        """The a that meets the first equation, below or above the peak."""
        peak = self.peak(b)
        if self.first(peak, b) <= 0:
            return None
        if rising:
            return root(lambda a: self.first(a, b), 0, peak) if self.first(0, b) < 0 else None
        high = max(1.0, 2 * peak)
        while self.first(high, b) > 0:
            high *= 2
        return root(lambda a: self.first(a, b), peak, high)

    def places(self) -> list[float]:
        """Values of b, the first one where the first equation begins to have a solution: both kinds meet there."""
        ends = sign_changes(lambda b: self.first(self.peak(b), b), GRID)
        return sorted([*GRID, *(root(lambda b: self.first(self.peak(b), b), *end) * (1 + EDGE) for end in ends)])

    def solutions(self) -> Iterator[NegativeBinomialFit]:
        places = self.places()
        for rising in (True, False):

            def residual(b: float, rising: bool = rising) -> float | None:
                a = self.a_of(b, rising)
                return self.second(a, b) if a else None

            for low, high in sign_changes(residual, places):
                b = root(lambda at: residual(at) or 0.0, low, high)
                yield NegativeBinomialFit(self.classes, self.a_of(b, rising) or 0.0, b)


def negative_binomial_fit(sizes: Mapping[int, int], population: int) -> NegativeBinomialFit | str:
    """The fit to the number of classes of each size in a sample of that population, or why there is none.

    The only solution of both equations, each down to neighbouring floats. `sizes` has a class of size 1, and the
    population more rows than the sample.

    >>> negative_binomial_fit({1: 5}, 100)
    'no class of the sample has two rows'
    >>> fit = negative_binomial_fit({1: 60, 2: 12, 3: 6, 8: 2}, 1050)
    >>> round(fit.classes), round(fit.uniques)
    (360, 242)
    """
    if not sizes.get(2):
        return "no class of the sample has two rows"
    fraction = sum(size * number for size, number in sizes.items()) / population
    classes = shlosser(sizes, fraction)
    solutions = list(_Moments(classes, fraction, sizes[1], sizes[2]).solutions())
    if len(solutions) == 1:
        return solutions[0]
    return "its equations have several solutions" if solutions else "its equations have no solution"


def shlosser(sizes: Mapping[int, int], fraction: float) -> float:
    """The classes of the population, by the number of classes of each size in a sample of this fraction.

    u + h_1 A (B / C)^2 with A = sum i f^2 (1-f^2)^(i-1) h_i / sum (1-f)^i ((1+f)^i - 1) h_i, B = sum (1-f)^i h_i and
    C = sum i f (1-f)^(i-1) h_i. [Shlosser 1981; Haas & Stokes 1998, Estimating the number of classes in a finite
    population, JASA 93]

    >>> round(shlosser({1: 60, 2: 12, 3: 6, 8: 2}, 0.1))
    392
    """
    f, rest = fraction, 1 - fraction

    def total(part: Callable[[int], float]) -> float:
        return sum(part(size) * number for size, number in sizes.items())

    square = rest * (1 + f)  # 1 - f^2
    first = total(lambda i: i * f * f * square ** (i - 1)) / total(lambda i: -(square**i) * expm1(-i * log1p(f)))
    second = total(lambda i: rest**i) / total(lambda i: i * f * rest ** (i - 1))
    return sum(sizes.values()) + sizes[1] * first * second**2


# Pitman's sampling formula, fitted to class sizes by maximum likelihood.
#
# The likelihood of u classes of n_1, n_2, ... rows, n in all, is up to a constant
#
#     prod_{i=1}^{u-1} (theta + i alpha) / prod_{i=1}^{n-1} (theta + i) * prod_j prod_{i=1}^{n_j - 1} (i - alpha)
#
# [Pitman 1995, Exchangeable and partially exchangeable random partitions]. Its derivatives are sums of reciprocals,
# that is, differences of digamma functions.


SHIFT = 16.0  # from here on the asymptotic series is exact to the digits of a float
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)  # Bernoulli numbers / (2 m)
LOG_ENDS = (-60.0, 60.0)  # between which the logarithm of theta + alpha is searched
ALPHA_ENDS = (1e-6, 1 - 1e-12)


@dataclass(frozen=True, slots=True)
class PitmanFit:
    """The parameters of maximum likelihood: 0 < alpha < 1, theta > -alpha."""

    theta: float
    alpha: float


def pitman_fit(sizes: Mapping[int, int]) -> PitmanFit | str:
    """The fit to the number of classes of each size, or the reason why there is none.

    For each alpha one theta makes the derivative by theta 0; along these, the derivative by alpha changes its sign at
    the maximum. Two nested bisections, both down to neighbouring floats.

    >>> pitman_fit({1: 5})
    'every row of the sample is unique'
    >>> fit = pitman_fit({1: 60, 2: 12, 3: 6, 8: 2})
    >>> round(fit.theta, 1), round(fit.alpha, 2)
    (43.7, 0.48)
    """
    rows, classes = sum(size * number for size, number in sizes.items()), sum(sizes.values())
    if classes == rows:
        return "every row of the sample is unique"
    if classes == 1:
        return "the sample is a single class"
    steps = _steps(sizes)

    def by_theta(theta_and_alpha: float, alpha: float) -> float:
        own = reciprocals(theta_and_alpha / alpha, classes - 1) / alpha
        return own - reciprocals(theta_and_alpha - alpha + 1, rows - 1)

    def theta_of(alpha: float) -> float:
        return exp(root(lambda logarithm: by_theta(exp(logarithm), alpha), *LOG_ENDS)) - alpha

    def by_alpha(alpha: float) -> float:
        ratio = theta_of(alpha) / alpha
        gained = (classes - 1 - ratio * reciprocals(ratio + 1, classes - 1)) / alpha
        return gained - sum(larger * reciprocals(size - alpha, terms) for size, terms, larger in steps)

    low, high = ALPHA_ENDS
    if by_alpha(low) <= 0:
        return "the class sizes are more even than the model allows"
    alpha = root(by_alpha, low, high)
    return PitmanFit(theta_of(alpha), alpha)


def _steps(sizes: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """Each size from 1 on, the distance to the next one that occurs, and the number of classes of that or more."""
    larger, steps = sum(sizes.values()), []
    for size, following in pairwise(sorted({1, *sizes})):
        larger -= sizes.get(size, 0)
        steps.append((size, following - size, larger))
    return steps


def reciprocals(start: float, terms: int) -> float:
    """The sum of 1 / (start + i) for i from 0 to terms - 1, with start > 0, in a few steps whatever the terms.

    The asymptotic series of the digamma function [Abramowitz & Stegun 6.3.18], as a difference without cancellation.

    >>> round(reciprocals(1, 3), 6)  # 1 + 1/2 + 1/3
    1.833333
    """
    few = min(terms, max(0, int(SHIFT - start) + 1))
    found = sum(1 / (start + i) for i in range(few))
    low, left = start + few, terms - few
    high = low + left
    one, other = 1 / (low * low), 1 / (high * high)
    rest = sum(factor * (one**power - other**power) for power, factor in enumerate(SERIES, start=1))
    return found + log1p(left / low) + left / (2 * low * high) + rest


UNDERFLOW = 750.0  # exp(-750) is 0


class Method(StrEnum):
    """The methods, in the order of reports."""

    PITMAN = "Pitman"
    ZAYATZ = "Zayatz"
    SNB = "SNB"


@dataclass(frozen=True, slots=True)
class UniquesEstimate:
    """The estimate of one method. `uniques` is None if it did not converge, and `failure` says why."""

    method: Method
    uniques: float | None
    failure: str | None = None


def population_uniques(sizes: Mapping[int, int], population: int) -> tuple[UniquesEstimate, ...]:
    """An estimate by each method, from the number of classes of each size in the sample.

    Raises ValueError without sample uniques, or if the population is no larger than the sample: then there is nothing
    to estimate.

    >>> [(each.method.value, round(each.uniques)) for each in population_uniques({1: 60, 2: 12, 3: 6, 8: 2}, 1050)]
    [('Pitman', 204), ('Zayatz', 313), ('SNB', 242)]
    """
    if not sizes.get(1) or population <= sum(size * number for size, number in sizes.items()):
        raise ValueError("an estimate needs sample uniques, and a population larger than the sample")
    ordered = dict(sorted(sizes.items()))  # sums of floats depend on the order
    return tuple(_estimate(method, ordered, population) for method in Method)


def _estimate(method: Method, sizes: Mapping[int, int], population: int) -> UniquesEstimate:
    found = METHODS[method](sizes, population)
    if isinstance(found, str):
        return UniquesEstimate(method, None, found)
    if not 0 <= found <= population:
        return UniquesEstimate(method, None, "its result is larger than the population")
    return UniquesEstimate(method, found)


def pitman(sizes: Mapping[int, int], population: int) -> float | str:
    """Under Pitman's sampling formula: Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha, the asymptotic expectation.

    [Hoshino 2001, Applying Pitman's sampling formula to microdata disclosure risk assessment, JOS 17]

    >>> round(pitman({1: 60, 2: 12, 3: 6, 8: 2}, 1050))
    204
    """
    fit = pitman_fit(sizes)
    if isinstance(fit, str):
        return fit
    logarithm = lgamma(fit.theta + 1) - lgamma(fit.theta + fit.alpha) + fit.alpha * log(population)
    return exp(logarithm) if logarithm < UNDERFLOW - 50 else inf


def zayatz(sizes: Mapping[int, int], population: int) -> float | str:
    """The sample uniques that are expected to be population uniques, divided by the sampling fraction.

    Assumes that the classes of the population are of the sizes of those in the sample, in the same proportions.
    [Zayatz 1991, Estimation of the percent of unique population elements on a microdata file using the sample]

    >>> round(zayatz({1: 60, 2: 12, 3: 6, 8: 2}, 1050))
    313
    """
    rows = sum(size * number for size, number in sizes.items())
    fraction = rows / population
    once = logarithm = 0.0
    before = 1
    for size, number in sorted(
        sizes.items()
    ):  # the chance that exactly one row of such a class is drawn, relative to size 1
        until = min(size, before + int(UNDERFLOW / fraction))
        logarithm += sum(_shrinks(other, rows, population) for other in range(before, until))
        once += number * size * exp(logarithm)
        before = size
    return sizes[1] ** 2 / once / fraction


def _shrinks(size: int, rows: int, population: int) -> float:
    """The logarithm of C(N - size - 1, n - 1) / C(N - size, n - 1), for n rows of N."""
    return log1p(-(rows - 1) / (population - size)) if size <= population - rows else -inf


def snb(sizes: Mapping[int, int], population: int) -> float | str:
    """Under class sizes that are 1 + a negative binomial number. [Chen & Keller-McNulty 1998]

    >>> round(snb({1: 60, 2: 12, 3: 6, 8: 2}, 1050))
    242
    """
    fit = negative_binomial_fit(sizes, population)
    return fit if isinstance(fit, str) else fit.uniques


METHODS: dict[Method, Callable[[Mapping[int, int], int], float | str]] = {
    Method.PITMAN: pitman,
    Method.ZAYATZ: zayatz,
    Method.SNB: snb,
}
