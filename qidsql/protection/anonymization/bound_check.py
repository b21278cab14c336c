"""An independent check of a lower bound by prices: computed from the codes of the records, set by set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions, weight_of
from qidsql.protection.records import Records


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
