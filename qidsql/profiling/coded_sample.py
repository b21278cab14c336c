"""A sample of rows, drawn once: its codes are in memory, and column sets are profiled there."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qidsql.core.tables import positions
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.row_codes import row_patterns
from qidsql.sql.statements import Row, Statement, integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT = 8_000_000  # class numbers of column sets that are kept, in all


class CodedSample:
    """Column sets in, profiles of the sample out: one statement and one scan at the first, none after it.

    Each distinct row of the sample leaves the engine as codes, not values; codes of few values can be decoded. `sample`
    profiles the same rows by statements; NULL is one more value.
    """

    def __init__(self, sample: TableProfiler) -> None:
        self.columns = sample.columns
        self._sample = sample
        self._codes: list[NDArray[np.int64]] = []
        self._sizes: NDArray[np.int64] | None = None
        self._kept: OrderedDict[int, NDArray[np.int64]] = OrderedDict()

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
        rows = np.bincount(self._classes(mask), weights=self._sizes).astype(np.int64)
        sizes, numbers = np.unique(rows[rows > 0], return_counts=True)  # not every code is in the sample
        return ClassProfile.of_sizes(Counter(dict(zip(sizes.tolist(), numbers.tolist(), strict=True))), self._sample.k)

    def _classes(self, mask: int) -> "NDArray[np.int64]":
        """The number of each row's class. Searches extend sets by a column, so those of the last sets are kept."""
        import numpy as np

        if mask in self._kept:
            self._kept.move_to_end(mask)
            return self._kept[mask]
        places = list(positions(mask))
        known = next((place for place in places if mask & ~(1 << place) in self._kept), None)
        last = places[-1] if known is None else known
        rest = mask & ~(1 << last)
        found = self._codes[last]
        if rest:
            found = self._classes(rest) * (int(found.max(initial=0)) + 1) + found
            found = np.unique(found, return_inverse=True)[1].reshape(-1)
        self._kept[mask] = found
        while len(self._kept) > 2 and len(self._kept) * len(found) > KEPT:
            self._kept.popitem(last=False)
        return found
