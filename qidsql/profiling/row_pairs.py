"""Pairs of rows of a table as evidence against keys, by statements to an engine. Only bit masks leave the engine."""

from collections.abc import Sequence

from qidsql.core.tables import Nulls
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.row_pairs import AgreeingPairs
from qidsql.sql.classes import distinct_hashes
from qidsql.sql.row_pairs import agreeing

MAX_MASKS = 100_000
ALL_PAIRS = 1_000_000  # ordered pairs; if a table has no more, one statement fetches all masks
LEAST_PAIRS = 200_000  # joining so many costs about as much as the rest of a statement on a small table
LARGE = 1_000_000  # rows
PAIRS_PER_ROW = 8  # on a large table; on a small one statements are cheap


class PairsThatAgree:
    """The difference masks of the rows that a profiler profiles, on its budget. Read only, without temporary tables.

    One statement per column set, of one or two scans; several sets are queried in parallel. Raises ValueError for a
    profiler that counts entities, as two rows of one entity are no evidence, and for one to which a NULL matches
    anything, as rows that match a third need not match each other.
    """

    def __init__(self, profiler: TableProfiler, max_pairs: int | None = None, max_masks: int = MAX_MASKS) -> None:
        if profiler.entity is not None:
            raise ValueError("difference masks compare rows, not entities; search the borders instead")
        if profiler.nulls is Nulls.WILDCARD:
            raise ValueError("difference masks treat NULL as a value; search the borders instead")
        self._profiler = profiler
        rows = profiler.rows or 0
        usual = ALL_PAIRS if rows * (rows - 1) <= ALL_PAIRS else max(LEAST_PAIRS, rows)
        usual = PAIRS_PER_ROW * rows if rows > LARGE else usual
        self.max_pairs = usual if max_pairs is None else max_pairs
        self._max_masks = max_masks
        self._hashed: frozenset[str] | None = None if rows > LARGE else frozenset()

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        """The pairs that agree on each set. Raises Stopped, StatementError, AccessError."""
        profiler = self._profiler
        if self._hashed is None:
            self._hashed = self._separated_by_hash()
        statements = [
            agreeing(
                profiler.engine.dialect,
                profiler.source,
                profiler.names,
                agree,
                self.max_pairs,
                self._max_masks + 1,
                self._hashed,
            )
            for agree in sets
        ]
        return [
            AgreeingPairs(pairs, tuple(masks), pairs <= self.max_pairs and len(masks) <= self._max_masks)
            for pairs, masks in profiler.ask(statements)
        ]

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
