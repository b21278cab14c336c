"""One hitting set of least weight, with a proof or a lower bound."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from qidsql.core.tables import positions, weight_of
from qidsql.errors import Interrupted, Stopped
from qidsql.search.hitting_sets import hits_all, minimal_masks, transposed
from qidsql.search.integer_program import IntegerProgram, solve

STEPS = 2_000  # branches tried before an integer program: the solver starts more slowly, and gets further


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
) -> HittingSet:
    """A hitting set of least weight of masks that are not empty; weights are positive integers, one per column.

    Branch and bound on bit sets: branches on the columns of a smallest mask not hit, bounded by masks that share no
    column. After `steps` branches HiGHS, an integer programming solver, continues. `tick` is called from time to time;
    when it raises Stopped, and at Ctrl-C, the best set and the bound known by then are returned. `minimal`: the masks
    come from `minimal_masks` and need no further check. Raises ValueError for an empty mask.
    """
    edges = sorted(set(masks), key=int.bit_count)
    if 0 in edges:
        raise ValueError("no set hits an empty mask")
    greedy = light_hitting_set(edges, weights)
    best = HittingSet(greedy, weight_of(greedy, weights), _packing(edges, ~0, weights))
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


def _packing(edges: Sequence[int], free: int, weights: Sequence[int]) -> int:
    """A lower bound: masks that share no column need as many columns. `free` columns may be chosen."""
    total, used = 0, 0
    for edge in edges:
        edge &= free
        if not edge & used:
            used |= edge
            total += min((weights[place] for place in positions(edge)), default=0)
    return total


def _branch(
    edges: Sequence[int], weights: Sequence[int], best: HittingSet, steps: int, tick: Callable[[], object]
) -> HittingSet:
    """The best hitting set found; one of least weight unless it takes more steps. Raises Stopped."""
    stack: list[tuple[int, int, int, Sequence[int]]] = [(0, 0, ~0, edges)]  # chosen, its weight, free columns, not hit
    taken = 0
    while stack:
        taken += 1
        if taken > steps:
            return best
        tick()
        chosen, spent, free, left = stack.pop()
        if not left:
            if spent < best.cost:
                best = HittingSet(chosen, spent, best.lower_bound)
            continue
        left = sorted((edge & free for edge in left), key=int.bit_count)
        if not left[0] or spent + _packing(left, free, weights) >= best.cost:
            continue
        branches = sorted(
            positions(left[0]), key=lambda place: sum(edge >> place & 1 for edge in left) / weights[place]
        )
        later = free
        children = []
        for place in reversed(branches):  # the most promising first; a column tried is excluded from the next branches
            rest = [edge for edge in left if not edge >> place & 1]
            children.append((chosen | 1 << place, spent + weights[place], later, rest))
            later &= ~(1 << place)
        stack += reversed(children)
    return replace(best, lower_bound=best.cost)


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
