"""The gate between a search and its report: verifies the claims of a result independently of how it was found.

A reported key is measured, a minimal set is compared with the failing sets, a complete list and a proved bound are
compared with random column sets. A claim that does not hold is not reported: the command ends with `Refuted`.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from qidsql.core.tables import positions, weight_of
from qidsql.errors import BudgetSpent, Refuted
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.hitting_sets import transposed
from qidsql.search.result import Found, SearchResult

if TYPE_CHECKING:  # searches pass here too, and need no protection
    from qidsql.protection.anonymization.anonymizer import Anonymization, Anonymizer
    from qidsql.protection.masking import MaskingPlan
    from qidsql.protection.row_patterns import Records
    from qidsql.protection.suppression.known_people import KnownPeople
    from qidsql.protection.suppression.plan import SuppressionPlan
    from qidsql.protection.uniques.minimal_uniques import UniqueCounts

MEASURED = 8  # sets measured here, the smallest first, where their profiles were derived and not measured
ROWS_OF_SMALL_TABLE = 200_000  # rows; of a larger table one set is measured
MOST_SETS_COMPARED = 500  # sets whose columns are tried one by one
LOG = logging.getLogger(__name__)

DRAWN = 64  # column sets drawn at random


def column_sets(
    result: SearchResult, profiler: Profiler, weights: Sequence[int], shown: int = MEASURED
) -> SearchResult:
    """Return the result if every claim in it holds, else raise Refuted.

    - Every set meets the criterion by its profile, and the smallest ones (8, or 1 of a large table) also by a measured
      profile, where the search derived it from pairs of rows: one statement at most, none where it was measured.
    - A minimal set misses the criterion without any of its columns: each such rest is a subset of a failing set.
    - Every set contains a column outside each failing set. Random column sets that do so too, without a superfluous
      column, are in a list that is called complete, and weigh no less than a proved bound.
    """
    end = "complete" if result.complete else f"up to {result.complete_to_size} columns; {result.stopped or 'max_size'}"
    LOG.info("%s by %s: %s sets, %s", result.criterion.name, result.algorithm, len(result.found), end)
    if result.algorithm == "sampled":  # its certificate states its error; a profile of the table is reported as such
        return result
    facts = _Failing(result.failing, profiler.columns)
    for found in result.found:
        _must(result.criterion.met_by(found.profile), "a column set does not meet the criterion by its profile")
        _must(facts.hit_by(found.mask), "a column set that was found is contained in a failing set")
    if result.minimal:
        for found in _some(result.found):
            _must(facts.minimal(found.mask), "a column can be left out of a set that is called minimal")
    _hold_against_random_sets(result, facts, weights)
    if result.stopped is not None:
        return result
    try:
        _measure(result, profiler, shown)
    except BudgetSpent as stop:  # proofs by pairs of rows hold without it
        return replace(result, stopped=stop)
    return result


def masking(plan: "MaskingPlan", weights: Sequence[int]) -> "MaskingPlan":
    """Return the plan if the published columns are safe by their profile and weigh what is stated, else raise Refuted.

    Random column sets that contain a column of each quasi-identifier found weigh at least as much as the proved bound
    requires to be withheld.
    """
    if plan.safe and plan.profile is not None and plan.published:
        _must(not plan.criterion.met_by(plan.profile), "the published columns meet the criterion by their profile")
    _must(plan.weight == weight_of(plan.published, weights), "the published columns have another weight than stated")
    _must(plan.weight <= plan.bound, "a plan publishes more than the bound allows")
    if plan.met:
        everything, random = plan.published | plan.withheld, Random(len(plan.met))
        facts = _Failing([everything ^ mask for mask in plan.met], len(weights))
        _must(facts.hit_by(plan.withheld), "the published columns contain a quasi-identifier that was found")
        for _ in range(DRAWN):
            withheld = weight_of(facts.drawn(random), weights)
            _must(sum(weights) - withheld <= plan.bound, "other columns to publish weigh more than the bound allows")
    return plan


def withheld(columns: int, criterion: Criterion, profiler: Profiler) -> None:
    """Raise Refuted if the columns left without these still meet the criterion. One profile at most."""
    rest = (1 << profiler.columns) - 1 & ~columns
    if rest:
        [profile] = profiler.profiles([rest])
        _must(not criterion.met_by(profile), "withholding the named columns does not help")


def suppression(plan: "SuppressionPlan", separately: bool, deadline: float | None = None) -> "SuppressionPlan":
    """Return the plan if it leaves every row with k rows that match it, else raise Refuted.

    `separately`: every row counts with its own blank cells, a NULL being a value; then no cell can be restored
    alone in the patterns that lose most. Queries the workbench only. Raises Stopped, StatementError.
    """
    from qidsql.protection.suppression.verification import plan_check, rows_below_k

    if separately:
        check = plan_check(plan, deadline)
        _must(not check.unsafe, "fewer than k rows agree with the visible cells of a row")
        _must(not check.needless, "a row loses a cell that it could keep")
    else:
        _must(not rows_below_k(plan, deadline), "a row matches fewer than k rows after the suppression")
    return plan


def matched(holds: bool) -> None:
    """Raise Refuted if the matchings of a plan do not hold."""
    _must(holds, "a row does not fit a person whom it is matched with, or a matching is none")


def known_people_safe(known: "KnownPeople | None", matched: bool = False) -> "KnownPeople":
    """Return the counts if everybody fits k rows, also for someone who knows all people, else raise Refuted.

    `matched`: k disjoint matchings of all people with all rows were checked, which proves that k rows can be anyone's
    where those are too many to be counted. Raises BudgetSpent if nothing is known.
    """
    if known is not None and known.admissible_below_k is None and matched:
        known = replace(known, admissible_below_k=0)
    if known is None or known.admissible_below_k is None:
        raise BudgetSpent("the plan has too many pairs of people and rows to check whom it singles out")
    _must(not known.rows_below_k, "a released row fits fewer than k people")
    _must(not known.below_k, "fewer than k released rows fit a person")
    _must(not known.admissible_below_k, "fewer than k released rows can be a person's if everybody is known")
    return known


def combinations_safe(known: "KnownPeople | None") -> "KnownPeople":
    """Return the counts if k released rows show each combination of values that a row shows, else raise Refuted.

    Raises BudgetSpent if they were not counted: then nothing is known.
    """
    if known is None:
        raise BudgetSpent("the plan has too many released rows to check which combinations of values they show")
    _must(not known.shown_below_k, "fewer than k released rows show a combination of values")
    _must(not known.rows_below_k, "a released row fits fewer than k people")
    return known


def anonymization(found: "Anonymization", anonymizer: "Anonymizer") -> "Anonymization":
    """Return the plan if each of its groups has k rows, every row is in one, and it costs at least the proved bound.

    A bound by prices is computed anew from the codes. Else raises Refuted. Queries the workbench only. Raises Stopped,
    StatementError.
    """
    _must(anonymizer.bound_holds(), "the prices of rows do not prove the bound")
    _must(found.lower_bound <= found.cost, "a plan costs less than the proved bound")
    _must(not anonymizer.wrong(), "a group of the plan has fewer than k rows, or a row is in none")
    return found


def unique_counts(counts: "UniqueCounts", k: int) -> None:
    """Raise Refuted if complete counts of unsafe combinations contradict the class sizes."""
    from qidsql.protection.uniques.minimal_uniques import agree_with_classes

    _must(agree_with_classes(counts, k), "the unsafe combinations contradict the class sizes")


def codes_of_rows(records: "Records", profile: ClassProfile, k: int) -> None:
    """Raise Refuted if the codes of the rows and the engine's class profile count other rows, or others below k."""
    below = int(records.sizes[records.sizes < k].sum())
    _must((records.rows, below) == (profile.rows, profile.rows_below_k), "the codes contradict the class profile")


def copy_of_turn(written: ClassProfile, rows: int, below_k: int) -> None:
    """Raise Refuted if a recoded copy has other rows, or others below k, than the turn that it is a copy of."""
    _must((written.rows, written.rows_below_k) == (rows, below_k), "the copy is not the table as after the last turn")


class _Failing:
    """Failing sets as a hitting problem: a solution contains a column outside each of them."""

    def __init__(self, failing: Sequence[int], columns: int) -> None:
        everything = (1 << columns) - 1
        self._all = (1 << len(failing)) - 1
        self._columns = columns
        self._hit = transposed([everything ^ mask for mask in failing], columns) if failing else [0] * columns

    def hit_by(self, mask: int) -> bool:
        """True if the set is contained in no failing set."""
        return self._reached(list(positions(mask))) == self._all

    def minimal(self, mask: int) -> bool:
        """True if the set without any one of its columns is contained in a failing set, or is empty."""
        places = list(positions(mask))
        rests = ([other for other in places if other != place] for place in places)
        return all(not rest or self._reached(rest) != self._all for rest in rests)

    def drawn(self, random: Random) -> int:
        """A random set contained in no failing set, minimal, never empty."""
        order = random.sample(range(self._columns), self._columns)
        later = [0]  # hits of the last columns of the order
        for place in reversed(order):
            later.append(later[-1] | self._hit[place])
        chosen = hit = 0
        for place in order:
            later.pop()
            if hit | later[-1] != self._all:
                chosen, hit = chosen | 1 << place, hit | self._hit[place]
        return chosen or 1 << order[0]

    def _reached(self, places: Sequence[int]) -> int:
        hit = 0
        for place in places:
            hit |= self._hit[place]
        return hit


def _measure(result: SearchResult, profiler: Profiler, shown: int) -> None:
    """Measure the smallest sets. Where the search measured them itself, the profiler has the answer."""
    if not result.found:
        return
    few = min(shown, MEASURED) if result.found[0].profile.rows <= ROWS_OF_SMALL_TABLE else 1
    smallest = sorted(result.found, key=lambda found: found.size)[: max(1, few)]
    for found, profile in zip(smallest, profiler.profiles([found.mask for found in smallest]), strict=True):
        _must(profile == found.profile, "a column set has another profile than was derived")


def _hold_against_random_sets(result: SearchResult, facts: _Failing, weights: Sequence[int]) -> None:
    size = result.complete_to_size if result.failing else 0
    least = result.lower_bound if result.failing else None
    if not size and least is None:
        return
    known = {found.mask for found in result.found}
    random = Random(len(known))
    for _ in range(DRAWN):
        mask = facts.drawn(random)
        _must(mask in known or mask.bit_count() > size, "a set is missing in a list that is called complete")
        _must(least is None or weight_of(mask, weights) >= least, "a set weighs less than the proved bound")


def _some(found: Sequence[Found]) -> Sequence[Found]:
    """All of them, or a number of evenly spaced ones."""
    return found[:: max(1, len(found) // MOST_SETS_COMPARED)]


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)
