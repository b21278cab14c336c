"""JUnit XML for CI servers: a suite for each table with a case for each requirement of its policy, and a suite for the
coverage of each source.

The XML is valid by the schemas of Ant and Jenkins, but that Ant's does not know `skipped`: a requirement that is met
by exceptions alone. An audit that failed or is inconclusive is an `error`.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from xml.etree import ElementTree

from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.formats.run_summary import COVERAGE, DISCLOSURE, HELP, TITLES, UNCOVERED
from qidsql.operations.coverage import Coverage, SourceCoverage
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import CAUSES, Finding, FindingKind, FindingState, TableRun
from qidsql.wording.texts import decimal, without_controls

FINDINGS_OF_A_FAILURE = 20  # listed in one failure


def written(document: RunResult) -> Iterator[str]:
    """The document as JUnit XML."""
    root = ElementTree.Element("testsuites")
    number = 0
    for number, table in enumerate(document.tables, start=1):
        _suite(root, number - 1, document, table)
    for place, source in enumerate(document.coverage.sources if document.coverage else (), start=number):
        _coverage(root, place, document, source)
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, number: int, document: RunResult, table: TableRun) -> None:
    name, account = _text(table.place), table.audit.account if table.audit else None
    kept = None if table.unchanged is None else table.unchanged.text
    properties = {"qidsql": document.qidsql, "run": document.run, "owner": table.owner, "kept": kept}
    started, seconds = (account.started, account.seconds) if account else (document.started, 0)
    suite = _begin_suite(root, number, name, started, seconds, properties)
    if table.verdict in BROKEN or (account is None and table.verdict is Verdict.VIOLATION):
        case = ElementTree.SubElement(suite, "testcase", name="audited to a verdict", classname=name, time="0")
        ElementTree.SubElement(case, "error", type=table.verdict, message=_text(table.sentence))
    if account:
        for kind in required(account.policy):
            if table.verdict not in BROKEN or against(table, kind):
                _case(suite, name, kind, account.policy, table)
    _end_suite(suite)


def _coverage(root: ElementTree.Element, number: int, document: RunResult, source: SourceCoverage) -> None:
    """The suite for the coverage of a source."""
    name, coverage = _text(f"{source.source}: coverage"), document.coverage or Coverage(())
    suite = _begin_suite(root, number, name, document.started, 0, {"qidsql": document.qidsql, "run": document.run})
    case = ElementTree.SubElement(suite, "testcase", name="in the policy", classname=name, time="0")
    missing = [gap.text for gap in coverage.violations if gap.source == source.source]
    if source.error:
        ElementTree.SubElement(case, "error", type="error", message=_text(source.error))
    elif missing:
        failure = ElementTree.SubElement(case, "failure", type=COVERAGE, message=_text(coverage.text))
        failure.text = _text("\n".join([UNCOVERED[1], *_first(missing)]))
    _end_suite(suite)


def _begin_suite(
    root: ElementTree.Element,
    number: int,
    name: str,
    started: datetime,
    seconds: float,
    properties: Mapping[str, str | None],
) -> ElementTree.Element:
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        id=str(number),
        name=name,
        timestamp=started.isoformat()[:19],
        time=str(seconds),
        hostname="localhost",  # required by Ant's schema
        package="qidsql",
    )
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        if value is not None:
            ElementTree.SubElement(listed, "property", name=key, value=_text(value))
    return suite


def _end_suite(suite: ElementTree.Element) -> None:
    for name, path in (("tests", "testcase"), ("failures", ".//failure"), ("errors", ".//error")):
        suite.set(name, str(len(suite.findall(path))))
    ElementTree.SubElement(suite, "system-out")
    ElementTree.SubElement(suite, "system-err")


LIMITS = (FindingKind.ROWS_BELOW_K, FindingKind.DISTINCT, FindingKind.SEPARATION, *DISCLOSURE)


def limit_of(policy: Policy, kind: FindingKind) -> Fraction | int | str | None:
    """The limit of the policy for a kind in LIMITS: no column set may reach it, or exceed it if it is on disclosure."""
    found: Fraction | int | str | None = getattr(policy, kind.replace("-", "_"))
    return found


def required(policy: Policy) -> list[FindingKind]:
    """The kinds of findings that the policy forbids."""
    limits = (kind for kind in LIMITS if limit_of(policy, kind) is not None)
    return [FindingKind.K_ANONYMITY, FindingKind.DIRECT_IDENTIFIER, *limits]


def requirement(policy: Policy, kind: FindingKind) -> str:
    """What the policy requires, with its limit, in words."""
    most = limit_of(policy, kind) if kind in LIMITS else None
    text = decimal(most) if isinstance(most, Fraction) else str(most)
    bound = text if kind in DISCLOSURE else f"below {text}"
    whole = kind is FindingKind.K_ANONYMITY
    return f"{kind} (k = {policy.k})" if whole else str(kind) if most is None else f"{kind} ({bound})"


def _accepted(table: TableRun, kind: FindingKind) -> str:
    """By which exceptions the table meets this requirement, in words; empty if it needs none."""
    found = [each for each in table.findings if each.kind is kind and each.state is FindingState.EXCEPTED]
    by = dict.fromkeys(each.exception for each in found if each.exception)
    return "; ".join(f"accepted {f'until {e.expires}' if e.expires else 'without end'}: {e.reason}" for e in by)


def against(table: TableRun, kind: FindingKind) -> list[Finding]:
    """The open findings by which the table does not meet this requirement; none if it meets it."""
    causes = CAUSES if kind is FindingKind.K_ANONYMITY else ()
    found = [finding for finding in table.open_findings if finding.kind is kind or finding.kind in causes]
    return found if any(finding.kind is kind for finding in found) else []


def _case(suite: ElementTree.Element, classname: str, kind: FindingKind, policy: Policy, table: TableRun) -> None:
    whole = kind is FindingKind.K_ANONYMITY
    case = ElementTree.SubElement(
        suite, "testcase", name=_text(requirement(policy, kind)), classname=classname, time="0"
    )
    found = against(table, kind)
    if found:
        lines = [HELP[kind], *_first([finding.text for finding in found])]
        message = found[0].text if whole else TITLES[kind]
        failure = ElementTree.SubElement(case, "failure", type=kind, message=_text(message))
        failure.text = _text("\n".join(lines))
    elif accepted := _accepted(table, kind):
        ElementTree.SubElement(case, "skipped").text = _text(accepted)


def _first(texts: list[str]) -> list[str]:
    more = len(texts) - FINDINGS_OF_A_FAILURE
    return [*texts[:FINDINGS_OF_A_FAILURE], *([f"... and {more} more"] if more > 0 else [])]


def _text(value: str) -> str:
    return without_controls(value)
