"""The columns on which one record agrees with each of the others: a mask for every pair, one record at a time."""

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records

MEMORY = 64_000_000  # bytes for the values whose rows are stored as a line of flags
RARE = 200  # a value of fewer than 1 in so many records is stored as a list of records
MOST_COLUMNS = 32


class Agreement:
    """The agreement masks of records, at most 32 columns: bit c is set if both have the same code in column c.

    With `wildcard`, NULL (code 0) agrees with everything. Work for one record: about columns * records byte
    operations. Memory: 4 bytes a cell, and MEMORY.
    """

    def __init__(self, records: Records, wildcard: bool = False) -> None:
        assert records.columns <= MOST_COLUMNS
        self._records, self._wildcard = records, wildcard
        self._members: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []  # records by code, and where codes begin
        frequent: list[tuple[int, int, int]] = []
        for column, codes in enumerate(records.codes):
            order = np.argsort(codes, kind="stable").astype(np.int32)
            starts = np.concatenate(([0], np.cumsum(np.bincount(codes)))).astype(np.int64)
            self._members.append((order, starts))
            sizes = np.diff(starts)
            often = np.flatnonzero(sizes * RARE >= max(records.count, 1))
            frequent += [(int(sizes[code]), column, int(code)) for code in often]
        frequent.sort(reverse=True)
        keep = MEMORY // max(records.count, 1)
        self._flags = {(column, code): self._flags_of(column, code) for _, column, code in frequent[:keep]}

    def masks(self, record: int, out: NDArray[np.int32]) -> None:
        """Write the agreement mask with every record, itself included, to `out`, which must be zero at first."""
        planes = out.view(np.uint8).reshape(-1, 4)
        plane = np.empty(len(out), dtype=np.uint8)
        columns = self._records.columns
        for first in range(0, columns, 8):
            plane[:] = 0
            for column in range(first, min(columns, first + 8)):
                code = int(self._records.codes[column][record])
                flags = self._flags.get((column, code))
                if flags is None:
                    self._add(plane, column, code)
                else:
                    plane |= flags
            planes[:, first // 8] = plane

    def _flags_of(self, column: int, code: int) -> NDArray[np.uint8]:
        flags = np.zeros(self._records.count, dtype=np.uint8)
        self._add(flags, column, code)
        return flags

    def _add(self, plane: NDArray[np.uint8], column: int, code: int) -> None:
        """Set the column's bit for all records that agree with the code."""
        bit = np.uint8(1 << column % 8)
        order, starts = self._members[column]
        if self._wildcard and code == 0:
            plane |= bit
            return
        plane[order[starts[code] : starts[code + 1]]] |= bit
        if self._wildcard:
            plane[order[: starts[1]]] |= bit
