"""What is going on, on stderr: a live line at a terminal, a plain line now and then elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from qidsql.engines.base import Asked, Engine
from qidsql.wording.numbers import plural

SHOW_AFTER = 1.0  # seconds; work that is done by then needs no progress
PLAIN_EVERY = 30.0  # seconds between two lines where no line can be redrawn


@contextmanager
def progress(stream: TextIO, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[Engine], None]]]:
    """Shows stage, statements and seconds while the block runs.

    Yields a function that takes the words of a stage, and one that takes each engine that is opened.
    """
    if quiet:
        yield lambda stage: None, lambda engine: None
        return
    news = _News()
    ticker = threading.Thread(target=_live if stream.isatty() else _plain, args=(news, stream), daemon=True)
    ticker.start()
    try:
        yield news.tell, lambda engine: engine.watchers.append(news.asked)
    finally:
        news.over.set()
        ticker.join()


class _News:
    """What there is to tell."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._started = time.monotonic()
        self._statements = 0
        self._stage = self._last = ""

    def tell(self, stage: str) -> None:
        self._stage, self._last = stage, ""

    def asked(self, answered: Asked) -> None:
        self._statements += 1
        self._last = answered.purpose

    def __str__(self) -> str:
        last = f" (done: {self._last})" if self._last else ""
        seconds = time.monotonic() - self._started
        return f"{seconds:.0f} s, {plural(self._statements, 'statement')}: {self._stage}{last}"


def _live(news: _News, stream: TextIO) -> None:
    if news.over.wait(SHOW_AFTER):
        return
    from rich.console import Console  # a live line is rarely needed, and rich takes a while to load
    from rich.status import Status

    with Status(str(news), console=Console(file=stream, highlight=False, markup=False)) as status:
        while not news.over.wait(0.2):
            status.update(str(news))


def _plain(news: _News, stream: TextIO) -> None:
    while not news.over.wait(PLAIN_EVERY):
        stream.write(f"qidsql: {news}\n")
        stream.flush()
