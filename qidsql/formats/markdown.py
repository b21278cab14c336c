"""Markdown for a comment on a pull request: the verdict first, details collapsed."""

import re
from collections.abc import Iterator

from qidsql.commands.audit.command import AuditResult, Remedy
from qidsql.core.results import Verdict
from qidsql.formats.run_summary import unit_of
from qidsql.formats.texts import duration, most_severe, number, rank_of, share_of, told
from qidsql.operations.coverage import Severity
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import FindingState, Measures, TableRun
from qidsql.wording.texts import moment, percent, plural, without_controls

SIGNS = {
    Verdict.PASS: "✅ pass",
    Verdict.VIOLATION: "❌ violation",
    Verdict.ERROR: "⛔ error",
    Verdict.INCONCLUSIVE: "❔ inconclusive",
    Verdict.FINISHED: "ℹ️ finished",
}
COUNTED = (FindingState.NEW, FindingState.WORSE, FindingState.GONE, FindingState.EXCEPTED)
FINDINGS_OF_A_TABLE = 10  # findings listed for each table
ROWS, DETAILS = 200, 30_000  # tables, and characters of their details: a comment on GitHub has 65,536 at most


def written(document: RunResult) -> Iterator[str]:
    """The report as GitHub-flavoured Markdown."""
    hidden, alone = document.min_count, len(document.tables) == 1
    ranked = [(table.verdict, rank_of(table)) for table in document.tables]
    order = sorted(range(len(ranked)), key=lambda place: ranked[place][1])
    verdict = most_severe(document, [verdict for verdict, _ in ranked])
    yield f"### {_verdict(verdict, document.waived)} · qidsql\n\n{escaped(document.reason)}\n"
    if document.tables:
        yield f"\n| Table | Verdict | {'k required' if hidden else 'Smallest class | Below k'} | Findings |\n"
        yield f"|---|---|--:|{'' if hidden else '--:|'}---|\n"
        yield from (_row(document, document.tables[place]) + "\n" for place in order[:ROWS])
        yield from [f"\n... and {len(order) - ROWS} more tables\n"] if len(order) > ROWS else []
    yield from (line + "\n" for line in _coverage(document))
    room = DETAILS
    for many, place in enumerate(order):
        details = "".join(line + "\n" for line in _details(document, document.tables[place], alone))
        room -= len(details)
        if room < 0 and many:
            yield f"\nWithout the details of {len(order) - many} tables: `qidsql report last --only TABLE`\n"
            break
        yield details
    yield f"\n<sub>{_foot(document)}</sub>\n"


def escaped(value: object) -> str:
    """Any text, escaped so that Markdown shows it as it is: without markup, links or mentions."""
    line = " ".join(without_controls(str(value)).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    line = re.sub(r"([\\`*_{}\[\]()#|~!$])", r"\\\1", line)  # no line begins with +, - or 1.
    return re.sub(r"(?i)\b(https?|ftp|mailto|www)([:.])", r"\1&#8203;\2", line)


def _verdict(verdict: Verdict, waived: str) -> str:
    return f"⚠️ {waived}" if waived else SIGNS[verdict]


def _row(document: RunResult, table: TableRun) -> str:
    audit = table.audit
    profile = audit.profile if audit else None
    smallest, below = "", ""
    if audit and profile:
        smallest = f"{number(profile.smallest)} (required: {audit.account.policy.k})"
        below = share_of(profile.rows_below_k, profile.rows)
    findings = str(len(table.open_findings) or "")
    if document.baseline:
        states = [finding.state for finding in table.findings]
        counted = [f"{states.count(state)} {state}" for state in COUNTED if state in states]
        findings += f" ({', '.join(counted)})" if counted else ""
    verdict = _verdict(table.verdict, table.waived)
    figures = f"{smallest} | {below}"
    if document.min_count:
        figures = number(audit.account.policy.k) if audit else ""
    return f"| {escaped(table.table)} | {verdict} | {figures} | {findings} |"


def _coverage(document: RunResult) -> list[str]:
    """The gaps of the coverage, violations first."""
    found = document.coverage.by_severity if document.coverage else []
    if not found:
        return []
    lines = [
        f"- {'❌' if gap.severity is Severity.VIOLATION else '⚠️'} {escaped(gap.text)}"
        for gap in found[:FINDINGS_OF_A_TABLE]
    ]
    more = len(found) - FINDINGS_OF_A_TABLE
    return [
        "",
        "Not covered, not confirmed, or changed:",
        "",
        *lines,
        *([f"- ... and {more} more"] if more > 0 else []),
    ]


def _details(document: RunResult, table: TableRun, alone: bool) -> list[str]:
    lines = [] if alone and not table.error else ["", escaped(table.sentence)]
    if table.policy_changed:
        lines.append(f"- policy changed ({escaped(', '.join(table.policy_changed))}): findings are not compared")
    few = len(table.open_findings) <= FINDINGS_OF_A_TABLE
    lines += [] if few else [f"- {escaped(text)}" for text in told(table.open_findings, FINDINGS_OF_A_TABLE)]
    for finding in table.open_findings if few else ():
        changed = document.baseline and finding.state not in (FindingState.UNCHANGED, FindingState.POLICY_CHANGED)
        state = f"**{finding.state}** " if changed else ""
        was = f" (was: {escaped(_measures(finding.was))})" if changed and finding.was not in (None, Measures()) else ""
        lines.append(f"- {state}{escaped(finding.text)}{was}")
    if audit := table.audit:
        lines += [f"- {escaped(audit.said_first)}"] if audit.said_first else []
        for each in audit.remedies if audit.helpful else ():
            lines.append(f"- {each.way} {escaped(each.what)}: {_outcome(each, audit)}")
        lines += [f"- not finished: {escaped(left)}" for left in audit.account.unfinished]
    if not lines:
        return []
    return ["", f"<details><summary>{escaped(table.table)}</summary>", "", *lines, "", "</details>"]


def _outcome(option: Remedy, audit: AuditResult) -> str:
    """The result of a remedy; without figures if counts are hidden."""
    profile = option.profile
    if profile.smallest is None:
        return "the policy is met" if option.passes else f"still {escaped(option.still)}"
    below = share_of(profile.rows_below_k, profile.rows)
    kept = percent(option.kept)
    return f"smallest class {number(profile.smallest)}, {below} of the {unit_of(audit)} below k, keeps {kept}"


def _measures(measures: Measures | None) -> str:
    return f"smallest class {number(measures.smallest)}, {number(measures.rows_below_k)} below k" if measures else ""


def _foot(document: RunResult) -> str:
    run = f"run {escaped(document.run)}, " if document.run else ""
    baseline = document.baseline
    against = f", compared with run {escaped(baseline.run)} of {moment(baseline.started)}" if baseline else ""
    took = f"{plural(document.statements, 'statement')}, {duration(document.seconds)}"
    if document.min_count:
        against += f"; counts are hidden (--min-count {number(document.min_count)})"
    return f"{run}{moment(document.started)}, {took}{against}; qidsql {escaped(document.qidsql)}. No cell values."
