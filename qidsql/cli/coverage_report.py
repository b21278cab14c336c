"""The coverage section of the report of a run."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.operations.coverage import RENAMED, Coverage, GapState, Severity
from qidsql.wording.numbers import count, plural

SHOWN = 12  # gaps
STYLES = {Severity.VIOLATION: "bold red", Severity.WARNING: "yellow"}


def print_coverage(console: Console, coverage: Coverage) -> None:
    """Prints the gaps, violations first."""
    for source in coverage.sources:
        if source.out_of_scope:
            many = plural(source.out_of_scope, "table")
            console.print(f"Out of scope: {many} of {source.source} (scope in the policy file).")
    gaps = coverage.by_severity
    if not gaps:
        return
    console.print("Not covered, not confirmed, or changed:")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    indent = " " * (8 if any(gap.state is GapState.NEW for gap in gaps[:SHOWN]) else 2)
    for gap in gaps[:SHOWN]:
        new = "  + new " if gap.state is GapState.NEW else indent
        grid.add_row(new, Text(gap.severity, style=STYLES[gap.severity]), Text(gap.text))
    console.print(grid)
    if len(gaps) > SHOWN:
        console.print(f"  ... and {count(len(gaps) - SHOWN)} more (--format json lists them all)")
    if coverage.may_be_renamed:
        console.print(RENAMED)
    console.print()
