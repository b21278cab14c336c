"""Annotations for GitHub Actions: one line a table, shown beside the line of qidsql.toml."""

from collections.abc import Mapping
from typing import Any

from qidsql.formats.document_words import file_of, gaps, open_findings, place, sentence

LEVELS = {"pass": "notice", "violation": "error", "error": "error", "inconclusive": "warning"}
FINDINGS = 5  # named in one annotation


def render(document: Mapping[str, Any]) -> str:
    """Workflow commands (`::error file=...,line=...::...`), a line a table, and one for the coverage where it is not
    whole. GitHub shows ten of a level."""
    return _coverage(document) + "".join(_line(document, table) for table in document["tables"])


def _coverage(document: Mapping[str, Any]) -> str:
    found = gaps(document)
    if not found and (not document["coverage"] or document["coverage"]["verdict"] == "pass"):
        return ""
    level = LEVELS[document["coverage"]["verdict"]].replace("notice", "warning")
    graver = sorted(found, key=lambda gap: (gap["severity"] != "violation", gap["state"] != "new"))
    message = [document["coverage"]["text"], *(gap["text"] for gap in graver)]
    return _command(level, {**_place(document, 1), "title": "qidsql: coverage"}, message)


def _line(document: Mapping[str, Any], table: Mapping[str, Any]) -> str:
    properties = {**_place(document, table["line"]), "title": f"qidsql {table['verdict']}: {place(table)}"}
    message = [sentence(table)]
    findings = [finding for finding in open_findings(table) if finding["kind"] != "k-anonymity"]
    state = {"new": "new: ", "worse": "worse: "} if document["baseline"] else {}
    message += [state.get(finding["state"], "") + finding["text"] for finding in findings]
    return _command(LEVELS[table["verdict"]], properties, message)


def _place(document: Mapping[str, Any], line: int | None) -> dict[str, str]:
    """A line of the policy file; nothing where there is none."""
    file = file_of(document)
    return {} if file is None else {"file": file, "line": str(line or 1)}


def _command(level: str, properties: Mapping[str, str], message: list[str]) -> str:
    """One annotation: a sentence, and the first lines behind it."""
    if len(message) > 1 + FINDINGS:
        message = [*message[: 1 + FINDINGS], f"... and {len(message) - 1 - FINDINGS} more"]
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {given}::{_data(chr(10).join(message))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
