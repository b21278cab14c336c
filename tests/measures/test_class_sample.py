"""Intervals of sampled classes: their coverage, computed exactly, and the share that keeps an error."""

from math import comb

import pytest

from qidsql.measures.profiles import ClassProfile
from qidsql.measures.sampling import ClassEstimate, estimated_count, share_for


@pytest.mark.parametrize("share", [2, 7, 64])
@pytest.mark.parametrize("classes", [0, 1, 3, 8, 40, 150])
@pytest.mark.parametrize("largest", [1, 4])
def test_the_truth_is_within_the_interval(share: int, classes: int, largest: int) -> None:
    """By the binomial distribution of how many of the classes, all of that size, are drawn."""
    truth, missed = classes * largest, 0.0
    for drawn in range(classes + 1):
        probability = comb(classes, drawn) * (1 / share) ** drawn * (1 - 1 / share) ** (classes - drawn)
        found = estimated_count(drawn * largest, share, largest, 10**9)
        assert drawn * largest <= found.low <= found.about <= found.high
        missed += 0.0 if found.low <= truth <= found.high else probability
    assert missed <= 0.01


def test_classes_smaller_than_the_largest_possible() -> None:
    """A mixture: 30 classes of one row and 10 of four, by the product of both distributions."""
    share, missed = 5, 0.0

    def chance(drawn: int, of: int) -> float:
        return comb(of, drawn) * (1 / share) ** drawn * (1 - 1 / share) ** (of - drawn)

    for ones in range(31):
        for fours in range(11):
            found = estimated_count(ones + 4 * fours, share, 4, 10**9)
            missed += 0.0 if found.low <= 70 <= found.high else chance(ones, 30) * chance(fours, 10)
    assert missed <= 0.01


def test_nothing_seen_proves_nothing() -> None:
    assert estimated_count(0, 64, 4, 10**6).ends[:2] == (0, 0)
    assert estimated_count(0, 64, 4, 10**6).high >= 64 * 4 * 5  # -ln(0.005), the exact bound
    assert estimated_count(0, 64, 4, 100).high == 100


@pytest.mark.parametrize("rows", [10**5, 10**7, 10**10])
@pytest.mark.parametrize("error", [0.001, 0.01, 0.1])
def test_the_share_keeps_the_error(rows: int, error: float) -> None:
    share = share_for(rows, 5, error)

    def off(share: int) -> float:
        sampled = rows // share
        return (estimated_count(sampled, share, 4, 10 * rows).high - sampled * share) / rows

    assert share == 1 or off(share) <= error * 1.01
    assert off(share + 1) > error * 0.99
    assert share_for(10, 5, error) == 1


def test_an_estimate() -> None:
    sample = ClassProfile.of_sizes({1: 3, 2: 4, 9: 10}, 5)
    found = ClassEstimate.of(sample, 10, 1_000)
    assert (found.smallest, found.sampled_classes, found.sampled_rows) == (1, 17, 101)
    assert (found.classes.about, found.rows_below_k.about) == (170, 110)
    assert found.classes.high <= 1_000 - 101 + 17
