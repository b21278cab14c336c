"""First anonymizations: column set by column set, or by prices."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.anonymization.assignment import Groups, Units
from qidsql.protection.anonymization.bounds import Prices

NEAR, SLACK = 0.15, 0.5  # the values of groups that are tried, and of those used, in mean weights of a column


def greedy_placement(
    groups: Groups, units: Units, placed: NDArray[np.int64], check: Callable[[int], object] = lambda work: None
) -> NDArray[np.int64]:
    """Place the units that have no group yet (-1), and return the group of each.

    Column sets that lose least come first, and of those that lose the same the one that places most rows. Each places
    the classes of k or more of the rows not yet placed. Fewer than k rows left over lose everything, with the rows of
    the group for which that costs least. `check` may raise to end it.
    """
    placed = placed.copy()
    for _, level in groupby(range(len(groups.sets)), key=groups.losses.__getitem__):
        # What a set would place only decreases, so what was counted before is a bound.
        waiting = [(-groups.records.rows, place, False) for place in level]
        heapify(waiting)
        while waiting:
            check(0)
            _, place, counted = heappop(waiting)
            left, numbers = _placeable(groups, units, place, placed)
            if counted:
                placed[left] = groups.first[place] + numbers
                waiting = [(gain, other, False) for gain, other, _ in waiting]
            elif len(left):
                heappush(waiting, (-int(units.sizes[left].sum()), place, True))
    _accompany(groups, units, placed)
    return placed


def priced_placement(
    groups: Groups, units: Units, prices: Prices, check: Callable[[int], object] = lambda work: None
) -> NDArray[np.int64]:
    """The group of each unit, where groups worth least at the prices come first; the greedy way for the rest.

    At the best prices an optimum would use groups worth nothing only, but for the gap between it and the bound.
    """
    near, slack = int(NEAR * prices.unit), int(SLACK * prices.unit)
    offers = []
    for each in prices.priced(prices.best):
        check(0)
        for number in np.flatnonzero(each.values <= near).tolist():
            end = each.starts[number + 1] if number + 1 < len(each.starts) else len(each.records)
            offers.append((int(each.values[number]), each.place, each.records[each.starts[number] : end]))
    placed = units.unplaced(groups)
    for _, place, records in sorted(offers, key=lambda offer: offer[:2]):
        free = units.of(records)
        free = free[placed[free] < 0]
        losses = groups.losses[place] * prices.parts - prices.best[units.records[free]]
        number = max(groups.k, int(np.count_nonzero(losses <= 0)))
        if len(free) >= groups.k and int(losses[:number].sum()) <= slack:
            placed[free[:number]] = groups.first[place] + groups.numbers[place, records[0]]
    return greedy_placement(groups, units, placed, check)


def _placeable(
    groups: Groups, units: Units, place: int, placed: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.integer]]:
    """The units not yet placed that the set would place, and their classes on it."""
    left = np.flatnonzero(placed < 0)
    numbers = groups.numbers[place, units.records[left]]
    left, numbers = left[numbers >= 0], numbers[numbers >= 0]
    enough = np.bincount(numbers, minlength=1) >= groups.k
    return left[enough[numbers]], numbers[enough[numbers]]


def _accompany(groups: Groups, units: Units, placed: NDArray[np.int64]) -> None:
    """Place the units left over, fewer than k, with those of another group."""
    rest = placed < 0
    if rest.any() and not (placed == groups.root).any():
        kept = groups.losses[-1] - groups.losses[groups.set_of(placed[~rest])]
        present, homes = np.unique(placed[~rest], return_inverse=True)
        costs = np.bincount(homes, weights=kept * units.sizes[~rest])
        placed[placed == present[np.argmin(costs)]] = groups.root
    placed[rest] = groups.root
