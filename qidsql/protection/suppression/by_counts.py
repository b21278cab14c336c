"""The optimal suppression of records by counts on every column set: any k, few columns.

For records side by side, the rows that differ from each of them in exactly a column set are counted, and summed over
all subsets: the rows that agree on the rest. A record loses the lightest set whose count is k.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

COUNTS = 1 << 25  # bytes of counts at once
CACHED = 1 << 19  # ... that are summed together first, so that they stay in the processor's cache
LINE = 1 << 12  # counts that one minimum compares: with an array numpy is 20 times faster than with a number


class SuppressionByCounts:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights. Work for a record: about 2^columns byte operations for each column. `check` is called
    several times a second and may raise to end it.
    """

    def __init__(self, sizes: NDArray[np.int64], k: int, weights: Sequence[int], check: Callable[[], object]) -> None:
        self._sizes, self._k, self._check = sizes, k, check
        every = np.zeros(1, dtype=np.int64)  # weights of all column sets
        for weight in weights:
            every = np.concatenate((every, every + weight))
        self._order = np.argsort(every, kind="stable")
        self._rows = np.zeros(len(every), dtype=np.int64)
        self._kind: np.dtype[np.unsignedinteger] = np.dtype(
            np.uint8 if k < 1 << 7 else np.uint16 if k < 1 << 15 else np.uint64
        )

    def of(self, differences: NDArray[np.uint32]) -> NDArray[np.int64]:
        """What each record must lose, from a line of its differences to all records."""
        found = np.empty(len(differences), dtype=np.int64)
        word = 8 // self._kind.itemsize
        lanes = word * max(1, min(8, COUNTS // 8 // len(self._order)))
        for first in range(0, len(found), lanes):
            self._check()
            some = differences[first : first + lanes]
            counts = np.zeros((len(self._order), -(-len(some) // word) * word), dtype=self._kind)
            for lane, each in enumerate(some):
                np.add.at(self._rows, each, self._sizes)
                counts[each, lane] = np.minimum(self._rows[each], self._k)
                self._rows[each] = 0
            add_subsets(counts, self._k)
            found[first : first + lanes] = self._lightest(counts, len(some))
        return found

    def _lightest(self, counts: NDArray[np.unsignedinteger], lanes: int) -> NDArray[np.int64]:
        """The first set in each lane with a count of k."""
        found = np.full(lanes, -1, dtype=np.int64)
        for first in range(0, len(self._order), LINE):
            some = self._order[first : first + LINE]
            enough = counts.take(some, axis=0) >= self._k
            for lane in np.flatnonzero(enough[:, :lanes].any(axis=0) & (found < 0)).tolist():
                found[lane] = some[enough[:, lane].argmax()]
            if (found >= 0).all():
                break
        return found


def add_subsets(counts: NDArray[np.unsignedinteger], most: int) -> None:
    """Turn counts by column set, a line for each set, into counts of the set and all its subsets, in place.

    Counts above `most` may be lowered to any number from there on. Their type must have room for 2 * most, and their
    lines must be whole words of 8 bytes. In two passes over memory: the first columns, and then the others.
    """
    sets, lanes = counts.shape
    inner = min(sets, 1 << max(0, (CACHED // counts[0].nbytes).bit_length() - 1))
    for start in range(0, sets, inner):
        _add(counts[start : start + inner], most)
    outer = counts.reshape(sets // inner, inner * lanes)
    step = max(lanes, inner * lanes * inner // sets)
    for start in range(0, inner * lanes, step):
        _add(outer[:, start : start + step], most)


def _add(counts: NDArray[np.unsignedinteger], most: int) -> None:
    """The same for lines that need not be next to each other."""
    words = counts.view(np.uint64)
    sets, lanes = counts.shape
    joined = min(sets, 1 << max(0, (LINE // lanes).bit_length() - 1))  # a power of two, as `sets` is: it divides them
    lines = counts.reshape(-1, joined * lanes) if counts.flags.c_contiguous else counts
    highest = np.full(lines.shape[1], most, dtype=counts.dtype)
    doublings = (int(np.iinfo(counts.dtype).max) // most).bit_length() - 1
    columns = sets.bit_length() - 1
    for column in range(columns):
        pairs = words.reshape(-1, 2, 1 << column, words.shape[1])
        np.add(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        if (column + 1) % doublings == 0 or column + 1 == columns:
            np.minimum(lines, highest, out=lines)
