"""Hitting sets against their definition."""

from itertools import islice
from random import Random

import pytest

from qidsql.core.tables import weight_of
from qidsql.errors import BudgetSpent
from qidsql.search.hitting_sets import MinimalHittingSets, minimal_masks, minimum_hitting_set, transposed


def by_definition(masks: list[int], width: int) -> set[int]:
    hitting = {chosen for chosen in range(1 << width) if all(chosen & mask for mask in masks)}
    return {h for h in hitting if not any(h >> place & 1 and h ^ 1 << place in hitting for place in range(width))}


def random_masks(random: Random) -> tuple[list[int], int]:
    width = random.randint(1, 8)
    return [random.randrange(1, 1 << width) for _ in range(random.randint(0, 12))], width


def test_every_minimal_hitting_set_is_found_once() -> None:
    random = Random(1)
    for _ in range(600):
        masks, width = random_masks(random)
        found = list(MinimalHittingSets(masks))
        assert len(found) == len(set(found))
        assert set(found) == by_definition(masks, width)


def test_bounded_sizes_say_whether_larger_ones_may_exist() -> None:
    random = Random(2)
    for _ in range(600):
        masks, width = random_masks(random)
        size = random.randint(0, width)
        search = MinimalHittingSets(masks, size)
        found, every = set(search), by_definition(masks, width)
        assert found == {mask for mask in every if mask.bit_count() <= size}
        assert search.cut or found == every


def test_supersets_of_avoided_sets_are_left_out() -> None:
    random = Random(3)
    for _ in range(600):
        masks, width = random_masks(random)
        avoiding = [random.randrange(0, 1 << width) for _ in range(random.randint(0, 3))]
        expected = {m for m in by_definition(masks, width) if not any(m & avoid == avoid for avoid in avoiding)}
        assert set(MinimalHittingSets(masks, avoiding=avoiding)) == expected


def test_an_empty_mask_cannot_be_hit_and_no_mask_is_hit_by_nothing() -> None:
    assert list(MinimalHittingSets([0, 5])) == []
    assert list(MinimalHittingSets([])) == [0]


def test_minimal_masks_are_those_that_contain_no_other() -> None:
    random = Random(4)
    for _ in range(600):
        masks, _ = random_masks(random)
        masks += [0] * (random.random() < 0.1)
        expected = {mask for mask in masks if not any(other != mask and other & mask == other for other in masks)}
        kept = minimal_masks(masks)
        assert len(kept) == len(expected)
        assert set(kept) == expected


def test_transposed_turns_rows_into_columns() -> None:
    assert transposed([0b01, 0b11, 0b10], 3) == [0b011, 0b110, 0b000]
    assert transposed([], 2) == [0, 0]


def test_astronomically_many_come_one_by_one() -> None:
    disjoint = [0b111 << 3 * number for number in range(40)]  # 3 ** 40 minimal hitting sets
    assert len(list(islice(MinimalHittingSets(disjoint), 1000))) == 1000


def test_the_tick_can_end_a_long_search() -> None:
    def tick() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        for _ in MinimalHittingSets([0b111 << 3 * number for number in range(40)], tick=tick):
            pass


@pytest.mark.parametrize("steps", [100_000, 3])
def test_the_minimum_weighs_least(steps: int) -> None:
    random = Random(5)
    for _ in range(600):
        masks, width = random_masks(random)
        weights = [random.choice([1, 1, 2, 5]) for _ in range(width)]
        least = min(weight_of(mask, weights) for mask in by_definition(masks, width))
        found = minimum_hitting_set(masks, weights, steps)
        assert all(found.mask & mask for mask in masks)
        assert found.cost == weight_of(found.mask, weights)
        assert found.lower_bound <= least <= found.cost
        assert found.optimal or steps < 100


def test_an_empty_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        minimum_hitting_set([0, 1], [1])


def test_a_budget_also_ends_the_comparison_of_masks() -> None:
    def spent() -> None:
        raise BudgetSpent("enough")

    with pytest.raises(BudgetSpent):
        minimal_masks([0b01, 0b10], spent)


def test_a_budget_ends_a_search_over_many_masks_after_few_steps() -> None:
    """A step over 100,000 masks takes a thousand times as long as one over a few."""
    many = [1 << place | 1 << 100 + other for place in range(100) for other in range(100)]
    ticks: list[None] = []
    sets = MinimalHittingSets(many, tick=lambda: ticks.append(None), minimal=True)
    assert next(sets).bit_count() == 100
    assert ticks
