"""Matchings of all people with all rows by rings: in each group of an anonymization a row also fits the next ones.

A group's rows stand in a ring, similar ones beside each other, and each row is made to fit the people of the k - 1 rows
after it: k disjoint matchings, with no more lost than by the anonymization [Wong, Mamoulis & Cheung, Non-homogeneous
generalization, ICDM 2010]. Rows of several groups that are matched anew among themselves, exactly for k = 2, stay so.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records
from qidsql.protection.suppression.fits import Fits
from qidsql.protection.suppression.matchings import MatchedRows, matchings

BLOCK = 500  # rows of similar groups that are matched anew at once
LOOK = 30_000  # the work of matching a row, beside that of comparing it


class Rings:
    """The matchings of all rows, cheaper with each block that is matched anew.

    `table` is an anonymization with groups of k rows or more: pattern, kept columns, rows. Blocks are groups beside
    each other; those that lose most come first.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        table: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        self._records, self._k, self._weights = records, k, tuple(weights)
        pattern, kept = (np.repeat(each, table[2]) for each in table[:2])
        codes = np.stack(records.codes, axis=1).astype(np.int64)[pattern]
        bits = 1 << np.arange(len(weights), dtype=np.int64)
        shared = np.where(kept[:, None] & bits, codes, -1)  # equal exactly in a group
        order = np.lexsort((*codes.T[::-1], kept, *shared.T[::-1]))
        pattern, shared, kept = pattern[order], shared[order], kept[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (shared[1:] != shared[:-1]).any(axis=1) | (kept[1:] != kept[:-1])
        starts = np.flatnonzero(new)
        sizes = np.diff(starts, append=len(order))
        assert int(sizes.min()) >= k, "a ring needs k rows"
        start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        place = np.arange(len(order)) - start
        fitted = np.stack([pattern[start + (place + step) % size] for step in range(1, k)], axis=1)
        ends = np.searchsorted(starts, np.arange(BLOCK, len(order), BLOCK), side="left")
        cuts = np.unique(np.concatenate(([0], np.append(starts, len(order))[ends], [len(order)])))
        ones = np.ones(len(order), dtype=np.int64)
        self._blocks = [
            MatchedRows(pattern[begin:end], ones[begin:end], fitted[begin:end])
            for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        ]
        self._fits = Fits(records, weights)
        self._costs = [block.cost(self._fits) for block in self._blocks]

    @property
    def cost(self) -> int:
        return sum(self._costs)

    @property
    def order(self) -> list[int]:
        """The blocks, those with the highest cost first."""
        return sorted(range(len(self._blocks)), key=lambda block: (-self._costs[block], block))

    def compared(self, block: int) -> int:
        """About how many numbers are looked at where the block is matched anew."""
        rows = len(self._blocks[block].record)
        return 2 * (self._k - 1) * rows * (rows * len(self._weights) + LOOK)

    def match_anew(self, block: int) -> None:
        """Match the block's rows with its people anew, if that is cheaper."""
        rows = self._blocks[block]
        own, place = np.unique(rows.record, return_inverse=True)
        sizes = np.bincount(place.reshape(-1), rows.sizes).astype(np.int64)
        part = Records(tuple(codes[own] for codes in self._records.codes), sizes)
        found = matchings(part, self._k, self._weights)
        if found.cost < self._costs[block]:
            units = found.units
            self._blocks[block] = MatchedRows(own[units.record], units.sizes, own[units.fitted])
            self._costs[block] = found.cost

    def matched(self) -> MatchedRows:
        """All rows as they are matched now."""
        return MatchedRows(
            np.concatenate([each.record for each in self._blocks]),
            np.concatenate([each.sizes for each in self._blocks]),
            np.concatenate([each.fitted for each in self._blocks]),
        )
