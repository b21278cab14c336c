"""Keys, borders and minimum against brute force over all column sets, on thousands of small tables."""

from collections.abc import Sequence
from random import Random

import pytest

from qidsql.measures import Key
from qidsql.search.borders import borders
from qidsql.search.hitting_sets import minimal_masks
from qidsql.search.keys import minimal_keys
from qidsql.search.levelwise import levelwise
from qidsql.search.minimum import minimum
from qidsql.search.result import SearchResult
from tests.search.tables import (
    MemoryProfiler,
    MemoryWitnesses,
    brute_force,
    class_sizes,
    criteria,
    random_table,
)


def found(result: SearchResult) -> set[int]:
    masks = [each.mask for each in result.found]
    assert len(masks) == len(set(masks))
    assert masks == sorted(masks, key=int.bit_count)
    return set(masks)


def is_key(sizes: Sequence[int]) -> bool:
    return all(size == 1 for size in sizes)


def width_of(rows: Sequence[Sequence[object]]) -> int:
    return len(rows[0]) if rows else 3


@pytest.mark.parametrize("max_pairs", [2, 6, 40, 1000])
def test_keys_are_those_of_brute_force(max_pairs: int) -> None:
    random = Random(max_pairs)
    for _ in range(250):
        rows = random_table(random)
        width = width_of(rows)
        witnesses = MemoryWitnesses(rows, max_pairs, max_masks=random.choice([1, 3, 1000]))
        result = minimal_keys(MemoryProfiler(rows, width), witnesses)
        assert result.complete
        assert result.stopped is None
        assert found(result) == brute_force(rows, width, is_key)
        assert len(set(witnesses.asked)) == len(witnesses.asked)
        for each in result.found:
            assert each.profile.classes == len(rows)


def test_keys_up_to_a_size() -> None:
    random = Random(9)
    for _ in range(250):
        rows = random_table(random)
        width, size = width_of(rows), random.randint(1, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 6), max_size=size)
        every = brute_force(rows, width, is_key)
        assert found(result) == {key for key in every if key.bit_count() <= size}
        assert not result.complete or found(result) == every
        assert result.complete_to_size >= min(size, width)


def test_keys_that_are_too_many_come_smallest_first() -> None:
    random = Random(10)
    for _ in range(250):
        rows = random_table(random)
        width, limit = width_of(rows), random.randint(1, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 40), limit=limit)
        every = brute_force(rows, width, is_key)
        if len(every) <= limit or len(rows) < 2:
            assert result.complete
            continue
        sizes = sorted(key.bit_count() for key in every)
        assert not result.complete
        assert result.stopped is not None
        assert found(result) <= every
        assert [each.size for each in result.found] == sizes[:limit]
        assert {key for key in every if key.bit_count() <= result.complete_to_size} <= found(result)


def test_a_key_search_that_is_stopped_says_only_what_is_proved() -> None:
    random = Random(11)
    stopped = 0
    for _ in range(400):
        rows = random_table(random)
        width, budget = width_of(rows), random.randint(0, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 6, budget=budget))
        every = brute_force(rows, width, is_key)
        assert found(result) <= every
        assert {key for key in every if key.bit_count() <= result.complete_to_size} <= found(result)
        assert result.complete == (result.stopped is None)
        stopped += not result.complete
    assert stopped > 100


def test_duplicate_rows_rule_out_every_key_with_one_profile() -> None:
    rows = [(1, 2), (1, 2), (2, 2)]
    profiler, witnesses = MemoryProfiler(rows, 2), MemoryWitnesses(rows, 100)
    result = minimal_keys(profiler, witnesses)
    assert result.complete
    assert result.found == ()
    assert (len(profiler.asked), witnesses.asked) == (1, [])


def test_borders_are_those_of_brute_force_for_every_criterion() -> None:
    random = Random(12)
    for _ in range(250):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            profiler = MemoryProfiler(rows, width)
            hints = MemoryProfiler(rows[::2], width) if random.random() < 0.3 else None
            result = borders(profiler, criterion, hints=hints)
            expected = brute_force(rows, width, meets)
            assert result.complete, criterion
            assert found(result) == expected, criterion
            assert found(levelwise(MemoryProfiler(rows, width), criterion)) == expected, criterion
            assert len(set(profiler.asked)) == len(profiler.asked), "asked twice"


def test_borders_ask_both_borders_and_no_more_than_theory_allows() -> None:
    """Whoever asks column sets only must ask every minimal solution and every maximal failing set. Dualize and advance
    asks at most |maximal| * (|minimal| + rank * columns) sets [Gunopulos et al. 2003], where the rank, the
    size of a maximal failing set, is below the number of columns; and finding twins asks columns and pairs of them."""
    random = Random(13)
    tight = 0
    for _ in range(300):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            profiler = MemoryProfiler(rows, width)
            minimal = found(borders(profiler, criterion))
            failing = {mask for mask in range(1 << width) if mask == 0 or not meets(class_sizes(rows, mask))}
            maximal = {
                mask for mask in failing if not any(mask | 1 << i in failing for i in range(width) if not mask >> i & 1)
            }
            whole, pairs = 1, width * (width - 1) // 2
            assert len(profiler.asked) <= whole + width + pairs + len(maximal) * (len(minimal) + width * (width - 1))
            twins = any(
                len({(row[i], row[j]) for row in rows})
                == len({row[i] for row in rows})
                == len({row[j] for row in rows})
                for i in range(width)
                for j in range(i)
            )
            constant = any(len({row[i] for row in rows}) < 2 for i in range(width))
            if not twins and not constant:
                assert minimal | maximal - {0} <= set(profiler.asked), criterion
                tight += len(profiler.asked) <= whole + width + pairs + len(minimal) + len(maximal) * 2
    assert tight > 100


def test_borders_stopped_say_only_what_is_proved() -> None:
    random = Random(14)
    for _ in range(250):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            result = borders(MemoryProfiler(rows, width, budget=random.randint(0, 20)), criterion)
            every = brute_force(rows, width, meets)
            assert found(result) <= every
            assert not result.complete or found(result) == every
            assert {mask for mask in every if mask.bit_count() <= result.complete_to_size} <= found(result)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_is_that_of_brute_force(weighted: bool) -> None:
    random = Random(15)
    for _ in range(400):
        rows = random_table(random)
        width = width_of(rows)
        weights = [random.choice([1, 2, 3, 9]) for _ in range(width)] if weighted else None
        for criterion, meets in criteria(random, rows, width):
            for witnesses in (None, MemoryWitnesses(rows, 6)):
                result = minimum(MemoryProfiler(rows, width), criterion, witnesses, weights)
                costs = [
                    sum((weights or [1] * width)[i] for i in range(width) if mask >> i & 1)
                    for mask in brute_force(rows, width, meets)
                ]
                assert result.cost == min(costs, default=None), criterion
                assert result.optimal == bool(costs)
                assert result.lower_bound == result.cost
                assert all(meets(class_sizes(rows, each.mask)) for each in result.found)


def test_a_minimum_search_that_is_stopped_keeps_true_bounds() -> None:
    random = Random(16)
    for _ in range(250):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            witnesses = MemoryWitnesses(rows, 6, budget=random.randint(0, 3))
            result = minimum(MemoryProfiler(rows, width, budget=random.randint(1, 12)), criterion, witnesses)
            sizes = [mask.bit_count() for mask in brute_force(rows, width, meets)]
            assert all(meets(class_sizes(rows, each.mask)) for each in result.found)
            if sizes and result.lower_bound is not None:
                assert result.lower_bound <= min(sizes)
            if result.optimal:
                assert result.cost == min(sizes)


def test_weights_must_be_one_positive_integer_per_column() -> None:
    for weights in ([1], [1, 0], [1, -2]):
        with pytest.raises(ValueError, match="positive weights"):
            minimum(MemoryProfiler([(1, 2)], 2), Key(), weights=weights)


def test_the_masks_of_all_pairs_hit_by_every_key() -> None:
    """The witnesses of the tests themselves: minimal keys are the minimal hitting sets of all difference masks."""
    rows = [(1, 1, None), (1, 2, None), (2, 2, 3)]
    [answer] = MemoryWitnesses(rows, 100).agreeing([0])
    assert minimal_masks(answer.masks) == [0b010, 0b101]
