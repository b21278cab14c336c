"""What is told of runs: only what changed, to whom it concerns."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from qidsql.commands.audit.command import AuditResult
from qidsql.core.policy import Policy
from qidsql.core.results import Account, Verdict
from qidsql.operations.alerts.message import POLICY_CHANGED, LastSent, changes
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.document import PackedTables, RunResult
from qidsql.operations.table_run import Finding
from tests.operations.alerts.runs import alert, finding, run_document, violation

TODAY = date(2026, 11, 21)
LETTERS = {"v": "violation", "p": "pass", "i": "inconclusive", "e": "error"}


def told_of(verdicts: str, listener: Alert) -> str:
    """What an alert tells of one table over the runs with these verdicts (v, p, i, e); . where it is silent."""
    told: dict[tuple[str, str], LastSent] = {}
    heard = ""
    for number, letter in enumerate(verdicts):
        found = changes(listener, run_document(number + 1, patients=LETTERS[letter]), told, TODAY)
        told |= {change.subject: change.as_sent for change in found}
        heard += "".join(change.now[0] for change in found) or "."
    return heard


@pytest.mark.parametrize(
    ("on", "verdicts", "heard"),
    [
        (["violation", "error", "inconclusive"], "ppvvvppeeivp", "..v..p.e.ivp"),
        (["violation"], "pvivip", ".v...p"),  # what it does not listen to is no change
        (["violation"], "piep", "...."),  # nor is the recovery from it one
        (["error"], "vevp", ".e.p"),
        (["inconclusive"], "iviip", "i...p"),
    ],
)
def test_only_a_change_is_told(on: list[str], verdicts: str, heard: str) -> None:
    assert told_of(verdicts, alert(on=on)) == heard


@pytest.mark.exhaustive
def test_over_random_runs_it_never_repeats_itself_and_never_misses_one() -> None:
    """Against the definition: the heard verdicts in order, without repetitions, from passing on."""
    chance = random.Random(7)
    for _ in range(300):
        on = chance.sample(["violation", "error", "inconclusive"], chance.randint(1, 3))
        verdicts = "".join(chance.choice("vpie") for _ in range(12))
        expected, last = "", "p"
        for letter in verdicts:
            news = letter != last and (letter == "p" or LETTERS[letter] in on)
            expected += letter if news else "."
            last = letter if news else last
        assert told_of(verdicts, alert(on=on)) == expected


# a violation that gets worse


def told_worse(*runs: list[Finding], on: tuple[str, ...] = ("violation", "worse")) -> list[tuple[str, ...]]:
    """What is told of a table that stays in violation, run by run: the findings that are news; () where silent."""
    told: dict[tuple[str, str], LastSent] = {}
    heard = []
    for number, findings in enumerate(runs, 1):
        found = changes(alert(on=list(on)), violation(number, *findings), told, TODAY)
        told |= {change.subject: change.as_sent for change in found}
        heard.append(next((change.worse for change in found), ()))
        assert [change.was for change in found] in ([], [None if number == 1 else "violation"])
    return heard


def test_a_violation_that_gets_worse_is_told_once_per_change() -> None:
    at_3, at_2 = finding("k-anonymity", 3, 100), finding("k-anonymity", 2, 100)
    named = finding("direct-identifier", 1, 1000, 1000, "ssn")
    assert told_worse([at_3], [at_3], [at_2], [at_2], [at_2, named], [at_2, named]) == [
        *((), (), ("k-anonymity of all",), ()),
        *(("direct-identifier of ssn",), ()),
    ]
    assert told_worse([at_3], [at_2, named], on=("violation",)) == [(), ()]


def test_a_share_below_k_creeps_up_unseen_for_no_longer_than_the_margin() -> None:
    """Against what was told, not against the last run: 5 rows of 1,000 more each night are 1 % in the second."""
    nights = [[finding("k-anonymity", 1, 100 + 5 * night)] for night in range(7)]
    assert [bool(news) for news in told_worse(*nights)] == [False, False, True, False, True, False, True]
    assert told_worse(*reversed(nights)) == [()] * 7, "better is no news"


def test_why_the_policy_is_broken_and_what_is_accepted_is_no_news() -> None:
    broken = finding("k-anonymity", 1, 100)
    for more in (
        finding("below-k", 1, 9, 1000, "zip"),
        finding("key", 1, 1000, 1000, "zip", "age"),
        finding("direct-identifier", 1, 1000, 1000, "ssn", state="excepted"),
        finding("direct-identifier", 1, 1000, 1000, "ssn", state="gone"),
    ):
        assert told_worse([broken], [broken, more]) == [(), ()]


def test_a_column_more_or_less_is_news_only_when_the_table_is_worse_by_it() -> None:
    """The finding that a whole table is below k names its columns, and so is another one when they change."""
    two, three = (finding("k-anonymity", 2, 100, 1000, *names) for names in (("zip", "sex"), ("zip", "sex", "age")))
    assert told_worse([three], [two], [three]) == [(), (), ()]
    worse = finding("k-anonymity", 1, 100, 1000, "zip", "sex", "age", "ward")
    assert told_worse([three], [worse]) == [(), ("k-anonymity of zip + sex + age + ward",)]


def test_figures_that_min_count_left_out_are_no_news() -> None:
    hidden, named = finding("k-anonymity", None, None, None), finding("direct-identifier", None, None, None, "ssn")
    nights = [[hidden], [hidden], [hidden, named], [hidden, named]]
    assert [bool(news) for news in told_worse(*nights)] == [False, False, True, False]


def test_a_class_whose_size_is_not_known_any_more_is_news_once() -> None:
    known, unknown = finding("k-anonymity", 2, 100), finding("k-anonymity", None, 100)
    assert [bool(news) for news in told_worse([known], [unknown], [unknown])] == [False, True, False]


def audit_at(k: int) -> AuditResult:
    """An audit at this k, whatever it found."""
    account = Account(
        source="clinic",
        engine="",
        table="main.patients",
        kind="table",
        snapshot="",
        started=datetime(2026, 11, 1, tzinfo=UTC),
        seconds=1.0,
        policy=Policy(k=k),
        rows=1000,
        statements=1,
        rounds=1,
        scans=1,
        sets_profiled=1,
        unfinished=(),
        notes=(),
    )
    nothing: dict[str, Any] = dict.fromkeys(
        ("columns", "class_sizes", "column_sets", "searches", "withheld", "assumptions"), ()
    )
    return AuditResult(
        verdict=Verdict.VIOLATION,
        reason="",
        account=account,
        entities=None,
        profile=None,
        least_withheld=None,
        **nothing,
    )


def test_a_violation_is_told_once_more_when_its_policy_changes_and_compared_with_that_from_then_on() -> None:
    """k from 11 to 2 and back: the figures under one are not held against those under the other."""

    def night(k: int, at_risk: int) -> RunResult:
        document = violation(1, finding("k-anonymity", 1, at_risk))
        return replace(document, tables=PackedTables.of([replace(document.tables[0], audit=audit_at(k))]))

    nights = [night(11, 900), night(2, 100), night(2, 105), night(2, 150), night(11, 900), night(11, 900)]
    told: dict[tuple[str, str], LastSent] = {}
    heard = []
    for document in nights:
        found = changes(alert(), document, told, TODAY)
        told |= {change.subject: change.as_sent for change in found}
        heard.append([*(found[0].worse if found else ["silent"])])
    assert heard == [[], [POLICY_CHANGED], ["silent"], ["k-anonymity of all"], [POLICY_CHANGED], ["silent"]]
    table = replace(nights[1].tables[0], verdict=Verdict.PASS)
    passing = replace(nights[0], verdict=Verdict.PASS, tables=PackedTables.of([table]))
    [change] = changes(alert(), passing, told, TODAY)
    assert change.now == "pass" and POLICY_CHANGED in change.reason


# whom it concerns


def subjects(listener: Alert, document: RunResult, today: date = TODAY) -> list[str]:
    return [change.table for change in changes(listener, document, {}, today)]


def test_the_worst_comes_first() -> None:
    document = run_document(a="inconclusive", b="violation", c="error", d="pass")
    assert subjects(alert(), document) == ["main.c", "main.b", "main.a"]


def test_routing_by_owner_and_table() -> None:
    document = run_document(patients="violation", visits="error")
    assert subjects(alert(owners=["research"]), document) == ["main.visits"]
    assert subjects(alert(tables=["main.p*"]), document) == ["main.patients"]
    assert subjects(alert(tables=["clinic:main.*"]), document) == ["main.visits", "main.patients"]
    assert subjects(alert(tables=["other:*"]), document) == []


def test_a_snooze_ends_on_its_day_and_what_still_holds_is_told_then() -> None:
    listener = alert(snooze=[{"table": "main.patients", "until": date(2026, 11, 25)}])
    document = run_document(patients="violation", visits="violation")
    assert subjects(listener, document) == ["main.visits"]
    assert subjects(listener, document, date(2026, 11, 24)) == ["main.visits"]
    assert subjects(listener, document, date(2026, 11, 25)) == ["main.patients", "main.visits"]
    assert subjects(alert(snooze=[{"until": date(2026, 11, 25)}]), document) == []


def test_an_interrupted_run_is_no_news_of_the_tables_that_it_did_not_judge() -> None:
    document = run_document(patients="inconclusive", visits="violation")
    document = replace(document, complete=False, interrupted=True)
    assert subjects(alert(), document) == ["main.visits"]
    assert subjects(alert(), replace(document, interrupted=False)) == ["main.visits", "main.patients"]


def test_a_run_that_broke_as_a_whole_is_told_and_its_recovery_too() -> None:
    broken = replace(run_document(), verdict=Verdict.ERROR, reason="no table meets main.*")
    [change] = changes(alert(), broken, {}, TODAY)
    assert (change.name, change.now, change.reason) == ("the run", "error", "no table meets main.*")
    told = {change.subject: LastSent(change.now)}
    assert changes(alert(), broken, told, TODAY) == []
    [change] = changes(alert(), run_document(patients="pass"), told, TODAY)
    assert (change.name, change.was, change.now) == ("the run", "error", "pass")
