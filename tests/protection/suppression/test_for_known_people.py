"""Plans against someone who knows people: the bound by prices, rows of one pattern, refusals. See tests/trials."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from qidsql.commands import gate
from qidsql.core.budget import WorkLimit
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent, Refuted
from qidsql.protection.suppression.known_people import KnownPeople, plan_for_known_people
from qidsql.protection.suppression.matchings import MatchedRows, disjoint_matchings
from qidsql.protection.suppression.verification import bound_by_prices
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
    plan = plan_for_known_people(patterns_of(bench, [(1, 1), (1, 1), (1, 1), (1, 2)]), 2, (1, 1), WorkLimit()).plan
    assert (plan.weight, plan.lower_bound, plan.masks) == (2, 2, {0: 2, 2: 2})
    assert plan.by_column == (0, 2)
    rows, masks = released_rows(bench)
    assert sorted(zip(rows, masks, strict=True)) == [((1, 1), 0), ((1, 1), 0), ((1, 1), 2), ((1, 2), 2)]


def test_a_null_shows_nothing_as_it_is(bench: Workbench) -> None:
    plan = plan_for_known_people(patterns_of(bench, [(None,), (1,)]), 2, (1,), WorkLimit()).plan
    assert plan.masks == {0: 1, 1: 1}


def test_there_is_a_plan_where_no_pairs_are_compared(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many patterns, or no time at all: rings in the groups of an anonymization, all rows blank at worst."""
    rows: list[Record] = [(1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (3, 7)]
    late = plan_for_known_people(patterns_of(bench, rows), 2, (1, 1), WorkLimit(deadline=0.0))
    assert late.holds and late.stopped is not None and late.plan.weight <= 12
    monkeypatch.setattr("qidsql.protection.suppression.known_people.MOST_PATTERNS", 1)
    many = plan_for_known_people(patterns_of(bench, rows), 2, (1, 1), WorkLimit())
    assert many.holds and many.stopped is None
    assert many.plan.lower_bound is not None and many.plan.lower_bound <= cheapest(rows, 2, (1, 1)) <= many.plan.weight


def test_all_pairs_are_compared_without_a_limit(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if they are more than a minute of work."""
    monkeypatch.setattr("qidsql.core.budget.UNLIMITED_WORK", 1)
    whole = plan_for_known_people(patterns_of(bench, [(1, 1), (1, 1), (1, 1), (1, 2)]), 2, (1, 1), WorkLimit())
    assert (whole.plan.weight, whole.plan.lower_bound, whole.stopped) == (2, 2, None)


def test_the_check_of_matchings() -> None:
    """Rows 0 and 1 are each other's second; a row that fits the same person twice, or none, is found out."""
    records, ones = records_of([(1, 1), (1, 2), (2, 3)]), np.ones(3, dtype=np.int64)
    right, blank = np.array([[1], [2], [0]]), np.ones((3, 2), dtype=bool)

    def holds(fitted: NDArray[np.intp], lost: NDArray[np.bool_]) -> bool:
        return disjoint_matchings(records, MatchedRows(np.arange(3), ones, fitted), lost, 2)

    assert holds(right, blank)
    assert not holds(np.array([[0], [1], [2]]), blank)  # its owner again
    assert not holds(np.array([[1], [1], [0]]), blank)  # nobody's row is the last person's
    shows = blank.copy()
    shows[1, 0] = False
    assert not holds(right, shows) and holds(np.array([[2], [0], [1]]), shows)
    assert not disjoint_matchings(records, MatchedRows(np.arange(3), ones, right), blank, 3)


def test_the_gate_stops_plans_that_single_somebody_out() -> None:
    right = KnownPeople(5, 0, 0, 0, 2, 0, 1, 1)
    assert gate.known_people_safe(right) is right
    for wrong in (replace(right, below_k=1), replace(right, rows_below_k=1), replace(right, admissible_below_k=1)):
        with pytest.raises(Refuted):
            gate.known_people_safe(wrong)
    for unknown in (None, replace(right, admissible_below_k=None)):
        with pytest.raises(BudgetSpent):
            gate.known_people_safe(unknown)
    assert gate.known_people_safe(replace(right, admissible_below_k=None), matched=True) == right
    with pytest.raises(Refuted):
        gate.matched(False)
