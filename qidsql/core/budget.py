"""A time limit on everything in a block, at any depth: connecting, reading the catalog, statements."""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from math import isfinite
from types import FrameType
from typing import Annotated

from qidsql.core.options import BUDGET
from qidsql.declarations.options import Option
from qidsql.errors import BudgetSpent, OutOfTime, UsageError
from qidsql.wording.texts import setting, size

_END: ContextVar[float | None] = ContextVar("end of the time limit", default=None)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Limit the block to so many seconds; None: no limit of its own. The earlier of nested limits applies.

    It interrupts nothing by itself: code that waits has to check the `limit`. Raises UsageError for NaN and infinity.
    """
    if seconds is not None and not isfinite(seconds):
        raise UsageError("--max-seconds must be a number of seconds; without it the time is not limited")
    token = _END.set(earlier(_END.get(), None if seconds is None else time.monotonic() + seconds))
    try:
        yield
    finally:
        _END.reset(token)


@contextmanager
def grace(seconds: float) -> Iterator[None]:
    """Give the block so many seconds, although the time may be up."""
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def limit() -> float | None:
    """When the time is up, of `time.monotonic`; None: never."""
    return _END.get()


def earlier(one: float | None, other: float | None) -> float | None:
    """The earlier of two times; None is never."""
    return other if one is None else one if other is None else min(one, other)


def check_time(deadline: float | None) -> None:
    """Raise BudgetSpent if the time, of `time.monotonic`, is past; None is never."""
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime("the time budget is used up")


# A limit on the bytes that statements of a block read, at any depth: engines charge statements before they run.


@dataclass
class _Bytes:
    """So many at most, and those used."""

    most: int
    used: int = 0


_LIMITS: ContextVar[tuple[_Bytes, ...]] = ContextVar("limits of bytes", default=())


@contextmanager
def within_bytes(most: int | None) -> Iterator[None]:
    """Limit the block to so many bytes; None: no limit of its own. Those of the blocks around it hold too."""
    token = _LIMITS.set((*_LIMITS.get(), *(() if most is None else (_Bytes(most),))))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def bytes_limited() -> bool:
    """Whether any limit holds."""
    return bool(_LIMITS.get())


def charge_bytes(wanted: int) -> None:
    """Count what is about to be read. Raises BudgetSpent if it exceeds a limit: then nothing is counted."""
    for each in _LIMITS.get():
        if each.used + wanted > each.most:
            raise OutOfTime(
                f"the budget of {size(each.most)} ({setting('max_bytes')}) does not allow the next {size(wanted)}: "
                f"{size(each.used)} are used"
            )
    for each in _LIMITS.get():
        each.used += wanted


# How SIGINT, SIGTERM and SIGHUP end a command: by one KeyboardInterrupt, and in any case within GRACE seconds.
#
# Only for the command line; a program that calls the library keeps its own handlers.


GRACE = 4.5  # seconds from a signal to the end of the process, at most
INTERRUPTED = 3  # the exit code of an interrupted command
SIGNALS = tuple({signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)})  # Windows has no SIGHUP


class Ending:
    """The handler. The first signal raises KeyboardInterrupt, at the end of a block that is `uninterrupted`; later ones
    do nothing, since the command is ending.
    """

    def __init__(self) -> None:
        self.signalled = False  # a signal came
        self.interrupted = False  # ... while there was work to interrupt
        self.over = False  # the work is done and its exit code known
        self.waits = False  # for the end of a block

    def __call__(self, number: int, frame: FrameType | None) -> None:
        again, self.signalled = self.signalled, True
        if not again and not self.over:
            self.interrupted = True
            if not self.waits:
                raise KeyboardInterrupt


_current: Ending | None = None


@contextmanager
def ending(last: bool = False) -> Iterator[Ending]:
    """Handle signals while the block runs; nested blocks share one handler. For the main thread.

    A signal that is ignored (nohup, a job in the background) stays ignored. After the `last` block of a process all
    are: the rest of the process takes no time, and must not change its exit code.
    """
    global _current
    if _current is not None:
        yield _current
        return
    handler = _current = Ending()
    heard, woken = socket.socketpair()
    woken.setblocking(False)
    before = signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_last_resort, args=(heard,), name="last resort", daemon=True).start()
    handlers = {kind: signal.getsignal(kind) for kind in SIGNALS}
    heeded = {kind: was for kind, was in handlers.items() if was is not signal.SIG_IGN}
    try:
        for kind in heeded:
            signal.signal(kind, handler)
        yield handler
    finally:
        handler.over = True
        for kind, was in heeded.items():
            signal.signal(kind, signal.SIG_IGN if last else was)
        signal.set_wakeup_fd(before)
        if handler.signalled:
            woken.detach()  # still open: the last resort keeps running until the process has ended
        woken.close()
        _current = None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal during the block raises KeyboardInterrupt at its end: in a finalizer the exception would be lost."""
    handler = _current
    if handler is None or handler.interrupted or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler.waits = True
    try:
        yield
    finally:
        handler.waits = False
        if handler.interrupted:
            raise KeyboardInterrupt


def settled() -> None:
    """Note that the report is written: a signal no longer changes the exit code."""
    if _current is not None:
        _current.over = True


def _last_resort(heard: socket.socket) -> None:
    """End the process GRACE seconds after a signal. Python's own handler runs only when the main thread returns to the
    interpreter, and its exception can be lost in a finalizer.
    """
    with heard:
        while (numbers := heard.recv(64)) and not set(numbers) & set(SIGNALS):
            pass
        end = time.monotonic() + GRACE
        with suppress(TimeoutError):
            while numbers:
                heard.settimeout(max(0.001, end - time.monotonic()))
                numbers = heard.recv(64)
            return  # the command ended earlier
        _say("qidsql: interrupted; work that did not end in time was abandoned\n")
        os._exit(INTERRUPTED)


def _say(line: str) -> None:
    """Write to stderr if that is possible without waiting for a reader."""
    with suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:
            os.write(2, line.encode())


# The option of requests whose search has a plan at any moment: how much work may improve it.


MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """`max_work` limits the improvement; equal tables get equal plans within equal work."""

    max_work: Annotated[
        int | None,
        Option(
            "millions of numbers that the search looks at, at most; equal tables get equal plans; default: 3,000 "
            "without --max-seconds, about a minute",
            "N",
            panel=BUDGET,
        ),
    ] = None

    @property
    def work(self) -> int | None:
        """The limit in numbers. Raises UsageError."""
        if self.max_work is None:
            return None
        if self.max_work <= 0:
            raise UsageError(f"{setting('max_work')} must be more than 0")
        return self.max_work * MILLION


# The limits of a search that has a plan at any moment: time, and work that ends it at the same place everywhere.


UNLIMITED_WORK = 3_000_000_000  # numbers looked at where there is no limit: about a minute


class WorkLimit:
    """A deadline of `time.monotonic`, and how many numbers may be looked at. With neither, about a minute of work."""

    def __init__(self, deadline: float | None = None, work: int | None = None) -> None:
        self.deadline, self.given = deadline, deadline is not None or work is not None
        self._left = work if self.given else UNLIMITED_WORK

    def third(self) -> float | None:
        """The moment at which a third of the time left is over."""
        now = time.monotonic()
        return None if self.deadline is None else now + (self.deadline - now) / 3

    def third_of_work(self) -> int | None:
        """A third of the work left; it is spent by this."""
        if self._left is None:
            return None
        part = max(0, self._left) // 3
        self._left -= part
        return part

    def spend(self, work: int = 0) -> None:
        """Count the numbers looked at. Raises BudgetSpent if the time or the work is used up."""
        check_time(self.deadline)
        if self._left is not None:
            self._left -= work
            if self._left < 0:
                raise BudgetSpent("the budget of work (--max-work) is used up")
