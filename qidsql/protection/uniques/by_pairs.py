"""All minimal unsafe combinations, record by record: the column sets that a record shares with others.

A record is safe on a column set if k rows, its own included, agree on it: if enough pairs agree on at least these
columns. The agreement masks of a record, closed under subsets, are its safe sets; the minimal sets outside of them are
its minimal unsafe combinations. All on masks, in blocks of records: records^2 masks, and records * 2^columns bits.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records
from qidsql.protection.uniques import column_lattice
from qidsql.protection.uniques.agreement import Agreement

MOST_COLUMNS = 22  # 2^22 bits are half a megabyte per record
FLAGS = 1 << 21  # bytes of flags per step, so that the words of a step stay in the processor's cache
TICK = 0.2  # seconds between checks of the clock
Found = tuple[NDArray[np.intp], NDArray[np.intp]]  # records, and the mask of a column set for each


class UniquesByPairs:
    """Iterates over blocks of records and their minimal unsafe sets; `searched` counts the rows done so far.

    Exact for every k and with `wildcard`. At most MOST_COLUMNS columns, no sets of more than `max_size`. `check` is
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
        assert records.columns <= MOST_COLUMNS
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
                return future.result(timeout=TICK)
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
