"""The report for a data protection officer: one page that stands alone, to read, to print and to sign.

No script, no network: styles and charts are in the page, and its content security policy forbids anything else.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from qidsql.cli.coverage_report import RENAMED, may_be_renamed, mending
from qidsql.core.policy import question
from qidsql.core.wording import plural, some
from qidsql.formats import charts
from qidsql.formats import document_figures as figures
from qidsql.formats.document_words import (
    column_sets,
    criterion_of,
    open_findings,
    place,
    sentence,
    unit_of,
    whole_of,
    without_controls,
)
from qidsql.formats.glossary import GLOSSARY
from qidsql.measures.profiles import decimal

VERDICTS = {
    "pass": "Pass",
    "violation": "Policy violated",
    "error": "Audit broke",
    "inconclusive": "Inconclusive",
}
OF_A_RUN = {
    **VERDICTS,
    "error": "Not every table could be audited",
    "inconclusive": "Not every table came to a verdict",
}  # of several tables, where the worst verdict is that of one
SETS = 15  # minimal sets listed of a search


def render(document: Mapping[str, Any]) -> str:
    """The page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qidsql.formats"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=figures.number,
        moment=figures.moment,
        duration=figures.seconds,
        ratio=figures.ratio,
        percentage=figures.percentage,
    )
    environment.globals.update(
        share=_share,
        plural=plural,
        some=some,
        charts=charts,
        column_sets=column_sets,
        whole_of=whole_of,
        glossary=GLOSSARY,
    )
    page = environment.get_template("report.html.j2").render(
        document=document,
        title=_title(document),
        verdicts=VERDICTS,
        of_a_run=OF_A_RUN,
        tables=_Views(document),
        shown_sets=SETS,
        renamed=RENAMED if document["coverage"] and may_be_renamed(document["coverage"]) else "",
        mending=mending(document["coverage"]),
    )
    return without_controls(page)


class _Views:
    """What the page shows of each table, made when it comes to it: not all tables are unpacked at once."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __len__(self) -> int:
        return len(self._document["tables"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for index, table in enumerate(self._document["tables"], 1):
            yield _view(index, self._document, table)


def _title(document: Mapping[str, Any]) -> str:
    tables = document["tables"]
    return str(tables[0]["table"]) if len(tables) == 1 else plural(len(tables), "table")


def _view(index: int, document: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of a table that is not already in the document."""
    audit = table["audit"]
    view: dict[str, Any] = {
        **table,
        "index": index,
        "place": place(table),
        "sentence": sentence(table),
        "excepted": [finding for finding in table["findings"] if finding["state"] == "excepted"],
        "changes": [finding for finding in table["findings"] if finding["state"] in ("new", "worse", "better", "gone")],
        "open": open_findings(table),
        "trend": _trend([*table["trend"], _now(document, table)]) if table["trend"] else [],
        "unit": None,
    }
    if audit:
        view |= {
            "unit": unit_of(audit),
            "audited": [column for column in audit["columns"] if column["audited"]],
            "left_out": _left_out(audit),
            "requirements": _requirements(audit),
            "drivers": _drivers(audit),
        }
    return view


def _now(document: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """This run as the last point of a table's trend."""
    audit = table["audit"] or {}
    profile = audit.get("profile") or {}
    return {
        "run": document["run"],
        "started": document["started"],
        "verdict": table["verdict"],
        "rows": audit.get("rows"),
        "k": profile.get("smallest"),
        "share_at_risk": profile.get("share_at_risk"),
        "question": question(audit["policy"]) if audit else None,
    }


def _trend(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points, each with whether the policy asked another question in the point before it that has one."""
    marked, last = [], None
    for point in points:
        asked = point.get("question")
        marked.append({**point, "policy_changed": None not in (asked, last) and asked != last})
        last = asked or last
    return marked


def _left_out(audit: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(c["name"], c["role"], c["reason"]) for c in audit["columns"] if not c["audited"]]


def _requirements(audit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each threshold of the policy, what was measured, and whether it is met (None: not known)."""
    policy, profile = audit["policy"], audit["profile"]
    rows = [
        {
            "what": "Smallest class (k)",
            "asked": f"at least {figures.number(policy['k'])}",
            "measured": figures.number(profile and profile["smallest"]),
            "met": _none(profile["rows_at_risk"], audit) if profile else None,
        }
    ]
    if policy["rows_at_risk"] is not None:
        part, whole = (profile["rows_at_risk"], whole_of(profile)) if profile else (None, None)
        known = Fraction(part, whole) if whole and isinstance(part, int) else None
        rows.append(
            {
                "what": f"{unit_of(audit).capitalize()} in classes below k",
                "asked": f"less than {decimal(100 * Fraction(policy['rows_at_risk']))} %",
                "measured": figures.share(part, whole),
                "met": _below(known, policy["rows_at_risk"], audit, "rows-at-risk"),
            }
        )
    for name in ("distinct", "separation"):
        if policy[name] is not None:
            rows.append(
                {
                    "what": f"{name.capitalize()} ratio",
                    "asked": f"below {policy[name]}",
                    "measured": figures.ratio(profile and profile[f"{name}_ratio"], 6),
                    "met": _below(_exact(profile, name), policy[name], audit, name),
                }
            )
    recognised = [column["name"] for column in audit["columns"] if column["recognised"]]
    unseen = any(column["audited"] and column["profile"] is None for column in audit["columns"])
    rows.append(
        {
            "what": "Direct identifiers not declared",
            "asked": "none",
            "measured": some(recognised, 3) if recognised else figures.NOTHING if unseen else "none",
            "met": False if recognised else None if unseen else True,
        }
    )
    return rows


def _none(at_risk: int | None, audit: Mapping[str, Any]) -> bool | None:
    """Whether no row is below k; by what the search came to where the figure itself is hidden."""
    return _found_none(audit, "below-k") if at_risk is None else at_risk == 0


def _share(part: Any, whole: Any) -> str:
    return figures.share(part, whole).replace(" %", "\u00a0%")


def _exact(profile: Mapping[str, Any] | None, name: str) -> Fraction | None:
    """The distinct or the separation ratio from its whole numbers."""
    if profile is None or not isinstance(profile.get("rows"), int) or not profile["rows"]:
        return None
    rows, pairs = profile["rows"], profile["rows"] * (profile["rows"] - 1)
    if name == "distinct":
        return None if profile["classes"] is None else Fraction(profile["classes"], rows)
    if profile["colliding_pairs"] is None or not pairs:
        return None
    return 1 - Fraction(profile["colliding_pairs"], pairs)


def _below(value: Fraction | None, limit: str, audit: Mapping[str, Any], kind: str) -> bool | None:
    """Whether a limit is kept; by what the search came to where the figure itself is hidden."""
    return _found_none(audit, kind) if value is None else value < Fraction(limit)


def _found_none(audit: Mapping[str, Any], kind: str) -> bool | None:
    """Whether no column set meets a criterion, by the search for them; where all is well there is none to search."""
    for search in audit["searches"]:
        if search["criterion"] == criterion_of(audit, kind):
            return True if search["impossible"] else False if column_sets(audit, search) else None
    return True if audit["profile"] and not audit["unfinished"] else None


def _drivers(audit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The audited columns, those first that stand in most minimal sets: how many sets, and what is left without it."""
    counted: Counter[str] = Counter()
    for search in audit["searches"]:
        if search["criterion"] == criterion_of(audit, "below-k"):
            for found in column_sets(audit, search):
                counted.update(found["columns"])
    drivers = [
        {
            "name": column["name"],
            "nulls": column["nulls"],
            "sets": counted[column["name"]],
            "alone": column["profile"],
            "without": column["without"],
        }
        for column in audit["columns"]
        if column["audited"]
    ]
    return sorted(drivers, key=lambda driver: (_left(driver["without"]), -driver["sets"]))


def _left(without: Mapping[str, Any] | None) -> float:
    return 2.0 if without is None else figures.part_of(without["rows_at_risk"], whole_of(without))
