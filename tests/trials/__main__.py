"""Runs trials and prints a table: tried, failed, seconds, date, commit. Exit code 1 when one failed.

`--record` keeps the lines in recorded.json, from which `python -m tests.figures` makes the manual's page of figures. A
commit with a + was changed when it ran.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer
from tests.trials import Ground, Trials
from tests.trials.classes import CLASSES

RECORDED = Path(__file__).with_name("recorded.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.trials", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*CLASSES, []], metavar="CLASS", help=", ".join(CLASSES))
    parser.add_argument("-n", "--number", type=int, help="trials of each class (default: the full number)")
    parser.add_argument("--share", type=float, default=1, help="a share of the full number instead, such as 0.1")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other trials (default: 0)")
    parser.add_argument("--record", action="store_true", help="keep the lines for the manual's page of figures")
    options = parser.parse_args()
    failed = 0
    print(
        f"{'class':24} {'tried':>8} {'failed':>7} {'seconds':>8}  {'date':10}  {'commit':8}  what is tried", flush=True
    )
    for name in options.names or CLASSES:
        trials: Trials = import_module(f"tests.trials.{name}").TRIALS
        line = _run(name, trials, options.number or ceil(options.share * trials.full), options.seed)
        failed += line["failed"]
        if options.record:
            kept = {**json.loads(RECORDED.read_text()), name: line}
            lines = [f" {json.dumps(each)}: {json.dumps(kept[each])}" for each in CLASSES if each in kept]
            RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.exit(1 if failed else 0)


def _run(name: str, trials: Trials, number: int, seed: int) -> dict[str, Any]:
    """Runs one class and prints its line, after a line for each trial that failed. Returns what is recorded of it."""
    commit = _commit()  # before they run: a tree can change meanwhile
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="qidsql-trials-")))
        ground = Ground(folder, cache(lambda: held.enter_context(PostgresServer()).url))
        started, tried, failed = time.monotonic(), 0, 0
        for outcome in trials.run(number, seed, ground):
            tried += 1
            if outcome is not None:
                failed += 1
                print(f"  {name}: {outcome}", flush=True)
    seconds, date = time.monotonic() - started, f"{datetime.now(UTC):%Y-%m-%d}"
    print(f"{name:24} {tried:>8,} {failed:>7,} {seconds:>8.1f}  {date}  {commit:8}  {trials.title}", flush=True)
    return {"tried": tried, "failed": failed, "seconds": round(seconds), "date": date, "commit": commit}


def _commit() -> str:
    """The commit of this tree, with a + where it was changed since."""
    asked = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=7", "--exclude=*", "--dirty=+"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "no git"


if __name__ == "__main__":
    main()
