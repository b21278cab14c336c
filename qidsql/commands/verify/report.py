"""The verify report for the terminal: the verdict, then each claim with what was compared."""

from rich.console import Console

from qidsql.commands.verify.result import Holds, VerifyResult
from qidsql.terminal.pieces import CODES_LEFT, NOTHING_LEFT, facts, grid, print_cost, print_verdict
from qidsql.wording.numbers import plural

MARKS = {Holds.YES: "holds", Holds.NO: "DOES NOT HOLD", Holds.UNKNOWN: "not proved"}


def report(console: Console, result: VerifyResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    rows.add_row("Result", f"of {result.verified} ({result.criterion}), begun {result.written:%Y-%m-%d %H:%M:%S} UTC")
    console.print(rows)
    if result.checks:
        console.print()
        lines = grid()
        for check in result.checks:
            lines.add_row(MARKS[check.holds], f"{check.text}: {check.how}")
        console.print(lines)
    values = CODES_LEFT if result.verified in ("uniques", "suppress", "anonymize") else NOTHING_LEFT
    print_cost(console, result.account, values=values)


def opening(result: VerifyResult) -> str:
    """What was found, in words for people who sign."""
    wrong, open_ = (sum(check.holds is each for check in result.checks) for each in (Holds.NO, Holds.UNKNOWN))
    if wrong:
        return f"Of the earlier result, {plural(wrong, 'statement holds', 'statements hold')} no longer: do not use it."
    if open_ or not result.checks:
        return f"What was checked holds, but {plural(open_, 'statement')} of the earlier result could not be proved."
    return "Every statement of the earlier result holds on the table as it is now."
