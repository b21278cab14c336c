"""Plans against someone who knows people: the bound by prices, rows of one pattern, refusals. See tests/trials."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from qidsql.commands import gate
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent, Refuted, UsageError
from qidsql.protection.suppression.for_known_people import plan_for_known_people
from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.protection.suppression.price_check import bound_by_prices
from tests.protection.coded import Record, patterns_of, records_of
from tests.trials.known_person import cheapest, released_rows


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as found:
        yield found


def test_any_prices_prove_a_bound() -> None:
    for seed in range(40):
        random = Random(seed)
        rows: list[Record] = [(random.choice((None, 1, 2)), random.randint(1, 3)) for _ in range(random.randint(2, 5))]
        weights, records = (random.randint(1, 3), 1), records_of(rows)
        prices = np.array([random.randint(-2, 3) for _ in range(records.count)])
        assert bound_by_prices(records, weights, prices) <= cheapest(rows, 2, weights)


def test_one_row_of_a_pattern_loses_a_cell_and_the_others_stay_whole(bench: Workbench) -> None:
    """Nobody but (1, 1) is near (1, 2): one of its three rows takes the place of a second."""
    plan = plan_for_known_people(patterns_of(bench, [(1, 1), (1, 1), (1, 1), (1, 2)]), 2, (1, 1))
    assert (plan.weight, plan.lower_bound, plan.masks) == (2, 2, {0: 2, 2: 2})
    assert plan.by_column == (0, 2)
    rows, masks = released_rows(bench)
    assert sorted(zip(rows, masks, strict=True)) == [((1, 1), 0), ((1, 1), 0), ((1, 1), 2), ((1, 2), 2)]


def test_a_null_shows_nothing_as_it_is(bench: Workbench) -> None:
    plan = plan_for_known_people(patterns_of(bench, [(None,), (1,)]), 2, (1,))
    assert plan.masks == {0: 1, 1: 1}


def test_too_many_patterns_are_refused(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qidsql.protection.suppression.for_known_people.MOST_PATTERNS", 1)
    with pytest.raises(UsageError, match="all pairs of 2 distinct rows"):
        plan_for_known_people(patterns_of(bench, [(1,), (2,)]), 2, (1,))


def test_the_deadline_ends_the_search(bench: Workbench) -> None:
    with pytest.raises(BudgetSpent):
        plan_for_known_people(patterns_of(bench, [(1,), (2,)]), 2, (1,), deadline=0.0)


def test_the_gate_stops_plans_that_single_somebody_out() -> None:
    right = KnownPeople(5, 0, 0, 0, 2, 0)
    assert gate.known_people_safe(right) is right
    for wrong in (KnownPeople(5, 0, 1, 0, 0, 0), KnownPeople(5, 0, 0, 1, 0, 0), KnownPeople(5, 0, 0, 0, 0, 1)):
        with pytest.raises(Refuted):
            gate.known_people_safe(wrong)
    for unknown in (None, KnownPeople(5, 0, 0, 0, 0, None)):
        with pytest.raises(BudgetSpent):
            gate.known_people_safe(unknown)
