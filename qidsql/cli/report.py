"""qidsql report"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qidsql.cli.command import shown
from qidsql.cli.history import opened_history
from qidsql.cli.options import (
    DOCUMENTS,
    DocumentFormat,
    HistoryUrl,
    MinCount,
    Output,
    PolicyPath,
    check_min_count,
    report_format,
)
from qidsql.cli.run import written
from qidsql.cli.streams import parts
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Writes the report of a run or an audit again, in another format.

    Nothing is audited and no source is asked. With --min-count the report can be passed on where small counts may not:
    verdicts and column sets stay, and of the counts of rows the total of each table alone.
    """

    of: Annotated[
        str,
        Option(
            "a recorded run (its id, a beginning of it, last, last~1), or what qidsql audit or run wrote with --format "
            "json",
            "[RUN|FILE.json]",
            argument=True,
        ),
    ] = "last"
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: DocumentFormat = None
    output: Output = None
    min_count: MinCount = None


COMMAND = Command(
    ReportRequest,
    examples=(
        "qidsql report last --output report.html",
        "qidsql report audit.json --min-count 11 --format markdown",
    ),
    exit_codes="0 written, 2 error; the verdict stands in the report",
)


def run(request: ReportRequest) -> None:
    """Writes the report. Raises UsageError, TomlFileError, StoreError."""
    format = report_format(DOCUMENTS, request.format, request.output)
    check_min_count(request.min_count, format)
    document = shown(_document(request), request.min_count)
    with parts(request.output) as put:
        for text in written(document, format, request.output):
            put(text)


def _document(request: ReportRequest) -> "RunResult":
    """The document of a file, or of a run in the history. Raises UsageError, TomlFileError."""
    path = Path(request.of)
    if path.suffix == ".json" or path.is_file():
        from qidsql.formats.reading import read

        return read(path)
    kept = opened_history(request.config, request.history)
    return kept.result(kept.find(request.of).run)
