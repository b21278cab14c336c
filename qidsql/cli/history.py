"""qidsql history: the recorded runs, what changed between two of them, and what alerts sent."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from qidsql.cli.options import (
    LISTINGS,
    Format,
    HistoryUrl,
    Output,
    PolicyPath,
    Quiet,
    naming_variable,
    report_format,
    write_listing,
)
from qidsql.cli.run_report import finding_changes
from qidsql.cli.streams import say
from qidsql.core.results import Verdict
from qidsql.declarations.options import Command, Option
from qidsql.errors import UsageError
from qidsql.formats.texts import percentage
from qidsql.operations.changes import CoverageDiff, Diff
from qidsql.operations.history.records import RecordedRuns, RecordedTable, RunSummary
from qidsql.operations.table_run import passes_with
from qidsql.report.blocks import TONES, Cell, Fields, Grid, Head, Labelled, Report, Sentence
from qidsql.wording.texts import count, plural, seconds

if TYPE_CHECKING:
    from qidsql.operations.history.records import History, RecordedRuns
    from qidsql.report.blocks import Report


# The reports of `history` and `diff`.


def report(found: RecordedRuns) -> Report:
    """The runs, or those of one table, newest first."""
    head = "" if found.table is None else f"{found.source}: {found.table}, "
    yield Sentence(f"{head}{plural(len(found.runs), 'run')} in {found.history}")
    if found.runs:
        yield from _trend([run for run in reversed(found.runs) if isinstance(run, RecordedTable)])
        yield _grid(found)


LEVELS = "▁▂▃▄▅▆▇█"
CUT = "|"  # between runs whose policy differs


def _trend(runs: Sequence[RecordedTable]) -> Report:
    """The figures of a table through its runs as small plots, the oldest first."""
    known = [run for run in runs if run.share_below_k is not None or run.rows is not None]
    if len(known) < 2:
        return
    plots = Fields()
    figures = (("Below k", "share_below_k", percentage), ("Smallest", "smallest", count), ("Rows", "rows", count))
    for label, name, written in figures:
        values = [getattr(run, name) for run in known]
        if there := [value for value in values if value is not None]:
            ends = " -> ".join(dict.fromkeys(written(value) for value in (there[0], there[-1])))
            plots.add(label, f"{plot(values, [run.question for run in known])}  {ends}")
    yield plots


def plot(values: Sequence[float | None], questions: Sequence[str | None]) -> str:
    """A sign for each value, between 0 and the largest; a gap where there is none, a cut where the policy changed.

    >>> plot([0, 1, None, 2], ["a", "a", "a", "b"])
    '▁▄ |█'
    """
    most, signs, last = max((value for value in values if value is not None), default=0), "", None
    for value, question in zip(values, questions, strict=True):
        signs += CUT if question and last and question != last else ""
        last = question or last
        signs += " " if value is None else LEVELS[int(value / most * (len(LEVELS) - 1)) if most else 0]
    return signs


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
    if run.verdict is Verdict.PASS and run.accepted:
        yield f"with {plural(run.accepted, 'exception')}"
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


@dataclass(frozen=True, kw_only=True)
class HistoryRequest:
    """List the recorded runs, newest first, or one table in all runs."""

    table: Annotated[str | None, Option("list all runs of this table", "TABLE")] = None
    record: Annotated[
        Path | None, Option("record a run from its JSON document, if it could not be recorded before", "FILE")
    ] = None
    limit: Annotated[int, Option("the most runs to list", "N", least=1)] = 20
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: Format = None
    output: Output = None
    quiet: Quiet = False


COMMAND = Command(
    HistoryRequest,
    examples=(
        "qidsql history",
        "qidsql history --table main.patients --format json",
        "qidsql history --history env:HISTORY_URL",
        "qidsql history --record qidsql-run-20261121-030000-3f9a2c.json",
    ),
    exit_codes="0 finished, whatever the verdicts; 2 error\n"
    "A run is named by its id, a prefix of it, last, or last~1 (the one before).",
)


def run(request: HistoryRequest) -> None:
    """Lists runs, or records one. Raises UsageError, TomlFileError, StoreError."""

    format = report_format(LISTINGS, request.format, request.output)
    history = opened_history(request.config, request.history, existing=request.record is None)
    if request.record is not None:
        _record(history, request.record, request.quiet)
        return
    found = _recorded_runs(history, request)
    write_listing(request, format, found, report(found), request.table or "History")


@dataclass(frozen=True, kw_only=True)
class DiffRequest:
    """Compare two recorded runs: findings that are new, worse, better or gone; verdicts; tables."""

    before: Annotated[str, Option("a run: its id, a prefix of it, last, last~1", "[BEFORE]", argument=True)] = "last~1"
    after: Annotated[str, Option("the run to compare with it", "[AFTER]", argument=True)] = "last"
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: Format = None
    output: Output = None


DIFF = Command(
    DiffRequest,
    examples=(
        "qidsql history diff",
        "qidsql history diff last~7 last",
        "qidsql history diff 20261120 20261121",
    ),
    exit_codes="0 finished, whatever the differences; 2 error",
)


def compare(request: DiffRequest) -> None:
    """Compares the runs. Raises UsageError, TomlFileError, StoreError."""
    from qidsql.operations.changes import diff

    format = report_format(LISTINGS, request.format, request.output)
    history = opened_history(request.config, request.history)
    first, second = history.find(request.before), history.find(request.after)
    found = diff(history.result(first.run), history.result(second.run))
    write_listing(request, format, found, diff_report(found), "Two runs")


def _record(history: "History", path: Path, quiet: bool) -> None:
    from qidsql.formats.reading import read_document

    document = read_document(path)
    if not document.run:
        raise UsageError(f"{path} is the document of a single audit; expected that of qidsql run --format json")
    if document.min_count is not None:
        raise UsageError(f"{path} was written with --min-count, which hides counts; expected a document without it")
    added = history.record(document)
    if not quiet:
        say(f"run {document.run} is {'recorded' if added else 'already in the history'} ({history.label})")


def _recorded_runs(history: "History", request: HistoryRequest) -> "RecordedRuns":
    from qidsql.operations.history.records import RecordedRuns

    if request.table is None:
        return RecordedRuns(history=history.label, runs=tuple(history.runs()[: request.limit]))
    source, table = recorded_table(history, request.table)
    runs = history.table_history(source, table)[: request.limit]
    return RecordedRuns(history=history.label, source=source, table=table, runs=tuple(runs))


def opened_history(config: Path, url: str | None, existing: bool = True) -> "History":
    """The history at this URL, by default that of the policy file. With `existing`, one at a URL must exist.

    Raises UsageError, TomlFileError, StoreError.
    """
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.policy_file import HISTORY_NAME, beside, read_policy_file

    named = url is not None
    if url is None and not config.exists() and (found := beside(config, HISTORY_NAME)).exists():
        url = str(found)  # a history without a policy file, such as on a report server
    schema = "qidsql"
    if config.exists():
        file = read_policy_file(config)
        url, schema = url or file.history_url, file.history_schema
    if url is None:
        raise UsageError(f"neither {config} nor {HISTORY_NAME} exists; give a history with --history")
    with naming_variable("QIDSQL_HISTORY", url):
        history = open_history(url, schema)
        if named and existing and not history.store.exists():
            raise UsageError(f"there is no history {history.label}; qidsql run --history creates one")
        return history


def recorded_table(history: "History", typed: str) -> tuple[str, str]:
    """Source and name of a table in the history: schema.name, its name alone, or source: schema.name."""
    from qidsql.errors import UnknownName

    known = history.tables()
    for same in (
        [(s, t) for s, t in known if typed in (t, f"{s}: {t}", f"{s}.{t}")],
        [(s, t) for s, t in known if t.rpartition(".")[2] == typed],
    ):
        if len(same) == 1:
            return same[0]
        if same:
            meant = ", ".join(f"{source}: {table}" for source, table in same)
            raise UsageError(f"{typed} is ambiguous; expected one of {meant}")
    raise UnknownName("table", [typed], history.label, [table for _, table in known])


ABOUT = """List the recorded runs, compare two of them, or look at the alerts that runs sent.

Without the name of a part the runs are listed: qidsql history --table main.patients. A part's options: qidsql history
PART --help
"""


def subcommands() -> "dict[str, tuple[str, Command, Callable[[Any], None]]]":
    """The parts of the command: summary, declaration, work."""
    from qidsql.cli import alerts

    return {
        "list": ("The recorded runs, or one table in all of them", COMMAND, run),
        "diff": ("What changed between two runs", DIFF, compare),
        "alerts": ("Alerts, what they sent, what is undelivered", alerts.ALERTS, alerts.run),
    }
