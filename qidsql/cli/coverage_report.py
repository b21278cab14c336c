"""The part of a run's report that says which tables and columns the policy does not cover. From the plain document."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.core.wording import count, plural

SHOWN = 12  # gaps
RENAMED = "A renamed table or column is one that vanished and one that is new."
STYLES = {"violation": "bold red", "warning": "yellow"}


def print_coverage(console: Console, coverage: Mapping[str, Any]) -> None:
    """The gaps, the gravest first; the columns of a table that nobody has decided in one line."""
    for source in coverage["sources"]:
        if source["out_of_scope"]:
            many = plural(source["out_of_scope"], "table")
            console.print(f"Out of scope: {many} of {source['source']} (scope in the policy file).")
    lines = _lines(coverage["gaps"])
    if not lines:
        return
    console.print("Not covered, or not as before:")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for state, severity, text in lines[:SHOWN]:
        grid.add_row("  + new " if state == "new" else " " * 8, Text(severity, style=STYLES[severity]), Text(text))
    console.print(grid)
    if len(lines) > SHOWN:
        console.print(f"  ... and {count(len(lines) - SHOWN)} more (--format json lists them all)")
    if may_be_renamed(coverage):
        console.print(RENAMED)
    console.print()


def may_be_renamed(coverage: Mapping[str, Any]) -> bool:
    """Whether something vanished and something is new: a rename looks like that."""
    return {"vanished", "unknown"} <= {gap["change"] for gap in coverage["gaps"]}


def mending(coverage: Mapping[str, Any] | None) -> list[str]:
    """The commands that add what is unknown to the policy file."""
    if not coverage:
        return []
    lacking = {gap["source"] for gap in coverage["gaps"] if gap["change"] == "unknown"}
    return [source["mend"] for source in coverage["sources"] if source["source"] in lacking]


def _lines(gaps: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """State, severity and text of each gap."""
    found = []
    undecided: dict[tuple[str, str], list[str]] = {}
    for gap in sorted(gaps, key=lambda gap: (gap["severity"] != "violation", gap["state"] != "new")):
        if gap["change"] == "undecided" and gap["column"] is not None:
            undecided.setdefault((gap["state"], gap["table"]), []).append(gap["column"])
        else:
            found.append((gap["state"], gap["severity"], gap["text"]))
    return found + [
        (state, "warning", f"{table}: nobody has decided on {', '.join(columns)} (CHECK)")
        for (state, table), columns in undecided.items()
    ]
