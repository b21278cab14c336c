"""The gate refutes each kind of wrong claim, and lets right ones through."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from qidsql.commands import gate
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.commands.table_search import TableSearch
from qidsql.core.policy import Policy
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Refuted
from qidsql.measures.criteria import Key, Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.masking import exact_masking
from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.protection.suppression.combinations import shared
from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.uniques.minimal_uniques import MinimalUniques, UniqueCounts
from qidsql.search.borders import borders
from qidsql.search.result import Found, SearchResult
from qidsql.search.smallest import minimum
from qidsql.sql.templates import Statement
from tests.search.memory import MemoryProfiler
from tests.stores import DuckDBStore

Wrong = Callable[[SearchResult], SearchResult]
COLUMNS = 6
WEIGHTS = [1] * COLUMNS


@pytest.fixture
def profiler() -> MemoryProfiler:
    draw = Random(3)
    rows = [tuple(draw.randrange(2 + place) for place in range(COLUMNS)) for _ in range(30)]
    return MemoryProfiler(list(dict.fromkeys(rows)), COLUMNS)


def test_right_answers_pass(profiler: MemoryProfiler) -> None:
    every = borders(profiler, Key())
    assert len(every.found) == 2
    assert gate.column_sets(every, profiler, WEIGHTS) == every
    least = minimum(profiler, Key(), weights=[1, 2, 3, 1, 2, 3])
    assert gate.column_sets(least, profiler, [1, 2, 3, 1, 2, 3]) == least
    plan = exact_masking(profiler, Violates(2), WEIGHTS)
    assert gate.masking(plan, WEIGHTS) == plan


def no_key(result: SearchResult) -> SearchResult:
    """A failing set among the keys, with the profile of a key."""
    found = (Found(result.failing[0], result.found[0].profile), *result.found)
    return replace(result, found=found, failing=(), minimal=False)


def not_minimal(result: SearchResult) -> SearchResult:
    first, *others = result.found
    other = next(place for place in range(COLUMNS) if not first.mask >> place & 1)
    return replace(result, found=(Found(first.mask | 1 << other, first.profile), *others))


def missing(result: SearchResult) -> SearchResult:
    return replace(result, found=result.found[1:])


@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        (no_key, "another profile than was derived"),
        (lambda result: replace(no_key(result), failing=result.failing), "contained in a failing set"),
        (not_minimal, "can be left out of a set that is called minimal"),
        (missing, "missing in a list that is called complete"),
        (lambda result: replace(result, criterion=Violates(1)), "does not meet the criterion by its profile"),
    ],
)
def test_wrong_lists_are_refuted(profiler: MemoryProfiler, wrong: Wrong, claim: str) -> None:
    with pytest.raises(Refuted, match=claim):
        gate.column_sets(wrong(borders(profiler, Key())), profiler, WEIGHTS)


def test_a_bound_that_a_lighter_set_breaks_is_refuted(profiler: MemoryProfiler) -> None:
    least = minimum(profiler, Key())
    assert least.cost is not None
    keys = [sum(1 << place for place in places) for places in combinations(range(COLUMNS), least.cost + 1)]
    heavier = next(mask for mask in keys if Key().met_by(profiler.profiles([mask])[0]))
    found = (Found(heavier, profiler.profiles([heavier])[0]),)
    wrong = replace(least, found=found, cost=least.cost + 1, lower_bound=least.cost + 1, minimal=False)
    assert wrong.optimal
    with pytest.raises(Refuted, match="weighs less than the proved bound"):
        gate.column_sets(wrong, profiler, WEIGHTS)


def test_wrong_maskings_are_refuted(profiler: MemoryProfiler) -> None:
    plan = exact_masking(profiler, Violates(2), WEIGHTS)
    everything = (1 << COLUMNS) - 1
    unsafe = replace(plan, profile=profiler.profiles([everything])[0])
    with pytest.raises(Refuted, match="the published columns meet the criterion"):
        gate.masking(unsafe, WEIGHTS)
    with pytest.raises(Refuted, match="have another weight than stated"):
        gate.masking(replace(plan, weight=plan.weight + 1), WEIGHTS)
    with pytest.raises(Refuted, match="more than the bound allows"):
        gate.masking(replace(plan, bound=plan.bound - 1), WEIGHTS)
    less = replace(plan, published=0, withheld=everything, weight=0, bound=0)
    with pytest.raises(Refuted, match="other columns to publish weigh more"):
        gate.masking(less, WEIGHTS)


def test_a_masking_that_is_not_called_safe_or_publishes_nothing_claims_nothing_of_its_profile(
    profiler: MemoryProfiler,
) -> None:
    plan = exact_masking(profiler, Violates(2), WEIGHTS)
    [met] = profiler.profiles([(1 << COLUMNS) - 1])
    for other in (replace(plan, safe=False, profile=met), replace(plan, profile=None)):
        assert gate.masking(other, WEIGHTS) == other


def test_codes_that_contradict_the_engine_are_refuted() -> None:
    records = Records.of([[1, 2, 3]], [3, 1, 2])  # classes of 3, 1 and 2 rows
    right = ClassProfile.of_sizes({1: 1, 2: 1, 3: 1}, 3)
    gate.codes_of_rows(records, right, 3)
    for wrong in (replace(right, rows=7), replace(right, rows_below_k=4)):
        with pytest.raises(Refuted, match="the codes contradict the class profile"):
            gate.codes_of_rows(records, wrong, 3)


def test_plans_that_single_out_a_known_person_are_refuted() -> None:
    known = KnownPeople(9, 0, 0, 0, 0, 0, 0, 0)
    assert gate.known_people_safe(known) == gate.combinations_safe(known) == known
    uncounted = replace(known, admissible_below_k=None)
    assert gate.known_people_safe(uncounted, matched=True) == known
    for unknown, matched in ((uncounted, False), (None, True)):
        with pytest.raises(BudgetSpent):
            gate.known_people_safe(unknown, matched)
    with pytest.raises(BudgetSpent):
        gate.combinations_safe(None)
    for figure in ("rows_below_k", "below_k", "admissible_below_k"):
        with pytest.raises(Refuted):
            gate.known_people_safe(replace(known, **{figure: 1}))
    for figure in ("rows_below_k", "shown_below_k"):
        with pytest.raises(Refuted):
            gate.combinations_safe(replace(known, **{figure: 1}))


def test_a_copy_that_is_not_that_of_the_last_turn_is_refuted() -> None:
    written = ClassProfile.of_sizes({1: 2, 3: 1}, 3)
    gate.copy_of_turn(written, 5, 2)
    for rows, below in ((6, 2), (5, 1)):
        with pytest.raises(Refuted, match="the copy is not the table"):
            gate.copy_of_turn(written, rows, below)


def test_of_many_sets_some_are_tried_evenly_spread() -> None:
    found = [Found(mask, ClassProfile.of_sizes({}, 2)) for mask in range(3 * gate.MOST_SETS_COMPARED)]
    few = found[: 2 * gate.MOST_SETS_COMPARED - 1]
    assert [each.mask for each in gate._some(few)] == [each.mask for each in few]
    assert [each.mask for each in gate._some(found)] == list(range(0, len(found), 3))
    assert list(gate._some([])) == []


def test_withholding_what_leaves_a_violation_is_refuted() -> None:
    rows = MemoryProfiler([(1, 1), (1, 2), (2, 1), (2, 1), (1, 1)], 2)  # each value twice or more but for (., 2)
    gate.withheld(0b10, Violates(2), rows)
    gate.withheld(0b11, Violates(2), rows)
    assert rows.asked == [0b01], "of no column there is nothing to measure"
    for columns in (0b01, 0):
        with pytest.raises(Refuted, match="withholding the named columns does not help"):
            gate.withheld(columns, Violates(2), rows)


def test_a_search_that_is_refuted_reports_nothing(duckdb_store: DuckDBStore, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb_store.table("t", dict.fromkeys("abc", "INTEGER"), [(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)])
    broken = ALGORITHMS["borders"]
    run = broken.run
    monkeypatch.setitem(ALGORITHMS, "borders", replace(broken, run=lambda *given: missing(run(*given))))
    with duckdb_store.connect() as engine:
        result = keys(engine, KeysRequest("t", k=2, algorithm="borders"))
    assert (result.verdict, result.column_sets, result.complete) == ("inconclusive", (), False)
    assert "this is a bug in qidsql" in result.account.unfinished[0]


@pytest.mark.exhaustive
def test_wrong_suppressions_are_refuted(duckdb_store: DuckDBStore) -> None:
    draw = Random(1)
    rows = [(draw.randrange(3), draw.randrange(4), draw.randrange(5)) for _ in range(40)]
    duckdb_store.table("t", dict.fromkeys("abc", "INTEGER"), rows)
    with connect(duckdb_store.url) as engine:
        search = TableSearch(engine, "t", Policy(k=2), {})
        for change, by_itself, claim in (
            ("mask = 0", True, "fewer than k rows agree"),
            ("mask = 7", True, "loses a cell that it could keep"),
            ("mask = 0", False, "matches fewer than k rows"),
        ):
            with RowPatterns.of(search.profiler) as patterns:
                plan = SuppressionPlan.of(patterns, 2)
                assert gate.suppression(plan, by_itself) == plan
                assert gate.suppression(shared(plan), False).lower_bound is None
                plan = SuppressionPlan.of(patterns, 2)
                patterns.bench.run(Statement(f"UPDATE plan SET {change}", "a defect", lambda rows: None))
                with pytest.raises(Refuted, match=claim):
                    gate.suppression(replace(plan, masks={0: 0, 7: 40}), by_itself)


def test_wrong_anonymizations_are_refuted(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", dict.fromkeys("ab", "INTEGER"), [(n % 3, n % 4) for n in range(13)])
    with (
        connect(duckdb_store.url) as engine,
        RowPatterns.of(TableSearch(engine, "t", Policy(k=2), {}).profiler) as rows,
    ):
        anonymizer = Anonymizer(rows, 2, [1, 1])
        found = anonymizer.run()
        assert gate.anonymization(found, anonymizer) == found
        best = replace(found, lower_bound=found.cost)
        assert gate.anonymization(best, anonymizer) == best
        with pytest.raises(Refuted, match="costs less than the proved bound"):
            gate.anonymization(replace(found, lower_bound=found.cost + 1), anonymizer)
        assert anonymizer._prices is not None
        anonymizer._prices.bound += 1
        with pytest.raises(Refuted, match="the prices of rows do not prove the bound"):
            gate.anonymization(found, anonymizer)
        anonymizer._prices.bound -= 1
        for defect in ("UPDATE shares SET kept = 3", "DELETE FROM shares WHERE pattern = 0"):
            rows.bench.run(Statement(defect, "a defect", lambda rows: None))
            with pytest.raises(Refuted, match="fewer than k rows, or a row is in none"):
                gate.anonymization(found, anonymizer)


def test_wrong_counts_of_unsafe_combinations_are_refuted() -> None:
    draw = Random(5)
    rows = sorted({(draw.randint(1, 3), draw.randint(1, 30)) for _ in range(30)})
    records = Records.of([[row[place] for row in rows] for place in range(2)], [1] * len(rows))
    for k, change in ((2, None), (2, 0), (2, 1), (31, None), (31, 0)):
        counts = UniqueCounts(records, 2)
        for block, masks in MinimalUniques(records, k):
            counts.add(block, masks)
        if change is None:
            gate.unique_counts(counts, k)
            continue
        counts.by_record[3, change] += 1
        if change == 0:
            counts.by_record[3] = 0
        with pytest.raises(Refuted, match="contradict the class sizes"):
            gate.unique_counts(counts, k)
