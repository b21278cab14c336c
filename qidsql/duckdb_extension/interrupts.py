"""Ctrl-C in a shell that Python knows nothing of: it becomes a KeyboardInterrupt in the thread of the audit."""

import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TICK = 0.05  # seconds between looks


@contextmanager
def raising_interrupts(watch: Callable[[int], None], interrupts: Callable[[], int]) -> Iterator[None]:
    """While the block runs, a Ctrl-C raises KeyboardInterrupt in this thread, within a tick, once.

    `watch` begins (1) and ends (0) counting, `interrupts` is how often Ctrl-C was pressed so far. Where Python handles
    Ctrl-C itself, in the main thread of a Python process, nothing is done.
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

    def look() -> None:
        pause = TICK
        while not over.wait(pause):
            if interrupts() != before:
                with pending:
                    if over.is_set():
                        return
                    if not _starts_a_thread(thread):
                        raised(thread, KeyboardInterrupt)
                        return
                pause = TICK / 50  # it has started it soon

    watch(1)
    before = interrupts()
    looking = threading.Thread(target=look, name="qidsql-interrupts", daemon=True)
    looking.start()
    try:
        yield
    finally:
        with pending:
            over.set()
        looking.join()  # a thread that Python's end would cut off leaves things behind
        watch(0)


def _starts_a_thread(thread: int) -> bool:
    """Whether it is starting another one, which until it runs goes by its starter's number, up to Python 3.11.

    What is raised then would end the new thread before it could say that it runs, and its starter waits for that.
    """
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code is threading.Thread.start.__code__:
            return True
        frame = frame.f_back
    return False
