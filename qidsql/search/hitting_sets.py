"""Minimal hitting sets (minimal transversals) of a family of sets, as bit masks. Independent of tables and engines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import inf, lcm
from operator import or_
from typing import TypeAlias

from qidsql.core.tables import positions, weight_of
from qidsql.errors import Interrupted, Stopped

STEPS_PER_CHECK = 4096  # steps between two checks of the clock, if masks are few


def minimal_masks(masks: Iterable[int], tick: Callable[[], object] = lambda: None) -> list[int]:
    """The masks that contain no other mask, smallest first: a set that hits these hits all.

    Costs up to columns * kept / 64 word operations per mask instead of a comparison with every kept mask. `tick` is
    called from time to time and may raise.

    >>> [bin(mask) for mask in minimal_masks([0b111, 0b011, 0b100])]
    ['0b100', '0b11']
    """
    ordered = sorted(set(masks), key=int.bit_count)
    if 0 in ordered[:1]:
        return [0]
    columns = max((mask.bit_length() for mask in ordered), default=0)
    kept: list[int] = []
    without = [0] * columns  # for each column the kept masks (bit i: kept[i]) that lack it
    for _, group in groupby(ordered, key=int.bit_count):  # masks of one size do not contain each other
        everyone = (1 << len(kept)) - 1
        commonest = sorted((free.bit_count(), 1 << place, free) for place, free in enumerate(without))
        new = []
        for number, mask in enumerate(group):
            if number % 64 == 0:
                tick()
            inside = everyone  # the kept masks that may still be contained in this one
            for _, bit, free in commonest:
                if not mask & bit:
                    inside &= free
                    if not inside:
                        break
            if not inside:
                new.append(mask)
        all_new = (1 << len(new)) - 1
        for place, having in enumerate(transposed(new, columns)):
            without[place] |= (all_new ^ having) << len(kept)
        kept += new
    return kept


def transposed(masks: Sequence[int], columns: int) -> list[int]:
    """For each column the masks that contain it, as a bit mask over their numbers.

    >>> [bin(masks) for masks in transposed([0b01, 0b11], columns=2)]
    ['0b11', '0b10']
    """
    if not masks:
        return [0] * columns
    digits = "".join(format(mask, f"0{columns}b") for mask in reversed(masks))
    return [int(digits[place::columns], 2) for place in reversed(range(columns))]


def hits_all(chosen: int, masks: Iterable[int]) -> bool:
    """True if the set shares an element with every mask.

    >>> hits_all(0b001, [0b011, 0b101]), hits_all(0b010, [0b011, 0b101])
    (True, False)
    """
    return all(chosen & mask for mask in masks)


class MinimalHittingSets(Iterator[int]):
    """Every minimal hitting set of the masks once, lazily: memory stays constant however many there are.

    Depth first; a branch is cut as soon as a chosen element is no longer the only one to hit some mask. With
    `max_size`, only those of at most so many elements; after the last one `cut` is True if larger ones may exist.
    Sets that contain one of `avoiding` are skipped together with the whole branch. `tick` is called from time to time
    and may raise to end the search. `minimal`: the masks come from `minimal_masks` and need no further check.

    [Murakami & Uno 2014, algorithm MMCS]
    """

    def __init__(
        self,
        masks: Iterable[int],
        max_size: int | None = None,
        avoiding: Sequence[int] = (),
        tick: Callable[[], object] = lambda: None,
        minimal: bool = False,
    ) -> None:
        self.cut = False
        self._tick = tick
        self._masks = list(masks) if minimal else minimal_masks(masks, tick)
        self._max_size = max_size
        self._avoiding = avoiding
        self._found = self._search()

    def __next__(self) -> int:
        return next(self._found)

    def _search(self) -> Iterator[int]:
        masks, avoiding = self._masks, self._avoiding
        if 0 in masks or 0 in avoiding:
            return
        if not masks:
            yield 0
            return
        limit = len(masks) if self._max_size is None else self._max_size
        if limit <= 0:
            self.cut = True
            return
        columns = max(mask.bit_length() for mask in masks)
        everything = (1 << len(masks)) - 1
        hit = transposed(masks, columns)
        missed = [everything ^ masks_hit for masks_hit in hit]
        avoided: dict[int, list[int]] = {}
        for avoid in avoiding:
            for place in positions(avoid):
                avoided.setdefault(place, []).append(avoid)
        # chosen elements, masks not hit yet, elements that may be chosen, per chosen element the masks it alone hits
        stack: list[tuple[int, int, int, list[int]]] = [(0, everything, (1 << columns) - 1, [])]
        steps, pause = 0, max(1, STEPS_PER_CHECK * 64 // (64 + len(masks)))  # the time of a step grows with the masks
        while stack:
            steps += 1
            if steps % pause == 0:
                self._tick()
            chosen, left, free, alone = stack.pop()
            smallest = masks[(left & -left).bit_length() - 1]  # masks are in order of size: the fewest branches
            branches = free & smallest
            free ^= branches
            last = len(alone) + 1 >= limit
            while branches:
                bit = branches & -branches
                branches ^= bit
                place = bit.bit_length() - 1
                miss = missed[place]
                still = left & miss
                if still and last:
                    self.cut = True
                    continue
                kept = [own & miss for own in alone]
                if 0 in kept:
                    continue  # an element became superfluous, and stays so in every larger set
                free |= bit
                grown = chosen | bit
                if avoiding and place in avoided and any(grown & avoid == avoid for avoid in avoided[place]):
                    continue
                if still:
                    kept.append(left & hit[place])
                    stack.append((grown, still, free, kept))
                else:
                    yield grown


# One hitting set of least weight, with a proof or a lower bound.


MOST_BRANCHES = 400_000  # branches tried before an integer program, some 20 microseconds each
FIRST_MASKS = 1_000  # masks that are searched at first, the smallest
MORE = 32  # masks added to these of those that a set found misses
LOOKS = 12  # masks compared for the one with the fewest columns to branch on
BRANCHES_PER_CHECK = 8  # branches between two checks of the clock

_Node: TypeAlias = tuple[int, int, int, int]  # columns chosen, their weight, masks not hit yet, columns free to choose


@dataclass(frozen=True, slots=True)
class HittingSet:
    """A hitting set, its weight, and the proved lower bound for the weight of any hitting set.

    `stopped` is why the search ended early, if it did.
    """

    mask: int
    cost: int
    lower_bound: int
    stopped: Stopped | None = None

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


def minimum_hitting_set(
    masks: Iterable[int],
    weights: Sequence[int],
    steps: int = MOST_BRANCHES,
    tick: Callable[[], object] = lambda: None,
    minimal: bool = False,
    at_least: int = 0,
) -> HittingSet:
    """A hitting set of least weight of masks that are not empty: `LeastHittingSets` of one family of masks.

    >>> bin(minimum_hitting_set([0b011, 0b110], weights=[1, 1, 1]).mask)
    '0b10'
    """
    return LeastHittingSets(weights, steps, tick, at_least).least(masks, minimal)


class LeastHittingSets:
    """Hitting sets of least weight of masks that become more. Weights are positive integers, one per column.

    Branch and bound on bit sets. A tree of partial choices is searched for hitting sets within a limit of weight; if it
    has none, the limit is raised to the least weight that may suffice. The search begins with few masks, as most are
    hit anyway; while the set found misses others, some of these are added, and it goes on where it found the set, also
    in the next call: more masks only exclude more. After `steps` branches in one call HiGHS, an integer programming
    solver, continues. `tick` is called from time to time; when it raises Stopped, and at Ctrl-C, the best set and the
    bound known by then are returned.

    `bound`: no hitting set of the last masks weighs less. `at_least`: such a bound proved before.
    """

    def __init__(
        self,
        weights: Sequence[int],
        steps: int = MOST_BRANCHES,
        tick: Callable[[], object] = lambda: None,
        at_least: int = 0,
    ) -> None:
        self.bound = at_least
        self._weights, self._steps, self._tick = weights, steps, tick
        self._density = [lcm(*weights) // weight for weight in weights]  # so that hits per weight compare as integers
        self._lightest = min(weights, default=1)
        self._best = self._cost = 0  # the best hitting set of the last masks, and its weight
        self._some = set[int]()  # the masks that are searched
        self._taken = 0  # branches in this call
        self._open: list[tuple[int, int]] = []  # nodes of the tree not searched: columns chosen, columns free to choose
        self._limit = 0  # of the sets searched in the tree
        self._beyond = inf  # no set that the searched nodes lead to weighs less

    def least(self, masks: Iterable[int], minimal: bool = False) -> HittingSet:
        """A hitting set of least weight of the masks; a set that hits them must hit those of the last call too.

        `minimal`: the masks come from `minimal_masks` and need no further check. Raises ValueError for an empty mask.
        """
        edges = sorted(set(masks), key=int.bit_count)
        if 0 in edges:
            raise ValueError("no set hits an empty mask")
        self._found(light_hitting_set(edges, self._weights))
        self.bound = max(self.bound, _packing(edges, self._weights))
        self._taken = 0
        stopped: Stopped | None = None
        try:
            stopped = self._search(edges if minimal else minimal_masks(edges, self._tick))
        except Stopped as stop:
            stopped = stop
        except KeyboardInterrupt:
            stopped = Interrupted("interrupted")
        return HittingSet(self._best, self._cost, self.bound, stopped)

    def _found(self, chosen: int) -> None:
        self._best, self._cost = chosen, weight_of(chosen, self._weights)

    def _search(self, edges: Sequence[int]) -> Stopped | None:
        """Search until the best set is one of least weight. Returns why it ended early. Raises Stopped."""
        hit = transposed(edges, len(self._weights))
        self._some = {*edges[:FIRST_MASKS], *self._some.intersection(edges)}
        while self._cost > self.bound:
            chosen = self._branch(sorted(self._some, key=int.bit_count))
            if chosen is None:
                return self._solve(edges)
            missed = _missed(chosen, hit, len(edges))
            if not missed:
                self._found(chosen)
            self._some.update(_first(edges, missed, MORE))
        return None

    def _branch(self, edges: Sequence[int]) -> int | None:
        """A set of least weight that hits some of the masks; the best one, if no other weighs less; None if that takes
        too many steps. Raises Stopped.

        `left` has a bit for each mask that a node does not hit yet, so that one operation on long integers counts the
        masks that a column would hit.
        """
        hit, weights = transposed(edges, len(self._weights)), self._weights
        best = min(self._best, light_hitting_set(edges, weights), key=lambda chosen: weight_of(chosen, weights))
        cost = weight_of(best, weights)
        while cost > self.bound:
            if not self._open or self._limit < self.bound:
                self._open, self._beyond = [(0, (1 << len(weights)) - 1)], inf
                self._limit = self.bound + max(weights) // 2  # weights that differ: not every sum is a step
            stack: list[_Node] = [
                (chosen, weight_of(chosen, weights), _missed(chosen, hit, len(edges)), free)
                for chosen, free in self._open
            ]
            self._open = []
            while stack:
                chosen, spent, left, free = stack.pop()
                if not left and spent < cost:
                    best, cost = chosen, spent
                self._taken += 1
                if self._taken % BRANCHES_PER_CHECK == 0:
                    self._tick()
                if cost <= self.bound or self._taken > self._steps:
                    self._open = [*((chosen, free) for chosen, _, _, free in stack), (chosen, free)]
                    return best if cost <= self.bound else None
                self._limit = min(self._limit, cost - 1)
                stack += self._children(chosen, spent, left, free, hit, edges)
            self.bound = int(min(cost, self._beyond))
        return best

    def _children(
        self, chosen: int, spent: int, left: int, free: int, hit: Sequence[int], edges: Sequence[int]
    ) -> list[_Node]:
        """The nodes to search after this one, the most promising last; none if they lead to no set within the limit.

        The columns that hit most per weight must hit all masks left within the limit (the bound of the continuous
        knapsack).
        """
        weights, budget = self._weights, self._limit - spent
        if not left:
            return self._close(spent)
        if budget < 2 * self._lightest:
            return self._last(chosen, spent, left, free, edges)
        counts = {place: count for place in positions(free) if (count := (hit[place] & left).bit_count())}
        dense = sorted(counts, key=lambda place: -counts[place] * self._density[place])
        if (needed := _least_needed(dense, counts, weights, left.bit_count())) > budget:
            return self._close(spent + needed)
        branches = min((edge & free for edge in _first(edges, left, LOOKS)), key=int.bit_count)
        children = []
        for place in (place for place in dense if branches >> place & 1):
            free &= ~(1 << place)  # a column tried is excluded from the branches after it
            if weights[place] <= budget:
                children.append((chosen | 1 << place, spent + weights[place], left & ~hit[place], free))
            else:
                self._close(spent + weights[place])
        return children[::-1]

    def _last(self, chosen: int, spent: int, left: int, free: int, edges: Sequence[int]) -> list[_Node]:
        """The next choices where the limit allows one column more at most, which must be in all masks left."""
        weights, common, rest = self._weights, free, left
        while rest and common:
            common &= edges[(rest & -rest).bit_length() - 1]
            rest &= rest - 1
        if not common:
            return self._close(spent + 2 * self._lightest)
        place = min(positions(common), key=lambda place: weights[place])
        if spent + weights[place] > self._limit:
            return self._close(spent + min(weights[place], 2 * self._lightest))
        free &= ~(1 << place)
        return [(chosen, spent, left, free), (chosen | 1 << place, spent + weights[place], 0, free)]

    def _close(self, least: float) -> list[_Node]:
        """Leave a node out, as no set that it leads to weighs less, and that is beyond the limit."""
        self._beyond = min(self._beyond, least)
        return []

    def _solve(self, edges: Sequence[int]) -> Stopped | None:
        """Search as an integer program: a 0-1 variable per column, a row per mask. Returns why it ended early."""
        from qidsql.search.integer_programs import IntegerProgram, solve  # few searches need numpy

        program = IntegerProgram()
        columns = list(positions(reduce(or_, edges)))
        variables = {place: program.variable(self._weights[place], upper=1) for place in columns}
        for edge in edges:
            self._tick()
            program.between(1, [(variables[place], 1) for place in positions(edge)])
        solution = solve(program, start=[float(self._best >> place & 1) for place in columns], tick=self._tick)
        if solution.values is not None:
            chosen = sum(1 << place for place in columns if solution.values[variables[place]] > 0.5)
            if hits_all(chosen, edges) and weight_of(chosen, self._weights) < self._cost:
                self._found(chosen)
        self.bound = min(self._cost, max(self.bound, solution.lower_bound))
        return solution.stopped


def light_hitting_set(edges: Sequence[int], weights: Sequence[int]) -> int:
    """A minimal hitting set of masks that are not empty, of small weight but not least.

    Repeatedly takes the column that hits most masks per weight, then removes columns that are not needed.

    >>> bin(light_hitting_set([0b011, 0b110], weights=[1, 1, 1]))
    '0b10'
    """
    hit = transposed(edges, len(weights))
    chosen, left = 0, (1 << len(edges)) - 1  # the masks that are not hit yet, as bits
    while left:
        place = max(range(len(weights)), key=lambda place: ((hit[place] & left).bit_count() / weights[place], -place))
        chosen |= 1 << place
        left &= ~hit[place]
    for place in sorted(positions(chosen), key=lambda place: -weights[place]):
        rest = chosen & ~(1 << place)
        if reduce(or_, (hit[other] for other in positions(rest)), 0).bit_count() == len(edges):
            chosen = rest
    return chosen


def _packing(edges: Sequence[int], weights: Sequence[int]) -> int:
    """A lower bound: masks that share no column need as many columns."""
    total, used = 0, 0
    for edge in edges:
        if not edge & used:
            used |= edge
            total += min(weights[place] for place in positions(edge))
    return total


def _missed(chosen: int, hit: Sequence[int], masks: int) -> int:
    """The masks that the columns do not hit, as bits, the first for the smallest mask."""
    return ~reduce(or_, (hit[place] for place in positions(chosen)), 0) & (1 << masks) - 1


def _first(edges: Sequence[int], left: int, most: int) -> Iterator[int]:
    """The first masks left, at most so many, which are the smallest."""
    for _ in range(most):
        if not left:
            return
        yield edges[(left & -left).bit_length() - 1]
        left &= left - 1


def _least_needed(dense: Sequence[int], counts: Mapping[int, int], weights: Sequence[int], masks: int) -> float:
    """A lower bound for the weight of columns that hit so many masks; `dense` begins with the most per weight."""
    needed = 0
    for place in dense:
        if counts[place] >= masks:
            return needed + -(-masks * weights[place] // counts[place])
        masks -= counts[place]
        needed += weights[place]
    return inf
