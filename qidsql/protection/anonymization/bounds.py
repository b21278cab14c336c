"""Lower bounds of the cost of every anonymization, by prices of rows.

Whatever the prices, an anonymization costs their sum plus, for each class of it, what its rows cost there less their
prices. Such a class is k or more rows of a group, so no class costs less than the group's k dearest rows and all others
that are dearer than its loss. The sum of the prices and of all groups for which that is negative is a lower bound: the
Lagrangian relaxation of the integer program [Chakaravarthy et al., 4] in which each row is in exactly one class. With
the least loss of each row as prices no group is negative, and their sum is the bound of rows that are safe each by its
own suppressed cells.

Prices are integers, parts of a unit, so that bounds are exact. Any prices give a bound: floats only propose them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions, weight_of
from qidsql.protection.anonymization.assignment import Groups
from qidsql.protection.row_patterns import Records

LARGEST_PRICE_SUM = 1 << 61  # of a sum of prices
PARTS = 1 << 16  # of a unit, unless the sum of the prices would be too large
UPDATES = 100
# The first and last step and temperature, in mean weights of a column. Measured: other values approach the same bounds.
STEP, TEMPERATURE, LAST = 0.15, 0.1, 0.02
INERTIA, MEMORY, NOISE = 0.8, 0.95, 0.1


@dataclass(frozen=True, slots=True)
class Priced:
    """The groups of one column set at some prices: records, group after group, the dearest first in each.

    A group begins at each of `starts`; `taken` counts each record's rows in the cheapest class of the group, and
    `values` is what that class costs less its prices.
    """

    place: int
    records: NDArray[np.intp]
    starts: NDArray[np.intp]
    taken: NDArray[np.int64]
    values: NDArray[np.int64]


class Prices:
    """The best prices found so far: those of the records, in `parts` of a unit, and the bound that they prove."""

    def __init__(self, groups: Groups) -> None:
        assert groups.complete, "a class could be in a group that is missing"
        self._groups = groups
        total, rows = int(groups.losses[-1]), groups.records.rows
        self.parts = max(1, min(PARTS, LARGEST_PRICE_SUM // max(1, total * rows)))
        self.unit = self.parts * total / groups.records.columns
        self.best = groups.least_losses() * self.parts
        self.bound = int(groups.least_losses() @ groups.records.sizes)

    def ascend(self, check: Callable[[int], object], updates: int = UPDATES) -> Iterator[int]:
        """Raise the bound by gradient steps; yields the number of updates done.

        The gradient is that of the bound with the minimum of 0 and a group's value smoothed at a temperature that
        falls, and is scaled record by record [Kingma & Ba 2015, Adam]. `check` is called for every column set, with
        the number of records, and may raise to end it.
        """
        sizes = self._groups.records.sizes
        prices = self.best.astype(np.float64)
        mean, square = np.zeros(len(sizes)), np.zeros(len(sizes))
        for done in range(updates):
            cooled = LAST ** (done / updates)
            temperature = TEMPERATURE * self.unit * cooled
            gradient = self._gradient(np.rint(prices).astype(np.int64), temperature, check)
            mean = INERTIA * mean + (1 - INERTIA) * gradient
            square = MEMORY * square + (1 - MEMORY) * gradient**2
            prices += STEP * self.unit * cooled * mean / (np.sqrt(square) + NOISE)
            np.clip(prices, 0, self.parts * int(self._groups.losses[-1]), out=prices)
            yield done + 1

    def _gradient(
        self, prices: NDArray[np.int64], temperature: float, check: Callable[[int], object]
    ) -> NDArray[np.float64]:
        """The gradient for a row of each record. The prices become the best ones if their bound is the highest."""
        sizes = self._groups.records.sizes
        bound, flow = int(prices @ sizes), sizes.astype(np.float64)
        for each in self.priced(prices):
            check(len(sizes))
            bound += int(np.minimum(each.values, 0).sum())
            share = 1 / (1 + np.exp(np.clip(each.values / temperature, -40, 40)))
            flow[each.records] -= np.repeat(share, np.diff(each.starts, append=len(each.records))) * each.taken
        bound = -(-bound // self.parts)
        if bound > self.bound:
            self.best, self.bound = prices, bound
        gradient: NDArray[np.float64] = flow / sizes
        return gradient

    def priced(self, prices: NDArray[np.int64]) -> Iterator[Priced]:
        """The groups of the sets that lose less than the dearest row: no other group is worth less than nothing."""
        groups, k = self._groups, self._groups.k
        dearest_first = np.argsort(-prices, kind="stable")
        for place, loss in enumerate(groups.losses * self.parts):
            if loss >= prices[dearest_first[0]]:
                return
            numbers = groups.numbers[place, dearest_first]
            alive = np.flatnonzero(numbers >= 0)
            alive = alive[np.argsort(numbers[alive], kind="stable")]
            if not len(alive):
                continue
            records, numbers = dearest_first[alive], numbers[alive]
            starts = np.flatnonzero(np.diff(numbers, prepend=-1))
            sizes = groups.records.sizes[records]
            before = np.cumsum(sizes) - sizes
            before -= np.repeat(before[starts], np.diff(starts, append=len(records)))
            above = prices[records] > loss
            taken = np.where(above, sizes, np.clip(k - before, 0, sizes))
            yield Priced(place, records, starts, taken, np.add.reduceat(taken * (loss - prices[records]), starts))


# An independent check of a lower bound by prices: computed from the codes of the records, set by set.


def bound_of(records: Records, k: int, weights: Sequence[int], prices: NDArray[np.int64], parts: int) -> int:
    """The lower bound that these prices, in parts of a unit, prove for the cost of every anonymization (see prices.py).

    A sort of the records for each column set that loses less than the dearest record's price.
    """
    dearest_first = np.argsort(-prices, kind="stable")
    codes = [each[dearest_first] for each in records.codes]
    sizes, prices = records.sizes[dearest_first], prices[dearest_first]
    everything, bound = (1 << records.columns) - 1, int(prices @ sizes)
    for kept in range(everything + 1):
        loss = parts * weight_of(everything & ~kept, weights)
        if loss < prices[0]:
            bound += _negative_values([codes[place] for place in positions(kept)], sizes, prices, k, loss)
    return -(-bound // parts)


def _negative_values(
    codes: Sequence[NDArray[np.unsignedinteger]], sizes: NDArray[np.int64], prices: NDArray[np.int64], k: int, loss: int
) -> int:
    """The sum, over classes of k rows or more on the columns, of what the cheapest part of k rows or more is worth, if
    that is negative: the k dearest rows and all others above the loss. The records come in falling order of prices.
    """
    order = np.lexsort(codes) if codes else np.arange(len(sizes))  # stable: the dearest stay first in each class
    begins = np.zeros(len(order), dtype=bool)
    begins[0] = True
    for each in codes:
        begins[1:] |= each[order][1:] != each[order][:-1]
    starts, sizes, prices = np.flatnonzero(begins), sizes[order], prices[order]
    rows = np.add.reduceat(sizes, starts)
    dearer = np.cumsum(sizes) - sizes - np.repeat(np.cumsum(rows) - rows, np.diff(starts, append=len(order)))
    taken = np.where(prices > loss, sizes, np.clip(k - dearer, 0, sizes))
    values = np.add.reduceat(taken * (loss - prices), starts)
    return int(values[(rows >= k) & (values < 0)].sum())
