"""The findings of a run, what became of them, and the verdict and exit code that follow: values in, values out."""

from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import permutations, product
from typing import Any, TypeAlias

import pytest

from qidsql.commands.audit.command import AuditResult, ColumnFinding, ColumnSetFinding, SearchFinding
from qidsql.core.policy import Policy
from qidsql.core.results import Account, Verdict, worst
from qidsql.core.tables import Role
from qidsql.declarations.results import loaded, plain
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.changes import MARGIN, Extent, expired, verdict_with_exceptions, with_exceptions, with_states
from qidsql.operations.coverage import Coverage, Gap, GapKind, GapState, Severity, SourceCoverage
from qidsql.operations.document import (
    RUN_FORMAT,
    Baseline,
    ConfigFile,
    PackedTables,
    RunResult,
    as_document,
    verdict_on_new,
)
from qidsql.operations.findings import FailOn, complete_kinds, exit_code, finding_id, findings
from qidsql.operations.policy_entries import Exemption
from qidsql.operations.table_run import Acceptance, Finding, Measures, TableRun, TrendPoint, passes_with
from qidsql.operations.table_run import FindingKind as Kind
from qidsql.operations.table_run import FindingState as State

DAY = datetime(2026, 11, 21, 3, tzinfo=UTC)
TODAY = DAY.date()
RISKY = ClassProfile.of_sizes({1: 2, 4: 1, 5: 2}, 5)  # 6 of 16 rows at risk
SAFE = ClassProfile.of_sizes({5: 4}, 5)
CODES = {"pass": 0, "violation": 1, "error": 2, "inconclusive": 3}
WORST_FIRST = ["error", "violation", "inconclusive", "pass"]


def column(name: str, role: Role = Role.QUASI_IDENTIFIER, **more: Any) -> ColumnFinding:
    profile = RISKY if role is Role.QUASI_IDENTIFIER else None
    return ColumnFinding(name=name, type="INTEGER", role=role, reason="", profile=profile, nulls=0, **more)


AGE, ZIP = column("age"), column("zip")
EMAIL = column("email", Role.DIRECT_IDENTIFIER, recognised=True)
Search: TypeAlias = tuple[SearchFinding, list[ColumnSetFinding]]


def audit(
    profile: ClassProfile | None = RISKY,
    verdict: str = "violation",
    columns: tuple[ColumnFinding, ...] = (AGE, ZIP),
    searches: tuple[Search, ...] = (),
    unfinished: tuple[str, ...] = (),
    **policy: Any,
) -> AuditResult:
    account = Account(
        source="db",
        engine="duckdb",
        table="main.people",
        kind="table",
        snapshot="",
        started=DAY,
        seconds=1.23456,
        policy=Policy(**policy),
        rows=profile and profile.rows,
        statements=7,
        rounds=1,
        scans=5,
        sets_profiled=3,
        unfinished=unfinished,
        notes=(),
    )
    return AuditResult(
        verdict=Verdict(verdict),
        reason="because",
        account=account,
        entities=None,
        columns=columns,
        profile=profile,
        class_sizes=(),
        column_sets=tuple(found for _, sets in searches for found in sets),
        searches=tuple(search for search, _ in searches),
        withheld=(),
        least_withheld=None,
        assumptions=(),
    )


def search(criterion: str, *sets: str, complete: bool = True) -> Search:
    found = [ColumnSetFinding(criterion=criterion, columns=tuple(each.split("+")), profile=RISKY) for each in sets]
    return SearchFinding(criterion=criterion, complete=complete, complete_to_size=2, algorithm="levelwise"), found


def finding(kind: Kind = Kind.BELOW_K, columns: str = "age", **more: Any) -> Finding:
    names = tuple(columns.split("+"))
    figures = Measures(**{"smallest": 2, "rows": 1000, "rows_below_k": 100} | more.pop("measures", {}))
    return Finding(
        id=finding_id("db", "people", kind, names), kind=kind, columns=names, measures=figures, text="", **more
    )


def table(verdict: str = "violation", *found: Finding) -> TableRun:
    return TableRun(
        source="db", source_label="db", table="people", verdict=Verdict(verdict), reason="because", findings=found
    )


def code(*tables: TableRun, fail_on: str = "any", coverage: Coverage | None = None) -> int:
    """The exit code of a run over these tables."""
    verdict = worst([each.verdict for each in tables] + ([coverage.verdict] if coverage else []))
    return exit_code(FailOn(fail_on), verdict, map(verdict_on_new, tables), coverage)


def run_of(*tables: TableRun, **more: Any) -> RunResult:
    return RunResult(
        run="r",
        started=DAY,
        finished=DAY,
        seconds=1.23456,
        verdict=worst(each.verdict for each in tables),
        reason="",
        exit_code=0,
        tables=PackedTables.of(tables),
        **more,
    )


def test_what_a_run_says_of_itself() -> None:
    run = run_of()
    assert (run.format, run.kind, run.complete, run.interrupted, run.only) == (RUN_FORMAT, "run", True, False, ())
    for fixed in ({"format": RUN_FORMAT}, {"kind": "run"}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            run_of(**fixed)


def test_figures_that_are_hidden_count_as_none() -> None:
    """A report with --min-count hides small ones, and a message must not tell them apart from 0."""
    hidden = Extent.of(finding(measures={"smallest": None, "rows": None, "rows_below_k": None}).measures)
    assert (hidden, hidden.share) == (Extent(0, 0, 0), 0)
    assert Extent.of(finding().measures) == Extent(2, 100, 1000)


# verdicts and exit codes


def test_the_worst_verdict_counts_in_every_order() -> None:
    for size in range(5):
        for given in permutations(WORST_FIRST, size):
            assert worst(given) == next((each for each in WORST_FIRST if each in given), "inconclusive")


def test_every_verdict_has_its_exit_code() -> None:
    for verdict, expected in CODES.items():
        assert code(table(verdict)) == expected
    assert code() == code(fail_on="new") == 3  # nothing was looked at: no pass


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (["new"], "violation"),
        (["worse"], "violation"),
        (["policy changed"], "violation"),
        (["unchanged", "new"], "violation"),
        (["unchanged"], "pass"),
        (["better", "gone", "excepted"], "pass"),
        ([], "violation"),  # it violates, and nothing says why
    ],
)
def test_violations_known_before_are_let_pass_where_only_new_ones_count(states: list[str], verdict: str) -> None:
    found = [finding(state=State(state)) for state in states]
    assert verdict_on_new(table("violation", *found)) == verdict
    assert code(table("violation", *found)) == 1
    assert code(table("violation", *found), fail_on="new") == CODES[verdict]
    for other in ("error", "inconclusive", "pass"):
        assert verdict_on_new(table(other, *found)) == other
        expected = worst([other, verdict])
        assert code(table("violation", *found), table(other), fail_on="new") == CODES[expected]


def test_coverage_counts_where_only_new_violations_do() -> None:
    known, new = coverage_of(gap(violates=True, state=GapState.UNCHANGED)), coverage_of(gap(violates=True))
    assert code(table("pass"), fail_on="new", coverage=known) == 0
    assert code(table("pass"), fail_on="new", coverage=new) == 1
    assert code(table("pass"), coverage=known) == 1


# the run document


def test_a_table_of_a_run_comes_back_as_it_was() -> None:
    excuse = Acceptance("known", date(2027, 1, 2))
    found = (
        finding(state=State.EXCEPTED, exception=excuse),
        finding(Kind.KEY, "age+zip", state=State.WORSE, was=Measures(smallest=3)),
        finding(exception=Acceptance("for good", None)),
    )
    for each in found:
        assert loaded(Finding, plain(each)) == each
    assert [plain(each)["exception"] for each in (found[0], found[2], found[1])] == [
        {"reason": "known", "expires": "2027-01-02"},
        {"reason": "for good", "expires": None},
        None,
    ]
    point = TrendPoint(run="r0", started=DAY, verdict=Verdict.PASS, rows=9, smallest=5, share_below_k=0.0)
    first = replace(table("violation", *found), trend=(point,), line=3, owner="ann", resumed=True)
    second = replace(table("pass"), audit=audit(SAFE, "pass"), policy_changed=("k 5 -> 2",))
    runs = run_of(first, second).tables
    assert (len(runs), runs[0], runs[1].verdict, runs[:2][1].policy_changed) == (2, first, "pass", ("k 5 -> 2",))
    assert plain(runs[1].audit) == plain(second.audit)
    assert (plain(first)["resumed"], plain(second)["resumed"]) == (True, False)
    assert [each.table for each in runs[::-1]] == ["people", "people"]


def test_what_a_run_document_says_of_the_run() -> None:
    written = plain(run_of(table("pass")))
    told = {"complete": True, "interrupted": False, "fail_on": "any", "statements": 0, "seconds": 1.235}
    none = {"config": None, "baseline": None, "coverage": None}
    assert {name: written[name] for name in (*told, *none)} == {**told, **none}
    config, baseline = ConfigFile("p", "h"), Baseline("b", DAY)
    more = run_of(table("pass"), coverage=coverage_of(), config=config, baseline=baseline)
    written = plain(more)
    assert (more.file, run_of(table("pass")).file) == ("p", None)
    assert written["config"] == {"path": "p", "hash": "h"}
    assert written["baseline"] == {"run": "b", "started": "2026-11-21T03:00:00+00:00"}
    assert written["coverage"] == plain(coverage_of())


def test_what_a_table_of_a_run_has_to_answer_for() -> None:
    every = [finding(columns=str(state), state=state) for state in State]
    asked = table("violation", *every)
    assert [each.state for each in asked.open_findings] == ["new", "worse", "better", "unchanged", "policy changed"]
    assert (asked.sentence, replace(asked, error="away").sentence, asked.place) == ("because", "away", "db: people")


def test_the_document_of_one_audit() -> None:
    result = audit()
    result = replace(result, account=replace(result.account, started=DAY.replace(microsecond=7)))
    document: dict[str, Any] = plain(as_document(result))
    assert as_document(result).started == as_document(result).finished == DAY
    assert (document["format"], document["run"], result.ending) == (3, "", "violation")
    assert (document["verdict"], document["exit_code"], document["statements"], document["seconds"]) == (
        "violation",
        1,
        7,
        1.235,
    )
    [only] = document["tables"]
    assert (only["table"], only["resumed"], only["error"]) == ("main.people", False, None)
    assert [each["id"] for each in only["findings"]] == ["db/main.people/k-anonymity"]


# what an audit has found


def ids(result: AuditResult) -> list[str]:
    return [each.id.removeprefix("src/main.people/") for each in findings(result, "src")]


def test_an_audit_that_passes_has_no_finding() -> None:
    assert ids(audit(SAFE, "pass")) == []
    assert ids(audit(None, "inconclusive")) == []


def test_the_findings_of_an_audit() -> None:
    below, key = search("column set below k = 5", "age", "zip+age"), search("key", "age+zip")
    found = findings(audit(columns=(AGE, ZIP, EMAIL), searches=(below, key)), "src")
    assert [(each.kind.value, each.columns) for each in found] == [
        ("direct-identifier", ("email",)),
        ("k-anonymity", ("age", "zip")),
        ("below-k", ("age",)),
        ("below-k", ("zip", "age")),
        ("key", ("age", "zip")),
    ]
    assert found[0].measures == Measures()
    assert (found[1].measures.smallest, found[1].measures.rows_below_k, found[1].state) == (1, 6, "new")
    assert found[1].text == "main.people is 1-anonymous on 2 columns; k = 5 is required; 37.5 % below k"
    assert found[3].text == "zip + age is a column set below k = 5: smallest class 1, 37.5 % below k"
    assert found[3].id == "src/main.people/below-k/age+zip"


def test_a_ratio_reached_by_all_columns_is_a_finding_where_its_search_found_no_set() -> None:
    ratios: dict[str, Any] = {"distinct": Fraction(1, 5), "separation": Fraction(1, 5), "rows_below_k": Fraction(1, 5)}
    assert ids(audit(**ratios)) == [
        "k-anonymity",
        "rows-below-k/age+zip",
        "distinct/age+zip",
        "separation/age+zip",
    ]
    found = search("0.2-distinct quasi-identifier", "age")
    assert "distinct/age" in ids(audit(**ratios, searches=(found,)))
    assert "distinct/age+zip" not in ids(audit(**ratios, searches=(found,)))
    assert ids(audit(SAFE, distinct=Fraction(1, 4))) == []  # 4 classes of 20 rows
    assert ids(audit(None, **ratios)) == ["k-anonymity"], "none of them was measured"
    text = findings(audit(SAFE, distinct=Fraction(1, 5)), "src")[0].text
    assert text == "all audited columns together are a 0.2-distinct quasi-identifier"


def test_a_key_of_all_columns_is_found_by_its_search_alone() -> None:
    unique = ClassProfile.of_sizes({1: 3}, 5)
    assert ids(audit(unique)) == ["k-anonymity"]


def test_the_kinds_that_an_audit_has_listed_to_the_end() -> None:
    whole = {Kind.DIRECT_IDENTIFIER, Kind.K_ANONYMITY}
    below, key = search("column set below k = 5"), search("key", complete=False)
    assert complete_kinds(audit(None)) == set()
    assert complete_kinds(audit(searches=(below, key))) == {*whole, Kind.BELOW_K}
    assert complete_kinds(audit(SAFE, "pass")) == {*whole, Kind.BELOW_K, Kind.KEY}
    assert complete_kinds(audit(SAFE, unfinished=("budget",))) == whole
    assert complete_kinds(audit(unfinished=("budget",), searches=(below,))) == {*whole, Kind.BELOW_K}
    share = Fraction(1, 5)
    every = Policy(
        distinct=share,
        separation=share,
        rows_below_k=share,
        l_diversity=3,
        entropy_l=2,
        recursive_l="3,2",
        alpha=share,
        t_closeness=share,
        t_ordered=share,
        t_hierarchical=share,
        hierarchy="diagnoses.csv",
        beta_likeness=share,
        enhanced_beta=share,
        delta_disclosure=share,
        sensitive=("diagnosis",),
    )
    linked = Policy(entity="person", known_rows="2").explaining
    assert {Kind(criterion.finding) for criterion in (*every.explaining, *linked)} == set(Kind) - whole
    listed = complete_kinds(audit(SAFE, "pass", distinct=Fraction(1, 2)))
    assert listed == {*whole, Kind.BELOW_K, Kind.KEY, Kind.DISTINCT}


def test_no_two_findings_share_an_id() -> None:
    assert finding_id("s", "t", Kind.KEY, ("b", "a")) == finding_id("s", "t", Kind.KEY, ("a", "b")) == "s/t/key/a+b"
    assert finding_id("a/b", "c%", Kind.KEY, ("x+y",)) == "a%2Fb/c%25/key/x%2By"
    assert finding_id("s", "t", Kind.K_ANONYMITY, ("a",)) == "s/t/k-anonymity"
    assert finding_id("s", "t", Kind.ALPHA, ("a",), "d/e") == "s/t/alpha/a/d%2Fe"
    parts = ["a", "b", "a/b", "a+b", "a%2Bb", "%", "/", "+"]
    every = list(product(parts, parts, ("key", "below-k"), [(x,) for x in parts] + [("a", "b"), ("a+b", "b")]))
    assert len({finding_id(*each) for each in every}) == len(every)


# what became of findings


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        ({}, {}, "unchanged"),
        ({"smallest": 3}, {"smallest": 2}, "worse"),
        ({"smallest": 2}, {"smallest": 3}, "better"),
        ({"rows_below_k": 100}, {"rows_below_k": 110}, "worse"),  # by 1 % of the rows
        ({"rows_below_k": 100}, {"rows_below_k": 109}, "unchanged"),
        ({"rows_below_k": 110}, {"rows_below_k": 100}, "better"),
        ({"rows_below_k": 109}, {"rows_below_k": 100}, "unchanged"),
        ({"smallest": 2, "rows_below_k": 100}, {"smallest": 3, "rows_below_k": 200}, "worse"),
        ({"smallest": 3, "rows_below_k": 200}, {"smallest": 2, "rows_below_k": 100}, "worse"),
        ({"rows": 0, "rows_below_k": 0}, {"rows_below_k": 9}, "unchanged"),
        ({"rows": 0, "rows_below_k": 0}, {"rows_below_k": 10}, "worse"),
        ({"rows": 1, "rows_below_k": 1}, {"rows": 1, "rows_below_k": 1}, "unchanged"),
        ({"rows": 1, "rows_below_k": 1}, {"rows": 1, "rows_below_k": 0}, "better"),
        ({"rows_below_k": 0}, {"rows_below_k": 9}, "unchanged"),
        ({"rows_below_k": 0}, {"rows_below_k": 10}, "worse"),
        ({"smallest": None}, {"smallest": 0}, "unchanged"),
        ({"smallest": None}, {"smallest": 1}, "better"),
        ({"smallest": 1}, {"smallest": None}, "worse"),  # it may be, and nobody knows
    ],
)
def test_what_is_worse_and_what_is_better(before: dict[str, Any], now: dict[str, Any], state: str) -> None:
    [found] = with_states([finding(measures=now)], [finding(measures=before)], ())
    assert (found.state, found.was) == (state, finding(measures=before).measures)
    assert Fraction(1, 100) == MARGIN


def test_entities_are_counted_where_rows_are_not() -> None:
    def of(at_risk: int) -> Finding:
        return replace(finding(), measures=Measures(smallest=2, entities=100, rows_below_k=at_risk))

    assert [with_states([of(2)], [of(n)], ())[0].state for n in (1, 2, 3)] == ["worse", "unchanged", "better"]
    bare = replace(finding(), measures=Measures())
    assert with_states([bare], [bare], ())[0].state == "unchanged"


def test_new_and_gone() -> None:
    here, gone, unlisted = finding(), finding(columns="zip"), finding(Kind.KEY, "zip")
    [new] = with_states([here], [], [Kind.BELOW_K])
    assert (new.state, new.was) == ("new", None)
    same, left = with_states([here], [gone, here, unlisted], [Kind.BELOW_K])
    assert (same.state, left.state, left.id, left.measures) == ("unchanged", "gone", gone.id, Measures())
    assert left.was == gone.measures
    again = with_states([], [left], [Kind.BELOW_K])
    assert again == []  # it was gone before


def test_a_finding_whose_exception_has_ended_is_new() -> None:
    excuse = Acceptance("known", TODAY)
    before = finding(state=State.EXCEPTED, exception=excuse)
    [found] = with_states([finding()], [before], ())
    assert (found.state, found.was) == ("new", None)
    [still] = with_states([before], [before], ())
    assert (still.state, still.was) == ("excepted", before.measures)
    [first] = with_states([before], [], ())
    assert (first.state, first.was) == ("excepted", None)
    [left] = with_states([], [before], [Kind.BELOW_K])
    assert (left.state, left.exception) == ("gone", None)


def test_answers_to_different_questions_are_not_compared() -> None:
    accepted = finding(columns="zip", state=State.EXCEPTED, exception=Acceptance("known", None))
    found = with_states([finding(), accepted], [finding(), finding(columns="sex")], [Kind.BELOW_K], same_question=False)
    assert [(each.state, each.was) for each in found] == [("policy changed", None), ("excepted", None)]


def exemption(finding: str | None = None, columns: str | None = None, expires: date = TODAY) -> Exemption:
    return Exemption(finding, None if columns is None else frozenset(columns.split("+")), "known", expires, 1)


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        (exemption("below-k"), ["age", "age+zip"]),
        (exemption("below-k", "zip+age"), ["age+zip"]),
        (exemption(None, "age"), ["age", "key age"]),
        (exemption("key"), ["key age"]),
        (exemption("key", "zip"), []),
        (exemption("below-k", expires=date(2026, 11, 20)), []),
    ],
)
def test_exceptions_cover_a_kind_or_columns_or_both_until_their_last_day(given: Exemption, covered: list[str]) -> None:
    every = {"age": finding(), "age+zip": finding(columns="age+zip"), "key age": finding(Kind.KEY)}
    marked = with_exceptions(every.values(), [given], TODAY)
    accepted = [name for name, each in zip(every, marked, strict=True) if each.exception == Acceptance("known", TODAY)]
    assert accepted == covered
    assert [name for name, each in zip(every, marked, strict=True) if each.state is State.EXCEPTED] == covered
    over = expired(every.values(), [given], TODAY)
    assert over == ([given] if given.expires < TODAY else [])
    assert expired([finding(Kind.SEPARATION, "sex")], [given], date(2030, 1, 1)) == []


WHOLE, BELOW, KEY = finding(Kind.K_ANONYMITY, "age+zip"), finding(), finding(Kind.KEY)
RATIO = finding(Kind.DISTINCT)


def accepted(found: Finding) -> Finding:
    return replace(found, exception=Acceptance("known", None))


@pytest.mark.parametrize(
    ("found", "listed", "verdict"),
    [
        ([WHOLE, BELOW], [Kind.BELOW_K], "violation"),
        ([accepted(WHOLE)], [], "pass"),
        ([accepted(WHOLE), BELOW, KEY], [Kind.BELOW_K], "pass"),
        ([WHOLE, accepted(BELOW)], [Kind.BELOW_K], "pass"),
        ([WHOLE, accepted(BELOW), KEY], [Kind.BELOW_K], "pass"),
        ([WHOLE, accepted(BELOW)], [], "violation"),  # there may be other sets
        ([WHOLE, accepted(BELOW), finding(columns="zip")], [Kind.BELOW_K], "violation"),
        ([WHOLE, accepted(KEY)], [Kind.BELOW_K], "violation"),
        ([WHOLE, accepted(BELOW), RATIO], [Kind.BELOW_K], "violation"),
        ([accepted(WHOLE), RATIO], [Kind.BELOW_K], "violation"),
        ([accepted(WHOLE), accepted(RATIO)], [Kind.BELOW_K], "pass"),
        ([RATIO, accepted(BELOW)], [Kind.BELOW_K], "violation"),
    ],
)
def test_the_verdict_once_what_is_accepted_does_not_count(
    found: list[Finding], listed: list[Kind], verdict: str
) -> None:
    assert verdict_with_exceptions(audit(), found, listed) == verdict
    for other in ("pass", "inconclusive"):
        assert verdict_with_exceptions(audit(verdict=other), found, listed) == other
    unknown = verdict_with_exceptions(audit(None), found, listed)
    assert unknown == "violation"  # nobody knows what else there is
    unreadable = replace(ZIP, role=Role.UNREADABLE)
    expected = "inconclusive" if verdict == "pass" else verdict
    assert verdict_with_exceptions(audit(columns=(AGE, unreadable)), found, listed) == expected
    assert verdict_with_exceptions(replace(audit(), interrupted=True), found, listed) == expected, "never a pass"


def test_a_violation_has_a_finding_also_if_the_table_was_not_measured_whole() -> None:
    """By one column alone, for example, where a budget ended the audit: a report that lists findings is not empty."""
    [found] = findings(audit(None), "db")
    assert (found.kind, found.columns, found.text) == ("k-anonymity", ("age", "zip"), "main.people is not 5-anonymous")
    assert findings(audit(None, verdict="inconclusive"), "db") == []


# coverage


def gap(table: str = "main.people", column: str | None = None, source: str = "db", **more: Any) -> Gap:
    severity = Severity.VIOLATION if more.pop("violates", False) else Severity.WARNING
    return Gap(source, table, column, more.pop("change", GapKind.UNKNOWN), "", severity, **more)


def coverage_of(*gaps: Gap, errors: tuple[str | None, ...] = (None, None), part: bool = False) -> Coverage:
    sources = [SourceCoverage(f"s{n}", "", 10 + n, 8, 100, 90 - n, error=error) for n, error in enumerate(errors)]
    return Coverage(tuple(sources), gaps, part)


def test_the_verdict_of_coverage() -> None:
    warning, wrong, known = gap(), gap(violates=True), gap(violates=True, state=GapState.UNCHANGED)
    for gaps, verdict, apart in [
        ((), "pass", "pass"),
        ((warning,), "pass", "pass"),
        ((warning, wrong), "violation", "violation"),
        ((known, warning), "violation", "pass"),
        ((known, wrong), "violation", "violation"),
    ]:
        assert (coverage_of(*gaps).verdict, coverage_of(*gaps).verdict_on_new) == (verdict, apart)
        broken = coverage_of(*gaps, errors=(None, "away"))
        assert (broken.verdict, broken.verdict_on_new) == ("error", "error")


def test_what_is_covered_in_one_line() -> None:
    assert coverage_of().text == "16 of 21 tables, 179 of 200 columns covered"
    wrong = gap(column="email", violates=True)
    told = coverage_of(gap(), wrong, errors=(None, "away"), part=True).text
    assert told == (
        "16 of 21 tables, 179 of 200 columns covered (of the tables selected by --only); "
        "not in the policy: main.people.email; the catalog of s1 could not be read"
    )
    written = plain(coverage_of(gap(), wrong))
    assert (written["tables"], written["tables_covered"], written["columns"], written["columns_covered"]) == (
        21,
        16,
        200,
        179,
    )
    assert [each["severity"] for each in written["gaps"]] == ["warning", "violation"]
    assert [each["tables"] for each in written["sources"]] == [10, 11]
    assert (written["sources"][0]["out_of_scope"], plain(coverage_of(part=True))["part"]) == (0, True)
    assert written["part"] is False
    assert Coverage(()).part is False
    many = [gap(f"t{n}", violates=True) for n in range(7)]
    assert coverage_of(*many[:6]).text.endswith("not in the policy: t0, t1, t2, t3, t4, t5")
    assert coverage_of(*many).text.endswith("not in the policy: t0, t1, t2, t3, t4, t5, ... (7 in all)")
    empty = SourceCoverage("s", "")
    assert (empty.tables, empty.tables_covered, empty.columns, empty.columns_covered) == (0, 0, 0, 0)


def test_gaps_have_ids_of_their_own_and_a_state() -> None:
    one, whole = gap(column="a/b%"), gap()
    assert (one.id, whole.id) == ("db/main.people/unknown/a%2Fb%25", "db/main.people/unknown")
    assert (one.subject, whole.subject) == ("main.people.a/b%", "main.people")
    found = coverage_of(one, whole).with_states({whole.id})
    assert [each.state for each in found.gaps] == ["new", "unchanged"]
    assert run_of(table("pass")).gaps == ()
    assert run_of(table("pass"), coverage=found).gaps == found.gaps


def test_gaps_are_in_the_order_of_sources_tables_and_columns_each_once() -> None:
    first, second = gap("b", source="s0"), gap("a", source="s1")
    column, other = gap("b", "x", source="s0"), gap("b", "c", source="s0")
    known = replace(first, severity=Severity.VIOLATION)
    found = coverage_of(known, second).with_gaps([column, other, first])
    assert found.gaps == (known, other, column, second)


def test_what_counts_most_of_gaps_and_what_mends_them() -> None:
    known = gap("a", state=GapState.UNCHANGED)
    new, wrong = gap("b", change=GapKind.VANISHED), gap("c", violates=True, state=GapState.UNCHANGED)
    assert coverage_of(known, new, wrong).by_severity == [wrong, new, known]
    sources = tuple(SourceCoverage(name, "", mend=f"mend {name}") for name in ("other", "db"))
    assert Coverage(sources, (known, new)).update_commands == ["mend db"]
    assert Coverage(sources, (new,)).update_commands == []
    renamed = [Coverage(sources, gaps).may_be_renamed for gaps in ((known, new), (known,), (new,))]
    assert renamed == [True, False, False]


def test_a_pass_by_exceptions_says_so_and_another_nothing() -> None:
    assert (passes_with(0), passes_with(1), passes_with(2)) == (
        "",
        "passes with 1 exception",
        "passes with 2 exceptions",
    )
