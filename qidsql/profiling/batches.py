"""The statements that profile column sets, several sets in each where that costs less."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qidsql.core.tables import names_of
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.covering import covering
from qidsql.sql.classes import (
    class_profiles,
    class_profiles_by_finest,
    class_profiles_in_one_scan,
    profiles_of_sampled_classes,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.packed_rows import PackedRows
from qidsql.sql.relation import Relation
from qidsql.sql.statements import ColumnNames, Statement

MakeProfiles: TypeAlias = "Callable[[Dialect, Relation, Sequence[ColumnNames], int], Statement[list[ClassProfile]]]"
ProfileStatement: TypeAlias = "tuple[Sequence[int], Statement[list[ClassProfile]]]"  # with the column sets it profiles

VALUES_TOGETHER = 32_000_000  # rows x columns of the column sets in one statement
FINEST = 1_000_000  # classes of all columns of a statement, where the sets together take little memory
COVERED = 40_000  # rows; of fewer, column sets from the classes of several columns are no cheaper than side by side
SAMPLE_SETS = 64  # column sets in one statement over a sample: drawing it costs more than profiling


@dataclass(frozen=True)
class Batches:
    """Makes the statements for column sets of a relation, whose classes are of rows and NULLs values of their own.

    `workers` statements run at a time; `latency` is the seconds of an empty one. Each method returns every statement
    with its column sets. `rows` is the number of rows, if it is known.
    """

    dialect: Dialect
    source: Relation
    names: ColumnNames
    k: int
    workers: int
    latency: float

    @property
    def scans_together(self) -> bool:
        """Whether `of_singles` costs less than `of_sets`."""
        return self.dialect.grouping_pays and not self.source.is_sample

    def of_singles(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """Of single columns, in one scan for each session, which keeps all of them busy."""
        width = min(self.dialect.grouping_arguments, -(-len(masks) // self.workers))
        return [self._statement(class_profiles_in_one_scan, part) for part in _parts(masks, width)]

    def of_sets(
        self, masks: Sequence[int], rows: int | None, most_classes: Callable[[int], int]
    ) -> list[ProfileStatement]:
        """Of any column sets. `most_classes` is an upper bound of the number of a set's classes."""
        if self.source.is_sample:
            parts = _fitting_parts(masks, SAMPLE_SETS, self.can_group)
            return [self._in_one_statement(class_profiles_in_one_scan, part) for part in parts]
        finest: list[list[int]] = []
        if rows is not None and rows <= self.dialect.finest_rows:
            parts = _fitting_parts(sorted(masks, key=most_classes), self.dialect.finest_sets, self.can_group)
            return [self._in_one_statement(class_profiles_by_finest, part) for part in parts]
        if rows is not None and rows > COVERED and self.dialect.finest_sets:
            classes = [most_classes(1 << place) for place in range(len(self.names))]
            room = min(rows // self.dialect.finest_share, FINEST)
            finest, masks = covering(masks, classes, room, self.dialect.finest_sets, self.dialect.grouping_arguments)
        return [
            *(self._statement(class_profiles_by_finest, part) for part in finest),
            *(self._statement(class_profiles, part) for part in _parts(masks, self._together(masks, rows))),
        ]

    def of_packed(self, packed: PackedRows, masks: Sequence[int], rows: int | None) -> list[ProfileStatement]:
        """Of any column sets, from packed rows."""
        parts = _parts(masks, self._together(masks, rows))
        return [(part, packed.profiles(self.dialect, part, self.k)) for part in parts]

    def of_sampled_classes(self, masks: Sequence[int], share: int) -> ProfileStatement:
        """Of a sample of the classes of one column set, or of several with columns in common that can be grouped."""

        def sampled(
            dialect: Dialect, source: Relation, names: Sequence[ColumnNames], k: int
        ) -> Statement[list[ClassProfile]]:
            return profiles_of_sampled_classes(dialect, source, names, k, share)

        return self._statement(sampled, masks)

    def can_group(self, columns: int) -> bool:
        """Whether sets of these columns can be grouped in one scan."""
        return columns.bit_count() <= self.dialect.grouping_arguments

    def _together(self, masks: Sequence[int], rows: int | None) -> int:
        """The column sets in one statement: several of a small table, fewer if they are wide, as all run at once.

        If statements have latency, as many as give each session one.
        """
        if rows is None or rows > self.dialect.union_rows:
            return 1
        widest = max((mask.bit_count() for mask in masks), default=1)
        share = -(-len(masks) // self.workers) if self.latency else 0
        return min(max(self.dialect.union_sets, share), VALUES_TOGETHER // max(1, rows * widest))

    def _in_one_statement(self, make: MakeProfiles, masks: Sequence[int]) -> ProfileStatement:
        return self._statement(make if len(masks) > 1 else class_profiles, masks)

    def _statement(self, make: MakeProfiles, masks: Sequence[int]) -> ProfileStatement:
        return masks, make(self.dialect, self.source, [names_of(mask, self.names) for mask in masks], self.k)


def _parts(masks: Sequence[int], width: int) -> list[Sequence[int]]:
    return [masks[start : start + max(1, width)] for start in range(0, len(masks), max(1, width))]


def _fitting_parts(masks: Sequence[int], most: int, fit: Callable[[int], bool]) -> Iterator[list[int]]:
    """The sets in their order, in parts of at most so many whose columns together fit, or of one set."""
    part: list[int] = []
    columns = 0
    for mask in masks:
        if part and (len(part) == most or not fit(columns | mask)):
            yield part
            part, columns = [], 0
        part.append(mask)
        columns |= mask
    if part:
        yield part
