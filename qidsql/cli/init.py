"""qidsql init"""

import sys
from typing import Any

from qidsql.cli.command import LineOptions, renderer, source_of, work_of
from qidsql.cli.options import TERMINAL, chosen_format
from qidsql.cli.progress import showing_progress
from qidsql.cli.streams import put, write_output
from qidsql.commands.init.command import DEFAULT
from qidsql.declarations.commands import Command


def perform(name: str, command: Command, source: str | None, request: Any, line: LineOptions) -> None:
    """Writes the file, and a summary to stdout; with --output - the file to stdout, the summary to stderr."""
    from dataclasses import replace

    from qidsql.commands.init.draft import draft

    format = chosen_format(command.formats, line.format, None)
    to_stdout = str(request.output) == "-"
    request = replace(request, output=None if to_stdout else request.output or DEFAULT)
    with showing_progress(line.quiet) as (on_stage, watch, _):
        result = work_of(name)(source_of(command, source, request, line, watch), request, on_stage)
    if to_stdout:
        write_output(draft(result), None)
        if not line.quiet:
            put("".join(renderer(name, request, TERMINAL, line)(result)), sys.stderr)
    elif not line.quiet or line.format is not None:
        write_output("".join(renderer(name, request, format, line)(result)), None)
