"""The extension in a DuckDB shell and in modules: seconds of LOAD, of a call besides its statements, of an audit beside
the command line's, and how many starts ended badly. python -m tests.benchmarks.extension [--rows N] [--starts N]

The shell and the older module come from PyPI. Wall seconds: for a machine that does nothing else.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import duckdb
import pytest

from tests.commandline import command
from tests.duckdb_hosts import OLDER, Host, Module, Shell, build, fetched

CALLS = 200
PEOPLE = "CREATE TABLE people AS SELECT i AS id, i % 7 AS a, CAST(i % 13 AS VARCHAR) AS b FROM range(300) AS r(i)"
CALL = "FROM qid_keys('people')"
VALUES = ", ".join(f"CAST(hash(i * 8 + {at}) % {2 + 9 * at * at} AS INTEGER) AS c{at}" for at in range(8))
TIMED = """
import json, sys, time, duckdb
given = json.loads(sys.stdin.read())
connection = duckdb.connect(given["database"], config={"allow_unsigned_extensions": "true"})
seconds = []
for statement in given["statements"]:
    began = time.perf_counter()
    connection.execute(statement).fetchall()
    seconds.append(time.perf_counter() - began)
print(json.dumps(seconds))
"""


def timed(host: Host, statements: Sequence[str], database: str = ":memory:") -> list[float]:
    """The seconds of each statement in one process."""
    if isinstance(host, Shell):
        script = [".mode csv", ".timer on", *(f"{statement};" for statement in statements)]
        return [float(found) for found in re.findall(r"real (\d+\.\d+)", host.feed("\n".join(script), database))]
    assert isinstance(host, Module)
    given = json.dumps({"database": database, "statements": statements})
    start = [sys.executable, "-c", TIMED]
    done = subprocess.run(start, input=given, env=host.environment(), capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])  # a bar of progress may stand before it
    return found


def hosts(folder: Path) -> Iterator[tuple[Host, dict[str, str]]]:
    """Those that can be had, and the variables with which the command line takes the same DuckDB."""
    extension = build(folder)
    newest = Module(f"module {duckdb.__version__}", extension, None)
    yield newest, newest.environment()
    try:
        older = Module(f"module {OLDER}", extension, fetched(f"duckdb=={OLDER}", folder / "duckdb"))
        yield older, older.environment()
        program = fetched(f"duckdb-cli=={OLDER}", folder / "duckdb-cli") / "duckdb_cli" / "duckdb"
        yield Shell(f"shell {OLDER}", extension, program), older.environment()
    except pytest.skip.Exception as reason:
        print(reason)


def load_seconds(host: Host) -> float:
    return median(timed(host, ["SELECT 1", host.load])[1] for _ in range(10))


def overhead_seconds(host: Host) -> tuple[float, float]:
    """A call on a tiny table, and what of it is not the statements put to the table: they are asked alone as well."""
    trace = host.ask(PEOPLE, f"{CALL[:-1]}, trace := true)")
    assert isinstance(trace, list)
    asked = [row["statement"] for row in trace if row["statement"]]
    calls = median(timed(host, [host.load, PEOPLE, CALL, *[CALL] * CALLS])[-CALLS:])
    return calls, calls - sum(median(timed(host, [PEOPLE, *[each] * CALLS])[-CALLS:]) for each in asked)


def audit_seconds(host: Host, path: Path) -> float:
    """A process that opens the file, loads qidsql and audits."""
    began = time.perf_counter()
    timed(host, [host.load, "SELECT count(*) FROM qid_audit('large', k := 5)"], str(path))
    return time.perf_counter() - began


def command_line_seconds(path: Path, variables: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command("audit", path, "large", "--k", "5", "-q"), env=variables, capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return time.perf_counter() - began


def bad_starts(host: Host, starts: int) -> int:
    """How many processes ended in another way than well, of those that load, audit and leave."""
    bad = 0
    for _ in range(starts):
        try:
            timed(host, [host.load, PEOPLE, CALL])
        except (subprocess.SubprocessError, AssertionError):
            bad += 1
    return bad


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--starts", type=int, default=200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.duckdb"
        with duckdb.connect(str(path), config={"storage_compatibility_version": "v1.2.0"}) as connection:
            connection.execute(f"CREATE TABLE large AS SELECT {VALUES} FROM range({given.rows}) AS r(i)")
        print(f"{'':16} {'LOAD ms':>8} {'call ms':>8} {'overhead ms':>12} {'audit s':>8} {'command line s':>15} "
              f"{'ratio':>6} {'bad starts':>11}")  # fmt: skip
        for host, variables in hosts(Path(name)):
            load = load_seconds(host)
            call, overhead = overhead_seconds(host)
            pairs = [(audit_seconds(host, path), command_line_seconds(path, variables)) for _ in range(3)]  # by turns
            audit, line = (min(each) for each in zip(*pairs, strict=True))
            bad = bad_starts(host, given.starts)
            print(f"{host.name:16} {load * 1e3:>8.0f} {call * 1e3:>8.1f} {overhead * 1e3:>12.1f} {audit:>8.2f} "
                  f"{line:>15.2f} {audit / line:>6.2f} {bad:>6}/{given.starts}")  # fmt: skip


if __name__ == "__main__":
    main()
