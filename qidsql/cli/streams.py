"""Words onto stdout, stderr and into files."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from qidsql.errors import UsageError, redacted

PLAIN_BARS = dict.fromkeys(map(ord, "█▉▊▋▌▍▎▏"), "#")  # where the terminal's encoding has no blocks


def say(text: str) -> None:
    """A line on stderr, with the program's name."""
    put(f"qidsql: {redacted(' '.join(text.split()))}\n", sys.stderr)


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
    """Writes into the file, or onto stdout where none is given; as `parts` does. Raises UsageError."""
    with parts(output) as put_part:
        put_part(text)


@contextmanager
def parts(output: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that writes a part of a document, into the file or onto stdout. Raises UsageError.

    A file is replaced at once, in the end: who reads it meanwhile (a web server, a collector of metrics) never sees
    half of it, and what stood there stays when the document comes to nothing.
    """
    if output is None:
        yield lambda part: put(part, sys.stdout)
        return
    target = output.resolve()  # a link stays one
    plain = target.is_file() or not target.exists()  # a device or a pipe has nothing to replace
    whole = target.with_name(f".{target.name[:200]}.{os.getpid()}.new") if plain else target
    try:
        with whole.open("w", encoding="utf-8", errors="backslashreplace") as file:
            yield lambda part: file.writelines([part])  # write would answer how much
        if plain:
            whole.replace(target)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if plain:
            whole.unlink(missing_ok=True)


@contextmanager
def lines(output: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that writes a line at once, into the file or onto stdout. Raises UsageError."""
    if output is None:
        yield lambda line: put(line, sys.stdout)
        return
    try:
        file = output.open("wb", buffering=0)  # a line that is written is in the file, come what may
    except OSError as error:
        raise _unwritable(output, error) from None

    def put_line(line: str) -> None:
        left = memoryview(line.encode("utf-8", "backslashreplace"))
        try:
            while left:  # a disk that is nearly full takes a part
                left = left[file.write(left) or 0 :]
        except OSError as error:
            raise _unwritable(output, error) from None

    with file:
        yield put_line


def check_output(output: Path | None) -> None:
    """A path that cannot be written is said before the work, not after it. Raises UsageError."""
    if output is None:
        return
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise UsageError(f"--output {output} cannot be written: its folder must exist, and it must name a file")
    if not os.access(output.absolute().parent if output.is_file() or not output.exists() else output, os.W_OK):
        raise UsageError(f"--output {output} cannot be written: this user has no right to write there")


def _unwritable(output: Path, error: OSError) -> UsageError:
    return UsageError(f"--output {output} cannot be written ({error.strerror})")
