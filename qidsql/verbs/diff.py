"""What changed between two recorded runs."""

from typing import Any

from qidsql.findings.changes import compared
from qidsql.findings.run import Document, Finding, State, looked_for


def diff(before: Document, after: Document) -> dict[str, Any]:
    """Both runs' documents held against each other: tables with their verdicts, and the findings that changed."""
    old, new = _places(before), _places(after)
    tables = []
    for key in dict.fromkeys([*old, *new]):
        was = before["tables"][old[key]] if key in old else None
        now = after["tables"][new[key]] if key in new else None
        changed: list[Finding] = []
        if was and now and now["audit"]:
            found = compared(_findings(now), _findings(was), looked_for(now["audit"]))
            changed = [each for each in found if each.state not in (State.UNCHANGED, State.EXCEPTED)]
        tables.append(
            {
                "source": key[0],
                "table": key[1],
                "was": was and was["verdict"],
                "now": now and now["verdict"],
                "findings": [finding.to_dict() for finding in changed],
            }
        )
    return {
        "format": 1,
        "kind": "diff",
        "before": _head(before),
        "after": _head(after),
        "tables": tables,
    }


def _places(document: Document) -> dict[tuple[str, str], int]:
    """Where each table stands: the tables of a long run are unpacked one by one."""
    return {(table["source"], table["table"]): place for place, table in enumerate(document["tables"])}


def _findings(table: Document) -> list[Finding]:
    """A table's findings without those that were gone already."""
    found = [Finding.from_dict(each) for each in table["findings"]]
    return [finding for finding in found if finding.state is not State.GONE]


def _head(document: Document) -> dict[str, Any]:
    return {name: document[name] for name in ("run", "started", "verdict")}
