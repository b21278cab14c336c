"""Samples of the audited table as profilers, on the budget of the table's own profiler."""

from collections.abc import Sequence

from qidsql.core.tables import Column, Nulls, Table
from qidsql.errors import UsageError
from qidsql.measures.profiles import Profiler
from qidsql.profiling.coded_sample import CodedSample
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.pair_sample import PairSample
from qidsql.sql.relation import Relation
from qidsql.sql.row_pairs import pair_masks
from qidsql.sql.sample import sample

CODED_CELLS = 4_000_000  # a sample has as many at most in memory
MATCHED_ROWS = 2_000  # and so many rows, if all pairs of them are compared since a NULL matches anything


class TableSampler:
    """Draws samples of the rows that a profiler profiles. All samples of one sampler share one seed.

    `columns` are the profiler's columns as the table describes them.
    """

    def __init__(
        self,
        profiler: TableProfiler,
        table: Table,
        columns: Sequence[Column],
        seed: int = 0,
    ) -> None:
        if profiler.entity is not None:
            raise UsageError("a sample of rows does not measure entities; omit --entity, or search exactly")
        self.seed = seed
        self._profiler, self._table, self._columns = profiler, table, tuple(columns)
        self._rows: int | None = None
        self._drawn: list[CodedSample] = []

    def rows(self) -> int:
        """Rows of the whole table. One statement, unless a profile is known. Raises as `TableProfiler.profiles`."""
        if self._rows is None:
            known = self._profiler.known_rows
            self._rows = self._profiler.counts()[0] if known is None else known
        return self._rows

    def of_rows(self, size: int) -> Profiler:
        """A profiler over `size` rows drawn without replacement. A smaller sample is part of a larger one.

        Over the whole table if it has no more rows. Sends no statement until it is used. The sample is drawn once and
        profiled by its codes in memory; if it has too many cells for that (or rows, if a NULL matches anything), each
        profile draws it again.
        """
        if size >= self.rows():
            return self._profiler
        sample = self._profiler.over(self._sample(size), size)
        if size * sample.columns > CODED_CELLS or (sample.nulls is Nulls.WILDCARD and size > MATCHED_ROWS):
            return sample
        self._drawn.append(CodedSample(sample))
        return self._drawn[-1]

    @property
    def coded(self) -> int:
        """How many rows have left the engine as codes."""
        return sum(sample.rows for sample in self._drawn)

    def of_pairs(self, size: int) -> Profiler:
        """A profiler over `size` independent random pairs of rows: one statement now, none when it is used."""
        rows = self.rows()
        if rows < 2:
            return PairSample({}, self._profiler.columns)
        profiler, source = self._profiler, self._sample(min(rows, 2 * size))
        statement = pair_masks(profiler.engine.dialect, source, profiler.names, rows, size, self.seed, profiler.nulls)
        [masks] = profiler.ask([statement])
        return PairSample(masks, profiler.columns)

    def _sample(self, size: int) -> Relation:
        dialect = self._profiler.engine.dialect
        return sample(dialect, self._table, self._columns, size, self.seed)
