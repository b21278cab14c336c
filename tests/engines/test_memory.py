"""The client's memory stays flat: DuckDB keeps its limit, and Python holds counts only."""

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.engines.connect import connect
from qidsql.engines.duckdb import spill
from tests.commandline import environment

ROWS = 4_000_000
LIMIT_MB = 400
CLIENT_MB = 300  # what the rest of the process may take

AUDIT = """
import json, re, sys
from pathlib import Path
import qidsql

result = qidsql.audit(sys.argv[1], max_statements=8)
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1000  # not its parent's
facts = {"rows": result.account.rows, "verdict": result.verdict, "classes": result.profile.classes}
print(json.dumps({"peak_mb": peak, **facts}))
"""


@pytest.mark.exhaustive
def test_an_audit_keeps_within_the_memory_limit(tmp_path: Path) -> None:
    """All columns together make a class of each row, whose table in memory is larger than the limit: DuckDB spills."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path), config={"memory_limit": f"{LIMIT_MB}MB"}) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'person ' || i % 4000000 AS name, i % 30011 AS birth, "
            "'zip ' || (i * 7919) % 9973 AS zip, i % 97 AS job, i // 1000 AS visit "
            f"FROM range({ROWS}) AS r(i)"
        )
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, f"{path}?memory_limit={LIMIT_MB}MB&threads=2"],
        stdout=subprocess.PIPE,
        env=environment({"TMPDIR": str(tmp_path)}),
        timeout=300,
        check=True,
    )
    measured = json.loads(done.stdout)
    assert measured["rows"] == ROWS
    assert measured["verdict"] == "violation"
    assert measured["classes"] == ROWS
    assert measured["peak_mb"] < LIMIT_MB + CLIENT_MB, measured


def test_what_was_spilled_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing where all fits. A watch ends with its engine."""
    monkeypatch.setattr(spill, "LOOK", 0.001)
    path = tmp_path / "people.parquet"
    duckdb.sql(f"COPY (SELECT hash(i) AS a, hash(i, 1) AS b FROM range(800_000) AS t(i)) TO '{path}'")
    with connect(f"{path}?memory_limit=25MB&threads=1") as engine:
        notes = qidsql.profile(engine, "people", columns=["a", "b"]).account.notes
        [thread] = [each for each in threading.enumerate() if each.name == "qidsql spill"]
        assert any(re.fullmatch(r"up to \d+ MB at a time were spilled .*", note) for note in notes)
    thread.join(10)
    assert not thread.is_alive()
    assert not any("spilled" in note for note in qidsql.profile(str(path), columns=["a"]).account.notes)
