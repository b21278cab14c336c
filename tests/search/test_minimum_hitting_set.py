"""Minimum hitting sets against brute force, by branch and bound, by the solver, and stopped on the way."""

import sys
import threading
from collections.abc import Iterator
from itertools import count
from random import Random
from types import FrameType
from typing import Any

import pytest

import qidsql.search.hitting_sets as minimum_hitting_set_module
from qidsql.core.tables import weight_of
from qidsql.errors import BudgetSpent, Interrupted
from qidsql.search.hitting_sets import (
    MOST_BRANCHES,
    LeastHittingSets,
    light_hitting_set,
    minimum_hitting_set,
)

SOLVER_ONLY = 0  # steps of branch and bound


def random_instance(random: Random) -> tuple[list[int], list[int]]:
    columns = random.randint(1, 10)
    masks = [random.randrange(1, 1 << columns) for _ in range(random.randint(0, 25))]
    return masks, [random.choice([1, 1, 2, 7, 1000]) for _ in range(columns)]


def hard_instance(columns: int, masks: int, size: int) -> list[int]:
    random = Random(columns)
    return [sum(1 << place for place in random.sample(range(columns), size)) for _ in range(masks)]


def least(masks: list[int], weights: list[int]) -> int:
    sets = (chosen for chosen in range(1 << len(weights)) if all(chosen & mask for mask in masks))
    return min(sum(weight for place, weight in enumerate(weights) if chosen >> place & 1) for chosen in sets)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "instances"), [(10**6, 400), (MOST_BRANCHES, 100), (SOLVER_ONLY, 100), (3, 100)])
def test_the_weight_is_that_of_brute_force(steps: int, instances: int) -> None:
    random = Random(steps)
    for _ in range(instances):
        masks, weights = random_instance(random)
        answer = minimum_hitting_set(masks, weights, steps)
        assert all(answer.mask & mask for mask in masks)
        assert answer.cost == answer.lower_bound == weight_of(answer.mask, weights) == least(masks, weights)
        assert answer.optimal
        assert answer.stopped is None


def test_the_solver_goes_on_where_branch_and_bound_gives_up() -> None:
    masks = hard_instance(24, 120, 5)
    for weights in ([1] * 24, list(range(1, 25))):
        by_branching = minimum_hitting_set(masks, weights, 10**7)
        by_both = minimum_hitting_set(masks, weights, 5)
        assert by_both.optimal
        assert by_both.cost == by_branching.cost


def test_a_bound_known_before_ends_the_search_and_changes_no_answer() -> None:
    random = Random(4)
    for _ in range(200):
        masks, weights = random_instance(random)
        optimum = least(masks, weights)
        for bound in (0, optimum // 2, optimum):
            answer = minimum_hitting_set(masks, weights, at_least=bound)
            assert all(answer.mask & mask for mask in masks)
            assert answer.cost == answer.lower_bound == weight_of(answer.mask, weights) == optimum


@pytest.mark.parametrize(("steps", "first"), [(10**6, 2), (10**6, 1000), (4, 2)])
def test_masks_that_become_more_have_the_weight_of_brute_force(
    steps: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is kept between the calls, few masks are searched at first, and with few steps the solver goes on."""
    monkeypatch.setattr(minimum_hitting_set_module, "FIRST_MASKS", first)
    monkeypatch.setattr(minimum_hitting_set_module, "MORE", 1)
    random = Random(steps)
    for _ in range(60 if steps > 4 else 15):
        columns = random.randint(1, 9)
        weights = [random.choice([1, 1, 2, 7, 1000]) if random.random() < 0.5 else 1 for _ in range(columns)]
        search, masks = LeastHittingSets(weights, steps), list[int]()
        for _ in range(random.randint(1, 8)):
            masks += [random.randrange(1, 1 << columns) | 1 << random.randrange(columns) for _ in range(4)]
            answer = search.least(masks)
            assert all(answer.mask & mask for mask in masks)
            assert answer.cost == search.bound == weight_of(answer.mask, weights) == least(masks, weights)


def test_a_call_after_one_that_was_stopped_is_right() -> None:
    random = Random(7)
    for _ in range(40):
        masks = [sum(1 << p for p in random.sample(range(12), random.randint(2, 5))) for _ in range(60)]
        looked, enough = count(), random.randint(0, 12)

        def tick(looked: Iterator[int] = looked, enough: int = enough) -> None:
            if next(looked) == enough:
                raise BudgetSpent("the time is up")

        search = LeastHittingSets([1] * 12, tick=tick)
        search.least(masks[:30])
        answer = search.least(masks)
        if answer.stopped is None:
            assert answer.cost == answer.lower_bound == least(masks, [1] * 12)


def test_branch_and_bound_alone_proves_what_the_solver_proves() -> None:
    """Many masks of different sizes, where the continuous bound is far from the optimum."""
    random = Random(5)
    for seed in range(6):
        masks = [sum(1 << p for p in random.sample(range(18), random.randint(3, 7))) for _ in range(150)]
        weights = [1] * 18 if seed % 2 else [random.randint(1, 9) for _ in range(18)]
        alone, solver = minimum_hitting_set(masks, weights, 10**7), minimum_hitting_set(masks, weights, SOLVER_ONLY)
        assert alone.cost == alone.lower_bound == solver.cost == solver.lower_bound == weight_of(alone.mask, weights)


def test_a_light_hitting_set_is_minimal() -> None:
    random = Random(2)
    for _ in range(300):
        masks, weights = random_instance(random)
        chosen = light_hitting_set(masks, weights)
        assert all(chosen & mask for mask in masks)
        assert not any(
            all(chosen & ~(1 << place) & mask for mask in masks) for place in range(len(weights)) if chosen >> place & 1
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize("steps", [10**7, SOLVER_ONLY])
@pytest.mark.parametrize("looks", [0, 2])
def test_stopped_it_gives_the_best_set_and_a_true_bound(steps: int, looks: int) -> None:
    masks, weights = hard_instance(24, 120, 5), [1] * 24
    optimum = minimum_hitting_set(masks, weights, SOLVER_ONLY).cost
    looked, threads = count(), threading.active_count()

    def tick() -> None:
        if next(looked) >= looks:
            raise BudgetSpent("the time is up")

    answer = minimum_hitting_set(masks, weights, steps, tick)
    assert isinstance(answer.stopped, BudgetSpent)
    assert all(answer.mask & mask for mask in masks)
    assert 0 < answer.lower_bound <= optimum <= answer.cost == answer.mask.bit_count()
    assert threading.active_count() == threads


def test_a_large_instance_stopped_is_not_called_optimal() -> None:
    def tick() -> None:
        raise BudgetSpent("the time is up")

    for steps in (10**7, SOLVER_ONLY):
        answer = minimum_hitting_set(hard_instance(60, 600, 6), [1] * 60, steps, tick)
        assert not answer.optimal
        assert answer.lower_bound < answer.cost


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "looks"), [(10**7, 0), (SOLVER_ONLY, 0), (SOLVER_ONLY, 700)])
def test_ctrl_c_ends_it_and_the_solver(steps: int, looks: int) -> None:
    looked, threads = count(), threading.active_count()

    def tick() -> None:
        if next(looked) >= looks:  # there are 600 masks, which are looked at one by one: later the solver runs
            raise KeyboardInterrupt

    answer = minimum_hitting_set(hard_instance(60, 600, 6), [1] * 60, steps, tick)
    assert isinstance(answer.stopped, Interrupted)
    assert not answer.optimal
    assert threading.active_count() == threads


@pytest.mark.exhaustive
def test_it_looks_at_the_clock_before_it_has_gone_over_the_masks_three_times() -> None:
    """Counted in lines of Python, whatever the machine: many masks of many columns once took half a minute unseen."""
    masks, size = hard_instance(200, 400, 40), 40
    lines, most, looks = 0, 0, 0

    def look() -> None:
        nonlocal lines, most, looks
        most, lines, looks = max(most, lines), 0, looks + 1
        if looks > len(masks) + 100:  # past the branches and the program's rows: the solver runs
            raise BudgetSpent("the time is up")

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        answer = minimum_hitting_set(masks, [1] * 200, 20, look)
    finally:
        sys.settrace(before)
    assert isinstance(answer.stopped, BudgetSpent)
    assert most < 3 * len(masks) * size, most


def test_an_empty_mask_is_hit_by_nothing() -> None:
    with pytest.raises(ValueError, match="no set hits an empty mask"):
        minimum_hitting_set([0b01, 0], [1, 1])
