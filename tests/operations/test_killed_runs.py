"""Kill -9 at any moment of a run: the history opens, holds no half run, and the next run is right."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from qidsql.operations.history.opening import open_history
from tests.commandline import command, environment, inside
from tests.exhaustive import always
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.postgres_server import PostgresServer
from tests.stores import DuckDBStore

TABLES = 6
KEEPING = """  # every finished table at once, although the whole run is shorter than the time between two writes
from qidsql.operations import plan
from qidsql.__main__ import main
plan.KEEP_EVERY = 0.0
main()
"""


@pytest.mark.parametrize("points", always(longer=[20]))
def test_killed_at_random_points(tmp_path: Path, points: int) -> None:
    """One history through all of them. The moments are spread over the time that a whole run takes.

    Before every other one a ward gets another name in all tables: the same verdicts, but no table is as it was."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        names = {f"t{place}": RISKY if place % 2 else SAFE for place in range(TABLES)}
        fill(store, **names)
        policy_file(tmp_path, store.url, entries(*names))
    started = time.monotonic()
    first = subprocess.run(command("run", "-q"), cwd=tmp_path, env=environment(), capture_output=True, check=False)
    whole = time.monotonic() - started
    assert first.returncode == 1, first
    history = open_history(str(tmp_path / "qidsql-history.duckdb"))
    expected = [(table.table, table.verdict) for table in history.result(history.find("last").run).tables]
    assert len(expected) == TABLES
    moments, known, audited = random.Random(5), 1, 0
    for point in range(points):
        if point % 2 == 0:
            before, after = (f"a{point - 2}" if point else "a", f"a{point}")
            with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
                for name in names:
                    connection.execute(f"UPDATE {name} SET ward = ? WHERE ward = ?", [after, before])
        process = subprocess.Popen(
            [sys.executable, "-c", KEEPING, "run", "-q", "--format", "json"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(whole * (0.2 + 0.85 * (point + moments.random()) / points))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        heads = history.runs()
        assert len(heads) in (known, known + 1)  # it may have been recorded before the end came
        known = len(heads)
        for head in heads[:1]:
            assert [(table.table, table.verdict) for table in history.result(head.run).tables] == expected
        if point % 4 == 3 or point == points - 1:
            outcome = inside("run", "-q", "--format", "json", cwd=tmp_path)
            assert outcome.code == 1, outcome
            document = json.loads(outcome.out)
            assert [(table["table"], table["verdict"]) for table in document["tables"]] == expected
            states = {finding["state"] for table in document["tables"] for finding in table["findings"]}
            assert states == {"unchanged"}
            audited += sum("unchanged" not in table for table in document["tables"])
            assert history.unfinished() == []
            known += 1
    assert audited > 0, "all runs were over before they were killed"


ALERTS = """
[history]
url = "env:HISTORY_URL"
schema = "killed"
[alerts.desk]
kind = "command"
command = ["sh", "-c", 'message=$(cat) && [ -n "$message" ] && echo "$message" >> told']  # none from a killed sender
"""


@pytest.mark.exhaustive
def test_no_change_is_lost_or_told_twice_by_what_is_killed(tmp_path: Path, spare_server: PostgresServer) -> None:
    """A table that changes its verdict before each killed run; the history in Postgres. What came twice has one id."""
    moments, expected = random.Random(11), []
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE, moody=SAFE, other=SAFE)
        policy_file(tmp_path, store.url, entries("main.safe", "main.moody", "main.other"), ALERTS)
        history = open_history(spare_server.url, "killed")
        variables = environment({"HISTORY_URL": spare_server.url})
        started = time.monotonic()
        subprocess.run(command("run", "-q"), cwd=tmp_path, env=variables, capture_output=True, check=True)
        whole = time.monotonic() - started
        for point in range(24):
            bad = point % 2 == 0
            store.execute("INSERT INTO moody VALUES ('x', 'a')" if bad else "DELETE FROM moody WHERE sex = 'x'")
            expected.append("violation" if bad else "pass")
            known = len(history.runs())
            process = subprocess.Popen(
                command("run", "-q"), cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(whole * (0.3 + 0.9 * moments.random()))
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert len(history.runs()) in (known, known + 1)
            outcome = inside("run", "-q", cwd=tmp_path, HISTORY_URL=spare_server.url)
            assert (outcome.code, outcome.err) == (int(bad), "")
            assert history.unfinished() == []
            messages = {
                document["id"]: document for document in map(json.loads, (tmp_path / "told").read_text().splitlines())
            }
            assert [change["now"] for each in messages.values() for change in each["changes"]] == expected


@pytest.mark.parametrize("table", ["runs", "table_audits"])
def test_a_file_that_was_begun_and_never_written(tmp_path: Path, table: str) -> None:
    """The first run of all, killed after the file was made and before anything was in it."""
    path = tmp_path / "kept.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE {table} (run TEXT)")
        connection.execute("ROLLBACK")
    history = open_history(str(path))
    assert history.runs() == []
    assert history.last_complete() is None
    history.prepare()
    assert history.runs() == []
