"""The command line: options to calls, results to text, errors to exit codes. No logic of its own.

Nothing heavy is imported here: `--help` must answer at once.
"""

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from qidsql.errors import QidsqlError, Stopped, UsageError
from qidsql.options import (
    ColumnOption,
    DeltaOption,
    DistinctOption,
    EntityOption,
    EpsilonOption,
    ExcludeOption,
    Format,
    FormatOption,
    IdentifierOption,
    KOption,
    MaxSecondsOption,
    MaxStatementsOption,
    NullsOption,
    OutputOption,
    QuietOption,
    RowsAtRiskOption,
    SeedOption,
    SensitiveOption,
    SeparationOption,
    ShowSqlOption,
    SnapshotOption,
    SourceArgument,
    TableArgument,
    VerifyOption,
    ViolatesOption,
    WeightsOption,
    WhereOption,
    WorkersOption,
)
from qidsql.version import __version__

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.findings import AuditResult, ProfileResult
    from qidsql.search_findings import KeysResult, MaskResult
    from qidsql.sql.statements import Statement

TYPER_INTERRUPTED = 130  # what typer makes of Ctrl-C
PRETTY_STATEMENTS = 50  # laid out for reading in a dry run; that takes far longer than the statements' making
PLAIN_BARS = dict.fromkeys(map(ord, "█▉▊▋▌▍▎▏"), "#")  # where the terminal's encoding has no blocks

app = typer.Typer(
    name="qidsql",
    help="Audit tables for k-anonymity, keys and quasi-identifiers, by SQL that runs inside the database.",
    epilog=(
        "Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive (interrupted, budget spent, nothing to judge). "
        "Start with: qidsql demo"
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=False,
)


class ExitCode(IntEnum):
    """What a run of qidsql tells a script."""

    PASS = 0
    VIOLATION = 1
    ERROR = 2
    INCONCLUSIVE = 3


@app.command(
    epilog="""\b
Examples:
  qidsql audit warehouse.duckdb patients --k 5 --identifier patient_id --sensitive diagnosis
  qidsql audit postgresql://auditor@db.example.org/clinic public.visits --entity patient_id
  qidsql audit people.csv -c zip -c birth_date -c sex --format json --output audit.json
Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive"""
)
def audit(
    source: SourceArgument = None,
    table: TableArgument = None,
    k: KOption = 5,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    identifier: IdentifierOption = None,
    sensitive: SensitiveOption = None,
    keep_identifiers: Annotated[
        bool, typer.Option("--keep-identifiers", help="search recognised direct identifiers too")
    ] = False,
    distinct: Annotated[
        str | None,
        typer.Option(
            "--distinct",
            metavar="RATIO",
            help="no column set may reach this distinct ratio, such as 0.9",
            show_default=False,
        ),
    ] = None,
    separation: Annotated[
        str | None,
        typer.Option(
            "--separation", metavar="RATIO", help="no column set may reach this separation ratio", show_default=False
        ),
    ] = None,
    rows_at_risk: Annotated[
        str | None,
        typer.Option(
            "--rows-at-risk",
            metavar="RATIO",
            help="no column set may put this share of the rows below k",
            show_default=False,
        ),
    ] = None,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="largest column set to look for", show_default=False)
    ] = None,
    max_statements: Annotated[
        int | None,
        typer.Option(
            "--max-statements",
            metavar="N",
            help="statements to ask at most; default: 1000, fewer on large tables",
            show_default=False,
        ),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", metavar="N", help="seconds to work at most", show_default=False)
    ] = None,
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the statements, ask only the catalog")] = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
) -> None:
    """Is this table k-anonymous, and if not, which columns are to blame?

    Prints the verdict, the measures of every column, the smallest column sets below k, the keys, and what withholding
    a column would change. Reads only; no row and no cell value leaves the database.
    """
    from qidsql.policy import Policy, ratio
    from qidsql.verbs.audit import audit as run_audit
    from qidsql.verbs.audit import planned_statements

    policy = Policy(
        k=k,
        columns=tuple(column or ()),
        exclude=tuple(exclude or ()),
        identifiers=tuple(identifier or ()),
        sensitive=tuple(sensitive or ()),
        keep_identifiers=keep_identifiers,
        distinct=ratio(distinct, "distinct"),
        separation=ratio(separation, "separation"),
        rows_at_risk=ratio(rows_at_risk, "rows-at-risk"),
        where=where,
        entity=entity,
        nulls=nulls,
        max_size=max_size,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    _check_output(output)
    source, table = _source_and_table(source, table)
    with _connect(source, workers, snapshot, show_sql) as engine:
        if dry_run:
            _write(_script(engine, planned_statements(engine, table, policy)), output)
            return
        with _progress(engine, quiet) as on_stage:
            result = run_audit(engine, table, policy, on_stage)
    _write(_render(result, format, output), output)
    if output is not None and not quiet:
        _print(f"qidsql: {result.verdict}: {result.reason}\n", sys.stderr)
    raise typer.Exit(_exit_code(result))


@app.command(epilog="Example: qidsql profile people.csv -c zip -c birth_date -c sex --show-sql")
def profile(
    source: SourceArgument = None,
    table: TableArgument = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            "--column",
            metavar="NAME",
            help="a column of the set (repeat); default: all columns together",
            show_default=False,
        ),
    ] = None,
    k: KOption = 5,
    where: WhereOption = None,
    entity: EntityOption = None,
    nulls: NullsOption = "equal",
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the statement, ask only the catalog")] = False,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
) -> None:
    """The measures of one column set: classes, ratios, k-anonymity level, rows at risk.

    One statement, one scan. Measures only: the exit code is 0 whatever they are, 3 where there is no row to measure.
    """
    from qidsql.policy import Policy
    from qidsql.verbs.profile import planned_statement
    from qidsql.verbs.profile import profile as run_profile

    policy = Policy(k=k, columns=tuple(column or ()), where=where, entity=entity, nulls=nulls)
    _check_output(output)
    source, table = _source_and_table(source, table)
    with _connect(source, 1, True, show_sql) as engine:
        if dry_run:
            _write(_script(engine, [planned_statement(engine, table, policy)]), output)
            return
        with _progress(engine, quiet) as on_stage:
            on_stage("profiling the column set")
            result = run_profile(engine, table, policy)
    _write(_render(result, format, output), output)
    if result.profile.rows == 0:
        raise typer.Exit(ExitCode.INCONCLUSIVE)


@app.command(
    epilog="""\b
Examples:
  qidsql keys warehouse.duckdb patients
  qidsql keys warehouse.duckdb patients --all --distinct 0.9 --max-size 4
  qidsql keys postgresql://auditor@db.example.org/clinic public.visits --epsilon 0.001 --delta 0.01
Exit codes: 0 finished, 2 error, 3 inconclusive"""
)
def keys(
    source: SourceArgument = None,
    table: TableArgument = None,
    all_sets: Annotated[bool, typer.Option("--all", help="all minimal sets, not one smallest")] = False,
    minimal: Annotated[bool, typer.Option("--minimal", help="one minimal set, by the fewest statements")] = False,
    distinct: DistinctOption = None,
    separation: SeparationOption = None,
    violates: ViolatesOption = None,
    rows_at_risk: RowsAtRiskOption = None,
    k: KOption = 5,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    seed: SeedOption = None,
    verify: VerifyOption = True,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            metavar="NAME",
            help="implicit-hitting-set, greedy, naive-greedy, sampled (one smallest set); greedy-minimal (one minimal "
            "set); hitting-sets, borders, levelwise, pruned, iterative (all). Default: chosen and said",
            show_default=False,
        ),
    ] = None,
    weights: WeightsOption = None,
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    where: WhereOption = None,
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="largest column set of --all", show_default=False)
    ] = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="column sets shown at most; json has all", min=1)
    ] = 10,
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
) -> None:
    """Which columns together are a key or a quasi-identifier: the smallest set, or every minimal one.

    Without a criterion: keys, which tell every row apart. Every set is measured on the full table. The exit code is 0
    whatever is found, 3 when a budget ended the search or there is no row.
    """
    from qidsql.policy import Policy, ratio
    from qidsql.question import Sampling, Wanted, criterion
    from qidsql.question import weights as read_weights
    from qidsql.verbs.keys import KeysQuestion
    from qidsql.verbs.keys import keys as run_keys

    if all_sets and minimal:
        raise UsageError("choose one of --all and --minimal")
    policy = Policy(
        k=violates or k,
        distinct=ratio(distinct, "distinct"),
        separation=ratio(separation, "separation"),
        rows_at_risk=ratio(rows_at_risk, "rows-at-risk"),
        columns=tuple(column or ()),
        exclude=tuple(exclude or ()),
        where=where,
        max_size=max_size,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    question = KeysQuestion(
        policy,
        criterion(policy.distinct, policy.separation, violates, policy.rows_at_risk, k),
        Wanted.ALL if all_sets else Wanted.MINIMAL if minimal else None,
        algorithm,
        read_weights(weights),
        Sampling(ratio(epsilon, "epsilon"), ratio(delta, "delta"), seed, verify),
        limit,
    )
    _check_output(output)
    source, table = _source_and_table(source, table)
    with _connect(source, workers, snapshot, show_sql) as engine, _progress(engine, quiet) as on_stage:
        result = run_keys(engine, table, question, on_stage)
    _finish(result, format, output, quiet)


@app.command(
    epilog="""\b
Examples:
  qidsql mask warehouse.duckdb patients --violates 5
  qidsql mask warehouse.duckdb patients --separation 0.8 --exact --weights zip_code=3
Exit codes: 0 finished, 2 error, 3 inconclusive"""
)
def mask(
    source: SourceArgument = None,
    table: TableArgument = None,
    distinct: DistinctOption = None,
    separation: SeparationOption = None,
    violates: ViolatesOption = None,
    rows_at_risk: RowsAtRiskOption = None,
    k: KOption = 5,
    exact: Annotated[bool, typer.Option("--exact", help="prove that no choice publishes more")] = False,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    seed: SeedOption = None,
    verify: VerifyOption = True,
    weights: WeightsOption = None,
    view: Annotated[
        str | None,
        typer.Option("--view", metavar="NAME", help="the view's name; default: TABLE_published", show_default=False),
    ] = None,
    role: Annotated[str, typer.Option("--role", metavar="NAME", help="who is to read it, in the script")] = "reader",
    column: ColumnOption = None,
    exclude: ExcludeOption = None,
    where: WhereOption = None,
    max_statements: MaxStatementsOption = None,
    max_seconds: MaxSecondsOption = None,
    format: FormatOption = Format.terminal,
    output: OutputOption = None,
    show_sql: ShowSqlOption = False,
    quiet: QuietOption = False,
    workers: WorkersOption = 2,
    snapshot: SnapshotOption = True,
) -> None:
    """Which columns can be published together, so that they do not meet the criterion.

    Prints what is published and withheld, how near the optimum that is, and the statements that would carry it out;
    runs none of them. A ratio of exactly --distinct or --separation may be published.
    """
    from qidsql.policy import Policy, ratio
    from qidsql.question import Sampling, criterion
    from qidsql.question import weights as read_weights
    from qidsql.verbs.mask import MaskQuestion
    from qidsql.verbs.mask import mask as run_mask

    policy = Policy(
        k=violates or k,
        distinct=ratio(distinct, "distinct"),
        separation=ratio(separation, "separation"),
        rows_at_risk=ratio(rows_at_risk, "rows-at-risk"),
        columns=tuple(column or ()),
        exclude=tuple(exclude or ()),
        where=where,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    question = MaskQuestion(
        policy,
        criterion(policy.distinct, policy.separation, violates, policy.rows_at_risk, k),
        exact,
        read_weights(weights),
        Sampling(ratio(epsilon, "epsilon"), ratio(delta, "delta"), seed, verify),
        view,
        role,
    )
    _check_output(output)
    source, table = _source_and_table(source, table)
    with _connect(source, workers, snapshot, show_sql) as engine, _progress(engine, quiet) as on_stage:
        result = run_mask(engine, table, question, on_stage)
    _finish(result, format, output, quiet)


@app.command(epilog="Example: qidsql demo --keep clinic.duckdb")
def demo(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="keep the sample database in this file", show_default=False),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Make a sample database and audit it: the two-minute tour.

    The clinic in it is made up: 20,000 patients, 60,000 visits. The exit code is 0 although the audit finds a
    violation, since finding it is what the demo is for.
    """
    import tempfile
    from dataclasses import replace

    from qidsql.verbs.audit import audit as run_audit
    from qidsql.verbs.demo import NEXT_STEPS, POLICY, TABLE, write_demo

    with tempfile.TemporaryDirectory(prefix="qidsql-demo-") as folder:
        path = keep or Path(folder) / "clinic.duckdb"
        write_demo(path)
        with _connect(str(path), 1, True, False) as engine, _progress(engine, quiet) as on_stage:
            result = run_audit(engine, TABLE, POLICY, on_stage)
    shown = str(keep) if keep else "clinic.duckdb"  # the temporary file is gone before anyone could follow its path
    report = _render(replace(result, source=shown), Format.terminal, None)
    _write(report if keep else report.rpartition("Next: ")[0], None)
    if not quiet:
        _print(NEXT_STEPS.format(path=shown, first="" if keep else "  qidsql demo --keep clinic.duckdb\n"), sys.stdout)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qidsql {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; every error becomes one line on stderr and exit code 2."""
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):  # Windows has no SIGHUP
        signal.signal(ending, signal.default_int_handler)
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
        if code == TYPER_INTERRUPTED:
            raise KeyboardInterrupt
    except Stopped as stop:
        _fail(str(stop))
        code = ExitCode.INCONCLUSIVE
    except QidsqlError as error:
        _fail(str(error))
        code = ExitCode.ERROR
    except typer.Exit as exit:
        code = exit.exit_code
    except KeyboardInterrupt:
        _fail("interrupted")
        code = ExitCode.INCONCLUSIVE
    except Exception as error:  # noqa: BLE001 - the last place that can turn it into one line
        format_message = getattr(error, "format_message", None)  # typer's own usage errors
        _fail(format_message() if format_message else _internal(error))
        code = ExitCode.ERROR
    sys.exit(int(code or 0))


def _internal(error: Exception) -> str:
    """An error that nobody foresaw, by its place alone: its text and its traceback can hold values of cells."""
    if os.environ.get("QIDSQL_DEBUG"):
        raise error
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal error ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}); please report it. "
        f"QIDSQL_DEBUG=1 shows the traceback, which can hold values"
    )


def _fail(message: str) -> None:
    _print(f"qidsql: {' '.join(message.split())}\n", sys.stderr)


def _source_and_table(source: str | None, table: str | None) -> tuple[str | None, str | None]:
    """A single argument names the table when QIDSQL_URL names the source and no file has that name."""
    if source and table is None and os.environ.get("QIDSQL_URL") and not Path(source).exists():
        if source.startswith("env:") or any(sign in source for sign in "*?/=@"):
            return source, table
        return None, source
    return source, table


def _connect(source: str | None, workers: int, snapshot: bool, show_sql: bool) -> "Engine":
    from qidsql.engines.connect import connect

    engine = connect(source, workers=workers, snapshot=snapshot)
    if show_sql:
        engine.watchers.append(lambda asked: _print(_sql(engine, asked.purpose, asked.sql) + "\n", sys.stderr))
    return engine


def _progress(engine: "Engine", quiet: bool) -> "AbstractContextManager[Callable[[str], None]]":
    from qidsql.progress import progress

    return progress(engine, sys.stderr, quiet or sys.stderr is None)


def _render(
    result: "AuditResult | ProfileResult | KeysResult | MaskResult", format: Format, output: Path | None
) -> str:
    if format is Format.json:
        from qidsql.report import json

        return json.render(result)
    from qidsql.report import terminal

    on_screen = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = max(60, min(140, shutil.get_terminal_size((120, 24)).columns)) if output is None else 120
    return terminal.render(result, width, colour=on_screen and not os.environ.get("NO_COLOR"))


def _sql(engine: "Engine", purpose: str, statement: str) -> str:
    return f"-- {purpose}\n{engine.dialect.pretty(statement)};\n"


def _script(engine: "Engine", statements: "Sequence[Statement[Any]]") -> str:
    from qidsql.figures import plural

    parts = [_sql(engine, statement.purpose, statement.sql) for statement in statements[:PRETTY_STATEMENTS]]
    parts += [f"-- {statement.purpose}\n{statement.sql};\n" for statement in statements[PRETTY_STATEMENTS:]]
    return "\n".join(parts) + (
        f"\n-- {plural(len(statements), 'statement')} at least; later ones depend on the answers. "
        f"Nothing was asked but the catalog.\n"
    )


def _check_output(output: Path | None) -> None:
    """A path that cannot be written is said before the work, not after it."""
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise UsageError(f"--output {output} cannot be written: its folder must exist, and it must name a file")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        _print(text, sys.stdout)
        return
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written ({error.strerror})") from None


def _print(text: str, stream: TextIO | None) -> None:
    """Writes to stdout or stderr. A reader that left and a closed stream are no errors: the exit code still counts."""
    if stream is None:
        return
    try:
        text.encode(stream.encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN_BARS)
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # what is left in the stream's buffer goes there
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise UsageError(f"the report cannot be written to stdout ({error.strerror})") from None


def _finish(result: "KeysResult | MaskResult", format: Format, output: Path | None, quiet: bool) -> None:
    """Writes the report of a search, and ends with its exit code."""
    _write(_render(result, format, output), output)
    if output is not None and not quiet:
        _print(f"qidsql: {result.outcome}: {result.reason}\n", sys.stderr)
    if str(result.outcome) != "finished":
        raise typer.Exit(ExitCode.INCONCLUSIVE)


def _exit_code(result: "AuditResult") -> ExitCode:
    return {"pass": ExitCode.PASS, "violation": ExitCode.VIOLATION}.get(str(result.verdict), ExitCode.INCONCLUSIVE)
