"""qidsql run"""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qidsql.cli.command import (
    ExitCode,
    check_min_count,
    check_report,
    screen,
    showing_progress_of_many,
    standing_for,
)
from qidsql.cli.streams import parts, say
from qidsql.core.options import (
    STATEMENTS,
    GentleOption,
    HistoryOption,
    MinCountOption,
    OutputsOption,
    QuietOption,
    ReportFormat,
    ReportFormatOption,
)
from qidsql.errors import QidsqlError, UsageError
from qidsql.operations.policy_schema import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qidsql.operations.document import RunResult
    from qidsql.operations.policy_file import PolicyFile

EXAMPLES = (
    """\b
Examples:
  qidsql run
  qidsql run qidsql.toml --only main.patients --only "main.visits_*"
  qidsql run --fail-on new --output run.json --output report.html --output metrics.prom
  QIDSQL_K=11 qidsql run --max-seconds 3600
  qidsql run --every "0 3 * * *" --timezone Europe/Amsterdam
Presets of the policy file (preset = "cms"):
"""
    + "".join(f"  {name:<5} {preset.source}\n" for name, preset in PRESETS.items())
    + """\
Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive; of several tables error counts most, then violation"""
)


class FailOn(StrEnum):
    any = "any"
    new = "new"


ConfigArgument = Annotated[
    Path, typer.Argument(metavar="[FILE]", help="the policy file; default: qidsql.toml", show_default=False)
]


def run(
    config: ConfigArgument = Path("qidsql.toml"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="TABLE", help="audit this table, source or pattern alone (repeat)", show_default=False
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            envvar="QIDSQL_BASELINE",
            show_envvar=False,
            help="compare findings with this run; default: the last complete one",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            "--fail-on",
            envvar="QIDSQL_FAIL_ON",
            show_envvar=False,
            help="new: a violation counts only where a finding is new or worse than in the run compared with",
        ),
    ] = FailOn.any,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="K",
            envvar="QIDSQL_K",
            show_envvar=False,
            help="for all tables, whatever the file says",
            show_default=False,
        ),
    ] = None,
    max_statements: Annotated[
        int | None,
        typer.Option(
            "--max-statements",
            metavar="N",
            envvar="QIDSQL_MAX_STATEMENTS",
            show_envvar=False,
            help=f"statements to ask in the whole run at most; {STATEMENTS}",
            min=1,
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            metavar="N",
            envvar="QIDSQL_MAX_SECONDS",
            show_envvar=False,
            help="seconds for the whole run at most",
            min=0.001,
            show_default=False,
        ),
    ] = None,
    gentle: GentleOption = False,
    history: HistoryOption = None,
    no_history: Annotated[bool, typer.Option("--no-history", help="record nothing, compare with nothing")] = False,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="continue an interrupted run where its source is unchanged")
    ] = True,
    alerts: Annotated[bool, typer.Option("--alerts/--no-alerts", help="tell the alerts of the policy file")] = True,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="CRON",
            help="stay, and run at the times of a cron line, such as '0 3 * * *'; SIGTERM ends it",
            show_default=False,
        ),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--timezone",
            metavar="NAME",
            help="the time zone of --every, such as Europe/Amsterdam; default: $TZ, else the machine's",
            show_default=False,
        ),
    ] = None,
    heartbeat: Annotated[
        Path | None,
        typer.Option(
            "--heartbeat",
            metavar="FILE",
            help="with --every, touch this file every 10 seconds, for a health check",
            show_default=False,
        ),
    ] = None,
    format: ReportFormatOption = None,
    output: OutputsOption = None,
    min_count: MinCountOption = None,
    quiet: QuietOption = False,
) -> None:
    """Audits every table of a policy file, compares with the last run, and records the result.

    One table that fails does not stop the rest. Reads only, but for the history: a DuckDB file beside the policy file,
    or where the file says. The variables QIDSQL_K, QIDSQL_MAX_STATEMENTS, QIDSQL_MAX_SECONDS, QIDSQL_FAIL_ON,
    QIDSQL_BASELINE and QIDSQL_HISTORY stand for options.

    With --every it stays until SIGTERM or Ctrl-C, reads the policy file anew each time, and ends with 0, or with 3
    when that cut a run off. A time at which another process is at work with the same history is left out.
    """
    from qidsql.cli.alerting import Teller

    if every is None and (timezone is not None or heartbeat is not None):
        raise UsageError("--timezone and --heartbeat go with --every")
    if every is not None and no_history:
        raise UsageError("--every needs the history: it keeps two schedulers apart and knows the last run")
    wanted = reports(format, output or (), min_count)
    teller = Teller(quiet)
    ended = False

    def policy_file() -> "PolicyFile":
        file = policy(config, k=k, max_statements=max_statements, max_seconds=max_seconds, gentle=gentle)
        teller.follow(file, None if no_history or not alerts else history or file.history_url)
        return file

    def once() -> int:
        nonlocal ended
        ended = False
        try:
            file = policy_file()
            result, unrecorded = perform(
                file,
                None if no_history else history or file.history_url,
                quiet,
                only=only or (),
                baseline=baseline,
                fail_on=fail_on,
                resume=resume,
            )
        except QidsqlError as error:
            if every is not None or not isinstance(error, UsageError):  # at a terminal, a slip of the pen is no news
                teller.broke(str(error))
            raise
        ended = not result.interrupted
        document = result.document()
        if min_count is not None:
            from qidsql.formats.min_count import without_small_counts

            document = without_small_counts(document, min_count)
        try:
            deliver(document, wanted, recorded=not (no_history or unrecorded))
            if output and not quiet:
                say(f"{document['verdict']}: {document['reason']}")
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

    if every is None:
        raise typer.Exit(once())
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.schedule import Schedule, repeat

    schedule = Schedule.read(every, timezone)
    file = policy_file()
    records = open_history(history or file.history_url, file.history_schema)
    last = next((datetime.fromisoformat(head.started) for head in records.runs()), None)
    cut = repeat(schedule, once, say, last=last, lock=records.alone, heartbeat=heartbeat)
    raise typer.Exit(ExitCode.INCONCLUSIVE if cut and not ended else ExitCode.PASS)


def reports(
    format: ReportFormat | None, outputs: "Sequence[Path]", min_count: int | None
) -> "dict[Path | None, StrEnum]":
    """The format of each report, by its file; None: stdout. Raises UsageError for what cannot be, before the work."""
    if format is not None and len(outputs) > 1:
        raise UsageError(f"--format goes with one --output, and there are {len(outputs)}; let the ending of each tell")
    wanted: dict[Path | None, StrEnum] = {each: check_report(each, format, ReportFormat) for each in outputs or (None,)}
    for kind in wanted.values():
        check_min_count(min_count, kind)
    return wanted


def deliver(document: "dict[str, Any]", wanted: "Mapping[Path | None, StrEnum]", recorded: bool) -> None:
    """Writes each report; one that cannot be written keeps none of the others back. Raises UsageError."""
    failures = []
    for output, format in wanted.items():
        try:
            with parts(output) as put:
                for text in render(document, format, output, recorded):
                    put(text)
        except UsageError as error:
            failures.append(str(error))
    if failures:
        raise UsageError("; ".join(failures))


def policy(
    config: Path, k: int | None, max_statements: int | None, max_seconds: float | None, gentle: bool
) -> "PolicyFile":
    """The policy file as it is now, with what the options say instead. Raises UsageError."""
    from dataclasses import replace

    from qidsql.operations.policy_file import read_policy_file

    file = read_policy_file(config)
    with standing_for("QIDSQL_K", None if k is None else str(k)):
        file = file.overridden(k=k)
    sources = {name: replace(source, gentle=gentle or source.gentle) for name, source in file.sources.items()}
    return replace(
        file,
        sources=sources,
        max_statements=max_statements or file.max_statements,
        max_seconds=max_seconds or file.max_seconds,
    )


def perform(file: "PolicyFile", history_url: str | None, quiet: bool, **options: Any) -> "tuple[RunResult, str]":
    """A run and its recording: the result, and what to say where it could not be recorded. Raises QidsqlError."""
    from qidsql.core.time_limit import within
    from qidsql.errors import StoreError
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.run import Watch, run

    history = None
    if history_url is not None:
        with standing_for("QIDSQL_HISTORY", history_url):
            history = open_history(history_url, file.history_schema)
    if history is not None and options.get("baseline"):
        with standing_for("QIDSQL_BASELINE", options["baseline"]):
            history.find(options["baseline"])
    with within(file.max_seconds):
        with showing_progress_of_many(quiet) as (stage, opened):
            result = run(file, history, watch=Watch(stage, opened), **options)
        if history is None:
            return result, ""
        try:
            with within(0.0 if result.interrupted else None):  # whoever interrupts does not wait
                history.record(result.document())
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
                file.writelines(json.written(result.document()))
        except OSError:
            path.unlink(missing_ok=True)
            continue
        later = f"it is kept in {path}; record it with: qidsql history --record {path}"
        return f"the run is not in the history: {why}; {later}"
    return f"the run is not in the history, nor could it be kept in a file: {why}. The report above is all there is"


def render(document: "dict[str, Any]", format: StrEnum, output: Path | None, recorded: bool = True) -> "Iterator[str]":
    """The report on a run, in parts."""
    if format != ReportFormat.terminal:
        from qidsql.formats.render import written

        yield from written(document, format)
    else:
        from qidsql.cli import run_report as report

        yield report.render(document, *screen(output), recorded)
