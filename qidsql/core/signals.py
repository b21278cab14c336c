"""How SIGINT, SIGTERM and SIGHUP end a command: by one KeyboardInterrupt, and in any case within GRACE seconds.

Only for the command line; a program that calls the library keeps its own handlers.
"""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

GRACE = 4.5  # seconds from a signal to the end of the process, at most
INTERRUPTED = 3  # the exit code of an interrupted command
SIGNALS = tuple({signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)})  # Windows has no SIGHUP


class Ending:
    """The handler. The first signal raises KeyboardInterrupt; later ones do nothing, since the command is ending."""

    def __init__(self) -> None:
        self.signalled = False  # a signal came
        self.interrupted = False  # ... while there was work to interrupt
        self.over = False  # the work is done and its exit code known

    def __call__(self, number: int, frame: FrameType | None) -> None:
        again, self.signalled = self.signalled, True
        if not again and not self.over:
            self.interrupted = True
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
