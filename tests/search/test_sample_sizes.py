"""Sample sizes: the published formulas, our bounds proved again by exact counting, and a simulation."""

import random
from fractions import Fraction
from itertools import combinations
from math import comb, exp, log, sqrt

import pytest

from qidsql.errors import UsageError
from qidsql.measures.sample_sizes import (
    antichain,
    beta_pairs,
    beta_pairs_of_the_paper,
    distinct_key_rows,
    distinct_key_rows_of_the_paper,
    every_set,
    key_pairs,
    key_rows,
    near_size,
    sure_ratio,
    sure_ratio_of_the_paper,
)

DELTA = Fraction(1, 100)
TRIALS = 20_000


@pytest.mark.parametrize(
    ("columns", "epsilon", "pairs", "rows", "rows_antichain", "rows_of_four"),
    [
        (13, "0.001", 13_610, 514, 462, 433),
        (41, "0.001", 33_008, 1_142, 1_074, 596),
        (55, "0.001", 42_707, 1_451, 1_380, 636),
        (41, "0.0001", 330_226, 3_648, 3_433, 1_905),
        (41, "0.01", 3_286, 349, 328, 183),
        (100, "0.001", 73_883, 2_437, 2_358, 716),
        (388, "0.001", 273_410, 8_689, 8_589, 892),
    ],
)
def test_the_table_of_sample_sizes(
    columns: int, epsilon: str, pairs: int, rows: int, rows_antichain: int, rows_of_four: int
) -> None:
    ratio = Fraction(epsilon)
    assert key_pairs(ratio, DELTA, every_set(columns)) == pairs
    assert key_rows(ratio, DELTA, every_set(columns)) == rows
    assert key_rows(ratio, DELTA, antichain(columns)) == rows_antichain
    assert key_rows(ratio, DELTA, antichain(columns, 4)) == rows_of_four


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("sets", [1, 17, 2**20])
def test_the_number_of_pairs_is_the_least_one(epsilon: Fraction, sets: int) -> None:
    pairs = key_pairs(epsilon, DELTA, sets)
    assert (1 - epsilon) ** pairs * sets <= DELTA < (1 - epsilon) ** (pairs - 1) * sets


@pytest.mark.parametrize("root", [Fraction(1, 2), Fraction(1, 7), Fraction(1, 40)])
@pytest.mark.parametrize("sets", [1, 17, 2**20])
def test_the_number_of_rows_is_the_least_one(root: Fraction, sets: int) -> None:
    def passed(rows: int) -> Fraction:
        return (1 - root) ** rows + rows * root * (1 - root) ** (rows - 1)

    rows = key_rows(root**2, DELTA, sets)
    assert passed(rows) * sets <= DELTA < passed(rows - 1) * sets


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


def test_no_table_of_sixteen_rows_fools_a_sample_more_than_the_bound() -> None:
    for sizes in partitions(16, 16):
        together = sum(size * (size - 1) for size in sizes)
        epsilon = Fraction(together, 16 * 15)
        for rows in range(1, 17):
            passed = symmetric(sizes, rows) / comb(16, rows)
            q = sqrt(epsilon)
            bound = (1 - q) ** rows + rows * q * (1 - q) ** (rows - 1)
            assert passed <= bound + 1e-12, (sizes, rows)


def test_no_table_of_sixteen_rows_fools_a_distinct_sample_more_than_delta() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1, 3), Fraction(3, 4)):
        for delta in (Fraction(1, 3), Fraction(1, 20)):
            rows = distinct_key_rows(16, epsilon, delta, 1)
            for sizes in partitions(16, 16):
                if Fraction(len(sizes), 16) < 1 - epsilon:
                    assert Fraction(symmetric(sizes, rows), comb(16, rows)) <= delta


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 1000)])
def test_false_accepts_on_the_worst_table_stay_within_delta(epsilon: Fraction) -> None:
    total = 20_000
    big = next(size for size in range(total) if size * (size - 1) > epsilon * total * (total - 1))
    rows = key_rows(epsilon, DELTA, 1)
    drawn = random.Random(20_070_923)
    accepted = sum(
        sum(row < big for row in drawn.sample(range(total), rows)) <= 1 for _ in range(TRIALS)
    )  # the rows below `big` are one class, all others stand alone
    assert 0 < accepted <= DELTA * TRIALS


def test_false_accepts_among_the_largest_antichain_stay_within_delta() -> None:
    # Four columns; on each of the six pairs of columns some class is just too large, and no three columns agree.
    total, epsilon = 12_000, Fraction(1, 100)
    big = next(size for size in range(total) if size * (size - 1) > epsilon * total * (total - 1))
    assert 6 * big <= total
    assert antichain(4) == len(list(combinations(range(4), 2)))
    rows = key_rows(epsilon, DELTA, antichain(4))
    drawn = random.Random(14)
    accepted = 0
    for _ in range(TRIALS):
        hits = [0] * 7
        for row in drawn.sample(range(total), rows):
            hits[min(6, row // big)] += 1
        accepted += min(hits[:6]) <= 1
    assert 0 < accepted <= DELTA * TRIALS


def test_distinct_rows_follow_theorem_7() -> None:
    epsilon = Fraction(1, 10)
    assert distinct_key_rows_of_the_paper(29_096, epsilon, DELTA, every_set(14)) == 2_738
    assert distinct_key_rows_of_the_paper(10**7, epsilon, DELTA, every_set(41)) == 77_100
    assert distinct_key_rows(10**7, epsilon, DELTA, every_set(41)) <= 77_100
    assert distinct_key_rows_of_the_paper(50, epsilon, DELTA, every_set(41)) == 50
    assert distinct_key_rows(50, epsilon, DELTA, every_set(41)) == 45  # one more than 44 classes, which are too few


def test_beta_pairs_follow_theorem_8() -> None:
    beta, epsilon = Fraction(4, 5), Fraction(1, 10)
    expected = 16 / (0.8 * 0.01) * (14 * log(2) + log(100))
    assert beta_pairs_of_the_paper(beta, epsilon, DELTA, every_set(14)) == int(expected) + 1


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


def test_the_ratio_of_lemmas_9_and_10() -> None:
    beta, size = Fraction(9, 10), 2_910
    alpha = 1 - sqrt(2 * (14 * log(2) + log(100)) / (0.9 * size))
    ratio = sure_ratio_of_the_paper(beta, size, DELTA, every_set(14))
    assert alpha * 0.9 - 1e-6 <= ratio <= alpha * 0.9


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
        key_rows(wrong, DELTA, 1)
    with pytest.raises(UsageError, match="delta must be between 0 and 1"):
        key_pairs(DELTA, wrong, 1)


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(4, 5), Fraction(999, 1000)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])
def test_the_near_size_is_the_least_that_brings_the_sure_ratio_near(beta: Fraction, epsilon: Fraction) -> None:
    size, goal = near_size(beta, epsilon, DELTA, 100), (1 - epsilon) * beta
    assert sure_ratio(beta, size, DELTA, 100) >= goal - beta / 10**6  # the ratio is rounded down to millionths
    assert sure_ratio(beta, size - 1, DELTA, 100) < goal
    assert near_size(Fraction(1), epsilon, DELTA, 100) == 1
