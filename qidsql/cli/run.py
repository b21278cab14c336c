"""qidsql run"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qidsql.cli.command import shown
from qidsql.cli.console import report_text, screen
from qidsql.cli.exit_codes import ExitCode
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
from qidsql.cli.progress import showing_progress
from qidsql.cli.streams import parts, say
from qidsql.core.options import STATEMENTS
from qidsql.core.time_limit import within
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Names, Option
from qidsql.errors import QidsqlError, UsageError
from qidsql.formats.registry import document_format
from qidsql.operations.exit_codes import FailOn
from qidsql.operations.presets import PRESETS

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult
    from qidsql.operations.policy_file import PolicyFile


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Audits every table of a policy file, compares with the last run, and records the result.

    One table that fails does not stop the rest. Reads only, but for the history: a DuckDB file beside the policy file,
    or where the file says. The variables QIDSQL_K, QIDSQL_MAX_STATEMENTS, QIDSQL_MAX_SECONDS, QIDSQL_FAIL_ON,
    QIDSQL_BASELINE and QIDSQL_HISTORY stand for options.

    With --every it stays until SIGTERM or Ctrl-C, reads the policy file anew each time, and ends with 0, or with 3
    when that cut a run off. A time at which another process is at work with the same history is left out.
    """

    config: PolicyArgument = Path("qidsql.toml")
    only: Annotated[Names, Option("audit this table, source or pattern alone (repeat)", "TABLE")] = ()
    baseline: Annotated[
        str | None,
        Option("compare findings with this run; default: the last complete one", "RUN", variable="QIDSQL_BASELINE"),
    ] = None
    fail_on: Annotated[
        FailOn,
        Option(
            "new: a violation counts only where a finding is new or worse than in the run compared with",
            variable="QIDSQL_FAIL_ON",
        ),
    ] = FailOn.ANY
    k: Annotated[int | None, Option("for all tables, whatever the file says", "K", variable="QIDSQL_K")] = None
    max_statements: Annotated[
        int | None,
        Option(f"statements in the whole run at most; {STATEMENTS}", "N", variable="QIDSQL_MAX_STATEMENTS", least=1),
    ] = None
    max_seconds: Annotated[
        float | None,
        Option("seconds for the whole run at most", "N", variable="QIDSQL_MAX_SECONDS", least=0.001),
    ] = None
    gentle: Gentle = False
    history: HistoryUrl = None
    no_history: Annotated[bool, Option("record nothing, compare with nothing", flags=("--no-history",))] = False
    resume: Annotated[
        bool,
        Option("continue an interrupted run where its source is unchanged", flags=("--resume/--no-resume",)),
    ] = True
    alerts: Annotated[bool, Option("send the alerts of the policy file", flags=("--alerts/--no-alerts",))] = True
    every: Annotated[
        str | None,
        Option("stay, and run at the times of a cron line, such as '0 3 * * *'; SIGTERM ends it", "CRON"),
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
            raise UsageError("--timezone and --heartbeat go with --every")
        if self.every is not None and self.no_history:
            raise UsageError("--every needs the history: it keeps two schedulers apart and knows the last run")


COMMAND = Command(
    RunRequest,
    examples=(
        "qidsql run",
        'qidsql run qidsql.toml --only main.patients --only "main.visits_*"',
        "qidsql run --fail-on new --output run.json --output report.html --output metrics.prom",
        "QIDSQL_K=11 qidsql run --max-seconds 3600",
        'qidsql run --every "0 3 * * *" --timezone Europe/Amsterdam',
    ),
    exit_codes="0 pass, 1 policy violated, 2 error, 3 inconclusive; of several tables error counts most, then "
    'violation\nPresets of the policy file (preset = "cms"):\n'
    + "\n".join(f"  {name:<5} {preset.source}" for name, preset in PRESETS.items()),
)


def run(request: RunRequest) -> None:
    """Runs once, or at the times of --every, and ends with the exit code. Raises QidsqlError."""
    from qidsql.cli.alerting import Teller

    wanted = reports(request)
    teller = Teller(request.quiet)
    ended = False

    def policy_file() -> "PolicyFile":
        file = policy(request)
        silent = request.no_history or not request.alerts
        teller.follow(file, None if silent else request.history or file.history_url)
        return file

    def once() -> int:
        nonlocal ended
        ended = False
        try:
            file = policy_file()
            result, unrecorded = perform(file, request)
        except QidsqlError as error:
            if request.every is not None or not isinstance(
                error, UsageError
            ):  # at a terminal, a typing error is no news
                teller.broke(str(error))
            raise
        ended = not result.interrupted
        document = shown(result, request.min_count)
        try:
            deliver(document, wanted, recorded=not (request.no_history or unrecorded))
            if request.output and not request.quiet:
                say(f"{document.verdict}: {document.reason}")
        finally:
            if unrecorded:
                say(unrecorded)
                teller.broke(unrecorded)
            else:
                teller.ran(document)
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
    last = next((head.started for head in records.runs()), None)
    cut = repeat(schedule, once, say, last=last, lock=records.alone, heartbeat=request.heartbeat)
    raise typer.Exit(ExitCode.INCONCLUSIVE if cut and not ended else ExitCode.PASS)


def reports(request: RunRequest) -> dict[Path | None, str]:
    """The format of each report, by its file; None: stdout. Raises UsageError for what cannot be, before the work."""
    many = len(request.output)
    if request.format is not None and many > 1:
        raise UsageError(f"--format goes with one --output, and there are {many}; leave it to the ending of each file")
    outputs: tuple[Path | None, ...] = tuple(request.output) or (None,)
    wanted = {each: report_format(DOCUMENTS, request.format, each) for each in outputs}
    for format in wanted.values():
        check_min_count(request.min_count, format)
    return wanted


def deliver(document: "RunResult", wanted: Mapping[Path | None, str], recorded: bool) -> None:
    """Writes each report; one that cannot be written keeps none of the others back. Raises UsageError."""
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
    """The policy file as it is now, with what the options say instead. Raises UsageError."""
    from qidsql.operations.policy_file import read_policy_file

    file = read_policy_file(request.config)
    with naming_variable("QIDSQL_K", None if request.k is None else str(request.k)):
        file = file.overridden(k=request.k)
    sources = {name: replace(each, gentle=request.gentle or each.gentle) for name, each in file.sources.items()}
    return replace(
        file,
        sources=sources,
        max_statements=request.max_statements or file.max_statements,
        max_seconds=request.max_seconds or file.max_seconds,
    )


def perform(file: "PolicyFile", request: RunRequest) -> "tuple[RunResult, str]":
    """A run and its recording: the result, and what to say where it could not be recorded. Raises QidsqlError."""
    from qidsql.errors import StoreError
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.run import Watch, run

    history = None
    if not request.no_history:
        url = request.history or file.history_url
        with naming_variable("QIDSQL_HISTORY", url):
            history = open_history(url, file.history_schema)
    if history is not None and request.baseline:
        with naming_variable("QIDSQL_BASELINE", request.baseline):
            history.find(request.baseline)
    with within(file.max_seconds):
        with showing_progress(request.quiet) as (stage, opened):
            result = run(
                file,
                history,
                only=tuple(request.only),
                baseline=request.baseline,
                fail_on=request.fail_on,
                resume=request.resume,
                watch=Watch(stage, opened),
            )
        if history is None:
            return result, ""
        try:
            with within(0.0 if result.interrupted else None):  # whoever interrupts does not wait
                history.record(result)
        except StoreError as error:
            return result, unrecorded(result, file.path.parent, str(error))
    return result, ""


def unrecorded(result: "RunResult", folder: Path, why: str) -> str:
    """Keeps the document of a run that is not in the history in a file, and says where."""
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
        later = f"it is kept in {path}; record it with: qidsql history --record {path}"
        return f"the run is not in the history: {why}; {later}"
    return f"the run is not in the history, nor could it be kept in a file: {why}. The report above is all there is"


def written(document: "RunResult", format: str, output: Path | None, recorded: bool = True) -> Iterator[str]:
    """The report on a run, in parts."""
    if format == TERMINAL:
        from qidsql.cli.run_report import report

        yield report_text(report(document, recorded), *screen(output))
    else:
        yield from document_format(format).written(document)
