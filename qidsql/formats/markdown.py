"""Markdown for a comment on a pull request: short, verdict first, details folded."""

import re
from collections.abc import Mapping
from typing import Any

from qidsql.core.wording import plural
from qidsql.formats.document_figures import moment, number, seconds, share
from qidsql.formats.document_words import gaps, open_findings, sentence, unit_of, whole_of, without_controls

SIGNS = {"pass": "✅ pass", "violation": "❌ violation", "error": "⛔ error", "inconclusive": "❔ inconclusive"}
SETS = 10  # findings shown of a table


def render(document: Mapping[str, Any]) -> str:
    """The report as GitHub-flavoured Markdown."""
    tables = document["tables"]
    parts = [f"### {SIGNS[document['verdict']]} · qidsql", "", text(document["reason"])]
    if tables:
        hidden = document.get("min_count")
        parts += ["", f"| Table | Verdict | {'k asked' if hidden else 'Smallest class | Below k'} | Findings |"]
        parts += [f"|---|---|--:|{'' if hidden else '--:|'}---|"]
        parts += [_row(document, table) for table in tables]
    parts += _coverage(document)
    for table in tables:
        parts += _details(document, table)
    parts += ["", "<sub>" + _foot(document) + "</sub>"]
    return "\n".join(parts) + "\n"


def text(value: object) -> str:
    """Any text as Markdown that shows it and does nothing else: no markup, no link, no mention."""
    line = " ".join(without_controls(str(value)).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    line = re.sub(r"([\\`*_{}\[\]()#|~!$])", r"\\\1", line)  # a line begins with none of + - 1.
    return re.sub(r"(?i)\b(https?|ftp|mailto|www)([:.])", r"\1&#8203;\2", line)


def _row(document: Mapping[str, Any], table: Mapping[str, Any]) -> str:
    audit = table["audit"]
    profile = audit and audit["profile"]
    smallest, below = "", ""
    if profile:
        smallest = f"{number(profile['smallest'])} (asked: {audit['policy']['k']})"
        below = share(profile["rows_at_risk"], whole_of(profile))
    found = open_findings(table)
    findings = str(len(found)) if found else ""
    if document["baseline"]:
        states = [finding["state"] for finding in table["findings"]]
        counted = [
            f"{states.count(state)} {state}" for state in ("new", "worse", "gone", "excepted") if state in states
        ]
        findings += f" ({', '.join(counted)})" if counted else ""
    figures = f"{smallest} | {below}"
    if document.get("min_count"):
        figures = number(audit["policy"]["k"]) if audit else ""
    return f"| {text(table['table'])} | {SIGNS[table['verdict']]} | {figures} | {findings} |"


def _coverage(document: Mapping[str, Any]) -> list[str]:
    """What the policy does not cover, the gravest first."""
    found = sorted(gaps(document), key=lambda gap: (gap["severity"] != "violation", gap["state"] != "new"))
    if not found:
        return []
    lines = [f"- {'❌' if gap['severity'] == 'violation' else '⚠️'} {text(gap['text'])}" for gap in found[:SETS]]
    more = len(found) - SETS
    return ["", "Not covered, or not as before:", "", *lines, *([f"- ... and {more} more"] if more > 0 else [])]


def _details(document: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    lines = [] if len(document["tables"]) == 1 and not table["error"] else ["", text(sentence(table))]
    if table["policy_changed"]:
        lines.append(f"- policy changed ({text(', '.join(table['policy_changed']))}): findings are not compared")
    for finding in open_findings(table)[:SETS]:
        changed = document["baseline"] and finding["state"] not in ("unchanged", "policy changed")
        state = f"**{finding['state']}** " if changed else ""
        was = f" (was: {text(_measures(finding['was']))})" if changed and finding["was"] else ""
        lines.append(f"- {state}{text(finding['text'])}{was}")
    more = len(open_findings(table)) - SETS
    if more > 0:
        lines.append(f"- ... and {more} more")
    audit = table["audit"]
    if audit:
        for option in audit["withheld"]:
            lines.append(f"- without {text(', '.join(option['columns']))}: {_outcome(option, audit)}")
        lines += [f"- not finished: {text(left)}" for left in audit["unfinished"]]
    if not lines:
        return []
    return ["", f"<details><summary>{text(table['table'])}</summary>", "", *lines, "", "</details>"]


def _outcome(option: Mapping[str, Any], audit: Mapping[str, Any]) -> str:
    """What would be left without some columns; in words where the figures are hidden."""
    if option["smallest"] is None:
        return "the policy is met" if option["passes"] else f"still {text(option['still'])}"
    at_risk = share(option["rows_at_risk"], whole_of(option))
    return f"smallest class {number(option['smallest'])}, {at_risk} of the {unit_of(audit)} below k"


def _measures(measures: Mapping[str, Any]) -> str:
    return f"k = {number(measures.get('k'))}, {number(measures.get('rows_at_risk'))} below k"


def _foot(document: Mapping[str, Any]) -> str:
    run = f"run {text(document['run'])}, " if document["run"] else ""
    baseline = document["baseline"]
    against = f", compared with run {text(baseline['run'])} of {moment(baseline['started'])}" if baseline else ""
    took = f"{plural(document['statements'], 'statement')}, {seconds(document['seconds'])}"
    if document.get("min_count"):
        against += f"; counts are hidden (--min-count {number(document['min_count'])})"
    return f"{run}{moment(document['started'])}, {took}{against}; qidsql {text(document['qidsql'])}. No cell values."
