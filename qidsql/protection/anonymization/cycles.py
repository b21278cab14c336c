"""2-anonymity from the cheapest permutation of the rows: its cycles, cut into groups of two and three rows.

Each group of an anonymization has a permutation of its rows in which every row differs from the next in suppressed
columns only. So the cheapest permutation without fixed points, which a transport problem finds with proof, costs no
more than any 2-anonymization. Its cycles join rows that are alike; cut into runs of two and three rows they are a plan.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.anonymization.plan import Plan
from qidsql.protection.records import Records, narrow
from qidsql.protection.suppression.matchings import matchings
from qidsql.protection.suppression.price_check import bound_by_prices

ALGORITHM = "cycles of the cheapest permutation"


def plan_by_cycles(
    records: Records, weights: Sequence[int], check: Callable[[], object]
) -> tuple[Plan, int, NDArray[np.int64]]:
    """A 2-anonymization of the records, two rows or more, a lower bound of every one, and the prices that prove it.

    Compares all pairs of records a few times; `check` is called several times a second and may raise to end it.
    """
    valued = Records(tuple(narrow(codes.astype(np.int64) + 1) for codes in records.codes), records.sizes)  # NULL too
    found = matchings(valued, 2, weights, check)
    bound = bound_by_prices(valued, weights, found.prices, check)
    codes = np.stack(valued.codes, axis=1)
    bits, every = 1 << np.arange(len(weights), dtype=np.int64), (1 << len(weights)) - 1
    whole, cycles = _cycles(found.units.record, found.units.fitted[:, 0], found.units.sizes)
    patterns, rows = [pattern for pattern, _ in whole], [size for _, size in whole]
    kept = [every] * len(whole)
    for cycle in cycles:
        around = np.array([*cycle, *cycle[:2]])
        differ = codes[around[:-1]] != codes[around[1:]]
        for start, end in _runs(differ, np.array(weights)):
            lost = int(differ[start : end - 1].any(axis=0) @ bits)
            patterns += around[start:end].tolist()
            kept += [every & ~lost] * (end - start)
            rows += [1] * (end - start)
    pairs, place = np.unique(np.stack((patterns, kept)), axis=1, return_inverse=True)
    sizes = np.bincount(place.reshape(-1), rows).astype(np.int64)
    lost_weight = ((pairs[1][:, None] & bits) == 0) @ np.array(weights)
    return Plan(ALGORITHM, int(sizes @ lost_weight), lambda: (pairs[0], pairs[1], sizes)), bound, found.prices


def _cycles(
    rows: NDArray[np.intp], people: NDArray[np.intp], sizes: NDArray[np.int64]
) -> tuple[list[tuple[int, int]], Iterator[list[int]]]:
    """Equal rows that are a group of themselves (pattern, rows), and the cycles of the others, pattern by pattern."""
    whole: list[tuple[int, int]] = []
    single: set[int] = set()  # patterns of which one more row stands beside another
    following: dict[int, list[int]] = {}
    for row, person, size in zip(rows.tolist(), people.tolist(), sizes.tolist(), strict=True):
        if row != person:
            following.setdefault(row, []).extend([person] * size)
        elif size > 1:
            whole.append((row, size))
        else:
            single.add(row)

    def walked() -> Iterator[list[int]]:
        for start in following:
            while following[start]:
                cycle, at = [], start
                while True:
                    cycle += [at, at] if at in single else [at]
                    single.discard(at)
                    at = following[at].pop()
                    if at == start:
                        break
                yield cycle

    return whole, walked()


def _runs(differ: NDArray[np.bool_], weights: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The cheapest runs of two and three rows that a cycle is cut into, as places of first and last row + 1.

    `differ` has a line for each row: the columns in which the next differs; the first two come again at the end.
    """
    length = len(differ) - 1
    if length < 4:
        yield 0, length
        return
    two = 2 * (differ @ weights)
    three = 3 * ((differ[:-1] | differ[1:]) @ weights)
    best: tuple[int, list[int]] | None = None
    for first in range(3):  # one of the first three rows begins a run
        costs, lengths = [0, -1], [0, 0]
        for end in range(2, length + 1):
            begin = (first + end - 2) % length, (first + end - 3) % length
            options = [
                (costs[end - size] + int(each[at]), size)
                for size, each, at in ((2, two, begin[0]), (3, three, begin[1]))
                if end >= size and costs[end - size] >= 0
            ]
            cost, size = min(options)
            costs.append(cost)
            lengths.append(size)
        if best is None or costs[-1] < best[0]:
            ends = [length]
            while ends[-1]:
                ends.append(ends[-1] - lengths[ends[-1]])
            best = costs[-1], [first + end for end in reversed(ends)]
    assert best is not None
    yield from pairwise(best[1])
