"""All minimal unsafe combinations, column set by column set, the small sets first.

A class of fewer than k rows on a set is removed from the search of every superset. It is removed as a whole, so the
remaining classes are counted correctly from the remaining rows (stripped partitions), and a class found too small is
minimal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records

KEPT = 200_000_000  # bytes of partitions kept for the next size; others are recomputed


@dataclass(slots=True)
class _Partition:
    """The records that are safe on a set, as bits; and, if kept, these records with the class of each."""

    live: NDArray[np.uint8]
    count: int
    records: NDArray[np.int32] | None = None
    classes: NDArray[np.int64] | None = None


class UniquesBySets:
    """Iterates over column sets and the records that are minimally unsafe on each, sizes ascending.

    `complete_to_size` is the size done so far. Any k, any number of columns; NULL is a value. At most `max_size`
    columns per set. `check` is called for every set and may raise to end the search.

    [Wilson, section 2, step 2 and his remark in 3.2 on combinations that need not be examined again]
    """

    method = "sets"

    def __init__(
        self,
        records: Records,
        k: int,
        max_size: int | None = None,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self.complete_to_size = 0
        self.sets = 0  # column sets whose classes were counted
        self._records, self._k, self._check = records, k, check
        self._max_size = min(max_size or records.columns, records.columns)
        self._plain = bool((records.sizes == 1).all())
        self._kept = 0

    def __iter__(self) -> Iterator[tuple[NDArray[np.intp], int]]:
        everyone = np.arange(self._records.count, dtype=np.int32)
        whole = _Partition(np.packbits(np.ones(len(everyone), dtype=bool)), len(everyone))
        whole.records, whole.classes = everyone, np.zeros(len(everyone), dtype=np.int64)
        below = {0: whole}
        for size in range(1, self._max_size + 1):
            level: dict[int, _Partition] = {}
            self._kept = 0
            for places in combinations(range(self._records.columns), size):
                self._check()
                subsets = [sum(1 << place for place in places if place != left) for left in places]
                if not all(subset in below for subset in subsets):
                    continue
                live = below[subsets[0]].live.copy()
                for subset in subsets[1:]:
                    live &= below[subset].live
                if not live.any():
                    continue
                found, partition = self._split(live, places, subsets, below, keep=size < self._max_size)
                if partition.count:
                    level[sum(1 << place for place in places)] = partition
                if len(found):
                    yield found, sum(1 << place for place in places)
            self.complete_to_size = size
            below = level
            if not below:
                self.complete_to_size = self._records.columns
                return

    def _split(
        self,
        live: NDArray[np.uint8],
        places: tuple[int, ...],
        subsets: list[int],
        below: dict[int, _Partition],
        keep: bool,
    ) -> tuple[NDArray[np.intp], _Partition]:
        """The records unsafe on the set, and the partition of the others."""
        self.sets += 1
        alive = np.unpackbits(live, count=self._records.count).view(bool)
        kept = [(below[subset].count, place) for subset, place in zip(subsets, range(len(places)), strict=True)
                if below[subset].records is not None]  # fmt: skip
        if kept:
            place = min(kept)[1]
            partition = below[subsets[place]]
            assert partition.records is not None and partition.classes is not None
            chosen = alive[partition.records]
            records, classes = partition.records[chosen], partition.classes[chosen]
            columns = [places[place]]
        else:
            records = np.flatnonzero(alive).astype(np.int32)
            classes, columns = np.zeros(len(records), dtype=np.int64), list(places)
        for column in columns:
            classes, counts = self._refined(records, classes, column)
        unsafe = (counts < self._k)[classes]
        found = records[unsafe]
        alive[found] = False
        left = _Partition(np.packbits(alive), len(records) - len(found))
        if keep and self._kept < KEPT and left.count:
            safe = ~unsafe
            left.records, left.classes = records[safe], classes[safe]
            self._kept += 12 * left.count
        return found, left

    def _refined(
        self, records: NDArray[np.int32], classes: NDArray[np.int64], column: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every record's class after one more column, and the rows of each class."""
        keys = self._records.refined(records, classes, column)
        return keys, self._counted(keys, records)

    def _counted(self, classes: NDArray[np.int64], records: NDArray[np.int32]) -> NDArray[np.int64]:
        if self._plain:
            return np.bincount(classes)
        return np.bincount(classes, weights=self._records.sizes[records]).astype(np.int64)  # exact below 2^53 rows
