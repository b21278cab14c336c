"""The levelwise search: all minimal column sets, or as many as the budget proves."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest

from qidsql.errors import BudgetSpent
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.search import lattice as room
from qidsql.search.lattice import levelwise
from tests.definitions import Values
from tests.search.memory import MemoryProfiler, minimal_sets, random_rows

CRITERIA: list[Criterion] = [
    Key(),
    Distinct(Fraction(1, 2)),
    Distinct(Fraction(9, 10)),
    Separation(Fraction(4, 5)),
    Violates(2),
    Violates(4),
    RowsBelowK(3, Fraction(1, 4)),
    RowsBelowK(3, Fraction(1)),
]
TABLES = range(120)
OF_TWO = [(a, b) for a in range(6) for b in range(6)] * 2  # no column set singles anyone out


def per_criterion(criterion: Criterion) -> str:
    return criterion.name


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", CRITERIA, ids=per_criterion)
def test_finds_exactly_the_minimal_sets(criterion: Criterion) -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed), k=3)
        result = levelwise(profiler, criterion, breadth=seed % 3 * 8)
        assert {found.mask for found in result.found} == minimal_sets(profiler, criterion), seed
        assert all(found.profile == profiler.profile(found.mask) for found in result.found)
        assert (result.complete, result.complete_to_size, result.stopped) == (True, profiler.columns, None)


def test_finds_the_sets_that_determine_as_much_as_all_columns() -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed))
        goal = Determines(profiler.profile((1 << profiler.columns) - 1).classes)
        assert {found.mask for found in levelwise(profiler, goal).found} == minimal_sets(profiler, goal), seed


def test_smaller_sets_come_first() -> None:
    for seed in TABLES:
        sizes = [found.size for found in levelwise(MemoryProfiler(*random_rows(seed)), Key()).found]
        assert sizes == sorted(sizes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", CRITERIA, ids=per_criterion)
def test_asks_the_minimal_sets_and_the_failing_sets_once_each(criterion: Criterion) -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed), k=3)
        levelwise(profiler, criterion)
        every = range(1, 1 << profiler.columns)
        failing = [mask for mask in every if not criterion.met_by(profiler.profile(mask))]
        assert sorted(profiler.asked) == sorted([*failing, *minimal_sets(profiler, criterion)]), seed


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", CRITERIA, ids=per_criterion)
@pytest.mark.parametrize("max_size", [1, 2, 3])
def test_max_size_leaves_out_larger_sets_and_says_so(criterion: Criterion, max_size: int) -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed), k=3)
        result = levelwise(profiler, criterion, max_size)
        wanted = minimal_sets(profiler, criterion)
        found = {each.mask for each in result.found}
        assert found == {mask for mask in wanted if mask.bit_count() <= max_size}, seed
        assert all(mask.bit_count() <= max_size for mask in profiler.asked)
        assert found == wanted or not result.complete
        assert result.complete_to_size >= min(max_size, profiler.columns)
        assert result.stopped is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", CRITERIA, ids=per_criterion)
def test_what_a_spent_budget_leaves_is_still_true(criterion: Criterion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHUNK", 2)  # so that the budget ends within a size
    for seed in range(0, len(TABLES), 4):
        rows, columns = random_rows(seed)
        whole = MemoryProfiler(rows, columns, k=3)
        levelwise(whole, criterion)
        for most in range(len(whole.asked)):
            result = levelwise(MemoryProfiler(rows, columns, k=3, most=most), criterion)
            found = {each.mask for each in result.found}
            wanted = minimal_sets(whole, criterion)
            assert found <= wanted, seed  # each one minimal
            assert not result.complete
            assert isinstance(result.stopped, BudgetSpent)
            assert {mask for mask in wanted if mask.bit_count() <= result.complete_to_size} <= found, seed
            asked = whole.asked[:most]
            unasked = whole.asked[most:]
            assert result.complete_to_size == min(mask.bit_count() for mask in unasked) - 1, (seed, asked)


def test_sets_found_before_the_budget_ended_within_a_size_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHUNK", 1)
    profiler = MemoryProfiler([(1, 1, 1), (2, 1, 2)], 3, most=1)
    result = levelwise(profiler, Key())
    assert [found.mask for found in result.found] == [0b001]
    assert result.complete_to_size == 0


def test_sets_found_before_the_budget_ended_are_kept_where_they_are_known() -> None:
    class Known(MemoryProfiler):
        """Keeps what it answers, as the profiler of a table does."""

        def __init__(self, rows: list[Values], columns: int, most: int) -> None:
            super().__init__(rows, columns, most=most)
            self.measured: dict[int, ClassProfile] = {}

        def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
            for mask in masks:
                [self.measured[mask]] = super().profiles([mask])
            return [self.measured[mask] for mask in masks]

    for seed in range(0, len(TABLES), 4):
        rows, columns = random_rows(seed)
        wanted = minimal_sets(MemoryProfiler(rows, columns), Violates(2))
        for most in range(1, 2**columns - 1):
            profiler = Known(rows, columns, most)
            result = levelwise(profiler, Violates(2), known=profiler.measured)
            asked = {mask for mask in wanted if mask in profiler.measured}
            assert {each.mask for each in result.found} == (wanted if result.stopped is None else asked), seed


def test_a_size_with_too_many_candidates_is_not_begun() -> None:
    rows = [tuple(row >> place & 1 for place in range(5)) for row in range(32)]  # only all five columns are a key
    profiler = MemoryProfiler(rows, 5)
    result = levelwise(profiler, Key(), max_candidates=9)
    assert (result.found, result.complete, result.complete_to_size) == ((), False, 1)
    assert isinstance(result.stopped, BudgetSpent)
    assert "2 columns" in str(result.stopped)
    assert len(profiler.asked) == 5
    enough = levelwise(profiler, Key(), max_candidates=10)
    assert [found.mask for found in enough.found] == [0b11111]
    assert enough.complete


def test_with_enough_found_a_size_with_many_candidates_is_not_begun() -> None:
    # Columns 0 and 1 are keys of their own; of the other five only all together are one.
    rows = [(row, row, *(row >> place & 1 for place in range(5))) for row in range(32)]
    asked: list[tuple[int, list[int]]] = []

    def enough(found: int, candidates: Sequence[int]) -> str:
        asked.append((found, [*candidates]))
        return "ten sets are too many" if found > 1 and len(candidates) == 10 else ""

    result = levelwise(MemoryProfiler(rows, 7), Key(), enough=enough)
    assert [found.mask for found in result.found] == [0b01, 0b10]
    assert (result.complete, result.complete_to_size) == (False, 1)
    assert str(result.stopped) == "ten sets are too many"
    pairs = [1 << one | 1 << other for one, other in combinations(range(2, 7), 2)]
    assert asked == [(2, sorted(pairs))]
    whole = levelwise(MemoryProfiler(rows, 7), Key())
    assert (len(whole.found), whole.complete) == (3, True)


def test_too_many_candidates_beyond_max_size_stop_nothing() -> None:
    rows = [tuple(row >> place & 1 for place in range(5)) for row in range(32)]
    result = levelwise(MemoryProfiler(rows, 5), Key(), max_size=1, max_candidates=9)
    assert (result.complete, result.complete_to_size, result.stopped) == (False, 1, None)


def test_an_empty_table_has_every_column_as_a_key_and_violates_nothing() -> None:
    profiler = MemoryProfiler([], 3)
    assert [found.mask for found in levelwise(profiler, Key()).found] == [1, 2, 4]
    assert levelwise(profiler, Violates(2)).found == ()


def test_a_table_that_meets_nothing_is_searched_to_the_end() -> None:
    result = levelwise(MemoryProfiler(OF_TWO, 2), Violates(2))
    assert (result.found, result.complete, result.complete_to_size) == ((), True, 2)
