"""A table of a run as it is written: no column set twice. What reads it gets all of it back, also from format 1.

A finding that is a column set of the table's audit is written with its place there, `column_set`, instead of measures;
what it `was` then holds those measures alone that are other than now. Everybody else sees whole findings.
"""

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]

FORMAT = 2  # of documents of audits and runs: 1 had the column sets in each search and in each finding once more
MEASURED = ("entities", "rows", "rows_at_risk", "share_at_risk", "unique_rows", "distinct_ratio", "separation_ratio")


def measures(profile: Document) -> dict[str, Any]:
    """What a finding tells of its columns, from their class profile: counts, exact, and ratios for display."""
    return {"k": profile["smallest"], **{name: profile[name] for name in MEASURED if name in profile}}


def referring(table: Document) -> dict[str, Any]:
    """The table as it is written, its findings with the places of their column sets where these tell the same."""
    sets = _sets(table)
    places = {tuple(found["columns"]): place for place, found in reversed(list(enumerate(sets)))}
    return {**table, "findings": [_referring(each, sets, places) for each in table["findings"]]}


def resolved(table: Document) -> dict[str, Any]:
    """The table with whole findings, from what `referring` made of it, or from format 1."""
    audit, sets = table["audit"], _sets(table)
    if audit and audit["format"] == 1:
        searches = [{key: told for key, told in each.items() if key != "column_sets"} for each in audit["searches"]]
        audit = {**audit, "format": FORMAT, "searches": searches}
    findings = [_resolved(each, sets) for each in table["findings"]]
    changed = table.get("policy_changed", [])  # a table of an older qidsql has none
    return {**table, "audit": audit, "findings": findings, "policy_changed": changed}


def _sets(table: Document) -> list[Document]:
    return table["audit"]["column_sets"] if table["audit"] else []


def _referring(finding: Document, sets: list[Document], places: Mapping[tuple[str, ...], int]) -> Document:
    now, was = finding["measures"], finding["was"]
    place = places.get(tuple(finding["columns"]))
    if place is None or now != measures(sets[place]) or (was is not None and set(was) != set(now)):
        return finding
    changed = None if was is None else {name: told for name, told in was.items() if told != now[name]}
    return _with(finding, "measures", ("column_set", place), changed)


def _resolved(finding: Document, sets: list[Document]) -> Document:
    if "column_set" not in finding:
        return finding
    now, changed = measures(sets[finding["column_set"]]), finding["was"]
    return _with(finding, "column_set", ("measures", now), None if changed is None else {**now, **changed})


def _with(finding: Document, key: str, given: tuple[str, Any], was: Document | None) -> Document:
    """The finding with another key and value in that key's place."""
    return dict(given if name == key else (name, was if name == "was" else told) for name, told in finding.items())
