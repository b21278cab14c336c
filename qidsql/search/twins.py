"""Columns that need not be searched: constant ones, and all but one of those that determine each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.row_pairs import Agreeing, Witnesses


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
        alike: dict[ClassProfile, list[int]] = {}
        for place, profile in enumerate(singles):
            if profile.divides or criterion.met_by(profile):
                alike.setdefault(profile, []).append(place)
        twins: list[list[int]] = []
        open_groups = list(alike.values())
        while open_groups:  # each group's first column against the others, all groups in one batch
            asked = [1 << first | 1 << other for first, *others in open_groups for other in others]
            pairs = iter(self._pairs(asked, singles))
            later = []
            for first, *others in open_groups:
                same = {other: next(pairs) == singles[first] for other in others}
                twins.append([first, *(other for other in others if same[other])])
                later.append([other for other in others if not same[other]])
            open_groups = [group for group in later if group]
        self._twins = sorted(twins)

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

    def failing(self, masks: Sequence[int]) -> tuple[int, ...]:
        """The failing sets that sets of the columns kept prove, of each of which a solution holds a column.

        In the profiler's own columns, and as large as can be: with the constant columns, and without any twin of a
        column in the set.
        """
        everything = (1 << self._profiler.columns) - 1
        twins = [sum(1 << place for place in places) for places in self._twins]
        return tuple(everything ^ sum(twins[number] for number in positions(mask)) for mask in masks)

    def lightest(self, mask: int, weights: Sequence[int]) -> int:
        """The set in the profiler's own columns, of each column's twins the lightest."""
        return sum(1 << min(self._twins[number], key=lambda place: weights[place]) for number in positions(mask))

    def _pairs(self, masks: Sequence[int], singles: Sequence[ClassProfile]) -> list[ClassProfile]:
        """The profiles of pairs of columns that are alike; where each row is a class of its own, so it is of both."""
        known = [singles[next(positions(mask))] for mask in masks]
        unique = [profile.classes == profile.rows and not profile.entities for profile in known]
        new = iter(self.profiles([mask for mask, sure in zip(masks, unique, strict=True) if not sure]))
        return [profile if sure else next(new) for profile, sure in zip(known, unique, strict=True)]

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
