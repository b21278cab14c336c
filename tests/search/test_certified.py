"""The list of an earlier search, mended: the minimal sets that brute force finds, whatever the list was."""

from random import Random

import pytest

from qidsql.measures.criteria import Violates
from qidsql.search import certified as certificate
from qidsql.search.certified import ALGORITHM, MENDED, certified
from tests.exhaustive import always
from tests.search.memory import MemoryProfiler, minimal_sets, random_rows


@pytest.mark.parametrize("seed", always(*range(60), longer=range(60, 2_000)))
def test_a_mended_list_is_that_of_brute_force(seed: int) -> None:
    """Of rows of which one changed, and a list of sets drawn at random."""
    draw = Random(seed)
    rows, columns = random_rows(seed)
    criterion, everything = Violates(2 + seed % 3), (1 << columns) - 1
    now = [*rows, *draw.sample(rows, min(2, len(rows)))] if seed % 2 else rows[1:]
    profiler = MemoryProfiler(now, columns, criterion.k)
    if not criterion.met_by(profiler.profiles([everything])[0]):
        return
    expected = sorted(minimal_sets(profiler, criterion))
    before = minimal_sets(MemoryProfiler(rows, columns, criterion.k), criterion)
    for earlier in (before, [draw.randrange(1, everything + 1)], expected):
        found = certified(profiler, criterion, earlier)
        if found is not None:
            assert sorted(each.mask for each in found.found) == expected
            assert [each.profile for each in found.found] == profiler.profiles([each.mask for each in found.found])
            assert all(not criterion.met_by(profile) for profile in profiler.profiles(found.failing))
        assert (found is not None and found.algorithm == ALGORITHM) == (sorted(earlier) == expected)


@pytest.mark.parametrize(("seed", "columns", "share"), [(284, 7, 0.5), (295, 8, 0.3), (331, 8, 0.3), (672, 8, 0.3)])
def test_of_more_failing_sets_than_are_looked_at_nothing_is_certified(
    seed: int, columns: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier list has just fewer, the mended one more: those that are looked at all fail, and another does not."""
    draw, criterion = Random(10 * seed + columns), Violates(2)
    rows = [tuple(int(draw.random() < share) for _ in range(columns)) for _ in range(24)]
    before = minimal_sets(MemoryProfiler(rows, columns, 2), criterion)
    now = MemoryProfiler([*rows, *rows[::4]], columns, 2)
    monkeypatch.setattr(certificate, "MOST_MORE", 1_000)
    found = certified(now, criterion, before)
    assert found is not None
    assert sorted(each.mask for each in found.found) == sorted(minimal_sets(now, criterion))
    monkeypatch.setattr(certificate, "MOST_FAILING_SETS", 1 + len(certificate.largest_without(before, columns)))
    assert certified(now, criterion, before) is None


def test_a_list_is_mended_for_few_sets_more() -> None:
    """One set of two is gone, as its class got rows; another list is not mended, but searched."""
    rows = [(a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 2 + [(2, 0, 0), (0, 2, 0)]
    criterion, columns = Violates(2), 3
    now = MemoryProfiler([*rows, (2, 0, 0)], columns, criterion.k)
    found = certified(now, criterion, minimal_sets(MemoryProfiler(rows, columns, criterion.k), criterion))
    assert found is not None
    assert (found.algorithm, [each.mask for each in found.found]) == (MENDED, [0b010])
