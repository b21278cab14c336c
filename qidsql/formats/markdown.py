"""Markdown for a comment on a pull request: short, verdict first, details folded."""

import re
from collections.abc import Iterator

from qidsql.commands.audit.result import Withheld
from qidsql.core.results import Verdict
from qidsql.formats.document_figures import number, seconds, share
from qidsql.formats.document_words import unit_of
from qidsql.operations.coverage import Severity
from qidsql.operations.document import RunResult
from qidsql.operations.findings import Audit
from qidsql.operations.hidden_counts import HiddenWithheld
from qidsql.operations.table_run import FindingState, Measures, TableRun
from qidsql.wording.numbers import moment, plural
from qidsql.wording.texts import without_controls

SIGNS = {
    Verdict.PASS: "✅ pass",
    Verdict.VIOLATION: "❌ violation",
    Verdict.ERROR: "⛔ error",
    Verdict.INCONCLUSIVE: "❔ inconclusive",
}
COUNTED = (FindingState.NEW, FindingState.WORSE, FindingState.GONE, FindingState.EXCEPTED)
SETS = 10  # findings shown of a table


def written(document: RunResult) -> Iterator[str]:
    """The report as GitHub-flavoured Markdown."""
    hidden, alone = document.min_count, len(document.tables) == 1
    yield f"### {SIGNS[document.verdict]} · qidsql\n\n{text(document.reason)}\n"
    if document.tables:
        yield f"\n| Table | Verdict | {'k asked' if hidden else 'Smallest class | Below k'} | Findings |\n"
        yield f"|---|---|--:|{'' if hidden else '--:|'}---|\n"
        yield from (_row(document, table) + "\n" for table in document.tables)
    yield from (line + "\n" for line in _coverage(document))
    for table in document.tables:
        yield from (line + "\n" for line in _details(document, table, alone))
    yield f"\n<sub>{_foot(document)}</sub>\n"


def text(value: object) -> str:
    """Any text as Markdown that shows it and does nothing else: no markup, no link, no mention."""
    line = " ".join(without_controls(str(value)).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    line = re.sub(r"([\\`*_{}\[\]()#|~!$])", r"\\\1", line)  # a line begins with none of + - 1.
    return re.sub(r"(?i)\b(https?|ftp|mailto|www)([:.])", r"\1&#8203;\2", line)


def _row(document: RunResult, table: TableRun) -> str:
    audit = table.audit
    profile = audit.profile if audit else None
    smallest, below = "", ""
    if audit and profile:
        smallest = f"{number(profile.smallest)} (asked: {audit.account.policy.k})"
        below = share(profile.rows_at_risk, profile.rows)
    findings = str(len(table.open_findings) or "")
    if document.baseline:
        states = [finding.state for finding in table.findings]
        counted = [f"{states.count(state)} {state}" for state in COUNTED if state in states]
        findings += f" ({', '.join(counted)})" if counted else ""
    figures = f"{smallest} | {below}"
    if document.min_count:
        figures = number(audit.account.policy.k) if audit else ""
    return f"| {text(table.table)} | {SIGNS[table.verdict]} | {figures} | {findings} |"


def _coverage(document: RunResult) -> list[str]:
    """What the policy does not cover, the gravest first."""
    found = document.coverage.gravest_first if document.coverage else []
    if not found:
        return []
    lines = [f"- {'❌' if gap.severity is Severity.VIOLATION else '⚠️'} {text(gap.text)}" for gap in found[:SETS]]
    more = len(found) - SETS
    return ["", "Not covered, or not as before:", "", *lines, *([f"- ... and {more} more"] if more > 0 else [])]


def _details(document: RunResult, table: TableRun, alone: bool) -> list[str]:
    lines = [] if alone and not table.error else ["", text(table.sentence)]
    if table.policy_changed:
        lines.append(f"- policy changed ({text(', '.join(table.policy_changed))}): findings are not compared")
    for finding in table.open_findings[:SETS]:
        changed = document.baseline and finding.state not in (FindingState.UNCHANGED, FindingState.POLICY_CHANGED)
        state = f"**{finding.state}** " if changed else ""
        was = f" (was: {text(_measures(finding.was))})" if changed and finding.was not in (None, Measures()) else ""
        lines.append(f"- {state}{text(finding.text)}{was}")
    more = len(table.open_findings) - SETS
    if more > 0:
        lines.append(f"- ... and {more} more")
    if audit := table.audit:
        for option in audit.withheld:
            lines.append(f"- without {text(', '.join(option.columns))}: {_outcome(option, audit)}")
        lines += [f"- not finished: {text(left)}" for left in audit.account.unfinished]
    if not lines:
        return []
    return ["", f"<details><summary>{text(table.table)}</summary>", "", *lines, "", "</details>"]


def _outcome(option: Withheld | HiddenWithheld, audit: Audit) -> str:
    """What would be left without some columns; in words where the figures are hidden."""
    profile = option.profile
    if profile.smallest is None:
        return "the policy is met" if option.passes else f"still {text(option.still)}"
    at_risk = share(profile.rows_at_risk, profile.rows)
    return f"smallest class {number(profile.smallest)}, {at_risk} of the {unit_of(audit)} below k"


def _measures(measures: Measures | None) -> str:
    return f"k = {number(measures.k)}, {number(measures.rows_at_risk)} below k" if measures else ""


def _foot(document: RunResult) -> str:
    run = f"run {text(document.run)}, " if document.run else ""
    baseline = document.baseline
    against = f", compared with run {text(baseline.run)} of {moment(baseline.started)}" if baseline else ""
    took = f"{plural(document.statements, 'statement')}, {seconds(document.seconds)}"
    if document.min_count:
        against += f"; counts are hidden (--min-count {number(document.min_count)})"
    return f"{run}{moment(document.started)}, {took}{against}; qidsql {text(document.qidsql)}. No cell values."
