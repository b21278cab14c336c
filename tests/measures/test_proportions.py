"""Confidence intervals of weighted proportions, held to the formulas over the rows themselves."""

from math import sqrt
from random import Random

import pytest

from qidsql.measures.sampling import Interval, interval
from tests.exhaustive import always

Z = 1.959963984540054


def of_rows(weights: list[float], counts: list[bool]) -> Interval:
    inside = [w for w, y in zip(weights, counts, strict=True) if y]
    return interval(sum(inside), sum(w * w for w in inside), sum(weights), sum(w * w for w in weights))


def score(share: float, size: float) -> tuple[float, float]:
    """Where the score test turns: the two p with |share - p| = z sqrt(p (1 - p) / size)."""
    a, b, c = 1 + Z * Z / size, -(2 * share + Z * Z / size), share * share
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@pytest.mark.parametrize("seed", always(*range(50), longer=range(50, 200)))
def test_the_formula_over_rows(seed: int) -> None:
    """v = sum of w^2 (y - p)^2 / (sum of w)^2, row by row, and the score interval on p (1 - p) / v."""
    random = Random(seed)
    rows = random.randint(2, 60)
    weights = [random.choice([0.0, 0.5, 1.0, 7.25]) + 0.01 for _ in range(rows)]
    counts = [random.random() < 0.4 for _ in range(rows)]
    share = sum(w for w, y in zip(weights, counts, strict=True) if y) / sum(weights)
    size = sum(weights) ** 2 / sum(w * w for w in weights)
    if 0 < share < 1:
        variance = sum((w * (y - share)) ** 2 for w, y in zip(weights, counts, strict=True)) / sum(weights) ** 2
        size = share * (1 - share) / variance
    found = of_rows(weights, counts)
    assert (found.low, found.high) == pytest.approx(score(share, size), abs=1e-12)


def test_equal_weights_are_no_weights() -> None:
    """Published intervals (R. Newcombe, Statistics in Medicine 17, 1998, table I, method 3)."""
    for successes, rows, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        for weight in (1.0, 3.5):
            found = of_rows([weight] * rows, [row < successes for row in range(rows)])
            assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_unequal_weights_widen_it() -> None:
    equal = of_rows([1.0] * 100, [row % 2 == 0 for row in range(100)])
    unequal = of_rows([1.0 + 3 * (row // 2 % 2) for row in range(100)], [row % 2 == 0 for row in range(100)])
    assert unequal.low < equal.low < 0.5 < equal.high < unequal.high
