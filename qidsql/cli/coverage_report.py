"""The coverage section of the report of a run."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.operations.coverage import RENAMED, Coverage, Gap, GapKind, GapState, Severity
from qidsql.wording.numbers import count, plural

SHOWN = 12  # gaps
STYLES = {Severity.VIOLATION: "bold red", Severity.WARNING: "yellow"}


def print_coverage(console: Console, coverage: Coverage) -> None:
    """Prints the gaps, violations first; the unconfirmed columns of a table share a line."""
    for source in coverage.sources:
        if source.out_of_scope:
            many = plural(source.out_of_scope, "table")
            console.print(f"Out of scope: {many} of {source.source} (scope in the policy file).")
    lines = _lines(coverage.by_severity)
    if not lines:
        return
    console.print("Not covered, not confirmed, or changed:")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    indent = " " * (8 if any(state is GapState.NEW for state, _, _ in lines[:SHOWN]) else 2)
    for state, severity, text in lines[:SHOWN]:
        new = "  + new " if state is GapState.NEW else indent
        grid.add_row(new, Text(severity, style=STYLES[severity]), Text(text))
    console.print(grid)
    if len(lines) > SHOWN:
        console.print(f"  ... and {count(len(lines) - SHOWN)} more (--format json lists them all)")
    if coverage.may_be_renamed:
        console.print(RENAMED)
    console.print()


def _lines(gaps: Sequence[Gap]) -> list[tuple[GapState, Severity, str]]:
    """State, severity and text of each gap."""
    found = []
    undecided: dict[tuple[GapState, str], list[str]] = {}
    for gap in gaps:
        if gap.change is GapKind.UNDECIDED and gap.column is not None:
            undecided.setdefault((gap.state, gap.table), []).append(gap.column)
        else:
            found.append((gap.state, gap.severity, gap.text))
    return found + [
        (state, Severity.WARNING, f"{table}: not confirmed (CHECK): {', '.join(columns)}")
        for (state, table), columns in undecided.items()
    ]
