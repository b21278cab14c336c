"""The plan that withstands someone who knows people: k disjoint matchings of all people with all released rows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qidsql.errors import BudgetSpent
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.certificates import BoundProof, ProvedBy
from qidsql.protection.records import Records
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.divided import LostCells, check_columns, divided_plan
from qidsql.protection.suppression.fits import Fits
from qidsql.protection.suppression.matching_check import disjoint_matchings
from qidsql.protection.suppression.matchings import MatchedRows, matchings
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.price_check import bound_by_prices
from qidsql.protection.suppression.rings import Rings
from qidsql.protection.suppression.row_bound import bound_by_rows
from qidsql.protection.work_limit import WorkLimit
from qidsql.wording.numbers import plural

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
