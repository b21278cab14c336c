"""The verify report for the terminal: the verdict, then each claim with what was compared."""

from rich.console import Console

from qidsql.commands.verify.result import Holds, VerifyResult
from qidsql.terminal.pieces import facts, grid, print_cost, print_verdict

MARKS = {Holds.YES: "holds", Holds.NO: "DOES NOT HOLD", Holds.UNKNOWN: "not proved"}


def report(console: Console, result: VerifyResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    rows.add_row("Result", f"of {result.command} ({result.criterion}), begun {result.written:%Y-%m-%d %H:%M:%S} UTC")
    console.print(rows)
    if result.checks:
        console.print()
        lines = grid()
        for check in result.checks:
            lines.add_row(MARKS[check.holds], f"{check.text}: {check.how}")
        console.print(lines)
    print_cost(console, result.account)
