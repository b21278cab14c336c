"""The mask report for the terminal: the answer first, then the columns, their measures, the script."""

from rich.console import Console
from rich.text import Text

from qidsql.commands.mask.result import MaskResult
from qidsql.core.results import Verdict
from qidsql.core.tables import FILES
from qidsql.terminal.next_steps import column_set, command, criterion, limits, print_steps, roles, weights
from qidsql.terminal.pieces import certificate, facts, print_cost, print_verdict
from qidsql.wording.numbers import count, few, percent, plural, ratio


def report(console: Console, result: MaskResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    rows.add_row("Forbidden", result.criterion)
    rows.add_row("Algorithm", result.algorithm)
    rows.add_row("Publish", ", ".join(result.published) or "nothing")
    rows.add_row("Withhold", ", ".join(result.withheld) or "nothing")
    if result.bound is not None:
        bound = "which is optimal" if result.optimal else f"no choice has more than {count(result.bound)}"
        rows.add_row("Weight", f"{count(result.weight)} published, {bound}")
    if result.certificate is not None:
        rows.add_row("Sample", certificate(result.certificate))
    if result.profile is not None:
        profile, k = result.profile, result.account.policy.k
        classes = "" if profile.wildcard else f": {plural(profile.classes, 'class', 'classes')}"
        rows.add_row("Published set", f"measured on the full table{classes}")
        if not profile.wildcard and not profile.entities:
            rows.add_row("", f"distinct ratio {ratio(profile.distinct_ratio, 6)}")
        if not profile.entities:
            rows.add_row("", f"separation ratio {ratio(profile.separation_ratio, 9)}")
        unit = "entities" if profile.entities else "rows"
        risk = f"{count(profile.rows_below_k)} {unit} ({percent(profile.share_below_k)}) below k = {k}"
        rows.add_row("", f"k-anonymity {count(profile.smallest)}; {risk}")
    console.print(rows)
    if result.script:
        console.print()
        console.print(
            Text("To carry it out (printed only, nothing was run; its rows keep the order of the table)", style="bold")
        )
        for statement in result.script:
            console.print(f"{statement};", soft_wrap=True)
    elif result.published and result.account.kind in FILES:
        console.print()
        console.print("A file has no views: publish a copy with the columns above.")
    print_cost(console, result.account)
    print_steps(console, _steps(result))


def _steps(result: MaskResult) -> list[tuple[str, str]]:
    """The next commands, each with its purpose."""
    work, policy = result.account, result.account.policy
    if result.verdict is Verdict.INCONCLUSIVE:
        return []
    steps = []
    if not result.optimal and result.safe is not False:
        exact = f"{criterion(policy)} --exact{roles(policy)}{weights(work)}"
        steps.append((command("mask", work, exact), "the most that can be published, proved"))
    if result.published and result.safe:
        audit = f"{column_set(result.published)} --k {policy.k}{limits(policy)}"
        steps.append((command("audit", work, audit), "the published columns, audited"))
    return steps


def opening(result: MaskResult) -> str:
    """What was found, in words for people who sign."""
    if not result.published:
        return "No column can be published under this rule."
    held = f" Withhold {few(result.withheld)}." if result.withheld else ""
    proof = "" if result.safe else " Not confirmed on the whole table: audit these columns before they are published."
    rule = f" No {result.criterion} is among them." if result.safe else ""
    return f"These columns can be published together: {few(result.published)}.{rule}{held}{proof}"
