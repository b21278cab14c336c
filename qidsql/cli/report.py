"""qidsql report, with the published JSON Schemas"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any

from qidsql import commands
from qidsql.cli.command import hide_counts
from qidsql.cli.history import opened_history
from qidsql.cli.options import (
    DOCUMENTS,
    TERMINAL,
    DocumentFormat,
    HistoryUrl,
    MinCount,
    Output,
    PolicyPath,
    check_min_count,
    report_format,
)
from qidsql.cli.run import written
from qidsql.cli.streams import check_output, parts, write_output
from qidsql.core.options import names
from qidsql.declarations.options import Command, Names, Option
from qidsql.declarations.results import MISMATCH
from qidsql.errors import UnknownName, UsageError
from qidsql.wording.texts import few, moment

if TYPE_CHECKING:
    from qidsql.formats.command_reports import CommandReport
    from qidsql.formats.reading import Found
    from qidsql.operations.alerts.delivery import AlertsOverview
    from qidsql.operations.changes import Diff
    from qidsql.operations.document import RunResult
    from qidsql.operations.history.records import RecordedRuns


# The published JSON Schemas: of the commands' JSON reports, and of the policy file.


POLICY = "policy"
DOCUMENT_CLASSES = {
    "run": ("qidsql.operations.document", "RunResult"),
    "history": ("qidsql.operations.history.records", "RecordedRuns"),
    "alerts": ("qidsql.operations.alerts.delivery", "AlertsOverview"),
    "diff": ("qidsql.operations.changes", "Diff"),
}  # results of commands without a folder of their own


def schema_names() -> list[str]:
    """The names with a published schema: commands with JSON reports, and the policy file."""
    folders = [each.name for each in iter_modules(commands.__path__) if each.ispkg]
    own = [name for name in folders if find_spec(f"qidsql.commands.{name}.report")]
    return sorted([*own, *DOCUMENT_CLASSES, POLICY])


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a command's JSON report, or of the policy file. Raises UnknownName."""
    from qidsql.declarations.results import schema_of
    from qidsql.operations.policy_schema import POLICY_SCHEMA

    if name not in schema_names():
        raise UnknownName("schema", [name], "qidsql", schema_names())
    return POLICY_SCHEMA if name == POLICY else schema_of(classes_of(name), name)


def classes_of(name: str) -> tuple[type, ...]:
    """The classes of a command's results."""
    if name in DOCUMENT_CLASSES:
        module, kind = DOCUMENT_CLASSES[name]
        return (getattr(import_module(module), kind),)
    from qidsql.commands import judgement

    return judgement.result_classes(name)


PAGES = ("html", "markdown")  # formats of any result, and of dossiers


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Render recorded runs and results of any command: one in another format, or several as one dossier.

    Nothing is audited, and no source is opened. A result of another command than audit and run, and a dossier of
    several results in the order given, is a page or Markdown. With --min-count the report of a run or an audit can be
    shared where small counts must not be: it keeps verdicts and column sets, and of the counts only the total number of
    rows of each table.
    """

    of: Annotated[
        Names,
        Option(
            "a recorded run (its id, a prefix of it, last, last~1), or a file written by any command with --format "
            "json; several make a dossier; default: last",
            "[RUN|FILE.json]...",
            argument=True,
        ),
    ] = ()
    only: Annotated[Names, Option("of a run only this table or pattern (repeat)", "TABLE")] = ()
    schema: Annotated[
        str | None,
        Option(
            f"print the JSON Schema of a command's JSON report, or of the policy file: {', '.join(schema_names())}",
            "NAME",
            values=(*schema_names(),),
        ),
    ] = None
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: DocumentFormat = None
    output: Output = None
    min_count: MinCount = None


COMMAND = Command(
    ReportRequest,
    examples=(
        "qidsql report last --output report.html",
        "qidsql report audit.json suppress.json verify.json --output dossier.html",
        "qidsql report audit.json --min-count 11 --format markdown",
        "qidsql report --schema policy --output qidsql.schema.json",
    ),
    exit_codes="0 written, 2 error; the verdict does not count",
)


def run(request: ReportRequest) -> None:
    """Renders the report. Raises UsageError, TomlFileError, StoreError."""
    if request.schema is not None:
        _write_schema(request, request.schema)
        return
    format = report_format(DOCUMENTS, request.format, request.output)
    check_min_count(request.min_count, format)
    given = names(request.of) or ("last",)
    results = [_result(request, each) for each in given]
    try:
        _write(request, results, format)
    except MISMATCH:
        if files := [each for each in given if _is_file(each)]:
            raise UsageError(f"{few(files)}: not as qidsql wrote it: its figures do not go together") from None
        raise


def _write_schema(request: ReportRequest, name: str) -> None:
    import json

    if request.of:
        raise UsageError(f"--schema {name} reads no run or file; leave out {few(names(request.of))}")
    check_output(request.output)
    write_output(json.dumps(schema(name), indent=2) + "\n", request.output)


def _write(request: ReportRequest, results: "Sequence[Found]", format: str) -> None:
    document = _document(results)
    if document is not None:
        document = hide_counts(document, request.min_count)
        with parts(request.output) as put:
            for text in written(document, format, request.output):
                put(text)
        return
    if format == TERMINAL and request.format is None and request.output is None:
        format = "markdown"
    if request.min_count is not None:
        raise UsageError("--min-count hides the counts of one run or one audit; of other results leave it out")
    if format not in PAGES:
        raise UsageError(f"a dossier and results of other commands are html or markdown, not {format}")
    write_output(_dossier(results, format), request.output)


def _result(request: ReportRequest, name: str) -> "Found":
    """The result in a file or in the history. Raises UsageError, TomlFileError."""
    if _is_file(name):
        from qidsql.formats.reading import result_in

        return result_in(Path(name))
    history = opened_history(request.config, request.history)
    return _part(history.result(history.find(name).run), names(request.only))


def _part(document: "RunResult", only: Sequence[str]) -> "RunResult":
    """The run with only these tables. Raises UnknownName."""
    from qidsql.core.tables import fits
    from qidsql.errors import UnknownName
    from qidsql.operations.document import PackedTables

    if not only:
        return document
    there = [table.table for table in document.tables]
    if unknown := [wanted for wanted in only if not any(fits(wanted, name) for name in there)]:
        raise UnknownName("table", unknown, f"run {document.run}", there)
    found = (table for table in document.tables if any(fits(wanted, table.table) for wanted in only))
    return replace(document, only=tuple(only), tables=PackedTables.of(found))


def _is_file(name: str) -> bool:
    """Whether it names a file, not a recorded run."""
    return Path(name).suffix == ".json" or Path(name).is_file()


def _document(results: "Sequence[Found]") -> "RunResult | None":
    """The document of the only result, if it is one of a run or an audit."""
    from qidsql.commands.audit.command import AuditResult
    from qidsql.operations.document import RunResult, as_document

    if len(results) > 1:
        return None
    [only] = results
    return as_document(only) if isinstance(only, AuditResult) else only if isinstance(only, RunResult) else None


def _dossier(results: "Sequence[Found]", format: str) -> str:
    from qidsql.core.results import Result
    from qidsql.formats.command_reports import CommandReport, report_as

    reports = [CommandReport.of(each) if isinstance(each, Result) else _listed(each) for each in results]
    return report_as(reports, format)


def _listed(found: "RunResult | RecordedRuns | Diff | AlertsOverview") -> "CommandReport":
    """The report of a command that has none in `qidsql.commands`."""
    from qidsql.cli import alerts, history
    from qidsql.cli.alerts import alerts_report
    from qidsql.cli.history import diff_report, report
    from qidsql.cli.run_report import report as run_report
    from qidsql.formats.command_reports import CommandReport, question_of
    from qidsql.operations.changes import Diff
    from qidsql.operations.document import RunResult
    from qidsql.operations.history.records import RecordedRuns

    if isinstance(found, RunResult):
        return CommandReport.of_run(found, run_report(found))
    if isinstance(found, RecordedRuns):
        return CommandReport.listed(found.table or "History", question_of(history.COMMAND.request), report(found))
    if isinstance(found, Diff):
        runs = tuple(moment(each.started) for each in (found.before, found.after))
        return CommandReport.listed("Two runs", question_of(history.DIFF.request), diff_report(found), runs)
    return CommandReport.listed("Alerts", question_of(alerts.ALERTS.request), alerts_report(found))
