"""All column sets of some records at once: a bit for each set, 64 of them in a word. Independent of tables.

A lattice is an array of words, a line per record; bit s of a line represents the column set with the mask s. Going
from every set to those with one column more or less is a shift of the words for the first six columns, and a move
between words for the others, so that one pass of plain word operations per column decides all 2^columns sets.
"""

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.row_patterns import Records

Words = NDArray[np.uint64]
WORD_COLUMNS = 6  # 2^6 bits per word
WITHOUT = [np.uint64(sum(1 << bit for bit in range(64) if not bit >> column & 1)) for column in range(WORD_COLUMNS)]


def lattice_of(flags: NDArray[np.uint8]) -> Words:
    """The lattice of a line of flags (0 or not) per record, each at least 64 long."""
    return np.packbits(flags, axis=1, bitorder="little").view("<u8")


def sets_up_to(size: int, columns: int) -> Words:
    """The lattice of all sets of at most so many columns, as one line."""
    sizes = np.zeros(1, dtype=np.uint8)
    for _ in range(max(columns, WORD_COLUMNS)):
        sizes = np.concatenate((sizes, sizes + np.uint8(1)))
    return lattice_of((sizes <= size).view(np.uint8).reshape(1, -1))


def close_downwards(safe: Words, columns: int) -> None:
    """Add every subset of every set, in place: `columns` passes over the words."""
    shifted = np.empty_like(safe)
    for column in range(min(columns, WORD_COLUMNS)):
        np.right_shift(safe, np.uint64(1 << column), out=shifted)
        shifted &= WITHOUT[column]
        safe |= shifted
    for column in range(WORD_COLUMNS, columns):
        without, with_it = _halves(safe, column)
        without |= with_it


def minimal_outside(safe: Words, columns: int) -> Words:
    """The sets that are not in the lattice while all their subsets are. `columns` passes over the words."""
    found = ~safe
    shifted = np.empty_like(safe)
    for column in range(min(columns, WORD_COLUMNS)):
        np.left_shift(safe, np.uint64(1 << column), out=shifted)
        shifted |= WITHOUT[column]
        found &= shifted
    for column in range(WORD_COLUMNS, columns):
        with_it = _halves(found, column)[1]
        with_it &= _halves(safe, column)[0]
    if columns < WORD_COLUMNS:
        found &= np.uint64((1 << (1 << columns)) - 1)
    return found


def members(lattice: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The sets of all lines: the line and the mask of each, line by line."""
    words = lattice.shape[1]
    filled = np.flatnonzero(lattice)
    bits = np.unpackbits(lattice.reshape(-1)[filled].view(np.uint8), bitorder="little")
    places = np.flatnonzero(bits)
    word = filled[places >> WORD_COLUMNS]
    return word // words, (word % words) << WORD_COLUMNS | places & 63


def add_supersets(counts: NDArray[np.unsignedinteger], columns: int, most: int) -> None:
    """Turn counts per set into counts of the set and all its supersets, none above `most`, in place.

    A line per record, 2^columns counts each; their type must have room for 2 * most.
    """
    highest = np.full(counts.shape[1], most, counts.dtype)  # numpy is some 20 times slower with a single number
    for column in range(columns):
        without, with_it = _halves(counts, column, shift=0)
        without += with_it
        np.minimum(counts, highest, out=counts)


def _halves(
    lines: NDArray[np.unsignedinteger], column: int, shift: int = WORD_COLUMNS
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
    """The places of the sets without the column, and of the same sets with it. Views, not copies."""
    step = 1 << column - shift
    pairs = lines.reshape(len(lines), -1, 2, step)
    return pairs[:, :, 0], pairs[:, :, 1]


# The columns on which one record agrees with each of the others: a mask for every pair, one record at a time.


BYTES_OF_FLAGS = 64_000_000  # bytes for the values whose rows are stored as a line of flags
RARE = 200  # a value of fewer than 1 in so many records is stored as a list of records
MOST_LATTICE_COLUMNS = 32


class Agreement:
    """The agreement masks of records, at most 32 columns: bit c is set if both have the same code in column c.

    With `wildcard`, NULL (code 0) agrees with everything. Work for one record: about columns * records byte
    operations. Memory: 4 bytes a cell, and BYTES_OF_FLAGS.
    """

    def __init__(self, records: Records, wildcard: bool = False) -> None:
        assert records.columns <= MOST_LATTICE_COLUMNS
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
        keep = BYTES_OF_FLAGS // max(records.count, 1)
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
