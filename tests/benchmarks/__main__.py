"""What people wait for, beside a peer: one line per command, both in one run.

    python -m tests.benchmarks [ROW ...] [--large] [--repeat 3] [--record]
    python -m tests.benchmarks vocabulary      instead: how far names give roles, on 40 public tables
    python -m tests.benchmarks postgres [ROW]  instead: a warehouse, beside one GROUP BY of all columns
    python -m tests.benchmarks sail            instead: calls and rounds of an audit on a Spark Connect server
    python -m tests.benchmarks costs [ENGINE]  instead: both ways of each choice that an engine's costs make
    python -m tests.benchmarks growth          instead: the powers of rows and columns by which an audit's CPU grows
    python -m tests.benchmarks prompt [ROW]    instead: answers at a SQL prompt, beside DuckDB's own statements

ROW is part of the name of a row; `--large` adds tables of 20 and 100 million rows (5 GB of disk). A ratio is qidsql's
CPU seconds divided by the peer's, each the median of the repetitions, which alternate. CPU seconds count the whole
process, from its start to its end, and the processes it starts. Peers that are not installed are replaced by plain SQL:

plain SQL   Python, `import duckdb`, a COUNT of the classes of all columns and one for each column
python      the interpreter's start
HPIValid    Desbordante's search for all minimal keys, the loading of the csv included (`pip install desbordante`)
pyCANON     its k-anonymity of the same columns, the loading by pandas included (`pip install pycanon`)
qidsql      another command of qidsql, for what one option costs

Recorded beside each row are its limits: the CPU seconds of one COUNT of the classes of all columns, and of audits those
of `verify`, which asks for the statements that prove the result alone. goals.py has what rows were to reach.

`--record` keeps the figures in recorded.json, beside this file, from which `python -m tests.figures` makes the manual's
page of figures. Without it, a row whose ratio is more than a fifth above
the one recorded beside the same peer is reported as worse.
"""

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from tests.benchmarks import costs, growth, postgres, prompt, sail
from tests.benchmarks.recorded import record, recorded
from tests.benchmarks.searches import dense, random, uniform
from tests.benchmarks.suppress import CLINIC
from tests.benchmarks.uniques import wilson_like
from tests.benchmarks.vocabulary import table_of_manual
from tests.commandline import environment

VERDICTS = (0, 1, 3)  # exit codes of a command that did its work
WORSE = 1.2  # times the recorded ratio
SHARED = Path(__file__).resolve().parents[3] / "shared"
ADULT, MAKE_TABLES = SHARED / "data" / "adult.csv", SHARED / "bench" / "make_tables.py"
QIDSQL = (sys.executable, "-m", "qidsql")
PLAIN = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], config=dict(each.split("=") for each in sys.argv[3:]))
relation = sys.argv[2]
names = ['"' + row[0] + '"' for row in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
for chosen in [", ".join(names), *names]:
    classes = f"SELECT COUNT(*) AS n FROM {relation} GROUP BY {chosen}"
    connection.execute(f"SELECT COUNT(*), MIN(n) FROM ({classes})").fetchall()
"""
ONE_SCAN = PLAIN.replace('[", ".join(names), *names]', '[", ".join(names)]')
HPIVALID = """
import sys
import desbordante
search = desbordante.ucc.algorithms.HPIValid()
search.load_data(table=(sys.argv[1], ",", True))
search.execute()
print(len(search.get_uccs()))
"""
PYCANON = """
import sys
import pandas, pycanon.anonymity
table = pandas.read_csv(sys.argv[1])
print(pycanon.anonymity.k_anonymity(table, list(table.columns)))
"""


@dataclass
class Measured:
    """What one process took; `statements` and `verdict` are those of qidsql's own account."""

    cpu: float
    seconds: float
    megabytes: int
    statements: int | None = None
    verdict: str = ""
    document: str = ""  # its JSON


@dataclass(frozen=True)
class Row:
    """A command of qidsql and its peer. `make` writes the tables into the current folder."""

    name: str
    arguments: Sequence[str]
    make: Callable[[], None]
    peer: str = "plain SQL"
    beside: Sequence[str] = ()  # the peer's arguments
    large: bool = False
    needs: Path | None = None


def table(select: str) -> Callable[[], None]:
    """Writes t.duckdb with the table t."""

    def make() -> None:
        with duckdb.connect("t.duckdb") as connection:
            connection.execute(f"CREATE TABLE t AS {select}")

    return make


def csv(select: str) -> Callable[[], None]:
    def make() -> None:
        table(select)()
        with duckdb.connect("t.duckdb") as connection:
            connection.execute("COPY t TO 't.csv' (HEADER)")

    return make


def parquet(select: str) -> Callable[[], None]:
    return lambda: duckdb.execute(f"COPY ({select}) TO 't.parquet'") and None


def census(rows: int, columns: int = 41) -> str:
    """Skewed answers of 2 to 90 values, as of a questionnaire; each third one mostly follows the one before it."""
    sizes = [2 + (place * place * 7) % 89 if place % 4 == 0 else 2 + place * 5 % 17 for place in range(columns)]
    values = [f"floor({size} * pow({uniform(place)}, 2.2))::SMALLINT" for place, size in enumerate(sizes)]
    for place in range(2, columns, 3):
        follows = f"{values[place - 1]} % {sizes[place]}"
        values[place] = f"CASE WHEN {random(place + 500)} % 10 < 9 THEN {follows} ELSE {values[place]} END"
    chosen = ", ".join(f"{value} AS c{place}" for place, value in enumerate(values))
    return f"SELECT {chosen} FROM range({rows}) AS numbers(i)"


def given_census() -> None:
    """Writes t.parquet by the script that the issues name, which needs numpy."""
    command = [sys.executable, str(MAKE_TABLES), ".", "census", "--rows", "1000000"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    Path("census.parquet").rename("t.parquet")


def voters() -> str:
    """Twenty columns of 2 to 150,000 values, skewed, up to half of them NULL."""
    sizes = (2, 3, 4, 6, 8, 10, 13, 17, 25, 40, 60, 90, 150, 366, 700, 1_500, 4_000, 12_000, 40_000, 150_000)
    columns = (
        f"CASE WHEN {uniform(place + 50)} >= {place * 7 % 11 / 20} THEN "
        f"floor({size} * pow({uniform(place)}, 1.5))::INTEGER END AS c{place}"
        for place, size in enumerate(sizes)
    )
    return f"SELECT {', '.join(columns)} FROM range(200000) AS numbers(i)"


def with_a_duplicate() -> None:
    """Writes dense.csv, and t.csv which has its first row twice."""
    duckdb.execute(f"COPY ({dense()}) TO 'dense.csv' (HEADER)")
    csv(f"{dense()} UNION ALL (SELECT * FROM ({dense()}) WHERE c0 + c1 + c2 + c3 >= 0 LIMIT 1)")()


def more_columns(columns: int) -> Callable[[], None]:
    """Writes t.parquet and t.duckdb: Wilson's shape with more columns."""

    def make() -> None:
        wilson_like(Path("wilson.parquet"))
        more = (f"floor({3 + p % 9} * pow({uniform(p)}, 2))::INTEGER AS x{p}" for p in range(columns - 19))
        rows = "SELECT *, row_number() OVER () AS i FROM 'wilson.parquet'"
        select = f"SELECT * EXCLUDE i, {', '.join(more)} FROM ({rows})"
        parquet(select)()
        table(select)()

    return make


def clinic8() -> None:
    with duckdb.connect("t.duckdb") as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(f"CREATE TABLE t AS SELECT * EXCLUDE (month, kind) FROM ({CLINIC.format(rows=1_000_000)})")


def wide_csv() -> None:
    """Writes t.csv, 200 x 10,000, and t.duckdb, 200 x 100 of it."""
    with Path("t.csv").open("w") as file:
        for row in range(-1, 200):
            cells = (f"c{place}" if row < 0 else str(row * place * 7919 % 101 % 5) for place in range(10_000))
            print(",".join(cells), file=file)
    table("SELECT COLUMNS('^c\\d\\d?$') FROM 't.csv'")()


def long_key() -> None:
    with Path("t.json").open("w") as file:
        for row in range(20):
            print(json.dumps({"a": row % 3, "b": row % 2, "k" * 200_000: row % 4}), file=file)
    table("SELECT i % 3 AS a, i % 2 AS b, i % 4 AS c FROM range(20) AS numbers(i)")()


def visits(rows: int) -> str:
    """Ten columns of 2 to 100,000 values."""
    sizes = (2, 5, 12, 40, 100, 366, 1_000, 5_000, 20_000, 100_000)
    columns = (f"floor({size} * pow({uniform(place)}, 1.5))::INTEGER AS c{place}" for place, size in enumerate(sizes))
    return f"SELECT {', '.join(columns)} FROM range({rows}) AS numbers(i)"


def wide() -> str:
    columns = (f"floor({2 + place % 12} * pow({uniform(place)}, 2))::TINYINT AS c{place}" for place in range(200))
    return f"SELECT {', '.join(columns)} FROM range(50000) AS numbers(i)"


def adult() -> None:
    csv(f"SELECT DISTINCT * EXCLUDE (fnlwgt) FROM '{ADULT}'")()


def wilson() -> None:
    wilson_like(Path("t.parquet"))
    table("SELECT * FROM 't.parquet'")()


def many(count: int, columns: int, rows: int) -> Callable[[], None]:
    """Tables t0, t1, ... with a key, a reference to the table before, and attributes."""

    def make() -> None:
        with duckdb.connect("t.duckdb") as connection:
            for number in range(count):
                values = [f"{random(number * 50 + place)} % {3 + place * 5} AS a{place}" for place in range(columns)]
                connection.execute(
                    f"CREATE TABLE t{number} AS SELECT i AS id{number}, i % {rows // 2} AS id{max(0, number - 1)}_, "
                    f"{', '.join(values)} FROM range({rows}) AS numbers(i)"
                )
        Path("qidsql.toml").write_text(
            'format = 1\n[sources.many]\nurl = "t.duckdb"\n[defaults]\nmax_statements = 60\n[[tables]]\ntable = "t*"\n'
        )

    return make


T = ("t.duckdb", "t")
FILE = (":memory:", "'t.parquet'")
ROWS = [
    Row("version", ("--version",), lambda: None, "python", ("-c", "pass")),
    Row("help", ("--help",), lambda: None, "python", ("-c", "pass")),
    Row("audit 5 rows", ("audit", *T), table("SELECT i AS a, i % 2 AS b FROM range(5) AS r(i)"), beside=T),
    Row("audit census 1M x 41", ("audit", *T), table(census(1_000_000)), beside=T),
    *(
        Row(f"{command} given census 1M x 41", arguments, given_census, beside=FILE, needs=MAKE_TABLES)
        for command, arguments in (("audit", ("audit", "t.parquet")), ("keys", ("keys", "t.parquet")))
    ),
    Row("audit 50,000 x 200", ("audit", *T), table(wide()), beside=T),
    Row("audit adult", ("audit", "t.csv"), adult, "pyCANON", ("t.csv",), needs=ADULT),
    Row("keys --all dense 300,000 x 15", ("keys", "t.csv", "--all"), csv(dense()), "HPIValid", ("t.csv",)),
    Row("keys --all adult14", ("keys", "t.csv", "--all"), adult, "HPIValid", ("t.csv",), needs=ADULT),
    *(
        Row(f"keys --all {' '.join(ratio)} adult14", ("keys", *T, "--all", *ratio), adult, beside=T, needs=ADULT)
        for ratio in (("--distinct", "0.9"), ("--separation", "0.999"))
    ),
    Row("keys census 1M x 41 (minimum)", ("keys", *T, "--max-seconds", "900"), table(census(1_000_000)), beside=T),
    *(
        Row(
            f"protect --by cells --against released-rows --k {k}, Wilson's shape",
            ("protect", "--by", "cells", "--against", "released-rows", *T, "--k", str(k)),
            wilson,
            beside=T,
        )
        for k in (2, 3, 5, 10)
    ),
    Row(
        "protect --by cells --k 5 adult14",
        ("protect", "--by", "cells", *T, "--k", "5", "--max-seconds", "60"),
        adult,
        beside=T,
        needs=ADULT,
    ),
    Row("run 50 tables", ("run", "-q"), many(50, 6, 300), beside=("t.duckdb", "t0")),
    Row(
        "graph 100 tables",
        ("graph", "t.duckdb", "--identifier", "t0.id0", "--sensitive", "t99.a3"),
        many(100, 6, 300),
        beside=("t.duckdb", "t0"),
    ),
    Row(
        "audit visits 5M x 12 parquet", ("audit", "t.parquet"), parquet(postgres.visits(5_000_000, Path())), beside=FILE
    ),
    Row(
        "keys --distinct 0.9 --all visits 1M x 12",
        ("keys", *T, "--all", "--distinct", "0.9"),
        table(postgres.visits(1_000_000, Path())),
        beside=T,
    ),
    Row("keys --all voters 200,000 x 20", ("keys", "t.csv", "--all"), csv(voters()), "HPIValid", ("t.csv",)),
    Row(
        "keys --all --all-classes dense and one duplicate",
        ("keys", "t.csv", "--all", "--all-classes"),
        with_a_duplicate,
        "qidsql",
        ("keys", "dense.csv", "--all"),
    ),
    Row("uniques 11,204 x 24", ("uniques", "t.parquet", "--max-seconds", "120"), more_columns(24), beside=FILE),
    Row("uniques --max-size 4 11,204 x 30", ("uniques", "t.parquet", "--max-size", "4"), more_columns(30), beside=FILE),
    Row(
        "uniques --max-size 4 visits 1M x 12",
        ("uniques", *T, "--max-size", "4"),
        table(postgres.visits(1_000_000, Path())),
        beside=T,
    ),
    *(
        Row(
            f"protect --by cells --k 2 {name}",
            ("protect", "--by", "cells", "--against", "released-rows", *T, "--k", "2"),
            make,
            beside=T,
        )
        for name, make in (("11,204 x 30", more_columns(30)), ("clinic 1M x 8", clinic8))
    ),
    Row(
        "audit --max-size 1 csv 200 x 10,000",
        ("audit", "t.csv", "--max-size", "1", "--max-seconds", "120"),
        wide_csv,
        beside=T,
    ),
    Row("audit json with a key of 200 kB", ("audit", "t.json"), long_key, beside=T),
    *(
        Row(
            f"audit parquet {millions}M x 10, {limit}",
            ("audit", f"t.parquet?memory_limit={limit}"),
            parquet(visits(millions * 1_000_000)),
            beside=(":memory:", "'t.parquet'", f"memory_limit={limit}"),
            large=True,
        )
        for millions, limit in ((20, "1GB"), (100, "4GB"))
    ),
]


def _apart(make: Callable[[], None]) -> None:
    """In a process of its own: a large parent would show up in the peak memory of the processes measured."""
    if (process := os.fork()) == 0:
        failed = 1
        try:
            make()
            failed = 0
        finally:
            os._exit(failed)
    if os.waitpid(process, 0)[1]:
        raise RuntimeError("its table could not be made")


def measured(command: Sequence[str], codes: Sequence[int] = (0,)) -> Measured:
    """Runs a process to its end, with compiled modules as after an installation. Raises RuntimeError if it fails."""
    compiled = {name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=compiled)
        _, status, usage = os.wait4(process.pid, 0)
        seconds, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        if process.returncode not in codes:
            raise RuntimeError(errors.read().decode()[-300:])
        found = Measured(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss // 1024)
        if command[-1] == "json":
            found.document = out.read().decode()
            document: dict[str, Any] = json.loads(found.document)
            found.statements = document.get("account", document).get("statements")
            found.verdict = document["verdict"]
    return found


def peer(row: Row) -> tuple[str, tuple[str, ...]]:
    """The peer's name and command; plain SQL where it is not installed."""
    if row.peer == "python":
        return row.peer, (sys.executable, *row.beside)
    if row.peer == "qidsql":
        return f"qidsql {' '.join(row.beside)}", (*QIDSQL, *row.beside)
    for name, package, program in ("HPIValid", "desbordante", HPIVALID), ("pyCANON", "pycanon", PYCANON):
        if row.peer == name and find_spec(package):
            return name, (sys.executable, "-c", program, *row.beside)
    return "plain SQL", (sys.executable, "-c", PLAIN, *(row.beside if row.peer == "plain SQL" else T))


def measure(row: Row, repeat: int) -> tuple[Measured, str, Measured]:
    """Qidsql's run of median CPU, the peer's name and its run of median CPU."""
    json_form = () if row.arguments[0].startswith("--") else ("--format", "json")
    command, (name, beside) = (*QIDSQL, *row.arguments, *json_form), peer(row)
    ours: list[Measured] = []
    theirs: list[Measured] = []
    for _ in range(repeat):
        ours.append(measured(command, VERDICTS))
        theirs.append(measured(beside, VERDICTS))
        if ours[-1].cpu > 20:
            break  # long enough to be repeatable by itself
    return _median(ours), name, _median(theirs)


def _median(runs: list[Measured]) -> Measured:
    middle = statistics.median_low(run.cpu for run in runs)
    return next(run for run in runs if run.cpu == middle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if options.rows == ["vocabulary"]:
        print(table_of_manual())
        return
    if options.rows[:1] == ["postgres"]:
        postgres.main(options.rows[1:], options.record)
        return
    if options.rows in (["sail"], ["growth"]):
        (sail if options.rows == ["sail"] else growth).main(options.record)
        return
    if options.rows[:1] == ["costs"]:
        costs.main(options.rows[1:])
        return
    if options.rows[:1] == ["prompt"]:
        prompt.main(options.rows[1:], options.record)
        return
    earlier = recorded()
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    print("| command | CPU s | s | peak MB | statements | peer | its CPU s | its peak MB | ratio | recorded |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    worse: list[str] = []
    found: dict[str, dict[str, Any]] = {}
    for row in ROWS:
        if options.rows and not any(name in row.name for name in options.rows):
            continue
        if (row.large and not options.large) or (row.needs and not row.needs.exists()):
            print(f"| {row.name} | left out: {'--large' if row.large else f'needs {row.needs}'} |")
            continue
        line, figures = _line(row, options.repeat)
        known, ratio = earlier.get(row.name, {}), figures.get("ratio", 0)
        before = known.get("ratio") if known.get("peer") == figures.get("peer") else None
        print(f"{line} {before or ''} |", flush=True)
        if before and ratio > WORSE * before:
            worse.append(f"{row.name}: {ratio:.2f}, recorded {before:.2f}")
        if figures:
            found[row.name] = figures
    if options.record:
        record(found)
    for each in worse:
        print(f"Worse than recorded by more than a fifth: {each}")


def _line(row: Row, repeat: int) -> tuple[str, dict[str, Any]]:
    """The row's line of the table, and what is recorded of it; nothing if a process failed."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _apart(row.make)
            ours, name, theirs = measure(row, repeat)
            limits = _limits(row, ours.document)
        except RuntimeError as error:
            return f"| {row.name} | failed: {' '.join(str(error).split())} | | | | | | |", {}
        finally:
            os.chdir(here)
    ratio = ours.cpu / theirs.cpu
    verdict = " (inconclusive)" if ours.verdict == "inconclusive" else ""
    figures = f"{ours.cpu:.2f} | {ours.seconds:.2f} | {ours.megabytes} | {ours.statements or ''}{verdict}"
    return f"| {row.name} | {figures} | {name} | {theirs.cpu:.2f} | {theirs.megabytes} | {ratio:.2f} |", {
        "cpu": round(ours.cpu, 2),
        "seconds": round(ours.seconds, 2),
        "megabytes": ours.megabytes,
        "statements": ours.statements,
        "peer": name,
        "peer_cpu": round(theirs.cpu, 2),
        "ratio": round(ratio, 2),
        **limits,
    }


def _limits(row: Row, document: str) -> dict[str, float]:
    """The CPU seconds of one COUNT of the classes of all columns, and of an audit's proof: those of `verify`."""
    if row.peer == "python":
        return {}
    source = row.beside if row.peer == "plain SQL" else T
    found = {"scan": round(measured((sys.executable, "-c", ONE_SCAN, *source)).cpu, 2)}
    if row.arguments[0] == "audit":
        Path("audit.json").write_text(document)
        with contextlib.suppress(RuntimeError):  # a result that cannot be verified, such as an inconclusive one
            proof = measured((*QIDSQL, "verify", "audit.json", *row.arguments[1:2]), VERDICTS)
            found["proof"] = round(proof.cpu, 2)
    return found


if __name__ == "__main__":
    main()
