"""What is going on, on stderr: one live line at a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from qidsql.engines.base import Asked, Engine

QUIET_SECONDS = 1.0  # nothing is shown for work that is done by then
PLAIN_EVERY = 30.0  # seconds between two lines where no line can be redrawn


@contextmanager
def progress(engine: Engine, stream: TextIO, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows stage, statements and seconds while the block runs; yields the function that tells the stage."""
    if quiet:
        yield lambda stage: None
        return
    live = stream.isatty()
    line = _Line(stream, live)

    def asked(answered: Asked) -> None:
        line.statements += 1
        line.last = answered.purpose
        line.show()

    engine.watchers.append(asked)
    try:
        yield line.tell
    finally:
        engine.watchers.remove(asked)
        line.clear()


class _Line:
    def __init__(self, stream: TextIO, live: bool) -> None:
        self.statements = 0
        self._stream, self._live = stream, live
        self._stage = self.last = ""
        self._started = time.monotonic()
        self._next = self._started + (QUIET_SECONDS if live else PLAIN_EVERY)
        self._drawn = False

    def tell(self, stage: str) -> None:
        self._stage = stage
        self.show()

    def show(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.1 if self._live else PLAIN_EVERY)
        text = f"{now - self._started:.0f} s, {self.statements:,} statements: {self._stage}"
        text += f" ({self.last})" if self.last else ""
        self._stream.write(f"\r\x1b[K{text[:110]}" if self._live else f"qidsql: {text}\n")
        self._stream.flush()
        self._drawn = self._live

    def clear(self) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
