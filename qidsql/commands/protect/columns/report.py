"""The report of withheld columns: the answer first, then the columns, their measures, the script."""

from qidsql.commands.protect.columns.command import ColumnsResult
from qidsql.core.results import Verdict
from qidsql.core.tables import FILES
from qidsql.report.blocks import Next, Outcome, Report, Sentence
from qidsql.report.sections import certificate, column_set, command, cost, facts, limits, roles, script, weights
from qidsql.wording.texts import count, few, percent, plural, ratio


def report(result: ColumnsResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    rows.add("Forbidden", result.criterion)
    rows.add("Algorithm", result.algorithm, expert=True)
    rows.add("Publish", ", ".join(result.published) or "nothing")
    rows.add("Withhold", ", ".join(result.withheld) or "nothing")
    if result.bound is not None:
        bound = "which is optimal" if result.optimal else f"no choice has more than {count(result.bound)}"
        rows.add("Weight", f"{count(result.weight)} published, {bound}")
    if result.certificate is not None:
        rows.add("Sample", certificate(result.certificate))
    if result.profile is not None:
        profile, k = result.profile, result.account.policy.k
        classes = "" if profile.wildcard else f": {plural(profile.classes, 'class', 'classes')}"
        rows.add("Published set", f"measured on the full table{classes}")
        if not profile.wildcard and not profile.entities:
            rows.add("", f"distinct ratio {ratio(profile.distinct_ratio, 6)}")
        if not profile.entities:
            rows.add("", f"separation ratio {ratio(profile.separation_ratio, 9)}")
        unit = "entities" if profile.entities else "rows"
        risk = f"{count(profile.rows_below_k)} {unit} ({percent(profile.share_below_k)}) below k = {k}"
        rows.add("", f"k-anonymity {count(profile.smallest)}; {risk}")
        if (found := profile.histories) is not None:
            below = f"{plural(found.persons_below_k, 'person')} below k = {k}"
            rows.add("", f"{found.known_rows.words} leave {count(found.smallest)} or more; {below}")
    yield rows
    title = "To carry it out (printed only, nothing was run; its rows keep the order of the table)"
    yield from script(title, result.script or ())
    if not result.script and result.published and result.account.kind in FILES:
        yield Sentence("A file has no views: publish a copy with the columns above.")
    yield from cost(result.account)
    yield Next(_steps(result))


def _steps(result: ColumnsResult) -> list[tuple[str, str]]:
    """The next commands, each with its purpose."""
    work, policy = result.account, result.account.policy
    if result.verdict is Verdict.INCONCLUSIVE:
        return []
    steps = []
    if not result.optimal and result.safe is not False:
        asked = f"--k {policy.k}" if result.asks_for_k else result.options
        exact = f" --by columns {asked} --exact{roles(policy)}{weights(work)}"
        steps.append((command("protect", work, exact), "the most that can be published, proved"))
    if result.published and result.safe:
        audit = f"{column_set(result.published)} --k {policy.k}{limits(policy)}"
        steps.append((command("audit", work, audit), "the published columns, audited"))
    return steps


def opening(result: ColumnsResult) -> str:
    """What was found, in words for people who sign."""
    if not result.published:
        return "No column can be published under this rule."
    held = f" Withhold {few(result.withheld)}." if result.withheld else ""
    proof = "" if result.safe else " Not confirmed on the whole table: audit these columns before they are published."
    rule = f" No {result.criterion} is among them." if result.safe else ""
    return f"These columns can be published together: {few(result.published)}.{rule}{held}{proof}"
