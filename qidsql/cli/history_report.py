"""The reports of `history` and `diff`."""

import re
from collections.abc import Iterator
from datetime import UTC

from qidsql.cli.run_report import finding_changes
from qidsql.core.results import Verdict
from qidsql.formats.figures import percentage
from qidsql.operations.diff import CoverageDiff, Diff
from qidsql.operations.history.records import RecordedRuns, RecordedTable, RunSummary
from qidsql.operations.table_run import passes_with
from qidsql.report.blocks import TONES, Cell, Fields, Grid, Head, Labelled, Report, Sentence
from qidsql.wording.texts import count, plural, seconds

WAIVED = r"with \d+ exceptions?\b"  # in the reason of a pass


def report(found: RecordedRuns) -> Report:
    """The runs, or those of one table, newest first."""
    head = "" if found.table is None else f"{found.source}: {found.table}, "
    yield Sentence(f"{head}{plural(len(found.runs), 'run')} in {found.history}")
    if found.runs:
        yield _grid(found)


def _grid(found: RecordedRuns) -> Grid:
    figures = ("Tables", "Statements", "Took") if found.table is None else ("Rows", "k", "Smallest", "Below k")
    words = [Head(each, text=True) for each in ("Run", "Started (UTC)", "Verdict")]
    rows: list[list[str | Cell]] = [
        [
            run.run,
            f"{run.started.astimezone(UTC):%Y-%m-%d %H:%M}",
            Cell(run.verdict, TONES[run.verdict]),
            *_cells(run),
            ", ".join(_remarks(run, before)),
        ]
        for run, before in zip(found.runs, [*found.runs[1:], None], strict=True)
    ]
    return Grid([*words, *map(Head, figures), Head("", text=True)], rows)


def _cells(run: RunSummary | RecordedTable) -> tuple[str, ...]:
    if isinstance(run, RunSummary):
        return count(run.tables), count(run.statements), seconds(run.seconds)
    below_k = "" if run.share_below_k is None else percentage(run.share_below_k)
    return *("" if each is None else count(each) for each in (run.rows, run.k, run.smallest)), below_k


def _remarks(run: RunSummary | RecordedTable, before: RunSummary | RecordedTable | None) -> Iterator[str]:
    """Remarks on a run, such as a changed policy, which makes figures incomparable."""
    if not run.complete:
        yield "not complete"
    if run.verdict is Verdict.PASS and (waived := re.search(WAIVED, run.reason)):
        yield waived[0]
    questions = {each.question for each in (run, before) if isinstance(each, RecordedTable)} - {None}
    if len(questions) > 1:
        yield "policy changed"


def diff_report(found: Diff) -> Report:
    """The changes between two runs."""
    from_run, to_run = (f"{e.run} ({passes_with(e.accepted) or e.verdict})" for e in (found.before, found.after))
    yield Sentence(f"From run {from_run} to run {to_run}")
    if found.coverage is not None:
        yield from _coverage(found.coverage)
    same, changed = 0, False
    for table in found.tables:
        verdicts = zip((table.was, table.now), table.accepted, strict=True)
        was, now = (passes_with(accepted) or verdict or "not audited" for verdict, accepted in verdicts)
        if was == now and not table.findings and not table.policy_changed:
            same += 1
            continue
        yield Sentence(f"{table.source}: {table.table}  {was}" + ("" if was == now else f" -> {now}"), close=changed)
        changed = True
        if table.policy_changed:
            policy = f"policy changed ({', '.join(table.policy_changed)}): findings are not compared"
            yield Sentence(policy, close=True, inset=True)
        if table.findings:
            yield finding_changes([(finding, "") for finding in table.findings])
    yield Sentence(f"{plural(same, 'table')} unchanged" if same else "No table is unchanged", close=changed)
    if found.not_selected:
        yield Sentence(f"{plural(found.not_selected, 'table')} not compared: left out by --only", close=True)


def _coverage(coverage: CoverageDiff) -> Report:
    moved = "" if coverage.before == coverage.after else f" -> {coverage.after}"
    yield Sentence(f"Coverage: {coverage.before}{moved}")
    gaps = Fields(close=True, inset=True)
    gaps.rows += [
        Labelled(sign, gap.text)
        for sign, found in (("+ new", coverage.new), ("- gone", coverage.gone))
        for gap in found
    ]
    if gaps.rows:
        yield gaps
