"""A lightest hitting set of a few column sets, by branch and bound. Enough where masking needs no better solver."""

from collections.abc import Sequence

from qidsql.schema import positions


def lightest_hitting_set(masks: Sequence[int], weights: Sequence[int]) -> int:
    """A column set that meets every mask, of the smallest weight there is; 0 when there is no mask.

    Branches on the columns of a smallest mask not hit yet; a column tried before is not tried again beside it. Gives
    up a branch when disjoint masks show that it cannot be lighter than the best one. Exponential at worst.
    """
    minimal = sorted((m for m in set(masks) if not any(n != m and n & m == n for n in masks)), key=int.bit_count)
    best = [_greedy(minimal, weights)]
    limit = [_weight(best[0], weights)]

    def branch(left: list[int], chosen: int, weight: int, banned: int) -> None:
        if not left:
            best[0], limit[0] = chosen, weight
            return
        if weight + _at_least(left, weights, banned) >= limit[0]:
            return
        smallest = min(left, key=lambda mask: (mask & ~banned).bit_count())
        counts = {place: sum(mask >> place & 1 for mask in left) for place in positions(smallest & ~banned)}
        for place in sorted(counts, key=lambda place: counts[place] / weights[place], reverse=True):
            if weight + weights[place] < limit[0]:
                rest = [mask for mask in left if not mask >> place & 1]
                branch(rest, chosen | 1 << place, weight + weights[place], banned)
            banned |= 1 << place

    branch(minimal, 0, 0, 0)
    return best[0]


def _greedy(masks: Sequence[int], weights: Sequence[int]) -> int:
    """Some hitting set, to begin with."""
    chosen, left = 0, list(masks)
    while left:
        counts: dict[int, int] = {}
        for mask in left:
            for place in positions(mask):
                counts[place] = counts.get(place, 0) + 1
        place = max(counts, key=lambda place: counts[place] / weights[place])
        chosen |= 1 << place
        left = [mask for mask in left if not mask >> place & 1]
    return chosen


def _at_least(masks: Sequence[int], weights: Sequence[int], banned: int) -> int:
    """What hitting the masks costs at least: the cheapest columns of masks that share none."""
    total, used = 0, 0
    for mask in masks:
        free = mask & ~banned
        if not free:
            return sum(weights) + 1
        if not free & used:
            used |= free
            total += min(weights[place] for place in positions(free))
    return total


def _weight(mask: int, weights: Sequence[int]) -> int:
    return sum(weights[place] for place in positions(mask))
