"""Kill -9 at any moment of a run: the history opens, holds no half run, and the next run is right."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from qidsql.history.opening import open_history
from tests.commandline import command, environment, inside
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore

POINTS = 200 if os.environ.get("QIDSQL_TEST_FULL") else 8
TABLES = 6


def test_killed_at_random_points(tmp_path: Path) -> None:
    """One history through all of them. The moments are spread over the time that a whole run takes."""
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        names = {f"t{place}": RISKY if place % 2 else SAFE for place in range(TABLES)}
        fill(store, **names)
        policy_file(tmp_path, store.url, entries(*names))
    started = time.monotonic()
    first = subprocess.run(command("run", "-q"), cwd=tmp_path, env=environment(), capture_output=True, check=False)
    whole = time.monotonic() - started
    assert first.returncode == 1, first
    history = open_history(str(tmp_path / "qidsql-history.duckdb"))
    expected = [(table["table"], table["verdict"]) for table in history.document(history.find("last").run)["tables"]]
    assert len(expected) == TABLES
    moments, known, resumed = random.Random(5), 1, 0
    for point in range(POINTS):
        process = subprocess.Popen(
            command("run", "-q", "--format", "json"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(whole * (0.2 + 0.85 * (point + moments.random()) / POINTS))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        heads = history.runs()
        assert len(heads) in (known, known + 1)  # it may have been recorded before the end came
        known = len(heads)
        for head in heads[:1]:
            document = history.document(head.run)
            assert [(table["table"], table["verdict"]) for table in document["tables"]] == expected
        if point % 4 == 3 or point == POINTS - 1:
            outcome = inside("run", "-q", "--format", "json", cwd=tmp_path)
            assert outcome.code == 1, outcome
            document = json.loads(outcome.out)
            assert [(table["table"], table["verdict"]) for table in document["tables"]] == expected
            states = {finding["state"] for table in document["tables"] for finding in table["findings"]}
            assert states == {"unchanged"}
            resumed += sum(table["resumed"] for table in document["tables"])
            assert history.unfinished() == []
            known += 1
    if POINTS > 50:
        assert resumed  # some were killed between two tables


@pytest.mark.parametrize("table", ["runs", "table_audits"])
def test_a_file_that_was_begun_and_never_written(tmp_path: Path, table: str) -> None:
    """The first run of all, killed after the file was made and before anything was in it."""
    import duckdb

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
