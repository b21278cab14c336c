"""Checks what a result states as its proof, on the codes of the rows, without the search that found it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import weight_of
from qidsql.protection.anonymization.assignment import least_losses
from qidsql.protection.anonymization.bounds import bound_of
from qidsql.protection.certificates import BoundProof, CellPlan, ProvedBy
from qidsql.protection.row_patterns import Records, narrow
from qidsql.protection.suppression.combinations import LostCells
from qidsql.protection.suppression.verification import bound_by_prices

MOST_GROUPED_SETS = 1 << 18  # column sets that are grouped to find the least loss of each row
MOST_CELLS_COMPARED = 30_000_000_000  # cells of pairs of rows that are compared instead
MOST_UNIONS = 3_000_000_000  # differences between rows that are put together then
MOST_PRICED = 16  # columns whose sets are all grouped to add up prices of rows
LARGEST_CHECKED_SUM = 1 << 62  # of a sum of prices


@dataclass(frozen=True, slots=True)
class Shares:
    """What the rows of the records lose: so many rows of a record lose the columns of a mask."""

    record: NDArray[np.intp]
    mask: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, plan: CellPlan, records: Records, names: Sequence[str]) -> "Shares | None":
        """The plan with the rows that lose nothing; None if it is no plan for these records."""
        places = {name: place for place, name in enumerate(names)}
        if any(name not in places for columns in plan.column_sets for name in columns):
            return None
        masks = [sum(1 << places[name] for name in set(columns)) for columns in plan.column_sets]
        left = records.sizes.copy()
        for record, column_set, rows in plan.rows:
            if not (0 <= record < records.count and 0 <= column_set < len(masks) and 0 < rows <= left[record]):
                return None
            left[record] -= rows
        lines = [(record, masks[place], rows) for record, place, rows in plan.rows if masks[place]]
        losing = np.array(lines, dtype=np.int64).reshape(-1, 3).T
        whole = np.flatnonzero(left)
        return cls(
            np.concatenate((losing[0], whole)),
            np.concatenate((losing[1], np.zeros(len(whole), dtype=np.int64))),
            np.concatenate((losing[2], left[whole])),
        )

    def lost(self, columns: int) -> list[int]:
        """The cells that each column loses."""
        return [int(self.rows[self.mask >> place & 1 == 1].sum()) for place in range(columns)]

    def lost_cells(self, columns: int) -> LostCells:
        """The cells that records lose, with a flag for each column."""
        return LostCells(self.record, self.rows, (self.mask[:, None] >> np.arange(columns) & 1).astype(bool))

    def released(self, records: Records, mark: int = 0) -> list[NDArray[np.int64]]:
        """The codes that each share shows, column by column, with the mark in the cells that it loses."""
        return [
            np.where(self.mask >> place & 1 == 1, mark, codes[self.record].astype(np.int64))
            for place, codes in enumerate(records.codes)
        ]

    def smallest_class(self, records: Records) -> int:
        """The fewest rows that are identical where a suppressed cell is a value of its own."""
        shown = np.stack(self.released(records, -1), axis=1)
        _, places = np.unique(shown, axis=0, return_inverse=True)
        return int(np.bincount(places.reshape(-1), self.rows).min())


def proved_bound(
    proof: BoundProof,
    records: Records,
    k: int,
    weights: Sequence[int],
    *,
    wildcard: bool = False,
    null_shows: bool = True,
    check: Callable[[], object] = lambda: None,
) -> int | None:
    """The lower bound that the proof gives for these records; None if it cannot be shown.

    `wildcard`: a NULL matches anything. `null_shows`: with prices of people, a NULL of a row shows that it is NULL.
    All in whole numbers. `check` may raise to end it.
    """
    if proof.by is ProvedBy.SOLVER or (proof.by is not ProvedBy.ROWS and proof.prices is None):
        return None
    if proof.by is ProvedBy.ROWS:
        least = losses_of_rows(records, k, weights, wildcard, check)
        return None if least is None else int(least @ records.sizes)
    prices = proof.prices or ()
    if (
        len(prices) != records.count
        or proof.parts < 1
        or any(not -LARGEST_CHECKED_SUM < each < LARGEST_CHECKED_SUM for each in prices)
    ):
        return None
    if (
        sum(abs(price) * size for price, size in zip(prices, records.sizes.tolist(), strict=True))
        >= LARGEST_CHECKED_SUM
    ):
        return None
    of_rows = np.array(prices, dtype=np.int64)
    if proof.by is ProvedBy.PRICES:
        fits = proof.parts * sum(weights) * records.rows < LARGEST_CHECKED_SUM and records.columns <= MOST_PRICED
        return bound_of(records, k, weights, of_rows, proof.parts) if fits and min(prices) >= 0 else None
    shown = records if not null_shows else with_null_as_value(records)
    return bound_by_prices(shown, weights, of_rows, check)


def with_null_as_value(records: Records) -> Records:
    return Records(tuple(narrow(codes.astype(np.int64) + 1) for codes in records.codes), records.sizes)


def losses_of_rows(
    records: Records, k: int, weights: Sequence[int], wildcard: bool, check: Callable[[], object] = lambda: None
) -> NDArray[np.int64] | None:
    """For a row of each record the least weight with which k rows agree on what it keeps; None if that takes too long.

    By all column sets, or by all pairs of records: what the row differs in from the nearest ones.
    """
    pairs, sets = records.count**2 * records.columns, 1 << records.columns
    by_sets = not wildcard and sets <= MOST_GROUPED_SETS and (k > 2 or sets <= records.count)
    if by_sets or pairs > MOST_CELLS_COMPARED:
        few = sets <= MOST_GROUPED_SETS and not wildcard
        return least_losses(records, k, weights, lambda work: check()) if few else None
    found, left = np.zeros(records.count, dtype=np.int64), MOST_UNIONS
    for row in np.flatnonzero(records.sizes < k).tolist():
        check()
        masks, losses = _differences(records, row, weights, wildcard)
        found[row], looked_at = _nearest(masks, losses, records.sizes, k, weights)
        left -= looked_at
        if left < 0:
            return None
    return found


def _differences(
    records: Records, row: int, weights: Sequence[int], wildcard: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The columns in which each record differs from one, as a mask, and their weight."""
    masks, losses = np.zeros((2, records.count), dtype=np.int64)
    for place, (codes, weight) in enumerate(zip(records.codes, weights, strict=True)):
        differs = codes != codes[row]
        if wildcard:
            differs &= (codes != 0) & (codes[row] != 0)
        masks |= differs.astype(np.int64) << place
        losses += weight * differs
    return masks, losses


def _nearest(
    masks: NDArray[np.int64], losses: NDArray[np.int64], sizes: NDArray[np.int64], k: int, weights: Sequence[int]
) -> tuple[int, int]:
    """The least weight of a column set that contains the differences from k rows, and how many sets were looked at.

    Such a set is the union of the differences from these rows: unions are tried in the order of their weight.
    """
    first = np.argsort(losses, kind="stable")[:k]
    enough = int(np.searchsorted(np.cumsum(sizes[first]), k))
    best = sum(weights)
    if enough < len(first):
        best = min(best, weight_of(int(np.bitwise_or.reduce(masks[first[: enough + 1]])), weights))
    lighter = losses < best
    near, place = np.unique(masks[lighter], return_inverse=True)
    rows = np.bincount(place.reshape(-1), sizes[lighter], len(near)).astype(np.int64)
    unions, known, looked_at = [(0, 0)], {0}, 0
    while unions:
        weight, union = heappop(unions)
        looked_at += len(near)
        if rows[near & ~union == 0].sum() >= k:
            return weight, looked_at
        for wider in np.unique(near | union).tolist():
            if wider not in known:
                known.add(wider)
                if (heavier := weight_of(wider, weights)) < best:
                    heappush(unions, (heavier, wider))
    return best, looked_at
