"""Copies of the rows that the engine holds in memory, made as soon as the scans of a search have cost as much.

Column sets with texts are counted from packed rows, a few integers each. Others are counted from a copy of the columns
without texts where each scan decodes or computes them, as of a parquet file or a view.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from qidsql.core.tables import Table, names_of
from qidsql.errors import StatementError
from qidsql.profiling.batches import Batches, Profiled, ProfileStatement, can_be_packed, packed_rows
from qidsql.sql.relation import Relation, rows_to_hold
from qidsql.sql.row_codes import PackedRows

SCANS = 6  # of all columns, which cost as much as a copy
MEMORY_PART_HELD = 16  # of the memory limit, at most
BYTES_PER_VALUE = 8  # bytes of a value that is not long, of nearly all types at most


class RowsInMemory:
    """Makes the statements that profile column sets of a profiler's rows, whose classes are of rows and NULLs values of
    their own: from the rows, from `batches`, or from a copy that they pay for."""

    def __init__(self, profiler: Profiled, batches: Batches) -> None:
        self._profiler, self._batches = profiler, batches
        source = profiler.source
        self._long = sum(1 << place for place, name in enumerate(profiler.names) if name in source.long)
        self._short = (1 << len(profiler.names)) - 1 & ~self._long
        self._packed: PackedRows | None = None
        self._held: Batches | None = None
        # Values of a row read so far for sets with texts, and for others; None: there is a copy, or there can be none.
        self._texts_read: int | None = 0
        self._others_read: int | None = 0 if source.computed and self._short else None

    def narrowed(self, profiler: Profiled, batches: Batches) -> "RowsInMemory":
        """These copies, for a profiler of some of the columns."""
        other = RowsInMemory(profiler, batches)
        other._packed = self._packed and self._packed.narrowed(batches.names)
        other._held = self._held and replace(self._held, names=batches.names)
        other._texts_read, other._others_read = self._texts_read, self._others_read
        return other

    def statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """The statements that profile these sets, each with its sets. Up to three before them make copies."""
        long, short = [mask for mask in masks if mask & self._long], [mask for mask in masks if not mask & self._long]
        if long and self._packs(long):
            assert self._packed is not None
            return [*self._batches.of_packed(self._packed, long, self._profiler.rows), *self._of_values(short)]
        return self._of_values(masks)

    def of_sampled_classes(self, masks: Sequence[int], share: int) -> ProfileStatement:
        """As `Batches.of_sampled_classes`."""
        held = self._held if not reduce(or_, masks) & self._long else None
        return (held or self._batches).of_sampled_classes(masks, share)

    def _packs(self, masks: Sequence[int]) -> bool:
        """Whether the rows are packed: as soon as reading these sets, which have texts, costs as much too."""
        profiler = self._profiler
        if self._texts_read is not None:
            self._texts_read += sum(mask.bit_count() for mask in masks)
            pays = self._texts_read >= SCANS * len(profiler.names)
            if pays and can_be_packed(profiler, len(masks)):
                self._packed, self._texts_read = packed_rows(profiler), None
        return self._packed is not None

    def _of_values(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """From the columns, those without texts from their copy if there is one, or if these sets pay for it."""
        if not masks:
            return []
        if self._held is None:
            statements = self._of_sets(self._batches, masks)
            if not self._holds(statements):
                return statements
        assert self._held is not None
        long, short = [mask for mask in masks if mask & self._long], [mask for mask in masks if not mask & self._long]
        return [*self._of_sets(self._batches, long), *self._of_sets(self._held, short)]

    def _of_sets(self, batches: Batches, masks: Sequence[int]) -> list[ProfileStatement]:
        return batches.of_sets(masks, self._profiler.rows, self._profiler.most_classes) if masks else []

    def _holds(self, statements: Sequence[ProfileStatement]) -> bool:
        """Hold the columns without texts if that pays for these statements; whether they are held."""
        profiler = self._profiler
        if self._others_read is None or profiler.rows is None:
            return False
        self._others_read += sum((reduce(or_, sets) & self._short).bit_count() for sets, _ in statements)
        pays = self._others_read >= SCANS * self._short.bit_count()
        if pays and profiler.statements_left > len(statements) + 1:
            self._held, self._others_read = self._copy(profiler.rows), None
        return self._held is not None

    def _copy(self, rows: int) -> Batches | None:
        """Statements over a copy of the columns without texts; None as `held_rows`."""
        names = names_of(self._short, self._profiler.names)
        held = held_rows(self._profiler, self._profiler.source, names, rows)
        return None if held is None else replace(self._batches, source=held)


def held_rows(profiler: Profiled, source: Relation, names: Sequence[str], rows: int) -> Relation | None:
    """A copy of so many rows in columns without texts; None if the engine holds no rows, or lacks the memory.

    One statement, one scan. Raises as `Engine.hold`, but StatementError.
    """
    engine = profiler.engine
    if rows * len(names) * BYTES_PER_VALUE * MEMORY_PART_HELD > (engine.memory_limit or 0):
        return None
    try:
        query = rows_to_hold(engine.dialect, source, names)
        table = engine.hold(query, "rows held in memory", profiler.deadline)
    except StatementError:  # such as too little memory
        return None
    return None if table is None else Relation(table=Table(table, "table", ()))
