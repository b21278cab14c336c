"""Population uniques, estimated from a sample: rows that no other row of the whole population equals.

Each method sees the class sizes of the sample and the size of the population from which it was drawn, at random and
without replacement. They rest on different assumptions, and err in both directions by amounts that no sample shows:
none of them alone is an answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import exp, inf, lgamma, log, log1p

from qidsql.measures.negative_binomial_fit import negative_binomial_fit
from qidsql.measures.pitman_fit import pitman_fit

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
    """Under class sizes that are 1 + a negative binomial number. [Chen & Keller-McNulty 1998]"""
    fit = negative_binomial_fit(sizes, population)
    return fit if isinstance(fit, str) else fit.uniques


METHODS: dict[Method, Callable[[Mapping[int, int], int], float | str]] = {
    Method.PITMAN: pitman,
    Method.ZAYATZ: zayatz,
    Method.SNB: snb,
}
