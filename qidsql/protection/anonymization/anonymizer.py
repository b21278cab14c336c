"""Anonymizations of row patterns: greedy, improved by local search and by prices of rows, or by integer program.

[Chakaravarthy, Pandit & Sabharwal, 2 and 4]
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.budget import check_time
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent, StatementError, Stopped, UsageError
from qidsql.protection.anonymization.assignment import (
    Assignment,
    Group,
    Groups,
    Plan,
    Units,
    cheapest_assignment,
    least_losses,
    number_type,
)
from qidsql.protection.anonymization.bounds import Prices, bound_of
from qidsql.protection.anonymization.local_search import LocalSearch, nested, plan_by_cycles, wishes
from qidsql.protection.anonymization.placements import greedy_placement, priced_placement
from qidsql.protection.certificates import BoundProof, ProvedBy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import MAX_COLUMNS
from qidsql.protection.suppression.row_bound import bound_by_rows
from qidsql.search.result import ENDINGS, stopped_by
from qidsql.sql.templates import fill, integer

EXACT_PAIRS = 60_000  # row patterns x column sets solved exactly by default
MOST_PAIRS_SOLVED = 2_000_000  # ... solved exactly on request
FEW_COLUMNS = 12  # up to this number every column set is tried
BYTES_OF_GROUPS = 1 << 28  # bytes for the groups of rows
ANONYMIZER_WORK = 3_000_000_000  # numbers looked at when there is no deadline: about a minute
PROGRAM_SECONDS = 60.0  # seconds for the integer program when there is no deadline
UPDATES_AT_ONCE = 20  # of the prices, before an anonymization is made by them
CHECK = 2.5  # the check of a bound takes so many times as long as the numbering of the groups
BOUNDED = 10_000_000_000  # comparisons of row patterns and column sets for the bound by rows before a deadline
MOST_PATTERNS_COMPARED = 3_000_000_000  # pairs of row patterns that are matched with each other before a deadline
MATCHED = 1e-7  # seconds for each of them, at least
GREEDY = "greedy"


@dataclass(frozen=True, slots=True)
class Anonymization:
    """A plan for all rows: the workbench's table `shares` (pattern, kept, size: so many rows of the row pattern keep
    these columns). No anonymization costs less than `lower_bound`, by `proof`.

    `cells` counts the suppressed cells of each column, `cost` is their weight, `rows` the rows that lose a cell,
    `rows_blank` those that lose all. `stopped` is why the search ended early, if it did.
    """

    algorithm: str
    cost: int
    lower_bound: int
    cells: tuple[int, ...]
    rows: int
    rows_blank: int
    proof: BoundProof
    stopped: Stopped | StatementError | None = None

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


class _Enough(Exception):
    """The work of a search without a budget is done."""


class _Late(Exception):
    """A part of the search has taken its part of the time."""


class Anonymizer:
    """The search for the cheapest anonymization of some row patterns, at least k rows. Sends the source no statement.

    `memory` is for the groups of rows (see Groups), in bytes; `deadline` is of `time.monotonic`. `work` limits the
    numbers that the improvement looks at; within the same work, equal codes get equal plans. With neither, the work is
    limited to about a minute. Raises UsageError for more than 63 columns, Stopped, StatementError.
    """

    def __init__(
        self,
        patterns: RowPatterns,
        k: int,
        weights: Sequence[int],
        memory: int = BYTES_OF_GROUPS,
        deadline: float | None = None,
        on_stage: Callable[[str], None] = lambda stage: None,
        work: int | None = None,
    ) -> None:
        if len(weights) > MAX_COLUMNS:
            raise UsageError(
                f"anonymization takes up to {MAX_COLUMNS} columns, not {len(weights)}; name them with --column"
            )
        self._patterns, self._bench, self._k, self._weights = patterns, patterns.bench, k, tuple(weights)
        self._memory, self._deadline, self._on_stage = memory, deadline, on_stage
        self._left, self._work = work if work is not None or deadline is not None else ANONYMIZER_WORK, work
        self._records = patterns.records()
        number = number_type(self._records, k).itemsize
        self._complete = len(weights) <= FEW_COLUMNS and (number * self._records.count << len(weights)) <= memory
        self._prices: Prices | None = None
        self._lower_bound = int(self._records.sizes[self._records.sizes < k].sum()) * min(weights)
        self._proof = BoundProof(ProvedBy.ROWS)
        self._best = Plan.of_blank_rows(self._records, weights)

    @property
    def plan(self) -> Plan:
        """The cheapest plan so far."""
        return self._best

    @property
    def small(self) -> bool:
        """Whether the integer program is small enough to be solved as a whole."""
        return self._pairs <= EXACT_PAIRS and self._complete

    @property
    def solvable(self) -> bool:
        """Whether the solver may find a better plan within an hour, though hardly a proof."""
        return self._pairs <= MOST_PAIRS_SOLVED and self._complete

    @property
    def _pairs(self) -> int:
        return self._records.count << len(self._weights)

    def run(self, exact: bool = False) -> Anonymization:
        """The cheapest anonymization found, as the table `shares`, with the proved bound.

        At any moment there is a plan: all rows blank, then a greedy one by few column sets, by many, and its
        improvements. The best is returned whatever ends the search: its own end, the budget, Ctrl-C, too little
        memory. `exact`: the integer program is solved at last, for a minute or until the deadline.
        """
        stopped: Stopped | StatementError | None = None
        try:
            stopped = self._improve(exact)
        except MemoryError:
            stopped = BudgetSpent("the search for a cheaper plan ran out of memory; raise ?memory_limit")
        except ENDINGS as ending:
            stopped = stopped_by(ending).with_traceback(None)  # which would keep all of the search in memory
        self._write()
        return self._account(stopped)

    def _improve(self, exact: bool) -> Stopped | None:
        """Look for cheaper plans and higher bounds; why the integer program ended early, if it did."""
        self._on_stage("placing the rows")
        self._place(nested(self._patterns.values))
        placed = self._place(self._column_sets())
        if not self._complete:
            self._bound_rows()
        with suppress(_Enough):
            self._cut_cycles()
            self._search("greedy, local search", placed)
            if self._prices and not (exact and self.small):
                self._ascend(self._prices)
        return self._solve() if exact and self._best.cost > self._lower_bound else None

    def _column_sets(self) -> Iterable[int]:
        """The column sets whose groups are opened: all, or those that rows are likely to keep."""
        if self._complete:
            return range(1 << len(self._weights))
        return wishes(self._records, self._k, self._weights, self._patterns.values, self._check)

    def _bound_rows(self) -> None:
        """Raise the lower bound by what each row needs, within a third of the time left; without a deadline, where that
        takes about a minute or less."""
        few, until = len(self._weights) <= FEW_COLUMNS, self._third()
        if until is None and (4 * self._pairs if few else self._pairs + self._records.count**2) > BOUNDED:
            return
        with suppress(_Late):
            if few:
                losses = least_losses(self._records, self._k, self._weights, self._check_until(until))
                bound = int(losses @ self._records.sizes)
            else:
                bound = bound_by_rows(self._patterns, self._k, self._weights, until, self._on_stage)
            self._raise_bound(bound, ProvedBy.ROWS)

    def _raise_bound(self, bound: int, by: ProvedBy, prices: NDArray[np.int64] | None = None, parts: int = 1) -> None:
        """Keep a higher bound, and what it follows from."""
        if bound > self._lower_bound:
            self._lower_bound = bound
            self._proof = BoundProof(by) if prices is None else BoundProof.by_prices(by, prices, parts)

    def _place(self, column_sets: Iterable[int]) -> NDArray[np.int64]:
        """Open the groups of these column sets, and place the rows in them the greedy way."""
        began = time.monotonic()
        groups = Groups(self._records, self._k, self._weights, column_sets, self._memory, self._check)
        self._groups, self._units = groups, Units(groups)
        if groups.complete:
            self._prices = Prices(groups)
            self._raise_bound(self._prices.bound, ProvedBy.ROWS)
        numbering = time.monotonic() - began
        placed = greedy_placement(groups, self._units, self._units.unplaced(groups), self._check)
        self._keep(GREEDY, int(groups.losses_in(placed) @ self._units.sizes), placed)
        if self._prices and self._deadline is not None:
            self._deadline -= CHECK * numbering
        return placed

    def _cut_cycles(self) -> None:
        """At k = 2, keep the plan by cycles if it is the cheapest, and its bound; within a third of the time left."""
        pairs = self._records.count**2
        if self._k != 2 or pairs > (MOST_PATTERNS_COMPARED if self._left is None else self._left):
            return
        until = self._third()
        if until is not None and time.monotonic() + MATCHED * pairs > until:
            return
        self._on_stage("matching rows with other rows")
        with suppress(_Late):
            plan, bound, prices = plan_by_cycles(self._records, self._weights, self._check_until(until))
            self._raise_bound(bound, ProvedBy.PEOPLE, prices)
            self._best = min(self._best, plan, key=lambda each: each.cost)
        self._check(pairs)

    def _ascend(self, prices: Prices) -> None:
        """Raise the lower bound by prices, and search from plans that the prices suggest."""
        for done in prices.ascend(self._check):
            self._raise_bound(prices.bound, ProvedBy.PRICES, prices.best, prices.parts)
            if self._best.cost == self._lower_bound:
                return
            if done % UPDATES_AT_ONCE == 0:
                placed = priced_placement(self._groups, self._units, prices, self._check)
                self._search("prices of rows, local search", placed)

    def _search(self, algorithm: str, placed: NDArray[np.int64]) -> None:
        """Keep what a local search from there finds, if it is cheaper."""
        search = LocalSearch(self._groups, self._units, placed, self._check)
        for cost in search.run():
            self._keep(algorithm, cost, search.placed)

    def _keep(self, algorithm: str, cost: int, placed: NDArray[np.int64]) -> None:
        """Keep the plan that places the units in these groups, if it is the cheapest."""
        if cost < self._best.cost:
            self._best = Plan.of_units(algorithm, cost, self._groups, self._units, placed)
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
            self._deadline or time.monotonic() + PROGRAM_SECONDS,
            known,
        )
        self._best = Plan.of_shares("integer program", found.cost, found.shares)
        self._raise_bound(found.lower_bound, ProvedBy.SOLVER)
        return found.stopped

    def _write(self) -> None:
        write_shares(self._bench, *self._best.table())

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
        return Anonymization(
            self._best.algorithm, cost, self._lower_bound, tuple(cells), rows, blank, self._proof, stopped
        )

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

    def _third(self) -> float | None:
        """The moment at which a third of the time left is over."""
        now = time.monotonic()
        return None if self._deadline is None else now + (self._deadline - now) / 3

    def _check_until(self, until: float | None) -> Callable[..., None]:
        """A check of the budget that raises _Late after that moment."""

        def check(work: int = 0) -> None:
            self._check(work)
            if until is not None and time.monotonic() > until:
                raise _Late

        return check

    def _check(self, work: int) -> None:
        """Count work; raise BudgetSpent if the budget is used up, and _Enough if there is none and enough is done."""
        check_time(self._deadline)
        if self._left is not None and work:
            self._left -= work
            if self._left < 0:
                raise _Enough if self._work is None else BudgetSpent("the budget of work (--max-work) is used up")


def write_shares(
    bench: Workbench, pattern: NDArray[np.integer], kept: NDArray[np.integer], rows: NDArray[np.integer]
) -> None:
    """Make the table `shares` of the workbench: so many rows of a row pattern keep these columns."""
    bench.query(fill("workbench/anonymization/shares"), "making of a table")
    bench.add("shares", "noting of the plan", pattern=pattern, kept=kept, size=rows)


def write_plan(patterns: RowPatterns) -> None:
    """Make the table `plan` (pattern, mask, first_row, last_row) of the workbench's shares."""
    everything = (1 << len(patterns.names)) - 1
    patterns.bench.query(fill("workbench/anonymization/plan_of_shares", everything=everything), "plan")


def shares_by_mask(patterns: RowPatterns) -> exp.Select:
    """The query for the workbench's shares by the columns that they lose: pattern, mask, size."""
    mask = f"CAST({(1 << len(patterns.names)) - 1} - kept AS BIGINT) AS mask"
    return exp.select("pattern", mask, "size").from_("shares")
