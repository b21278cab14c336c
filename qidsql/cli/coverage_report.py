"""The coverage section of the report of a run."""

from qidsql.operations.coverage import RENAMED, Coverage, GapState, Severity
from qidsql.report.blocks import Cell, Grid, Head, Report, Sentence, Tone
from qidsql.wording.texts import count, plural

SHOWN = 12  # gaps
TONES = {Severity.VIOLATION: Tone.RISK, Severity.WARNING: Tone.UNKNOWN}


def coverage_report(coverage: Coverage) -> Report:
    """The gaps, violations first."""
    outside = [each for each in coverage.sources if each.out_of_scope]
    for number, source in enumerate(outside):
        many = plural(source.out_of_scope, "table")
        yield Sentence(f"Out of scope: {many} of {source.source} (scope in the policy file).", close=number > 0)
    gaps = coverage.by_severity
    if not gaps:
        return
    yield Sentence("Not covered, not confirmed, or changed:", close=bool(outside))
    rows = [
        ("  + new" if gap.state is GapState.NEW else "", Cell(gap.severity, TONES[gap.severity]), gap.text)
        for gap in gaps[:SHOWN]
    ]
    yield Grid([Head("", text=True)] * 3, rows, close=True)
    if len(gaps) > SHOWN:
        more = f"... and {count(len(gaps) - SHOWN)} more (--format json lists them all)"
        yield Sentence(more, close=True, inset=True)
    if coverage.may_be_renamed:
        yield Sentence(RENAMED, close=True)
