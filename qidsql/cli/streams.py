"""Writes text to stdout, stderr and files, and shows the progress of work."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from qidsql.errors import UsageError, redacted
from qidsql.wording.texts import plural, without_controls

if TYPE_CHECKING:
    from rich.status import Status

    from qidsql.engines.base import Engine
    from qidsql.engines.runner import ExecutedStatement
    from qidsql.report.blocks import Block


PLAIN_BARS = dict.fromkeys(map(ord, "█▉▊▋▌▍▎▏"), "#")  # for encodings without block characters


def say(text: str) -> None:
    """Writes a line to stderr, after the name of the program."""
    put(f"qidsql: {redacted(without_controls(' '.join(text.split())))}\n", sys.stderr)


def put(text: str, stream: TextIO | None) -> None:
    """Writes to stdout or stderr. A broken pipe or closed stream is no error: the exit code still counts."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # discards the buffer of the stream
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise UsageError(f"the report cannot be written to stdout ({error.strerror})") from None


def safe_text(text: str, stream: TextIO | None) -> str:
    """The text as it is, but for a terminal without control characters: no name in it can give orders."""
    return without_controls(text) if stream is not None and stream.isatty() else text


def write_output(text: str, output: Path | None) -> None:
    """Writes to the file, by default to stdout; see `parts`. Raises UsageError."""
    with parts(output) as put_part:
        put_part(text)


@contextmanager
def parts(output: Path | None) -> Iterator[Callable[[str], None]]:
    """Yields a function that writes part of a document to the file or stdout. Raises UsageError.

    The file is replaced atomically at the end: other readers (a web server, a metrics collector) never see half of
    it, and after an error the old content remains.
    """
    if output is None:
        yield lambda part: put(part, sys.stdout)
        return
    target = output.resolve()  # keeps a symbolic link
    plain = target.is_file() or not target.exists()  # a device or pipe is written to directly
    whole = target.with_name(f".{target.name[:200]}.{os.getpid()}.new") if plain else target
    try:
        with whole.open("w", encoding="utf-8", errors="backslashreplace") as file:
            yield lambda part: file.writelines([part])  # write would return a number
        if plain:
            whole.replace(target)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        if plain:
            whole.unlink(missing_ok=True)


@contextmanager
def lines(output: Path | None) -> Iterator[Callable[[str], None]]:
    """Yields a function that writes a line to the file or stdout without buffering. Raises UsageError."""
    if output is None:
        yield lambda line: put(line, sys.stdout)
        return
    try:
        file = output.open("wb", buffering=0)  # unbuffered: a written line survives a crash
    except OSError as error:
        raise _unwritable(output, error) from None

    def put_line(line: str) -> None:
        left = memoryview(line.encode("utf-8", "backslashreplace"))
        try:
            while left:  # a nearly full disk accepts only part
                left = left[file.write(left) or 0 :]
        except OSError as error:
            raise _unwritable(output, error) from None

    with file:
        yield put_line


def check_output(output: Path | None) -> None:
    """Checks before any work that the path can be written. Raises UsageError."""
    if output is None:
        return
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise UsageError(f"--output {output} cannot be written: its folder must exist, and it must be a file")
    if not os.access(output.absolute().parent if output.is_file() or not output.exists() else output, os.W_OK):
        raise UsageError(f"--output {output} cannot be written: permission denied")


def _unwritable(output: Path, error: OSError) -> UsageError:
    return UsageError(f"--output {output} cannot be written ({error.strerror})")


# Renders reports for people as text, as wide as the terminal.


def report_text(blocks: "Iterable[Block]", width: int, colour: bool, begun: bool = False) -> str:
    """A report for people as text of at most `width` columns; below something else, if `begun`."""
    from qidsql.terminal.writer import blocks_as_text

    return blocks_as_text(blocks, width, colour, begun)


def screen(output: Path | None) -> tuple[int, bool]:
    """The width to write for, in columns, and whether to use colours."""
    on_screen = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = max(60, min(140, shutil.get_terminal_size((120, 24)).columns)) if output is None else 120
    return width, on_screen and not os.environ.get("NO_COLOR")


# Progress on stderr: a live line at a terminal, a plain line every 30 seconds elsewhere.


SHOW_AFTER = 1.0  # seconds; shorter work shows no progress
PLAIN_EVERY = 30.0  # seconds between lines where a line cannot be redrawn


class ProgressLine(NamedTuple):
    """Callbacks for the name of each stage and for each engine that is opened; a block that writes to the screen."""

    on_stage: "Callable[[str], None]"
    watch: "Callable[[Engine], None]"
    out_of_the_way: "Callable[[], AbstractContextManager[object]]"


@contextmanager
def showing_progress(quiet: bool) -> "Iterator[ProgressLine]":
    """Shows stage, statements and seconds on stderr while the block runs."""
    stream = sys.stderr
    if quiet or stream is None:
        yield ProgressLine(lambda stage: None, lambda engine: None, nullcontext)
        return
    status = _Status()
    ticker = threading.Thread(target=_live if stream.isatty() else _plain, args=(status, stream), daemon=True)
    ticker.start()

    def watch(engine: "Engine") -> None:
        engine.watchers.append(status.count_statement)
        if engine.warning:
            with status.out_of_the_way():
                say(engine.warning)

    try:
        yield ProgressLine(status.begin_stage, watch, status.out_of_the_way)
    finally:
        status.over.set()
        ticker.join()


class _Status:
    """The current stage, and the statements and seconds so far."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.line: Status | None = None  # on the screen
        self.drawing = threading.Lock()
        self._started = time.monotonic()
        self._statements = 0
        self._stage = self._last = ""

    def begin_stage(self, stage: str) -> None:
        self._stage, self._last = stage, ""

    def count_statement(self, statement: "ExecutedStatement") -> None:
        self._statements += 1
        self._last = statement.purpose

    @contextmanager
    def out_of_the_way(self) -> "Iterator[None]":
        """Removes the line from the screen while the block writes there."""
        with self.drawing:
            if self.line is not None:
                self.line.stop()
            try:
                yield
            finally:
                if self.line is not None:
                    self.line.start()

    def __str__(self) -> str:
        last = f" (done: {self._last})" if self._last else ""
        seconds = time.monotonic() - self._started
        return f"{seconds:.0f} s, {plural(self._statements, 'statement')}: {without_controls(self._stage + last)}"


def _live(status: _Status, stream: TextIO) -> None:
    if status.over.wait(SHOW_AFTER):
        return
    from rich.console import Console  # a live line is rarely needed, and rich takes a while to load
    from rich.status import Status

    line = Status(str(status), console=Console(file=stream, highlight=False, markup=False))
    with status.drawing:
        line.start()
        status.line = line
    while not status.over.wait(0.2):
        with status.drawing:
            line.update(str(status))
    with status.drawing:
        status.line = None
        line.stop()


def _plain(status: _Status, stream: TextIO) -> None:
    while not status.over.wait(PLAIN_EVERY):
        stream.write(f"qidsql: {status}\n")
        stream.flush()
