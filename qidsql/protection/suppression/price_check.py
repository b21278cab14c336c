"""An independent check of a bound by prices of people: computed from the codes, row by row, in whole numbers."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records


def bound_by_prices(
    records: Records, weights: Sequence[int], prices: NDArray[np.int64], check: Callable[[], object] = lambda: None
) -> int:
    """The weight that these prices prove to be lost by every plan that leaves two disjoint matchings.

    In a second matching, each person has one row and each row one person, another than its owner. So the matching costs
    all prices, and for each row at least the least cost of a person beyond the person's price. Compares all pairs.
    """
    bound = int(records.sizes @ prices)
    for row in range(records.count):
        check()
        costs = -prices
        for codes, weight in zip(records.codes, weights, strict=True):
            if codes[row]:
                costs += weight * (codes != codes[row])
        if records.sizes[row] == 1:
            costs[row] = np.iinfo(np.int64).max
        bound += int(records.sizes[row]) * int(costs.min())
    return bound
