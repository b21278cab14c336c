"""Pairs of rows of a table as witnesses against keys, by statements to an engine. Only bit masks leave the engine."""

from collections.abc import Sequence

from qidsql.profiler import TableProfiler
from qidsql.schema import Nulls
from qidsql.search.witness import Agreeing
from qidsql.sql.difference import agreeing

MAX_MASKS = 100_000
ALL_PAIRS = 1_000_000  # ordered pairs; where a table has no more, one statement tells everything
LEAST_PAIRS = 200_000  # joining so many costs about as much as the rest of a statement on a small table


class DifferenceMasks:
    """The difference masks of the rows that a profiler profiles, on its budget. Read only, without temporary tables.

    One statement per column set asked, one or two scans each; several sets are asked in parallel. Raises ValueError
    for a profiler that counts entities, as two rows of one entity are no witness, and for one to which a NULL matches
    anything, as rows that match a third need not match each other.
    """

    def __init__(self, profiler: TableProfiler, max_pairs: int | None = None, max_masks: int = MAX_MASKS) -> None:
        if profiler.entity is not None:
            raise ValueError("difference masks compare rows, not entities; search the borders instead")
        if profiler.nulls is Nulls.WILDCARD:
            raise ValueError("difference masks take NULL for a value; search the borders instead")
        self._profiler = profiler
        rows = profiler.rows or 0
        usual = ALL_PAIRS if rows * (rows - 1) <= ALL_PAIRS else max(LEAST_PAIRS, rows)
        self.max_pairs = usual if max_pairs is None else max_pairs
        self._max_masks = max_masks

    def agreeing(self, sets: Sequence[int]) -> list[Agreeing]:
        """What is known of the pairs that agree on each set. Raises Stopped, StatementError, AccessError."""
        profiler = self._profiler
        statements = [
            agreeing(
                profiler.engine.dialect, profiler.source, profiler.names, agree, self.max_pairs, self._max_masks + 1
            )
            for agree in sets
        ]
        return [
            Agreeing(pairs, tuple(masks), pairs <= self.max_pairs and len(masks) <= self._max_masks)
            for pairs, masks in profiler.ask(statements)
        ]
