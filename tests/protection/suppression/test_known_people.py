"""Whom an attacker finds who knows people, against the definitions over all people and all rows."""

from collections.abc import Iterator
from random import Random

import pytest

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.protection.suppression.combinations import shared
from qidsql.protection.suppression.known_people import known_people, people_of_copy
from qidsql.protection.suppression.plan import SuppressionPlan
from tests.exhaustive import always
from tests.protection.coded import Record, patterns_of
from tests.protection.suppression.known import by_definition, of_copy, released
from tests.protection.suppression.test_suppression import masks_of


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as found:
        yield found


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(*range(8), longer=range(8, 150)))
def test_counts_are_those_of_the_definitions(bench: Workbench, seed: int) -> None:
    random = Random(seed)
    columns, k = random.randint(1, 4), random.randint(2, 3)
    values = [random.randint(1, 3) for _ in range(columns)]
    rows: list[Record] = [
        tuple(None if random.random() < 0.1 else random.randint(1, each) for each in values)
        for _ in range(random.randint(k, 6))
    ]
    plan = SuppressionPlan.of(patterns_of(bench, rows), k)
    if seed % 3 == 0:
        plan = shared(plan)
    assert known_people(plan) == by_definition(rows, masks_of(bench, rows), k)


@pytest.mark.parametrize("seed", always(*range(8), longer=range(8, 150)))
def test_counts_from_a_copy_and_its_original(bench: Workbench, seed: int) -> None:
    """Also where rows were added, left out or changed, so that somebody fits no row."""
    random = Random(seed)
    columns, k = random.randint(1, 3), random.randint(2, 3)
    people: list[Record] = [
        tuple(random.choice((None, 1, 1, 2, 3)) for _ in range(columns)) for _ in range(random.randint(1, 6))
    ]
    shown = released(people, [random.getrandbits(columns) for _ in people])
    random.shuffle(shown)
    if seed % 3 == 0:
        shown = shown[1:] + [(2,) * columns] * random.randint(1, 2)
    both = [*((*person, None) for person in people), *((*row, 1) for row in shown)]
    assert people_of_copy(patterns_of(bench, both), k) == of_copy(people, shown, k)


def test_an_optimal_plan_leaves_somebody_alone(bench: Workbench) -> None:
    """(1,2), (5,2), (5,7): by Wilson's optimum for k = 2 only the row (5,) fits the last person."""
    rows: list[Record] = [(1, 2), (5, 2), (5, 7)]
    found = known_people(SuppressionPlan.of(patterns_of(bench, rows), 2))
    assert found is not None and (found.people, found.alone, found.rows_below_k) == (3, 1, 0)
    assert (found.shown_once, found.shown_below_k) == (1, 1)  # 5 in the first column


def test_a_plan_too_large_is_not_counted(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SuppressionPlan.of(patterns_of(bench, [(1, 2), (5, 2), (5, 7)]), 2)
    monkeypatch.setattr("qidsql.protection.suppression.known_people.MOST_PATTERNS_GROUPED", 1)
    assert known_people(plan) is None
    assert people_of_copy(patterns_of(bench, [(1, None), (1, 1)]), 2) is None
