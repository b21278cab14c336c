"""A search that parts of the rows decide finds what brute force finds, whatever the parts show."""

from collections.abc import Sequence
from random import Random

import pytest

from qidsql.measures.criteria import Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.search import decided as room
from qidsql.search.decided import decided
from tests.definitions import profile_of, projected
from tests.exhaustive import always
from tests.search.memory import MemoryProfiler, minimal_sets, random_rows


class SomeClasses:
    """Of each set the classes in which a column of it has one value, which is a part with whole classes."""

    def __init__(self, whole: MemoryProfiler, draw: Random) -> None:
        self._whole, self._draw = whole, draw

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        return [self._part(mask) for mask in masks]

    def _part(self, mask: int) -> ClassProfile:
        places = [place for place in range(self._whole.columns) if mask >> place & 1]
        place, row = self._draw.choice(places), self._draw.choice(self._whole.rows)
        rows = [each for each in self._whole.rows if each[place] == row[place]]
        return profile_of(projected(rows, places), self._whole.k)


class KnownProfiler(MemoryProfiler):
    """Keeps the profiles that it was asked for."""

    def __init__(self, rows: Sequence[tuple[object, ...]], columns: int, k: int) -> None:
        super().__init__(rows, columns, k)
        self.known: dict[int, ClassProfile] = {}

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        for mask in (mask for mask in masks if mask not in self.known):
            self.known[mask] = super().profiles([mask])[0]
        return [self.known[mask] for mask in masks]


def table(seed: int) -> tuple[KnownProfiler, int]:
    """A table below k on all columns, whose single columns and all columns are known."""
    for offset in range(seed * 1000, seed * 1000 + 1000):
        rows, columns = random_rows(offset)
        k = 2 + offset % 3
        profiler = KnownProfiler(rows * (1 + offset % 2), columns, k)
        everything = (1 << columns) - 1
        if profiler.rows and Violates(k).met_by(profiler.profiles([everything])[0]):
            profiler.profiles([1 << place for place in range(columns)])
            return profiler, k
    raise AssertionError


@pytest.mark.parametrize("seed", always(*range(60), longer=range(60, 2_000)))
def test_the_two_borders_are_those_of_brute_force(seed: int) -> None:
    profiler, k = table(seed)
    result = decided(profiler, SomeClasses(profiler, Random(seed)), Violates(k), profiler.known)
    assert result is not None and result.complete
    assert {found.mask for found in result.found} == minimal_sets(profiler, Violates(k))
    assert all(found.profile == profiler.profile(found.mask) for found in result.found)
    failing = {m for m in range(1, 1 << profiler.columns) if not Violates(k).met_by(profiler.profile(m))}
    assert set(result.failing) == {m for m in failing if not any(m != each and m & each == m for each in failing)}


@pytest.mark.parametrize("seed", always(*range(40), longer=range(40, 1_000)))
def test_a_search_that_is_stopped_lists_nothing_wrong(seed: int) -> None:
    profiler, k = table(seed)
    true = minimal_sets(profiler, Violates(k))
    profiler.most = len(profiler.asked) + seed % 5
    result = decided(profiler, SomeClasses(profiler, Random(seed)), Violates(k), profiler.known)
    assert result is not None
    listed = {found.mask for found in result.found}
    assert listed <= true and (listed == true or not result.complete)
    assert {mask for mask in true if mask.bit_count() <= result.complete_to_size} <= listed


def test_too_many_sets_are_left_to_another_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_SETS_TRIED", 2)
    rows = [tuple(Random(seed).randrange(3) for seed in range(row, row + 40, 7)) for row in range(300)]
    profiler = KnownProfiler(rows, 6, 2)
    profiler.profiles([*(1 << place for place in range(6)), 63])
    assert decided(profiler, SomeClasses(profiler, Random(1)), Violates(2), profiler.known) is None
