"""Annotations for GitHub Actions: one per table, shown at its line of qidsql.toml."""

from collections.abc import Iterator, Mapping

from qidsql.core.results import Verdict
from qidsql.formats.texts import told
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import FindingKind, FindingState, TableRun
from qidsql.wording.texts import without_controls

LEVELS = {
    Verdict.PASS: "notice",
    Verdict.FINISHED: "notice",
    Verdict.VIOLATION: "error",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "warning",
}
FINDINGS_OF_AN_ANNOTATION = 5  # listed in one annotation


def written(document: RunResult) -> Iterator[str]:
    """Workflow commands (`::error file=...,line=...::...`): one per table, and one for gaps in the coverage. GitHub
    shows ten per level."""
    if document.coverage:
        yield _coverage(document, document.coverage)
    yield from (_line(document, table) for table in document.tables)


def _coverage(document: RunResult, coverage: Coverage) -> str:
    if not coverage.gaps and coverage.verdict is Verdict.PASS:
        return ""
    level = LEVELS[coverage.verdict].replace("notice", "warning")
    gaps = coverage.by_severity
    more = [f"... and {len(gaps) - FINDINGS_OF_AN_ANNOTATION} more"] if len(gaps) > FINDINGS_OF_AN_ANNOTATION else []
    message = [coverage.text, *(gap.text for gap in gaps[:FINDINGS_OF_AN_ANNOTATION]), *more]
    return _command(level, {**_place(document, 1), "title": "qidsql: coverage"}, message)


def _line(document: RunResult, table: TableRun) -> str:
    properties = {**_place(document, table.line), "title": f"qidsql {table.verdict}: {table.place}"}
    findings = [finding for finding in table.open_findings if finding.kind is not FindingKind.K_ANONYMITY]
    state = {FindingState.NEW: "new: ", FindingState.WORSE: "worse: "} if document.baseline else {}
    if len(findings) > FINDINGS_OF_AN_ANNOTATION:
        return _command(LEVELS[table.verdict], properties, [table.sentence, *told(findings, FINDINGS_OF_AN_ANNOTATION)])
    message = [table.sentence, *(state.get(finding.state, "") + finding.text for finding in findings)]
    return _command(LEVELS[table.verdict], properties, message)


def _place(document: RunResult, line: int | None) -> dict[str, str]:
    """The line of the policy file; empty for a single audit."""
    return {} if document.file is None else {"file": document.file, "line": str(line or 1)}


def _command(level: str, properties: Mapping[str, str], message: list[str]) -> str:
    """One annotation."""
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {given}::{_data(chr(10).join(message))}\n"


def _data(text: str) -> str:
    """The text escaped, without control characters: the log shows it in a page and in terminals, which obey them."""
    return without_controls(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
