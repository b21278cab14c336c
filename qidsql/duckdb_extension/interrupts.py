"""Turns Ctrl-C in a DuckDB shell, where Python does not handle signals, into KeyboardInterrupt."""

import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TICK = 0.05  # seconds between checks


@contextmanager
def raising_interrupts(watch: Callable[[int], None], interrupts: Callable[[], int]) -> Iterator[None]:
    """While the block runs, Ctrl-C raises KeyboardInterrupt in this thread, once, within a tick.

    `watch` starts (1) and stops (0) counting, `interrupts` returns how often Ctrl-C was pressed so far. Does nothing in
    the main thread of a Python process, where Python handles Ctrl-C.
    """
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        yield
        return
    thread, over, pending = threading.get_ident(), threading.Event(), threading.Lock()
    raised = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raised.argtypes = [ctypes.c_ulong, ctypes.py_object]

    def poll() -> None:
        pause = TICK
        while not over.wait(pause):
            if interrupts() != before:
                with pending:
                    if over.is_set():
                        return
                    if not _starts_a_thread(thread):
                        raised(thread, KeyboardInterrupt)
                        return
                pause = TICK / 50  # the new thread will have started soon

    watch(1)
    before = interrupts()
    poller = threading.Thread(target=poll, name="qidsql-interrupts", daemon=True)
    poller.start()
    try:
        yield
    finally:
        with pending:
            over.set()
        poller.join()  # Python's shutdown must not kill it half-way
        watch(0)


def _starts_a_thread(thread: int) -> bool:
    """Whether the thread is starting another one, which has the same id until it runs (up to Python 3.11).

    An exception raised now could end the new thread before it reports that it runs, and its starter would hang.
    """
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code is threading.Thread.start.__code__:
            return True
        frame = frame.f_back
    return False
