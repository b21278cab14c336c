"""Whom an attacker finds in the rows of a suppression plan: people whose values are known, held against the rows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.budget import WorkLimit, check_time
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.certificates import BoundProof, ProvedBy
from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.protection.suppression.combinations import LostCells, check_columns, divided_plan
from qidsql.protection.suppression.matchings import Fits, MatchedRows, Rings, disjoint_matchings, matchings
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.row_bound import bound_by_rows
from qidsql.protection.suppression.verification import MOST_PATTERNS_GROUPED, bound_by_prices
from qidsql.search.integer_programs import Transport
from qidsql.sql.masks import Packing, big
from qidsql.sql.templates import fill, integer
from qidsql.wording.texts import plural

MOST_PATTERN_PAIRS = 1_000_000  # pairs of patterns and releases of which strong components are searched


@dataclass(frozen=True)
class KnownPeople:
    """How many people fit fewer than k released rows. Each row of the table is a person, whose values are all known.

    That each row matches k others does not imply that each person does: suppression protects rows [Gionis, Mazza &
    Tassa, k-Anonymization Revisited, ICDE 2008].
    """

    people: int
    alone: Annotated[int, "people whom exactly one released row fits"]
    below_k: Annotated[int, "people whom fewer than k released rows fit"]
    rows_below_k: Annotated[int, "released rows that fit fewer than k people"]
    likely: Annotated[
        int | None,
        "people whose own row has more than 1/k of the weight, if each row weighs 1 / (people whom it fits); null: not "
        "counted",
    ]
    admissible_below_k: Annotated[
        int | None, "people with fewer than k rows that could be theirs if everybody is known; null: not counted"
    ]
    shown_once: Annotated[
        int | None, "released rows with a visible combination of values that no other row shows; null: not counted"
    ]
    shown_below_k: Annotated[
        int | None, "released rows with a visible combination that fewer than k rows show [Wilson, 3.3]"
    ]

    @classmethod
    def of_matchings(cls, people: int) -> "KnownPeople":
        """What k disjoint matchings of so many people with as many rows prove, where nothing is counted."""
        return cls(people, 0, 0, 0, None, None, None, None)


def known_people(plan: SuppressionPlan, deadline: float | None = None) -> KnownPeople | None:
    """Count the people whom the planned rows single out, exactly. Queries the workbench only.

    A NULL of a person is a value of its own, and a NULL of a released row shows nothing. Someone who knows everybody
    rules out rows by matching all people with all rows: a row can be a person's exactly if the owner of the row and the
    person are in one strong component of the graph person -> owner of a row that fits. None for plans too large to look
    each pattern up once per suppressed column set. Raises Stopped, StatementError.
    """
    patterns, bench = plan.patterns, plan.patterns.bench
    if patterns.patterns * len(plan.masks) > MOST_PATTERNS_GROUPED:
        return None
    packing = Packing(patterns.values)
    bench.query(packing.table(), "packing of row patterns", deadline)
    fits_of(bench, packing, None, deadline)
    [[*counts, pairs]] = bench.query(fill("workbench/suppression/known_people", k=plan.k), "known people", deadline)
    people, alone, below_k, rows_below_k, likely = map(integer, counts)
    few = integer(pairs) <= MOST_PATTERN_PAIRS
    admissible = _admissible(plan) if few else None
    return KnownPeople(
        people, alone, below_k, rows_below_k, likely, admissible, *combinations_shown(bench, packing, plan.k, deadline)
    )


def fits_of(bench: Workbench, packing: Packing, people_only: exp.Expr | None, deadline: float | None) -> None:
    """Make the tables `release_owners` of the rows of `plan`, and `fits` of these with all packed patterns.

    `people_only` is a statement between them, which leaves the people in `packed`. Raises Stopped, StatementError.
    """
    keys, names = packing.shown()
    lanes = [exp.column(f"v{lane}") for lane in packing.lanes]
    hidden = exp.BitwiseOr(this=exp.column("mask"), expression=exp.paren(packing.nulls()))
    visible = packing.visible(exp.column("mask"))
    owners = fill(
        "workbench/suppression/release_owners", hidden=hidden, visible=visible, keys=keys, names=names, lanes=lanes
    )
    bench.query(owners, "released rows", deadline)
    if people_only is not None:
        bench.query(people_only, "people", deadline)
    bench.query(fill("workbench/suppression/fits_of_people", keys=keys, names=names, lanes=lanes), "fits", deadline)


def combinations_shown(bench: Workbench, packing: Packing, k: int, deadline: float | None) -> tuple[int, int]:
    """The numbers of rows in `release_owners` with a visible combination of values that no other row shows, and with
    one that fewer than k rows show. One statement. Raises Stopped, StatementError."""
    names = packing.shown()[1]
    query = fill(
        "workbench/suppression/shown_combinations",
        names=names,
        lanes=[exp.column(f"v{lane}") for lane in packing.lanes],
        keys=[
            exp.alias_(
                exp.BitwiseAnd(
                    this=exp.column(f"key{lane}", table="releases"), expression=exp.column(f"v{lane}", table="masks")
                ),
                f"key{lane}",
            )
            for lane in packing.lanes
        ],
        blank=big((1 << len(packing.values)) - 1),
        k=k,
    )
    [[once, below_k]] = bench.query(query, "combinations that rows show", deadline)
    return integer(once), integer(below_k)


def _admissible(plan: SuppressionPlan) -> int:
    """The number of people with fewer than k rows that are theirs in some assignment of all rows to all people."""
    bench = plan.patterns.bench
    fits = bench.numbers(exp.select("pattern", "release", "people").from_("fits"), "rows that fit people")
    owners = bench.numbers(exp.select("pattern", "release", "size").from_("release_owners"), "owners of rows")
    return admissible_below(plan.k, *fits.values(), *owners.values())


def admissible_below(
    k: int,
    pattern: NDArray[np.int64],
    release: NDArray[np.int64],
    people: NDArray[np.int64],
    owner: NDArray[np.int64],
    owned: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """The number of people with fewer than k rows that are theirs in some assignment of all rows to all people.

    `release` fits `pattern`, who are so many `people`; in one assignment `owner` has rows of `owned`, of these `sizes`.
    """
    import networkx as nx

    number = int(max(pattern.max(), owner.max())) + 1
    graph = nx.DiGraph()
    graph.add_edges_from(zip(pattern.tolist(), (release + number).tolist(), strict=True))
    graph.add_edges_from(zip((owned + number).tolist(), owner.tolist(), strict=True))
    component = np.empty(number + int(release.max()) + 1, dtype=np.int64)
    for place, members in enumerate(nx.strongly_connected_components(graph)):
        component[list(members)] = place
    rows = np.bincount(owned, sizes, minlength=int(release.max()) + 1)[release]  # all rows of a release, or none
    admissible = np.bincount(pattern, np.where(component[pattern] == component[release + number], rows, 0), number)
    sizes_of = np.zeros(number, dtype=np.int64)
    sizes_of[pattern] = people
    return int(sizes_of[admissible < k].sum())


# The plan that withstands someone who knows people: k disjoint matchings of all people with all released rows.


MOST_PATTERNS = 100_000  # all pairs of which are compared, at k = 2; each further permutation multiplies the arcs
EXACT = "k disjoint matchings"
RINGS = "k disjoint matchings: rings in the groups of an anonymization, and blocks of groups matched anew"


@dataclass(frozen=True, slots=True)
class KnownPeoplePlan:
    """The plan; whether its matchings hold by an independent check; why the search ended early, if it did."""

    plan: SuppressionPlan
    holds: bool
    stopped: BudgetSpent | None = None


def plan_for_known_people(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    limit: WorkLimit,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> KnownPeoplePlan:
    """The plan in which everybody fits k rows even for someone who knows all people.

    All pairs of up to 100,000 / (k - 1)^2 patterns are compared; at k = 2 the plan is the lightest then, proved. With a
    limit, and of more patterns, there is a plan at any moment: an anonymization, rings in its groups, and blocks of
    similar rows that are matched anew. The bound is of all plans that leave k disjoint matchings. Rows of one pattern
    may lose different cells: its `patterns` are divided accordingly. Cells that are NULL are not in the plan, since
    they show nothing as they are. Queries the workbench only. Raises UsageError for too many columns, Stopped if
    interrupted, StatementError.
    """
    check_columns(patterns)
    return _Search(patterns, k, weights, limit, on_stage).run()


class _Search:
    def __init__(
        self,
        patterns: RowPatterns,
        k: int,
        weights: Sequence[int],
        limit: WorkLimit,
        on_stage: Callable[[str], None],
    ) -> None:
        self._patterns, self._k, self._weights = patterns, k, tuple(weights)
        self._limit, self._on_stage = limit, on_stage
        self._records: Records = patterns.records()
        self._bound, self._proof, self._methods = 0, BoundProof(ProvedBy.ROWS), EXACT

    def run(self) -> KnownPeoplePlan:
        all_pairs = self._records.count * (self._k - 1) ** 2 <= MOST_PATTERNS
        stopped: BudgetSpent | None = None
        rings: Rings | None = None
        units: MatchedRows | None = None
        if self._limit.given or not all_pairs:
            rings = self._rings()
        if not all_pairs or self._k > 2:
            self._bound_rows()
        try:
            if all_pairs:
                units = self._all_pairs()
            else:
                assert rings is not None
                self._match_blocks(rings)
        except BudgetSpent as spent:
            stopped = spent if self._limit.given else None
        fits = Fits(self._records, self._weights)
        if rings is not None and (units is None or units.cost(fits) > rings.cost):
            units, self._methods = rings.matched(), RINGS
        assert units is not None
        lost = units.lost(fits)
        self._on_stage("checking the matchings")
        holds = disjoint_matchings(self._records, units, lost, self._k)
        plan = divided_plan(
            self._patterns,
            self._k,
            self._weights,
            LostCells(units.record, units.sizes, lost),
            self._methods,
            self._bound,
            None,
            self._proof,
        )
        return KnownPeoplePlan(plan, holds, stopped)

    def _rings(self) -> Rings:
        """Rings in the groups of an anonymization, which is searched within a third of the time, or of the work."""
        until, work = self._limit.third(), self._limit.third_of_work()
        anonymizer = Anonymizer(
            self._patterns, self._k, self._weights, deadline=until, on_stage=self._on_stage, work=work
        )
        anonymizer.run()
        return Rings(self._records, self._k, self._weights, anonymizer.plan.table())

    def _bound_rows(self) -> None:
        """Each row fits k people, so it loses no less than if it were safe on its own; a NULL of it shows nothing."""
        self._bound = bound_by_rows(
            self._patterns,
            self._k,
            self._weights,
            self._limit.third(),
            self._on_stage,
            wildcard=self._records.has_null,
        )

    def _all_pairs(self) -> MatchedRows:
        """The matchings over all pairs of records; at k = 2 with the bound by their prices.

        Only a limit that is given ends it: without one there are no rings that could take its place.
        """
        spend = self._limit.spend if self._limit.given else _nothing
        self._on_stage(f"matching {plural(self._patterns.rows, 'row')} with other people")
        spend(2 * (self._k - 1) * self._records.count**2 * len(self._weights))
        found = matchings(self._records, self._k, self._weights, spend)
        self._on_stage("checking the bound")
        bound = bound_by_prices(self._records, self._weights, found.prices, spend)
        if bound >= self._bound:
            self._bound, self._proof = bound, BoundProof.by_prices(ProvedBy.PEOPLE, found.prices)
        return found.units

    def _match_blocks(self, rings: Rings) -> None:
        """Match blocks of similar rows anew while the limit lasts."""
        shown = time.monotonic()
        for block in rings.order:
            self._limit.spend(rings.compared(block))
            rings.match_anew(block)
            if time.monotonic() - shown > 1:
                shown = time.monotonic()
                self._on_stage(f"improving a cost of {rings.cost:,}, of which {self._bound:,} are needed")


def _nothing(work: int = 0) -> None:
    """Counts no work."""


# Whom an attacker finds in a copy, from the copy and its original: both coded together, without knowing whose row is
# whose.


def people_of_copy(patterns: RowPatterns, k: int, deadline: float | None = None) -> KnownPeople | None:
    """Count the people whom a copy singles out, exactly; patterns of `people_and_rows`. Queries the workbench only.

    What needs to know whose row is whose is not counted. Someone who knows everybody rules out rows by all assignments
    of the rows to the people; if there is none, or too many pairs, the people left with few rows are not counted. None
    for copies too large to look each pattern up once per set of NULLs. Raises Stopped, StatementError.
    """
    bench, packing = patterns.bench, Packing(patterns.values[:-1])
    released = exp.column(f"c{len(packing.values)}")
    bench.query(fill("workbench/suppression/released_of_copy", released=released), "rows of the copy", deadline)
    bench.query(packing.table(), "packing of row patterns", deadline)
    nulls = exp.select(packing.nulls()).distinct().from_("patterns").where(released.eq(1))
    if patterns.patterns * len(bench.query(nulls, "sets of NULLs", deadline)) > MOST_PATTERNS_GROUPED:
        return None
    rows = exp.column("pattern").isin(query=exp.select("pattern").from_("plan"))
    fits_of(bench, packing, exp.delete("packed", where=rows), deadline)
    counts = bench.query(fill("workbench/suppression/people_of_copy", k=k), "known people", deadline)
    people, released_rows, alone, below_k, rows_below_k, pairs = map(integer, counts[0])
    admissible = None
    if people == released_rows and pairs <= MOST_PATTERN_PAIRS:
        admissible = _fitting(patterns, k, people, deadline)
    shown = combinations_shown(bench, packing, k, deadline)
    return KnownPeople(people, alone, below_k, rows_below_k, None, admissible, *shown)


def _fitting(patterns: RowPatterns, k: int, everybody: int, deadline: float | None) -> int | None:
    """The number of people with fewer than k rows that can be theirs; None if no assignment of all rows fits."""
    bench = patterns.bench
    fits = bench.numbers(
        exp.select("pattern", "release", "people", "CAST(release_rows AS BIGINT) AS size").from_("fits"),
        "rows that fit",
    )
    pattern, people = _numbered(fits["pattern"], fits["people"])
    release, rows = _numbered(fits["release"], fits["size"])
    if people.sum() != everybody or rows.sum() != everybody:  # a person fits no row, or a row nobody
        return None
    transport = Transport(people, rows, 1)
    transport.add(pattern, release, np.zeros(len(pattern), dtype=np.int64))
    shipment = transport.solve(partial(check_time, deadline))
    if shipment.unmet:
        return None
    used = shipment.amounts > 0
    return admissible_below(k, pattern, release, people[pattern], pattern[used], release[used], shipment.amounts[used])


def _numbered(numbers: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The numbers as places from 0, and the size of each place."""
    _, first, numbered = np.unique(numbers, return_index=True, return_inverse=True)
    return numbered.reshape(-1), sizes[first].astype(np.int64)
