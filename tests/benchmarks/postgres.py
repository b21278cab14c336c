"""What a warehouse pays: qidsql on Postgres, client and server together, beside one GROUP BY of all columns.

    python -m tests.benchmarks postgres [ROW ...] [--record]

The benchmark starts a server of its own, on which each statement of a session is planned as on any other (its
durability is off), and connects as a role that has SELECT on the table and may make no temporary ones. CPU seconds are
those of qidsql's process and of all processes of the server, of the median of three runs, or of one of more than LONG.
The limit is the CPU of the server for one COUNT of the classes of all columns, which an audit cannot do without, the
median of three; that of its proof is what `verify` takes of the result.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import psycopg

from tests.benchmarks.recorded import record
from tests.benchmarks.searches import uniform
from tests.postgres_server import PostgresServer

if TYPE_CHECKING:
    from tests.benchmarks.__main__ import Measured

SHARED = Path(__file__).resolve().parents[3] / "shared"
ADULT, MAKE_TABLES = SHARED / "data" / "adult.csv", SHARED / "bench" / "make_tables.py"
TICKS = os.sysconf("SC_CLK_TCK")
TYPES = {"VARCHAR": "text", "DATE": "date", "BIGINT": "bigint", "INTEGER": "integer", "SMALLINT": "smallint"}


def visits(rows: int, _: Path) -> str:
    """Visits of persons, five each: ten columns that tell who it was, and a diagnosis with its treatment."""
    by_person = {place: uniform(place).replace("i *", "(i // 5) *") for place in range(12)}
    return f"""
        SELECT
          DATE '1925-01-01' + floor(36000 * {by_person[0]})::INTEGER AS birth_date,
          'Z' || (10000 + floor(2000 * pow({by_person[1]}, 3))::INTEGER) AS zip_code,
          CASE WHEN {by_person[2]} < 0.0005 THEN 'X' WHEN {by_person[2]} < 0.5 THEN 'F' ELSE 'M' END AS sex,
          CASE WHEN {uniform(13)} >= 0.04 THEN 'occupation ' || floor(120 * pow({by_person[3]}, 1.5))::INTEGER END
            AS occupation,
          'country ' || floor(60 * pow({by_person[4]}, 6))::INTEGER AS nationality,
          'status ' || floor(5 * pow({by_person[5]}, 2))::INTEGER AS marital_status,
          'insurer ' || floor(15 * pow({by_person[6]}, 2))::INTEGER AS insurance,
          DATE '2024-01-01' + floor(700 * {uniform(14)})::INTEGER AS visit_date,
          floor(24 * {uniform(15)})::SMALLINT AS ward,
          floor(12 * pow({by_person[7]}, 2))::SMALLINT AS education,
          'D' || floor(900 * pow({uniform(16)}, 4))::INTEGER AS diagnosis,
          'T' || floor(50 * pow({uniform(17)}, 2))::INTEGER AS treatment
        FROM range({rows}) AS numbers(i)
    """


def with_token(rows: int, folder: Path) -> str:
    """The same, each row with a token of its own."""
    return f"SELECT *, row_number() OVER () AS token FROM ({visits(rows, folder)})"


def census(rows: int, folder: Path) -> str:
    """The first columns of the census that the issues name, which needs numpy."""
    command = [sys.executable, str(MAKE_TABLES), str(folder), "census", "--rows", str(rows)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return f"SELECT {', '.join(f'c{place:02}' for place in range(12))} FROM '{folder}/census.parquet'"


def adult(_: int, __: Path) -> str:
    return f"SELECT DISTINCT * EXCLUDE (fnlwgt) FROM '{ADULT}'"


@dataclass(frozen=True)
class Row:
    """A command on a table of so many rows."""

    name: str
    select: Callable[[int, Path], str]
    rows: int
    command: Sequence[str] = ("audit",)
    needs: Path | None = None
    exact: bool = False  # the peer is the exact profile of all columns


ROWS = [
    Row("audit adult14", adult, 30_000, needs=ADULT),
    Row("audit visits 100k x 12", visits, 100_000),
    Row("audit visits 1M x 12", visits, 1_000_000),
    Row("audit census 1M x 12", census, 1_000_000, needs=MAKE_TABLES),
    Row("audit visits 5M x 12", visits, 5_000_000),
    Row("keys --all visits 1M x 12", visits, 1_000_000, ("keys", "--all")),
    Row("keys --distinct 0.9 --all visits 100k x 12", visits, 100_000, ("keys", "--all", "--distinct", "0.9")),
    Row("audit --entity token visits 2M x 12", with_token, 2_000_000, ("audit", "--entity", "token")),
    Row("audit --approximate 0.01 visits 2M x 12", visits, 2_000_000, ("audit", "--approximate", "0.01"), exact=True),
]
LONG = 20  # CPU seconds
READER = "auditor"


def load(url: str, select: str, folder: Path) -> list[str]:
    """Makes the table t anew; its columns."""
    file = folder / "t.csv"
    with duckdb.connect() as made:
        columns = made.execute(f"DESCRIBE {select}").fetchall()
        made.execute(f"COPY ({select}) TO '{file}' (HEADER false)")
    typed = ", ".join(f'"{name}" {TYPES[kind]}' for name, kind, *_ in columns)
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("DROP TABLE IF EXISTS t")
        server.execute(f"CREATE TABLE t ({typed})".encode())
        with file.open("rb") as rows, server.cursor() as cursor, cursor.copy("COPY t FROM STDIN (FORMAT csv)") as copy:
            while block := rows.read(1 << 20):
                copy.write(block)
        server.execute("ANALYZE t")
        server.execute("GRANT SELECT ON t TO PUBLIC")
    return [name for name, *_ in columns]


def with_reader(server: PostgresServer) -> str:
    """A URL of a new role that may read the table t of `load`, and nothing else."""
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {READER} LOGIN".encode())
        admin.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    return server.url.replace("postgres:@", f"{READER}@", 1)


def spent(server: PostgresServer) -> float:
    """The CPU seconds of the server so far, with those of sessions that have ended."""
    postmaster, *children = server.processes
    ticks = sum(_ticks(postmaster)) + sum(sum(_ticks(child)[:2]) for child in children)
    return ticks / TICKS


def _ticks(process: int) -> list[int]:
    """Of a process: its own, in user and system mode, and those of its ended children."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:  # it has just ended, and counts to its parent from now on
        return [0] * 4
    return [int(each) for each in text.rpartition(")")[2].split()[11:15]]


def limit(server: PostgresServer, columns: Sequence[str]) -> float:
    names = ", ".join(f'"{name}"' for name in columns)
    before = spent(server)
    with psycopg.connect(server.url) as session:
        for setting in ("jit = off", "max_parallel_workers_per_gather = 0"):
            session.execute(f"SET {setting}".encode())
        session.execute(f"SELECT count(*), min(n) FROM (SELECT count(*) AS n FROM t GROUP BY {names}) AS c".encode())
    time.sleep(0.2)  # until the session has ended
    return spent(server) - before


def whole(server: PostgresServer, arguments: Sequence[str]) -> "tuple[float, Measured]":
    """The CPU seconds of a command of qidsql and of the server, and what its process took."""
    from tests.benchmarks.__main__ import VERDICTS, measured

    before = spent(server)
    found = measured((sys.executable, "-m", "qidsql", *arguments), VERDICTS)
    time.sleep(0.2)
    return found.cpu + spent(server) - before, found


def median(run: "Callable[[], tuple[float, Measured]]") -> "tuple[float, Measured]":
    """The median run of three, or the first if it is long."""
    found = [run()]
    while len(found) < 3 and found[0][0] < LONG:
        found.append(run())
    return sorted(found, key=lambda each: each[0])[(len(found) - 1) // 2]


def main(chosen: Sequence[str] = (), keep: bool = False) -> None:
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores; CPU s of client and server")
    print(
        "| command | CPU s | of it client | s | client MB | statements | all columns | its proof | peer | times that |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with PostgresServer() as server, TemporaryDirectory() as folder:
        reader = with_reader(server)
        for row in ROWS:
            if chosen and not any(name in row.name for name in chosen):
                continue
            if row.needs is not None and not row.needs.exists():
                print(f"| {row.name} | left out: needs {row.needs} |")
                continue
            columns = load(server.url, row.select(row.rows, Path(folder)), Path(folder))
            least = statistics.median(limit(server, columns) for _ in range(3))
            command, *options = row.command
            result = Path(folder) / "result.json"
            asked = (command, reader, "t", *options, "--format", "json")
            cpu, ours = median(lambda asked=asked: whole(server, asked))  # type: ignore[misc]
            result.write_text(ours.document)
            proof = whole(server, ("verify", str(result), reader))[0] if command == "audit" and not row.exact else 0
            peer, beside = "GROUP BY of all columns", least
            if row.exact:
                only = [part for name in columns for part in ("--only", name)]
                peer = "the exact profile"
                beside = median(lambda only=only: whole(server, ("audit", reader, "t", *only)))[0]  # type: ignore[misc]
            figures = f"{cpu:.1f} | {ours.cpu:.2f} | {ours.seconds:.1f} | {ours.megabytes} | {ours.statements}"
            print(
                f"| {row.name} | {figures} | {least:.2f} | {proof:.1f} | {peer} {beside:.2f} | {cpu / beside:.1f} |",
                flush=True,
            )
            if keep:
                record(
                    {
                        f"Postgres: {row.name}": {
                            "cpu": round(cpu, 2),
                            "seconds": round(ours.seconds, 1),
                            "megabytes": ours.megabytes,
                            "statements": ours.statements,
                            "peer": peer,
                            "peer_cpu": round(beside, 2),
                            "ratio": round(cpu / beside, 2),
                            "scan": round(least, 2),
                            **({"proof": round(proof, 2)} if proof else {}),
                        }
                    }
                )


if __name__ == "__main__":
    main(sys.argv[1:])
