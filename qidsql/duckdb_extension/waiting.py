"""Work that a DuckDB waits for: in threads of its own, so that Ctrl-C ends it."""

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

# Turns Ctrl-C in a DuckDB shell, where Python does not handle signals, into KeyboardInterrupt.


INTERRUPT_TICK = 0.05  # seconds between checks


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
        pause = INTERRUPT_TICK
        while not over.wait(pause):
            if interrupts() != before:
                with pending:
                    if over.is_set():
                        return
                    if not _starts_a_thread(thread):
                        raised(thread, KeyboardInterrupt)
                        return
                pause = INTERRUPT_TICK / 50  # the new thread will have started soon

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


# Work in threads of their own, about which DuckDB asks again and again: only in between it notices an interrupt.


NAME = "qid_searched"  # of the scalar function that returns the query of protected rows, or one that asks again
ARGUMENTS = 2
INTERRUPTIBLE = "(SELECT 1 FROM system.main.glob('') LIMIT 0)"  # while DuckDB 1.5 and later bind it
PLANNING_TICK = 0.3  # seconds that DuckDB waits for an answer while it plans
WAITS = 20  # in a statement; statements inside others are as few as a tenth of the depth that DuckDB allows
LEFT = 1.0  # seconds without a question, after which the statement was interrupted
ANSWER_KEPT_SECONDS = 60.0  # seconds for which an answer is kept: DuckDB can bind a statement several times
WORKING = "qidsql audit"
Result = TypeVar("Result")


class Work(Generic[Result]):
    """A task in a thread of its own."""

    def __init__(self, task: Callable[[], Result]) -> None:
        self._task, self._over = task, threading.Event()
        self._result: Result
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=WORKING).start()

    def _run(self) -> None:
        try:
            self._result = self._task()
        except BaseException as error:  # noqa: BLE001 - raised in the thread that asks for the result
            self._error = error
        finally:
            self._over.set()

    def is_over(self, seconds: float | None = None) -> bool:
        """Whether it ends within the time."""
        return self._over.wait(seconds)

    @property
    def result(self) -> Result:
        """What the task returned, or raised."""
        if self._error is not None:
            raise self._error
        return self._result


class AwaitedQuery:
    """A query that is searched for while DuckDB plans a statement, which waits. `place` is what was asked, and where.

    DuckDB tells no function that its caller is interrupted, but checks that itself while it binds `glob`: so where that
    is allowed, the statement is made to ask again. A search is left once it asks no more.
    """

    work: Work[str]

    def __init__(self, place: tuple[str, ...], interruptible: bool) -> None:
        self.place, self._interruptible = place, interruptible
        self._asked, self._waiting = time.monotonic(), 0

    def is_left(self, seconds: float = LEFT) -> bool:
        return not self._waiting and time.monotonic() > self._asked + seconds

    def answer(self, number: str, once: bool = False) -> str:
        """The query, or one that asks again; with `once` any, after a tick. Raises what the search raised."""
        self._waiting += 1
        try:
            over = self.work.is_over(PLANNING_TICK if self._interruptible else None)
        finally:
            self._asked, self._waiting = time.monotonic(), self._waiting - 1
        if once:
            return "SELECT 1"
        return self.work.result if over else _asking_again(number)


def _asking_again(number: str) -> str:
    """The query of the answer, after questions about it between which DuckDB looks for interrupts."""
    asked = f"FROM system.main.query(system.main.{NAME}('{number}', '{{0}}'))"
    once = f"(FROM {INTERRUPTIBLE} UNION ALL {asked.format('once')} LIMIT 0)"
    waits = " UNION ALL ".join([f"FROM {once}"] * WAITS)
    return f"SELECT rows.* FROM ({waits}) AS waits RIGHT JOIN ({asked.format('')}) AS rows ON TRUE"
