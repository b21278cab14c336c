"""The history: a run is there wholly or not at all, once, in the order in which it was recorded."""

import json
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock, patch

import duckdb
import pytest

from qidsql.cli.history import plot
from qidsql.core.budget import within
from qidsql.core.results import Verdict
from qidsql.engines.duckdb.store import DuckDBTransaction
from qidsql.errors import BudgetSpent, StoreError, UnknownName, UsageError
from qidsql.formats.registry import rendered
from qidsql.operations.alerts.message import Message, VerdictChange
from qidsql.operations.document import PackedTables, RunResult
from qidsql.operations.history.alerts import AlertRecord
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.records import TABLES, History, UnfinishedTable
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import RunCallbacks, run
from tests.commandline import HOUSE, environment, inside
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.stores import DuckDBStore, PostgresStore

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


@pytest.fixture(params=["duckdb", "postgres"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    """An empty history of either kind."""
    if request.param == "duckdb":
        yield open_history(str(tmp_path / "kept.duckdb"))
        return
    store: PostgresStore = request.getfixturevalue("postgres_store")
    schema = f'kept "{store.schema}"'
    yield open_history(store.server, schema)
    store.admin.execute(f'DROP SCHEMA IF EXISTS "{schema.replace(chr(34), chr(34) * 2)}" CASCADE'.encode())


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A real run over a table that violates and one that passes."""
    folder = tmp_path_factory.mktemp("run")
    with DuckDBStore(folder / "people.duckdb") as store:
        fill(store, risky=RISKY, safe=SAFE)
        return run(read_policy_file(policy_file(folder, store.url, entries("risky", "safe"))))


def named(document: RunResult, name: str, started: datetime = NOW, complete: bool = True) -> RunResult:
    """The same run under another id."""
    return replace(document, run=name, started=started, complete=complete)


def test_a_document_comes_back_as_it_was(history: History, document: RunResult) -> None:
    assert history.runs() == []
    assert history.record(document)
    assert history.result(document.run) == document
    [head] = history.runs()
    assert (head.run, head.verdict, head.tables, head.complete) == (document.run, "violation", 2, True)
    assert [table for _, table in history.tables()] == ["main.risky", "main.safe"]
    assert history.table_history("main", "main.risky")[0].smallest == 1


def test_a_run_is_recorded_once(history: History, document: RunResult) -> None:
    assert history.record(document)
    assert not history.record(document)
    assert len(history.runs()) == 1


def test_runs_keep_their_order_when_the_clock_goes_backwards(history: History, document: RunResult) -> None:
    for number in range(4):
        history.record(named(document, f"run{number}", NOW - timedelta(days=number)))
    assert [head.run for head in history.runs()] == ["run3", "run2", "run1", "run0"]
    assert history.find("last").run == "run3"
    assert history.find("last~2").run == "run1"
    risky = ("main", "main.risky")
    past = history.past_tables([risky])[risky]
    assert (past.run, past.table is not None) == ("run3", True)
    assert [point.run for point in past.trend] == ["run0", "run1", "run2", "run3"]
    assert history.find("run2").run == "run2"
    with pytest.raises(UsageError, match="4 run ids"):
        history.find("run")
    with pytest.raises(UsageError, match="no last~4"):
        history.find("last~4")
    with pytest.raises(UnknownName, match=r"run33.*did you mean run3"):
        history.find("run33")


def test_an_interrupted_run_is_never_compared_with(history: History, document: RunResult) -> None:
    history.record(named(document, "whole"))
    history.record(named(document, "part", complete=False))
    head = history.last_complete()
    assert head is not None
    assert head.run == "whole"
    risky = ("main", "main.risky")
    assert history.past_tables([risky])[risky].run == "whole"
    assert history.past_tables([risky], "part")[risky].table is not None


def test_two_processes_record_at_once(history: History, document: RunResult) -> None:
    """As many threads as runs, each with a store of its own: all are recorded, each under a number of its own."""
    failed: list[BaseException] = []

    def record(number: int) -> None:
        try:
            History(history.store).record(named(document, f"run{number}"))
        except BaseException as error:  # noqa: BLE001 - shown below
            failed.append(error)

    threads = [threading.Thread(target=record, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    heads = history.runs()
    assert [head.number for head in heads] == [6, 5, 4, 3, 2, 1]
    assert {head.run for head in heads} == {f"run{number}" for number in range(6)}


def test_half_a_run_is_none(history: History, document: RunResult) -> None:
    """A table that cannot be recorded takes the whole run with it."""
    first, *_ = document.tables
    far = replace(first, line=1 << 70)  # no integer of a database
    broken = replace(named(document, "broken"), tables=PackedTables.of([*document.tables, far]))
    with pytest.raises(StoreError):
        history.record(broken)
    assert history.runs() == []
    assert history.tables() == []
    assert history.record(document)


def test_the_tables_can_be_read_by_plain_sql(tmp_path: Path, document: RunResult) -> None:
    open_history(str(tmp_path / "kept.duckdb")).record(document)
    with duckdb.connect(str(tmp_path / "kept.duckdb"), read_only=True) as connection:
        there = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert there == set(TABLES)
        rows = connection.execute(
            "SELECT table_name, smallest, k, rows_below_k, table_audits.verdict FROM table_audits JOIN runs "
            "USING (run) ORDER BY place"
        ).fetchall()
        assert rows == [("main.risky", 1, 5, 2, "violation"), ("main.safe", 6, 5, 0, "pass")]
        kinds = connection.execute("SELECT kind, column_set, state FROM findings ORDER BY kind").fetchall()
        assert kinds == [("below-k", '["sex"]', "new"), ("k-anonymity", '["sex", "ward"]', "new")]
        profiles = connection.execute("SELECT column_name, smallest, classes FROM profiles WHERE place = 0").fetchall()
        assert sorted(profiles) == [("sex", 2, 3), ("ward", 13, 2)]


def test_a_history_of_an_older_qidsql_is_refused(tmp_path: Path, document: RunResult) -> None:
    kept = open_history(str(tmp_path / "kept.duckdb"))
    kept.record(document)
    with duckdb.connect(str(tmp_path / "kept.duckdb")) as connection:
        connection.execute("UPDATE history_format SET format = 1")
    with pytest.raises(StoreError, match="older qidsql; name another history"):
        kept.runs()
    with pytest.raises(StoreError, match="older qidsql"):
        kept.record(named(document, "today"))


def test_what_could_be_resumed(history: History, document: RunResult) -> None:
    first, table = UnfinishedTable("r1", "label", "main.risky", "q", "t"), document.tables[0]
    label = table.source_label
    packed = document.tables.packed[0]
    history.keep_unfinished([(first, packed), (UnfinishedTable("r1", label, "main.safe", "q", "t"), packed)])
    assert history.unfinished_table(first) == table
    assert len(history.unfinished()) == 2
    history.record(named(document, "part", complete=False))
    assert len(history.unfinished()) == 2
    history.record(named(document, "whole"))
    assert history.unfinished() == [first]


def test_what_alerts_remember(history: History) -> None:
    record = AlertRecord(history)
    assert record.last_sent("team") == {}
    assert record.pending() == []
    change = VerdictChange("main", "main.risky", None, Verdict.PASS, Verdict.VIOLATION, "why")
    message = Message(id="r1/team", alert="team", run="r1", started=NOW, changes=(change,))
    record.add(message, NOW)
    record.add(replace(message, id="r2/team", run="r2"), NOW + timedelta(hours=1))
    assert {table: last.verdict for table, last in record.last_sent("team").items()} == {
        ("main", "main.risky"): "violation"
    }
    assert record.last_sent("other") == {}
    record.record_failure("r1/team", 2, "no answer")
    first, second = record.pending()
    assert (first.message, first.since, first.attempts, first.failure) == (message, NOW, 2, "no answer")
    assert second.attempts == 0
    record.remove("r1/team")
    assert [kept.message.id for kept in record.pending()] == ["r2/team"]


HOLDER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_locked_by_another_process(tmp_path: Path, document: RunResult) -> None:
    """It waits for so long and no longer; what could not be recorded is kept in a file, and recorded from it later."""
    path = tmp_path / "kept.duckdb"
    open_history(str(path)).record(named(document, "first"))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="open in another process for 0 s; close it there"):
            open_history(str(path), patience=0.2).record(named(document, "second"))
        waiting = threading.Thread(target=open_history(str(path)).record, args=(named(document, "third"),))
        waiting.start()
        holder.communicate("")
        waiting.join()
    assert [head.run for head in open_history(str(path)).runs()] == ["third", "first"]


def test_a_history_has_the_same_name_before_it_is_read(history: History, document: RunResult) -> None:
    """The list of runs is headed by the first, that of one table by the second."""
    before = history.label
    history.record(document)
    assert history.label == before


def refusal(folder: Path, kept: str, *arguments: object) -> str:
    outcome = inside("run", "-q", "--history", kept, *arguments, cwd=folder)
    assert outcome.code == 2, outcome
    return outcome.line


def test_a_history_that_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE)
        policy_file(tmp_path, store.url, entries("safe"))
    assert "its folder does not exist" in refusal(tmp_path, str(tmp_path / "none" / "kept.duckdb"))
    (tmp_path / "text.duckdb").write_text("hello" * 1000)
    assert "not a DuckDB database" in refusal(tmp_path, "text.duckdb")
    assert "is not set" in refusal(tmp_path, "env:QIDSQL_TEST_NONE")
    assert "expected a path" in refusal(tmp_path, "mysql://host/db")
    assert "cannot be reached" in refusal(tmp_path, "postgresql://nobody@127.0.0.1:1/none")
    with duckdb.connect(str(tmp_path / "newer.duckdb")) as connection:
        connection.execute("CREATE TABLE history_format (format BIGINT)")
        connection.execute("INSERT INTO history_format VALUES (99)")
    assert "newer qidsql" in refusal(tmp_path, "newer.duckdb")
    with pytest.raises(StoreError, match="newer qidsql"):
        open_history(str(tmp_path / "newer.duckdb")).runs()


AS_ANOTHER = """
import os, sys
from pathlib import Path
from qidsql.errors import StoreError
from qidsql.formats.reading import read_document
from qidsql.operations.history.opening import open_history

path, document, user = sys.argv[1], read_document(Path(sys.argv[2])), int(sys.argv[3])
history = open_history(path)
history.runs()  # all is imported by now: another user may not read this checkout
if os.geteuid() == 0:  # who may write anywhere
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
try:
    history.record(document)
except StoreError as error:
    print(error)
print(len(history.runs()))
"""


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that other users can look into, unlike pytest's."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.exhaustive
def test_a_file_that_may_not_be_written(reachable: Path, document: RunResult) -> None:
    """A folder closed to writing, then the file in an open one; by a user that may not write anywhere."""
    folder = reachable / "closed"
    folder.mkdir()
    path = folder / "kept.duckdb"
    open_history(str(path)).record(document)
    written = reachable / "document.json"
    written.write_text(rendered(named(document, "second"), "json"))
    kept = path.read_bytes()
    for mode, of_file in ((0o555, 0o644), (0o777, 0o444)):
        path.chmod(of_file)
        folder.chmod(mode)
        arguments = [sys.executable, "-c", AS_ANOTHER, str(path), str(written), "65534"]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment(), cwd=reachable)
        folder.chmod(0o755)
        *said, runs = done.stdout.splitlines()
        assert (len(said), runs) == (1, "1"), done
        assert "may not be" in said[0]
        assert "by this user" in said[0]
        assert path.read_bytes() == kept


FULL = """
import resource, signal, sys
from pathlib import Path
from qidsql.errors import StoreError
from qidsql.formats.reading import read_document
from qidsql.operations.history.opening import open_history

path, document, room = sys.argv[1], read_document(Path(sys.argv[2])), int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing further fails then, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
try:
    open_history(path).record(document)
except StoreError as error:
    print(error)
"""


@pytest.mark.exhaustive
def test_a_disk_that_is_full(tmp_path: Path, document: RunResult) -> None:
    """No byte more can be written into any file: the error says so, and what was recorded before is there."""
    path = tmp_path / "kept.duckdb"
    history = open_history(str(path))
    history.record(document)
    noise = "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=400_000)))  # does not compress
    large = replace(
        named(document, "second"), tables=PackedTables.of([replace(document.tables[0], owner="x" * 50 + noise)])
    )
    (tmp_path / "second.json").write_text(rendered(large, "json"), encoding="utf-8")
    size = path.stat().st_size
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(tmp_path / "second.json"), str(size)],
        capture_output=True,
        env=environment(),
        cwd=HOUSE,
        text=True,
        check=False,
    )
    assert "kept.duckdb" in done.stdout, done
    assert "x" * 50 not in done.stdout + done.stderr
    assert [head.run for head in history.runs()] == [document.run]
    assert history.record(large)
    assert history.result("second") == large


def test_what_could_not_be_recorded_is_kept(tmp_path: Path) -> None:
    """The history vanishes while the run goes on: exit code 2, the report all the same, and the document in a file."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE)
        policy_file(tmp_path, store.url, entries("safe"))
    from qidsql.cli.run import RunRequest, run_and_record

    file = read_policy_file(tmp_path / "qidsql.toml")
    (tmp_path / "kept").mkdir()

    class Vanishing:
        def __call__(self, stage: str) -> None:
            if "profiling all" in stage:
                for each in (tmp_path / "kept").iterdir():
                    each.unlink()
                (tmp_path / "kept").rmdir()

    from contextlib import contextmanager, nullcontext

    import qidsql.cli.run as command

    @contextmanager
    def watching(quiet: bool) -> Iterator[Any]:
        yield Vanishing(), lambda engine: None, nullcontext

    kept, command.showing_progress = command.showing_progress, watching
    try:
        result, words = run_and_record(file, RunRequest(history=str(tmp_path / "kept" / "kept.duckdb"), quiet=True))
    finally:
        command.showing_progress = kept
    assert result.verdict == "pass"
    assert "is not in the history" in words
    [left] = tmp_path.glob("qidsql-run-*.json")
    outcome = inside("history", "--record", left, cwd=tmp_path)
    assert (outcome.code, "is recorded" in outcome.err) == (0, True)
    assert "already in the history" in inside("history", "--record", left, cwd=tmp_path).err
    listed = json.loads(inside("history", "--format", "json", cwd=tmp_path).out)
    assert [each["run"] for each in listed["runs"]] == [result.run]


def test_history_and_diff_on_the_command_line(tmp_path: Path, document: RunResult) -> None:
    folder = str(tmp_path / "qidsql-history.duckdb")
    assert inside("history", cwd=tmp_path).code == 2
    history = open_history(folder)
    history.record(named(document, "before"))
    _, safe = document.tables
    tables = PackedTables.of([replace(safe, table="main.risky"), safe])
    history.record(replace(named(document, "after"), tables=tables))
    assert "before" in inside("history", cwd=tmp_path).out
    assert "main.risky" in inside("history", "--table", "risky", cwd=tmp_path).out
    assert "did you mean main.risky?" in inside("history", "--table", "riskyy", cwd=tmp_path).line
    text = inside("history", "diff", "before", "after", cwd=tmp_path).out
    assert "violation -> pass" in text
    assert text.count("- gone") == 2
    found = json.loads(inside("history", "diff", "--format", "json", cwd=tmp_path).out)
    assert [(each["table"], each["was"], each["now"]) for each in found["tables"]] == [
        ("main.risky", "violation", "pass"),
        ("main.safe", "pass", "pass"),
    ]
    assert "did you mean before?" in inside("history", "diff", "befor3", "after", cwd=tmp_path).line
    assert inside("history", "--history", folder, "-q").code == 0


@pytest.mark.exhaustive
def test_runs_under_another_policy_are_not_compared(tmp_path: Path) -> None:
    """k from 5 to 2 on the same data is no improvement: diff, history and the trend say that the policy changed."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, risky=RISKY, other=RISKY)
    for k in (5, 5, 2, 2):
        policy_file(tmp_path, store.url, entries("risky", more=f"k = {k}") + entries("other"))
        assert inside("run", "-q", cwd=tmp_path).code == 1
    changed = inside("history", "diff", "last~2", "last~1", cwd=tmp_path).out
    assert "policy changed (k 5 -> 2): findings are not compared" in changed
    assert not re.search("better|worse|gone|new", changed.partition("main.risky")[2])
    assert "1 table unchanged" in changed
    for before, after in (("last~3", "last~2"), ("last~1", "last")):
        assert "2 tables unchanged" in inside("history", "diff", before, after, cwd=tmp_path).out
    found = json.loads(inside("history", "diff", "last~2", "last~1", "--format", "json", cwd=tmp_path).out)
    assert [(each["policy_changed"], each["findings"]) for each in found["tables"]] == [(["k 5 -> 2"], []), ([], [])]
    listed = inside("history", "--table", "risky", cwd=tmp_path).out
    assert re.search(r"Below k +██\|██  7\.7 %\n", listed), "a cut where the policy changed"
    assert plot([0, 7, None, 14], ["a", "a", None, "b"]) == "▁▄ |█"
    lines = listed[listed.index("Run  ") :].splitlines()[1:]
    assert [line.endswith("policy changed") for line in lines] == [False, True, False, False]
    page = inside("report", "last", "--format", "html", cwd=tmp_path).out
    drawn = [part.count('class="trend"') for part in page.split('aria-label="Trend, drawn"')[1:]]
    assert drawn == [4 + 2, 4 + 3], "points and the lines between them: none where the policy changed"
    assert page.count(">changed</td>") == 1


def test_rights_on_a_history_of_a_team(postgres_store: PostgresStore, reader: str, document: RunResult) -> None:
    """Who may look into the schema reads, who may write into its tables keeps runs, and need not be their maker."""
    admin, schema = postgres_store.admin, f"kept_{postgres_store.schema}"
    history = open_history(postgres_store.url_of(reader), schema)
    open_history(postgres_store.server, schema).record(document)
    try:
        with pytest.raises(StoreError, match=f'GRANT USAGE ON SCHEMA "{schema}" TO "{reader}"'):
            history.runs()
        admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO {reader}".encode())
        admin.execute(f"GRANT SELECT ON {schema}.history_format TO {reader}".encode())
        with pytest.raises(StoreError, match="lacks privileges: reading needs SELECT"):
            history.runs()
        admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}".encode())
        assert len(history.runs()) == 1
        with pytest.raises(StoreError, match="recording also INSERT and DELETE"):
            history.record(named(document, "second"))
        admin.execute(f"GRANT INSERT, DELETE ON ALL TABLES IN SCHEMA {schema} TO {reader}".encode())
        assert history.record(named(document, "second"))
        assert len(history.runs()) == 2
    finally:
        admin.execute(f"DROP SCHEMA {schema} CASCADE".encode())


def test_a_history_lost_in_mid_run_loses_no_audit(
    tmp_path: Path,
) -> None:
    """The file is spoilt while the catalog is read: tables keep their verdicts, the run is kept in a document."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, risky=RISKY, safe=SAFE)
        path = policy_file(tmp_path, store.url, entries("risky", "safe"))
    outcome = inside("run", "-q", cwd=tmp_path)
    assert outcome.code == 1
    kept = tmp_path / "qidsql-history.duckdb"
    whole = kept.read_bytes()

    def spoil(stage: str) -> None:
        if "reading the catalog" in stage and "of 2" not in stage:
            kept.write_bytes(b"spoilt" * 1000)

    history = open_history(str(kept), patience=0.1)
    result = run(read_policy_file(path), history, callbacks=RunCallbacks(stage=spoil))
    assert [str(table.verdict) for table in result.tables] == ["violation", "pass"]
    [note] = [note for note in result.notes if "earlier runs" in note]
    assert note.startswith("the tables were not compared with earlier runs: ")
    kept.write_bytes(whole)
    assert history.record(result)
    assert [head.verdict for head in history.runs()] == ["violation", "violation"]


def test_that_a_run_is_not_recorded_is_said_although_its_report_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE)
        policy_file(tmp_path, store.url, entries("safe"))

    def full(*_: object) -> bool:
        raise StoreError("no room")

    monkeypatch.setattr(History, "record", full)
    outcome = inside("run", "-q", "--output", "/dev/full", cwd=tmp_path)
    assert outcome.code == 2
    assert "the run is not in the history: no room; it is saved in" in outcome.err
    assert "No space left" in outcome.err


def test_looking_up_many_tables_ends_in_time(tmp_path: Path) -> None:
    """What a run compares with is one query, and one a table that it has seen; none after the end."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, people=SAFE)
        file = read_policy_file(policy_file(tmp_path, store.url, entries("main.people")))
    history = history_of(tmp_path)
    history.record(run(file, history))
    many = [("main", f"main.t{number}") for number in range(10_000)]
    asked = Mock(wraps=DuckDBTransaction.execute)
    with patch.object(DuckDBTransaction, "execute", lambda *given: asked(*given)):
        found = history.past_tables([*many, ("main", "main.people")])
    assert (list(found), asked.call_count < 10) == ([("main", "main.people")], True)
    with within(0.0), pytest.raises(BudgetSpent):
        history.past_tables(many)
