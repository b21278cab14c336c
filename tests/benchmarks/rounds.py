"""How long searches take where every statement waits half a second, beside the same searches without latency.

    python -m tests.benchmarks.rounds [FILE] [--latency 0.5] [--repeat 1]

FILE is adult by default (../shared/data/adult.csv). The engine is DuckDB with 8 sessions, whose statements sleep first.
CPU seconds are those of this process, of the fastest repetition.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import qidsql
from qidsql.engines.base import Engine
from tests.benchmarks.searches import ADULT
from tests.slow_engine import LATENCY, slow

HALF: dict[str, Any] = {"distinct": 0.5, "exclude": ["fnlwgt"]}
CALLS: dict[str, Callable[[Engine], Any]] = {
    "keys --distinct 0.9": lambda engine: qidsql.keys(engine, distinct=0.9),
    "keys --distinct 0.5 --exclude fnlwgt": lambda engine: qidsql.keys(engine, **HALF),
    "keys --all --distinct 0.9": lambda engine: qidsql.keys(engine, all=True, distinct=0.9),
    "keys --all --distinct 0.5 --exclude fnlwgt": lambda engine: qidsql.keys(engine, all=True, **HALF),
    "protect --by columns --distinct 0.5": lambda engine: qidsql.protect(
        engine, distinct=0.5, columns=every(engine), by="columns"
    ),
    "audit --k 2": lambda engine: qidsql.audit(engine, k=2),
}


def every(engine: Engine) -> list[str]:
    """All columns, also those that look sensitive."""
    return [column.name for column in engine.describe(None).columns]


def measured(engine: Engine, call: Callable[[Engine], Any], repeat: int) -> str:
    cpu = seconds = float("inf")
    for _ in range(repeat):
        started, used = time.monotonic(), time.process_time()
        account = call(engine).account
        seconds, cpu = min(seconds, time.monotonic() - started), min(cpu, time.process_time() - used)
    return f"{account.rounds:6} {account.statements:6} {account.sets_profiled:6} {cpu:7.2f} {seconds:7.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=ADULT)
    parser.add_argument("--latency", type=float, default=LATENCY)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    head = f"{'rounds':>6} {'statem':>6} {'sets':>6} {'cpu s':>7} {'s':>7}"
    print(f"{'':44}{'with latency':37}   without\n{'':44}{head}   {head}")
    with qidsql.connect(str(options.file)) as engine:
        local = {name: measured(engine, call, options.repeat) for name, call in CALLS.items()}
    with slow(options.file, options.latency) as engine:
        started = time.monotonic()
        for name, call in CALLS.items():
            print(f"{name:44}{measured(engine, call, options.repeat)}   {local[name]}", flush=True)
        print(f"in all {time.monotonic() - started:.1f} s with {options.latency} s a statement")


if __name__ == "__main__":
    main()
