"""qidsql history"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qidsql.cli.listings import write_listing
from qidsql.cli.options import LISTINGS, Format, HistoryUrl, Output, PolicyPath, Quiet, naming_variable, report_format
from qidsql.cli.streams import say
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UsageError

if TYPE_CHECKING:
    from qidsql.operations.history.records import History, RecordedRuns


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
    from qidsql.cli.history_report import report

    format = report_format(LISTINGS, request.format, request.output)
    history = opened_history(request.config, request.history, existing=request.record is None)
    if request.record is not None:
        _record(history, request.record, request.quiet)
        return
    found = _recorded_runs(history, request)
    write_listing(request, format, found, report(found), request.table or "History")


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
