"""The manual's page of figures: what trials and benchmarks recorded, and how far names give roles.

python -m tests.figures      writes the page, after `python -m tests.trials --record` or `...benchmarks --record`
"""

import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from tests.benchmarks.vocabulary import table_of_manual
from tests.trials.classes import CLASSES

HERE = Path(__file__).parent
PAGE = HERE.parent / "qidsql" / "help" / "figures.md"
TEXT = HERE / "figures.md"


def page() -> str:
    """The page: its text, in which each line `{name}` stands for a table."""
    return TEXT.read_text().format(trials=_table(_trials()), benchmarks=_table(_benchmarks()), roles=table_of_manual())


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _trials() -> Iterable[tuple[str, ...]]:
    yield "class", "what is tried", "tried", "failed", "seconds", "on", "commit"
    yield "---", "---", "---:", "---:", "---:", "---", "---"
    recorded = json.loads((HERE / "trials" / "recorded.json").read_text())
    for name in (each for each in CLASSES if each in recorded):
        row = recorded[name]
        title = import_module(f"tests.trials.{name}").TRIALS.title
        numbers = (f"{row[each]:,}" for each in ("tried", "failed", "seconds"))
        yield f"`{name}`", title, *numbers, row["date"], row["commit"]


def _benchmarks() -> Iterable[tuple[str, ...]]:
    yield "command", "CPU s", "peak MB", "statements", "peer", "its CPU s", "ratio", "on"
    yield "---", "---:", "---:", "---:", "---", "---:", "---:", "---"
    for name, row in json.loads((HERE / "benchmarks" / "recorded.json").read_text()).items():
        own = f"{row['cpu']:.2f}", str(row["megabytes"]), str(row["statements"] or "")
        yield name, *own, row["peer"], f"{row['peer_cpu']:.2f}", f"{row['ratio']:.2f}", row["date"]


if __name__ == "__main__":
    PAGE.write_text(page())
