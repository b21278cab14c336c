"""Columns that need not be searched: constant ones, and all but one of those that determine each other."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from qidsql.measures import ClassProfile, Criterion, Profiler
from qidsql.schema import positions


class Reduced:
    """A profiler of fewer columns with the same minimal column sets, up to twins.

    Twins have the same classes, so one stands for all of them; a constant column adds nothing to a set, and is left
    out unless it meets the criterion by itself, as then all columns do. Never asks the same set twice. Asks the
    profile of every column, and of pairs of columns whose profiles are equal.
    """

    def __init__(self, profiler: Profiler, criterion: Criterion, known: Mapping[int, ClassProfile]) -> None:
        self._profiler = profiler
        self._known = dict(known)  # by the set in the profiler's own columns
        self._twins: list[list[int]] = [[place] for place in range(profiler.columns)]
        singles = self.profiles([1 << place for place in range(profiler.columns)])
        by_profile: dict[ClassProfile, list[list[int]]] = {}
        for place, profile in enumerate(singles):
            if not profile.divides and not criterion.met_by(profile):
                continue
            groups = by_profile.setdefault(profile, [])
            pairs = self.profiles([1 << group[0] | 1 << place for group in groups])
            same = next((group for group, pair in zip(groups, pairs, strict=True) if pair == profile), None)
            if same is None:
                groups.append([place])
            else:
                same.append(place)
        self._twins = sorted(group for groups in by_profile.values() for group in groups)

    @property
    def columns(self) -> int:
        return len(self._twins)

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """The profiles of sets of the columns kept. Raises as the profiler underneath."""
        originals = [self._original(mask) for mask in masks]
        new = [mask for mask in dict.fromkeys(originals) if mask not in self._known]
        self._known.update(zip(new, self._profiler.profiles(new), strict=True))
        return [self._known[mask] for mask in originals]

    def over(self, profiler: Profiler) -> "Reduced":
        """The same columns of another profiler, such as that of a sample."""
        other = object.__new__(Reduced)
        other._profiler, other._known, other._twins = profiler, {}, self._twins
        return other

    def expanded(self, mask: int) -> Iterator[int]:
        """The set in the profiler's own columns, and every set that has a twin in place of a column."""
        for choice in product(*(self._twins[number] for number in positions(mask))):
            yield sum(1 << place for place in choice)

    def _original(self, mask: int) -> int:
        return sum(1 << self._twins[number][0] for number in positions(mask))
