"""JUnit XML: a suite a table, a case a requirement of its policy, and a suite for what is covered of each source, so
that a CI server shows what failed.

The XML is valid by Ant's schema and by that of Jenkins. An audit that broke or came out inconclusive is an `error`.
"""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from qidsql.formats.document_words import (
    CAUSES,
    COVERAGE,
    HELP,
    TITLES,
    UNCOVERED,
    open_findings,
    place,
    sentence,
    violating,
    without_controls,
)

FINDINGS = 20  # named in one failure


def render(document: Mapping[str, Any]) -> str:
    """The document as JUnit XML."""
    root = ElementTree.Element("testsuites")
    number = 0
    for number, table in enumerate(document["tables"], start=1):
        _suite(root, number - 1, document, table)
    for each in document["coverage"]["sources"] if document["coverage"] else ():
        _coverage(root, number, document, each)
        number += 1
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, number: int, document: Mapping[str, Any], table: Mapping[str, Any]) -> None:
    audit = table["audit"]
    name = _text(place(table))
    properties = {"qidsql": document["qidsql"], "run": document["run"], "owner": table["owner"]}
    suite = _begun(root, number, name, (audit or document)["started"], audit["seconds"] if audit else 0, properties)
    if table["verdict"] in ("error", "inconclusive"):
        case = ElementTree.SubElement(suite, "testcase", name="audited to a verdict", classname=name, time="0")
        ElementTree.SubElement(case, "error", type=table["verdict"], message=_text(sentence(table)))
    if audit:
        for kind in required(audit["policy"]):
            if table["verdict"] not in ("error", "inconclusive") or _against(table, kind):
                _case(suite, name, kind, table)
    _ended(suite)


def _coverage(root: ElementTree.Element, number: int, document: Mapping[str, Any], source: Mapping[str, Any]) -> None:
    """A suite for what the policy covers of a source."""
    name = _text(f"{source['source']}: coverage")
    properties = {"qidsql": document["qidsql"], "run": document["run"]}
    suite = _begun(root, number, name, document["started"], 0, properties)
    case = ElementTree.SubElement(suite, "testcase", name="in the policy", classname=name, time="0")
    missing = [gap["text"] for gap in violating(document) if gap["source"] == source["source"]]
    if source["error"]:
        ElementTree.SubElement(case, "error", type="error", message=_text(source["error"]))
    elif missing:
        failure = ElementTree.SubElement(case, "failure", type=COVERAGE, message=_text(document["coverage"]["text"]))
        failure.text = _text("\n".join([UNCOVERED[1], *_first(missing)]))
    _ended(suite)


def _begun(
    root: ElementTree.Element, number: int, name: str, started: object, seconds: float, properties: Mapping[str, Any]
) -> ElementTree.Element:
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        id=str(number),
        name=name,
        timestamp=_text(started)[:19],
        time=str(seconds),
        hostname="localhost",  # Ant's schema asks for it
        package="qidsql",
    )
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        if value is not None:
            ElementTree.SubElement(listed, "property", name=key, value=_text(value))
    return suite


def _ended(suite: ElementTree.Element) -> None:
    for name, path in (("tests", "testcase"), ("failures", ".//failure"), ("errors", ".//error")):
        suite.set(name, str(len(suite.findall(path))))
    ElementTree.SubElement(suite, "system-out")
    ElementTree.SubElement(suite, "system-err")


def required(policy: Mapping[str, Any]) -> list[str]:
    """The kinds of finding that the policy forbids."""
    ratios = {"rows-at-risk": "rows_at_risk", "distinct": "distinct", "separation": "separation"}
    return [
        "k-anonymity",
        "direct-identifier",
        *(kind for kind, option in ratios.items() if policy[option] is not None),
    ]


def _against(table: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    causes = CAUSES if kind == "k-anonymity" else frozenset[str]()
    found = [finding for finding in open_findings(table) if finding["kind"] == kind or finding["kind"] in causes]
    return found if any(finding["kind"] == kind for finding in found) else []


def _case(suite: ElementTree.Element, classname: str, kind: str, table: Mapping[str, Any]) -> None:
    policy = table["audit"]["policy"]
    name = f"k-anonymity (k = {policy['k']})" if kind == "k-anonymity" else kind
    if kind in ("rows-at-risk", "distinct", "separation"):
        name += f" (below {policy[kind.replace('-', '_')]})"
    case = ElementTree.SubElement(suite, "testcase", name=_text(name), classname=classname, time="0")
    found = _against(table, kind)
    if found:
        lines = [HELP[kind], *_first([finding["text"] for finding in found])]
        message = found[0]["text"] if kind == "k-anonymity" else TITLES[kind]
        failure = ElementTree.SubElement(case, "failure", type=kind, message=_text(message))
        failure.text = _text("\n".join(lines))


def _first(texts: list[str]) -> list[str]:
    more = len(texts) - FINDINGS
    return [*texts[:FINDINGS], *([f"... and {more} more"] if more > 0 else [])]


def _text(value: object) -> str:
    return without_controls(str(value))
