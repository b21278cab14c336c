"""The manual's page of figures: what trials and benchmarks recorded, and how far names give roles.

python -m tests.figures      writes the page, after `python -m tests.trials --record` or `...benchmarks --record`
"""

import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from tests.benchmarks.goals import GOALS, UNITS
from tests.benchmarks.recorded import recorded
from tests.benchmarks.vocabulary import table_of_manual
from tests.trials.classes import CLASSES

HERE = Path(__file__).parent
PAGE = HERE.parent / "qidsql" / "help" / "figures.md"
TEXT = HERE / "figures.md"


def page() -> str:
    """The page: its text, in which each line `{name}` stands for a table."""
    tables = {"trials": _trials(), "benchmarks": _benchmarks(), "goals": _goals(), "growth": _growth()}
    missed = "\n".join(_missed())
    return TEXT.read_text().format(
        **{name: _table(rows) for name, rows in tables.items()}, missed=missed, roles=table_of_manual()
    )


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
    for name, row in recorded().items():
        if "peer" not in row:
            continue
        own = f"{row['cpu']:.2f}", str(row.get("megabytes", "")), str(row.get("statements") or "")
        yield name, *own, row["peer"], f"{row['peer_cpu']:.2f}", f"{row['ratio']:.2f}", row["date"]


def _goals() -> Iterable[tuple[str, ...]]:
    """Each row with a goal: the figure, its goal, what no audit can do without, and the peer."""
    yield "command", "now", "goal", "", "all columns", "proof", "peer", "on"
    yield "---", "---:", "---:", "---", "---:", "---:", "---", "---"
    rows = recorded()
    for goal in (each for each in GOALS if each.row in rows):
        row, unit = rows[goal.row], UNITS[goal.figure]
        numbers = f"{row[goal.figure]:,g} {unit}", f"{goal.most:,g} {unit}", "met" if goal.met(row) else "missed"
        limits = (f"{row[each]:.2f}" if each in row else "" for each in ("scan", "proof"))
        yield goal.row, *numbers, *limits, f"{row['peer']}: {row['peer_cpu']:.2f}", row["date"]


def _missed() -> Iterable[str]:
    rows = recorded()
    for goal in (each for each in GOALS if each.row in rows):
        assert bool(goal.missed) != goal.met(rows[goal.row]), f"{goal.row}: met, or missed without a word"
        if goal.missed:
            yield f"- {goal.row}: {goal.missed}"


def _growth() -> Iterable[tuple[str, ...]]:
    yield "audit, by", "CPU s", "exponents", "on"
    yield "---", "---", "---", "---"
    for name, row in recorded().items():
        if "exponents" in row:
            sizes = ", ".join(f"{size:,}: {cpu:.2f}" for size, cpu in zip(row["sizes"], row["cpu"], strict=True))
            yield name.removeprefix("growth in "), sizes, ", ".join(f"{e:.2f}" for e in row["exponents"]), row["date"]


if __name__ == "__main__":
    PAGE.write_text(page())
