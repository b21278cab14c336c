"""The reports of `history` and `diff` at a terminal."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.cli.run_report import COLOURS, print_changes
from qidsql.core.results import Verdict
from qidsql.formats.figures import percentage
from qidsql.operations.diff import CoverageDiff, Diff
from qidsql.operations.history.records import RecordedRuns, RecordedTable, RunSummary
from qidsql.operations.table_run import passes_with
from qidsql.wording.numbers import count, plural, seconds

WAIVED = r"with \d+ exceptions?\b"  # in the reason of a pass


def report(found: RecordedRuns) -> Callable[[Console], None]:
    """Returns a function that prints the runs, or those of one table, newest first."""

    def put(console: Console) -> None:
        head = "" if found.table is None else f"{found.source}: {found.table}, "
        console.print(f"{head}{plural(len(found.runs), 'run')} in {found.history}")
        if found.runs:
            console.print()
            console.print(_grid(found))

    return put


def _grid(found: RecordedRuns) -> Table:
    of_table = found.table is not None
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Run", "Started (UTC)", "Verdict"):
        grid.add_column(heading, no_wrap=True)
    for heading in ("Rows", "k", "Smallest", "Below k") if of_table else ("Tables", "Statements", "Took"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("")
    for run, before in zip(found.runs, [*found.runs[1:], None], strict=True):
        grid.add_row(
            run.run,
            f"{run.started.astimezone(UTC):%Y-%m-%d %H:%M}",
            Text(run.verdict, style=COLOURS[run.verdict]),
            *_cells(run),
            ", ".join(_remarks(run, before)),
        )
    return grid


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


def diff_report(found: Diff) -> Callable[[Console], None]:
    """Returns a function that prints the changes between two runs."""

    def put(console: Console) -> None:
        from_run, to_run = (f"{e.run} ({passes_with(e.accepted) or e.verdict})" for e in (found.before, found.after))
        console.print(f"From run {from_run} to run {to_run}")
        console.print()
        _coverage(console, found.coverage)
        same = 0
        for table in found.tables:
            verdicts = zip((table.was, table.now), table.accepted, strict=True)
            was, now = (passes_with(accepted) or verdict or "not audited" for verdict, accepted in verdicts)
            if was == now and not table.findings and not table.policy_changed:
                same += 1
                continue
            console.print(Text(f"{table.source}: {table.table}  {was}" + ("" if was == now else f" -> {now}")))
            if table.policy_changed:
                console.print(Text(f"  policy changed ({', '.join(table.policy_changed)}): findings are not compared"))
            if table.findings:
                print_changes(console, [(finding, "") for finding in table.findings])
        console.print(f"{plural(same, 'table')} unchanged" if same else "No table is unchanged")
        if found.not_selected:
            console.print(f"{plural(found.not_selected, 'table')} not compared: left out by --only")

    return put


def _coverage(console: Console, coverage: CoverageDiff | None) -> None:
    if coverage is None:
        return
    moved = "" if coverage.before == coverage.after else f" -> {coverage.after}"
    console.print(Text(f"Coverage: {coverage.before}{moved}"))
    for sign, gaps in (("+ new ", coverage.new), ("- gone", coverage.gone)):
        for gap in gaps:
            console.print(Text(f"  {sign}  {gap.text}"))
    console.print()
