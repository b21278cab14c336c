"""SARIF 2.1.0 for code scanning: one result per finding, at the line of its table in qidsql.toml.

Rules have no `helpUri`, which would have to be a public address: their `help` contains the page of the manual.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from qidsql.core.results import Verdict
from qidsql.formats.json import STEP, filled
from qidsql.formats.run_summary import COVERAGE, DISCLOSURE, HELP, TITLES, UNCOVERED
from qidsql.operations.coverage import Gap, Severity
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import CAUSES, FindingKind, FindingState, TableRun
from qidsql.wording.manual import section

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
STATES = {
    FindingState.NEW: "new",
    FindingState.WORSE: "updated",
    FindingState.BETTER: "updated",
    FindingState.GONE: "absent",
    FindingState.POLICY_CHANGED: "updated",
}  # any other: unchanged
MOST_RESULTS = 5_000  # results: GitHub shows no more of a file, and takes no file with five times as many
SEVERITIES = {"error": "8.0", "warning": "5.0", "note": "2.0"}  # GitHub: high from 7, medium from 4, low below
MANUAL: dict[str, tuple[str, str]] = {
    FindingKind.DIRECT_IDENTIFIER: ("audit", "The columns"),
    Verdict.ERROR: ("reports", "Exit codes"),
    Verdict.INCONCLUSIVE: ("reports", "Exit codes"),
    Verdict.VIOLATION: ("reports", "Exit codes"),
    COVERAGE: ("policy", "Coverage"),
    **dict.fromkeys(DISCLOSURE, ("limits", "")),
}  # the section on a kind of results; any other kind: the figures of an audit
NO_VERDICT = {
    Verdict.ERROR: ("The audit failed", "There is no verdict on the table; the message says why."),
    Verdict.INCONCLUSIVE: (
        "The audit is inconclusive",
        "It ended before a verdict; it must not be read as a pass.",
    ),
    Verdict.VIOLATION: (
        "The policy may ask for less",
        "The settings differ from those of the last audit of the table.",
    ),
}


def written(document: RunResult) -> Iterator[str]:
    """The document as SARIF, in parts: one run, with the kinds of findings as rules and one line per result."""
    rules = {str(kind): (TITLES[kind], HELP[kind]) for kind in TITLES}
    rules |= {str(verdict): words for verdict, words in NO_VERDICT.items()} | {COVERAGE: UNCOVERED}
    run = {
        "tool": {
            "driver": {
                "name": "qidsql",
                "version": document.qidsql,
                "semanticVersion": document.qidsql,
                "rules": [_rule(kind, title, help) for kind, (title, help) in rules.items()],
            }
        },
        "invocations": [_invocation(document)],
        "columnKind": "unicodeCodePoints",
        "results": [],
    }
    frame = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"
    results = (
        result
        for causes in (False, True)  # why a table fails comes last: of so many results not all are taken
        for table in document.tables
        for result in _results(document, table, list(rules))
        if (result["ruleId"] in CAUSES) is causes
    )
    uncovered = (_uncovered(document, gap, list(rules)) for gap in document.gaps)
    yield from filled(
        frame,
        (json.dumps(each, ensure_ascii=False) for each in islice(chain(uncovered, results), MOST_RESULTS)),
        STEP * 4,
    )


def _rule(kind: str, title: str, help: str) -> dict[str, Any]:
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": help},
        "help": {"text": help, "markdown": f"{help}\n\n{_manual(kind)}"},
        "defaultConfiguration": {"level": level(kind)},
        "properties": {"tags": ["privacy", "security"], "security-severity": SEVERITIES[level(kind)]},
    }


def _manual(kind: str) -> str:
    """What the manual says about this kind of results."""
    page, heading = MANUAL.get(kind, ("audit", "The figures"))
    return section(page, heading)


def level(kind: str) -> str:
    """The level: error for what the policy forbids, warning or note for its causes, by verdict if there is none."""
    if kind == FindingKind.KEY:
        return "note"
    return "warning" if kind in CAUSES or kind == Verdict.INCONCLUSIVE else "error"


def _invocation(document: RunResult) -> dict[str, Any]:
    notices = [
        {
            "level": "note" if table.unchanged else "error" if table.verdict is Verdict.ERROR else "warning",
            "message": {"text": f"{table.place}: {table.sentence}"},
        }
        for table in document.tables
        if table.verdict in BROKEN or table.unchanged
    ]
    for source in document.coverage.sources if document.coverage else ():
        if source.error:
            notices.append({"level": "error", "message": {"text": f"{source.source}: {source.error}"}})
    number = len(document.gaps) + sum(len(each.findings) + (each.verdict in BROKEN) for each in document.tables)
    if number > MOST_RESULTS:
        left_out = f"{MOST_RESULTS:,} of {number:,} results are listed, causes last; --format json lists all findings"
        notices.append({"level": "note", "message": {"text": left_out}})
    found: dict[str, Any] = {
        "executionSuccessful": not any(notice["level"] == "error" for notice in notices),
        "startTimeUtc": _utc(document.started),
        "endTimeUtc": _utc(document.finished),
    }
    return {**found, "toolExecutionNotifications": notices} if notices else found


def _utc(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _results(document: RunResult, table: TableRun, rules: list[str]) -> list[dict[str, Any]]:
    results = []
    if table.verdict in BROKEN or (table.audit is None and table.verdict is Verdict.VIOLATION):
        results.append(_result(document, table, rules, table.verdict, table.sentence, ()))
    for finding in table.findings:
        result = _result(document, table, rules, finding.kind, finding.text, finding.columns)
        if finding.state is FindingState.EXCEPTED and finding.exception:
            exception = finding.exception
            until = f" (until {exception.expires})" if exception.expires else ""
            result["suppressions"] = [{"kind": "external", "justification": f"{exception.reason}{until}"}]
        if document.baseline:
            result["baselineState"] = STATES.get(finding.state, "unchanged")
        results.append(result)
    return results


def _result(
    document: RunResult, table: TableRun, rules: list[str], kind: str, text: str, columns: Sequence[str]
) -> dict[str, Any]:
    same = json.dumps([table.source, table.table, kind, *sorted(columns)])
    return {
        "ruleId": kind,
        "ruleIndex": rules.index(kind),
        "level": level(kind),
        "message": {"text": f"{table.table}: {text}"},
        "locations": [_location(document, table)],
        "partialFingerprints": {"finding/v1": hashlib.sha256(same.encode()).hexdigest()},
    }


def _uncovered(document: RunResult, gap: Gap, rules: list[str]) -> dict[str, Any]:
    """The result for a gap of the coverage, at the first line of the policy file."""
    artifact = {"artifactLocation": {"uri": _uri(str(document.file))}, "region": {"startLine": 1}}
    result = {
        "ruleId": COVERAGE,
        "ruleIndex": rules.index(COVERAGE),
        "level": "error" if gap.severity is Severity.VIOLATION else "warning",
        "message": {"text": gap.text},
        "locations": [
            {
                "physicalLocation": artifact,
                "logicalLocations": [
                    {
                        "name": gap.column or gap.table,
                        "fullyQualifiedName": gap.id,
                        "kind": "table" if gap.column is None else "column",
                    }
                ],
            }
        ],
        "partialFingerprints": {"finding/v1": hashlib.sha256(gap.id.encode()).hexdigest()},
    }
    return {**result, "baselineState": gap.state} if document.baseline else result


def _location(document: RunResult, table: TableRun) -> dict[str, Any]:
    """The line of the table in the policy file; the source if there is none."""
    uri = _uri(table.source_label if document.file is None else document.file)
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if document.file is not None:
        location["region"] = {"startLine": table.line or 1}
    name = f"{table.source}/{table.table}"
    return {
        "physicalLocation": location,
        "logicalLocations": [{"name": table.table, "fullyQualifiedName": name, "kind": "table"}],
    }


def _uri(path: str) -> str:
    return quote(PurePath(path).as_posix(), safe="/")
