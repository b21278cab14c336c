"""The verify report: the verdict, then each claim with what was compared."""

from qidsql.commands.verify.command import STATED, Holds, VerifyResult
from qidsql.report.blocks import Fields, Outcome, Report
from qidsql.report.sections import CODES_LEFT, NOTHING_LEFT, cost, facts
from qidsql.wording.texts import plural

MARKS = {Holds.YES: "holds", Holds.NO: "DOES NOT HOLD", Holds.UNKNOWN: "not proved"}


def report(result: VerifyResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    rows.add("Result", f"of {result.verified} ({result.criterion}), begun {result.written:%Y-%m-%d %H:%M:%S} UTC")
    yield rows
    if result.checks:
        checks = Fields()
        for check in result.checks:
            checks.add(MARKS[check.holds], f"{check.text}: {check.how}")
        yield checks
    values = CODES_LEFT if result.verified in ("uniques", "protect by cells") else NOTHING_LEFT
    yield from cost(result.account, values=values)


def opening(result: VerifyResult) -> str:
    """What was found, in words for people who sign."""
    wrong, open_ = (sum(check.holds is each for check in result.checks) for each in (Holds.NO, Holds.UNKNOWN))
    if wrong:
        return f"Of the earlier result, {plural(wrong, 'statement holds', 'statements hold')} no longer: do not use it."
    if open_ or not result.checks:
        return f"What was checked holds, but {plural(open_, 'statement')} of the earlier result could not be proved."
    if result.verified == "release":
        stated = result.reason.partition(STATED)[2].partition(",")[0]
        return f"These bytes are what the statement is about, and it holds. Its own verdict on them is: {stated}."
    return "Every statement of the earlier result holds on the table as it is now."
