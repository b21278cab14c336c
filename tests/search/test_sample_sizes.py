"""Sample sizes: the published formulas, our bounds proved again by exact counting, and a simulation."""

from fractions import Fraction
from math import ceil, comb, exp, log, sqrt

import pytest

from qidsql.errors import UsageError
from qidsql.measures.sampling import (
    beta_pairs,
    distinct_key_rows,
    key_pairs,
    near_size,
    sure_ratio,
)

DELTA = Fraction(1, 100)


def distinct_key_rows_of_the_paper(rows: int, epsilon: Fraction, delta: Fraction, sets: int) -> int:
    """Motwani & Xu, Theorem 7."""
    return min(rows, ceil(sqrt(2 * (1 - epsilon) / epsilon * rows * log(sets / delta))))


def beta_pairs_of_the_paper(beta: Fraction, epsilon: Fraction, delta: Fraction, sets: int) -> int:
    """Motwani & Xu, Theorem 8."""
    return ceil(16 / (beta * epsilon**2) * log(sets / delta))


def sure_ratio_of_the_paper(beta: Fraction, size: int, delta: Fraction, sets: int) -> float:
    """The alpha beta of Lemmas 9 and 10 in Motwani & Xu, and the beta' of their Theorems 11 and 12."""
    return max(0.0, 1 - sqrt(2 * log(sets / delta) / (beta * size))) * float(beta)


@pytest.mark.parametrize(
    ("columns", "epsilon", "pairs"),
    [
        (13, "0.001", 13_610),
        (41, "0.001", 33_008),
        (55, "0.001", 42_707),
        (41, "0.0001", 330_226),
        (41, "0.01", 3_286),
        (100, "0.001", 73_883),
        (388, "0.001", 273_410),
    ],
)
def test_the_table_of_sample_sizes(columns: int, epsilon: str, pairs: int) -> None:
    assert key_pairs(Fraction(epsilon), DELTA, 2**columns) == pairs


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("sets", [1, 17, 2**20])
def test_the_number_of_pairs_is_the_least_one(epsilon: Fraction, sets: int) -> None:
    pairs = key_pairs(epsilon, DELTA, sets)
    assert (1 - epsilon) ** pairs * sets <= DELTA < (1 - epsilon) ** (pairs - 1) * sets


def symmetric(sizes: list[int], rows: int) -> int:
    """In how many ways `rows` rows can be drawn, no two from one class."""
    ways = [1] + [0] * rows
    for size in sizes:
        for drawn in range(rows, 0, -1):
            ways[drawn] += size * ways[drawn - 1]
    return ways[rows]


def partitions(total: int, largest: int) -> list[list[int]]:
    if total == 0:
        return [[]]
    return [[size, *rest] for size in range(min(total, largest), 0, -1) for rest in partitions(total - size, size)]


def test_no_table_of_sixteen_rows_fools_a_distinct_sample_more_than_delta() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1, 3), Fraction(3, 4)):
        for delta in (Fraction(1, 3), Fraction(1, 20)):
            rows = distinct_key_rows(16, epsilon, delta, 1)
            for sizes in partitions(16, 16):
                if Fraction(len(sizes), 16) < 1 - epsilon:
                    assert Fraction(symmetric(sizes, rows), comb(16, rows)) <= delta


def test_distinct_rows_follow_theorem_7() -> None:
    epsilon = Fraction(1, 10)
    assert distinct_key_rows_of_the_paper(29_096, epsilon, DELTA, 2**14) == 2_738
    assert distinct_key_rows_of_the_paper(10**7, epsilon, DELTA, 2**41) == 77_100
    assert distinct_key_rows(10**7, epsilon, DELTA, 2**41) <= 77_100
    assert distinct_key_rows_of_the_paper(50, epsilon, DELTA, 2**41) == 50
    assert distinct_key_rows(50, epsilon, DELTA, 2**41) == 45  # one more than 44 classes, which are too few


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(9, 10)])
def test_beta_pairs_tell_good_sets_from_bad_ones(beta: Fraction) -> None:
    epsilon, delta = Fraction(1, 4), Fraction(1, 20)
    pairs, passing = beta_pairs(beta, epsilon, delta, 1)

    def at_least(passing: int, chance: Fraction) -> Fraction:
        up, down = chance.numerator, chance.denominator - chance.numerator
        ways = sum(comb(pairs, hits) * up**hits * down ** (pairs - hits) for hits in range(passing, pairs + 1))
        return Fraction(ways, chance.denominator**pairs)

    assert at_least(passing, (1 - epsilon) * beta) <= delta
    assert 1 - at_least(passing, beta) <= delta
    assert pairs < beta_pairs_of_the_paper(beta, epsilon, delta, 1)


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
@pytest.mark.parametrize("size", [10, 300, 1_000])
def test_the_sure_ratio_is_sharper_and_still_sure(beta: Fraction, size: int) -> None:
    ratio = sure_ratio(beta, size, DELTA, 100)
    assert sure_ratio_of_the_paper(beta, size, DELTA, 100) <= ratio < beta
    if ratio:
        a, b = float(ratio), float(beta)
        assert exp(-size * (a * log(a / b) + (1 - a) * log((1 - a) / (1 - b)))) <= DELTA / 100
    lost = sum(
        comb(size, hits) * beta.numerator**hits * (beta.denominator - beta.numerator) ** (size - hits)
        for hits in range(size + 1)
        if hits < ratio * size
    )
    assert Fraction(lost, beta.denominator**size) <= DELTA / 100


def test_a_sample_too_small_says_nothing() -> None:
    assert sure_ratio(Fraction(1, 2), 3, DELTA, 1) == 0
    assert sure_ratio_of_the_paper(Fraction(1, 2), 3, DELTA, 1) == 0
    assert sure_ratio(Fraction(1), 3, DELTA, 1) == 1


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(1), Fraction(3, 2)])
def test_ratios_out_of_range_are_refused(wrong: Fraction) -> None:
    with pytest.raises(UsageError, match="epsilon must be between 0 and 1"):
        distinct_key_rows(100, wrong, DELTA, 1)
    with pytest.raises(UsageError, match="delta must be between 0 and 1"):
        key_pairs(DELTA, wrong, 1)


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(4, 5), Fraction(999, 1000)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])
def test_the_near_size_is_the_least_that_brings_the_sure_ratio_near(beta: Fraction, epsilon: Fraction) -> None:
    size, goal = near_size(beta, epsilon, DELTA, 100), (1 - epsilon) * beta
    assert sure_ratio(beta, size, DELTA, 100) >= goal - beta / 10**6  # the ratio is rounded down to millionths
    assert sure_ratio(beta, size - 1, DELTA, 100) < goal
    assert near_size(Fraction(1), epsilon, DELTA, 100) == 1
