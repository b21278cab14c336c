"""SARIF 2.1.0 for code scanning: a result a finding, at the line of qidsql.toml that names its table."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from qidsql.formats.document_words import (
    BROKEN,
    CAUSES,
    COVERAGE,
    HELP,
    TITLES,
    UNCOVERED,
    file_of,
    gaps,
    place,
    sentence,
)
from qidsql.formats.json import STEP, filled

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
STATES = {"new": "new", "worse": "updated", "better": "updated", "unchanged": "unchanged", "gone": "absent"}
STATES |= {"policy changed": "updated"}
UNJUDGED = {
    "error": ("The audit broke", "The table was not judged; the message says why."),
    "inconclusive": ("The audit came out inconclusive", "It ended before a verdict; it is not to be taken for a pass."),
}


def written(document: Mapping[str, Any]) -> Iterator[str]:
    """The document as SARIF, in parts: one run, whose rules are the kinds of findings, a result a line."""
    rules = {kind: (TITLES[kind], HELP[kind]) for kind in TITLES} | UNJUDGED | {COVERAGE: UNCOVERED}
    run = {
        "tool": {
            "driver": {
                "name": "qidsql",
                "version": str(document["qidsql"]),
                "semanticVersion": str(document["qidsql"]),
                "rules": [_rule(kind, title, help) for kind, (title, help) in rules.items()],
            }
        },
        "invocations": [_invocation(document)],
        "columnKind": "unicodeCodePoints",
        "results": [],
    }
    frame = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"
    results = (result for table in document["tables"] for result in _results(document, table, list(rules)))
    uncovered = (_uncovered(document, gap, list(rules)) for gap in gaps(document))
    yield from filled(frame, (json.dumps(each, ensure_ascii=False) for each in chain(results, uncovered)), STEP * 4)


def _rule(kind: str, title: str, help: str) -> dict[str, Any]:
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": help},
        "help": {"text": help},
        "defaultConfiguration": {"level": level(kind)},
        "properties": {"tags": ["privacy"]},
    }


def level(kind: str) -> str:
    """How serious: what the policy forbids, why it is so, or a table without a verdict."""
    if kind == "key":
        return "note"
    return "warning" if kind in CAUSES or kind == "inconclusive" else "error"


def _invocation(document: Mapping[str, Any]) -> dict[str, Any]:
    notices = [
        {
            "level": "error" if table["verdict"] == "error" else "warning",
            "message": {"text": f"{place(table)}: {sentence(table)}"},
        }
        for table in document["tables"]
        if table["verdict"] in BROKEN
    ]
    for source in document["coverage"]["sources"] if document["coverage"] else ():
        if source["error"]:
            notices.append({"level": "error", "message": {"text": f"{source['source']}: {source['error']}"}})
    found: dict[str, Any] = {
        "executionSuccessful": not any(notice["level"] == "error" for notice in notices),
        "startTimeUtc": str(document["started"]).replace("+00:00", "Z"),
    }
    if document["finished"]:
        found["endTimeUtc"] = str(document["finished"]).replace("+00:00", "Z")
    if notices:
        found["toolExecutionNotifications"] = notices
    return found


def _results(document: Mapping[str, Any], table: Mapping[str, Any], rules: list[str]) -> list[dict[str, Any]]:
    results = []
    if table["verdict"] in BROKEN:
        results.append(_result(document, table, rules, table["verdict"], sentence(table), []))
    for finding in table["findings"]:
        result = _result(document, table, rules, finding["kind"], finding["text"], finding["columns"])
        if finding["state"] == "excepted" and finding["exception"]:
            exception = finding["exception"]
            until = f" (until {exception['expires']})" if exception.get("expires") else ""
            result["suppressions"] = [{"kind": "external", "justification": f"{exception['reason']}{until}"}]
        if document["baseline"]:
            result["baselineState"] = STATES.get(finding["state"], "unchanged")
        results.append(result)
    return results


def _result(
    document: Mapping[str, Any], table: Mapping[str, Any], rules: list[str], kind: str, text: str, columns: list[str]
) -> dict[str, Any]:
    same = json.dumps([table["source"], table["table"], kind, *sorted(columns)])
    return {
        "ruleId": kind,
        "ruleIndex": rules.index(kind),
        "level": level(kind),
        "message": {"text": f"{table['table']}: {text}"},
        "locations": [_location(document, table)],
        "partialFingerprints": {"finding/v1": hashlib.sha256(same.encode()).hexdigest()},
    }


def _uncovered(document: Mapping[str, Any], gap: Mapping[str, Any], rules: list[str]) -> dict[str, Any]:
    """A result for what the policy does not cover, at the beginning of the policy file."""
    file = file_of(document)
    artifact: dict[str, Any] = {"artifactLocation": {"uri": quote(PurePath(str(file)).as_posix(), safe="/")}}
    artifact["region"] = {"startLine": 1}
    result = {
        "ruleId": COVERAGE,
        "ruleIndex": rules.index(COVERAGE),
        "level": "error" if gap["severity"] == "violation" else "warning",
        "message": {"text": gap["text"]},
        "locations": [
            {
                "physicalLocation": artifact,
                "logicalLocations": [
                    {
                        "name": str(gap["column"] or gap["table"]),
                        "fullyQualifiedName": gap["id"],
                        "kind": "table" if gap["column"] is None else "column",
                    }
                ],
            }
        ],
        "partialFingerprints": {"finding/v1": hashlib.sha256(gap["id"].encode()).hexdigest()},
    }
    return {**result, "baselineState": gap["state"]} if document["baseline"] else result


def _location(document: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """The line of the table in the configuration file; the source where there is no such file."""
    file = file_of(document)
    artifact = table["source_label"] if file is None else file
    path = PurePath(str(artifact)).as_posix()
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(path, safe="/")}}
    if file is not None:
        location["region"] = {"startLine": table["line"] or 1}
    name = f"{table['source']}/{table['table']}"
    return {
        "physicalLocation": location,
        "logicalLocations": [{"name": str(table["table"]), "fullyQualifiedName": name, "kind": "table"}],
    }
