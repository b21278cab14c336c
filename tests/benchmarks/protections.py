"""What coarser values cost, beside what issue 37 allows: `protect` by levels and by values, on DuckDB, Postgres, Sail.

    python -m tests.benchmarks.protections [ROW ...] [--anjana PYTHON] [--record]

CPU seconds are those of the whole process, on Postgres with those of the server. The peer is an audit of five rows, one
GROUP BY of all columns (DuckDB: in a Python process that only does that), or anjana, of an interpreter that has it.
ARX's own published figures are in the manual's page of figures: it was not run again.
"""

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import psutil

import qidsql
from qidsql.sql.templates import Statement
from tests.benchmarks import postgres
from tests.benchmarks.recorded import record
from tests.benchmarks.searches import uniform
from tests.postgres_server import PostgresServer
from tests.spark_server import SailProcess

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
ADULT, HIERARCHIES = SHARED / "arx_adult.csv", SHARED / "arx_hierarchies"
COLUMNS, VALUES, LEVELS = 6, 120, (10, 40)  # of a made table: 4 levels a column, with its values and `*`
MILLIONS = "M x 6 x 4 levels"
ROW_MARK = ("--entity", "row")
GROUPS = """
import sys, duckdb
rows = duckdb.sql(f"SELECT * FROM '{sys.argv[1]}'")
names = ", ".join(rows.columns)
print(duckdb.sql(f"SELECT COUNT(*), MIN(n) FROM (SELECT COUNT(*) AS n FROM rows GROUP BY {names})").fetchall())
"""
ANJANA = """
import sys
from pathlib import Path
import pandas
from anjana.anonymity import k_anonymity
table = pandas.read_csv(sys.argv[1])
hierarchies = {}
for path in Path(sys.argv[2]).glob("*.csv"):
    lines = pandas.read_csv(path, sep=";", header=None, dtype=str)
    name = path.stem.removeprefix("adult_hierarchy_")
    table[name] = table[name].astype(str)
    hierarchies[name] = {level: lines[level].values for level in lines}
found = k_anonymity(table, [], list(table.columns), 5, float(sys.argv[3]), hierarchies)
print(len(found))
"""


@dataclass(frozen=True)
class Row:
    """A command, what it may take, and the peer. `allowed` is of CPU seconds, or of the peer's if it has an x."""

    name: str
    allowed: str
    options: Sequence[str]
    peer: str
    millions: int = 0  # 0: arx_adult
    engine: str = "DuckDB"


def rows() -> Iterator[Row]:
    levels, values = ("--by", "levels", "--k", "5"), ("--by", "values", "--k", "5")
    for share in ("0", "1", "4"):
        options = (*levels, "--suppress", f"{share}%")
        yield Row(f"protect arx_adult by levels, {share} % left out", "audit + 1", options, "audit 5 rows")
        yield Row(f"protect arx_adult by levels, {share} % left out", "", options, f"anjana {share}")
    yield Row("protect arx_adult by values", "4", values, "audit 5 rows")
    yield Row(f"protect 10{MILLIONS}", "10 x", levels, "GROUP BY", millions=10)
    yield Row("protect 1M rows by values", "6", values, "GROUP BY", millions=1)
    for name, options in ("by levels", levels), ("by values", values):
        allowed = "1.2" if options == levels else ""
        yield Row(f"protect arx_adult {name}, Postgres", allowed, options, "GROUP BY", engine="Postgres")
        yield Row(f"protect 1{MILLIONS} {name}, Postgres", "50", options, "GROUP BY", millions=1, engine="Postgres")
    yield Row("protect arx_adult by levels, Sail", "", levels, "GROUP BY", engine="Sail")


def made(millions: int) -> str:
    """Independent skewed columns, as the issue's: nearly all rows are different."""
    columns = (f"floor({VALUES} * pow({uniform(place)}, 2))::INTEGER AS c{place}" for place in range(COLUMNS))
    return f"SELECT {', '.join(columns)} FROM range({millions * 1_000_000}) AS numbers(i)"


def declared(folder: Path, engine: str) -> str:
    """A file with two levels between the values of a made column and `*`."""
    divided = "//" if engine == "DuckDB" else "/"
    lines = (
        f"c{place} = [{', '.join(f'{chr(34)}c{place} {divided} {width}{chr(34)}' for width in LEVELS)}]\n"
        for place in range(COLUMNS)
    )
    path = folder / "levels.toml"
    path.write_text("".join(lines))
    return str(path)


def main(arguments: Sequence[str] = ()) -> None:
    from tests.benchmarks.__main__ import VERDICTS, Measured, measured

    given = list(arguments)
    anjana = given[given.index("--anjana") + 1] if "--anjana" in given else ""
    chosen = [each for each in given if not each.startswith("--") and each != anjana]
    kept: dict[str, dict[str, Any]] = {}
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores")
    print("| command | CPU s | at most | s | client MB | statements | verdict | peer | its CPU s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows():
        if chosen and not any(each in f"{row.name} {row.peer}" for each in chosen):
            continue
        if row.peer.startswith("anjana") and not anjana:
            print(f"| {row.name} | left out: needs --anjana PYTHON |")
            continue
        with TemporaryDirectory() as name:
            folder = Path(name)
            source, select = _source(row, folder)
            hierarchies = str(HIERARCHIES) if not row.millions else declared(folder, row.engine)
            command = (sys.executable, "-m", "qidsql", "protect")
            columns = duckdb.sql(select).columns
            every = (option for column in columns for option in ("-c", column))
            options = (*row.options, *ROW_MARK, *every, "--hierarchies", hierarchies, "--format", "json")
            if row.engine == "Postgres":
                ours, peer = _on_postgres(select, folder, command, options)
            elif row.engine == "Sail":
                ours, peer = _on_sail(select, folder, command, options)
            else:
                ours = [measured((*command, source, *options), VERDICTS) for _ in range(1 if row.millions else 3)]
                codes = VERDICTS if row.peer.startswith("audit") else (0,)
                beside_it = _peer(row, source, folder, anjana)
                peer = [measured(beside_it, codes).cpu for _ in range(1 if row.millions else 3)]
        own = statistics.median_low(each.cpu for each in ours)
        run: Measured = next(each for each in ours if each.cpu == own)
        beside = statistics.median(peer)
        named = row.peer.partition(" ")[0] if row.peer.startswith("anjana") else row.peer
        line = f"{own:.2f} | {row.allowed} | {run.seconds:.1f} | {run.megabytes} | {run.statements} | {run.verdict}"
        print(f"| {row.name} | {line} | {named} | {beside:.2f} | {own / beside:.2f} |", flush=True)
        if run.verdict != "finished":
            continue  # a run that was ended early costs less than the work
        most = f", at most {row.allowed}" if row.allowed else f", beside {named}"
        kept[f"{row.name}{most}"] = {
            "cpu": round(own, 2),
            "megabytes": run.megabytes,
            "statements": run.statements,
            "peer": named,
            "peer_cpu": round(beside, 2),
            "ratio": round(own / beside, 2),
        }
        if "--record" in given:
            record(kept)


def _source(row: Row, folder: Path) -> tuple[str, str]:
    """What qidsql opens on DuckDB, and the query for its rows."""
    if not row.millions:
        return str(ADULT), f"SELECT * FROM '{ADULT}'"
    path = folder / "t.parquet"
    duckdb.execute(f"COPY ({made(row.millions)}) TO '{path}' (FORMAT parquet)")
    return str(path), f"SELECT * FROM '{path}'"


def _peer(row: Row, source: str, folder: Path, anjana: str) -> tuple[str, ...]:
    if row.peer == "GROUP BY":
        return sys.executable, "-c", GROUPS, source
    if row.peer.startswith("anjana"):
        return anjana, "-c", ANJANA, source, str(HIERARCHIES), row.peer.partition(" ")[2]
    five = folder / "five.csv"
    five.write_text("a,b\n" + "".join(f"{n},{n % 2}\n" for n in range(5)))
    return sys.executable, "-m", "qidsql", "audit", str(five), "-q"


def _on_postgres(
    select: str, folder: Path, command: Sequence[str], options: Sequence[str]
) -> tuple[list[Any], list[float]]:
    """Runs of the command on a server of its own with its CPU, and the CPU of a GROUP BY there."""
    from tests.benchmarks.__main__ import VERDICTS, measured

    with PostgresServer() as server:
        columns = postgres.load(server.url, select, folder)
        least = [postgres.limit(server, columns) for _ in range(3)]
        before = postgres.spent(server)
        run = measured((*command, server.url, "t", *options), VERDICTS)
        time.sleep(0.2)
        run.cpu += postgres.spent(server) - before
    return [run], least


def _on_sail(
    select: str, folder: Path, command: Sequence[str], options: Sequence[str]
) -> tuple[list[Any], list[float]]:
    """The same on a Spark Connect server."""
    from tests.benchmarks.__main__ import VERDICTS, measured

    path = folder / "t.parquet"
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    with SailProcess() as server:
        process, table = psutil.Process(server.process.pid), f"parquet.`{path}`"

        def spent() -> float:
            times = process.cpu_times()
            return times.user + times.system

        with qidsql.connect(server.url) as engine:
            columns = ", ".join(f"`{column.name}`" for column in engine.describe(table).columns)
            counted = f"SELECT COUNT(*), MIN(n) FROM (SELECT COUNT(*) AS n FROM {table} GROUP BY {columns})"
            before = spent()
            engine.run(Statement(counted, "all columns", list))
            least = spent() - before
        before = spent()
        run = measured((*command, server.url, table, *options), VERDICTS)
        run.cpu += spent() - before
    return [run], [least]


if __name__ == "__main__":
    main(sys.argv[1:])
