"""Profiles by the values of the columns: a class is the rows with the same values, and NULL is one more value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from operator import and_, or_
from typing import Any

from qidsql.core.tables import masks_of
from qidsql.errors import OutOfRoom
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.profiling.batches import ProfileStatement
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.rows_in_memory import RowsInMemory
from qidsql.sql.classes import class_sizes, class_sizes_in_part, column_counts, distinct_hashes
from qidsql.sql.relation import Relation
from qidsql.sql.templates import ColumnNames, Statement

ROWS_OF_LARGE_TABLE = 1_000_000  # above, an extra scan that may avoid grouping whole rows pays
SETS_OF_MANY = 256  # column sets in one call; above, finding columns with the same classes pays
WIDE, WIDE_ROWS = 1_000, 100_000  # columns that take long to name, 6 ms for each table of 10,000 in a statement; rows
MOST_FAILURES = 4  # statements that had no room, before the set is given up
CLASS_SAMPLES = 3  # of classes; fewer have larger classes in common, more take longer
MANY_CLASSES = 2_000  # of what several sets have in common; a sample of fewer is not accurate


class ByValue(TableProfiler):
    """The profiler of column sets whose classes are of rows."""

    _held: RowsInMemory | None = None  # of this profiler's rows

    @property
    def _in_memory(self) -> RowsInMemory:
        self._held = self._held or RowsInMemory(self, self._batches)
        return self._held

    @cached_property
    def _counted(self) -> dict[tuple[int, int], list[ClassSizes]]:
        """Of the first parts of a set, by their number."""
        return {}

    def _like(self, source: Relation, names: Sequence[str], rows: int | None) -> "ByValue":
        return ByValue(self.engine, source, names, self.k, rows, meter=self.meter)

    def narrowed(self, names: Sequence[str]) -> TableProfiler:
        other = super().narrowed(names)
        assert isinstance(other, ByValue)
        other._held = self._in_memory.narrowed(other, other._batches)
        return other

    def affords(self, masks: Sequence[int]) -> bool:
        if super().affords(masks):
            return True
        planned = self._batches.of_sets(masks, self.rows, self.most_classes)  # several sets in one scan read less
        return self.meter.affords(sum(self._values_read(part, statement) for part, statement in planned))

    def foresee(self, sets: Sequence[ColumnNames]) -> None:
        if masks := masks_of(sets, self.names):
            new = [mask for mask in dict.fromkeys([*self._known.singles, *masks]) if mask not in self._known]
            self._run_profiles(self._batches.foreseen(new, self.rows))

    def _profile(self, masks: Sequence[int]) -> None:
        masks = self._but_large(masks)
        if masks == [self.everything] and self._has_a_hash_per_row():
            return
        if len(masks) > SETS_OF_MANY and not self.engine.latency:  # as it takes a second round
            self._profile_many(masks)
        else:
            super()._profile(masks)

    def singles(self) -> list[ClassProfile]:
        self._but_large([mask for mask in self._known.singles if mask not in self._known])
        return super().singles()

    def _profile_many(self, masks: Sequence[int]) -> None:
        """Profile the sets, pairs first: of columns with the same classes one then represents the others."""
        self._run_profiles(self._statements([mask for mask in masks if mask.bit_count() <= 2]))
        twins = self._known.twins()
        kept = {mask: _without(twins, mask) for mask in masks if mask not in self._known}
        try:
            self._run_profiles(
                self._statements([mask for mask in dict.fromkeys(kept.values()) if mask not in self._known])
            )
        finally:  # keep the results that came before the work had to end
            self._known.update({mask: self._known[other] for mask, other in kept.items() if other in self._known})

    def _has_a_hash_per_row(self) -> bool:
        """True if the rows of a large table differ by their hashes alone, which is a fast check."""
        dialect = self.engine.dialect
        if not dialect.hashes_values or (self.rows or 0) <= ROWS_OF_LARGE_TABLE or self.source.is_sample:
            return False
        [(rows, [hashes])] = self.ask([distinct_hashes(dialect, self.source, [self.names])])
        if hashes < rows:
            return False
        self._known[self.everything] = ClassProfile.of_sizes({1: rows}, self.k)
        self.meter.sets += 1
        return True

    def samples_classes(self) -> bool:
        return self.engine.dialect.hashes_values

    def sampled(self, masks: Sequence[int], share: int) -> list[ClassProfile]:
        """The profiles of a sample of each set's classes, about one in `share`, each class with all its rows.

        Several sets together, by the classes of the columns that they have in common if these are many: one statement
        for a third of the sets, else one for each, all much cheaper than a profile, in two rounds (in one where calls
        are dear). Only where `samples_classes`. Raises as `profiles`.
        """
        self.meter.check_time()
        groups = [masks[first::CLASS_SAMPLES] for first in range(CLASS_SAMPLES)]
        groups = [each for each in groups if len(each) > 1 and self._batches.can_group(reduce(or_, each))]
        shared = [[*dict.fromkeys([common, *each])] for each in groups if (common := reduce(and_, each))]
        shared = [] if self._batches.in_few_pays(self.rows) else shared
        found: dict[int, ClassProfile] = {}
        for together in self._samples_of(shared, share):
            found |= together if next(iter(together.values())).classes >= MANY_CLASSES else {}
        for alone in self._samples_of([[mask] for mask in masks if mask not in found], share):
            found |= alone
        return [found[mask] for mask in masks]

    def _samples_of(self, groups: Sequence[Sequence[int]], share: int) -> list[dict[int, ClassProfile]]:
        """A statement for each group, or for many. The profiles by set, in the order of the group."""
        asked = [self._in_memory.of_sampled_classes(masks, share) for masks in groups]
        asked = self._batches.in_few(asked, self.rows)
        values = self._values([reduce(or_, masks) for masks in groups])
        answers = self._run([statement for _, statement in asked], values=values) if asked else []
        return [dict(zip(masks, profiles, strict=True)) for (masks, _), profiles in zip(asked, answers, strict=True)]

    def foresee_sizes(self, names: Sequence[str], others: Sequence[str]) -> None:
        one, two = (
            sum(1 << place for place, name in enumerate(self.names) if name in each) for each in (names, others)
        )
        if one == two or not self._batches.in_few_pays(self.rows) or self.meter.statements_left < 2:
            return
        asked: list[Statement[Any]] = [self._sizes_statement(one), self._statements([two])[0][1]]
        sizes, [profile] = self._run(asked)
        self._sizes[self._names(one)] = sizes
        self._keep([one, two], [sizes.profile(self.k), profile])
        for each in (one, two):
            self._same_rows(self._known[each].rows)

    @property
    def _divisible(self) -> bool:
        """Whether classes can be counted in parts."""
        return self.samples_classes() and not self.source.is_sample

    def _parts(self, mask: int, failures: int = 0) -> int:
        """Into how many parts the classes of a set have to be divided to fit where the engine counts them.

        If there is little room, the first question is how many rows there are.
        """
        if not self._divisible:
            return 1
        if self.rows is None and (failures or self.engine.little_room):
            [(self.rows, _)] = self.ask([column_counts(self.engine.dialect, self.source, ())])
        return 1 if self.rows is None else self.engine.parts(self.most_classes(mask), mask.bit_count(), failures)

    def _counted_sizes(self, mask: int, failures: int) -> ClassSizes:
        """In one statement, or in parts, the more the less room there is."""
        parts = self._parts(mask, failures)
        last = failures == MOST_FAILURES
        try:
            if parts > 1:
                return self._sizes_in(parts, mask, divisible=not last)
            return self._run([self._sizes_statement(mask)], values=self._values([mask]), divisible=not last)[0]
        except OutOfRoom:
            if last:
                raise
        return self._counted_sizes(mask, failures + 1)

    def _but_large(self, masks: Sequence[int]) -> list[int]:
        """Profile the sets whose classes have to be divided; return the others."""
        if not masks or self._parts(self.everything) == 1:  # which has at least as many classes as any
            return list(masks)
        for mask in (mask for mask in masks if self._parts(mask) > 1):
            self.sizes(mask)
        return [mask for mask in masks if mask not in self._known]

    def _sizes_in(self, parts: int, mask: int, divisible: bool) -> ClassSizes:
        """The class sizes of a set, part by part. Those counted before a stop are not counted again."""
        counted = self._counted.setdefault((mask, parts), [])
        with self.engine.one_round():
            for part in range(len(counted), parts):
                statement = class_sizes_in_part(self.engine.dialect, self.source, self._names(mask), part, parts)
                counted += self._run([statement], values=self._values([mask]), divisible=divisible)
        together: Counter[int] = Counter()
        for sizes in self._counted.pop((mask, parts)):
            together.update(sizes.classes)
        return ClassSizes.counted(together)

    def _sizes_statement(self, mask: int) -> Statement[ClassSizes]:
        return class_sizes(self.engine.dialect, self.source, self._names(mask))

    def _single_statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """What one scan for many sets can count."""
        wide = self.columns >= WIDE and (self.rows or 0) <= WIDE_ROWS and bool(self.engine.dialect.grouping_arguments)
        together = self._batches.scans_together or (wide and not self.source.is_sample)
        return self._batches.of_singles(masks) if together else self._statements(masks)

    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        return self._in_memory.statements(masks)


def _without(twins: Mapping[int, int], mask: int) -> int:
    """The set with the earliest column of the same classes in place of each column."""
    for twin, first in twins.items():
        if mask >> twin & 1:
            mask = mask & ~(1 << twin) | 1 << first
    return mask
