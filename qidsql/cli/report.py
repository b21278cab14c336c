"""qidsql report"""

from pathlib import Path
from typing import Annotated, Any

import typer

from qidsql.cli.command import check_min_count, check_report
from qidsql.cli.history import opened_history
from qidsql.cli.run import render
from qidsql.cli.streams import parts
from qidsql.core.options import (
    HistoryOption,
    MinCountOption,
    OutputOption,
    PolicyFileOption,
    ReportFormat,
    ReportFormatOption,
)

EXAMPLES = """\b
Examples:
  qidsql report last --output report.html
  qidsql report audit.json --min-count 11 --format markdown
Exit codes: 0 written, 2 error; the verdict stands in the report"""


def run(
    of: Annotated[
        str,
        typer.Argument(
            metavar="[RUN|FILE.json]",
            help="a recorded run (its id, a beginning of it, last, last~1), or what qidsql audit or run wrote with "
            "--format json",
            show_default=False,
        ),
    ] = "last",
    config: PolicyFileOption = Path("qidsql.toml"),
    history: HistoryOption = None,
    format: ReportFormatOption = None,
    output: OutputOption = None,
    min_count: MinCountOption = None,
) -> None:
    """Writes the report of a run or an audit again, in another format.

    Nothing is audited and no source is asked. With --min-count the report can be passed on where small counts may not:
    verdicts and column sets stay, and of the counts of rows the total of each table alone.
    """
    wanted = check_report(output, format, ReportFormat)
    check_min_count(min_count, wanted)
    document = _document(of, config, history)
    if min_count is not None:
        from qidsql.formats.min_count import without_small_counts

        document = without_small_counts(document, min_count)
    with parts(output) as put:
        for text in render(document, wanted, output):
            put(text)


def _document(of: str, config: Path, history: str | None) -> dict[str, Any]:
    """The document of a file, or of a run in the history. Raises UsageError, TomlFileError."""
    if Path(of).suffix == ".json" or Path(of).is_file():
        from qidsql.formats.reading import read

        return read(Path(of))
    kept = opened_history(config, history)
    return kept.document(kept.find(of).run)
