"""qidsql report"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qidsql.cli.command import hide_counts
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
    """Render the report of a recorded run or audit in another format.

    Nothing is audited, and no source is opened. With --min-count the report can be shared where small counts must not
    be: it keeps verdicts and column sets, and of the counts only the total number of rows of each table.
    """

    of: Annotated[
        str,
        Option(
            "a recorded run (its id, a prefix of it, last, last~1), or a file written by qidsql audit or run with "
            "--format json",
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
    exit_codes="0 written, 2 error; the verdict does not count",
)


def run(request: ReportRequest) -> None:
    """Renders the report. Raises UsageError, TomlFileError, StoreError."""
    format = report_format(DOCUMENTS, request.format, request.output)
    check_min_count(request.min_count, format)
    document = hide_counts(_document(request), request.min_count)
    with parts(request.output) as put:
        for text in written(document, format, request.output):
            put(text)


def _document(request: ReportRequest) -> "RunResult":
    """The document in a file or in the history. Raises UsageError, TomlFileError."""
    path = Path(request.of)
    if path.suffix == ".json" or path.is_file():
        from qidsql.formats.reading import read_document

        return read_document(path)
    history = opened_history(request.config, request.history)
    return history.result(history.find(request.of).run)
