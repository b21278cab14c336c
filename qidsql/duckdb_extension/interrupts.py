"""Ctrl-C in a shell that Python knows nothing of: it becomes a KeyboardInterrupt in the thread of the audit."""

import ctypes
import signal
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
        while not over.wait(TICK):
            if interrupts() != before:
                with pending:
                    if not over.is_set():
                        raised(thread, KeyboardInterrupt)
                return

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
