"""Minimal unsafe combinations of some records: two methods to find them, and the choice of the cheaper one.

A combination of values is unsafe if fewer than k rows have it, and minimal if every part of it is safe: Wilson's
MINUCS, the minimal sample uniques (MSU) of Manning, Haglin & Keane for k = 2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from qidsql.errors import UsageError
from qidsql.protection.records import Records
from qidsql.protection.uniques.by_pairs import MOST_COLUMNS, UniquesByPairs
from qidsql.protection.uniques.by_sets import UniquesBySets

MOST_SETS = 20_000_000  # column sets that are examined one by one: hours

# Nanoseconds, measured; only their ratios matter
PAIR_CELL = 0.3  # comparing one cell with one cell
PAIR = 4.0  # noting one pair's mask
LATTICE_BIT = 0.9  # one set of one record, all passes
LATTICE_COUNT = 15.0  # the same with counts instead of bits, for k > 2
RECORD = 30_000.0
SET = 100_000.0
SET_RECORD = 35.0  # counting one record into the classes of one set


Found = tuple[NDArray[np.integer], NDArray[np.integer] | int]


@dataclass(slots=True)
class Progress:
    """The progress of a search: rows whose sets were all searched, and the size up to which all sets were."""

    rows: int = 0
    size: int = 0


class MinimalUniques:
    """Every minimal unsafe combination of the records, in blocks: record numbers, and a mask for each or for all.

    `method` is "pairs" (record by record, all sizes at once) or "sets" (column set by column set, small ones first),
    whichever is likely to be faster; with NULL as `wildcard` classes overlap, and only pairs work. `progress` is the
    state of the search. Raises UsageError if the columns are too many for both.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        max_size: int | None = None,
        wildcard: bool = False,
        check: Callable[[], object] = lambda: None,
        method: str | None = None,
    ) -> None:
        self.progress = Progress()
        self.largest = min(max_size or records.columns, records.columns)
        self._records, self._k, self._check = records, k, check
        self._wildcard = wildcard and records.has_null
        self.seconds = {each: cost / 1e9 for each, cost in self._costs().items()}
        if not self.seconds:
            most = f"at most {MOST_COLUMNS} columns" + (" with --nulls wildcard" if self._wildcard else "")
            raise UsageError(
                f"{records.columns} columns have too many sets to search: give --max-size 3, or choose {most} (-c)"
            )
        self.method = method or min(self.seconds, key=lambda each: self.seconds[each])

    def _costs(self) -> dict[str, float]:
        """The estimated nanoseconds of each method that is possible."""
        records, columns = self._records, self._records.columns
        costs = {}
        if columns <= MOST_COLUMNS:
            bit = LATTICE_BIT if self._k == 2 else LATTICE_COUNT
            each = records.count * (columns * PAIR_CELL + PAIR) + RECORD + (bit * 2**columns)
            costs["pairs"] = records.count * each
        sets = sum(comb(columns, size) for size in range(1, self.largest + 1))
        if not self._wildcard and sets <= MOST_SETS:
            costs["sets"] = sets * (SET + records.count * SET_RECORD)
        return costs

    def __iter__(self) -> Iterator[Found]:
        records, progress, k = self._records, self.progress, self._k
        if records.rows < k:  # not even the empty combination, which all rows share, is safe
            yield np.arange(records.count), 0
        elif self.method == "pairs":
            cap = None if self.largest == records.columns else self.largest
            pairs = UniquesByPairs(records, k, self._wildcard, cap, self._check)
            for found in pairs:
                progress.rows = pairs.searched
                yield found
        else:
            sets = UniquesBySets(records, k, self.largest, self._check)
            try:
                for numbers, mask in sets:
                    progress.size = sets.complete_to_size
                    yield numbers, mask
            finally:
                progress.size = sets.complete_to_size  # also if the last sets searched had no combination
        progress.rows, progress.size = records.rows, self.largest
