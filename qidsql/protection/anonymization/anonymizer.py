"""Anonymizations of row patterns: greedy, improved by local search and by prices of rows, or by integer program.

[Chakaravarthy, Pandit & Sabharwal, 2 and 4]
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.protection.anonymization.assignment import Assignment, Group, Share, cheapest_assignment
from qidsql.protection.anonymization.bound_check import bound_of
from qidsql.protection.anonymization.groups import Groups, number_type
from qidsql.protection.anonymization.local_search import LocalSearch
from qidsql.protection.anonymization.placements import greedy_placement, priced_placement
from qidsql.protection.anonymization.prices import Prices
from qidsql.protection.anonymization.units import Units
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.search.result import ENDINGS, stopped_by
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill

EXACT_PAIRS = 60_000  # row patterns x column sets solved exactly by default
MOST_PAIRS = 2_000_000  # ... solved exactly on request
FEW_COLUMNS = 12  # up to this number every column set is tried
MEMORY = 1 << 28  # bytes for the groups of rows
WORK = 3_000_000_000  # numbers looked at when there is no deadline: about a minute
PATIENCE = 60.0  # seconds for the integer program when there is no deadline
UPDATES_AT_ONCE = 20  # of the prices, before an anonymization is made by them


@dataclass(frozen=True, slots=True)
class Anonymization:
    """A plan for all rows: the workbench's table `shares` (pattern, kept, size: so many rows of the row pattern keep
    these columns). No anonymization costs less than `lower_bound`.

    `cells` counts the suppressed cells of each column, `cost` is their weight, `rows` the rows that lose a cell,
    `rows_blank` those that lose all. `stopped` is why the search ended early, if it did.
    """

    algorithm: str
    cost: int
    lower_bound: int
    cells: tuple[int, ...]
    rows: int
    rows_blank: int
    stopped: Stopped | StatementError | None = None

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


@dataclass(frozen=True, slots=True)
class _Plan:
    """The cost of a plan, and its shares as arrays: so many `rows` of a row pattern keep these columns."""

    algorithm: str
    cost: int
    patterns: NDArray[np.int64]
    kept: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, algorithm: str, found: Assignment) -> "_Plan":
        columns = np.array([(share.pattern, share.kept, share.rows) for share in found.shares], dtype=np.int64).T
        return cls(algorithm, found.cost, *columns)

    def shares(self) -> tuple[Share, ...]:
        """The shares, one for each row pattern and column set."""
        pairs, place = np.unique(np.stack((self.patterns, self.kept)), axis=1, return_inverse=True)
        rows = np.zeros(pairs.shape[1], dtype=np.int64)
        np.add.at(rows, place.reshape(-1), self.rows)
        return tuple(Share(*each) for each in zip(*pairs.tolist(), rows.tolist(), strict=True))


class _Enough(Exception):
    """The work of a search without a deadline is done."""


class Anonymizer:
    """The search for the cheapest anonymization of some row patterns, at least k rows. Sends the source no statement.

    `memory` is for the groups of rows (see Groups), in bytes; `deadline` is of `time.monotonic`. Without a deadline the
    work is limited, so that equal codes get equal plans. Raises Stopped, StatementError.
    """

    def __init__(
        self,
        patterns: RowPatterns,
        k: int,
        weights: Sequence[int],
        memory: int = MEMORY,
        deadline: float | None = None,
        on_stage: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self._bench, self._k, self._weights = patterns.bench, k, tuple(weights)
        self._deadline, self._on_stage, self._work = deadline, on_stage, 0
        self._records = patterns.records()
        every = 1 << len(weights)
        number = number_type(self._records, k).itemsize
        few = len(weights) <= FEW_COLUMNS and number * every * self._records.count <= memory
        plan = None if few else SuppressionPlan.of(patterns, k, weights, deadline=deadline, on_stage=on_stage)
        column_sets = _wishes(plan, patterns.values) if plan else range(every)
        self._groups = Groups(self._records, k, weights, column_sets, memory, self._check)
        self._units = Units(self._groups)
        self._prices = Prices(self._groups) if self._groups.complete else None
        self._lower_bound = self._prices.bound if self._prices else plan.weight if plan else 0

    @property
    def small(self) -> bool:
        """Whether the integer program is small enough to be solved as a whole."""
        return self._pairs <= EXACT_PAIRS and self._groups.complete

    @property
    def solvable(self) -> bool:
        """Whether the solver may find a better plan within an hour, though hardly a proof."""
        return self._pairs <= MOST_PAIRS and self._groups.complete

    @property
    def _pairs(self) -> int:
        return self._records.count << len(self._weights)

    def run(self, exact: bool = False) -> Anonymization:
        """The cheapest anonymization found, as the table `shares`, with the proved bound.

        Once the greedy plan is made, the best plan is returned whatever ends the search: its own end, the deadline,
        Ctrl-C, too little memory. `exact`: the integer program is solved at last, for a minute or until the deadline.
        """
        self._on_stage("placing the rows")
        placed = greedy_placement(self._groups, self._units, self._units.unplaced(self._groups), self._check)
        self._best = self._plan("greedy", int(self._groups.losses_in(placed) @ self._units.sizes), placed)
        stopped: Stopped | StatementError | None = None
        try:
            stopped = self._improve(placed, exact)
        except MemoryError:
            stopped = BudgetSpent("the search for a cheaper plan ran out of memory; raise ?memory_limit")
        except ENDINGS as ending:
            stopped = stopped_by(ending).with_traceback(None)  # which would keep all of the search in memory
        self._write()
        return self._account(stopped)

    def _improve(self, placed: NDArray[np.int64], exact: bool) -> Stopped | None:
        """Look for cheaper plans and higher bounds; why the integer program ended early, if it did."""
        with suppress(_Enough):
            self._search("greedy, local search", placed)
            if self._prices and not (exact and self.small):
                self._ascend(self._prices)
        return self._solve() if exact and self._best.cost > self._lower_bound else None

    def _ascend(self, prices: Prices) -> None:
        """Raise the lower bound by prices, and search from plans that the prices suggest."""
        for done in prices.ascend(self._check):
            self._lower_bound = prices.bound
            if self._best.cost == self._lower_bound:
                return
            if done % UPDATES_AT_ONCE == 0:
                placed = priced_placement(self._groups, self._units, prices, self._check)
                self._search("prices of rows, local search", placed)

    def _search(self, algorithm: str, placed: NDArray[np.int64]) -> None:
        """Keep what a local search from there finds, if it is cheaper."""
        search = LocalSearch(self._groups, self._units, placed, self._check)
        for cost in search.run():
            if cost < self._best.cost:
                self._best = self._plan(algorithm, cost, search.placed)
                self._on_stage(f"improving a cost of {cost:,}, of which {self._lower_bound:,} are needed")

    def _solve(self) -> Stopped | None:
        """Solve the integer program, from the best plan on; why it ended early, if it did."""
        self._on_stage("solving the integer program")
        known = Assignment(self._best.shares(), self._best.cost, self._lower_bound)
        found = cheapest_assignment(
            self._records.sizes.tolist(),
            [Group(kept, members) for members, kept in self._groups.members().items()],
            self._k,
            self._weights,
            self._deadline or time.monotonic() + PATIENCE,
            known,
        )
        self._best = _Plan.of("integer program", found)
        self._lower_bound = found.lower_bound
        return found.stopped

    def _plan(self, algorithm: str, cost: int, placed: NDArray[np.int64]) -> _Plan:
        """The plan that places the units in these groups."""
        kept = np.array(self._groups.sets, dtype=np.int64)[self._groups.set_of(placed)]
        return _Plan(algorithm, cost, self._units.records, kept, self._units.sizes)

    def _write(self) -> None:
        self._bench.query(fill("workbench/anonymization/shares"), "making of a table")
        pattern, kept, rows = np.array([astuple(share) for share in self._best.shares()]).T
        self._bench.add("shares", "noting of the plan", pattern=pattern, kept=kept, size=rows)

    def _account(self, stopped: Stopped | StatementError | None) -> Anonymization:
        """The plan that was written, counted in the workbench."""
        lost = [
            self._bench.node(f"COALESCE(SUM(CASE WHEN kept & {1 << place} = 0 THEN size ELSE 0 END), 0)")
            for place in range(len(self._weights))
        ]
        everything = (1 << len(self._weights)) - 1
        query = fill("workbench/anonymization/suppressed_cells", lost=lost, everything=everything)
        [row] = self._bench.query(query, "account of the cells")
        rows, blank, *cells = map(integer, row)
        cost = sum(weight * number for weight, number in zip(self._weights, cells, strict=True))
        return Anonymization(self._best.algorithm, cost, self._lower_bound, tuple(cells), rows, blank, stopped)

    # checks

    def wrong(self) -> int:
        """The number of groups with fewer than k rows, and of row patterns whose shares do not add up."""
        parts = (f"CASE WHEN kept & {1 << place} <> 0 THEN c{place} ELSE -1 END" for place in range(len(self._weights)))
        key = self._bench.node(f"[{', '.join(parts)}]")  # the codes of kept columns, -1 for the others
        [row] = self._bench.query(fill("workbench/anonymization/wrong_shares", key=key, k=self._k), "check of the plan")
        return sum(map(integer, row))

    def bound_holds(self) -> bool:
        """Whether the best prices, if there are any, prove their bound, computed anew from the codes."""
        prices = self._prices
        return prices is None or prices.bound <= bound_of(
            self._records, self._k, self._weights, prices.best, prices.parts
        )

    def _check(self, work: int) -> None:
        """Count work; raise BudgetSpent if the time is up, without a deadline _Enough if enough is done."""
        self._work += work
        if self._deadline is None:
            if self._work > WORK:
                raise _Enough
        elif time.monotonic() > self._deadline:
            raise BudgetSpent("the time budget (--max-seconds) is used up")


def _wishes(plan: SuppressionPlan, values: Sequence[int]) -> Iterable[int]:
    """The column sets that most rows would keep if each could choose, and ever smaller ones, without the columns of
    most values first."""
    everything = kept = (1 << len(values)) - 1
    for place in sorted(range(len(values)), key=lambda place: -values[place]):
        kept &= ~(1 << place)
        yield kept
    yield from (everything & ~mask for mask in sorted(plan.masks, key=lambda mask: (-plan.masks[mask], mask)))


def write_plan(patterns: RowPatterns) -> None:
    """Make the table `plan` (pattern, mask, first_row, last_row) of the workbench's shares."""
    everything = (1 << len(patterns.names)) - 1
    patterns.bench.query(fill("workbench/anonymization/plan_of_shares", everything=everything), "plan")
