"""k-anonymization by suppression: every row identical to at least k - 1 others; a suppressed cell is a value (`*`).

[Chakaravarthy, Pandit & Sabharwal, "On the complexity of the k-anonymization problem"] NP-hard from three columns on,
even to approximate closely (Theorems 3.1, 3.2); the integer program over row patterns of their section 4 is exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from qidsql.core.tables import weight_of
from qidsql.errors import Stopped
from qidsql.search.integer_program import IntegerProgram, solve


@dataclass(frozen=True, slots=True)
class Group:
    """Row patterns that agree on the columns `kept`, and would become identical with the others suppressed."""

    kept: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """The number of rows of a row pattern that keep these columns and lose the others."""

    pattern: int
    kept: int
    rows: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """A plan for every row. No anonymization costs less than `lower_bound`; optimal if that is the cost.

    `shares` is empty if nothing was found. `stopped` is why the search ended early, if it did.
    """

    shares: tuple[Share, ...]
    cost: int
    lower_bound: int
    stopped: Stopped | None = None

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


def cheapest_assignment(
    sizes: Sequence[int],
    groups: Sequence[Group],
    k: int,
    weights: Sequence[int],
    deadline: float | None = None,
    known: Assignment | None = None,
) -> Assignment:
    """The cheapest assignment of the rows to groups; each group used has at least k rows.

    `sizes` are the rows of each row pattern; `groups` must contain, for every k rows or more that could be made
    identical, the one that keeps most. The cost of a row is the weight of the columns it loses. Sends no statement;
    time is exponential in the groups; a deadline or Ctrl-C ends it with the best solution and bound known by then.
    `known` is an assignment to start from. [Chakaravarthy et al., 4]
    """
    total = sum(weights)
    program = IntegerProgram()
    taken = []
    attached: list[list[int]] = [[] for _ in sizes]
    for group in groups:
        taken.append(program.variable(0, 1))
        rows = [program.variable(lost(group.kept, weights), sizes[member], whole=False) for member in group.members]
        program.between(0, [*((variable, 1) for variable in rows), (taken[-1], -k)])
        for member, variable in zip(group.members, rows, strict=True):
            attached[member].append(variable)
            program.between(0, [(taken[-1], sizes[member]), (variable, -1)])
    for size, variables in zip(sizes, attached, strict=True):
        program.between(size, [(variable, 1) for variable in variables], size)
    solution = solve(program, deadline, _start(groups, known.shares, len(program.costs)) if known else None)
    lower = max(solution.lower_bound, known.lower_bound if known else 0)
    found = known
    if solution.values is not None:
        shares = _shares(
            sizes, [group for group, each in zip(groups, taken, strict=True) if solution.values[each] > 0.5], k, weights
        )
        cost = cost_of(shares, weights)
        if known is None or cost < known.cost:
            found = Assignment(shares, cost, lower, solution.stopped)
    if found is None:
        return Assignment((), total * sum(sizes), lower, solution.stopped)
    return Assignment(found.shares, found.cost, min(lower, found.cost), solution.stopped)


def _start(groups: Sequence[Group], shares: Iterable[Share], variables: int) -> list[float]:
    """The values of the program's variables that represent the shares."""
    first = list(accumulate((1 + len(group.members) for group in groups), initial=0))
    of_pattern: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for member in group.members:
            of_pattern.setdefault(member, []).append(number)
    values = [0.0] * variables
    for share in shares:
        # Rows that agree on these columns may agree on others too: of the groups that keep these, take the one that
        # keeps the fewest more.
        fitting = (number for number in of_pattern[share.pattern] if not share.kept & ~groups[number].kept)
        number = min(fitting, key=lambda number: groups[number].kept.bit_count())
        values[first[number]] = 1.0
        values[first[number] + 1 + groups[number].members.index(share.pattern)] += share.rows
    return values


def cost_of(shares: Iterable[Share], weights: Sequence[int]) -> int:
    """The weight of all suppressed cells."""
    return sum(lost(share.kept, weights) * share.rows for share in shares)


def lost(kept: int, weights: Sequence[int]) -> int:
    """The weight of the columns that are not kept."""
    return sum(weights) - weight_of(kept, weights)


def _shares(sizes: Sequence[int], taken: Sequence[Group], k: int, weights: Sequence[int]) -> tuple[Share, ...]:
    """The cheapest assignment of the rows to the groups used: a flow, whose vertices are integral."""
    flow = IntegerProgram()
    attached: list[list[tuple[int, Group]]] = [[] for _ in sizes]
    for group in taken:
        cost = lost(group.kept, weights)
        rows = [flow.variable(cost, sizes[member], whole=False) for member in group.members]
        flow.between(k, [(variable, 1) for variable in rows])
        for member, variable in zip(group.members, rows, strict=True):
            attached[member].append((variable, group))
    for size, variables in zip(sizes, attached, strict=True):
        flow.between(size, [(variable, 1) for variable, _ in variables], size)
    values = solve(flow).values
    assert values is not None, "the groups used cover all rows"
    shares = []
    rows_of = dict.fromkeys(taken, 0)
    for pattern, (size, variables) in enumerate(zip(sizes, attached, strict=True)):
        rows_to = {group: round(values[variable]) for variable, group in variables}
        assert sum(rows_to.values()) == size, "a flow lost rows"
        for group, rows_there in rows_to.items():
            rows_of[group] += rows_there
            if rows_there:
                shares.append(Share(pattern, group.kept, rows_there))
    assert all(rows_there >= k for rows_there in rows_of.values()), "a flow left a group too small"
    return tuple(shares)
