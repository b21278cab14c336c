"""Rows as units that an anonymization places one by one."""

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.anonymization.groups import Groups


class Units:
    """The rows of the records as units that move alone, in the order of their records.

    Of a record of 2 k rows or more, all but k rows are one unit, which stays in the group that keeps everything.
    """

    def __init__(self, groups: Groups) -> None:
        sizes, k = groups.records.sizes, groups.k
        large = sizes >= 2 * k
        number = np.where(large, k + 1, sizes)
        self.records = np.repeat(np.arange(len(sizes)), number)
        self.first = np.concatenate(([0], np.cumsum(number)))
        self.sizes = np.ones(len(self.records), dtype=np.int64)
        self.sizes[self.first[1:][large] - 1] = sizes[large] - k

    def of(self, records: NDArray[np.integer]) -> NDArray[np.intp]:
        """The units of these records, record after record."""
        numbers = self.first[records + 1] - self.first[records]
        shift = self.first[records] - np.concatenate(([0], np.cumsum(numbers)[:-1]))
        found: NDArray[np.intp] = np.arange(numbers.sum()) + np.repeat(shift, numbers)
        return found

    def unplaced(self, groups: Groups) -> NDArray[np.int64]:
        """No group (-1) for each unit, but for the units of several rows the one that keeps everything."""
        whole = groups.first[0] + groups.numbers[0, self.records]
        return np.where(self.sizes > 1, whole, -1)
