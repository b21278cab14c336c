"""Minimal unsafe combinations of some records: two methods to find them, and the choice of the cheaper one.

A combination of values is unsafe if fewer than k rows have it, and minimal if every part of it is safe: Wilson's
MINUCS, the minimal sample uniques (MSU) of Manning, Haglin & Keane for k = 2.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.errors import UsageError
from qidsql.protection.row_patterns import Records
from qidsql.protection.uniques.algorithms import MOST_BITS, UniquesByPairs, UniquesBySets

MOST_SETS_EXAMINED = 20_000_000  # column sets that are examined one by one: hours

# Nanoseconds, measured; only their ratios matter
PAIR_CELL = 0.3  # comparing one cell with one cell
PAIR_COST = 4.0  # noting one pair's mask
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
            most = f"at most {MOST_BITS} columns" + (" with --nulls wildcard" if self._wildcard else "")
            raise UsageError(
                f"{records.columns} columns have too many sets to search: give --max-size 3, or choose {most} (-c)"
            )
        self.method = method or min(self.seconds, key=lambda each: self.seconds[each])

    def _costs(self) -> dict[str, float]:
        """The estimated nanoseconds of each method that is possible."""
        records, columns = self._records, self._records.columns
        costs = {}
        if columns <= MOST_BITS:
            bit = LATTICE_BIT if self._k == 2 else LATTICE_COUNT
            each = records.count * (columns * PAIR_CELL + PAIR_COST) + RECORD + (bit * 2**columns)
            costs["pairs"] = records.count * each
        sets = sum(comb(columns, size) for size in range(1, self.largest + 1))
        if not self._wildcard and sets <= MOST_SETS_EXAMINED:
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


# Counts of minimal unsafe combinations, taken while these stream by, so that no list of them is ever in memory.


class UniqueCounts:
    """Counts over the minimal unsafe combinations of some records, each once for every row that it belongs to.

    `by_record[r, s]`: the number of combinations of size s of record r, s at most `largest`; larger ones are not
    counted. Memory: 4 bytes per record and size, 8 bytes per column set.
    """

    def __init__(self, records: Records, largest: int) -> None:
        self.records = records
        self.largest = largest
        self.by_record: NDArray[np.int32] = np.zeros((records.count, largest + 1), dtype=np.int32)
        dense = records.columns <= MOST_BITS  # else no block with masks comes
        self._by_set: NDArray[np.int64] | Counter[int] = (
            np.zeros(1 << records.columns, dtype=np.int64) if dense else Counter()
        )
        self._sizes = np.zeros(1, dtype=np.uint8)  # of every column set
        for _ in range(records.columns if dense else 0):
            self._sizes = np.concatenate((self._sizes, self._sizes + np.uint8(1)))

    def add(self, records: NDArray[np.integer], masks: NDArray[np.integer] | int) -> None:
        """Count one combination for each record, of its own column set or of one for all; no record twice then."""
        if isinstance(masks, int):
            self.by_record[records, masks.bit_count()] += 1
            self._by_set[masks] += int(self.records.sizes[records].sum())
            return
        assert not isinstance(self._by_set, Counter)
        np.add.at(self.by_record.reshape(-1), records * np.int64(self.largest + 1) + self._sizes[masks], 1)
        np.add.at(self._by_set, masks, self.records.sizes[records])

    @property
    def by_size(self) -> dict[int, int]:
        """Combinations of each size that occurs."""
        counts = self._per_row(self.by_record)
        return {size: int(number) for size, number in enumerate(counts) if number}

    @property
    def combinations(self) -> int:
        return sum(self.by_size.values())

    @property
    def by_smallest(self) -> dict[int, int]:
        """Rows by the size of their smallest combination; rows without one are left out."""
        having = self.by_record.any(axis=1)
        smallest = np.argmax(self.by_record[having] > 0, axis=1)
        counts = np.bincount(smallest, weights=self.records.sizes[having])  # exact below 2^53 rows
        return {size: int(number) for size, number in enumerate(counts) if number}

    def sets(self) -> Iterator[tuple[int, int]]:
        """Every column set that has combinations, with their number."""
        if isinstance(self._by_set, Counter):
            yield from self._by_set.items()
        else:
            filled = np.flatnonzero(self._by_set)
            yield from zip(filled.tolist(), self._by_set[filled].tolist(), strict=True)

    def top_sets(self, most: int) -> tuple[int, list[tuple[int, int]]]:
        """The number of column sets with combinations, and those with the most: smaller ones first among equals."""
        if isinstance(self._by_set, Counter):
            ordered = sorted(self._by_set.items(), key=lambda each: (-each[1], each[0].bit_count(), each[0]))
            return len(ordered), ordered[:most]
        filled = np.flatnonzero(self._by_set)
        order = np.lexsort((filled, self._sizes[filled], -self._by_set[filled]))[:most]
        return len(filled), [(int(mask), int(self._by_set[mask])) for mask in filled[order]]

    def by_column(self) -> list[dict[int, int]]:
        """For each column the combinations that it belongs to, by their size."""
        columns = self.records.columns
        if isinstance(self._by_set, Counter):
            counts: list[Counter[int]] = [Counter() for _ in range(columns)]
            for mask, number in self._by_set.items():
                for place in range(columns):
                    if mask >> place & 1:
                        counts[place][mask.bit_count()] += number
            return [dict(sorted(each.items())) for each in counts]
        filled = np.flatnonzero(self._by_set)
        found = []
        for place in range(columns):
            own = filled[(filled >> place & 1).astype(bool)]
            numbers = np.zeros(columns + 1, dtype=np.int64)
            np.add.at(numbers, self._sizes[own], self._by_set[own])
            found.append({size: int(number) for size, number in enumerate(numbers) if number})
        return found

    def _per_row(self, counts: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.array([int(self.records.sizes @ column) for column in counts.T], dtype=np.int64)


def suda_weight(size: int, columns: int) -> int:
    """The addend of a minimal unsafe combination to its record's SUDA score: (columns - size)!

    Small combinations count for more. [Elliot, Manning, Mayes, Gurd & Bane: SUDA, a program for detecting special
    uniques; sdcMicro's suda2 with original_scores]
    """
    return factorial(columns - size)


def agree_with_classes(counts: UniqueCounts, k: int) -> bool:
    """True if complete counts match the class sizes, by a definition of their own; a NULL is a value.

    A record has a combination if and only if its class is below k, and a combination of one column for each column on
    which fewer than k rows have its value, unless all rows together are below k.
    """
    records = counts.records
    if records.rows < k:
        return bool((counts.by_record[:, 0] == 1).all())
    alone = np.zeros(records.count, dtype=np.int64)
    for codes in records.codes:
        alone += np.bincount(codes, weights=records.sizes)[codes] < k
    unsafe = counts.by_record.any(axis=1)
    return bool((unsafe == (records.sizes < k)).all() and (counts.by_record[:, 1] == alone).all())


def suda_scores(counts: UniqueCounts) -> NDArray[np.int64] | NDArray[np.object_]:
    """Every record's SUDA score, exactly: at most columns!, so 64 bits suffice for 20 columns; else Python integers."""
    columns = counts.records.columns
    weights = [suda_weight(size, columns) for size in range(counts.largest + 1)]
    kind: type = np.int64 if columns <= 20 else object
    scores: NDArray[Any] = np.zeros(counts.records.count, dtype=kind)
    for size, weight in enumerate(weights):
        scores += counts.by_record[:, size].astype(kind) * weight
    return scores


def contributions(counts: UniqueCounts) -> list[Fraction]:
    """For each column the share of its combinations in the sum of all SUDA scores.

    The shares add up to more than 1, for a combination counts for each of its columns. [sdcMicro, suda2:
    attribute_contributions]
    """
    columns = counts.records.columns
    total = sum(number * suda_weight(size, columns) for size, number in counts.by_size.items())
    return [
        Fraction(sum(number * suda_weight(size, columns) for size, number in sizes.items()), total or 1)
        for sizes in counts.by_column()
    ]


def dis_scores(
    scores: NDArray[np.int64] | NDArray[np.object_], records: Records, fraction: Fraction
) -> NDArray[np.float64]:
    """Every record's DIS-SUDA score: an estimated probability that a match with its combination is the right person.

    `fraction` is the sampling fraction f. With u rows unique on all columns and p rows in pairs, DIS = u f / (u f + p
    (1 - f)) is the probability for a unique row; it is distributed over the records by their SUDA scores s as
    1 / (1 + (u / DIS - u) / (s^q a)), a = the sum of s^-q over all rows, q = 1 + (8 - columns) / 20. 0 if s is 0.
    An estimate, so in floating point. [Skinner & Elliot 2002; Elliot et al.; sdcMicro, src/Suda2.h]
    """
    found = np.zeros(records.count)
    risky = np.flatnonzero(scores > 0)
    unique, pairs = int((records.sizes == 1).sum()), 2 * int((records.sizes == 2).sum())
    if not len(risky) or not unique:
        return found
    share = float(fraction)
    dis = unique * share / (unique * share + pairs * (1 - share))
    powers = scores[risky].astype(np.float64) ** (1 + (8 - records.columns) / 20)
    spread = float((records.sizes[risky] / powers).sum())
    found[risky] = 1 / (1 + (unique / dis - unique) / (powers * spread))
    return found
