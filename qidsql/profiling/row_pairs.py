"""Pairs of rows of a table as evidence against keys, by statements to an engine. Only bit masks leave the engine."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from qidsql.core.tables import Nulls
from qidsql.profiling.batches import can_be_packed, packed_rows
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.rows_in_memory import SCANS
from qidsql.search.difference_masks import AgreeingPairs
from qidsql.sql.classes import distinct_hashes
from qidsql.sql.matching_rows import witness_rows
from qidsql.sql.row_codes import PackedRows
from qidsql.sql.row_pairs import agreeing, agreeing_packed
from qidsql.sql.templates import Statement

MASKS_OF_STATEMENT = 100_000
ALL_PAIRS = 1_000_000  # ordered pairs; if a table has no more, one statement fetches all masks
LEAST_PAIRS = 200_000  # joining so many costs about as much as the rest of a statement on a small table
FEW, LARGE = 50_000, 1_000_000  # rows; packing fewer does not pay, and packing more takes long where values are texts
PAIRS_PER_ROW = 8  # of a large table, and of packed rows; of others statements are cheaper than pairs


class PairsThatAgree:
    """The difference masks of the rows that a profiler profiles, on its budget. Read only, without temporary tables.

    One statement per column set, of one or two scans; several sets are queried in parallel. Raises ValueError for a
    profiler that counts entities, as two rows of one entity are no evidence, and for one to which a NULL matches
    anything, as rows that match a third need not match each other.
    """

    def __init__(
        self,
        profiler: TableProfiler,
        max_pairs: int | None = None,
        max_masks: int = MASKS_OF_STATEMENT,
        pairs_per_row: int | None = None,
    ) -> None:
        if profiler.entity is not None:
            raise ValueError("difference masks compare rows, not entities; search the borders instead")
        if profiler.nulls is Nulls.WILDCARD:
            raise ValueError("difference masks treat NULL as a value; search the borders instead")
        self._profiler, self._rows = profiler, profiler.rows or 0
        self._max_pairs, self._max_masks = max_pairs, max_masks
        self._pairs_per_row = PAIRS_PER_ROW if pairs_per_row is None else pairs_per_row
        self._hashed: frozenset[str] | None = None if self._rows > LARGE else frozenset()

    @cached_property
    def max_pairs(self) -> int:
        rows = self._rows
        if self._max_pairs is not None:
            return self._max_pairs
        if rows > LARGE or self._packed is not None:
            return self._pairs_per_row * rows
        return ALL_PAIRS if rows * (rows - 1) <= ALL_PAIRS else max(LEAST_PAIRS, rows)

    @cached_property
    def _packed(self) -> PackedRows | None:
        """The rows packed, if that pays and their columns were profiled. Two statements. Raises as `agreeing`."""
        pays = FEW <= self._rows <= LARGE and can_be_packed(self._profiler, SCANS)
        return packed_rows(self._profiler, guarded=True) if pays else None

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        """The pairs that agree on each set. Raises Stopped, StatementError, AccessError."""
        return [
            AgreeingPairs(pairs, tuple(masks), pairs <= self.max_pairs and len(masks) <= self._max_masks)
            for pairs, masks in self._profiler.ask([self._statement(agree) for agree in sets])
        ]

    def _statement(self, agree: int) -> Statement[tuple[int, list[int]]]:
        profiler, most, masks = self._profiler, self.max_pairs, self._max_masks + 1
        dialect = profiler.engine.dialect
        if self._packed is not None:
            return agreeing_packed(dialect, self._packed, agree, profiler.known_rows or 0, most, masks)
        if self._hashed is None:
            self._hashed = self._separated_by_hash()
        return agreeing(dialect, profiler.source, profiler.names, agree, most, masks, self._hashed)

    def _separated_by_hash(self) -> frozenset[str]:
        """The columns of long values that have as many hashes as values. One statement if there are long values."""
        profiler = self._profiler
        dialect = profiler.engine.dialect
        places = [place for place, name in enumerate(profiler.names) if name in profiler.source.long]
        if not dialect.hashes_values or not places:
            return frozenset()
        values = profiler.profiles([1 << place for place in places])
        names = [profiler.names[place] for place in places]
        [(_, hashes)] = profiler.ask([distinct_hashes(dialect, profiler.source, [(name,) for name in names])])
        return frozenset(
            name for name, value, number in zip(names, values, hashes, strict=True) if value.classes == number
        )


# Witness rows of a table, by one statement to an engine. Only counts and bit masks leave the engine.


WITNESSES = 32  # their statement costs as much as 10 to 70 profiles; twice as many prove few more sets
ROWS_PER_CLASS = 2  # of all columns, at least: the statement compares classes, a profile reads rows
MASKS = 500_000


def rarest_rows(profiler: TableProfiler, k: int) -> Sequence[Mapping[int, int]]:
    """Rows of classes below k with rare values: for each {mask: rows that differ from it in exactly these columns}.

    None if the table has almost as many classes as rows, so that measuring a few sets is cheaper, or too many masks.
    One statement of one scan, and the profile of all columns. Counts rows, and NULL as a value. Raises Stopped,
    StatementError, AccessError.
    """
    whole = profiler.profile(profiler.everything)
    if not 0 < whole.smallest < k or whole.classes * ROWS_PER_CLASS > whole.rows:
        return []
    statement = witness_rows(profiler.engine.dialect, profiler.source, profiler.names, k, WITNESSES, MASKS)
    return profiler.ask([statement])[0]
