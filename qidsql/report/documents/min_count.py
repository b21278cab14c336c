"""A run document without small counts: what may be passed on where cells of fewer than 11 persons may not.

The rule, for a least count m. (CMS's cell size suppression policy asks for 11, and that nothing else tells a smaller
cell: no rest of a total, no percentage.) Where no class of any column set that a table's audit shows has fewer than m
rows, and no other figure of it is small, sums and differences of its figures are not small either: they stay.
Otherwise, for all column sets of that table alike:

- Rows below k, and their share, come in steps of m rows where k = m, else of m (k - 1) rows, so that each step
  leaves m classes and more open. So do rows with a NULL and the sizes of smallest classes, in steps of m: 1 to
  m - 1, m to 2m - 1, ... Only 0 is told as it is. The last step ends with the total and is no shorter than the others,
  so that a total minus what is shown is a step as well.
- Numbers of classes, unique rows, largest classes, colliding pairs and the two ratios are left out: together with the
  total they give small classes away (7 classes of 8 rows: some class has 1). Class sizes are told as below k, and not.
- A table of fewer than m rows keeps its verdict and no count.
- A finding that is worse or better within its steps is told as unchanged.
- Sentences are written anew from what is left, notes of the run that hold a figure go, and column sets stand in the
  order of their steps, then of the alphabet.

The words of the policy stay: a verdict and a list of minimal sets tell on which side of the limits the figures are.
With k = 2, "below k" is a class of one row; with k = m - 1, a pass at fewer than m is m - 1. Choose k = m, as CMS would
have it, and no word tells more than the figures do. Totals stay exact: how much a table has grown between two reports,
and how many rows a table has that a view of it has not, is not hidden. Reports of one run with two different m narrow
each other's steps: one m for all who could compare them. tests/report/test_min_count.py plays the attacker, who tries
every table that there is.
"""

from collections.abc import Mapping
from typing import Any

from qidsql.figures import plural, some
from qidsql.findings.packed import Packed
from qidsql.report.documents.contents import TITLES, unit_of, whole_of
from qidsql.report.documents.figures import bounds, number, share

Document = Mapping[str, Any]
RECOGNISED = "recognised as a direct identifier: at least 95 % of the values belong to one row each"
IMPOSSIBLE = "none: not even all audited columns together are one"
LEFT_OUT = ("classes", "largest", "classes_at_risk", "unique_rows", "colliding_pairs")
RATIOS = ("distinct_ratio", "separation_ratio")


def without_small_counts(document: Document, least: int) -> dict[str, Any]:
    """The document with no count from which one of 1 to `least` - 1 rows could be worked out; see above for the rule.

    A figure that is told as a step is {"at_least": a, "at_most": b}, one that is left out None.
    """
    tables: list[dict[str, Any]] | Packed = Packed() if isinstance(document["tables"], Packed) else []
    verdicts = []
    for table in document["tables"]:
        verdicts.append(table["verdict"])
        tables.append(_table(table, least))
    told = [f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)]
    reason = tables[0]["reason"] if len(tables) == 1 else f"{plural(len(tables), 'table')}: {', '.join(told)}"
    kept = {key: value for key, value in document.items() if key in KEPT}
    return {**kept, "reason": reason, "notes": _free(document["notes"]), "min_count": least, "tables": tables}


KEPT = (
    *("format", "qidsql", "kind", "run", "started", "finished", "seconds", "config", "verdict"),
    *("only", "complete", "interrupted", "fail_on", "exit_code", "baseline", "statements"),
)
KEPT_OF_A_TABLE = ("source", "source_label", "table", "line", "owner", "verdict", "error", "resumed", "policy_changed")
KEPT_OF_AN_AUDIT = (
    *("format", "qidsql", "verdict", "source", "engine", "table", "kind", "snapshot", "started", "seconds", "policy"),
    *("statements", "scans", "sets_profiled", "unfinished", "complete", "least_withheld", "assumptions"),
)


def step(value: int, whole: int, least: int) -> int | dict[str, int]:
    """The step that a number of rows out of `whole` stands in; 0 is told as it is."""
    if value == 0:
        return 0
    last = max(1, (whole - least) // least * least)  # where the last step begins
    low = min(max(1, value // least * least), last)
    high = whole if low == last else max(low, least * (low // least) + least - 1)
    return {"at_least": low, "at_most": high}


def stride(least: int, k: int) -> int:
    """How wide the steps of rows below k are; wider where k cuts through them, so that each holds many classes."""
    return least if k == least else least * (k - 1)


def _table(table: Document, least: int) -> dict[str, Any]:
    audit = table["audit"]
    small = audit is not None and _has_small(audit, least)
    kept = {key: value for key, value in table.items() if key in KEPT_OF_A_TABLE}
    findings = [_finding(finding, audit, least, small) for finding in table["findings"]]
    policy = None if audit is None else audit["policy"]
    return {
        **kept,
        "reason": _reason(table, least) if small else table["reason"],
        "audit": _audit(audit, least) if small else audit,
        "findings": findings,
        "trend": [_point(point, policy, least) for point in table["trend"]],
    }


def _profiles(audit: Document) -> list[Document]:
    columns = [each for column in audit["columns"] for each in (column["profile"], column["without"])]
    return [
        each for each in (audit["profile"], *columns, *audit["column_sets"], *audit["withheld"]) if each is not None
    ]


def _has_small(audit: Document, least: int) -> bool:
    """Whether any figure of the audit is a small count, or the rest of one."""
    rows = audit["rows"]
    counts = [column["nulls"] for column in audit["columns"] if column["nulls"]]
    rests = [rows - nulls for nulls in counts]
    if audit["entities"] is not None and rows is not None:
        rests.append(rows - audit["entities"])
    smallest = [profile["smallest"] for profile in _profiles(audit)]
    at_risk = [profile["rows_at_risk"] for profile in _profiles(audit)]
    at_risk += [whole_of(profile) - profile["rows_at_risk"] for profile in _profiles(audit)]
    return any(0 < count < least for count in (*smallest, *at_risk, *counts, *rests, rows or 0))


def _profile(profile: Document | None, least: int) -> dict[str, Any] | None:
    if profile is None:
        return None
    whole = whole_of(profile)
    unit = "entities" if "entities" in profile else "rows"
    hidden = dict.fromkeys((*LEFT_OUT, *RATIOS))
    if 0 < whole < least:
        some_rows = {"at_least": 1, "at_most": least - 1}
        return {
            unit: some_rows,
            "smallest": None,
            "k": profile["k"],
            "rows_at_risk": None,
            "share_at_risk": None,
            **hidden,
        }
    at_risk = step(profile["rows_at_risk"], whole, stride(least, profile["k"]))
    return {
        unit: whole,
        "smallest": step(profile["smallest"], whole, least),
        "k": profile["k"],
        "rows_at_risk": at_risk,
        "share_at_risk": _share(at_risk, whole),
        **hidden,
    }


def _share(part: int | dict[str, int], whole: int) -> float | dict[str, float]:
    if isinstance(part, int):
        return part / whole if whole else 0.0
    return {"at_least": part["at_least"] / whole, "at_most": part["at_most"] / whole}


def _audit(audit: Document, least: int) -> dict[str, Any]:
    rows, profile = audit["rows"], _profile(audit["profile"], least)
    tiny = rows is not None and 0 < rows < least
    entities = audit["entities"]
    shown_rows: Any = rows
    if entities is not None and rows is not None and 0 < rows - entities < least:
        shown_rows = {"at_least": entities, "at_most": entities + least - 1}
    few = {"at_least": 1, "at_most": least - 1}
    return {
        **{key: value for key, value in audit.items() if key in KEPT_OF_AN_AUDIT},
        "reason": _reason({**audit, "audit": audit, "error": None}, least),
        "rows": few if tiny else shown_rows,
        "entities": few if entities is not None and 0 < entities < least else entities,
        "notes": audit["notes"],  # from the catalog alone
        "columns": [_column(column, rows, least) for column in audit["columns"]],
        "profile": profile,
        "class_sizes": _class_sizes(profile, audit["policy"]["k"]) if audit["class_sizes"] else [],
        "column_sets": _sets(audit["column_sets"], least),
        "searches": [
            {**search, "impossible": IMPOSSIBLE if search["impossible"] else ""} for search in audit["searches"]
        ],
        "withheld": [
            {"columns": option["columns"], "passes": option["passes"], "still": option["still"], **_set(option, least)}
            for option in audit["withheld"]
        ],
    }


def _column(column: Document, rows: int | None, least: int) -> dict[str, Any]:
    nulls = column["nulls"]
    return {
        **{key: column[key] for key in ("name", "type", "role", "audited", "recognised")},
        "reason": RECOGNISED if column["recognised"] else column["reason"],
        "nulls": None if nulls is None or rows is None or rows < least else step(nulls, rows, least),
        "profile": _profile(column["profile"], least),
        "without": _profile(column["without"], least),
    }


def _set(found: Document, least: int) -> dict[str, Any]:
    return _profile(found, least) or {}


def _sets(sets: list[Document], least: int) -> list[dict[str, Any]]:
    """The column sets in an order that tells nothing more than their steps do."""
    told = [{**{key: found[key] for key in ("criterion", "columns")}, **_set(found, least)} for found in sets]
    return sorted(
        told,
        key=lambda found: (
            found["criterion"],
            len(found["columns"]),
            -(bounds(found["rows_at_risk"]) or (0, 0))[0],
            found["columns"],
        ),
    )


def _class_sizes(profile: Document | None, k: int) -> list[dict[str, Any]]:
    """Below k, and not: what the step of the rows at risk says already."""
    ends = bounds(profile["rows_at_risk"]) if profile else None
    if profile is None or ends is None:
        return []
    whole = whole_of(profile)
    rest = {"at_least": whole - ends[1], "at_most": whole - ends[0]}
    bins = [
        {"low": 1, "high": k - 1, "classes": None, "rows": profile["rows_at_risk"]},
        {"low": k, "high": None, "classes": None, "rows": rest if ends[0] < ends[1] else rest["at_least"]},
    ]
    return [each for each in bins if each["rows"] != 0]


def _finding(finding: Document, audit: Document | None, least: int, small: bool) -> dict[str, Any]:
    kept = {key: finding[key] for key in ("id", "kind", "columns", "state", "exception")}
    policy = None if audit is None else audit["policy"]
    was = None if finding["was"] is None else _measures(finding["was"], policy, least)
    if not small or audit is None:
        return {**kept, "measures": finding["measures"], "was": was, "text": finding["text"]}
    measures = _measures(finding["measures"], policy, least)
    if finding["state"] in ("worse", "better") and was is not None and _steps(measures) == _steps(was):
        kept["state"] = "unchanged"  # night by night, each step down would be counted
    columns = "all audited columns" if finding["kind"] == "k-anonymity" else " + ".join(finding["columns"])
    text = f"{columns}: {TITLES[finding['kind']].lower()}"
    if measures.get("rows_at_risk") is not None and finding["kind"] != "direct-identifier":
        text += f"; {number(measures['rows_at_risk'])} {unit_of(audit)} below k = {audit['policy']['k']}"
    return {**kept, "measures": measures, "was": was, "text": text}


def _steps(measures: Document) -> tuple[Any, Any]:
    return measures["k"], measures["rows_at_risk"]


def _measures(measures: Document, policy: Document | None, least: int) -> dict[str, Any]:
    whole = whole_of(measures)
    hidden = {name: None for name in ("unique_rows", *RATIOS) if name in measures}
    unit = {name: measures[name] for name in ("rows", "entities") if name in measures}
    if policy is None or whole is None or 0 < whole < least or measures.get("rows_at_risk") is None:
        return {**dict.fromkeys((*unit, "k", "rows_at_risk", "share_at_risk")), **hidden}
    at_risk = step(measures["rows_at_risk"], whole, stride(least, policy["k"]))
    smallest = step(measures["k"], whole, least)
    return {**unit, "k": smallest, "rows_at_risk": at_risk, "share_at_risk": _share(at_risk, whole), **hidden}


def _point(point: Document, policy: Document | None, least: int) -> dict[str, Any]:
    """A table in an earlier run; with an entity its share cannot be told, since how many there were is not known."""
    rows, k, told = point["rows"], None, None
    if rows is not None and 0 < rows < least:
        rows = {"at_least": 1, "at_most": least - 1}
    elif rows and point["k"] is not None:
        k = step(point["k"], rows, least)
        if policy is not None and policy["entity"] is None and point["share_at_risk"] is not None:
            at_risk = round(point["share_at_risk"] * rows)
            told = _share(step(at_risk, rows, stride(least, policy["k"])), rows)
    kept = {key: point[key] for key in ("run", "started", "verdict", "question") if key in point}
    return {**kept, "rows": rows, "k": k, "share_at_risk": told}


def _reason(table: Document, least: int) -> str:
    """Why the table has its verdict, from what is left of the figures."""
    audit, name = table["audit"], table["table"]
    profile, policy = _profile(audit["profile"], least), audit["policy"]
    columns = plural(sum(column["audited"] for column in audit["columns"]), "column")
    if table["error"] or profile is None:
        return str(table["reason"])  # no figure of the classes is known
    if table["verdict"] == "pass":
        return (
            f"{name} meets the policy: each class on the {columns} audited has at least {policy['k']} {unit_of(audit)}"
        )
    if table["verdict"] == "inconclusive":
        left = "; ".join(audit["unfinished"]) or "columns could not be read"
        return f"{name} was not examined to the end: {left}"
    if audit["profile"]["smallest"] < policy["k"]:
        whole, at_risk = whole_of(profile), profile["rows_at_risk"]
        failed = f"{name} is not {policy['k']}-anonymous on the {columns} audited"
        if at_risk is None:
            return failed
        told = f"{number(at_risk)} of {number(whole)} {unit_of(audit)} ({share(at_risk, whole)})"
        return f"{failed}: {told} stand in smaller classes"
    recognised = [column["name"] for column in audit["columns"] if column["recognised"]]
    if recognised:
        return f"{name} holds {plural(len(recognised), 'direct identifier')} that nobody declared: {some(recognised)}"
    return f"{name} holds column sets that the policy forbids, by its ratios"


def _free(texts: list[str]) -> list[str]:
    return [text for text in texts if not any(sign.isdigit() for sign in text)]
