"""A document of one audit: what `qidsql audit` found, in the form in which a run of many tables is reported."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qidsql.errors import UsageError
from qidsql.figures import plural, some
from qidsql.report.documents.figures import number, share

KINDS = {  # how the criterion of a search begins, and the kind of its findings
    "column set below k": "below-k",
    "key": "key",
    "column set that puts": "rows-at-risk",
}
MEASURES = ("smallest", "rows_at_risk", "share_at_risk", "classes", "distinct_ratio", "separation_ratio")


def of_audit(audit: Mapping[str, Any]) -> dict[str, Any]:
    """A run document that holds this audit (its `to_dict`) and nothing else: no configuration, no history."""
    return {
        "format": 1,
        "qidsql": audit["qidsql"],
        "kind": "run",
        "run": None,
        "started": audit["started"],
        "finished": None,
        "seconds": audit["seconds"],
        "config": None,
        "verdict": audit["verdict"],
        "reason": audit["reason"],
        "baseline": None,
        "statements": audit["statements"],
        "notes": [],
        "tables": [
            {
                "source": audit["source"],
                "source_label": audit["source"],
                "table": audit["table"],
                "line": None,
                "owner": None,
                "verdict": audit["verdict"],
                "reason": audit["reason"],
                "error": None,
                "resumed": False,
                "audit": dict(audit),
                "findings": findings(audit),
                "trend": [],
            }
        ],
    }


def read(path: Path) -> dict[str, Any]:
    """The run document in a file that `--format json` wrote, of a run or of one audit. Raises UsageError."""
    wanted = "expected what qidsql run or audit wrote with --format json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {wanted}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON; {wanted}") from None
    if not isinstance(document, dict) or document.get("format") != 1:
        raise UsageError(f"{path} is no report of qidsql of format 1; {wanted}")
    try:
        if document.get("kind") == "run" and "tables" in document:
            return document
        if {"verdict", "searches", "columns", "policy"} <= set(document):
            return of_audit(document)
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} lacks keys of an audit's report; {wanted}") from None
    raise UsageError(f"{path} is the report of another command; {wanted}")


def findings(audit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an audit holds against its table, the most serious first."""
    found = []
    profile, k = audit["profile"], audit["policy"]["k"]
    unit = "entities" if audit["policy"]["entity"] else "rows"
    audited = [column["name"] for column in audit["columns"] if column["audited"]]
    if profile and 0 < profile["smallest"] < k:
        text = (
            f"{plural(len(audited), 'column')} together: smallest class {number(profile['smallest'])}, "
            f"{_at_risk(profile, unit)}; the policy asks for classes of at least {k}"
        )
        found.append(_finding("k-anonymity", audited, profile, text))
    for column in audit["columns"]:
        if column["recognised"]:
            found.append(
                _finding(
                    "direct-identifier", [column["name"]], column["profile"], f"{column['name']}: {column['reason']}"
                )
            )
    for search in audit["searches"]:
        kind = kind_of(search["criterion"])
        for column_set in search["column_sets"]:
            text = f"{some(column_set['columns'])}: smallest class {number(column_set['smallest'])}"
            text += f", {_at_risk(column_set, unit)}"
            found.append(_finding(kind, column_set["columns"], column_set, text))
    return found


def kind_of(criterion: str) -> str:
    """The kind of the findings of a search, from the name of its criterion."""
    for beginning, kind in KINDS.items():
        if criterion.startswith(beginning):
            return kind
    return "distinct" if "distinct" in criterion else "separation"


def _at_risk(profile: Mapping[str, Any], unit: str) -> str:
    whole = profile.get("rows", profile.get("entities"))
    part = profile["rows_at_risk"]
    return f"{number(part)} {unit} ({share(part, whole)}) in classes below {profile['k']}"


def _finding(kind: str, columns: list[str], profile: Mapping[str, Any] | None, text: str) -> dict[str, Any]:
    return {
        "id": json.dumps([kind, *columns], ensure_ascii=False),
        "kind": kind,
        "columns": list(columns),
        "measures": {} if profile is None else {name: profile[name] for name in MEASURES},
        "state": "new",
        "was": None,
        "exception": None,
        "text": text,
    }
