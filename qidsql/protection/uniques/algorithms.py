"""Minimal unsafe combinations by their definition: the rows that agree with each record, counted anew on each set.

It checks what a search found, and shares nothing with the searches: none of what one set shows is used for another.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions
from qidsql.protection.row_patterns import Records
from qidsql.protection.uniques import column_lattice
from qidsql.protection.uniques.column_lattice import Agreement

MOST_SETS_COUNTED = 1 << 18
MOST_SETS_TIMES_RECORDS = 1_000_000_000  # column sets times records: about half a minute, and an eighth of it in bytes
KEPT_CLASSES = 8  # column sets whose classes stay in memory, or one a size: a set comes soon after its parts


class UniquesByDefinition:
    """The combinations of so many columns at most that fewer than k rows share, while k rows share each part of them.

    With `wildcard` a NULL agrees with everything.
    """

    def __init__(self, records: Records, k: int, largest: int, wildcard: bool) -> None:
        self._records, self._k, self._largest = records, k, min(largest, records.columns)
        self._everyone = np.arange(records.count)
        self._nulls = np.zeros(records.count, dtype=np.int64)
        for place, codes in enumerate(records.codes if wildcard else ()):
            self._nulls |= (codes == 0).astype(np.int64) << place
        self._unsafe: dict[int, NDArray[np.uint8]] = {}
        self._classes = lru_cache(max(KEPT_CLASSES, self._largest + 2))(self._classes_of)

    @property
    def sets(self) -> int:
        """The number of column sets."""
        return sum(comb(self._records.columns, size) for size in range(self._largest + 1))

    @property
    def countable(self) -> bool:
        """Whether all column sets can be counted in a minute or so."""
        return self.sets <= MOST_SETS_COUNTED and self.sets * self._records.count <= MOST_SETS_TIMES_RECORDS

    def __iter__(self) -> Iterator[tuple[NDArray[np.intp], int]]:
        """The records that have such a combination on a column set, set by set."""
        places = range(self._records.columns)
        sizes = range(self._largest + 1)
        for mask in sorted(
            sum(1 << each for each in chosen) for size in sizes for chosen in combinations(places, size)
        ):
            yield np.flatnonzero(self.minimal(mask)), mask

    def minimal(self, mask: int) -> NDArray[np.bool_]:
        """Whether each record has such a combination on these columns."""
        found = self._unsafe_on(mask)
        for place in positions(mask):
            found &= ~self._unsafe_on(mask ^ 1 << place)
        return found

    def _unsafe_on(self, mask: int) -> NDArray[np.bool_]:
        """Whether fewer than k rows agree with each record on these columns."""
        known = self._unsafe.get(mask)
        if known is None:
            known = self._unsafe[mask] = np.packbits(self._agreeing(mask) < self._k)
        return np.unpackbits(known, count=self._records.count).astype(bool)

    def _agreeing(self, mask: int) -> NDArray[np.int64]:
        """The rows that agree with each record on these columns: those of each kind of rows by the columns in which
        they are NULL agree on what both show."""
        found = np.zeros(self._records.count, dtype=np.int64)
        hidden = self._nulls & mask
        kinds = np.unique(hidden).tolist()
        for own in kinds:
            asked = hidden == own
            for other in kinds:
                classes = self._classes(mask & ~(own | other))
                sizes = np.where(hidden == other, self._records.sizes, 0)
                rows = np.bincount(classes, weights=sizes).astype(np.int64)  # exact below 2^53 rows
                found[asked] += rows[classes[asked]]
        return found

    def _classes_of(self, mask: int) -> NDArray[np.int64]:
        """The number of each record's class on these columns."""
        if not mask:
            return np.zeros(self._records.count, dtype=np.int64)
        first = mask & -mask
        return self._records.refined(self._everyone, self._classes(mask ^ first), first.bit_length() - 1)


# All minimal unsafe combinations, record by record: the column sets that a record shares with others.
#
# A record is safe on a column set if k rows, its own included, agree on it: if enough pairs agree on at least these
# columns. The agreement masks of a record, closed under subsets, are its safe sets; the minimal sets outside of them
# are its minimal unsafe combinations. All on masks, in blocks of records: records^2 masks, and records * 2^columns
# bits.


MOST_BITS = 24  # 2^24 bits are two megabytes per record, and as many counts 130 megabytes
FLAGS = 1 << 21  # bytes of flags per step, so that the words of a step stay in the processor's cache
CLOCK_TICK = 0.2  # seconds between checks of the clock
Found = tuple[NDArray[np.intp], NDArray[np.intp]]  # records, and the mask of a column set for each


class UniquesByPairs:
    """Iterates over blocks of records and their minimal unsafe sets; `searched` counts the rows done so far.

    Exact for every k and with `wildcard`. At most MOST_BITS columns, no sets of more than `max_size`. `check` is
    called several times a second and may raise to end the search.

    [Wilson, section 2, step 2, for each record on its own; Manning, Haglin & Keane 2008 for the name minimal sample
    unique]
    """

    method = "pairs"

    def __init__(
        self,
        records: Records,
        k: int,
        wildcard: bool = False,
        max_size: int | None = None,
        check: Callable[[], object] = lambda: None,
        workers: int = 0,
    ) -> None:
        assert records.columns <= MOST_BITS
        self.searched = 0
        self._records, self._k, self._check = records, k, check
        self._small = None if max_size is None else column_lattice.sets_up_to(max_size, records.columns)
        self._todo = np.flatnonzero(records.sizes < k)  # k equal rows are safe on every set
        self._agreement = Agreement(records, wildcard)
        self._workers = workers or min(4, os.cpu_count() or 1)
        self._width = 1 << max(records.columns, column_lattice.WORD_COLUMNS)
        self._step = max(1, min(256, FLAGS // self._width))
        self._own = threading.local()

    def __iter__(self) -> Iterator[Found]:
        size = self._step * max(1, 64 // self._step)
        blocks = deque(self._todo[start : start + size] for start in range(0, len(self._todo), size))
        running: deque[tuple[NDArray[np.intp], Future[Found]]] = deque()
        with ThreadPoolExecutor(self._workers, thread_name_prefix="qidsql-uniques") as pool:
            try:
                while blocks or running:
                    while blocks and len(running) < 2 * self._workers:
                        running.append((blocks[0], pool.submit(self._block, blocks.popleft())))
                    block, future = running.popleft()
                    found = self._answer(future)
                    self.searched += int(self._records.sizes[block].sum())
                    yield found
            finally:
                pool.shutdown(cancel_futures=True)
        self.searched = self._records.rows

    def _answer(self, future: Future[Found]) -> Found:
        while True:
            self._check()
            try:
                return future.result(timeout=CLOCK_TICK)
            except TimeoutError:
                continue

    def _block(self, block: NDArray[np.intp]) -> Found:
        """The minimal unsafe sets of some records. Runs in a worker thread; numpy releases the interpreter's lock."""
        parts = [self._minimal(block[start : start + self._step]) for start in range(0, len(block), self._step)]
        return np.concatenate([records for records, _ in parts]), np.concatenate([masks for _, masks in parts])

    def _minimal(self, block: NDArray[np.intp]) -> Found:
        columns = self._records.columns
        if self._k == 2:
            safe = column_lattice.lattice_of(self._shared(block))
            column_lattice.close_downwards(safe, columns)
        else:
            safe = column_lattice.lattice_of(self._often_shared(block))
        unsafe = column_lattice.minimal_outside(safe, columns)
        if self._small is not None:
            unsafe &= self._small
        lines, masks = column_lattice.members(unsafe)
        return block[lines], masks

    def _shared(self, block: NDArray[np.intp]) -> NDArray[np.uint8]:
        """For each record the masks on which it agrees with another one, as flags."""
        flags = self._scratch("flags", (self._step, self._width), np.uint8)[: len(block)]
        masks = self._scratch("masks", (self._records.count,), np.int32)
        flags.fill(0)
        for line, record in enumerate(block):
            self._agreement.masks(record, masks)
            masks[record] = 0  # any other record agrees on no column at least
            flags[line][masks] = 1
        return flags

    def _often_shared(self, block: NDArray[np.intp]) -> NDArray[np.uint8]:
        """For each record a flag for every column set that at least k rows share with it."""
        k, width = self._k, 1 << self._records.columns
        kind = np.uint8 if k < 1 << 7 else np.uint16 if k < 1 << 15 else np.uint64
        flags = self._scratch("flags", (self._step, self._width), np.uint8)[: len(block)]
        counts = self._scratch("counts", (self._step, width), kind)[: len(block)]
        masks = self._scratch("masks", (self._records.count,), np.int32)
        rows = self._scratch("rows", (width,), np.int64)
        for line, record in enumerate(block):
            self._agreement.masks(record, masks)
            rows.fill(0)
            np.add.at(rows, masks, self._records.sizes)
            counts[line] = np.minimum(rows, k)
        column_lattice.add_supersets(counts, self._records.columns, k)
        flags[:, :width] = counts >= k
        return flags

    def _scratch(self, name: str, shape: tuple[int, ...], kind: type) -> NDArray[Any]:
        """Memory of the thread, reused from block to block, zero at first."""
        if not hasattr(self._own, name):
            setattr(self._own, name, np.zeros(shape, dtype=kind))
        found: NDArray[Any] = getattr(self._own, name)
        return found


# All minimal unsafe combinations, column set by column set, the small sets first.
#
# A class of fewer than k rows on a set is removed from the search of every superset. It is removed as a whole, so the
# remaining classes are counted correctly from the remaining rows (stripped partitions), and a class found too small is
# minimal.


KEPT_BYTES = 10_000_000  # of partitions kept for the next size, others are recomputed: 1M rows take 486 MB, not 881


@dataclass(slots=True)
class _Partition:
    """The records that are safe on a set, as bits; and, if kept, these records with the class of each."""

    live: NDArray[np.uint8]
    count: int
    records: NDArray[np.int32] | None = None
    classes: NDArray[np.int32] | None = None


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
        whole.records, whole.classes = everyone, np.zeros(len(everyone), dtype=np.int32)
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
            records, classes = partition.records[chosen], partition.classes[chosen].astype(np.int64)
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
        if keep and self._kept < KEPT_BYTES and left.count:
            safe = ~unsafe
            left.records, left.classes = records[safe], classes[safe].astype(np.int32)
            self._kept += 8 * left.count
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
