"""Sessions on their own threads, so that a caller can stop waiting at any time. Imports no driver.

A driver that waits for a silent network does not return: not at Ctrl-C, not at a deadline, not when the process ends.
So drivers are called in daemon threads, and the caller decides how long it waits for an answer.
"""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from qidsql.errors import OutOfTime

if TYPE_CHECKING:  # the command line imports `left_behind` and must not wait for SQL parsers
    from qidsql.sql.templates import Row

Answer = TypeVar("Answer")

CANCEL_PATIENCE = 3.0  # seconds for a cancelled connecting to end before it is abandoned
PARTING_SECONDS = 0.5  # further seconds before its thread is abandoned
AGAIN = 0.05  # seconds between two cancels: a cancel is lost if the statement has not started yet
WAIT_TICK = 0.2  # seconds between two checks for events that do not end a wait, such as Ctrl-C
LONGEST_PAUSE = 10.0  # seconds
LARGEST_ANSWER = 1 << 28  # bytes that a server may send for rows that are kept in memory, not exported

_in_drivers: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


class Session(Protocol):
    """One connection, used by one thread at a time.

    `cancel` and `hang_up` are called from other threads: the first requests the end of the running statement, the
    second ends the wait for an engine that does not respond, `Dialect.cancel` seconds later. After `freeze_time` all
    statements see the same time, if the engine can guarantee that.
    """

    def execute(self, sql: str) -> "list[Row]": ...

    def export(self, sql: str, path: Path) -> None: ...

    def load(self, sql: str, path: Path) -> None: ...

    def freeze_time(self) -> None: ...

    def cancel(self) -> None: ...

    def hang_up(self) -> None: ...

    def close(self) -> None: ...


Open: TypeAlias = Callable[[], Session]
Work: TypeAlias = Callable[[Session], Answer]


class Worker:
    """A session and its thread, which opens, uses and closes it. The thread starts with the first work.

    With `pauses` each work is followed by a pause of the same length, at most LONGEST_PAUSE.
    """

    def __init__(self, open_session: Open, pauses: bool = False) -> None:
        self._open = open_session
        self._pauses = pauses
        self._rested = 0.0  # when the pause ends (`time.monotonic`)
        self._dismissed = threading.Event()
        self._jobs: SimpleQueue[Callable[[Session], object] | None] = SimpleQueue()
        self._opened: Future[Session] = Future()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._jobs.put, None).atexit = False

    def start(self) -> None:
        if self._thread is None:
            arguments = self._open, self._opened, self._jobs
            self._thread = _started(_serve, *arguments)

    def opened(self, deadline: float | None) -> Session:
        """Waits until the session is open. Raises the error that prevented it, BudgetSpent."""
        self.start()
        return wait_for(self._opened, deadline)

    @property
    def dismissed(self) -> bool:
        return self._dismissed.is_set()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this worker's thread."""
        return self._thread is threading.current_thread()

    @property
    def is_open(self) -> bool:
        return self._opened.done() and self._opened.exception() is None

    @property
    def session(self) -> Session:
        """The open session. Raises TimeoutError if it is not open."""
        return self._opened.result(0)

    def submit(self, job: Callable[[Session], object]) -> None:
        """Queues a job for the thread. The job must not raise."""
        self.start()
        self._jobs.put(job)

    def dismiss(self) -> None:
        """Closes the session after all queued jobs, however long they take. Does not wait."""
        self._dismissed.set()
        if self._thread is None:
            self._open().close()
        self._jobs.put(None)

    def work(self, work: Work[Answer], session: Session) -> Answer:
        """The result of the work. Called in the thread."""
        started = time.monotonic()
        try:
            return work(session)
        finally:
            ended = time.monotonic()
            self._rested = ended + min(LONGEST_PAUSE, ended - started) if self._pauses else 0.0

    def rest(self) -> None:
        """Waits for the end of the pause, or until the worker is dismissed. Called in the thread."""
        if self._rested:
            self._dismissed.wait(max(0.0, self._rested - time.monotonic()))

    def cancel(self) -> None:
        with suppress(Exception):
            self.session.cancel()

    def hang_up(self) -> None:
        with suppress(Exception):
            self.session.hang_up()

    def join(self, end: float) -> bool:
        """Waits for a dismissed worker until `end`; returns whether its thread has ended."""
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))
        return self._thread is None or not self._thread.is_alive()


def _serve(
    open_session: Open, opened: "Future[Session]", jobs: "SimpleQueue[Callable[[Session], object] | None]"
) -> None:
    """The body of a worker's thread. It has no reference to the worker, so that this can be garbage-collected."""
    try:
        session = open_session()
    except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
        opened.set_exception(error)
        return
    opened.set_result(session)
    while (job := jobs.get()) is not None:
        job(session)
        del job
    with suppress(Exception):
        session.close()


def wait_for(future: "Future[Answer]", deadline: float | None) -> Answer:
    """The future's result. Raises its exception, and BudgetSpent at the deadline (of `time.monotonic`)."""
    while not future.done():
        wait([future], next_wait(deadline))
    return future.result()


def next_wait(deadline: float | None) -> float:
    """The seconds to wait before the next check. Raises BudgetSpent at the deadline."""
    left = WAIT_TICK if deadline is None else min(WAIT_TICK, deadline - time.monotonic())
    if left <= 0:
        raise OutOfTime("the time budget is used up")
    return left


def run_in_thread(work: Callable[[], Answer], cancel: Callable[[], object] | None, deadline: float | None) -> Answer:
    """Runs the work in its own thread and returns its result; if the wait ends early, cancels and then abandons it.

    Without `cancel` it is abandoned at once. Raises errors of the work, BudgetSpent, KeyboardInterrupt.
    """
    done: Future[Answer] = Future()
    thread = _started(_settle, done, work)
    try:
        return wait_for(done, deadline)
    except BaseException:
        end = time.monotonic() + CANCEL_PATIENCE
        while cancel is not None and thread.is_alive() and time.monotonic() < end:
            cancel()
            thread.join(AGAIN)
        raise


def _settle(done: "Future[Answer]", work: Callable[[], Answer]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
        done.set_exception(error)


class Batch(Generic[Answer]):
    """Numbered works that several workers share: each takes the next one when it has finished one."""

    def __init__(self, works: Mapping[int, Work[Answer]]) -> None:
        self._todo = deque(works.items())
        self._left = len(self._todo)
        self._at_work: set[Worker] = set()
        self._changed = threading.Condition()
        self._answers: dict[int, Answer] | None = {}  # by number of the work; None if further answers are dropped
        self.failure: BaseException | None = None
        self.failed: list[Worker] = []

    def start(self, workers: Sequence[Worker]) -> None:
        for worker in workers[: self._left]:
            worker.submit(partial(self._take, worker))

    def wait(self, deadline: float | None) -> None:
        """Waits for all answers. Raises the first failure, and BudgetSpent at the deadline."""
        with self._changed:
            while self._left and self.failure is None:
                self._changed.wait(next_wait(deadline))
            if self.failure is not None:
                raise self.failure

    def fail(self, failure: BaseException) -> None:
        """Ends the wait with this failure; no further work is started."""
        with self._changed:
            self._todo.clear()
            self.failure = self.failure or failure
            self._changed.notify_all()

    def abandon(self) -> list[Worker]:
        """Starts no further work; returns the workers that failed or are still busy."""
        with self._changed:
            self._todo.clear()
            return [*self.failed, *self._at_work]

    def taken(self) -> dict[int, Answer]:
        """The answers by number of the work. Later answers are dropped."""
        with self._changed:
            answers, self._answers = self._answers or {}, None
        return answers

    def _take(self, worker: Worker, session: Session) -> None:
        """Does works until none is left. Called in the worker's thread."""
        while True:
            worker.rest()
            with self._changed:
                if not self._todo:
                    return
                number, work = self._todo.popleft()
                self._at_work.add(worker)
            try:
                answer = worker.work(work, session)
            except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
                self.failed.append(worker)
                self.fail(error)
                return
            finally:
                with self._changed:
                    self._at_work.discard(worker)
            with self._changed:
                if self._answers is not None:
                    self._answers[number] = answer
                self._left -= 1
                self._changed.notify_all()


def end_sessions(workers: Sequence[Worker], patience: float) -> None:
    """Ends sessions: cancels their statements on the server and waits so many seconds; threads that do not end are
    abandoned.

    A session whose statement was cancelled is not reused: a late cancel would hit its next statement.
    """
    for worker in workers:
        worker.dismiss()
    idle_until = time.monotonic() + AGAIN
    busy = [worker for worker in workers if not worker.join(idle_until)]
    end = time.monotonic() + (patience if any(worker.is_open for worker in busy) else 0.0)
    for worker in busy:
        _started(_cancel, worker, end)
    still = [worker for worker in busy if not worker.join(end)]
    for worker in still:
        worker.hang_up()
    for worker in still:
        worker.join(end + PARTING_SECONDS)


def _cancel(worker: Worker, end: float) -> None:
    """Repeats the cancel until the worker has ended. In its own thread: a cancel also goes over the network."""
    while not worker.join(time.monotonic() + AGAIN) and time.monotonic() < end:
        worker.cancel()


def _started(body: Callable[..., None], *arguments: object) -> threading.Thread:
    """A daemon thread that calls a driver. Known from before its start: Ctrl-C can come at any moment. Raises
    MemoryError if there is no room for its stack."""
    thread = threading.Thread(target=body, args=arguments, name="qidsql session", daemon=True)
    _in_drivers.add(thread)
    try:
        thread.start()
    except RuntimeError as error:  # can't start new thread
        raise MemoryError(str(error)) from None
    return thread


def left_behind() -> bool:
    """Whether threads may still be inside a driver: Python must not shut down while they are. It would end them where
    they next ask for the interpreter, which C++ answers by an abort of the process.
    """
    return any(thread.is_alive() for thread in _in_drivers)
