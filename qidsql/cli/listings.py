"""Writes the reports of commands that read the history or the policy file, in each of their formats."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qidsql.cli.console import report_text, screen
from qidsql.cli.options import TERMINAL
from qidsql.cli.streams import write_output

if TYPE_CHECKING:
    from qidsql.report.blocks import Report


def write_listing(request: Any, format: str, found: object, report: "Report", title: str) -> None:
    """Writes what was found to the output of the request, by default to stdout. Raises UsageError."""
    write_output(_text(type(request), format, found, report, title, request.output), request.output)


def _text(request: type, format: str, found: object, report: "Report", title: str, output: Path | None) -> str:
    if format == "json":
        from qidsql.formats import json

        return json.indented(found)
    if format == TERMINAL:
        return report_text(report, *screen(output))
    from qidsql.formats.command_reports import CommandReport, question_of, report_as

    return report_as(CommandReport.listed(title, question_of(request), report), format)
