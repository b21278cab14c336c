"""Estimates of population uniques: printed figures, and the definitions summed term by term."""

from collections.abc import Mapping
from fractions import Fraction
from math import comb, fsum, log, prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qidsql.measures.population import (
    Method,
    NegativeBinomialFit,
    PitmanFit,
    UniquesEstimate,
    negative_binomial_fit,
    pitman_fit,
    population_uniques,
    reciprocals,
    shlosser,
)
from tests.exhaustive import always

Sizes = Mapping[int, int]

# The classes of ARX's adult, 30,162 rows, on its nine columns: size and number.
ADULT = dict(
    enumerate((15512, 2098, 754, 375, 189, 155, 97, 73, 39, 37, 29, 18, 23, 14, 15, 9, 11, 10, 10, 5, 3, 4, 3, 2), 1)
) | {25: 1, 26: 3, 27: 5, 29: 1, 30: 2, 32: 1, 34: 1, 35: 1, 36: 1, 45: 1}
# Population; uniques by Pitman and Zayatz, which ARX 3.9.2 gives too; classes by Shlosser's estimator
PRINTED = [
    (3_016_200, 436167.71397960803, 819539.9052894176, 698974.2577777161),
    (301_620, 83503.47914981208, 96741.67099749309, 105499.47382907246),
    (60_324, 26295.400739438668, 26056.918512642835, 33415.59924163238),
    (33_513, 17242.652151042814, 16756.00484864227, 21200.458062314006),
]
SMALL: list[Sizes] = [
    {1: 25, 2: 9, 3: 5, 4: 3, 6: 2, 15: 1},
    {1: 12, 2: 6, 3: 4, 4: 3, 20: 2},
    {1: 400, 2: 50, 3: 9, 7: 1},
]


def rows_of(sizes: Sizes) -> int:
    return sum(size * number for size, number in sizes.items())


def random_sizes(draw: Random) -> dict[int, int]:
    """Class sizes of every shape: even ones, heavy tails, nearly all unique, one large class."""
    tail, largest, many = draw.choice((0.0, 1.0, 2.0, 3.0)), draw.choice((1, 2, 10, 300)), draw.choice((1, 50, 10_000))
    sizes = {size: int(many * draw.random() / size**tail) for size in range(2, largest + 1)}
    return {1: draw.randint(1, many), **{size: number for size, number in sizes.items() if number}}


@pytest.mark.parametrize(("population", "pitman", "zayatz", "classes"), PRINTED)
def test_printed_figures(population: int, pitman: float, zayatz: float, classes: float) -> None:
    found = {each.method: each.uniques for each in population_uniques(ADULT, population)}
    assert found[Method.PITMAN] == pytest.approx(pitman, rel=1e-6)
    assert found[Method.ZAYATZ] == pytest.approx(zayatz, rel=1e-9)
    assert shlosser(ADULT, rows_of(ADULT) / population) == pytest.approx(classes, rel=1e-12)


def test_the_parameters_of_pitmans_formula() -> None:
    fit = pitman_fit(ADULT)
    assert isinstance(fit, PitmanFit)
    assert (fit.theta, fit.alpha) == (pytest.approx(3176.233793223673, rel=1e-6), pytest.approx(0.7179489444501069))


def likelihood(sizes: Sizes, theta: float, alpha: float) -> float:
    """The logarithm, factor by factor."""
    rows, classes = rows_of(sizes), sum(sizes.values())
    new = fsum(log(theta + i * alpha) for i in range(1, classes)) - fsum(log(theta + i) for i in range(1, rows))
    return new + fsum(number * log(i - alpha) for size, number in sizes.items() for i in range(1, size))


@pytest.mark.parametrize("sizes", SMALL)
def test_no_parameters_near_or_far_have_a_greater_likelihood(sizes: Sizes) -> None:
    fit = pitman_fit(sizes)
    assert isinstance(fit, PitmanFit)
    best = likelihood(sizes, fit.theta, fit.alpha)
    for step in (1e-4, 1e-2, 0.3):
        for theta, alpha in ((1 + step, 1), (1 - step, 1), (1, 1 + step), (1, 1 - step), (1 + step, 1 - step)):
            if fit.alpha * alpha < 1:
                assert likelihood(sizes, fit.theta * theta, fit.alpha * alpha) < best
    far = [(theta, alpha / 20) for theta in (0.1, 1, 10, 100, 1000) for alpha in range(1, 20)]
    assert all(likelihood(sizes, theta, alpha) < best for theta, alpha in far)


@given(st.floats(1e-9, 1e12), st.integers(0, 400))
def test_a_sum_of_reciprocals_is_that_of_its_terms(start: float, terms: int) -> None:
    assert reciprocals(start, terms) == pytest.approx(fsum(1 / (start + i) for i in range(terms)), rel=1e-13)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", SMALL)
@pytest.mark.parametrize("times", [Fraction(11, 10), 2, 10, 1000])
def test_zayatz_by_its_definition(sizes: Sizes, times: Fraction) -> None:
    """The chance that a class with one row in the sample has one in the population: Bayes, with exact fractions."""
    rows = rows_of(sizes)
    population = int(rows * times)

    def once(size: int) -> Fraction:
        return Fraction(size * comb(population - size, rows - 1), comb(population, rows))

    chance = sizes[1] * once(1) / sum(number * once(size) for size, number in sizes.items())
    [found] = [each for each in population_uniques(sizes, population) if each.method is Method.ZAYATZ]
    assert found.uniques == pytest.approx(float(sizes[1] * chance * population / rows), rel=1e-11)


def drawn(fit: NegativeBinomialFit, fraction: float, number: int) -> float:
    """The expected classes with so many rows in the sample, over all sizes 1 + j of a class of the population."""
    chance, total = fit.b**fit.a, 0.0
    for j in range(60_000):
        if j + 1 >= number:
            total += chance * comb(j + 1, number) * fraction**number * (1 - fraction) ** (j + 1 - number)
        chance *= (fit.a + j) / (j + 1) * (1 - fit.b)
    return fit.classes * total


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", [ADULT, *SMALL])
@pytest.mark.parametrize("times", [1.25, 4, 40])
def test_the_negative_binomial_fit_expects_the_uniques_and_doubles_found(sizes: Sizes, times: float) -> None:
    population = int(rows_of(sizes) * times)
    fit = negative_binomial_fit(sizes, population)
    assert isinstance(fit, NegativeBinomialFit)
    fraction = rows_of(sizes) / population
    assert drawn(fit, fraction, 1) == pytest.approx(sizes[1], rel=1e-6)
    assert drawn(fit, fraction, 2) == pytest.approx(sizes[2], rel=1e-6)
    assert fit.uniques == pytest.approx(fit.classes * fit.b**fit.a)


@pytest.mark.parametrize("seed", always(*range(30), longer=range(30, 500)))
def test_each_method_has_a_possible_estimate_or_says_why_not(seed: int) -> None:
    draw = Random(seed)
    sizes = random_sizes(draw)
    rows = rows_of(sizes)
    population = draw.choice((rows + 1, rows + 2, rows * 5 // 4 + 1, 2 * rows, 10 * rows, 1000 * rows, 10**6 * rows))
    found = population_uniques(sizes, population)
    assert [each.method for each in found] == list(Method)
    for each in found:
        assert (each.uniques is None) is (each.failure is not None)
        assert each.uniques is None or 0 < each.uniques <= population, "a failure is never a 0"


def failures(sizes: Sizes, population: int) -> dict[Method, str | None]:
    return {each.method: each.failure for each in population_uniques(sizes, population)}


def test_why_a_method_did_not_converge() -> None:
    assert failures({1: 9}, 90) == {
        Method.PITMAN: "every row of the sample is unique",
        Method.ZAYATZ: None,
        Method.SNB: "no class of the sample has two rows",
    }
    even = failures({1: 5, 2: 36, 3: 14}, 2_380)
    assert even[Method.PITMAN] == "the class sizes are more even than the model allows"
    assert even[Method.SNB] == "its equations have no solution"
    assert failures({1: 19_733, 2: 129, 3: 3}, 200_000)[Method.PITMAN] == "its result is larger than the population"


def test_a_sample_of_one_class() -> None:
    assert population_uniques({1: 1}, 7)[1] == UniquesEstimate(Method.ZAYATZ, 7.0)
    assert pitman_fit({4: 1}) == "the sample is a single class"


def test_there_is_nothing_to_estimate() -> None:
    for sizes, population in (({2: 3}, 100), ({1: 5}, 5), ({1: 5}, 4)):
        with pytest.raises(ValueError, match="an estimate needs"):
            population_uniques(sizes, population)


def test_estimates_end_at_the_sample_as_the_fraction_reaches_1() -> None:
    """Zayatz and SNB; Pitman's asymptotic expectation does not."""
    for sizes in (ADULT, SMALL[2]):
        _, zayatz, snb = population_uniques(sizes, rows_of(sizes) + 1)
        assert zayatz.uniques == pytest.approx(sizes[1], rel=0.003)
        assert snb.uniques == pytest.approx(sizes[1], rel=0.003)


def test_factors_of_the_likelihood_are_those_of_the_papers_formula() -> None:
    """Pitman's formula for one row in each of two classes and two in another: products written out."""
    sizes, theta, alpha = {1: 2, 2: 1}, 0.7, 0.4
    written = (theta + alpha) * (theta + 2 * alpha) * (1 - alpha) / prod(theta + i for i in (1, 2, 3))
    assert likelihood(sizes, theta, alpha) == pytest.approx(log(written))
