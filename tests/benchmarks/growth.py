"""By which power of rows, and of columns, the CPU seconds of an audit grow.

    python -m tests.benchmarks growth [--record]

Between two sizes n and m that take s and t: log(t / s) / log(m / n), without the 0.3 s of the start of a process.
"""

import os
import sys
from itertools import pairwise
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import postgres
from tests.benchmarks.recorded import record
from tests.postgres_server import PostgresServer

ROWS, COLUMNS, START = (100_000, 300_000, 1_000_000), (5, 10, 20, 40), 0.3


def main(keep: bool = False) -> None:
    from tests.benchmarks.__main__ import VERDICTS, census, measured, parquet

    here, found = Path.cwd(), {}
    with TemporaryDirectory() as folder, PostgresServer() as server:
        os.chdir(folder)
        reader = postgres.with_reader(server)
        command = (sys.executable, "-m", "qidsql", "audit")
        try:
            taken: dict[str, list[tuple[int, float]]] = {}
            for rows in ROWS:
                parquet(postgres.visits(rows, Path(folder)))()
                figure = measured((*command, "t.parquet"), VERDICTS).cpu
                taken.setdefault("rows, visits of 12 columns, DuckDB", []).append((rows, figure))
                postgres.load(server.url, postgres.visits(rows, Path(folder)), Path(folder))
                figure = postgres.whole(server, ("audit", reader, "t"))[0]
                taken.setdefault("rows, visits of 12 columns, Postgres", []).append((rows, figure))
            for columns in COLUMNS:
                parquet(census(100_000, columns))()
                figure = measured((*command, "t.parquet", "--max-size", "4"), VERDICTS).cpu
                taken.setdefault("columns, census of 100,000 rows to size 4, DuckDB", []).append((columns, figure))
        finally:
            os.chdir(here)
    for name, sizes in taken.items():
        powers = [log((t - START) / max(0.01, s - START)) / log(m / n) for (n, s), (m, t) in pairwise(sizes)]
        text = ", ".join(f"{size:,}: {cpu:.2f} s" for size, cpu in sizes)
        print(f"{name}: {text}; exponents {', '.join(f'{power:.2f}' for power in powers)}", flush=True)
        found[f"growth in {name}"] = {
            "sizes": [size for size, _ in sizes],
            "cpu": [round(cpu, 2) for _, cpu in sizes],
            "exponents": [round(power, 2) for power in powers],
        }
    if keep:
        record(found)
