"""What changed between two recorded runs."""

from typing import Any

from qidsql.core.policy import changed_settings
from qidsql.operations.changes import compared
from qidsql.operations.coverage import gap_ids
from qidsql.operations.document import Document, Finding, State, looked_for


def diff(before: Document, after: Document) -> dict[str, Any]:
    """Two runs compared: tables with their verdicts, and the findings that changed.

    Findings are compared under equal policies only; `policy_changed` lists the settings that differ, in words.
    """
    old, new = _places(before), _places(after)
    tables = []
    for key in dict.fromkeys([*old, *new]):
        was = before["tables"][old[key]] if key in old else None
        now = after["tables"][new[key]] if key in new else None
        changed: list[Finding] = []
        policy_changed: list[str] = []
        if was and now and was["audit"] and now["audit"]:
            policy_changed = changed_settings(was["audit"]["policy"], now["audit"]["policy"])
        if was and now and now["audit"] and not policy_changed:
            found = compared(_findings(now), _findings(was), looked_for(now["audit"]))
            changed = [each for each in found if each.state not in (State.UNCHANGED, State.EXCEPTED)]
        tables.append(
            {
                "source": key[0],
                "table": key[1],
                "was": was and was["verdict"],
                "now": now and now["verdict"],
                "policy_changed": policy_changed,
                "findings": [finding.to_dict() for finding in changed],
            }
        )
    return {
        "format": 1,
        "kind": "diff",
        "before": _head(before),
        "after": _head(after),
        "coverage": _coverage(before["coverage"], after["coverage"]),
        "tables": tables,
    }


def _coverage(before: Document | None, after: Document | None) -> dict[str, Any] | None:
    """What the policy covered in each run, and the gaps that came and went; None where one of them did not look."""
    if before is None or after is None:
        return None
    was, now = gap_ids(before), gap_ids(after)
    return {
        "before": before["text"],
        "after": after["text"],
        "new": [gap for gap in after["gaps"] if gap["id"] not in was],
        "gone": [gap for gap in before["gaps"] if gap["id"] not in now],
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
