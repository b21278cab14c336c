"""The doctor report for the terminal: the verdict, then the problems with their remedies, then what is in order."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.doctor.result import DoctorResult
from qidsql.core.checks import Check, State
from qidsql.core.results import Verdict
from qidsql.wording.numbers import count, few, plural, seconds

HEADS = {
    Verdict.PASS: Text("READY", "bold green"),
    Verdict.INCONCLUSIVE: Text("NOT ALL", "bold yellow"),
    Verdict.ERROR: Text("NO CONNECTION", "bold red"),
}
STATES = {State.PROBLEM: "bold red", State.WARNING: "bold yellow"}
SHOWN = 40  # findings on tables


def report(console: Console, result: DoctorResult) -> None:
    """Write the report."""
    head = Table.grid(padding=(0, 4))
    head.add_column(no_wrap=True)
    head.add_column(overflow="fold")
    head.add_row(HEADS[result.verdict], Text(result.reason))
    console.print(head)
    console.print()
    console.print(Text(f"Source   {result.source}" + (f"; {result.engine}" if result.engine else "")), soft_wrap=True)
    console.print()
    _checks(console, "Installation", result.installation)
    _checks(console, "Session", result.session)
    _tables(console, result)
    if result.grants:
        who = "Missing rights" if result.grantee is None else f"All rights that {result.grantee} needs"
        console.print(Text(f"{who} (printed only, nothing was run)"), soft_wrap=True)
        for grant in result.grants:
            console.print(Text(f"  {grant};"), soft_wrap=True)
        console.print()
    console.print(f"{seconds(result.seconds)}; only catalogs were read, no table.")


def _checks(console: Console, title: str, checks: Sequence[Check]) -> None:
    if not checks:
        return
    console.print(Text(title, style="bold"))
    grid = _grid()
    for check in checks:
        _row(grid, "", check)
    console.print(grid)
    console.print()


def _tables(console: Console, result: DoctorResult) -> None:
    if not result.tables:
        return
    subjects: dict[Check, list[str]] = {}
    for table in sorted(result.tables, key=lambda table: table.auditable):
        for check in table.checks:
            subjects.setdefault(check, []).append(table.table)
    console.print(Text("Tables", style="bold"))
    grid = _grid()
    fine = sum(table.auditable for table in result.tables)
    if fine:
        grid.add_row("  ok", f"{plural(fine, 'table')} can be audited")
    order = sorted(subjects, key=lambda check: list(State).index(check.state), reverse=True)
    for check in order[:SHOWN]:
        named = len(subjects[check]) == 1 and subjects[check][0] in check.text
        _row(grid, "" if named else f"{few(subjects[check], 6)}: ", check)
    if len(order) > SHOWN:
        grid.add_row("", Text(f"... and {plural(len(order) - SHOWN, 'finding')} more; --format json lists all"))
    console.print(grid)
    console.print()


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _row(grid: Table, subject: str, check: Check) -> None:
    grid.add_row(Text(f"  {check.state}", STATES.get(check.state, "")), Text(f"{subject}{check.text}"))
    if check.remedy:
        grid.add_row("", Text(f"-> {check.remedy}"))


def opening(result: DoctorResult) -> str:
    """What was found, in words for people who sign."""
    ready = sum(table.auditable for table in result.tables)
    return f"{count(ready)} of {plural(len(result.tables), 'table')} can be audited as things are. No row was read."
