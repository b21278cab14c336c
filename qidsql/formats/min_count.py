"""A run document without counts of rows: what may be passed on where cells of fewer than m persons may not.

CMS's cell size suppression policy asks for m = 11, and that nothing else reveals a smaller cell: no rest of a total, no
percentage. Reports of a table that changes make this hard. Whoever knows that one row was added, and sees a rounded
count step from "1 to 10" to "11 to 21", knows both counts, wherever the steps begin and however wide they are. And
where figures are hidden only while one of them is small, the day on which they appear tells what the small one was.

The rule, for every table alike, whatever its figures are:

- Words stay: verdicts, the policy and what it covers, the lists of column sets and what would meet the policy.
- One number stays: how many rows the table has (entities where the policy counts these), exact from 2 m on; below that
  it is told as 1 to 2 m - 1, and 0 as 0.
- All other figures that depend on the rows are left out, large ones too: sizes and numbers of classes, rows below k,
  rows with a NULL, ratios. Sentences are written without them, column sets are listed in the order of their names, and
  a finding is new, gone or there: "worse" and "better" would count.

What is promised: a report is a function of its words and of that number, so that tables which agree in these have the
same report. Any series of reports of a changing table, together with whatever the reader knows about the rows that came
and went, therefore tells no more about its classes than its words do.

What the words tell: verdicts and lists are exact. Whoever knows that one row was added and sees a pass become a
violation knows that one row is below k; with k = m, as CMS would have it, a violation that became a pass was a class of
m - 1. With k below m, a pass at k says less than CMS asks for. The number of rows is not protected against someone who
counts what comes and goes: differences of totals are told, as is how many rows a view has that its table has not.
tests/report/test_min_count.py and the trials play the attacker, who tries every pair of tables that there is.
"""

from collections.abc import Mapping
from typing import Any

from qidsql.core.wording import plural, some
from qidsql.formats.document_words import TITLES, unit_of, violating
from qidsql.operations.document import CODES, worst
from qidsql.operations.packed_tables import Packed

Document = Mapping[str, Any]
RECOGNISED = "recognised as a direct identifier: at least 95 % of the values belong to one row each"
IMPOSSIBLE = "none: not even all audited columns together are one"
HIDDEN = (
    *("classes", "smallest", "largest", "classes_at_risk", "rows_at_risk", "unique_rows", "colliding_pairs"),
    *("distinct_ratio", "separation_ratio", "share_at_risk"),
)
KEPT = (
    *("format", "qidsql", "kind", "run", "started", "finished", "seconds", "config", "verdict"),
    *("only", "complete", "interrupted", "fail_on", "baseline", "statements", "coverage"),
)
KEPT_OF_A_TABLE = ("source", "source_label", "table", "line", "owner", "verdict", "error", "resumed", "policy_changed")
KEPT_OF_AN_AUDIT = (
    *("format", "qidsql", "verdict", "source", "engine", "table", "kind", "snapshot", "started", "seconds", "policy"),
    *("statements", "scans", "sets_profiled", "notes", "unfinished", "searches", "complete", "least_withheld"),
    "assumptions",
)
KEPT_OF_A_COLUMN = ("name", "type", "role", "audited", "recognised")
STATES = {"worse": "unchanged", "better": "unchanged"}  # how much a finding changed is left out


def without_small_counts(document: Document, least: int) -> dict[str, Any]:
    """The document without counts of rows, for a least count of `least`; see above for the rule.

    What is left out is None, a small total {"at_least": 1, "at_most": 2 * least - 1}.
    """
    tables: list[dict[str, Any]] | Packed = Packed() if isinstance(document["tables"], Packed) else []
    verdicts, known_apart = [], []
    for table in document["tables"]:
        told = _table(table, least)
        verdicts.append(told["verdict"])
        known_apart.append("pass" if _is_known(told) else told["verdict"])
        tables.append(told)
    counted = [f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)]
    reason = tables[0]["reason"] if len(tables) == 1 else f"{plural(len(tables), 'table')}: {', '.join(counted)}"
    covered = document["coverage"]
    if covered:
        reason += f"; {covered['text']}"
        fresh = any(gap["state"] == "new" for gap in violating(document))
        known_apart.append("pass" if covered["verdict"] == "violation" and not fresh else covered["verdict"])
    lenient = document["fail_on"] == "new" and verdicts
    return {
        **{key: value for key, value in document.items() if key in KEPT},
        "reason": reason,
        "exit_code": CODES[worst(known_apart)] if lenient else document["exit_code"],
        "notes": [note for note in document["notes"] if not any(sign.isdigit() for sign in note)],
        "min_count": least,
        "tables": tables,
    }


def total(rows: int | None, least: int) -> int | dict[str, int] | None:
    """The number of rows of a table: from twice the least count on exact, so that no step to it reveals a small one."""
    if rows is None or rows == 0 or rows >= 2 * least:
        return rows
    return {"at_least": 1, "at_most": 2 * least - 1}


def _is_known(table: Document) -> bool:
    """Whether it is a violation whose findings were there before, as `findings.run.known_apart` has it."""
    fresh = any(finding["state"] in ("new", "policy changed") for finding in table["findings"])
    return bool(table["verdict"] == "violation" and table["findings"] and not fresh)


def _table(table: Document, least: int) -> dict[str, Any]:
    audit = table["audit"]
    return {
        **{key: value for key, value in table.items() if key in KEPT_OF_A_TABLE},
        "reason": table["reason"] if audit is None else _reason(table["verdict"], audit),
        "audit": audit and _audit(audit, least),
        "findings": [_finding(finding) for finding in table["findings"]],
        "trend": [_point(point, audit, least) for point in table["trend"]],
    }


def _audit(audit: Document, least: int) -> dict[str, Any]:
    entity = audit["policy"]["entity"] is not None
    told = {
        **{key: value for key, value in audit.items() if key in KEPT_OF_AN_AUDIT},
        "reason": _reason(audit["verdict"], audit),
        "rows": None if entity else total(audit["rows"], least),
        "entities": total(audit["entities"], least) if entity else None,
    }
    whole = {"entities": told["entities"]} if entity else {"rows": told["rows"]}

    def hidden(profile: Document | None) -> dict[str, Any] | None:
        return None if profile is None else {**whole, "k": profile["k"], **dict.fromkeys(HIDDEN)}

    def column_set(found: Document, *words: str) -> dict[str, Any]:
        return {**{key: found[key] for key in ("columns", *words)}, **(hidden(found) or {})}

    sets = [column_set(found, "criterion") for found in audit["column_sets"]]
    return {
        **told,
        "columns": [
            {
                **{key: column[key] for key in KEPT_OF_A_COLUMN},
                "reason": RECOGNISED if column["recognised"] else column["reason"],
                "nulls": None,
                **{key: hidden(column[key]) for key in ("profile", "without")},
            }
            for column in audit["columns"]
        ],
        "profile": hidden(audit["profile"]),
        "class_sizes": [],
        "column_sets": sorted(sets, key=lambda found: (found["criterion"], len(found["columns"]), found["columns"])),
        "searches": [
            {**search, "impossible": IMPOSSIBLE if search["impossible"] else ""} for search in audit["searches"]
        ],
        "withheld": [column_set(option, "passes", "still") for option in audit["withheld"]],
    }


def _finding(finding: Document) -> dict[str, Any]:
    columns = "all audited columns" if finding["kind"] == "k-anonymity" else " + ".join(finding["columns"])
    return {
        **{key: finding[key] for key in ("id", "kind", "columns", "exception")},
        "state": STATES.get(finding["state"], finding["state"]),
        "measures": {},
        "was": None,
        "text": f"{columns}: {TITLES[finding['kind']].lower()}",
    }


def _point(point: Document, audit: Document | None, least: int) -> dict[str, Any]:
    """A table in an earlier run; how many entities there were then is not recorded."""
    entity = audit is not None and audit["policy"]["entity"] is not None
    words = {key: point[key] for key in ("run", "started", "verdict", "question") if key in point}
    return {**words, "rows": None if entity else total(point["rows"], least), "k": None, "share_at_risk": None}


def _reason(verdict: str, audit: Document) -> str:
    """Why the table has its verdict, in words."""
    name, policy = audit["table"], audit["policy"]
    columns = plural(sum(column["audited"] for column in audit["columns"]), "column")
    recognised = [column["name"] for column in audit["columns"] if column["recognised"]]
    unreadable = [column["name"] for column in audit["columns"] if column["role"] == "unreadable"]
    if verdict == "pass" and audit["verdict"] != "pass":
        return f"{name} passes by exceptions: what violates its policy is accepted"
    if verdict == "pass":
        return (
            f"{name} meets the policy: each class on the {columns} audited has at least {policy['k']} {unit_of(audit)}"
        )
    if verdict == "inconclusive":
        if audit["rows"] == 0 or not audit["profile"]:
            return str(audit["reason"])  # empty, or not examined to the end: no figure is in it
        left = "; ".join(audit["unfinished"]) or f"{some(unreadable)} could not be read"
        return f"{name} was not examined to the end: {left}"
    if not audit["profile"] and not recognised:
        return str(audit["reason"])  # one column alone is below k
    if audit["profile"] and audit["profile"]["smallest"] < policy["k"]:
        return f"{name} is not {policy['k']}-anonymous on the {columns} audited"
    if recognised:
        return f"{name} holds {plural(len(recognised), 'direct identifier')} that nobody declared: {some(recognised)}"
    return f"{name} holds column sets that the policy forbids, by its ratios"
