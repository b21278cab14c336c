"""Linear regression by least squares, from sums alone: coefficients, standard errors, t and F tests.

The sums are of numbers shifted close to their means, so that little precision is lost when means are subtracted; the
normal equations are then those of correlations, which are well scaled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy

SIGNIFICANT = 0.05
SUPPRESSED = 0  # the level of a suppressed cell that counts as its own level; values have levels from 1
COLLINEAR = 1e-9  # a term is collinear if less of its variance is unexplained by the earlier terms
EXACT = 1e-12  # a fit is exact if less of the outcome's variance remains: the rest is rounding

Matrix: TypeAlias = "numpy.ndarray[Any, numpy.dtype[numpy.float64]]"


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums over rows that a regression needs. Numbers have places, the outcome the first; so have factors.

    Each number is shifted by its own constant, a value close to its mean. `numbers` sums the shifted numbers,
    `products` their products by pairs of places. A factor has levels, known by their numbers: `level_rows` counts the
    rows of each (factor, level), `level_numbers` sums the shifted numbers over them, and `pair_rows` counts the rows
    of each pair of (factor, level) of two factors, the lower place first; a missing pair has no rows.
    """

    rows: int
    shifts: tuple[float, ...]
    numbers: tuple[float, ...]
    products: Mapping[tuple[int, int], float]
    level_rows: Mapping[tuple[int, int], int]
    level_numbers: Mapping[tuple[int, int], tuple[float, ...]]
    pair_rows: Mapping[tuple[tuple[int, int], tuple[int, int]], int]


@dataclass(frozen=True, slots=True)
class Covariate:
    """A covariate: a number, or a factor with an indicator for each level. `place` is among its kind in the sums."""

    name: str
    number: bool
    place: int


@dataclass(frozen=True, slots=True)
class Term:
    """A column of the model: a number, or the indicator of a factor's level."""

    covariate: str
    level: int | None


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An estimate with its standard error, t value and two-sided p value. `term` is None for the intercept."""

    term: Term | None
    estimate: float
    error: float
    t: float
    p: float


@dataclass(frozen=True, slots=True)
class CovariateTest:
    """The F test that all terms of one covariate are 0: for a number the square of its t test."""

    covariate: str
    degrees: int
    f: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Fit:
    """A least squares fit. `collinear` terms are determined by earlier ones, and left out of it.

    A factor's indicators are relative to its `references`, the first level that occurs. `degrees` are those of the
    model and of the residual; `tests` has no entry for a covariate whose terms are all collinear.
    """

    rows: int
    degrees: tuple[int, int]
    r_squared: float
    residual_error: float
    f: float
    p: float
    coefficients: tuple[Coefficient, ...]
    tests: tuple[CovariateTest, ...]
    collinear: tuple[Term, ...]
    references: Mapping[str, int]

    @property
    def significant(self) -> tuple[str, ...]:
        return tuple(test.covariate for test in self.tests if test.significant)


def least_squares(sums: Sums, covariates: Sequence[Covariate]) -> Fit | str:
    """Ordinary least squares with an intercept; or the reason why there is no fit, in words.

    Coefficients are exact to about 16 digits less those lost to collinearity (NIST's Longley data keep 9).

    >>> products = {(0, 0): 29.0, (0, 1): 19.0, (1, 1): 14.0}  # of y = 0, 2, 3, 4 and x = 0 ... 3
    >>> sums = Sums(4, (0.0, 0.0), (9.0, 6.0), products, {}, {}, {})
    >>> fit = least_squares(sums, [Covariate('x', True, 1)])
    >>> [round(each.estimate, 6) for each in fit.coefficients]
    [0.6, 1.1]
    """
    import numpy

    if sums.rows == 0:
        return "no row has the outcome and all covariates"
    if not all(map(isfinite, [*sums.numbers, *sums.products.values()])):
        return "the numbers are too large to sum"
    levels = _levels(sums, covariates)
    terms = [Term(c.name, level) for c in covariates for level in ([None] if c.number else levels[c.name][1:])]
    if not terms:
        return "every covariate has one value only"
    places = {covariate.name: covariate for covariate in covariates}
    cross, means = _cross_products(sums, [(places[term.covariate], term.level) for term in terms])
    scale = numpy.sqrt(numpy.maximum(numpy.diag(cross), 0))
    if _constant(sums, scale[-1], 0):
        return "the outcome has one value only"
    correlation = cross / numpy.outer(unit := numpy.where(scale > 0, scale, 1), unit)
    varying = [
        place
        for place, term in enumerate(terms)
        if term.level is not None or not _constant(sums, scale[place], places[term.covariate].place)
    ]
    kept = _independent(correlation, varying)
    rest = sums.rows - len(kept) - 1
    if not kept:
        return "every covariate has one value only"
    if rest < 1:
        return f"{sums.rows} rows are too few for {len(kept)} terms and an intercept"
    inverse = numpy.linalg.inv(correlation[numpy.ix_(kept, kept)])
    towards = correlation[kept, -1]
    slopes = inverse @ towards
    slopes += inverse @ (towards - correlation[numpy.ix_(kept, kept)] @ slopes)  # removes the inverse's rounding
    unexplained = 1 - float(slopes @ towards)
    if unexplained < EXACT:
        return "the covariates determine the outcome exactly: no residual is left to test with"
    variance = unexplained * float(cross[-1, -1]) / rest
    slopes, inverse = slopes * scale[-1] / scale[kept], inverse / numpy.outer(scale[kept], scale[kept])
    centre = means[kept]
    intercept = float(means[-1] - slopes @ centre)
    estimates = [intercept, *map(float, slopes)]
    errors = [1 / sums.rows + float(centre @ inverse @ centre), *map(float, numpy.diag(inverse))]
    model_f = (1 - unexplained) / unexplained * rest / len(kept)
    return Fit(
        rows=sums.rows,
        degrees=(len(kept), rest),
        r_squared=1 - unexplained,
        residual_error=sqrt(variance),
        f=model_f,
        p=f_tail(model_f, len(kept), rest),
        coefficients=tuple(
            _coefficient(term, estimate, sqrt(error * variance), rest)
            for term, estimate, error in zip([None, *(terms[k] for k in kept)], estimates, errors, strict=True)
        ),
        tests=tuple(_tests([terms[k].covariate for k in kept], slopes, inverse, variance, rest)),
        collinear=tuple(term for place, term in enumerate(terms) if place not in kept),
        references={name: found[0] for name, found in levels.items()},
    )


def _levels(sums: Sums, covariates: Sequence[Covariate]) -> dict[str, list[int]]:
    """The levels of each factor that occur, in order, suppressed cells last."""
    return {
        covariate.name: sorted(
            (level for place, level in sums.level_rows if place == covariate.place),
            key=lambda level: (level == SUPPRESSED, level),
        )
        for covariate in covariates
        if not covariate.number
    }


def _cross_products(sums: Sums, columns: Sequence[tuple[Covariate, int | None]]) -> tuple[Matrix, Matrix]:
    """Sums of products of the centred columns, with the outcome last; and the columns' means."""
    import numpy

    outcome = (Covariate("", True, 0), None)
    everything = [*columns, outcome]
    cross = numpy.empty((len(everything), len(everything)))
    for row, one in enumerate(everything):
        for column, other in enumerate(everything[: row + 1]):
            cross[row, column] = cross[column, row] = _cross(sums, one, other)
    means = [
        sums.shifts[c.place] + sums.numbers[c.place] / sums.rows
        if level is None
        else sums.level_rows[c.place, level] / sums.rows
        for c, level in everything
    ]
    return cross, numpy.array(means)


def _cross(sums: Sums, one: tuple[Covariate, int | None], other: tuple[Covariate, int | None]) -> float:
    """The sum of products of two centred columns. Between indicators it is exact up to one division."""
    (first, level), (second, other_level) = one, other
    if level is None and other_level is None:
        low, high = sorted((first.place, second.place))
        return sums.products[low, high] - sums.numbers[low] * sums.numbers[high] / sums.rows
    if level is None:
        return _cross(sums, other, one)
    here = (first.place, level)
    if other_level is None:
        inside = sums.level_numbers[here][second.place]
        return inside - sums.level_rows[here] * sums.numbers[second.place] / sums.rows
    there = (second.place, other_level)
    if first.place == second.place:
        both = sums.level_rows[here] if here == there else 0
    else:
        both = sums.pair_rows.get((min(here, there), max(here, there)), 0)
    return (sums.rows * both - sums.level_rows[here] * sums.level_rows[there]) / sums.rows


def _constant(sums: Sums, deviation: float, place: int) -> bool:
    """Whether a number varies only by rounding: the norm of its deviations relative to the number itself."""
    return deviation <= 1e-13 * abs(sums.shifts[place]) * sqrt(sums.rows)


def _independent(correlation: Matrix, columns: Sequence[int]) -> list[int]:
    """The columns that earlier ones do not explain, by Cholesky's decomposition."""
    import numpy

    kept: list[int] = []
    factor = numpy.zeros_like(correlation)
    for column in columns:
        row = numpy.zeros(len(kept))
        for place, other in enumerate(kept):
            row[place] = (correlation[column, other] - row[:place] @ factor[place, :place]) / factor[place, place]
        left = 1 - float(row @ row)
        if left > COLLINEAR:
            factor[len(kept), : len(kept)] = row
            factor[len(kept), len(kept)] = sqrt(left)
            kept.append(column)
    return kept


def _tests(names: Sequence[str], slopes: Matrix, inverse: Matrix, variance: float, rest: int) -> "list[CovariateTest]":
    import numpy

    tests = []
    for name in dict.fromkeys(names):
        own = [place for place, other in enumerate(names) if other == name]
        part = numpy.linalg.solve(inverse[numpy.ix_(own, own)], slopes[own])
        f = float(slopes[own] @ part) / (len(own) * variance)
        tests.append(CovariateTest(name, len(own), f, f_tail(f, len(own), rest)))
    return tests


def _coefficient(term: Term | None, estimate: float, error: float, rest: int) -> Coefficient:
    t = estimate / error
    return Coefficient(term, estimate, error, t, f_tail(t * t, 1, rest))


def f_tail(f: float, degrees: int, rest: int) -> float:
    """The probability that an F variable with these degrees of freedom exceeds f; with 1 degree, |t| above sqrt(f).

    >>> round(f_tail(4.0, 1, 10), 3)
    0.073
    """
    if f <= 0:
        return 1.0
    x = rest / (rest + degrees * f)
    return incomplete_beta(rest / 2, degrees / 2, x, degrees * f / (rest + degrees * f))


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b); `rest` = 1 - x is given to keep its precision.

    By its continued fraction (DLMF 8.17.22), to about 9 digits when a or b is in the hundred thousands.

    >>> incomplete_beta(1, 1, 0.25, 0.75)
    0.25
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x) if rest > 0 else 1.0
    if x <= 0:
        return 0.0
    head = a * (log(x) if x < 0.5 else log1p(-rest)) + b * (log(rest) if rest < 0.5 else log1p(-x))
    head += lgamma(a + b) - lgamma(a) - lgamma(b)
    return min(1.0, exp(head) * _fraction(a, b, x) / a)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 / (1 + d1 / (1 + d2 / (1 + ...))), from the front by Lentz's method."""
    tiny = 1e-300
    upper = 1.0
    lower = value = 1 / (1 - (a + b) * x / (a + 1))
    for m in range(1, 1_000_000):  # about the root of a or b suffices
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            lower = 1 / ((1 + part * lower) or tiny)
            upper = (1 + part / upper) or tiny
            value *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            break
    return value
