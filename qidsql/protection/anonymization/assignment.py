"""k-anonymization by suppression: every row identical to at least k - 1 others; a suppressed cell is a value (`*`).

[Chakaravarthy, Pandit & Sabharwal, "On the complexity of the k-anonymization problem"] NP-hard from three columns on,
even to approximate closely (Theorems 3.1, 3.2); the integer program over row patterns of their section 4 is exact.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions, weight_of
from qidsql.errors import Stopped
from qidsql.protection.row_patterns import Records
from qidsql.search.integer_programs import IntegerProgram, solve


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


# The groups of rows that suppression could make identical: the classes of k rows or more on each column set.


def number_type(records: Records, k: int) -> "np.dtype[np.signedinteger]":
    """The type of the numbers of classes of k rows."""
    return np.dtype(np.int16 if records.rows // k < 1 << 15 else np.int32)


class Groups:
    """The classes of k rows or more on column sets, numbered set by set, those that lose least first.

    `numbers[s, r]` is the class of record r on the set `sets[s]`, or -1 if it has fewer than k rows; `first[s]` plus
    that is the number of the group. `losses[s]` is the weight of the columns that the set does not keep. The first set
    keeps all columns, the last one none; of the sets given, those at the end are left out if the numbers would need
    more than `memory` bytes: 2 or 4 for each record and set. `complete`: no column set is missing.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        column_sets: Iterable[int],
        memory: int,
        check: Callable[[int], object] = lambda work: None,
    ) -> None:
        self.records, self.k, self._check = records, k, check
        everything = (1 << records.columns) - 1
        kind = number_type(records, k)
        room = max(2, memory // (kind.itemsize * records.count))
        wanted = list(dict.fromkeys([everything, 0, *column_sets]))[:room]
        losses = {kept: weight_of(everything & ~kept, weights) for kept in wanted}
        self.sets = sorted(wanted, key=lambda kept: (losses[kept], kept))
        self.losses = np.array([losses[kept] for kept in self.sets], dtype=np.int64)
        self.complete = len(self.sets) == everything + 1
        self.numbers = np.full((len(self.sets), records.count), -1, dtype=kind)
        self.first = np.concatenate(([0], np.cumsum(self._number_classes())))

    @property
    def count(self) -> int:
        return int(self.first[-1])

    @property
    def root(self) -> int:
        """The group of all rows, which keep nothing."""
        return self.count - 1

    def set_of(self, groups: NDArray[np.int64]) -> NDArray[np.intp]:
        """The place of the column set of each group."""
        return np.searchsorted(self.first, groups, side="right") - 1

    def losses_in(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a row loses in each group."""
        found: NDArray[np.int64] = self.losses[self.set_of(groups)]
        return found

    def members(self) -> dict[tuple[int, ...], int]:
        """The records of every group, with the column set that loses least of those they all agree on."""
        found: dict[tuple[int, ...], int] = {}
        for place, kept in enumerate(self.sets):
            order = np.argsort(self.numbers[place], kind="stable")
            ends = np.cumsum(np.bincount(self.numbers[place] + 1))
            for part in np.split(order, ends)[1:-1]:
                found.setdefault(tuple(part.tolist()), kept)
        return found

    def least_losses(self) -> NDArray[np.int64]:
        """For each record the least loss with which k rows agree on what it keeps."""
        found = np.full(self.records.count, self.losses[-1])
        for place in reversed(range(len(self.sets))):
            found[self.numbers[place] >= 0] = self.losses[place]
        return found

    def _number_classes(self) -> list[int]:
        """Fill `numbers`; return the number of classes of each set."""
        counts = [0] * len(self.sets)
        for place, rows, classes in large_classes(self.records, self.k, self.sets, self._check):
            self.numbers[place, rows] = classes
            counts[place] = int(classes.max(initial=-1)) + 1
        return counts


def large_classes(
    records: Records, k: int, sets: Sequence[int], check: Callable[[int], object]
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.int64]]]:
    """For the place of each column set the records in classes of k rows or more, and the numbers of their classes.

    Each set is refined from one that it extends. `check` is called for each set and may raise.
    """
    rows = np.arange(records.count)
    path = [(0, rows, np.zeros(len(rows), dtype=np.int64))]  # each a beginning of the next
    for place in sorted(range(len(sets)), key=lambda place: tuple(positions(sets[place]))):
        check(0)
        kept = sets[place]
        while path[-1][0] != kept & ((1 << path[-1][0].bit_length()) - 1):
            path.pop()
        for column in positions(kept & ~path[-1][0]):
            before, rows, classes = path[-1]
            path.append((before | 1 << column, *_refined(records, k, rows, classes, column)))
        yield place, *path[-1][1:]


def least_losses(records: Records, k: int, weights: Sequence[int], check: Callable[[int], object]) -> NDArray[np.int64]:
    """For each record the least loss with which k rows agree on what it keeps, of all column sets."""
    everything = (1 << records.columns) - 1
    found = np.full(records.count, sum(weights))
    for kept, rows, _ in large_classes(records, k, range(everything + 1), check):
        found[rows] = np.minimum(found[rows], weight_of(everything & ~kept, weights))
    return found


def _refined(
    records: Records, k: int, rows: NDArray[np.intp], classes: NDArray[np.int64], column: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The records that are still in classes of k rows after one more column, and their classes."""
    keys = records.refined(rows, classes, column)
    large = np.bincount(keys, weights=records.sizes[rows]) >= k  # exact below 2^53 rows
    chosen = large[keys]
    return rows[chosen], (np.cumsum(large) - 1)[keys[chosen]]


# Rows as units that an anonymization places one by one.


class Units:
    """The rows of the records as units that move alone, in the order of their records.

    Of a record of 2 k rows or more, all but k rows are one unit, which stays in the group that keeps everything.
    """

    def __init__(self, groups: Groups) -> None:
        sizes, k = groups.records.sizes, groups.k
        large = sizes >= 2 * k
        number = np.where(large, k + 1, sizes)
        self.records = np.repeat(np.arange(len(sizes)), number)
        self.first = np.concatenate(([0], np.cumsum(number)))
        self.sizes = np.ones(len(self.records), dtype=np.int64)
        self.sizes[self.first[1:][large] - 1] = sizes[large] - k

    def of(self, records: NDArray[np.integer]) -> NDArray[np.intp]:
        """The units of these records, record after record."""
        numbers = self.first[records + 1] - self.first[records]
        shift = self.first[records] - np.concatenate(([0], np.cumsum(numbers)[:-1]))
        found: NDArray[np.intp] = np.arange(numbers.sum()) + np.repeat(shift, numbers)
        return found

    def unplaced(self, groups: Groups) -> NDArray[np.int64]:
        """No group (-1) for each unit, but for the units of several rows the one that keeps everything."""
        whole = groups.first[0] + groups.numbers[0, self.records]
        return np.where(self.sizes > 1, whole, -1)


# Plans for all rows: which columns how many rows of each row pattern keep.


Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """The cost of a plan, and its `table`: row pattern, kept columns, rows; computed on demand."""

    algorithm: str
    cost: int
    table: Callable[[], tuple[Numbers, Numbers, Numbers]]

    @classmethod
    def of_blank_rows(cls, records: Records, weights: Sequence[int]) -> "Plan":
        """The plan that suppresses everything: no table of k rows or more needs a dearer one."""
        patterns = np.arange(records.count)
        return cls("all rows blank", records.rows * sum(weights), lambda: (patterns, patterns * 0, records.sizes))

    @classmethod
    def of_shares(cls, algorithm: str, cost: int, shares: Sequence[Share]) -> "Plan":
        columns = np.array([(share.pattern, share.kept, share.rows) for share in shares], dtype=np.int64).T
        return cls(algorithm, cost, lambda: (columns[0], columns[1], columns[2]))

    @classmethod
    def of_units(cls, algorithm: str, cost: int, groups: Groups, units: Units, placed: Numbers) -> "Plan":
        """The plan that places the units in these groups, as they are now."""
        placed = placed.copy()

        def table() -> tuple[Numbers, Numbers, Numbers]:
            sets = groups.set_of(placed)
            order = np.lexsort((sets, units.records))
            patterns, sets = units.records[order], sets[order]
            new = (np.diff(patterns, prepend=-1) != 0) | (np.diff(sets, prepend=-1) != 0)
            starts = np.flatnonzero(new)
            kept = np.array(groups.sets, dtype=np.int64)[sets[starts]]
            return patterns[starts], kept, np.add.reduceat(units.sizes[order], starts)

        return cls(algorithm, cost, table)

    def shares(self) -> tuple[Share, ...]:
        """The table as shares."""
        return tuple(Share(*each) for each in zip(*(column.tolist() for column in self.table()), strict=True))
