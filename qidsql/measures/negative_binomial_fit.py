"""Class sizes of a population as 1 + a negative binomial number, fitted to a sample by the method of moments.

Each row of the population is in the sample with the probability f. With q = (1 - f) (1 - b) the expected sample uniques
and doubles of K classes are

    h_1 = K f (b / (1 - q))^a (1 + a q / (1 - q))
    h_2 = K a b^a f^2 (1 - b) / 2 * (2 - (1 - a) q) / (1 - q)^(a + 2)

[Chen & Keller-McNulty 1998, Estimation of identification disclosure risk in microdata, JOS 14]. Each equation was
derived anew: ARX 3.9.2 has the last factor of the second as a product, and K's sum (see `shlosser`) misplaced.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, expm1, log, log1p

from qidsql.measures.roots import root, sign_changes

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
    """
    f, rest = fraction, 1 - fraction

    def total(part: Callable[[int], float]) -> float:
        return sum(part(size) * number for size, number in sizes.items())

    square = rest * (1 + f)  # 1 - f^2
    first = total(lambda i: i * f * f * square ** (i - 1)) / total(lambda i: -(square**i) * expm1(-i * log1p(f)))
    second = total(lambda i: rest**i) / total(lambda i: i * f * rest ** (i - 1))
    return sum(sizes.values()) + sizes[1] * first * second**2
