"""One hitting set of least weight, with a proof or a lower bound."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from qidsql.schema import positions
from qidsql.search.hitting_sets import TICK, minimal_masks

STEPS = 50_000  # branches tried before an integer program is asked, where there is a solver
SOLVER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class HittingSet:
    """A hitting set, its weight, and the least weight that any hitting set can have as far as is proved."""

    mask: int
    cost: int
    lower_bound: int

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


def weight_of(mask: int, weights: Sequence[int]) -> int:
    """The sum of the weights of the columns."""
    return sum(weights[place] for place in positions(mask))


def minimum_hitting_set(
    masks: Iterable[int],
    weights: Sequence[int],
    steps: int = STEPS,
    tick: Callable[[], object] = lambda: None,
) -> HittingSet:
    """A hitting set of least weight of masks that are not empty; weights are positive integers, one per column.

    Branch and bound on bit sets: branches on the columns of a smallest mask not hit, bounded by masks that share no
    column. After `steps` branches HiGHS goes on, where `highspy` is installed; what is not proved by then shows in
    the lower bound. `tick` is called now and then and may raise. Raises ValueError for an empty mask.
    """
    edges = minimal_masks(masks)
    if 0 in edges:
        raise ValueError("no set hits an empty mask")
    best = _greedy(edges, weights)
    bound = _packing(edges, ~0, weights)
    if weight_of(best, weights) == bound:
        return HittingSet(best, bound, bound)
    best, finished = _branch(edges, weights, best, steps, tick)
    cost = weight_of(best, weights)
    return HittingSet(best, cost, cost) if finished else _solve(edges, weights, HittingSet(best, cost, bound))


def _greedy(edges: Sequence[int], weights: Sequence[int]) -> int:
    """A hitting set: the column that hits most per weight, again and again, then those left out that can be."""
    chosen, left = 0, list(edges)
    while left:
        counts: dict[int, int] = {}
        for edge in left:
            for place in positions(edge):
                counts[place] = counts.get(place, 0) + 1
        place = max(counts, key=lambda place: (counts[place] / weights[place], -place))
        chosen |= 1 << place
        left = [edge for edge in left if not edge >> place & 1]
    for place in sorted(positions(chosen), key=lambda place: -weights[place]):
        rest = chosen & ~(1 << place)
        if all(edge & rest for edge in edges):
            chosen = rest
    return chosen


def _packing(edges: Sequence[int], free: int, weights: Sequence[int]) -> int:
    """A lower bound: masks that share no column are hit by as many columns. `free` columns may be chosen."""
    total, used = 0, 0
    for edge in edges:
        edge &= free
        if not edge & used:
            used |= edge
            total += min((weights[place] for place in positions(edge)), default=0)
    return total


def _branch(
    edges: Sequence[int], weights: Sequence[int], best: int, steps: int, tick: Callable[[], object]
) -> tuple[int, bool]:
    """The best hitting set found, and whether it is proved to be one of least weight."""
    cost = weight_of(best, weights)
    stack: list[tuple[int, int, int, Sequence[int]]] = [(0, 0, ~0, edges)]  # chosen, its weight, free columns, not hit
    taken = 0
    while stack:
        taken += 1
        if taken > steps:
            return best, False
        if taken % TICK == 0:
            tick()
        chosen, spent, free, left = stack.pop()
        if not left:
            if spent < cost:
                best, cost = chosen, spent
            continue
        left = sorted((edge & free for edge in left), key=int.bit_count)
        if not left[0] or spent + _packing(left, free, weights) >= cost:
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
    return best, True


def _solve(edges: Sequence[int], weights: Sequence[int], best: HittingSet) -> HittingSet:
    """The same as an integer program, where a solver is installed."""
    try:
        import highspy
    except ImportError:
        return best
    columns = sorted({place for edge in edges for place in positions(edge)})
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", SOLVER_SECONDS)
    variables = {place: solver.addBinary(obj=weights[place]) for place in columns}
    for edge in edges:
        solver.addConstr(sum(variables[place] for place in positions(edge)) >= 1)
    solver.minimize()
    chosen = sum(1 << place for place in columns if solver.val(variables[place]) > 0.5)
    # Floats propose, integers decide: a bound is taken rounded up, less than the solver's tolerance away.
    bound = max(best.lower_bound, -int(-(solver.getInfo().mip_dual_bound - 1e-6) // 1))
    if all(edge & chosen for edge in edges) and weight_of(chosen, weights) < best.cost:
        return HittingSet(chosen, weight_of(chosen, weights), bound)
    return HittingSet(best.mask, best.cost, min(bound, best.cost))
