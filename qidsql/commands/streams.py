"""Words onto stdout, stderr and into files."""

import os
import sys
from pathlib import Path
from typing import TextIO

from qidsql.errors import UsageError

PLAIN_BARS = dict.fromkeys(map(ord, "█▉▊▋▌▍▎▏"), "#")  # where the terminal's encoding has no blocks


def say(text: str) -> None:
    """A line on stderr, with the program's name."""
    put(f"qidsql: {' '.join(text.split())}\n", sys.stderr)


def put(text: str, stream: TextIO | None) -> None:
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


def write(text: str, output: Path | None) -> None:
    """Writes into the file, or onto stdout where none is given. Raises UsageError."""
    if output is None:
        put(text, sys.stdout)
        return
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written ({error.strerror})") from None


def check_output(output: Path | None) -> None:
    """A path that cannot be written is said before the work, not after it. Raises UsageError."""
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise UsageError(f"--output {output} cannot be written: its folder must exist, and it must name a file")
