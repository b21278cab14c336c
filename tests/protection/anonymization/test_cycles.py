"""2-anonymity from the cycles of a permutation: a plan for all rows, and a bound below the least cost."""

from collections import Counter
from random import Random

import pytest

from qidsql.protection.anonymization.local_search import plan_by_cycles
from tests.anonymizations import optimum
from tests.exhaustive import always
from tests.protection.coded import Record, coded, records_of


@pytest.mark.parametrize("seed", always(*range(25), longer=range(25, 300)))
def test_cycles_give_a_plan_and_a_bound(seed: int) -> None:
    random = Random(seed)
    columns = random.randint(1, 4)
    rows: list[Record] = [tuple(random.randint(0, 2) for _ in range(columns)) for _ in range(random.randint(2, 8))]
    weights = [random.choice((1, 1, 3)) for _ in range(columns)]
    plan, bound, _ = plan_by_cycles(records_of(rows), weights, lambda: None)
    order = sorted(coded(rows))
    placed: Counter[tuple[int, ...]] = Counter()
    published: Counter[tuple[int, ...]] = Counter()
    for pattern, kept, size in zip(*(each.tolist() for each in plan.table()), strict=True):
        placed[order[pattern]] += size
        published[tuple(code if kept >> place & 1 else -1 for place, code in enumerate(order[pattern]))] += size
    assert placed == coded(rows)
    assert min(published.values()) >= 2
    cost = sum(n * sum(w for c, w in zip(row, weights, strict=True) if c < 0) for row, n in published.items())
    assert cost == plan.cost
    assert bound <= optimum([tuple(map(str, row)) for row in rows], 2, weights) <= cost


def test_a_long_cycle_is_cut_where_it_is_cheapest() -> None:
    """Five people in a circle, each near the next one only: runs of two and of three."""
    rows: list[Record] = [(1, 1, 1, 1, 1), (1, 1, 1, 1, 2), (1, 1, 1, 3, 2), (1, 1, 4, 3, 2), (1, 5, 4, 3, 2)]
    plan, bound, _ = plan_by_cycles(records_of(rows), (1, 1, 1, 1, 1), lambda: None)
    assert (plan.cost, bound) == (8, 6)
