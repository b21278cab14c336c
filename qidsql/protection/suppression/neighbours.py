"""For each record, others that agree with it on much: of all pairs, or of those that are close in sorted orders."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records

COMPARED = 4_000_000_000  # pairs of records that are compared, at most; of more, those within the window of an order
WINDOW = 6
CELLS = 1 << 22  # in a block


def neighbours(
    records: Records, weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    """For each record a line of others, the most similar first: the weight of the values that both have in common.

    A NULL is in common with nobody. `check` is called for each block with the pairs compared, and may raise.
    """
    codes = np.stack(records.codes, axis=1).astype(np.int32)
    number = min(number, records.count - 1)
    if records.count**2 <= COMPARED:
        return _of_all_pairs(codes, weights, number, check)
    return _of_orders(codes, weights, number, check)


def common(ones: NDArray[np.int32], others: NDArray[np.int32], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """The weight of the values in common, for lines of codes along the last axis."""
    found: NDArray[np.int64] = ((ones == others) & (ones > 0)) @ weights
    return found


def _of_all_pairs(
    codes: NDArray[np.int32], weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    count = len(codes)
    kind = np.min_scalar_type(-int(weights.sum()) - 1)
    found = np.empty((count, number), dtype=np.intp)
    columns = [np.ascontiguousarray(codes[:, place]) for place in range(codes.shape[1])]
    step = max(1, CELLS // count)
    for start in range(0, count, step):
        check(step * count)
        block = np.arange(start, min(start + step, count))
        apart = np.zeros((len(block), count), dtype=kind)
        for column, weight in zip(columns, weights, strict=True):
            mine = np.where(column[block] > 0, column[block], -1)  # a NULL agrees with nothing
            apart -= (mine[:, None] == column) * kind.type(weight)
        apart[np.arange(len(block)), block] = 1
        near = np.argpartition(apart, number - 1, axis=1)[:, :number]
        order = np.lexsort((near, np.take_along_axis(apart, near, axis=1)), axis=1)
        found[block] = np.take_along_axis(near, order, axis=1)
    return found


def _of_orders(
    codes: NDArray[np.int32], weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    count, columns = codes.shape
    found = np.empty((count, 0), dtype=np.intp)
    for first in range(columns):
        places = [(first + step) % columns for step in range(columns)]
        order = np.lexsort([codes[:, place] for place in reversed(places)])
        near = np.empty((count, 2 * WINDOW), dtype=np.intp)
        for place, shift in enumerate([*range(-WINDOW, 0), *range(1, WINDOW + 1)]):
            near[order, place] = np.roll(order, shift)
        near = np.sort(np.concatenate((found, near), axis=1), axis=1)
        best = np.empty((count, min(number, near.shape[1])), dtype=np.intp)
        step = max(1, CELLS // (near.shape[1] * columns))
        for start in range(0, count, step):
            check(step * near.shape[1])
            block = near[start : start + step]
            apart = -common(codes[start : start + step, None], codes[block], weights)
            apart[:, 1:][block[:, 1:] == block[:, :-1]] = 1  # twice in the line
            apart[block == np.arange(start, start + len(block))[:, None]] = 1
            chosen = np.argsort(apart, axis=1, kind="stable")[:, : best.shape[1]]
            best[start : start + step] = np.take_along_axis(block, chosen, axis=1)
        found = best
    return found
