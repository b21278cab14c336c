"""Samples of the audited table as profilers, on the budget of the table's own profiler."""

import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from qidsql.core.tables import Column, Nulls, Table, positions
from qidsql.errors import UsageError
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.sampled import PairSample
from qidsql.sql.relation import ALIAS, Relation, sample, table_node
from qidsql.sql.row_codes import coded_copy, row_patterns
from qidsql.sql.row_pairs import pair_masks
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import plural, seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# A sample of rows, drawn once: its codes are in memory, and column sets are profiled there.


KEPT_NUMBERS = 8_000_000  # class numbers of column sets, or flags of pairs, that are kept, in all


class CodedSample:
    """Column sets in, profiles of the sample out: one statement and one scan at the first, none after it.

    Each distinct row of the sample leaves the engine as codes, not values; codes of few values can be decoded. `sample`
    profiles the same rows by statements. If a NULL matches anything, all pairs of distinct rows are compared.
    """

    def __init__(self, sample: TableProfiler) -> None:
        self.columns = sample.columns
        self._sample, self._wildcard = sample, sample.nulls is Nulls.WILDCARD
        self._codes: list[NDArray[np.int64]] = []
        self._sizes: NDArray[np.int64] | None = None
        self._kept: OrderedDict[int, NDArray[Any]] = OrderedDict()

    @property
    def rows(self) -> int:
        """The rows drawn so far."""
        return 0 if self._sizes is None else int(self._sizes.sum())

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """In the order of the sets. Raises Stopped, StatementError, AccessError."""
        if self._sizes is None:
            self._draw()
        self._sample.check_time()
        return [self._profile(mask) for mask in masks]

    def _draw(self) -> None:
        import numpy as np

        sample = self._sample
        query = row_patterns(sample.engine.dialect, sample.source, sample.names)

        def read(rows: list[Row]) -> list[list[int]]:
            return [[integer(cell) for cell in row[:-1]] for row in rows]  # without the key of the shuffle

        [rows] = sample.ask([Statement(query, f"sample over {len(sample.names)} columns", read)])
        self._sizes, *self._codes = np.array(rows, dtype=np.int64).reshape(-1, self.columns + 1).T.copy()

    def _profile(self, mask: int) -> ClassProfile:
        import numpy as np

        assert self._sizes is not None
        if self._wildcard:
            return self._of_matches(self._agreement(mask) @ self._sizes)
        rows = np.bincount(self._agreement(mask), weights=self._sizes).astype(np.int64)
        sizes, numbers = np.unique(rows[rows > 0], return_counts=True)  # not every code is in the sample
        return ClassProfile.of_sizes(Counter(dict(zip(sizes.tolist(), numbers.tolist(), strict=True))), self._sample.k)

    def _of_matches(self, matching: "NDArray[np.int64]") -> ClassProfile:
        """The profile, from the number of rows that match each distinct row, itself included."""
        sizes, k = self._sizes, self._sample.k
        assert sizes is not None
        return ClassProfile(
            rows=int(sizes.sum()),
            classes=0,
            smallest=min(matching.tolist(), default=0),
            largest=max(matching.tolist(), default=0),
            k=k,
            classes_below_k=0,
            rows_below_k=int(sizes[matching < k].sum()),
            unique_rows=int(sizes[matching == 1].sum()),
            colliding_pairs=int(sizes @ (matching - 1)),
            wildcard=True,
        )

    def _agreement(self, mask: int) -> "NDArray[Any]":
        """The number of each distinct row's class; if a NULL matches anything, a line of flags of those that match it.

        Searches extend sets by a column, so what was found for the last sets is kept.
        """
        if mask in self._kept:
            self._kept.move_to_end(mask)
            return self._kept[mask]
        places = list(positions(mask))
        known = next((place for place in places if mask & ~(1 << place) in self._kept), None)
        last = places[-1] if known is None else known
        rest = mask & ~(1 << last)
        extended = self._matching if self._wildcard else self._numbered
        found = extended(self._agreement(rest) if rest else None, self._codes[last])
        self._kept[mask] = found
        while len(self._kept) > 2 and len(self._kept) * found.size > KEPT_NUMBERS:
            self._kept.popitem(last=False)
        return found

    @staticmethod
    def _numbered(classes: "NDArray[np.int64] | None", codes: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """The numbers of the classes after one more column."""
        import numpy as np

        if classes is None:
            return codes
        numbers = classes * (int(codes.max(initial=0)) + 1) + codes
        found: NDArray[np.int64] = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        return found

    @staticmethod
    def _matching(flags: "NDArray[np.bool_] | None", codes: "NDArray[np.int64]") -> "NDArray[np.bool_]":
        """The rows that match each row after one more column; code 0 is NULL."""
        same: NDArray[np.bool_] = (codes[:, None] == codes) | (codes[:, None] == 0) | (codes == 0)
        return same if flags is None else flags & same


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


# A coded copy of the audited columns in the engine's own temporary space: a relation like any other.


def coded(profiler: TableProfiler) -> tuple[TableProfiler, str]:
    """A profiler of the same rows and columns, on the same budget, over a coded copy; and a note on its cost.

    A code represents one value of its column, a NULL stays NULL: profiles, difference masks and wildcards are the
    same, and cheaper if values are long. One statement, one scan. Raises as `Engine.make_working_copy`.
    """
    engine, started = profiler.engine, time.monotonic()
    names = (*profiler.names, *((profiler.entity,) if profiler.entity else ()))
    query = coded_copy(profiler.engine.dialect, profiler.source, names)
    profiler.check_time()
    table, size = engine.make_working_copy(query, f"coded copy of {plural(len(names), 'column')}", profiler.deadline)
    spent = seconds(time.monotonic() - started)
    note = f"workspace: {plural(len(names), 'column')} coded, {size / 1e6:,.1f} MB, {spent}; gone when this ends"
    copy = Relation(exp.alias_(table_node(table), ALIAS, table=True))
    return profiler.over(copy, profiler.rows), note
