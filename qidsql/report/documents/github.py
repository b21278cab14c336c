"""Annotations for GitHub Actions: one line a table, shown beside the line of qidsql.toml."""

from collections.abc import Mapping
from typing import Any

from qidsql.report.documents.contents import file_of, open_findings, place, sentence

LEVELS = {"pass": "notice", "violation": "error", "error": "error", "inconclusive": "warning"}
FINDINGS = 5  # named in one annotation


def render(document: Mapping[str, Any]) -> str:
    """Workflow commands (`::error file=...,line=...::...`), a line a table. GitHub shows ten of a level."""
    return "".join(_line(document, table) for table in document["tables"])


def _line(document: Mapping[str, Any], table: Mapping[str, Any]) -> str:
    properties = {"title": f"qidsql {table['verdict']}: {place(table)}"}
    if (file := file_of(document)) is not None:
        properties = {"file": file, "line": str(table["line"] or 1), **properties}
    message = [sentence(table)]
    findings = [finding for finding in open_findings(table) if finding["kind"] != "k-anonymity"]
    state = {"new": "new: ", "worse": "worse: "} if document["baseline"] else {}
    message += [state.get(finding["state"], "") + finding["text"] for finding in findings[:FINDINGS]]
    if len(findings) > FINDINGS:
        message.append(f"... and {len(findings) - FINDINGS} more")
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{LEVELS[table['verdict']]} {given}::{_data(chr(10).join(message))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
