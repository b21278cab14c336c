"""qidsql run: every table gets its verdict whatever becomes of the others, and the worst of them is the exit code."""

import json
import os
import re
import signal
import subprocess
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import duckdb
import pytest

from qidsql.cli.run_report import finding_changes, report
from qidsql.cli.streams import report_text
from qidsql.core.results import Verdict, worst
from qidsql.declarations.results import loaded
from qidsql.engines.connect import connect
from qidsql.errors import StoreError
from qidsql.formats.registry import NAMES
from qidsql.operations import current_source
from qidsql.operations import plan as resumption
from qidsql.operations.current_source import CurrentSource
from qidsql.operations.document import Baseline, RunResult
from qidsql.operations.history.records import History
from qidsql.operations.plan import plan, tables_of
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import RunCallbacks, run
from qidsql.operations.table_run import Finding, FindingKind, FindingState, Measures
from tests.commandline import command, environment, finished, inside
from tests.exhaustive import first
from tests.operations.test_scheduled_runs import asleep
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.postgres_server import wait_until
from tests.stores import ONE_ENGINE, DuckDBStore, PostgresStore, Store, quoted

pytestmark = ONE_ENGINE

NOT_AUDITED = '[[tables]]\ntable = "{}"\naudit = false\n'
WORST_FIRST = ["error", "violation", "inconclusive", "pass"]
CODES = {"pass": 0, "violation": 1, "error": 2, "inconclusive": 3}


def ran(folder: Path, *arguments: object, **extra: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of `qidsql run` there."""
    outcome = inside("run", "-q", "--format", "json", *arguments, cwd=folder, **extra)
    assert outcome.out, outcome.err
    return outcome.code, json.loads(outcome.out)


def shown(document: RunResult) -> str:
    """The report for people at a terminal."""
    return report_text(report(document), 110, False)


@pytest.mark.exhaustive
def test_a_report_says_for_what_and_to_whom_the_tables_are_released(tmp_path: Path, store: Store) -> None:
    """In the words of the policy file; each is optional."""
    fill(store, safe=SAFE)
    release = {"purpose": "a <study>", "recipient": "the ward", "author": "M. B.", "date": "2027-03-31"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in release.items()]
    policy_file(tmp_path, store.url, entries("safe"), "\n".join(["[release]", *lines]))
    assert ran(tmp_path)[1]["release"] == release
    page = inside("report", "--format", "html", cwd=tmp_path).out
    assert "<dt>Purpose</dt><dd><bdi>a &lt;study&gt;</bdi>" in page
    assert all(f"<dt>{key.capitalize()}</dt>" in page for key in release)
    for name in ("audit", "keys", "risk"):
        arguments = (name, store.url, "safe", "--policy", "qidsql.toml")
        assert "<bdi>a &lt;study&gt;</bdi>" in inside(*arguments, "--format", "html", cwd=tmp_path).out, name
        markdown = inside(*arguments, "--format", "markdown", cwd=tmp_path).out
        assert (r"a &lt;study&gt;" in markdown) is (name != "audit")  # which is a comment on a pull request
    policy_file(tmp_path, store.url, entries("safe"), "[release]\npurpose = 'a study'")
    assert ran(tmp_path)[1]["release"]["purpose"] == "a study"
    assert "<dt>Recipient</dt>" not in inside("report", "--format", "html", cwd=tmp_path).out
    policy_file(tmp_path, store.url, entries("safe"), "[release]\nreceiver = 'the ward'")
    assert "of, purpose, recipient, author, date, until" in inside("run", cwd=tmp_path).line


@pytest.mark.parametrize("given", [set(), {"pass"}, {"pass", "inconclusive"}, {"violation", "inconclusive", "pass"}])
def test_the_worst_verdict_counts(given: set[str]) -> None:
    expected = next((verdict for verdict in WORST_FIRST if verdict in given), "inconclusive")
    assert worst(given) == expected
    assert worst({*given, "error"}) == "error"


@pytest.mark.exhaustive
def test_every_exit_code_and_every_mix(store: Store, tmp_path: Path) -> None:
    """Tables that pass, violate, are empty and are not there: the worst decides, and each gets its audit."""
    fill(store, safe=SAFE, risky=RISKY, nobody=[])
    verdicts = {"safe": "pass", "risky": "violation", "nobody": "inconclusive", "missing": "error"}
    policy_file(tmp_path, store.url, entries(*verdicts, more="k = 5"))
    code, document = ran(tmp_path)
    assert {each["table"].rpartition(".")[2]: each["verdict"] for each in document["tables"]} == verdicts
    assert (code, document["verdict"], document["exit_code"]) == (2, "error", 2)
    for mix in (["safe"], ["safe", "nobody"], ["safe", "nobody", "risky"], ["risky", "safe"], ["nobody"]):
        expected = next(v for v in WORST_FIRST if v in {verdicts[name] for name in mix})
        code, document = ran(tmp_path, *(part for name in mix for part in ("--only", f"*{name}")))
        assert (code, document["verdict"]) == (CODES[expected], expected)
        assert len(document["tables"]) == len(mix)


def test_patterns_are_filled_in_from_the_catalog(store: Store, tmp_path: Path) -> None:
    """A table that is named goes with its own entry; a pattern that nothing fits is an error, never a silent pass."""
    hostile = 'visits_"; drop'
    fill(store, **{"visits_1": SAFE, "visits_2": RISKY, "other": SAFE, hostile: SAFE})
    tables = entries("visits_*") + entries("visits_2", more="k = 2") + entries("nothing_*")
    file = read_policy_file(policy_file(tmp_path, store.url, tables))
    with closing(CurrentSource()) as source:
        planned = tables_of(plan(file, source), file)
    named = [(each.table.partition(".")[2], each.entry.options.get("k"), bool(each.error)) for each in planned]
    assert sorted(named[:2]) == sorted([(hostile, None, False), ("visits_1", None, False)])
    assert named[2:] == [("visits_2", 2, False), ("", None, True)]
    _, document = ran(tmp_path)
    assert [each["verdict"] for each in document["tables"]] == ["pass", "pass", "violation", "error"]


def test_a_source_that_cannot_be_reached_is_an_error_of_its_tables(store: Store, tmp_path: Path) -> None:
    fill(store, safe=SAFE)
    away = '[sources.away]\nurl = "postgresql://nobody@127.0.0.1:1/none"\n'
    tables = '[[tables]]\nsource = "away"\ntable = "people"\n[[tables]]\nsource = "main"\ntable = "safe"\n'
    policy_file(tmp_path, store.url, tables, head=away)
    code, document = ran(tmp_path)
    assert code == 2
    first, second = document["tables"]
    assert (first["source"], first["verdict"], first["audit"]) == ("away", "error", None)
    assert "no Postgres server answers" in first["error"]
    assert second["verdict"] == "pass"


@pytest.mark.exhaustive
def test_a_run_opens_its_source_once_and_its_history_a_few_times(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many tables there are: one connection, and a transaction for each thing that the history is asked."""
    counts = []
    for tables in (2, 5):
        names = [f"t{tables}{place}" for place in range(tables)]
        fill(store, **dict.fromkeys(names, SAFE))
        folder = tmp_path / str(tables)
        folder.mkdir()
        file, history = read_policy_file(policy_file(folder, store.url, entries(*names))), history_of(folder)
        history.record(run(file, history))
        opened, transactions = Mock(wraps=connect), Mock(wraps=history.store.transaction)
        with monkeypatch.context() as counted:
            counted.setattr(resumption, "KEEP_EVERY", 3600.0)
            counted.setattr(current_source, "connect", opened)
            counted.setattr(history.store, "transaction", transactions)
            history.record(run(file, history))
        assert opened.call_count == 1
        counts.append(transactions.call_count)
    assert counts[0] == counts[1] < 12


def test_what_a_killed_run_has_finished_is_kept_every_few_seconds(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, one=SAFE, two=SAFE, three=SAFE)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("one", "two", "three")))
    history = history_of(tmp_path)
    kept: list[int] = []

    def look(stage: str) -> None:
        if "of 3" in stage and "profiling all" in stage:
            kept.append(len(history.unfinished()))

    for seconds in (0.0, 3600.0):
        monkeypatch.setattr(resumption, "KEEP_EVERY", seconds)
        run(file, history, resume=False, callbacks=RunCallbacks(stage=look))
    assert kept == [0, 1, 2, 3, 3, 3]


def test_a_table_that_vanishes_in_mid_run(postgres_store: PostgresStore, tmp_path: Path) -> None:
    fill(postgres_store, first=SAFE, second=SAFE)
    file = read_policy_file(policy_file(tmp_path, postgres_store.url, entries("first", "second")))

    def drop(stage: str) -> None:
        if "first: profiling all" in stage:
            postgres_store.execute("DROP TABLE second")

    result = run(file, callbacks=RunCallbacks(stage=drop))
    assert [table.verdict for table in result.tables] == [Verdict.PASS, Verdict.ERROR]
    assert "no table" in str(result.tables[1].error)


@pytest.mark.exhaustive
def test_a_table_that_breaks_still_tells_when_it_last_had_a_verdict(tmp_path: Path) -> None:
    """So one run that broke makes nobody unhealthy: docker/compose.yaml reads the time from the metrics."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE, calm=SAFE)
    policy_file(tmp_path, store.url, entries("main.safe", "main.calm"))
    first = ran(tmp_path)[1]
    (tmp_path / "people.duckdb").rename(tmp_path / "away.duckdb")
    for _ in range(2):  # the second breaks as the first did
        assert inside("run", "-q", "-o", "a.prom", "-o", "a.html", "-o", "a.json", cwd=tmp_path).code == 2
        document = json.loads((tmp_path / "a.json").read_text())
        assert [table["verdict"] for table in document["tables"]] == ["error", "error"]
        assert all(table["trend"][0]["run"] == first["run"] for table in document["tables"])
        samples = dict(line.rsplit(" ", 1) for line in (tmp_path / "a.prom").read_text().splitlines())
        since = datetime.fromisoformat(first["started"]).timestamp()
        assert float(samples["qidsql_run_last_success_timestamp_seconds"]) == pytest.approx(since, abs=1)
    inside("run", "-q", "--min-count", "11", "-o", "a.json", cwd=tmp_path)
    hidden = json.loads((tmp_path / "a.json").read_text())
    points = [point for table in hidden["tables"] for point in table["trend"]]
    assert points and all(point["rows"] is None for point in points), "who knows whether it has entities?"


def test_budgets_of_a_table_and_of_the_run(store: Store, tmp_path: Path) -> None:
    fill(store, one=RISKY, two=RISKY, three=RISKY)
    policy_file(tmp_path, store.url, entries("one", "two", "three"), head="[run]\nmax_statements = 3")
    code, document = ran(tmp_path)
    assert document["statements"] <= 3
    assert document["tables"][-1]["verdict"] == "inconclusive"
    assert "was not audited: " in document["tables"][-1]["reason"]
    assert (code, document["complete"]) == (1, False)  # what is proved stays a violation
    policy_file(tmp_path, store.url, entries("one", "two", more="max_statements = 1") + NOT_AUDITED.format("three"))
    _, document = ran(tmp_path, "--no-history")
    assert [each["audit"]["statements"] for each in document["tables"]] == [1, 1], "three is left out"
    assert all(each["audit"]["unfinished"] for each in document["tables"])
    code, document = ran(tmp_path, "--no-history", QIDSQL_MAX_SECONDS="0.001")
    assert (code, document["verdict"]) == (3, "inconclusive")


def test_options_and_variables_override_the_file(store: Store, tmp_path: Path) -> None:
    fill(store, safe=SAFE)
    policy_file(tmp_path, store.url, entries("safe", more="k = 5"))
    assert ran(tmp_path, "--no-history")[0] == 0
    assert ran(tmp_path, "--no-history", QIDSQL_K="7")[0] == 1
    assert ran(tmp_path, "--no-history", "--k", "6", QIDSQL_K="7")[0] == 0


def test_roles_come_from_the_file_and_a_new_column_is_audited(store: Store, tmp_path: Path) -> None:
    store.table("people", {"id": "INT", "sex": "TEXT"}, [(i, "f") for i in range(30)])
    roles = '[tables.roles]\nid = "direct identifier"\n'
    path = policy_file(tmp_path, store.url, entries("people", more=roles), head='[defaults.roles]\nssn = "other"')
    assert ran(tmp_path, "--no-history")[0] == 0
    store.execute("ALTER TABLE people ADD COLUMN age INT")
    store.execute("UPDATE people SET age = id")
    code, document = ran(tmp_path, "--no-history")
    assert code == 1
    assert [each["name"] for each in document["tables"][0]["audit"]["columns"] if each["recognised"]] == ["age"]
    path.write_text(path.read_text().replace("id = ", "idd = "))
    code, document = ran(tmp_path, "--no-history")
    assert code == 2
    assert "did you mean id?" in document["tables"][0]["error"]


def test_roles_of_a_pattern_are_for_the_tables_that_have_the_column(store: Store, tmp_path: Path) -> None:
    for name in ("a1", "a2"):
        store.table(
            name,
            {"id": "INT", "sex": "TEXT"} | ({"ward": "TEXT"} if name == "a2" else {}),
            [(i, "f", "w")[: 2 + (name == "a2")] for i in range(6)],
        )
    weights = "[tables.weights]\nward = 2\nwrad = 2\n"
    roles = '[tables.roles]\nid = "direct identifier"\nWARD = "sensitive"\nssx = "other"\n'
    policy_file(tmp_path, store.url, entries("a*", more=roles + weights))
    code, document = ran(tmp_path, "--no-history")
    audited = {
        table["table"].rpartition(".")[2]: [c["name"] for c in table["audit"]["columns"] if c["audited"]]
        for table in document["tables"]
    }
    assert (code, audited) == (0, {"a1": ["sex"], "a2": ["sex"]})
    [note] = document["notes"]
    assert note.startswith("no table that matches a* has a column ssx, wrad (line 5 of qidsql.toml)")


def test_weights_choose_among_the_fewest_columns_to_withhold(store: Store, tmp_path: Path) -> None:
    """Either of two columns will do; two light ones never stand for one heavy one."""
    rows = [(a, b, "c") for a in range(6) for b in range(6) for _ in range(3)]
    store.table("pairs", {"a": "INT", "b": "INT", "c": "TEXT"}, rows)
    for heavy, light in (("a", "b"), ("b", "a")):
        head = "[defaults.weights]\nnowhere = 9\n"
        policy_file(tmp_path, store.url, entries("pairs", more=f"[tables.weights]\n{heavy} = 7\n{light} = 6\n"), head)
        [table] = ran(tmp_path, "--no-history")[1]["tables"]
        assert table["audit"]["least_withheld"] == {"columns": [light], "at_least": 1}
    policy_file(tmp_path, store.url, entries("pairs", more="[tables.weights]\nnowhere = 7\n"))
    document = ran(tmp_path, "--no-history")[1]
    assert document["tables"][0]["error"] is None and "audited without nowhere (line" in document["notes"][0]


@pytest.mark.exhaustive
def test_a_table_is_compared_with_the_last_run_on_it(store: Store, tmp_path: Path) -> None:
    """Which is another one than the last run, when that was of other tables; and a pattern is no table to miss."""
    fill(store, people=RISKY, calm=SAFE)
    policy_file(tmp_path, store.url, entries("people", "calm", "none*"))
    first = ran(tmp_path)[1]
    second = ran(tmp_path, "--only", "calm")[1]
    assert second["notes"] == []
    assert inside("history", "diff", cwd=tmp_path).out.endswith(
        "1 table unchanged\n2 tables not compared: left out by --only\n"
    )
    third = ran(tmp_path)[1]
    assert third["baseline"]["run"] == second["run"]
    assert third["tables"][0]["findings"][0]["state"] == "unchanged"
    name = third["tables"][0]["table"]
    assert third["notes"] == [f"{name}: compared with run {first['run']}, the last on it"]
    store.table("none1", {"sex": "TEXT"}, [("f",)] * 6)
    assert not [note for note in ran(tmp_path)[1]["notes"] if "no longer audited" in note]


@pytest.mark.exhaustive
def test_findings_under_another_policy_are_compared_with_nothing(store: Store, tmp_path: Path) -> None:
    """A looser k makes nothing better, a stricter one nothing worse; to who fails on new such a violation is new."""
    fill(store, people=RISKY)

    def at(k: int, *arguments: str) -> tuple[int, dict[str, Any]]:
        policy_file(tmp_path, store.url, entries("people", more=f"k = {k}\nmax_statements = {100 + k}"))
        return ran(tmp_path, "--fail-on", "new", *arguments)

    def states(document: dict[str, Any]) -> set[str]:
        return {finding["state"] for finding in document["tables"][0]["findings"]}

    assert at(6)[0] == 1
    assert at(6)[0] == 0
    for k, said in ((2, "k 6 -> 2"), (5, "k 2 -> 5")):
        code, document = at(k)
        assert (code, states(document)) == (1, {"policy changed"})
        assert document["tables"][0]["policy_changed"] == [said]
        assert all(finding["was"] is None for finding in document["tables"][0]["findings"])
        assert (
            f"({said}): findings of" in (text := shown(loaded(RunResult, document)))
            and "No finding changed" not in text
        )
    code, document = at(5)
    assert (code, states(document), document["tables"][0]["policy_changed"]) == (0, {"unchanged"}, [])
    policy_file(tmp_path, store.url, entries("people", more="where = \"sex <> 'c4n4ry'\"\nk = 5"))
    _, document = ran(tmp_path)
    assert document["tables"][0]["policy_changed"] == ["where"], "a condition can hold a value of a cell"


@pytest.mark.exhaustive
def test_a_table_that_is_gone_is_missed_once_whatever_else_was_run(store: Store, tmp_path: Path) -> None:
    """Also when a run with --only came between, which is no run of all tables; and one that --only met first."""

    def gone(*arguments: str) -> list[str]:
        notes = ran(tmp_path, *arguments)[1]["notes"]
        return [note.partition(";")[0] for note in notes if note.startswith("no longer audited")]

    fill(store, a_people=SAFE, a_pets=SAFE)
    policy_file(tmp_path, store.url, entries("a_*"))
    first = ran(tmp_path)[1]
    fill(store, a_late=SAFE)
    only = ran(tmp_path, "--only", "a_late")[1]
    assert (first["only"], only["only"], len(only["tables"])) == ([], ["a_late"], 1)
    for name in ("a_pets", "a_late"):
        store.execute(f"DROP TABLE {name}")
    assert gone("--only", "a_people") == []
    late, pets = (each["table"] for each in (*only["tables"], first["tables"][1]))
    told = {f"no longer audited since run {only['run']}: {late}", f"no longer audited since run {first['run']}: {pets}"}
    assert set(gone()) == told
    assert gone() == []
    assert set(gone("--baseline", only["run"])) == {each for each in told if late in each}
    fill(store, a_pets=SAFE)
    [pets] = [each for each in ran(tmp_path)[1]["tables"] if each["table"].endswith("pets")]
    assert ran(tmp_path, "--only", "a_people")[0] == 0
    store.execute("DROP TABLE a_pets")
    assert len(gone()) == 1
    assert gone() == []


def test_a_history_that_is_lost_at_the_very_end_loses_no_run(tmp_path: Path) -> None:
    class Lost(History):
        def last_tables(self) -> dict[tuple[str, str], str]:
            raise StoreError("it was dropped")

    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("safe")))
    result = run(file, Lost(history_of(tmp_path).store))
    assert result.verdict == "pass"
    assert result.notes == ("it is not known whether tables of earlier runs are gone: it was dropped",)


@pytest.mark.exhaustive
def test_one_run_writes_several_reports(tmp_path: Path) -> None:
    """Each in the format of its ending; one that cannot be written keeps neither the others nor the record back."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE)
    policy_file(tmp_path, store.url, entries("safe"))
    files = {"a.html": "<!doctype html>", "a.prom": "# HELP qidsql_info", "a.json": "{"}
    outputs = [part for name in files for part in ("-o", name)]
    assert inside("run", "-q", "-o", "/dev/full", *outputs, cwd=tmp_path).line.startswith(
        "--output /dev/full cannot be"
    )
    for name, beginning in files.items():
        assert (tmp_path / name).read_text().startswith(beginning)
    assert len(history_of(tmp_path).runs()) == 1
    beside = inside("run", "-q", "--format", "github", *outputs, "-o", "a.github", cwd=tmp_path).out
    assert beside == (tmp_path / "a.github").read_text()
    assert beside.startswith("::")
    assert len(history_of(tmp_path).runs()) == 2
    assert "its folder must exist" in inside("run", *outputs, "-o", "none/a.md", cwd=tmp_path).line
    assert "--min-count needs a format" in inside("run", "--min-count", "11", *outputs, "-o", "a", cwd=tmp_path).line
    assert len(history_of(tmp_path).runs()) == 2, "both were said before the work"


@pytest.mark.exhaustive
def test_a_check_reads_no_table_and_passes_nothing(store: Store, tmp_path: Path) -> None:
    fill(store, risky=RISKY)
    roles = '[tables.roles]\nsex = "quasi-identifier"\nward = "quasi-identifier"'
    policy_file(tmp_path, store.url, entries("risky", more=roles))
    code, checked = ran(tmp_path, "--check")
    assert (code, checked["verdict"], checked["statements"]) == (0, "finished", 0)
    assert not (tmp_path / "qidsql-history.duckdb").exists()
    ran(tmp_path)
    for more, expected in (
        (f"k = 3\n{roles}", "violation"),  # k was 5
        (f"k = 7\n{roles}", "finished"),
        (roles.replace('ward = "quasi', 'wart = "quasi'), "error"),
        (roles.replace('ward = "quasi-identifier"', 'ward = "other"'), "violation"),
        (roles.replace('\nward = "quasi-identifier"', ""), "violation"),  # it may be recognised as an identifier
    ):
        policy_file(tmp_path, store.url, entries("risky", more=more))
        code, checked = ran(tmp_path, "--check")
        assert checked["tables"][0]["verdict"] == expected, more
        assert code == {"finished": 0, "violation": 1, "error": 2}[checked["verdict"]]
    assert (code, checked["verdict"]) == (1, "violation")
    assert "risky.ward is not in the policy" in checked["coverage"]["gaps"][0]["text"]
    assert len(history_of(tmp_path).runs()) == 1
    for each in NAMES:
        outcome = inside("run", "-q", "--check", "--format", each, cwd=tmp_path)
        assert outcome.out or "leave it out" in outcome.line, each


def test_a_long_change_goes_on_under_its_beginning(tmp_path: Path) -> None:
    finding = Finding(
        id="x",
        kind=FindingKind.KEY,
        columns=(),
        state=FindingState.WORSE,
        text="word " * 40,
        measures=Measures(smallest=1, share_below_k=0.5),
        was=Measures(smallest=1, share_below_k=0.4),
    )
    text = report_text([finding_changes([(finding, "main.t: ")])], 60, False)
    first, *rest = text.splitlines()
    begun = first.index("main.t: ")
    assert len(rest) > 2
    assert all(len(line) <= 60 and line[:begun].isspace() and line[begun] != " " for line in rest)


def test_what_many_tables_share_is_said_once(tmp_path: Path) -> None:
    policy_file(tmp_path, "none.duckdb", entries(*(f"main.t{n}" for n in range(30))))
    out = " ".join(inside("run", "--no-history", cwd=tmp_path).out.split())
    assert out.count("there is no file none.duckdb") == 1
    assert "error main.t0, main.t1, main.t2, main.t3, main.t4, main.t5, ... (30 in all) could not be audited" in out


def test_an_error_of_one_table_is_told_with_its_line(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE, risky=SAFE)
    policy_file(tmp_path, store.url, entries("saef", "risky", more="[tables.roles]\nwrad = 'other'\n") + "[[tables]]\n")
    out = " ".join(inside("run", "--no-history", cwd=tmp_path).out.split())
    assert "error saef (qidsql.toml:5) could not be audited: no table saef (did you mean " in out
    assert "error main.risky (qidsql.toml:10) could not be audited: no column wrad (did you mean ward?)" in out
    assert re.search(r"error main \(qidsql.toml:15\) could not be audited: .* has 2 tables, name one", out), out


@pytest.mark.exhaustive
def test_findings_against_the_last_complete_run(store: Store, tmp_path: Path) -> None:
    """New, unchanged, worse, better and gone, each brought about by a change of the rows."""
    fill(store, people=RISKY, calm=SAFE)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("people", "calm")))
    history = history_of(tmp_path)

    def states() -> dict[tuple[str, tuple[str, ...]], str]:
        result = run(file, history)
        assert history.record(result)
        [table] = [each for each in result.tables if each.table.endswith("people")]
        return {(str(each.kind), each.columns): str(each.state) for each in table.findings}

    whole, alone = ("k-anonymity", ("sex", "ward")), ("below-k", ("sex",))
    assert states() == {whole: "new", alone: "new"}
    assert states() == {whole: "unchanged", alone: "unchanged"}
    store.execute("INSERT INTO people SELECT 'x', 'a' FROM people WHERE sex = 'x'")  # 3 with a, 1 with b: share up
    assert states() == {whole: "worse", alone: "worse"}
    store.execute("INSERT INTO people SELECT sex, ward FROM people WHERE sex = 'f'")  # more rows, and none at risk
    assert states() == {whole: "better", alone: "better"}
    store.execute("INSERT INTO people SELECT sex, ward FROM people WHERE sex = 'x'")
    assert states()[alone] == "gone"
    store.execute("DELETE FROM people WHERE sex = 'x'")
    assert set(states().values()) == {"gone"}
    assert states() == {}
    store.execute("INSERT INTO people VALUES ('y', 'a')")
    assert states() == {whole: "new", alone: "new"}
    first = history.runs()[-1]
    result = run(file, history, baseline=first.run)
    assert result.baseline == Baseline(first.run, first.started)
    assert {str(each.state) for each in result.tables[0].findings} <= {"unchanged", "worse", "better"}


def test_what_a_search_did_not_reach_is_not_gone(store: Store, tmp_path: Path) -> None:
    fill(store, people=RISKY)
    path = policy_file(tmp_path, store.url, entries("people"))
    history = history_of(tmp_path)
    history.record(run(read_policy_file(path), history))
    path = policy_file(tmp_path, store.url, entries("people", more="max_statements = 2"))
    [table] = run(read_policy_file(path), history, fresh=True).tables
    assert table.audit is not None
    assert table.audit.account.unfinished
    assert FindingState.GONE not in {each.state for each in table.findings}


@pytest.mark.exhaustive
def test_fail_on_new(store: Store, tmp_path: Path) -> None:
    fill(store, people=RISKY)
    policy_file(tmp_path, store.url, entries("people"))
    assert ran(tmp_path, "--fail-on", "new")[0] == 1  # nothing was known before
    code, document = ran(tmp_path, "--fail-on", "new")
    assert (code, document["exit_code"], document["verdict"]) == (0, 0, "violation")
    assert ran(tmp_path)[0] == 1
    store.execute("UPDATE people SET ward = 'c' WHERE sex = 'f' AND ward = 'a'")
    store.execute("INSERT INTO people VALUES ('f', 'd')")
    assert ran(tmp_path, QIDSQL_FAIL_ON="new")[0] == 1


@pytest.mark.exhaustive
def test_the_terminal_says_why_and_what_is_next(store: Store, tmp_path: Path) -> None:
    fill(store, people=RISKY)
    store.table("pay", {"staff_id": "INT", "sex": "TEXT"}, [(n, "fm"[n % 2]) for n in range(60)])
    policy_file(tmp_path, store.url, entries("people", "pay"))
    os.rename(tmp_path / "qidsql.toml", tmp_path / "our own.toml")
    told = inside("run", "-q", "our own.toml", cwd=tmp_path).out
    assert "contains 1 direct identifier: staff_id" in told  # its classes are large enough: the table shows no reason
    assert "Next: qidsql report last --config 'our own.toml' --output report.html" in told
    assert inside("report", "last", "--config", "our own.toml", "--output", "r.html", cwd=tmp_path).code == 0
    [document] = [history_of(tmp_path).result(head.run) for head in history_of(tmp_path).runs()]
    assert "Next: qidsql run 'our own.toml'  resumes this run" in shown(replace(document, interrupted=True))
    outcome = inside("run", "-q", "our own.toml", "--fail-on", "new", cwd=tmp_path)
    assert outcome.code == 0
    assert "No finding changed" in outcome.out
    assert "Exit code 0: no finding is new or worse" in outcome.out
    told = inside("run", "-q", "our own.toml", "--no-history", cwd=tmp_path).out
    assert "Next: qidsql run 'our own.toml' --no-history --output report.html" in told


@pytest.mark.exhaustive
def test_a_waived_finding_is_no_plain_pass_in_any_report(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "t.duckdb") as store:
        fill(store, people=RISKY)
        url = store.url
    accepted = '[[tables.exceptions]]\nfinding = "k-anonymity"\nreason = "agreed"\nexpires = 2999-01-01\n'
    policy_file(tmp_path, url, entries("people", more=accepted))
    for hidden in ([], ["--min-count", "3"]):
        told = {}
        for form in (*NAMES, *([] if hidden else ["terminal"])):
            outcome = inside("run", "-q", "--no-history", "--format", form, *hidden, cwd=tmp_path)
            assert outcome.code == 0
            told[form] = outcome.out
        for form in {"terminal", "html", "markdown", "csv", "prometheus"} & told.keys():
            words = " ".join(told[form].lower().split())
            assert re.search("pass with exceptions|passes with 1 exception", words), form
            assert not re.search(r"✅|1 passes(?! with)|1 pass\b|>pass<|,pass,|verdict=.pass.\} 1", words), form
        assert told.get("terminal", "PASSES WITH 1 EXCEPTION  ").startswith("PASSES WITH 1 EXCEPTION  ")
        [skipped] = ElementTree.fromstring(told["junit"]).iter("skipped")
        assert skipped.text == "accepted until 2999-01-01: agreed"
        assert json.loads(told["json"])["accepted"] == 1
    for _ in range(2):
        assert inside("run", "-q", cwd=tmp_path).code == 0
    with duckdb.connect(str(tmp_path / "qidsql-history.duckdb")) as kept:  # figures decide, not words
        kept.execute("UPDATE runs SET reason = 'x'; UPDATE table_audits SET reason = 'x'")
    for command_line in (["history"], ["history", "--table", "people"], ["history", "diff"]):
        assert "exception" in inside(*command_line, cwd=tmp_path).out, command_line


@pytest.mark.exhaustive
def test_a_finding_is_new_when_its_exception_ends(store: Store, tmp_path: Path) -> None:
    fill(store, people=RISKY)
    accepted = '[[tables.exceptions]]\nfinding = "k-anonymity"\nreason = "agreed"\nexpires = {}\n'
    policy_file(tmp_path, store.url, entries("people", more=accepted.format("2999-01-01")))
    assert ran(tmp_path, "--fail-on", "new")[0] == 0
    policy_file(tmp_path, store.url, entries("people", more=accepted.format("2020-01-01")))
    code, document = ran(tmp_path, "--fail-on", "new")
    assert code == 1
    states = {finding["kind"]: finding["state"] for finding in document["tables"][0]["findings"]}
    assert states == {"k-anonymity": "new", "below-k": "unchanged"}
    assert ran(tmp_path, "--fail-on", "new")[0] == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("exception", "today", "verdict"),
    [
        ('columns = ["sex"]', "2027-03-31", "pass"),  # the one minimal set, so the table as a whole too
        ('finding = "k-anonymity"', "2027-03-31", "pass"),
        ('finding = "below-k"\ncolumns = ["sex"]', "2027-03-31", "pass"),
        ('columns = ["sex"]', "2027-04-01", "violation"),  # expired
        ('columns = ["ward"]', "2027-03-31", "violation"),
        ('columns = ["sex", "ward"]', "2027-03-31", "pass"),  # all audited columns: the whole table
        ('finding = "direct-identifier"', "2027-03-31", "violation"),
    ],
)
def test_exceptions(store: Store, tmp_path: Path, exception: str, today: str, verdict: str) -> None:
    fill(store, people=RISKY)
    accepted = f'[[tables.exceptions]]\n{exception}\nreason = "agreed"\nexpires = 2027-03-31\n'
    file = read_policy_file(policy_file(tmp_path, store.url, entries("people", more=accepted)))
    result = run(file, today=date.fromisoformat(today))
    assert result.verdict == verdict
    late = today > "2027-03-31"
    assert any("expired on 2027-03-31" in note for note in result.notes) == late
    if verdict == "pass":
        [table] = result.tables
        assert "accepted" in table.reason
        assert [each.exception.reason for each in table.findings if each.exception] == ["agreed"]


def test_an_unreadable_column_is_not_excused(postgres_store: PostgresStore, reader: str, tmp_path: Path) -> None:
    """What is accepted does not count, but what could not be read stays open."""
    fill(postgres_store, people=RISKY)
    postgres_store.execute("ALTER TABLE people ADD COLUMN secret TEXT")
    postgres_store.execute(f"GRANT SELECT (sex, ward) ON people TO {reader}")
    accepted = '[[tables.exceptions]]\nfinding = "k-anonymity"\nreason = "agreed"\nexpires = 2999-01-01\n'
    path = policy_file(tmp_path, postgres_store.url_of(reader), entries("people", more=accepted))
    assert run(read_policy_file(path)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.exhaustive
def test_ctrl_c_is_recorded_and_the_next_run_goes_on(store: Store, tmp_path: Path) -> None:
    fill(store, one=RISKY, two=SAFE, three=RISKY)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("one", "two", "three")))
    history = history_of(tmp_path)

    def stop(stage: str) -> None:
        if "two: profiling all" in stage:
            raise KeyboardInterrupt

    for _ in range(5):  # a Postgres server has work of its own, after which nothing promises that rows are the same
        first = run(file, history, callbacks=RunCallbacks(stage=stop))
        history.record(first)
        assert [table.verdict for table in first.tables] == ["violation", "inconclusive", "inconclusive"]
        assert (first.complete, first.exit_code) == (False, 1)
        assert history.last_complete() is None
        second = run(file, history)
        if second.tables[0].resumed:
            break
        assert any("the source has changed" in note for note in second.notes)
    history.record(second)
    assert [table.resumed for table in second.tables] == [True, False, False]
    assert [table.verdict for table in second.tables] == ["violation", "pass", "violation"]
    assert {each.state for each in second.tables[0].findings} == {FindingState.NEW}
    assert second.tables[0].audit == first.tables[0].audit
    assert history.unfinished() == []
    assert [table.resumed for table in run(file, history).tables] == [False, False, False]


@pytest.mark.exhaustive
def test_a_source_that_changed_is_audited_again(store: Store, tmp_path: Path) -> None:
    fill(store, one=SAFE, two=SAFE)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("one", "two")))
    history = history_of(tmp_path)

    def stop(stage: str) -> None:
        if "two: reading" in stage:
            raise KeyboardInterrupt

    history.record(run(file, history, callbacks=RunCallbacks(stage=stop)))
    assert [each.table.rpartition(".")[2] for each in history.unfinished()] == ["one"]
    store.execute("INSERT INTO one VALUES ('x', 'a')")
    result = run(file, history)
    assert [table.resumed for table in result.tables] == [False, False]
    assert result.tables[0].verdict is Verdict.VIOLATION
    assert any("the source has changed" in note for note in result.notes)
    assert [table.resumed for table in run(file.overridden(k=3), history, resume=False).tables] == [False, False]


@pytest.mark.exhaustive
def test_signals_end_a_run_with_a_record(postgres_store: PostgresStore, tmp_path: Path) -> None:
    """The real process, told to stop in the middle of a statement."""
    fill(postgres_store, safe=SAFE)
    postgres_store.execute("CREATE VIEW slow AS SELECT sex, CAST(pg_sleep(600) AS TEXT) AS ward FROM safe")
    policy_file(tmp_path, postgres_store.url, entries("safe", "slow"))
    process = subprocess.Popen(
        command("run", "--format", "json"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: asleep(postgres_store))
    process.send_signal(signal.SIGTERM)
    out, err = finished(process)
    assert process.returncode == 3, err
    document = json.loads(out)
    assert [each["verdict"] for each in document["tables"]] == ["pass", "inconclusive"]
    [head] = history_of(tmp_path).runs()
    assert (head.run, head.complete) == (document["run"], False)


def test_only_names_what_is_there(store: Store, tmp_path: Path) -> None:
    fill(store, people=SAFE)
    policy_file(tmp_path, store.url, entries("people"))
    outcome = inside("run", "--only", "peopel", cwd=tmp_path)
    assert outcome.code == 2
    assert "did you mean" in outcome.line
    assert inside("run", "--no-history", "-q", "--only", "people", cwd=tmp_path).code == 0


def test_hostile_table_names_are_audited(store: Store, tmp_path: Path) -> None:
    name = 'a "b" /+~ c'
    fill(store, **{name: RISKY})
    history = history_of(tmp_path)
    file = read_policy_file(policy_file(tmp_path, store.url, entries("*")))
    for expected in (FindingState.NEW, FindingState.UNCHANGED):
        result = run(file, history)
        history.record(result)
        [table] = result.tables
        assert table.table.endswith(name)
        assert {each.state for each in table.findings} == {expected}
    assert quoted(name)


@pytest.mark.parametrize("where", first(["born < current_date", "born < now()", "length(a) < 9"]))
def test_a_table_whose_rows_depend_on_the_time_is_audited_again(store: Store, tmp_path: Path, where: str) -> None:
    for name in ("one", "two"):
        store.execute(f"CREATE TABLE {name} AS SELECT 'x' AS a, DATE '2020-01-01' AS born FROM generate_series(1, 20)")
    text = entries("one", "two").replace('table = "', f'where = "{where}"\ntable = "')
    file = read_policy_file(policy_file(tmp_path, store.url, text))
    history = history_of(tmp_path)

    def stop(stage: str) -> None:
        if "two: reading" in stage:
            raise KeyboardInterrupt

    history.record(run(file, history, callbacks=RunCallbacks(stage=stop)))
    kept = [each.table.rpartition(".")[2] for each in history.unfinished()]
    assert kept == (["one"] if "length" in where else [])
