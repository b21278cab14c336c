"""Suppression so that k released rows show each combination of values that a released row shows.

Wilson asks that "none of the post-suppression non-missing combinations of values" be unique (3.3). All combinations
of a row are part of all that it shows, so k rows must show all of that and may show more. Of rows that show most,
nobody shows more: k of them are equal. So a plan is a number of *cores*, values that k rows or more show exactly, and
every other row shows what it has in common with a core. Each such plan is safe: the k rows of its core show all that a
row shows. Anonymizations are such plans without other rows. Rows that are safe each on its own need k rows that agree,
but no core, so that their optimum is a lower bound.

Which cores are best is a facility location problem with a lower bound for each facility. The plan comes from local
search, without a proof.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.budget import WorkLimit
from qidsql.core.tables import weight_of
from qidsql.errors import BudgetSpent, UsageError
from qidsql.protection.certificates import BoundProof
from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.protection.suppression.plan import BY_ROWS, MAX_COLUMNS, SETS_PLANNED_AT_ONCE, SuppressionPlan, plan_masks
from qidsql.protection.suppression.restoration import Suppressed, restorable
from qidsql.protection.suppression.row_bound import bound_by_rows
from qidsql.protection.suppression.row_search import CELLS, common, neighbours
from qidsql.sql.masks import Packing, big
from qidsql.sql.templates import fill, fill_query, integer, union_all

# A plan in which rows of one pattern lose different cells.


@dataclass(frozen=True, slots=True)
class LostCells:
    """Rows of each `record`, so many (`sizes`), lose the flagged columns: a line of flags for each."""

    record: NDArray[np.intp]
    sizes: NDArray[np.int64]
    lost: NDArray[np.bool_]


def divided_plan(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    found: LostCells,
    method: str,
    bound: int,
    deadline: float | None,
    proof: BoundProof = BY_ROWS,
) -> SuppressionPlan:
    """The plan by which rows lose these cells: its `patterns` are divided by what they lose.

    `bound` is a lower bound of the weight of all such plans, by `proof`. Queries the workbench only. Raises Stopped,
    StatementError.
    """
    bench = patterns.bench
    masks = found.lost @ (1 << np.arange(len(weights), dtype=np.int64))
    bench.query(fill("workbench/suppression/shares"), "making of a table", deadline)
    pairs, place = np.unique(np.stack((found.record, masks)), axis=1, return_inverse=True)
    rows = np.zeros(pairs.shape[1], dtype=np.int64)
    np.add.at(rows, place.reshape(-1), found.sizes)
    bench.add("shares", "noting of the plan", pattern=pairs[0], mask=pairs[1], size=rows)
    codes = [exp.column(f"c{number}", table="patterns") for number in range(len(weights))]
    bench.query(fill("workbench/suppression/divided_patterns", codes=codes), "patterns of the plan", deadline)
    bench.query(fill("workbench/suppression/divided_plan"), "the plan", deadline)
    divided = replace(patterns, patterns=pairs.shape[1])
    cost = int(found.sizes @ (found.lost @ np.array(weights, dtype=np.int64)))
    masks_now = plan_masks(divided, deadline)
    return SuppressionPlan(divided, k, tuple(weights), masks_now, (method,), min(bound, cost), proof)


def check_columns(patterns: RowPatterns) -> None:
    """Raise UsageError for more columns than a mask has bits."""
    if len(patterns.names) > MAX_COLUMNS:
        raise UsageError(
            f"suppression takes up to {MAX_COLUMNS} columns, not {len(patterns.names)}; name them with --column"
        )


NEAR = 20  # others of each record that cores are made of
SEEDS = 6  # ... of which each is tried as the first company of a row
BLANK = -1  # a cell that a core does not show; NULL is 0, and shown by no core
NO_PLACE = -1
CORE_WORK = 20_000  # the work of looking at one core
NEVER = -(1 << 60)
LEAST_SAVING_PART = 1_000  # the search ends after a round that saves less than this part of the cost


class Cores:
    """A plan, better with each step of `improve`: at any moment each row shows a part of a core, or nothing.

    Records of k rows or more are cores of themselves. The others' rows are units that move alone. `check` is called
    with the numbers looked at, and may raise to end the search, after which the plan stands as it is. Deterministic.
    """

    def __init__(
        self, records: Records, k: int, weights: Sequence[int], check: Callable[[int], object] = lambda work: None
    ) -> None:
        self._records, self._k, self._check = records, k, check
        self._weights = np.array(weights, dtype=np.int64)
        self._whole = np.flatnonzero(records.sizes >= k)
        few = np.flatnonzero(records.sizes < k)
        self._unit = np.repeat(few, records.sizes[few])  # the record of each unit
        every = np.stack(records.codes, axis=1).astype(np.int32)
        self._codes = every[self._unit]
        self._core = np.full((len(self._whole) + len(self._unit) + 1, records.columns), BLANK, dtype=np.int32)
        self._core[: len(self._whole)] = np.where(every[self._whole] > 0, every[self._whole], BLANK)
        self._used = len(self._whole)  # lines of cores so far
        self._free: list[int] = []  # lines of cores that were closed
        self._worth = np.zeros(len(self._core), dtype=np.int64)  # what a row that shows all of a core shows
        self._worth[: self._used] = (self._core[: self._used] > 0) @ self._weights
        self._at = np.full(len(self._unit), NO_PLACE, dtype=np.intp)  # the core that each unit shows a part of
        self._shows = np.zeros(len(self._unit), dtype=np.int64)
        self._members: dict[int, set[int]] = {}  # the units at each core that is made of units

    @property
    def cost(self) -> int:
        """The weight that is lost."""
        return int(((self._codes > 0) @ self._weights).sum() - self._shows.sum())

    def improve(self) -> Iterator[int]:
        """Search until a round saves little; yields the cost after each round."""
        if not len(self._unit):
            return
        self._near = self._units_near()
        self._attach()
        random = np.random.default_rng(0)
        least = 1  # that a new core must save: in later rounds nothing, which leads out of local optima
        while True:
            before = self.cost
            for seed in range(min(SEEDS, self._near.shape[1])):
                companies, promise = self._companies(seed)
                order = np.argsort(-promise, kind="stable") if least else random.permutation(len(promise))
                for unit in order.tolist():
                    if promise[unit] >= least:
                        self._check(CORE_WORK)
                        self._open(companies[unit], least)
            self._join_cores()
            self._close_cores()
            self._attach()
            yield self.cost
            if (before - self.cost) * LEAST_SAVING_PART <= before and least == 0:
                return
            least = 0

    def plan(self) -> LostCells:
        """What all rows lose now."""
        lost: NDArray[np.bool_] = np.full(self._codes.shape, True)
        placed = self._at != NO_PLACE
        lost[placed] = self._codes[placed] != self._core[self._at[placed]]
        lost &= self._codes > 0  # a NULL shows nothing as it is
        whole = np.zeros((len(self._whole), lost.shape[1]), dtype=bool)
        return LostCells(
            np.concatenate((self._whole, self._unit)),
            np.concatenate((self._records.sizes[self._whole], np.ones(len(self._unit), dtype=np.int64))),
            np.concatenate((whole, lost)),
        )

    def _units_near(self) -> NDArray[np.intp]:
        """For each unit others that are similar: those of its record first."""
        few, first, place = np.unique(self._unit, return_index=True, return_inverse=True)
        if len(few) == 1:
            near = np.zeros((1, 0), dtype=np.intp)
        else:
            part = Records(tuple(codes[few] for codes in self._records.codes), self._records.sizes[few])
            near = neighbours(part, self._weights, NEAR, self._check)
        sizes = self._records.sizes[few]
        found = []
        for step in range(1, min(self._k, int(sizes.max()) + 1)):  # units of the same record, else the unit itself
            rank = np.arange(len(self._unit)) - first[place]
            found.append(first[place] + (rank + step) % sizes[place])
        return np.concatenate((*(each[:, None] for each in found), first[near][place]), axis=1)

    # steps

    def _attach(self) -> None:
        """Let each unit that no core needs show the most that it has in common with any core."""
        open_cores = np.array([*range(len(self._whole)), *sorted(self._members)], dtype=np.intp)
        if not len(open_cores):
            return
        step = max(1, CELLS // (len(open_cores) * self._codes.shape[1]))
        for start in range(0, len(self._unit), step):
            block = slice(start, start + step)
            self._check(len(self._unit[block]) * len(open_cores))
            found = common(self._codes[block, None], self._core[open_cores], self._weights)
            best = found.argmax(axis=1)
            most = found[np.arange(len(best)), best]
            for place in np.flatnonzero(most > self._shows[block]).tolist():
                if not self._needed(start + place):
                    self._put(start + place, int(open_cores[best[place]]), int(most[place]))

    def _companies(self, seed: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """For each unit k units that may be a core, itself and neighbours, and the most that it could save."""
        units, k = len(self._unit), self._k
        companies, promise = np.zeros((units, k), dtype=np.intp), np.zeros(units, dtype=np.int64)
        step = max(1, CELLS // (self._near.shape[1] * self._codes.shape[1]))
        for start in range(0, units, step):
            block = np.arange(start, min(start + step, units))
            near, lines = self._near[block], np.arange(len(block))
            self._check(near.size)
            codes = self._codes[block]
            same = (self._codes[near] == codes[:, None]) & (codes > 0)[:, None]
            chosen = [block, near[:, seed]]
            kept, taken = same[:, seed], near == near[:, seed, None]
            for _ in range(k - 2):
                worth = (same & kept[:, None]) @ self._weights
                worth[taken | (near == block[:, None])] = -1
                best = worth.argmax(axis=1)
                chosen.append(near[lines, best])
                kept = kept & same[lines, best]
                taken |= near == chosen[-1][:, None]
            company = np.stack(chosen, axis=1)
            core = np.where(kept, codes, BLANK)
            worth = kept @ self._weights
            gains = worth * k - self._shows[company].sum(axis=1)
            others = common(self._codes[near], core[:, None], self._weights) - self._shows[near]
            promise[block] = gains + np.maximum(others, 0).sum(axis=1)
            ordered = np.sort(company, axis=1)
            promise[block[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]] = NEVER
            companies[block] = company
        return companies, promise

    def _open(self, company: NDArray[np.intp], least: int) -> None:
        """Open a core that this company shows, if that saves at least so much."""
        codes = self._codes[company]
        core = np.where((codes == codes[0]).all(axis=0) & (codes[0] > 0), codes[0], BLANK)
        worth = int((core > 0) @ self._weights)
        before = self._shows[company]
        if not worth or ((self._at[company] == self._at[company[0]]).all() and (before == worth).all()):
            return
        near = np.setdiff1d(self._near[company], company)
        gained = common(self._codes[near], core, self._weights) - self._shows[near]
        joining = near[gained > 0]
        bonus = int(gained[gained > 0].sum())
        if worth * self._k - int(before.sum()) + bonus < least:
            return
        closed, homeless = self._closed_without(company.tolist())
        free = [unit for unit in joining.tolist() if unit not in homeless and not self._whole_at(unit)]
        joining = np.array(free, dtype=np.intp)
        gained = common(self._codes[joining], core, self._weights) - self._shows[joining]
        rest = np.array(sorted(homeless), dtype=np.intp)
        homes, shows = self._best_near(rest, closed)
        there = common(self._codes[rest], core, self._weights)
        saved = worth * self._k - int(before.sum()) + int(gained.sum())
        saved += int((np.maximum(shows, there) - self._shows[rest]).sum())
        if saved < least:
            return
        number = self._free.pop() if self._free else self._used
        self._used += number == self._used
        self._core[number], self._worth[number] = core, worth
        for unit in company.tolist():
            self._put(unit, number, worth)
        for unit, gain in zip(joining.tolist(), gained.tolist(), strict=True):
            self._put(unit, number, int(self._shows[unit]) + gain)
        for unit, home, most, here in zip(rest.tolist(), homes.tolist(), shows.tolist(), there.tolist(), strict=True):
            self._put(unit, *((number, here) if here >= most else (home, most)))

    def _join_cores(self) -> None:
        """Move units to better cores, also where their core is closed then."""
        for unit in range(len(self._unit)):
            self._check(self._near.shape[1])
            alone = np.array([unit])
            homes, shows = self._best_near(alone, set())
            if shows[0] <= self._shows[unit] or homes[0] == self._at[unit]:
                continue
            closed, homeless = self._closed_without([unit])
            if homes[0] in closed:
                continue
            self._rehouse(np.array([unit, *sorted(homeless)]), closed)

    def _close_cores(self) -> None:
        """Close cores whose units show more elsewhere."""
        for core in sorted(self._members):
            self._check(CORE_WORK)
            if core in self._members:
                self._rehouse(np.array(sorted(self._members[core])), {core})

    def _rehouse(self, units: NDArray[np.intp], closed: set[int]) -> None:
        """Put the units, all of the closed cores among them, to the best cores near them if that lets more be shown."""
        homes, shows = self._best_near(units, closed)
        if shows.sum() > self._shows[units].sum():
            for unit, home, most in zip(units.tolist(), homes.tolist(), shows.tolist(), strict=True):
                self._put(unit, home, most)

    # state

    def _best_near(self, units: NDArray[np.intp], closed: set[int]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """For each unit the core of it or a neighbour with which it has most in common, and how much; nowhere: 0."""
        near = np.concatenate((self._at[units, None], self._at[self._near[units]]), axis=1)
        if closed:
            near = np.where(np.isin(near, list(closed)), NO_PLACE, near)
        found = common(self._codes[units, None], self._core[near], self._weights)  # the last line of cores is blank
        best = found.argmax(axis=1)
        lines = np.arange(len(units))
        shows = found[lines, best]
        return np.where(shows > 0, near[lines, best], NO_PLACE), shows

    def _closed_without(self, leaving: Sequence[int]) -> tuple[set[int], set[int]]:
        """The cores that fewer than k units show without these, and the other units there."""
        closed: set[int] = set()
        homeless: set[int] = set()
        gone = set(leaving)
        for core in {int(self._at[unit]) for unit in leaving} & self._members.keys():
            rest = self._members[core] - gone
            if self._number_whole(core, rest) < self._k:
                closed.add(core)
                homeless |= rest
        return closed, homeless

    def _number_whole(self, core: int, units: set[int]) -> int:
        """How many of these units at the core show all of it."""
        return int(np.count_nonzero(self._shows[list(units)] == self._worth[core]))

    def _whole_at(self, unit: int) -> bool:
        """Whether the unit shows all of a core that is made of units."""
        core = int(self._at[unit])
        return core in self._members and bool(self._shows[unit] == self._worth[core])

    def _needed(self, unit: int) -> bool:
        """Whether the core of the unit would have fewer than k units that show all of it without this one."""
        core = int(self._at[unit])
        if not self._whole_at(unit):
            return False
        return self._number_whole(core, self._members[core]) <= self._k

    def _put(self, unit: int, core: int, shows: int) -> None:
        before = int(self._at[unit])
        if before in self._members:
            self._members[before].discard(unit)
            if not self._members[before]:
                del self._members[before]
                self._free.append(before)
        self._at[unit], self._shows[unit] = core, shows
        if core >= len(self._whole):
            self._members.setdefault(core, set()).add(unit)


# The plan after which k released rows show each combination of values that a released row shows.


METHOD = "cores that k rows share, by local search"


def plan_for_combinations(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    limit: WorkLimit,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> tuple[SuppressionPlan, BudgetSpent | None]:
    """A plan that leaves no combination to fewer than k rows [Wilson, 3.3], and why the search ended early, if it did.

    There is a plan at any moment, and the limit only ends its improvement. The bound is what rows lose if each is
    safe on its own, which takes a third of the time at most. Rows of one pattern may lose different cells: its
    `patterns` are divided accordingly. Queries the workbench only. Raises UsageError for too many columns, Stopped if
    interrupted, StatementError.
    """
    check_columns(patterns)
    records = patterns.records()
    bound = bound_by_rows(patterns, k, weights, limit.third(), on_stage, wildcard=records.has_null)
    cores = Cores(records, k, weights, limit.spend)
    stopped = None
    try:
        for cost in cores.improve():
            on_stage(f"improving a cost of {cost:,}, of which {bound:,} are needed")
    except BudgetSpent as spent:
        stopped = spent if limit.given else None
    return divided_plan(patterns, k, weights, cores.plan(), METHOD, bound, None), stopped


# A plan with fewer cells than the best of every row on its own: suppressed cells of one row protect others too.


def shared(plan: SuppressionPlan, *, deadline: float | None = None) -> SuppressionPlan:
    """The plan with patterns restored that others protect, in the same table. Such plans have no proved bound.

    A statement to the workbench per dozen suppressed column sets. Raises Stopped, StatementError.
    """
    patterns, bench = plan.patterns, plan.patterns.bench
    packing, everything = Packing(patterns.values), (1 << len(patterns.names)) - 1
    bench.query(fill("workbench/suppression/suppressed"), "patterns that lose cells", deadline)
    masks = [mask for mask in plan.masks if mask]
    pairs: list[tuple[int, int]] = []
    for first in range(0, len(masks), SETS_PLANNED_AT_ONCE):
        queries = []
        for mask in masks[first : first + SETS_PLANNED_AT_ONCE]:
            agree = packing.agree(everything & ~mask, "protector", "protected")
            query = fill_query("workbench/suppression/protected_pairs", mask=big(mask), agree=agree)
            queries.append(query)
        found = union_all(queries)
        rows = bench.query(found, "rows that blank cells protect", deadline)
        pairs += ((integer(one), integer(other)) for one, other in rows)
    losing = exp.select("pattern", "size", "mask").from_("suppressed").order_by(exp.column("pattern"))
    suppressed = [
        Suppressed(integer(pattern), integer(size), integer(size) * weight_of(integer(mask), plan.weights))
        for pattern, size, mask in bench.query(losing, "patterns that lose cells", deadline)
    ]
    whole = restorable(suppressed, pairs, plan.k)
    if not whole:
        return replace(plan, lower_bound=None)
    spared = exp.update("plan", {"mask": 0}, where=exp.column("pattern").isin(*whole))
    bench.query(spared, "patterns that stay whole", deadline)
    masks_now = plan_masks(patterns, deadline)
    return replace(
        plan, masks=masks_now, methods=(*plan.methods, f"{len(whole):,} patterns whole again"), lower_bound=None
    )
