"""The optimal suppression of records that are compared with all others: around few differences, else on all sets."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records
from qidsql.protection.suppression.by_counts import SuppressionByCounts
from qidsql.protection.suppression.by_supersets import LIGHT, SuppressionBySupersets
from qidsql.protection.uniques.agreement import Agreement

COUNTED_COLUMNS = 22  # counts on all sets of so many columns are 4 megabytes a record
COUNTED = 50  # counts that are summed while one set around a difference is listed
AT_ONCE, PAIRS = 1 << 9, 1 << 22  # records, and pairs of records, compared at once

Solved = tuple[NDArray[np.intp], NDArray[np.int64]]  # records, and the column set that each must lose


class SuppressionByComparison:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights and with `wildcard`, at most 32 columns. Of more than COUNTED_COLUMNS, records far from k
    others are left. Work for a record: columns * records byte operations, and that of the two ways. `check` is called
    several times a second and may raise to end it.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        wildcard: bool = False,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._records, self._check = records, check
        self._agreement = Agreement(records, wildcard)
        most, columns = LIGHT, len(weights)
        self._by_counts = None
        if columns <= COUNTED_COLUMNS:
            most = min(most, (columns << columns) // COUNTED)
            self._by_counts = SuppressionByCounts(records.sizes, k, weights, check)
        self._by_supersets = SuppressionBySupersets(records.sizes, k, weights, most, check)

    def of(self, todo: NDArray[np.intp]) -> Iterator[Solved]:
        """Solve these records, block by block."""
        number = max(8, min(AT_ONCE, PAIRS // self._records.count))
        for start in range(0, len(todo), number):
            some = todo[start : start + number]
            differences = self._differences(some)
            found = self._by_supersets.of(differences)
            left = np.flatnonzero(found < 0)
            if self._by_counts and len(left):
                found[left] = self._by_counts.of(differences[left])
            yield some[found >= 0], found[found >= 0]

    def _differences(self, some: NDArray[np.intp]) -> NDArray[np.uint32]:
        found = np.zeros((len(some), self._records.count), dtype=np.uint32)
        every = np.uint32((1 << self._records.columns) - 1)
        for record, line in zip(some, found, strict=True):
            self._agreement.masks(record, line.view(np.int32))
            np.bitwise_xor(line, every, out=line)
            self._check()
        return found
