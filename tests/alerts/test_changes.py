"""What is told of runs: only what changed, to whom it concerns."""

import random
from datetime import date
from typing import Any

import pytest

from qidsql.alerts.changes import ORDER, changes
from qidsql.alerts.settings import Alert
from tests.alerts.runs import alert, run_document

TODAY = date(2026, 11, 21)
LETTERS = {"v": "violation", "p": "pass", "i": "inconclusive", "e": "error"}


def told_of(verdicts: str, listener: Alert) -> str:
    """What an alert tells of one table over the runs with these verdicts (v, p, i, e); . where it is silent."""
    told: dict[tuple[str, str], str] = {}
    heard = ""
    for number, letter in enumerate(verdicts):
        found = changes(listener, run_document(number + 1, patients=LETTERS[letter]), told, TODAY)
        told |= {change.subject: change.now for change in found}
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


def subjects(listener: Alert, document: dict[str, Any], today: date = TODAY) -> list[str]:
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
    document = run_document(patients="inconclusive", visits="violation") | {"complete": False, "interrupted": True}
    assert subjects(alert(), document) == ["main.visits"]
    assert subjects(alert(), document | {"interrupted": False}) == ["main.visits", "main.patients"]


def test_a_run_that_broke_as_a_whole_is_told_and_its_recovery_too() -> None:
    broken = run_document() | {"verdict": "error", "reason": "no table meets main.*"}
    [change] = changes(alert(), broken, {}, TODAY)
    assert (change.name, change.now, change.reason) == ("the run", "error", "no table meets main.*")
    told = {change.subject: change.now}
    assert changes(alert(), broken, told, TODAY) == []
    [change] = changes(alert(), run_document(patients="pass"), told, TODAY)
    assert (change.name, change.was, change.now) == ("the run", "error", "pass")


def test_the_order_is_that_of_the_exit_codes() -> None:
    from qidsql.findings.run import RunVerdict

    assert list(ORDER) == [str(verdict) for verdict in RunVerdict]
