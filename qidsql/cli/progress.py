"""Progress on stderr: a live line at a terminal, a plain line every 30 seconds elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from qidsql.wording.numbers import plural

if TYPE_CHECKING:
    from qidsql.engines.base import Engine, ExecutedStatement

SHOW_AFTER = 1.0  # seconds; shorter work shows no progress
PLAIN_EVERY = 30.0  # seconds between lines where a line cannot be redrawn


@contextmanager
def showing_progress(quiet: bool) -> "Iterator[tuple[Callable[[str], None], Callable[[Engine], None]]]":
    """Shows stage, statements and seconds on stderr while the block runs.

    Yields two callbacks: one for the name of each stage, one for each engine that is opened.
    """
    stream = sys.stderr
    if quiet or stream is None:
        yield lambda stage: None, lambda engine: None
        return
    status = _Status()
    ticker = threading.Thread(target=_live if stream.isatty() else _plain, args=(status, stream), daemon=True)
    ticker.start()
    try:
        yield status.begin_stage, lambda engine: engine.watchers.append(status.count_statement)
    finally:
        status.over.set()
        ticker.join()


class _Status:
    """The current stage, and the statements and seconds so far."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._started = time.monotonic()
        self._statements = 0
        self._stage = self._last = ""

    def begin_stage(self, stage: str) -> None:
        self._stage, self._last = stage, ""

    def count_statement(self, statement: "ExecutedStatement") -> None:
        self._statements += 1
        self._last = statement.purpose

    def __str__(self) -> str:
        last = f" (done: {self._last})" if self._last else ""
        seconds = time.monotonic() - self._started
        return f"{seconds:.0f} s, {plural(self._statements, 'statement')}: {self._stage}{last}"


def _live(status: _Status, stream: TextIO) -> None:
    if status.over.wait(SHOW_AFTER):
        return
    from rich.console import Console  # a live line is rarely needed, and rich takes a while to load
    from rich.status import Status

    with Status(str(status), console=Console(file=stream, highlight=False, markup=False)) as line:
        while not status.over.wait(0.2):
            line.update(str(status))


def _plain(status: _Status, stream: TextIO) -> None:
    while not status.over.wait(PLAIN_EVERY):
        stream.write(f"qidsql: {status}\n")
        stream.flush()
