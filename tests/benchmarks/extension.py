"""The extension in a DuckDB shell and in modules: seconds of LOAD, of a call and of what it takes besides its
statements, of an audit beside the command line's, and how many starts ended badly.
python -m tests.benchmarks.extension [--rows N] [--starts N]

The shell and the older module come from PyPI. Wall seconds are for a machine that does nothing else; processor
seconds, which stand beside them, tell more on one that does. A quarter of an hour with two processors.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import duckdb
import pytest

from tests.commandline import command
from tests.duckdb_hosts import OLDER, Host, Module, Shell, build, fetched

CALLS = 100
PEOPLE = "CREATE TABLE people AS SELECT i AS id, i % 7 AS a, CAST(i % 13 AS VARCHAR) AS b FROM range(300) AS r(i)"
CALL = "FROM qidsql.keys('people')"
SPENT = (
    "SELECT CAST(sum(seconds) * 1e9 AS BIGINT) AS spent FROM qidsql.keys('people', trace := true) "
    "WHERE statement IS NOT NULL"
)
VALUES = ", ".join(f"CAST(hash(i * 8 + {at}) % {2 + 9 * at * at} AS INTEGER) AS c{at}" for at in range(8))
TIMED = """
import json, sys, time, duckdb
given = json.loads(sys.stdin.read())
connection = duckdb.connect(given["database"], config={"allow_unsigned_extensions": "true"})
found = []
for statement in given["statements"]:
    began = time.perf_counter()
    rows = connection.execute(statement).fetchall()
    found.append((time.perf_counter() - began, rows[0][0] if len(rows) == 1 == len(rows[0]) else None))
print(json.dumps(found))
"""
WORKED = """
import json, statistics, sys, time, duckdb
given = json.loads(sys.stdin.read())
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
for statement in given["before"]:
    connection.execute(statement)
from qidsql.engines.duckdb.engine import DuckDBSession
execute, spent = DuckDBSession.execute, [0.0]
def worked(*given):
    began = time.process_time()
    try:
        return execute(*given)
    finally:
        spent[0] += time.process_time() - began
DuckDBSession.execute = worked
found = []
for _ in range(given["calls"]):
    spent[0], began = 0.0, time.process_time()
    connection.execute(given["call"]).fetchall()
    whole = time.process_time() - began
    found.append((whole, whole - spent[0]))
print(json.dumps([statistics.median(each) for each in zip(*found)]))
"""
TIMER = re.compile(r"(?:(?:^|\n)spent\n(\d+)\n)?Run Time \(s\): real ([\d.]+)")


@dataclass(frozen=True)
class Timed:
    """What a statement took, and its answer, where that is one number."""

    seconds: float
    answer: int | None = None


def timed(host: Host, statements: Sequence[str], database: str = ":memory:") -> list[Timed]:
    """Each statement, in one process."""
    if isinstance(host, Shell):
        script = [".mode csv", ".timer on", *(f"{statement};" for statement in statements)]
        found = TIMER.findall(host.feed("\n".join(script), database))
        return [Timed(float(seconds), int(answer) if answer else None) for answer, seconds in found]
    assert isinstance(host, Module)
    given = json.dumps({"database": database, "statements": statements})
    start = [sys.executable, "-c", TIMED]
    done = subprocess.run(start, input=given, env=host.environment(), capture_output=True, text=True, check=True)
    return [Timed(*each) for each in json.loads(done.stdout.splitlines()[-1])]  # a bar of progress may stand before it


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
    return median(timed(host, ["SELECT 1", host.load])[1].seconds for _ in range(10))


def call(host: Host) -> tuple[float, float]:
    """The seconds of a call on a tiny table, and of what it takes besides its statements: each call tells those."""
    runs = timed(host, [host.load, PEOPLE, CALL, *[CALL] * CALLS, *[SPENT] * CALLS])
    calls, told = runs[3 : 3 + CALLS], runs[3 + CALLS :]
    besides = [each.seconds - each.answer / 1e9 for each in told if each.answer is not None]
    assert len(calls) == len(besides) == CALLS
    return median(each.seconds for each in calls), median(besides)


def processor_of_call(host: Module) -> tuple[float, float]:
    """The same in processor seconds of all threads, which only a process of Python can tell."""
    given = json.dumps({"before": [host.load, PEOPLE, CALL], "call": CALL, "calls": CALLS})
    start = [sys.executable, "-c", WORKED]
    done = subprocess.run(start, input=given, env=host.environment(), capture_output=True, text=True, check=True)
    whole, besides = json.loads(done.stdout)
    return whole, besides


@dataclass(frozen=True)
class Run:
    """What a process took, on all processors together."""

    seconds: float
    processor: float


def audited(host: Host, path: Path) -> Run:
    """A process that opens the file, loads qidsql and audits."""
    with measured() as found:
        timed(host, [host.load, "SELECT count(*) FROM qidsql.audit('large', k := 5)"], str(path))
    return found[0]


def by_command_line(path: Path, variables: dict[str, str]) -> Run:
    with measured() as found:
        done = subprocess.run(command("audit", path, "large", "--k", "5", "-q"), env=variables, capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return found[0]


@contextmanager
def measured() -> Iterator[list[Run]]:
    """What the processes took that ran in the block, in a list of one when it is over."""
    found: list[Run] = []
    began, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    yield found
    after = getrusage(RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found.append(Run(time.perf_counter() - began, processor))


def bad_starts(host: Host, starts: int) -> int:
    """How many processes ended in another way than well, of those that load, audit and leave; two at a time."""

    def bad(number: int) -> bool:
        try:
            timed(host, [host.load, PEOPLE, CALL])
        except (subprocess.SubprocessError, AssertionError):
            return True
        return False

    with ThreadPoolExecutor(2) as threads:
        return sum(threads.map(bad, range(starts)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--starts", type=int, default=200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.duckdb"
        with duckdb.connect(str(path), config={"storage_compatibility_version": "v1.2.0"}) as connection:
            connection.execute(f"CREATE TABLE large AS SELECT {VALUES} FROM range({given.rows}) AS r(i)")
        for host, variables in hosts(Path(name)):
            print(host.name)
            print(f"  LOAD                           {load_seconds(host) * 1e3:>8.1f} ms", flush=True)
            spent = zip(call(host), processor_of_call(host) if isinstance(host, Module) else (None, None), strict=True)
            for words, (seconds, processor) in zip(("a call", "overhead besides statements"), spent, strict=True):
                told = "" if processor is None else f"   {processor * 1e3:>8.1f} ms processor"
                print(f"  {words:30} {seconds * 1e3:>8.1f} ms{told}", flush=True)
            pairs = [(audited(host, path), by_command_line(path, variables)) for _ in range(2)]  # by turns
            audit, line = (min(each, key=lambda run: run.seconds) for each in zip(*pairs, strict=True))
            for words, run in ((f"audit of {given.rows:,} rows", audit), ("the command line's", line)):
                print(f"  {words:30} {run.seconds:>8.2f} s    {run.processor:>8.2f} s processor")
            print(f"  ratio                          {audit.seconds / line.seconds:>8.2f}", flush=True)
            print(f"  bad starts                     {bad_starts(host, given.starts):>8} of {given.starts}", flush=True)


if __name__ == "__main__":
    main()
