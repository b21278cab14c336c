"""Sample sizes, and the guarantees of a sample of a given size.

Every size is rounded up and every ratio down, with logarithms of 60 correct digits: a sample is never too small.
`sets` is the number of column sets on which the sample may err, for all of them together, with at most the
probability delta: all 2^m in the paper (Motwani & Xu), fewer by `antichain`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import ceil, comb, floor, log, log1p, sqrt
from typing import Annotated

from qidsql.errors import UsageError
from qidsql.measures.profiles import ClassProfile

DIGITS = 60
MARGIN = Decimal("1e-40")  # beyond all rounding of the logarithms
GRID = 10**6  # ratios are rounded down to millionths


def antichain(columns: int, max_size: int | None = None) -> int:
    """The most column sets, of at most `max_size` columns, none of which contains another.

    A union bound need not cover more. If a set that fails on the full table passes on the sample, then so does a
    maximal one among those that fail (of at most `max_size` columns), for passing is monotone; the maximal ones do not
    contain each other. In the same way a set lost by pruning loses a minimal one. An antichain has at most
    C(m, m // 2) sets [Sperner], and at most C(m, d) if none has more than d <= m / 2 columns [Lubell, Yamamoto,
    Meshalkin].

    >>> antichain(4)
    6
    >>> antichain(4, 1)
    4
    """
    half = columns // 2
    return comb(columns, half if max_size is None else min(max_size, half))


def key_pairs(epsilon: Fraction, delta: Fraction, sets: int) -> int:
    """Independent random pairs of rows: a column set that separates all of them separates 1 - epsilon of all pairs.

    The least k with (1 - epsilon)^k <= delta / sets. [Motwani & Xu, Theorem 5] Fewer rows than pairs would do, of the
    order 1 / sqrt(epsilon) [Hildebrant, Le, Ta, Vu, PODS 2023], but a key of those separates all their pairs, far more
    than these, and is larger: 6 columns of a census instead of 4, for epsilon = 0.001.

    >>> key_pairs(Fraction(1, 100), Fraction(1, 20), sets=1000)
    986
    """
    _check(epsilon=epsilon, delta=delta)
    with localcontext(prec=DIGITS):
        return _up(_odds(delta, sets) / -_ln(1 - epsilon))


def distinct_key_rows(rows: int, epsilon: Fraction, delta: Fraction, sets: int) -> int:
    """Rows drawn without replacement: a column set that is a key of them has a distinct ratio of at least 1 - epsilon.

    The least r with C(d, r) (rows / d)^r / C(rows, r) <= delta / sets, where d is the largest number of classes that is
    still too small: equal classes mislead the sample most. All rows if no fewer suffice. Takes about r steps.
    [Motwani & Xu, Theorem 7, with the product of Lemma 6 unsimplified]

    >>> distinct_key_rows(1_000_000, Fraction(1, 100), Fraction(1, 20), sets=1000)
    43626
    """
    _check(epsilon=epsilon, delta=delta)
    classes = ceil((1 - epsilon) * rows) - 1
    if classes < 1:
        return min(rows, 1)
    spare = rows / classes - 1
    needed, passed = log(sets) - log(delta) + 1e-9, 0.0
    for drawn in range(rows):
        chance = drawn * spare / (rows - drawn)
        if passed >= needed:
            return drawn
        if chance >= 1:
            return drawn + 1  # more rows than classes
        passed -= log1p(-chance)
    return rows


def beta_pairs(beta: Fraction, epsilon: Fraction, delta: Fraction, sets: int) -> tuple[int, int]:
    """Independent random pairs, and the number of them that a column set must separate to pass.

    A set passes if it separates beta of all pairs, and fails if it separates less than (1 - epsilon) beta. The two
    kinds of error have the probability exp(-k D) each, where D is the relative entropy of a coin that is equally far
    from both: a Chernoff bound before it is simplified, which for beta near 1 needs a small part of the paper's pairs.
    For beta = 1 it is Theorem 5. Errors count once per set, since no set can make both.
    [Motwani & Xu, Theorem 8; Hoeffding 1963, Theorem 1]

    >>> beta_pairs(Fraction(9, 10), Fraction(1, 10), Fraction(1, 20), sets=1000)
    (1180, 1014)
    """
    _check(beta=beta, epsilon=epsilon, delta=delta)
    if beta == 1:
        pairs = key_pairs(epsilon, delta, sets)
        return pairs, pairs
    with localcontext(prec=DIGITS):
        low, high = _decimal((1 - epsilon) * beta), _decimal(beta)
        step = ((1 - low) / (1 - high)).ln()
        middle = step / (step + (high / low).ln())
        distance = min(_entropy(middle, low), _entropy(middle, high))
        pairs = _up(_odds(delta, sets) / distance)
        return pairs, _up(middle * pairs - MARGIN)


def sure_ratio(beta: Fraction, size: int, delta: Fraction, sets: int) -> Fraction:
    """The ratio that every set of ratio beta or more on the full table reaches on a sample of that size.

    For the separation ratio `size` counts independent pairs, for the distinct ratio rows drawn without replacement:
    one row of each class makes beta n good rows, no two of the same class, so that the classes in the sample are no
    fewer than the good rows in it. A number of good draws falls to a * size with probability exp(-size * D(a, beta))
    [Hoeffding 1963, Theorems 1 and 4]; a is the largest one with a probability of at most delta / sets. Never below
    the paper's (1 - sqrt(2 ln(sets / delta) / (beta size))) beta, a simpler form of the bound. 0 if the sample is too
    small.
    [Motwani & Xu, Lemmas 9 and 10, Theorems 11 and 12]

    >>> float(sure_ratio(Fraction(9, 10), 1000, Fraction(1, 20), sets=1000)).__round__(3)
    0.855
    """
    _check(beta=beta, delta=delta)
    with localcontext(prec=DIGITS):
        odds = _odds(delta, sets) + MARGIN
        if beta == 1:
            return Fraction(1)

        def too_likely(steps: int) -> bool:
            ratio = beta * steps / GRID
            return size * _entropy(_decimal(ratio), _decimal(beta)) < odds

        if too_likely(0):
            return Fraction(0)
        return beta * (_least(too_likely, GRID) - 1) / GRID


def near_size(beta: Fraction, epsilon: Fraction, delta: Fraction, sets: int) -> int:
    """The sample size for which `sure_ratio` is (1 - epsilon) beta: its own bound, solved for the size.

    >>> near_size(Fraction(9, 10), Fraction(1, 10), Fraction(1, 20), sets=1000)
    271
    """
    _check(beta=beta, epsilon=epsilon, delta=delta)
    if beta == 1:
        return 1
    with localcontext(prec=DIGITS):
        return _up((_odds(delta, sets) + MARGIN) / _entropy(_decimal((1 - epsilon) * beta), _decimal(beta)))


def _check(**ratios: Fraction) -> None:
    for name, ratio in ratios.items():
        if not (0 < ratio < 1 or (name == "beta" and ratio == 1)):
            raise UsageError(f"{name} must be between 0 and 1, got {float(ratio):g}")


def _ln(value: Fraction) -> Decimal:
    return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _odds(delta: Fraction, sets: int) -> Decimal:
    """ln(sets / delta)."""
    return _ln(sets / delta)


def _entropy(ratio: Decimal, chance: Decimal) -> Decimal:
    """The relative entropy D(ratio, chance) of two coins."""
    heads = ratio * (ratio / chance).ln() if ratio else Decimal(0)
    tails = (1 - ratio) * ((1 - ratio) / (1 - chance)).ln() if ratio != 1 else Decimal(0)
    return heads + tails


def _up(value: Decimal) -> int:
    return int((value + MARGIN).to_integral_value(rounding=ROUND_CEILING))


def _least(holds: Callable[[int], bool], high: int = 1) -> int:
    """The least positive integer for which a monotone condition holds; it is assumed to hold at a given `high` > 1."""
    low = 0
    if high == 1:
        while not holds(high):
            low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# Figures of all classes from a random sample of them, each with all its rows, and how far they may be off.
#
# One class in `share` is in the sample, independently of the others. A sum over the classes of something that is at
# most `largest` in each is estimated by the sampled sum times the share. The interval around it is Chernoff's bound for
# Poisson trials (M. Mitzenmacher, E. Upfal: *Probability and Computing*, section 4.2), which by convexity holds for
# independent variables between 0 and 1: the sum lies within it with a probability of 99 % or more, whatever the classes
# are. A normal distribution would promise too much where few classes are small. No float decides a verdict: a sampled
# class is a class of the table, with its exact size.


CONFIDENCE = 0.99
SURE = log(2 / (1 - CONFIDENCE))  # for both ends
HALVINGS = 100  # halvings of an interval


@dataclass(frozen=True, slots=True)
class EstimatedCount:
    """An estimate, and the ends between which the truth is with a probability of 99 % or more."""

    low: int
    about: int
    high: int

    @property
    def ends(self) -> tuple[int, int, int]:
        return self.low, self.about, self.high


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassEstimate:
    """The classes of a column set by a sample of them. `smallest`: the least size seen, exact; 0 if none was."""

    rows: int
    k: int
    share: Annotated[int, "one class in so many is in the sample"]
    sampled_classes: int
    sampled_rows: int
    smallest: Annotated[int, "rows of the smallest class in the sample, exact; 0 if the sample is empty"]
    classes: EstimatedCount
    rows_below_k: Annotated[EstimatedCount, "rows in classes below k"]

    @classmethod
    def of(cls, sample: ClassProfile, share: int, rows: int) -> "ClassEstimate":
        """The estimate from the profile of a sample of the classes of so many rows."""
        return cls(
            rows=rows,
            k=sample.k,
            share=share,
            sampled_classes=sample.classes,
            sampled_rows=sample.rows,
            smallest=sample.smallest,
            classes=estimated_count(sample.classes, share, 1, rows - sample.rows + sample.classes),
            rows_below_k=estimated_count(
                sample.rows_below_k, share, sample.k - 1, rows - sample.rows + sample.rows_below_k
            ),
        )


def estimated_count(sampled: int, share: int, largest: int, most: int) -> EstimatedCount:
    """The sum over all classes, which is at least the sampled one and at most `most`.

    >>> estimated_count(100, share=64, largest=4, most=1_000_000)
    EstimatedCount(low=3084, about=6400, high=11516)
    """
    low, high = _means(sampled / largest)
    scale = share * largest
    lowest = max(sampled, floor(low * scale))
    return EstimatedCount(lowest, max(lowest, min(most, sampled * share)), max(lowest, min(most, ceil(high * scale))))


def share_for(rows: int, k: int, error: float) -> int:
    """The largest share with which the rows below k are estimated to `error` of the rows, upwards, in any table.

    >>> share_for(10_000_000, k=5, error=0.01)
    23
    """

    def off(share: int) -> float:
        scale = share * (k - 1)
        return (_means(rows / scale)[1] - rows / scale) * scale

    low, high = 1, max(2, rows)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if off(middle) <= error * rows else (low, middle)
    return low


def _means(found: float) -> tuple[float, float]:
    """The least and the greatest mean of a sum of variables between 0 and 1 whose value is not unlikely."""
    low, high = _edge(found, 0.0, found), _edge(found, found + 2 * SURE + (2 * SURE * (found + SURE)) ** 0.5, found)
    return low, high


def _edge(found: float, outside: float, inside: float) -> float:
    """Where a mean begins to be unlikely, between one that is and one that is not."""
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        unlikely = _exponent(found, middle) > SURE
        outside, inside = (middle, inside) if unlikely else (outside, middle)
    return outside


def _exponent(found: float, mean: float) -> float:
    """The bound: a sum as far from its mean has a probability of at most exp(-exponent)."""
    return mean - found + (found * log(found / mean) if found else 0.0) if mean else (0.0 if not found else SURE + 1)


# Confidence intervals of weighted proportions, from sums of weights.


Z = 1.959963984540054  # 95 % of the normal distribution is within so many standard deviations


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def interval(weight: float, squares: float, total_weight: float, total_squares: float) -> Interval:
    """The 95 % confidence interval of a proportion in a sample whose rows have weights.

    `weight` and `squares` are the sums of the weights of the rows that count, and of their squares; the totals are
    those of all rows, with a total weight above 0. It is Wilson's score interval (E. B. Wilson 1927), which stays
    within 0 and 1 and has a width at 0 and 1 too, on the effective sample size p (1 - p) / v (C. Franco et al.,
    Comparative study of confidence intervals for proportions in complex sample surveys, JSSAM 7, 2019). The variance
    v is Taylor's linearization of the ratio, sum of w^2 (y - p)^2 / (sum of w)^2, as in R's svymean without strata
    and clusters. At 0 and 1 it is undefined, and Kish's (sum of w)^2 / sum of w^2 is used. With equal weights both
    sizes are the number of rows.

    >>> found = interval(20, 20, 100, 100)
    >>> round(found.low, 3), round(found.high, 3)
    (0.133, 0.289)
    """
    share = min(1.0, weight / total_weight)
    size = total_weight**2 / total_squares
    if 0 < share < 1:
        variance = ((1 - share) ** 2 * squares + share**2 * max(0.0, total_squares - squares)) / total_weight**2
        size = share * (1 - share) / variance
    scale = 1 + Z**2 / size
    middle = (share + Z**2 / (2 * size)) / scale
    half = Z / scale * sqrt(share * (1 - share) / size + (Z / (2 * size)) ** 2)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
