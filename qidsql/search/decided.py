"""All minimal column sets below k, decided by proofs in parts of the rows; few sets are measured."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol

from qidsql.core.tables import positions
from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.hitting_sets import MinimalHittingSets, minimal_masks
from qidsql.search.result import Found, SearchResult

ALGORITHM = "decided by regions"
LEVEL = 4  # columns of the sets that are tried one size after the other
MOST_SETS_TRIED = 1_000  # sets tried at a time; of more, a search by sizes is better


class Parts(Protocol):
    """Profiles of classes in a part of the rows that holds whole classes."""

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]: ...


def decided(
    profiler: Profiler, parts: Parts, criterion: Criterion, known: Mapping[int, ClassProfile]
) -> SearchResult | None:
    """All minimal non-empty column sets that meet the criterion; None if a search by sizes is better.

    For a criterion that a single small class proves (`proved_below`). First parts of the rows prove nearly all sets
    that meet it, a size at a time. Then the maximal sets that contain none of these are measured: those that meet it
    are new proofs, and when none does, the two borders certify each other: each minimal set without one of its columns
    is contained in a set that was measured and fails. At last the minimal sets are measured. Needs a profile for each
    minimal set, each maximal failing one, and each that the parts did not tell; `known` are the profiles by now, those
    of single columns among them. If stopped, it returns the sets whose minimality was proved by then.

    >>> from qidsql.measures.criteria import Violates
    >>> known = dict(zip([1, 2, 4, 7], people.profiles([1, 2, 4, 7])))
    >>> [found.mask for found in decided(people, people, Violates(2), known).found]
    [2, 4]
    """
    search = _Search(profiler, parts, criterion, known)
    stopped: Stopped | None = None
    try:
        if not search.run():
            return None
    except Stopped as stop:
        stopped = stop
    return search.result(stopped)


class _Search:
    """`met` are the sets known to meet the criterion that contain no other; `failing` those measured that fail."""

    def __init__(
        self, profiler: Profiler, parts: Parts, criterion: Criterion, known: Mapping[int, ClassProfile]
    ) -> None:
        self._profiler, self._parts, self._criterion, self._known = profiler, parts, criterion, known
        self._everything = (1 << profiler.columns) - 1
        self._met: list[int] = []
        self._learn([mask for mask, profile in known.items() if criterion.met_by(profile)])

    def run(self) -> bool:
        """Whether the search was run to its end. Raises Stopped."""
        for size in range(2, LEVEL + 1):
            if not self._try(self._open(size)):
                return False
        while maximal := self._maximal():
            if not self._try(maximal):
                return False
            if maximal == self._maximal():  # no part shows that one of these meets the criterion
                profiles = self._profiler.profiles(maximal)
                self._learn([m for m, p in zip(maximal, profiles, strict=True) if self._criterion.met_by(p)])
                if maximal == self._maximal():
                    break
        self._profiler.profiles(self._met)
        return True

    def _try(self, sets: Sequence[int]) -> bool:
        """Learn from the parts; False if there are too many sets."""
        sets = [mask for mask in sets if mask not in self._known]
        if len(sets) > MOST_SETS_TRIED:
            return False
        self._learn([m for m, p in zip(sets, self._parts.profiles(sets), strict=True) if self._criterion.met_by(p)])
        return True

    def _learn(self, meeting: Sequence[int]) -> None:
        self._met = minimal_masks([*self._met, *meeting])

    def _open(self, size: int) -> list[int]:
        """The sets of that size that contain none that is known to meet the criterion."""
        sets = (sum(chosen) for chosen in combinations([1 << place for place in range(self._profiler.columns)], size))
        return [mask for mask in sets if not any(mask & met == met for met in self._met)]

    def _maximal(self) -> list[int]:
        """The largest such sets."""
        return sorted(
            self._everything ^ hitting for hitting in MinimalHittingSets(self._met) if hitting != self._everything
        )

    def result(self, stopped: Stopped | None) -> SearchResult:
        known, criterion = self._known, self._criterion
        failing = [mask for mask, profile in known.items() if not criterion.met_by(profile)]

        def fails(mask: int) -> bool:
            return not mask or any(mask & each == mask for each in failing)

        rests = {mask: [mask & ~(1 << place) for place in range(mask.bit_length())] for mask in self._met}
        found = [
            Found(mask, known[mask])
            for mask in sorted(self._met, key=lambda mask: (mask.bit_count(), tuple(positions(mask))))
            if mask in known and all(rest == mask or fails(rest) for rest in rests[mask])
        ]
        size = self._profiler.columns
        if stopped is not None:
            listed = {each.mask for each in found}
            size = 0
            while (
                size < LEVEL
                and all(fails(mask) for mask in self._open(size + 1))
                and all(mask in listed for mask in self._met if mask.bit_count() == size + 1)
            ):
                size += 1
        border = [mask for mask in failing if not any(mask != each and mask & each == mask for each in failing)]
        return SearchResult(criterion, ALGORITHM, tuple(found), stopped is None, size, stopped, failing=tuple(border))
