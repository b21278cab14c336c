"""One hitting set of least weight, with a proof or a lower bound."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import lcm
from operator import or_

from qidsql.core.tables import positions, weight_of
from qidsql.errors import Interrupted, Stopped
from qidsql.search.hitting_sets import hits_all, minimal_masks, transposed
from qidsql.search.integer_program import IntegerProgram, solve

STEPS = 400_000  # branches tried before an integer program, some 20 microseconds each
LOOKS = 12  # masks compared for the one with the fewest columns to branch on


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
    steps: int = STEPS,
    tick: Callable[[], object] = lambda: None,
    minimal: bool = False,
    at_least: int = 0,
) -> HittingSet:
    """A hitting set of least weight of masks that are not empty; weights are positive integers, one per column.

    Branch and bound on bit sets; after `steps` branches HiGHS, an integer programming solver, continues. `tick` is
    called from time to time; when it raises Stopped, and at Ctrl-C, the best set and the bound known by then are
    returned. `minimal`: the masks come from `minimal_masks` and need no further check. `at_least`: a lower bound proved
    before, such as the optimum for some of the masks. Raises ValueError for an empty mask.
    """
    edges = sorted(set(masks), key=int.bit_count)
    if 0 in edges:
        raise ValueError("no set hits an empty mask")
    greedy = light_hitting_set(edges, weights)
    best = HittingSet(greedy, weight_of(greedy, weights), max(at_least, _packing(edges, weights)))
    try:
        edges = edges if minimal else minimal_masks(edges, tick)
        if not best.optimal:
            best = _branch(edges, weights, best, steps, tick)
        return best if best.optimal else _solve(edges, weights, best, tick)
    except Stopped as stop:
        return replace(best, stopped=stop)
    except KeyboardInterrupt:
        return replace(best, stopped=Interrupted("interrupted"))


def light_hitting_set(edges: Sequence[int], weights: Sequence[int]) -> int:
    """A minimal hitting set of masks that are not empty, of small weight but not least.

    Repeatedly takes the column that hits most masks per weight, then removes columns that are not needed.
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


def _branch(
    edges: Sequence[int], weights: Sequence[int], best: HittingSet, steps: int, tick: Callable[[], object]
) -> HittingSet:
    """The best hitting set found; one of least weight unless that takes more steps. Raises Stopped.

    A node is a partial choice; `left` has a bit for each mask not hit yet, so that one operation on long integers
    counts the masks that a column would hit. A node is cut if the columns that hit most per weight, up to the budget
    that an improvement leaves, hit fewer masks than are left (the bound of the continuous knapsack).
    """
    hit = transposed(edges, len(weights))
    per_weight = [lcm(*weights) // weight for weight in weights]  # so that densities compare as integers
    stack = [(0, 0, (1 << len(edges)) - 1, reduce(or_, edges, 0))]  # chosen, its weight, masks not hit, free columns
    taken = 0
    while stack:
        taken += 1
        if taken > steps:
            return best
        tick()
        chosen, spent, left, free = stack.pop()
        if not left:
            if spent < best.cost:
                best = replace(best, mask=chosen, cost=spent)
                if best.optimal:
                    return best
            continue
        useful = {place: count for place in positions(free) if (count := (hit[place] & left).bit_count())}
        budget = best.cost - spent - 1
        dense = sorted(useful, key=lambda place: -useful[place] * per_weight[place])
        if _most_hit(dense, useful, weights, budget) < left.bit_count():
            continue
        branches = min((edge & free for edge in _first(edges, left)), key=int.bit_count)
        later, children = free, []
        for place in (place for place in dense if branches >> place & 1):
            later &= ~(1 << place)  # a column tried is excluded from the branches after it
            if weights[place] <= budget:
                children.append((chosen | 1 << place, spent + weights[place], left & ~hit[place], later))
        stack += reversed(children)  # the most promising first
    return replace(best, lower_bound=best.cost)


def _first(edges: Sequence[int], left: int) -> Iterator[int]:
    """The first few masks left, which are the smallest."""
    for _ in range(LOOKS):
        if not left:
            return
        yield edges[(left & -left).bit_length() - 1]
        left &= left - 1


def _most_hit(dense: Sequence[int], counts: Mapping[int, int], weights: Sequence[int], budget: int) -> int:
    """An upper bound on the masks that columns within the budget hit; `dense` begins with the most per weight."""
    most = 0
    for place in dense:
        if weights[place] > budget:
            return most + counts[place] * budget // weights[place]
        budget -= weights[place]
        most += counts[place]
    return most


def _solve(edges: Sequence[int], weights: Sequence[int], best: HittingSet, tick: Callable[[], object]) -> HittingSet:
    """The same as an integer program: a 0-1 variable per column, a row per mask."""
    program = IntegerProgram()
    columns = list(positions(reduce(or_, edges)))
    variables = {place: program.variable(weights[place], upper=1) for place in columns}
    for edge in edges:
        tick()
        program.between(1, [(variables[place], 1) for place in positions(edge)])
    solution = solve(program, start=[float(best.mask >> place & 1) for place in columns], tick=tick)
    bound = max(best.lower_bound, solution.lower_bound)
    if solution.values is not None:
        chosen = sum(1 << place for place in columns if solution.values[variables[place]] > 0.5)
        if hits_all(chosen, edges) and weight_of(chosen, weights) < best.cost:
            best = HittingSet(chosen, weight_of(chosen, weights), bound)
    return HittingSet(best.mask, best.cost, min(bound, best.cost), solution.stopped)
