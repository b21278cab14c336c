"""The client's memory stays flat: DuckDB keeps its limit, and Python holds counts only."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.engines.connect import connect
from qidsql.engines.duckdb import settings
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.errors import BudgetSpent, StatementError
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.classes import class_sizes
from qidsql.sql.relation import relation
from tests.commandline import environment
from tests.exhaustive import always
from tests.ways import measured_set

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
    monkeypatch.setattr(settings, "SPILL_TICK", 0.001)
    path = tmp_path / "people.parquet"
    duckdb.sql(f"COPY (SELECT hash(i) AS a, hash(i, 1) AS b FROM range(800_000) AS t(i)) TO '{path}'")
    with connect(f"{path}?memory_limit=25MB&threads=1") as engine:
        notes = measured_set(engine, "people", columns=["a", "b"]).account.notes
        [thread] = [each for each in threading.enumerate() if each.name == "qidsql spill"]
        assert any(re.fullmatch(r"up to \d+ MB at a time were spilled .*", note) for note in notes)
    thread.join(10)
    assert not thread.is_alive()
    assert not any("spilled" in note for note in measured_set(str(path), columns=["a"]).account.notes)


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A parquet file whose classes take more than 18 MB: of one row, of two, and with NULLs."""
    path = tmp_path / "people.parquet"
    columns = "NULLIF(hash(i // 2), 7) AS a, CASE WHEN i % 5 > 0 THEN hash(i // 3, 1) END AS b, i % 3 AS c"
    duckdb.sql(f"COPY (SELECT {columns} FROM range(600_000) AS t(i)) TO '{path}'")
    return path


@pytest.mark.exhaustive
@pytest.mark.parametrize("work", always(measured_set, longer=[partial(qidsql.audit, max_size=1)]))
def test_without_room_to_spill_classes_are_counted_in_parts(crowded: Path, work: Callable[..., Any]) -> None:
    """With the answers that DuckDB has where it has room; without parts it runs out of memory (at 18 MB mostly)."""
    little = f"{crowded}?memory_limit=18MB&threads=2"
    parts, whole = work(f"{little}&max_temp_directory_size=0B", k=3), work(str(crowded), k=3)
    assert any(re.search(r"counted in up to \d+ parts", note) for note in parts.account.notes)
    assert not any("parts" in note for note in whole.account.notes)
    assert (parts.profile, parts.class_sizes) == (whole.profile, whole.class_sizes) and parts.verdict == whole.verdict
    with connect(little) as roomy, connect(f"{little}&max_temp_directory_size=0B") as engine:
        assert (roomy.parts(600_000, 3), engine.parts(600_000, 3)) == (1, 4)
    with connect(f"{crowded}?memory_limit=12MB&threads=2&max_temp_directory_size=0B") as engine:
        table = engine.describe(None)
        with pytest.raises(StatementError, match="ran out of memory"):
            engine.run(class_sizes(engine.dialect, relation(engine.dialect, table, table.columns), ("a", "b", "c")))


def test_parts_that_were_counted_are_not_counted_again(crowded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget ends the work after two parts; the same profiler goes on with the third."""
    monkeypatch.setattr(DuckDBEngine, "parts", lambda *_: 4)  # with memory for each: a part that fails begins anew
    with connect(f"{crowded}?max_temp_directory_size=0B") as engine:
        table = engine.describe(None)
        rows = relation(engine.dialect, table, table.columns)
        profiler = profiler_for(engine, rows, ("a", "b", "c"), 3)
        profiler.allow(3, 10**9)  # the rows, and two parts
        with pytest.raises(BudgetSpent):
            profiler.whole()
        assert engine.statements == 3
        profiler.allow(100, 10**9)
        purposes: list[str] = []
        engine.watchers.append(lambda each: purposes.append(each.purpose))
        found = profiler.whole()
    assert purposes[0].startswith("class sizes of a + b + c, part 3 of ") and found.rows == 600_000
    assert found == measured_set(str(crowded), k=3).profile


@pytest.mark.exhaustive
def test_the_rows_are_counted_before_classes_that_may_not_fit(crowded: Path) -> None:
    """A statement that runs out of memory takes as long as the parts that follow."""
    purposes: list[str] = []
    for memory in ("12MB", "1GB"):
        with connect(f"{crowded}?memory_limit={memory}&threads=1") as engine:
            assert engine.little_room == (memory == "12MB")
            engine.watchers.append(lambda each: purposes.append(each.purpose))
            measured_set(engine, "people")
    assert purposes[0] == "rows" and purposes[-1] == "class sizes of a + b + c"


@pytest.mark.exhaustive
def test_where_spilling_does_not_suffice_classes_are_counted_in_parts(crowded: Path) -> None:
    """DuckDB needs more memory than it has for groups that it could spill; so do two statements side by side."""
    for options, work in (("10MB&threads=1", measured_set), ("14MB&threads=2", partial(qidsql.audit, max_size=1))):
        parts, whole = work(f"{crowded}?memory_limit={options}", k=3), work(str(crowded), k=3)
        assert any("counted in up to" in note for note in parts.account.notes)
        assert (parts.profile, parts.class_sizes) == (whole.profile, whole.class_sizes)
        assert all("(labels of values)" in each for each in parts.account.unfinished)  # of what would help most
