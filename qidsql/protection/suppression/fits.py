"""Which cells rows must lose so that they fit other people: weights of differences, for all pairs, in blocks."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records

BYTES = 1 << 22  # of the weights in a block


class Fits:
    """What it costs that a row fits a person: the weight of the row's visible cells that are no values of the person.

    A row is one of the records, a person too, and a NULL of a row shows nothing. Work for all pairs: about
    rows * records * columns byte operations. `check` is called for each block and may raise to end it.
    """

    def __init__(self, records: Records, weights: Sequence[int], check: Callable[[], object] = lambda: None) -> None:
        self.records, self.weights, self._check = records, tuple(weights), check
        self.never = 2 * sum(weights) + 1  # the weight of a pair that may not be used
        self._kind = np.min_scalar_type(self.never)
        self._codes = np.stack(records.codes, axis=1)
        self._weights = np.array(weights, dtype=np.int64)

    def shown(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """A line of flags for each row: the columns that are not NULL in it."""
        found: NDArray[np.bool_] = self._codes[rows] != 0
        return found

    def differences(self, rows: NDArray[np.intp], people: NDArray[np.intp]) -> NDArray[np.bool_]:
        """A line of flags for each pair of a row and a person: the columns that the row must lose to fit the person."""
        found: NDArray[np.bool_] = self.shown(rows) & (self._codes[rows] != self._codes[people])
        return found

    def weigh(self, lost: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The weight of each line of flags."""
        found: NDArray[np.int64] = lost @ self._weights
        return found

    def blocks(
        self, rows: NDArray[np.intp], visible: NDArray[np.bool_]
    ) -> Iterator[tuple[slice, NDArray[np.unsignedinteger]]]:
        """For blocks of the rows, which show these columns only: the weight that each must lose to fit each person."""
        step = max(1, BYTES // (self.records.count * self._kind.itemsize))
        for start in range(0, len(rows), step):
            self._check()
            block = slice(start, min(start + step, len(rows)))
            found = np.zeros((block.stop - start, self.records.count), dtype=self._kind)
            for column, codes in enumerate(self.records.codes):
                differs = codes[rows[block], None] != codes
                shows = visible[block, column]
                if not shows.all():
                    differs &= shows[:, None]
                weight = self.weights[column]
                found += differs.view(np.uint8) if weight == 1 else differs * self._kind.type(weight)
            yield block, found
