"""The optimal suppression of records by counts on every column set: any k, few columns.

For records side by side, the rows that agree with each of them on exactly a column set are counted, and summed over all
supersets: the rows that agree on at least the set. A record keeps the heaviest set that k rows agree with it on.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records
from qidsql.protection.uniques.agreement import Agreement
from qidsql.records.dataclass import dataclass

COUNTS = 1 << 25  # bytes of counts at once
CACHED = 1 << 19  # ... that are summed together first, so that they stay in the processor's cache
LINE = 1 << 12  # counts that one minimum compares: with an array numpy is 20 times faster than with a number
AT_ONCE, PAIRS = 1 << 10, 1 << 23  # records, and pairs of records, compared before their counts are taken

Solved = tuple[NDArray[np.intp], NDArray[np.int64]]  # records, and the column set that each must lose


@dataclass(frozen=True, slots=True)
class _Near:
    """The records that can matter for one: in which columns they differ and how many rows they are.

    `least` is the weight of the differences within which k rows lie: no less can be lost.
    """

    least: int
    differences: NDArray[np.int32]
    sizes: NDArray[np.int64]


class SuppressionByCounts:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights and with `wildcard`. Work for a record: about 2^columns byte
    operations for each column, and columns * records. `check` is called several times a second and may raise to end it.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        wildcard: bool = False,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._records, self._k, self._check = records, k, check
        self._agreement = Agreement(records, wildcard)
        self._weights = np.zeros(1, dtype=np.int64)  # of every column set
        for weight in weights:
            self._weights = np.concatenate((self._weights, self._weights + weight))
        self._every = len(self._weights) - 1
        self._order = np.argsort(self._weights, kind="stable")
        self._ordered = self._weights[self._order]
        self._rows = np.zeros(len(self._weights), dtype=np.int64)
        kind = np.dtype(np.uint8 if k < 1 << 7 else np.uint16 if k < 1 << 15 else np.uint64)
        lanes = 8 // kind.itemsize * max(1, min(8, COUNTS // 8 // len(self._weights)))
        self._counts = np.zeros((len(self._weights), lanes), dtype=kind)

    def of(self, todo: NDArray[np.intp]) -> Iterator[Solved]:
        """Solve these records, block by block."""
        lanes = self._counts.shape[1]
        differences = np.zeros(self._records.count, dtype=np.int32)
        number = max(8, min(AT_ONCE, PAIRS // self._records.count))
        for start in range(0, len(todo), number):
            chunk = todo[start : start + number]
            near = []
            for record in chunk:
                differences.fill(0)
                self._agreement.masks(record, differences)
                near.append(self._near(differences ^ self._every))
                self._check()
            near_first = np.argsort([each.least for each in near], kind="stable")
            found = np.empty(len(chunk), dtype=np.int64)
            for first in range(0, len(chunk), lanes):
                lines = near_first[first : first + lanes]  # which end at similar weights
                found[lines] = self._lightest([near[line] for line in lines])
                self._check()
            yield chunk, found

    def _near(self, differences: NDArray[np.int32]) -> _Near:
        """The records within the union of the differences to the nearest k rows: only they matter."""
        weights, sizes = self._weights[differences], self._records.sizes
        nearest = np.arange(len(weights))
        if self._k < len(weights):
            nearest = np.argpartition(weights, self._k - 1)[: self._k]
        nearest = nearest[np.argsort(weights[nearest], kind="stable")]
        nearest = nearest[: int(np.searchsorted(np.cumsum(sizes[nearest]), self._k)) + 1]
        enough = self._weights[np.bitwise_or.reduce(differences[nearest])]
        inside = np.flatnonzero(weights <= enough)
        return _Near(int(weights[nearest[-1]]), differences[inside], sizes[inside])

    def _lightest(self, near: Sequence[_Near]) -> NDArray[np.int64]:
        """What records must lose, side by side; the first of them has the least bound."""
        self._counts.fill(0)
        for lane, each in enumerate(near):
            np.add.at(self._rows, each.differences, each.sizes)
            self._counts[each.differences, lane] = np.minimum(self._rows[each.differences], self._k)
            self._rows[each.differences] = 0
        add_subsets(self._counts, self._k)
        found = np.full(len(near), -1, dtype=np.int64)
        at = int(np.searchsorted(self._ordered, near[0].least))
        while (found < 0).any():
            end = int(np.searchsorted(self._ordered, self._ordered[at], side="right"))
            level = self._counts.take(self._order[at:end], axis=0)
            enough = level.max(axis=0)[: len(found)] >= self._k
            for lane in np.flatnonzero(enough & (found < 0)).tolist():
                found[lane] = self._order[at + int((level[:, lane] >= self._k).argmax())]
            at = end
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
    lines = counts.reshape(-1, min(counts.size, LINE)) if counts.flags.c_contiguous else counts
    highest = np.full(lines.shape[1], most, dtype=counts.dtype)
    doublings = (int(np.iinfo(counts.dtype).max) // most).bit_length() - 1
    columns = len(counts).bit_length() - 1
    for column in range(columns):
        pairs = words.reshape(-1, 2, 1 << column, words.shape[1])
        np.add(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        if (column + 1) % doublings == 0 or column + 1 == columns:
            np.minimum(lines, highest, out=lines)
