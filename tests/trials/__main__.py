"""Runs trials and prints a table: tried, failed, seconds. Exit code 1 when one failed."""

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.postgres_server import PostgresServer
from tests.trials import Ground, Trials
from tests.trials.classes import CLASSES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.trials", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*CLASSES, []], metavar="CLASS", help=", ".join(CLASSES))
    parser.add_argument("-n", "--number", type=int, help="trials of each class (default: the full number)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other trials (default: 0)")
    options = parser.parse_args()
    failed = 0
    print(f"{'class':24} {'tried':>8} {'failed':>7} {'seconds':>8}  what is tried", flush=True)
    for name in options.names or CLASSES:
        failed += _run(name, options.number, options.seed)
    sys.exit(1 if failed else 0)


def _run(name: str, number: int | None, seed: int) -> int:
    """Runs one class and prints its line, after a line for each trial that failed. Returns how many did."""
    trials: Trials = import_module(f"tests.trials.{name}").TRIALS
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="qidsql-trials-")))
        ground = Ground(folder, cache(lambda: held.enter_context(PostgresServer()).url))
        started, tried, failed = time.monotonic(), 0, 0
        for outcome in trials.run(number or trials.full, seed, ground):
            tried += 1
            if outcome is not None:
                failed += 1
                print(f"  {name}: {outcome}", flush=True)
    print(f"{name:24} {tried:>8,} {failed:>7,} {time.monotonic() - started:>8.1f}  {trials.title}", flush=True)
    return failed


if __name__ == "__main__":
    main()
