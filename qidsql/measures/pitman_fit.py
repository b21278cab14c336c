"""Pitman's sampling formula, fitted to class sizes by maximum likelihood.

The likelihood of u classes of n_1, n_2, ... rows, n in all, is up to a constant

    prod_{i=1}^{u-1} (theta + i alpha) / prod_{i=1}^{n-1} (theta + i) * prod_j prod_{i=1}^{n_j - 1} (i - alpha)

[Pitman 1995, Exchangeable and partially exchangeable random partitions]. Its derivatives are sums of reciprocals, that
is, differences of digamma functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log1p

from qidsql.measures.roots import root

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
    """
    few = min(terms, max(0, int(SHIFT - start) + 1))
    found = sum(1 / (start + i) for i in range(few))
    low, left = start + few, terms - few
    high = low + left
    one, other = 1 / (low * low), 1 / (high * high)
    rest = sum(factor * (one**power - other**power) for power, factor in enumerate(SERIES, start=1))
    return found + log1p(left / low) + left / (2 * low * high) + rest
