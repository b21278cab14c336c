"""Columns that need not be searched: constant ones, and all but one of those that determine each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from qidsql.measures import ClassProfile, Criterion, Profiler
from qidsql.schema import positions
from qidsql.search.witness import Agreeing, Witnesses


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
            unique = profile.classes == profile.rows and not profile.entities  # each row is a class: so are both's
            asked = [1 << group[0] | 1 << place for group in groups]
            pairs = [profile] * len(asked) if unique else self.profiles(asked)
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
        originals = [self.original(mask) for mask in masks]
        new = [mask for mask in dict.fromkeys(originals) if mask not in self._known]
        self._known.update(zip(new, self._profiler.profiles(new), strict=True))
        return [self._known[mask] for mask in originals]

    def witnesses(self, witnesses: Witnesses) -> Witnesses:
        """The same witnesses for sets of the columns kept: a pair that a column tells apart, its twins do too."""
        return _ReducedWitnesses(self, witnesses)

    def kept(self, mask: int) -> int:
        """The set of the profiler's own columns as one of the columns kept."""
        return sum(1 << number for number, twins in enumerate(self._twins) if mask >> twins[0] & 1)

    def over(self, profiler: Profiler) -> "Reduced":
        """The same columns of another profiler, such as that of a sample."""
        other = object.__new__(Reduced)
        other._profiler, other._known, other._twins = profiler, {}, self._twins
        return other

    def expanded(self, mask: int) -> Iterator[int]:
        """The set in the profiler's own columns, and every set that has a twin in place of a column."""
        for choice in product(*(self._twins[number] for number in positions(mask))):
            yield sum(1 << place for place in choice)

    def original(self, mask: int) -> int:
        """A set of the columns kept in the profiler's own columns."""
        return sum(1 << self._twins[number][0] for number in positions(mask))


class _ReducedWitnesses:
    def __init__(self, reduced: Reduced, witnesses: Witnesses) -> None:
        self.max_pairs = witnesses.max_pairs
        self._reduced, self._witnesses = reduced, witnesses

    def agreeing(self, sets: Sequence[int]) -> list[Agreeing]:
        answers = self._witnesses.agreeing([self._reduced.original(mask) for mask in sets])
        return [replace(answer, masks=tuple(map(self._reduced.kept, answer.masks))) for answer in answers]
