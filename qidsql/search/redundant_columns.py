"""Columns that need not be searched: constant ones, and all but one of those that determine each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.difference_masks import AgreeingPairs, RowPairs


class WithoutTwins:
    """A profiler of fewer columns with the same minimal column sets, up to twins.

    Twins have the same classes, so one represents all of them; a constant column adds nothing to a set, and is left
    out unless it meets the criterion alone, as then all columns do. Never profiles the same set twice. Needs the
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
        while open_groups:  # compare each group's first column with the others, all groups in one batch
            masks = [1 << first | 1 << other for first, *others in open_groups for other in others]
            pairs = iter(self._pairs(masks, singles))
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
        """The profiles of sets of the columns kept. Raises as the underlying profiler."""
        originals = [self.original(mask) for mask in masks]
        new = [mask for mask in dict.fromkeys(originals) if mask not in self._known]
        self._known.update(zip(new, self._profiler.profiles(new), strict=True))
        return [self._known[mask] for mask in originals]

    def known(self) -> dict[int, ClassProfile]:
        """The profiles known so far of sets of the columns kept."""
        return {
            self.kept(mask): profile for mask, profile in self._known.items() if self.original(self.kept(mask)) == mask
        }

    def row_pairs(self, row_pairs: RowPairs) -> RowPairs:
        """Pairs of rows for sets of the columns kept: a pair that a column separates, its twins separate too."""
        return _RowPairsWithoutTwins(self, row_pairs)

    def kept(self, mask: int) -> int:
        """A set of the profiler's own columns as a set of the columns kept."""
        return sum(1 << number for number, twins in enumerate(self._twins) if mask >> twins[0] & 1)

    def over(self, profiler: Profiler) -> "WithoutTwins":
        """These columns of another profiler, such as that of a sample."""
        other = object.__new__(WithoutTwins)
        other._profiler, other._known, other._twins = profiler, {}, self._twins
        return other

    def expanded(self, mask: int) -> Iterator[int]:
        """The set in the profiler's own columns, and every set with a twin in place of a column."""
        for choice in product(*(self._twins[number] for number in positions(mask))):
            yield sum(1 << place for place in choice)

    def failing(self, masks: Sequence[int]) -> tuple[int, ...]:
        """The failing sets proved by sets of the columns kept, in each of which a solution contains a column.

        In the profiler's own columns, and as large as possible: with the constant columns, and without any twin of a
        column in the set.
        """
        everything = (1 << self._profiler.columns) - 1
        twins = [sum(1 << place for place in places) for places in self._twins]
        return tuple(everything ^ sum(twins[number] for number in positions(mask)) for mask in masks)

    def lightest(self, mask: int, weights: Sequence[int]) -> int:
        """The set in the profiler's own columns, with the lightest of each column's twins."""
        return sum(1 << min(self._twins[number], key=lambda place: weights[place]) for number in positions(mask))

    def _pairs(self, masks: Sequence[int], singles: Sequence[ClassProfile]) -> list[ClassProfile]:
        """The profiles of pairs of columns that are alike; if one separates all rows, both do."""
        known = [singles[next(positions(mask))] for mask in masks]
        unique = [profile.colliding_pairs == 0 and not profile.entities for profile in known]
        new = iter(self.profiles([mask for mask, sure in zip(masks, unique, strict=True) if not sure]))
        return [profile if sure else next(new) for profile, sure in zip(known, unique, strict=True)]

    def original(self, mask: int) -> int:
        """A set of the columns kept, in the profiler's own columns."""
        return sum(1 << self._twins[number][0] for number in positions(mask))


class _RowPairsWithoutTwins:
    def __init__(self, reduced: WithoutTwins, row_pairs: RowPairs) -> None:
        self.max_pairs = row_pairs.max_pairs
        self._reduced, self._row_pairs = reduced, row_pairs

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        answers = self._row_pairs.agreeing([self._reduced.original(mask) for mask in sets])
        return [replace(answer, masks=tuple(map(self._reduced.kept, answer.masks))) for answer in answers]


# Functional dependencies between two columns, by their class profiles.


def dependencies(profiler: Profiler) -> list[tuple[int, int]]:
    """The pairs of columns whose first determines the second, in all present rows.

    A determines B if and only if adding B splits no class of A: d(A) = d(A, B). Trivial pairs are left out: a key
    determines every column, and every column determines a constant. NULL is one more value.

    Needs m profiles, then one for each pair of the remaining columns. Raises Stopped.

    >>> dependencies(people)
    []
    """
    singles = profiler.profiles([1 << column for column in range(profiler.columns)])
    open_ones = [column for column, alone in enumerate(singles) if 1 < alone.classes < alone.rows]
    pairs = list(combinations(open_ones, 2))
    found = []
    for (left, right), both in zip(pairs, profiler.profiles([1 << a | 1 << b for a, b in pairs]), strict=True):
        if both.classes == singles[left].classes:
            found.append((left, right))
        if both.classes == singles[right].classes:
            found.append((right, left))
    return found
