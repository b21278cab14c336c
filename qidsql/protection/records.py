"""Coded records: the input of cell-level protection. They contain no value and no name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DENSE = 8  # classes are counted in an array if it has at most so many places per record, else by sorting


@dataclass(frozen=True, slots=True)
class Records:
    """The distinct rows of a table: per column the code of each, 0 for NULL; and the number of rows of each.

    Memory: 1, 2 or 4 bytes a cell, as many as the column's largest code needs.
    """

    codes: tuple[NDArray[np.unsignedinteger], ...]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[Sequence[int]], sizes: Sequence[int]) -> "Records":
        """From codes column by column."""
        return cls(tuple(narrow(np.asarray(column)) for column in columns), np.asarray(sizes, dtype=np.int64))

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def columns(self) -> int:
        return len(self.codes)

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def has_null(self) -> bool:
        return any(bool((codes == 0).any()) for codes in self.codes)

    def refined(self, records: NDArray[np.integer], classes: NDArray[np.int64], column: int) -> NDArray[np.int64]:
        """The number of each record's class after one more column, from the numbers of `classes` before it.

        The numbers are small enough to count the classes in an array: at most about DENSE times the records.
        """
        codes = self.codes[column][records].astype(np.int64)
        end = int(codes.max(initial=0)) + 1
        numbers: NDArray[np.int64] = classes * end + codes
        if (int(classes.max(initial=0)) + 1) * end > DENSE * len(records) + 1024:
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        return numbers


def narrow(codes: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
    """The codes in the smallest sufficient type."""
    largest = int(codes.max(initial=0))
    kind = np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32
    return np.ascontiguousarray(codes, dtype=kind)
