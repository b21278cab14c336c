"""qidsql report"""

from pathlib import Path
from typing import Annotated

import typer

from qidsql.commands.running import check_min_count, chosen
from qidsql.commands.streams import check_output, write
from qidsql.options import MinCountOption, OutputOption, ReportFormat, ReportFormatOption

EXAMPLES = """\b
Examples:
  qidsql report audit.json --output report.html
  qidsql report audit.json --min-count 11 --format markdown
Exit codes: 0 written, 2 error; the verdict stands in the report"""


def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.json", help="what qidsql audit or run wrote with --format json", show_default=False
        ),
    ],
    format: ReportFormatOption = None,
    output: OutputOption = None,
    min_count: MinCountOption = None,
) -> None:
    """Writes the report of an audit or a run again, in another format.

    Nothing is audited and no database is asked. With --min-count the report can be passed on where small counts may
    not: rows below k come in steps, and what would give small counts away is left out.
    """
    from qidsql.report.documents.min_count import without_small_counts
    from qidsql.report.documents.rendering import render
    from qidsql.report.documents.written import read

    wanted = chosen(format, ReportFormat, output)
    wanted = ReportFormat.markdown if wanted == ReportFormat.terminal else wanted
    check_output(output)
    check_min_count(min_count, wanted)
    document = read(file)
    if min_count is not None:
        document = without_small_counts(document, min_count)
    write(render(document, wanted), output)
