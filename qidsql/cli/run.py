"""qidsql run"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qidsql.cli.command import hide_counts
from qidsql.cli.options import (
    DOCUMENTS,
    TERMINAL,
    DocumentFormat,
    Gentle,
    HistoryUrl,
    MinCount,
    Outputs,
    PolicyArgument,
    Quiet,
    check_min_count,
    naming_variable,
    report_format,
)
from qidsql.cli.streams import parts, report_text, say, screen, showing_progress
from qidsql.core.budget import within
from qidsql.core.options import STATEMENTS, size_in_bytes
from qidsql.core.tables import TableName
from qidsql.declarations.options import Command, Names, Option, Size
from qidsql.errors import ExitCode, QidsqlError, UsageError
from qidsql.formats.registry import document_format
from qidsql.operations.findings import FailOn
from qidsql.operations.policy_entries import PRESETS
from qidsql.wording.texts import plural

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult
    from qidsql.operations.history.records import History
    from qidsql.operations.policy_file import PolicyFile


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Audit all tables of a policy file, compare with the last run, and record the result.

    A table that fails does not stop the others. The sources are only read; the result is written to the history, a
    DuckDB file beside the policy file or as set in it. Options can also be set by the environment variables QIDSQL_K,
    QIDSQL_MAX_STATEMENTS, QIDSQL_MAX_SECONDS, QIDSQL_MAX_BYTES, QIDSQL_FAIL_ON, QIDSQL_BASELINE and QIDSQL_HISTORY.

    With --every it runs until SIGTERM or Ctrl-C, reads the policy file again each time, and exits with 0, or with 3 if
    a run was interrupted. A scheduled time is skipped while another process runs with the same history.
    """

    config: PolicyArgument = Path("qidsql.toml")
    only: Annotated[Names, Option("audit only this table, source or pattern (repeat)", "TABLE")] = ()
    select: Annotated[
        Names, Option("audit only the tables of this selection of dbt, such as tag:pii,path:models/marts+", "SELECTION")
    ] = ()
    manifest: Annotated[Path, Option("with --select, the manifest of the dbt project", "FILE")] = Path(
        "target/manifest.json"
    )
    baseline: Annotated[
        str | None,
        Option(
            "compare findings with this run, or with that in a file (--output NAME.baseline); default: the last "
            "complete one",
            "RUN",
            variable="QIDSQL_BASELINE",
        ),
    ] = None
    fail_on: Annotated[
        FailOn,
        Option(
            "new: count only violations with a finding that is new or worse than in the baseline",
            variable="QIDSQL_FAIL_ON",
        ),
    ] = FailOn.ANY
    k: Annotated[
        int | None,
        Option("the minimum class size for all tables, instead of that in the policy file", "K", variable="QIDSQL_K"),
    ] = None
    max_statements: Annotated[
        int | None,
        Option(f"the most statements in the whole run; {STATEMENTS}", "N", variable="QIDSQL_MAX_STATEMENTS", least=1),
    ] = None
    max_seconds: Annotated[
        float | None,
        Option("the most seconds for the whole run", "N", variable="QIDSQL_MAX_SECONDS", least=0.001),
    ] = None
    max_bytes: Annotated[
        Size, Option("the most bytes that statements read in the whole run", "SIZE", variable="QIDSQL_MAX_BYTES")
    ] = None
    gentle: Gentle = False
    history: HistoryUrl = None
    no_history: Annotated[bool, Option("record nothing, compare with nothing", flags=("--no-history",))] = False
    resume: Annotated[
        bool,
        Option("continue an interrupted run, for tables whose source is unchanged", flags=("--resume/--no-resume",)),
    ] = True
    fresh: Annotated[bool, Option("audit tables too that are unchanged since their last audit")] = False
    check_only: Annotated[
        bool,
        Option(
            "read policy and catalog, no table: unknown columns, what is not covered, a policy that asks for less than "
            "in the last run; record and send nothing",
            flags=("--check",),
        ),
    ] = False
    alerts: Annotated[bool, Option("send the alerts of the policy file", flags=("--alerts/--no-alerts",))] = True
    every: Annotated[
        str | None,
        Option("keep running, at the times of a cron line such as '0 3 * * *', until SIGTERM", "CRON"),
    ] = None
    timezone: Annotated[
        str | None,
        Option("the time zone of --every, such as Europe/Amsterdam; default: $TZ, else the machine's", "NAME"),
    ] = None
    heartbeat: Annotated[
        Path | None, Option("with --every, touch this file every 10 seconds, for a health check", "FILE")
    ] = None
    format: DocumentFormat = None
    output: Outputs = ()
    min_count: MinCount = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if self.every is None and (self.timezone is not None or self.heartbeat is not None):
            raise UsageError("--timezone and --heartbeat need --every")
        if self.every is not None and self.check_only:
            raise UsageError("--check looks at the policy once; leave out --every")
        if self.every is not None and self.no_history:
            raise UsageError("--every needs a history, for its lock and the time of the last run; remove --no-history")


SHOWN_DUE = 5  # releases that are due again, each with why
COMMAND = Command(
    RunRequest,
    examples=(
        "qidsql run",
        'qidsql run qidsql.toml --only main.patients --only "main.visits_*"',
        "qidsql run --check --format github",
        "qidsql run --select tag:pii,path:models/marts+",
        "qidsql run --fail-on new --output run.json --output report.html --output metrics.prom",
        "QIDSQL_K=11 qidsql run --max-seconds 3600",
        'qidsql run --every "0 3 * * *" --timezone Europe/Amsterdam',
    ),
    exit_codes="0 pass, 1 policy violated, 2 error, 3 inconclusive; with several tables the worst counts: "
    'error, then violation\nPresets of the policy file (preset = "cms"):\n'
    + "\n".join(f"  {name:<5} {preset.source}" for name, preset in PRESETS.items()),
    shown="only select baseline fail_on k max_seconds history every alerts fresh check_only format output min_count "
    "quiet",
)


def run(request: RunRequest) -> None:
    """Runs once, or at the times of --every, and exits with the exit code. Raises QidsqlError."""
    from qidsql.cli.alerts import Notifier

    wanted = reports(request)
    notifier = Notifier(request.quiet)
    ended = False

    def policy_file() -> "PolicyFile":
        file = policy(request)
        disabled = request.no_history or request.check_only or not request.alerts
        notifier.use(file, None if disabled else request.history or file.history_url)
        return file

    def once() -> int:
        nonlocal ended
        ended = False
        try:
            file = policy_file()
            result, unrecorded = run_and_record(file, request)
        except QidsqlError as error:
            if request.every is not None or not isinstance(error, UsageError):  # no alert for a typing error
                notifier.after_failure(str(error))
            raise
        ended = not result.interrupted
        document = hide_counts(result, request.min_count)
        try:
            write_reports(document, wanted, recorded=not (request.no_history or request.check_only or unrecorded))
            if None not in wanted and not request.quiet:
                say(f"{document.waived or document.verdict}: {document.reason}")
        finally:
            if unrecorded:
                say(unrecorded)
                notifier.after_failure(unrecorded)
            else:
                notifier.after_run(document)
        if unrecorded:
            late = result.interrupted or (file.max_seconds is not None and result.seconds >= file.max_seconds)
            return ExitCode.INCONCLUSIVE if late else ExitCode.ERROR
        return result.exit_code

    if request.every is None:
        raise typer.Exit(once())
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.schedule import Schedule, repeat

    schedule = Schedule.read(request.every, request.timezone)
    file = policy_file()
    records = open_history(request.history or file.history_url, file.history_schema)
    last = schedule.last_run(head.started for head in records.runs())
    interrupted = repeat(schedule, once, say, last=last, lock=records.exclusive, heartbeat=request.heartbeat)
    raise typer.Exit(ExitCode.INCONCLUSIVE if interrupted and not ended else ExitCode.PASS)


def reports(request: RunRequest) -> dict[Path | None, str]:
    """The format of each report, by its file (None: stdout), checked before any work. Raises UsageError."""
    many = len(request.output)
    beside = request.format is not None and many > 1  # then the files have the formats of their endings
    outputs: tuple[Path | None, ...] = (*request.output, *([None] if beside or not many else []))
    wanted = {each: report_format(DOCUMENTS, None if beside and each else request.format, each) for each in outputs}
    if request.check_only and "prometheus" in wanted.values():
        raise UsageError("--check comes to no verdict, and prometheus says when there last was one; leave it out")
    for format in wanted.values():
        check_min_count(request.min_count, format)
    return wanted


def write_reports(document: "RunResult", wanted: Mapping[Path | None, str], recorded: bool) -> None:
    """Writes all reports, then raises UsageError if one could not be written."""
    failures = []
    for output, format in wanted.items():
        try:
            with parts(output) as put:
                for text in written(document, format, output, recorded):
                    put(text)
        except UsageError as error:
            failures.append(str(error))
    if failures:
        raise UsageError("; ".join(failures))


def policy(request: RunRequest) -> "PolicyFile":
    """Reads the policy file and applies the options. Raises UsageError."""
    from qidsql.operations.policy_file import read_policy_file

    file = read_policy_file(request.config)
    with naming_variable("QIDSQL_K", None if request.k is None else str(request.k)):
        file = file.overridden(k=request.k)
    with naming_variable("QIDSQL_MAX_BYTES", None if request.max_bytes is None else str(request.max_bytes)):
        most = size_in_bytes("max_bytes", request.max_bytes)
    sources = {name: replace(each, gentle=request.gentle or each.gentle) for name, each in file.sources.items()}
    return replace(
        file,
        sources=sources,
        max_statements=request.max_statements or file.max_statements,
        max_seconds=request.max_seconds or file.max_seconds,
        max_bytes=most or file.max_bytes,
    )


def run_and_record(file: "PolicyFile", request: RunRequest) -> "tuple[RunResult, str]":
    """Runs and records; returns the result, and a message if it could not be recorded. Raises QidsqlError."""
    from qidsql.errors import StoreError
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.run import RunCallbacks, run

    history = None
    if not request.no_history:
        url = request.history or file.history_url
        with naming_variable("QIDSQL_HISTORY", url):
            history = open_history(url, file.history_schema)
    models: list[TableName] = []
    if request.select:
        from qidsql.operations.dbt_selection import selected_tables

        models = selected_tables(request.manifest, tuple(request.select))
    with within(file.max_seconds), _compared_with(request, history) as (past, baseline):
        with showing_progress(request.quiet) as (stage, opened, _):
            result = run(
                file,
                past,
                only=tuple(request.only),
                models=models,
                baseline=baseline,
                fail_on=request.fail_on,
                resume=request.resume,
                fresh=request.fresh,
                check=request.check_only,
                callbacks=RunCallbacks(stage, opened),
            )
        if history is None or request.check_only:
            return result, ""
        try:
            with within(0.0 if result.interrupted else None):  # after Ctrl-C the user is waiting
                history.record(result)
        except StoreError as error:
            return result, save_unrecorded(result, file.path.parent, str(error))
        if not request.quiet and not result.interrupted:
            _say_what_is_due(file, history)
    return result, ""


@contextmanager
def _compared_with(request: RunRequest, history: "History | None") -> "Iterator[tuple[History | None, str | None]]":
    """The history that has the baseline, and its name there: that of a file is a history of this run alone.

    Raises UsageError, UnknownName.
    """
    typed = request.baseline
    with naming_variable("QIDSQL_BASELINE", typed):
        if typed is None or not Path(typed).is_file():
            if history is not None and typed:
                history.find(typed)
            found = None
        else:
            from qidsql.formats.baseline import read_baseline

            found = read_baseline(Path(typed))
    if found is None:
        yield history, typed
        return
    import tempfile

    from qidsql.operations.history.opening import open_history

    with tempfile.TemporaryDirectory() as folder:
        alone = open_history(str(Path(folder) / "baseline.duckdb"))
        alone.record(found)
        yield alone, found.run


def _say_what_is_due(file: "PolicyFile", history: "History") -> None:
    """Says which of the recorded releases have to be checked again, and why. Raises StoreError."""
    from qidsql.operations.history.releases import ReleaseLedger

    due = [each for each in ReleaseLedger(history).all(file, datetime.now(UTC).date()).releases if each.due]
    if due:
        say(f"{plural(len(due), 'release is', 'releases are')} due again: qidsql release list")
    for each in due[:SHOWN_DUE]:
        say(f"  {each.name} of {each.table}, recorded {each.recorded:%Y-%m-%d}: {'; '.join(each.due)}")


def save_unrecorded(result: "RunResult", folder: Path, why: str) -> str:
    """Saves a run that could not be recorded in a file; returns a message with its path."""
    import tempfile

    from qidsql.formats import json

    name = f"qidsql-run-{result.run}.json"
    for place in (folder, Path(tempfile.gettempdir())):
        path = place / name
        try:
            with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(json.written(result))
        except OSError:
            path.unlink(missing_ok=True)
            continue
        later = f"it is saved in {path}; record it with: qidsql history --record {path}"
        return f"the run is not in the history: {why}; {later}"
    return f"the run could be saved neither in the history nor in a file: {why}. Only the report above remains"


def written(document: "RunResult", format: str, output: Path | None, recorded: bool = True) -> Iterator[str]:
    """The report of a run, in parts."""
    if format == TERMINAL:
        from qidsql.cli.run_report import report

        yield report_text(report(document, recorded), *screen(output))
    else:
        yield from document_format(format).written(document)
