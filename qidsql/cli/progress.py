"""Progress on stderr: a live line at a terminal, a plain line every 30 seconds elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple, TextIO

from qidsql.cli.streams import say
from qidsql.wording.texts import plural, without_controls

if TYPE_CHECKING:
    from rich.status import Status

    from qidsql.engines.base import Engine
    from qidsql.engines.runner import ExecutedStatement

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
