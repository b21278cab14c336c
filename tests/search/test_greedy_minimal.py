"""The greedy descent: one minimal column set, with columns + 1 profiles at most."""

from fractions import Fraction
from itertools import permutations
from random import Random

import pytest

from qidsql.errors import BudgetSpent
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.search.greedy import greedy_minimal
from tests.search.memory import MemoryProfiler, minimal_sets, random_rows

CRITERIA: list[Criterion] = [
    Key(),
    Distinct(Fraction(1, 2)),
    Separation(Fraction(4, 5)),
    Violates(3),
    RowsBelowK(3, Fraction(1, 4)),
]
TABLES = range(150)


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: criterion.name)
def test_finds_a_minimal_set_where_there_is_one(criterion: Criterion) -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed), k=3)
        wanted = minimal_sets(profiler, criterion)
        result = greedy_minimal(profiler, criterion)
        assert len(profiler.asked) <= profiler.columns + 1
        assert greedy_minimal(MemoryProfiler(*random_rows(seed), k=3), criterion, breadth=seed % 9) == result
        if not wanted:
            assert (result.found, result.complete, result.complete_to_size) == ((), True, profiler.columns), seed
            continue
        [found] = result.found
        assert found.mask in wanted, seed
        assert found.profile == profiler.profile(found.mask)
        assert (result.complete, result.complete_to_size, result.stopped) == (False, 0, None)


@pytest.mark.parametrize("many", [2, 32])
def test_of_many_columns_several_are_removed_at_once(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set is that of removing one after the other, of which few profiles are asked."""
    monkeypatch.setattr("qidsql.search.greedy.COLUMNS_REMOVED_TOGETHER", many)
    asked = 0
    for seed in range(60):
        draw = Random(seed)
        columns, needed = draw.choice((3, 40, 90)), draw.randint(1, 3)
        rows = [(0,) * columns]  # and for each needed column a row that differs in it alone, or in some others too
        for place in draw.sample(range(columns), needed):
            rows.append(tuple(int(each == place or draw.random() < 0.01) for each in range(columns)))
        order = draw.sample(range(columns), columns)
        profiler = MemoryProfiler(rows, columns)
        result = greedy_minimal(profiler, Key(), order)
        kept = (1 << columns) - 1
        for place in order:
            rest = kept & ~(1 << place)
            if rest and Key().met_by(MemoryProfiler(rows, columns).profile(rest)):
                kept = rest
        assert [found.mask for found in result.found] == ([kept] if len(set(rows)) == len(rows) else []), seed
        asked += len(profiler.asked) if columns == 90 else 0
        assert columns < 40 or len(profiler.asked) <= 2 + 2 * (needed + 1) * columns.bit_length() + 32, seed
    assert asked


def test_finds_a_minimal_set_that_determines_as_much_as_all_columns() -> None:
    for seed in TABLES:
        profiler = MemoryProfiler(*random_rows(seed))
        goal = Determines(profiler.profile((1 << profiler.columns) - 1).classes)
        [found] = greedy_minimal(profiler, goal).found
        assert found.mask in minimal_sets(profiler, goal), seed


def test_every_minimal_set_is_found_by_some_order() -> None:
    for seed in range(30):
        profiler = MemoryProfiler(*random_rows(seed))
        orders = permutations(range(profiler.columns))
        found = {each.mask for order in orders for each in greedy_minimal(profiler, Key(), order).found}
        assert found == minimal_sets(profiler, Key()), seed


def test_leaves_out_the_columns_in_the_order_given() -> None:
    rows = [(0, 0, 0), (1, 1, 1)]  # each column alone is a key
    assert greedy_minimal(MemoryProfiler(rows, 3), Key()).found[0].mask == 0b001
    assert greedy_minimal(MemoryProfiler(rows, 3), Key(), [0, 1, 2]).found[0].mask == 0b100


def test_one_profile_tells_that_there_is_none() -> None:
    profiler = MemoryProfiler([(1, 1), (1, 1)], 2)
    assert greedy_minimal(profiler, Key()).found == ()
    assert profiler.asked == [0b11]


def test_stopped_early_it_claims_nothing() -> None:
    rows = [(0, 0, 0), (1, 1, 1)]
    for most in range(3):
        result = greedy_minimal(MemoryProfiler(rows, 3, most=most), Key())
        assert (result.found, result.complete, result.complete_to_size) == ((), False, 0)
        assert isinstance(result.stopped, BudgetSpent)
