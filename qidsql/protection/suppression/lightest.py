"""Local suppression: the lightest cells to suppress per record, so that it keeps no unsafe combination of values.

A suppressed cell matches anything [Wilson, section 3]. The visible cells of a record are then safe if and only if at
least k - 1 other records agree with it on all of them: every unsafe combination is in a set of columns that fewer agree
on, and has to lose a cell. So a record's optimum is the lightest column set M such that k records agree with it on the
rest, and no integer program is needed; for k = 2 that is the (weighted) Hamming distance to the nearest other record.
Among sets of equal weight the smallest as a number is taken, so that every search gives the same plan.

This module has the parts that need no table: sets of columns in the order of their weight, blocks of columns, and the
search among nearby records.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Levels:
    """The column sets by their weight. Weights are positive."""

    weights: tuple[int, ...]

    @property
    def counts(self) -> dict[int, int]:
        """The number of column sets of each weight."""
        return self._counts[-1]

    @cached_property
    def _counts(self) -> list[dict[int, int]]:
        """The counts over the first columns, for 0 and more of them."""
        counts: list[dict[int, int]] = [{0: 1}]
        for weight in self.weights:
            more = dict(counts[-1])
            for lighter, number in counts[-1].items():
                more[lighter + weight] = more.get(lighter + weight, 0) + number
            counts.append(more)
        return counts

    def above(self, weight: int) -> int | None:
        """The least weight above this one that a column set has."""
        return min((other for other in self.counts if other > weight), default=None)

    def sets(self, weight: int) -> Iterator[int]:
        """All column sets of that weight, in the order of their numbers."""

        def choose(first: int, left: int, mask: int) -> Iterator[int]:
            if left not in self._counts[first]:
                return
            if first == 0:
                yield mask
                return
            yield from choose(first - 1, left, mask)
            yield from choose(first - 1, left - self.weights[first - 1], mask | 1 << first - 1)

        return choose(len(self.weights), weight, 0)


def blocks(number: int, weights: Sequence[int], values: Sequence[int]) -> list[int]:
    """The columns in so many disjoint blocks, for the pigeonhole principle: see `radius`.

    Heavy columns are together, so that the radius is large; among equals, the blocks have similar numbers of
    combinations of values, so that few records agree on one.
    """
    order = sorted(range(len(weights)), key=lambda place: (-weights[place], -values[place], place))
    found = [1 << place for place in order[:number]]
    lightest = [weights[place] for place in order[:number]]
    combinations = [values[place] + 1 for place in order[:number]]
    for place in order[number:]:
        least_loss = min(range(number), key=lambda b: (lightest[b] - weights[place], combinations[b], b))
        found[least_loss] |= 1 << place
        lightest[least_loss] = weights[place]
        combinations[least_loss] *= values[place] + 1
    return found


def radius(parts: Sequence[int], weights: Sequence[int]) -> int:
    """Records that differ by at most this weight agree on a whole block: else each block would contain a difference."""
    return sum(min(weights[place] for place in range(len(weights)) if part >> place & 1) for part in parts) - 1


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """The columns in which a record differs from a number of others, and their weight."""

    mask: int
    weight: int
    records: int


def lightest_union(differences: Sequence[Difference], needed: int, weights: Sequence[int], everything: int) -> int:
    """The lightest column set that contains the differences to `needed` other records; the smallest number of equals.

    Any minimal such set is a union of differences, which are joined depth first, the lightest first. A branch ends
    when the lacking records cannot be included without weighing as much as the best set known.
    """
    weigh = _weigher(weights)
    best = (weigh(everything), everything)

    def grow(union: int, candidates: Sequence[Difference], refused: list[int]) -> None:
        nonlocal best
        inside = [each for each in candidates if each.mask & ~union == 0]
        lacking = needed - sum(each.records for each in inside)
        if lacking <= 0:
            best = min(best, (weigh(union), union))
            return
        wider = [(union | each.mask, each) for each in candidates if each.mask & ~union]
        joined = sorted((weigh(mask), mask, each.mask, each) for mask, each in wider)
        for place, (weight, mask, added, _) in enumerate(joined):
            if (weight, mask) >= best or _reach(joined[place:], lacking, best[0]) < lacking:
                return
            # Supersets of a rejected candidate were already searched in its branch.
            if not any(other & ~mask == 0 for other in refused):
                grow(mask, [*(each for *_, each in joined[place:]), *inside], list(refused))
                refused.append(added)

    grow(0, differences, [])
    return best[1]


def _reach(joined: Sequence[tuple[int, int, int, Difference]], lacking: int, limit: int) -> int:
    """How many records can be included without a union above the limit; counted up to the number lacking."""
    found = 0
    for weight, _, _, each in joined:
        if weight > limit or found >= lacking:
            break
        found += each.records
    return found


def _weigher(weights: Sequence[int]) -> Callable[[int], int]:
    """`weight_of`, faster for many sets."""
    classes = [(w, sum(1 << place for place, other in enumerate(weights) if other == w)) for w in set(weights)]
    if len(classes) == 1:
        [(only, _)] = classes
        return lambda mask: only * mask.bit_count()
    return lambda mask: sum(weight * (mask & members).bit_count() for weight, members in classes)
