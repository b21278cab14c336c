"""What an answer at a SQL prompt takes, in CPU seconds, beside DuckDB's own statements in the same process.

python -m tests.benchmarks prompt [ROW ...] [--record]

A verdict, first and repeated, is beside the statements that count the same; what needs no Python is beside one GROUP BY
of the same columns, on two million rows. The columns are shown and compared as the functions do it, by their text, too,
if they are texts: `text` is such a set.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from qidsql.engines.duckdb.host import duckdb_macros
from tests.benchmarks.recorded import record
from tests.commandline import environment
from tests.duckdb_hosts import build

ROWS = 2_000_000
VISITS = f"""CREATE TABLE visits AS SELECT CAST(hash(i) % 50 AS INTEGER) AS ward, 'w' || hash(i) % 50 AS name,
  hash(i + 7) % 2 AS sex, CAST(hash(i + 9) % 90 AS INTEGER) AS age, hash(i + 3) % 300000 AS person,
  CAST(hash(i + 5) % 30 AS INTEGER) AS diagnosis FROM range({ROWS}) AS r(i)"""
CLASSES = "SELECT min(n) FROM (SELECT count(*) AS n FROM {} GROUP BY {})"
SET, TEXT = "ward, sex, age", "name, sex, age"
LISTED = "['ward', 'sex', 'age']"
OF_PERSONS = CLASSES.format(f"(SELECT DISTINCT {SET}, person FROM visits)", SET)
OF_CELLS = CLASSES.format(f"(SELECT {SET}, diagnosis, count(*) FROM visits GROUP BY ALL)", SET)
OF_BOTH = CLASSES.format(f"(SELECT DISTINCT {SET}, diagnosis, person FROM visits)", SET)
SINGLES = CLASSES.format("visits", "GROUPING SETS ((ward), (name), (sex), (age), (person), (diagnosis))")
TWICE = CLASSES.format("(FROM visits UNION ALL FROM visits)", SET)
STATEMENTS = {  # ours, and the peer's
    "profile": (f"qidsql.profile('visits', {LISTED})", CLASSES.format("visits", SET)),
    "profile text": ("qidsql.profile('visits', ['name', 'sex', 'age'])", CLASSES.format("visits", TEXT)),
    "anonymity": (f"qidsql.anonymity('visits', {LISTED})", CLASSES.format("visits", SET)),
    "anonymity by entity": (f"qidsql.anonymity('visits', {LISTED}, entity := 'person')", OF_PERSONS),
    "diversity": (f"qidsql.diversity('visits', {LISTED}, 'diagnosis')", OF_CELLS),
    "diversity by entity": (f"qidsql.diversity('visits', {LISTED}, 'diagnosis', entity := 'person')", OF_BOTH),
    "closeness": (f"qidsql.closeness('visits', {LISTED}, 'diagnosis')", OF_CELLS),
    "risks": (f"qidsql.risks('visits', {LISTED})", CLASSES.format("visits", SET)),
    "sizes": (f"qidsql.sizes('visits', {LISTED})", CLASSES.format("visits", SET)),
    "matches": (f"qidsql.matches('visits', 'visits', {LISTED})", TWICE),
    "columns": ("qidsql.columns('visits')", SINGLES),
}  # fmt: skip
PEOPLE = "CREATE TABLE people AS SELECT i % 3 AS a, i % 2 AS b FROM range(100) AS r(i)"
VERDICT = "FROM qidsql.verdict('people')"
COUNTS = [CLASSES.format("people", columns) for columns in ("a, b", "a", "b")]
PROCESS = """
import sys, time, duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
began = time.process_time()
for _ in range(100 * (sys.argv[1] == "warm")):
    connection.execute(sys.argv[-1]).fetchall()
print(time.process_time() if sys.argv[1] == "first" else (time.process_time() - began) / 100)
"""


def in_process(kind: str, *statements: str) -> float:
    """The seconds of a process, or of its last statement repeated."""
    compiled = {name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", PROCESS, kind, PEOPLE, *statements]
    return float(subprocess.run(command, env=compiled, capture_output=True, text=True, check=True).stdout)


def beside(name: str, ours: Callable[[], float], peer: Callable[[], float], repeat: int) -> dict[str, Any]:
    """Measures both by turns, and prints the row, which it returns."""
    taken, by_peer = (median(each) for each in zip(*((ours(), peer()) for _ in range(repeat)), strict=True))
    print(f"| {name} | {taken:.3f} | {by_peer:.3f} | {taken / by_peer:.2f} |", flush=True)
    figures = {"cpu": round(taken, 3), "peer_cpu": round(by_peer, 3), "ratio": round(taken / by_peer, 2)}
    return {f"at a prompt: {name}": {"peer": "the same counts", **figures}}


def main(rows: Sequence[str], keep: bool = False, repeat: int = 5) -> None:
    found: dict[str, dict[str, Any]] = {}
    print("| at a prompt | CPU s | peer's CPU s | ratio |\n|---|---|---|---|")
    connection = duckdb.connect()
    connection.execute(duckdb_macros()).execute(VISITS)

    def spent(statement: str) -> float:
        began = time.process_time()
        connection.execute(statement).fetchall()
        return time.process_time() - began

    with tempfile.TemporaryDirectory() as folder:
        load = f"LOAD '{build(Path(folder))}'"
        for kind in ("first", "warm"):
            if not rows or f"{kind} verdict" in rows:
                found |= beside(
                    f"{kind} verdict",
                    lambda kind=kind: in_process(kind, load, VERDICT),  # type: ignore[misc]
                    lambda kind=kind: in_process(kind, *COUNTS),  # type: ignore[misc]
                    repeat,
                )
    for name, (call, peer) in STATEMENTS.items():
        if not rows or name in rows:
            found |= beside(name, lambda call=call: spent(f"FROM {call}"), lambda peer=peer: spent(peer), repeat)  # type: ignore[misc]
    if keep:
        record(found)
