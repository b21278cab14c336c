"""`qidsql run` with alerts and with --every, as processes of their own: what is told, what signals do, what is said."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Outcome, command, environment, finished
from tests.operations.alerts.receivers import HttpReceiver, http_receiver
from tests.operations.alerts.runs import SECRET
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.postgres_server import wait_until
from tests.stores import DuckDBStore, PostgresStore

ALONE = '[defaults]\non_new = "ignore"\n'  # of the tables in the database, those that an entry names
NOTED = f"""{ALONE}
[alerts.desk]
kind = "command"
command = ["sh", "-c", "cat >> told; echo >> told"]
"""
TEAM = f"""{ALONE}
[alerts.team]
kind = "webhook"
url = "env:TEAM_URL"
attempts = 1
on = ["violation"]
"""


def told(folder: Path) -> list[dict[str, Any]]:
    path = folder / "told"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def news(folder: Path) -> list[tuple[str, str, str]]:
    return [(c["table"], c["was"], c["now"]) for document in told(folder) for c in document["changes"]]


@pytest.fixture
def tables(duckdb_store: DuckDBStore) -> DuckDBStore:
    fill(duckdb_store, safe=SAFE, risky=RISKY)
    return duckdb_store


class Here:
    """`qidsql` in this process and in a test's folder: starting Python is what takes long."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *arguments: object, **variables: str) -> Outcome:
        from qidsql.cli.app import main

        with self._monkeypatch.context() as patch:
            patch.setattr("sys.argv", ["qidsql", *map(str, arguments)])
            for name, value in variables.items():
                patch.setenv(name, value)
            self._capsys.readouterr()
            with pytest.raises(SystemExit) as end:
                main()
        shown = self._capsys.readouterr()
        return Outcome(int(str(end.value.code)), shown.out, shown.err)

    def refused(self, *arguments: object, **variables: str) -> str:
        outcome = self(*arguments, **variables)
        assert (outcome.code, outcome.out) == (2, "")
        return outcome.line


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Here]:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    monkeypatch.chdir(tmp_path)
    yield Here(monkeypatch, capsys)
    signal.signal(signal.SIGTERM, before[0])
    signal.signal(signal.SIGHUP, before[1])


# alerts of single runs


@pytest.mark.exhaustive
def test_runs_tell_what_changed_and_nothing_else(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    policy_file(tmp_path, tables.url, entries("main.safe", "main.risky"), NOTED)
    for _ in range(2):
        outcome = here("run", "--quiet")
        assert (outcome.code, outcome.err) == (1, "")
        assert news(tmp_path) == [("main.risky", None, "violation")]
    tables.execute("DELETE FROM risky WHERE sex = 'x'")
    assert here("run", "--quiet").code == 0
    assert news(tmp_path)[1:] == [("main.risky", "violation", "pass")]
    tables.execute("DROP TABLE risky")
    assert here("run", "--quiet").code == 2
    assert news(tmp_path)[2:] == [("main.risky", "pass", "error")]
    assert "risky" in told(tmp_path)[2]["changes"][0]["reason"]


@pytest.mark.exhaustive
def test_a_violation_that_gets_worse_is_told_once(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    policy_file(tmp_path, tables.url, entries("main.risky"), NOTED)
    assert here("run", "--quiet").code == 1
    for more in range(3):  # rows below k: 2 of 26, 4 of 28, and so on
        tables.execute("INSERT INTO risky SELECT 'y' || ward, sex FROM risky WHERE sex = 'x'")
        tables.execute("UPDATE risky SET sex = sex || '!' WHERE sex LIKE 'y%'")
        for _ in range(2):
            assert here("run", "--quiet").code == 1
        assert [len(document["changes"][0]["worse"]) for document in told(tmp_path)] == [0, *[1] * (more + 1)]
    assert "4 of 28 rows" in told(tmp_path)[1]["changes"][0]["reason"]


@pytest.mark.exhaustive
def test_ctrl_c_while_an_alert_waits_leaves_the_verdict(
    tables: DuckDBStore, tmp_path: Path, team: HttpReceiver
) -> None:
    """The report is out and the run recorded before anybody is told; the message is kept. A violation ends in 1."""
    policy_file(tmp_path, tables.url, entries("main.risky"), TEAM.replace("attempts = 1", "attempts = 9"))
    team.answers += [500] * 9
    with subprocess.Popen(
        command("run"),
        cwd=tmp_path,
        env=environment({"TEAM_URL": team.url}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        assert "VIOLATION" in process.stdout.read(40)
        again = "is retried in 2 s: the server returned status 500"
        assert any(again in line for line in process.stderr), "it waits for the second attempt"
        assert len(team.posts) == 1
        assert len(history_of(tmp_path).runs()) == 1
        process.send_signal(signal.SIGINT)
        _, err = finished(process)
    assert process.returncode == 1
    assert "undelivered messages are kept for the next run" in err


def test_no_value_of_a_cell_is_told(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    fill(tables, canary=[(f"CANARY-{n}", "CANARY") for n in range(20)])
    policy_file(tmp_path, tables.url, entries("main.canary"), NOTED)
    assert here("run", "--quiet").code == 1
    assert news(tmp_path) == [("main.canary", None, "violation")]
    assert "CANARY" not in (tmp_path / "told").read_text()


def test_who_wants_no_alerts_gets_none(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    policy_file(tmp_path, tables.url, entries("main.risky"), NOTED)
    assert here("run", "--quiet", "--no-alerts").code == 1
    assert here("run", "--quiet", "--no-history").code == 1
    assert here("run", "--quiet", "--only", "no_such").code == 2, "a slip of the pen is no news"
    assert told(tmp_path) == []


def test_a_mistake_in_the_alerts_is_told_before_anything_is_audited(
    tables: DuckDBStore, tmp_path: Path, here: Here
) -> None:
    path = policy_file(tmp_path, tables.url, entries("main.safe"), TEAM.replace("env:TEAM_URL", f"https://x/{SECRET}"))
    line = here.refused("run")
    number = path.read_text().splitlines().index(f'url = "https://x/{SECRET}"') + 1
    assert line.startswith(f"qidsql.toml:{number}: alerts.team.url")
    assert SECRET not in line
    assert not (tmp_path / "qidsql-history.duckdb").exists()


@pytest.fixture
def team() -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.mark.exhaustive
def test_what_is_not_delivered_is_said_kept_and_delivered_by_the_next_run(
    tables: DuckDBStore, tmp_path: Path, team: HttpReceiver, here: Here
) -> None:
    policy_file(tmp_path, tables.url, entries("main.risky"), TEAM)
    url = {"TEAM_URL": f"{team.url}/{SECRET}"}
    team.answers += [500]
    outcome = here("run", "--quiet", **url)
    assert outcome.code == 1, "the verdict is that of the tables"
    assert outcome.line.startswith("the alert team was not delivered: the server returned status 500; 1 message kept")
    listed = here("history", "alerts", **url)
    assert listed.code == 0
    assert "last, not all delivered: violation  main.risky (main)" in listed.out
    assert "tried 1 time: the server returned status 500" in listed.out
    document = json.loads(here("history", "alerts", "--format", "json", **url).out)
    assert document["alerts"][0]["kept"][0]["attempts"] == 1
    team.answers += [404]
    again = here("history", "alerts", "--retry", **url)
    assert (again.code, again.err.count("not delivered")) == (2, 1)
    outcome = here("run", "--quiet", **url)
    assert (outcome.code, outcome.err) == (1, "")
    assert len({json.loads(post.body)["id"] for post in team.posts}) == 1
    assert "not delivered" not in here("history", "alerts", **url).out
    everything = outcome.out + outcome.err + listed.out + listed.err + again.out + again.err + str(document)
    everything += (tmp_path / "qidsql-history.duckdb").read_bytes().decode("latin-1")
    assert SECRET not in everything
    assert team.url not in everything


def test_a_test_message(tables: DuckDBStore, tmp_path: Path, team: HttpReceiver, here: Here) -> None:
    policy_file(tmp_path, tables.url, entries("main.risky"), TEAM)
    outcome = here("history", "alerts", "--test", "team", TEAM_URL=team.url)
    assert (outcome.code, outcome.line) == (0, "a test message was delivered to the alert team")
    assert json.loads(team.posts[0].body)["changes"] == []
    assert "the environment variable TEAM_URL is not set" in here.refused("history", "alerts", "--test", "team")
    assert "did you mean team" in here.refused("history", "alerts", "--test", "taem")
    assert "no alerts" in here("history", "alerts", policy_file(tmp_path, tables.url, entries("main.safe"))).out


def test_a_history_that_cannot_be_written_is_told_without_one(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    head = NOTED + f'[history]\nurl = "{tmp_path / "missing" / "history.duckdb"}"\n'
    policy_file(tmp_path, tables.url, entries("main.risky"), head)
    assert here("run", "--quiet").code == 2
    [document] = told(tmp_path)
    [change] = document["changes"]
    assert (change["table"], change["now"]) == ("", "error")
    assert "missing" in change["reason"]


# --every


def scheduled(folder: Path, *more: str, **variables: str) -> subprocess.Popen[str]:
    arguments = ("run", "--every", "* * * * * *", "--timezone", "UTC", "--quiet", *more)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(variables), stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.exhaustive
def test_a_scheduler_runs_tells_once_and_ends_with_0(tables: DuckDBStore, tmp_path: Path) -> None:
    """It reads the policy file anew each time; a file that is broken is told, and the next time comes."""
    path = policy_file(tmp_path, tables.url, entries("main.risky"), NOTED)
    good = path.read_text()
    with ExitStack() as stack:
        process = stack.enter_context(scheduled(tmp_path, "--heartbeat", str(tmp_path / "heartbeat")))
        stack.callback(process.kill)
        wait_until(lambda: news(tmp_path))
        replaced(path, "this is no toml")
        wait_until(lambda: len(news(tmp_path)) == 2)
        replaced(path, good.replace('table = "main.risky"', 'table = "main.safe"'))
        wait_until(lambda: len(news(tmp_path)) == 3)
        assert (tmp_path / "heartbeat").exists()
        process.send_signal(signal.SIGTERM)
        _, err = finished(process)
    assert news(tmp_path) == [("main.risky", None, "violation"), ("", None, "error"), ("", "error", "pass")], err
    assert "not valid TOML" in err
    assert "Traceback" not in err
    assert process.returncode in (0, 3), "3 where it was at work just then"
    assert not (tmp_path / "heartbeat").exists()
    assert {head.verdict for head in history_of(tmp_path).runs()} <= {"violation", "pass", "inconclusive"}


def replaced(path: Path, text: str) -> None:
    """Writes a file anew in one step: whoever reads it meanwhile sees the old or the new text whole."""
    path.with_name("new").write_text(text)
    path.with_name("new").replace(path)


SLOW = "CREATE VIEW slow AS SELECT t.* FROM t, pg_sleep(600)"


def asleep(store: PostgresStore) -> list[Any]:
    """The sessions that wait in pg_sleep below the view of this store, whatever else the server does."""
    ours = "wait_event = 'PgSleep' AND position(%s IN query) > 0"
    return store.admin.execute(f"SELECT pid FROM pg_stat_activity WHERE {ours}".encode(), [store.schema]).fetchall()


@pytest.mark.exhaustive
def test_sigterm_at_work_is_recorded_as_an_interruption_and_tells_nobody(
    postgres_store: PostgresStore, tmp_path: Path
) -> None:
    postgres_store.execute("CREATE TABLE t AS SELECT i AS a, i AS b FROM generate_series(1, 9) AS i")
    postgres_store.execute(SLOW)
    policy_file(tmp_path, postgres_store.url, entries(f"{postgres_store.schema}.slow"), NOTED)

    with ExitStack() as stack:
        process = stack.enter_context(scheduled(tmp_path))
        stack.callback(process.kill)
        wait_until(lambda: asleep(postgres_store))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        _, err = finished(process)
    assert process.returncode == 3
    assert "Traceback" not in err
    wait_until(lambda: not asleep(postgres_store))  # the statement was cancelled on the server
    [head] = history_of(tmp_path).runs()
    assert (head.verdict, head.complete) == ("inconclusive", False)
    assert told(tmp_path) == []


@pytest.mark.exhaustive
def test_two_schedulers_of_one_history_do_not_work_at_once(postgres_store: PostgresStore, tmp_path: Path) -> None:
    """The first is held in a statement; the second leaves its times out, and says so."""
    postgres_store.execute("CREATE TABLE t AS SELECT i AS a, i AS b FROM generate_series(1, 9) AS i")
    postgres_store.execute(SLOW)
    url = {"HISTORY_URL": postgres_store.server}
    head = f'[history]\nurl = "env:HISTORY_URL"\nschema = "history_of_{postgres_store.schema}"\n'
    policy_file(tmp_path, postgres_store.url, entries(f"{postgres_store.schema}.slow"), head)
    with ExitStack() as stack:
        processes = []
        for _ in range(2):
            processes.append(stack.enter_context(scheduled(tmp_path, **url)))
            stack.callback(processes[-1].kill)
        said: list[str] = []
        left_out = "is skipped: another qidsql is at work"

        def listen(number: int) -> None:
            for line in processes[number].stderr or ():
                said.append(f"{number} {line}")

        for number in range(2):
            threading.Thread(target=listen, args=(number,), daemon=True).start()
        wait_until(lambda: asleep(postgres_store) and any(left_out in line for line in said))
        [waiting] = {int(line[0]) for line in said if left_out in line}
        for number, code in ((waiting, 0), (1 - waiting, 3)):  # the other way round the waiting one had its turn
            processes[number].send_signal(signal.SIGTERM)
            assert processes[number].wait(60) == code
    postgres_store.admin.execute(f"DROP SCHEMA IF EXISTS history_of_{postgres_store.schema} CASCADE".encode())


def test_what_cannot_be_scheduled_is_refused(tables: DuckDBStore, tmp_path: Path, here: Here) -> None:
    policy_file(tmp_path, tables.url, entries("main.safe"))
    assert "--every daily: wrong number of fields" in here.refused("run", "--every", "daily")
    assert "--timezone Mars" in here.refused("run", "--every", "0 3 * * *", "--timezone", "Mars")
    assert "need --every" in here.refused("run", "--timezone", "UTC")
    assert "--every needs a history" in here.refused("run", "--every", "0 3 * * *", "--no-history")
    beat = str(tmp_path / "missing" / "beat")
    assert "cannot be written" in here.refused("run", "--every", "0 3 * * *", "--heartbeat", beat)
