"""qidsql init"""

import sys
from typing import Any

from qidsql.cli.command import LineOptions, renderer, source_of, work_of
from qidsql.cli.options import TERMINAL, chosen_format
from qidsql.cli.streams import put, showing_progress, write_output
from qidsql.commands.init.command import DEFAULT
from qidsql.declarations.options import Command
from qidsql.errors import UsageError


def perform(name: str, command: Command, source: str | None, request: Any, line: LineOptions) -> None:
    """Writes the file, and a summary to stdout; with --output - the file to stdout, the summary to stderr."""
    from dataclasses import replace

    from qidsql.commands.init.draft import draft
    from qidsql.commands.init.init import write_file
    from qidsql.commands.init.report import questions, reviewed

    format = chosen_format(command.formats, line.format, None)
    to_stdout = str(request.output) == "-"
    request = replace(request, output=None if to_stdout else request.output or DEFAULT)
    if request.review:
        _check_terminal(request)
    silent = replace(request, review=False, output=None if request.review else request.output)
    with showing_progress(line.quiet) as (on_stage, watch, _):
        result = work_of(name)(source_of(command, source, silent, line, watch), silent, on_stage)
    if request.review:
        result = reviewed(result, questions(result), _asked)
        result = result if request.file is None else write_file(result, request, request.file)
    if to_stdout:
        write_output(draft(result), None)
        if not line.quiet:
            put("".join(renderer(name, request, TERMINAL, line)(result)), sys.stderr)
    elif not line.quiet or line.format is not None:
        write_output("".join(renderer(name, request, format, line)(result)), None)


def _check_terminal(request: Any) -> None:
    """Raises UsageError before any work if nobody can be asked, or the answers could not be written."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("--review asks at a terminal, and there is none; leave it out, and correct the file")
    request.check_file()


def _asked(text: str, answers: tuple[str, ...]) -> str:
    """The answer to a question: one of these letters, nothing, or a dot to end."""
    put(f"\n{text}, Enter = leave it marked CHECK, . = no more questions\n", sys.stderr)
    while True:
        put("> ", sys.stderr)
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line:
            return "."
        if answer in ("", ".", *answers):
            return answer
        put(f"expected one of {', '.join(answers)}, Enter or a dot\n", sys.stderr)
