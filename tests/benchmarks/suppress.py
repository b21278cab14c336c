"""Optimal local suppression: times, cells and memory.

    python -m tests.benchmarks.suppress [--table FILE.parquet ...] [--k 2 5] [--postgres URL] [--rows 1000000]

Without --table: adult (../shared/data/adult.csv where it is there), and a made table of ten columns like a clinic's.
Each run is a process of its own: coding of the rows, plan, copy and audit of the copy. With --postgres the tables are
loaded there too, into a schema of its own that is dropped again. Ratios are to be trusted more than seconds.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import psycopg
from psycopg import sql

from qidsql.commands.protect.cells.command import CellsRequest
from qidsql.commands.protect.cells.matching import matching_rows
from qidsql.engines.connect import connect

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
SCHEMA = "qidsql_benchmark"
CLINIC = """
SELECT
  DATE '1930-01-01' + CAST(35000 * sqrt(random()) AS INTEGER) AS birth_date,
  CAST(random() * random() * 3300 AS INTEGER) AS zip_code,
  CAST(random() * 1.05 AS INTEGER) AS sex, CAST(random() * random() * 120 AS INTEGER) AS occupation,
  DATE '2024-01-01' + CAST(random() * 680 AS INTEGER) AS visit_date, CAST(random() * 24 AS INTEGER) AS ward,
  CAST(pow(random(), 3) * 900 AS INTEGER) AS diagnosis, CAST(random() * 5 AS INTEGER) AS region,
  CAST(random() * 12 AS INTEGER) AS month, CAST(random() * 7 AS INTEGER) AS kind
FROM range({rows})
"""


def one_run(source: str, table: str, k: int, into: str) -> None:
    """In a process of its own: prints a line of the table."""
    stages: list[tuple[float, str]] = []
    with connect(source, writable=not into.endswith(".parquet")) as engine:
        request = CellsRequest(table, k=k, keep_identifiers=True, into=into, against="released-rows")
        result = matching_rows(engine, request, lambda stage: stages.append((time.monotonic(), stage)))
    ended = time.monotonic()

    def since(beginning: str, end: str) -> float:
        first = next(moment for moment, stage in stages if stage.startswith(beginning))
        return next((moment for moment, stage in stages if stage.startswith(end)), ended) - first

    used = resource.getrusage(resource.RUSAGE_SELF)
    memory, processor = used.ru_maxrss // 1024, used.ru_utime + used.ru_stime
    seconds = [since("coding", "suppressing"), since("suppressing", "writing")]
    seconds += [since("writing", "auditing"), since("auditing", "never")]
    print(
        *(f"{each:8.1f}" for each in (*seconds, processor)),
        f"{memory:8,} {result.cells or 0:12,} {result.records or 0:10,}",
        f" {result.verdict}, {result.rows_below_k} below k; {'; '.join(result.algorithm)}",
        flush=True,
    )


def load(path: Path, url: str, table: str) -> None:
    """The parquet file as a table of the benchmark's schema."""
    with duckdb.connect() as reader, psycopg.connect(url) as server:
        described = reader.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
        types = {"VARCHAR": "text", "DOUBLE": "double precision", "TINYINT": "smallint"}
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(types.get(kind, kind)))
            for name, kind, *_ in described
        ]
        server.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        target = sql.Identifier(SCHEMA, table)
        server.execute(sql.SQL("CREATE TABLE {} ({})").format(target, sql.SQL(", ").join(columns)))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.csv"
            reader.execute(f"COPY (SELECT * FROM '{path}') TO '{file}' (FORMAT csv, HEADER false)")
            with (
                file.open("rb") as rows,
                server.cursor() as cursor,
                cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(target)) as copy,
            ):
                while block := rows.read(1 << 20):
                    copy.write(block)
        server.commit()
        server.autocommit = True
        server.execute("ANALYZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="*", type=Path, default=[])
    parser.add_argument("--k", nargs="*", type=int, default=[2, 5])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgres")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        source, table, k, into = given.run
        one_run(source, table, int(k), into)
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = list(given.table)
        if not paths:
            with duckdb.connect() as maker:
                maker.execute("SELECT setseed(0.5)")
                paths.append(Path(folder) / "clinic.parquet")
                maker.execute(f"COPY ({CLINIC.format(rows=given.rows)}) TO '{paths[-1]}' (FORMAT parquet)")
                if ADULT.exists():
                    paths.append(Path(folder) / "adult.parquet")
                    maker.execute(f"COPY (SELECT * FROM read_csv('{ADULT}')) TO '{paths[-1]}' (FORMAT parquet)")
        heads = f"{'coding':>8} {'plan':>8} {'copy':>8} {'audit':>8} {'CPU':>8} {'MB':>8} {'cells':>12} {'rows':>10}"
        print(f"{'table':<12} {'k':>3} {'engine':<9}{heads}")
        try:
            for path in paths:
                if given.postgres:
                    load(path, given.postgres, path.stem)
                for k in given.k:
                    print(f"{path.stem:<12} {k:>3} duckdb   ", end="", flush=True)
                    run(str(path), path.stem, k, f"{folder}/safe_{path.stem}_{k}.parquet")
                    if given.postgres:
                        print(f"{path.stem:<12} {k:>3} postgres ", end="", flush=True)
                        run(given.postgres, f"{SCHEMA}.{path.stem}", k, f"{SCHEMA}.safe_{path.stem}_{k}")
        finally:
            if given.postgres:
                with psycopg.connect(given.postgres) as server:
                    server.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SCHEMA)))


def run(source: str, table: str, k: int, into: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.suppress", "--run", source, table, str(k), into], check=True
    )


if __name__ == "__main__":
    main()
