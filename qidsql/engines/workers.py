"""Sessions on threads of their own, which nobody has to wait for. Knows no driver.

A driver that waits for a silent network does not return: not at Ctrl-C, not at a deadline, not when the process ends.
So drivers are called in daemon threads, and the caller waits for an answer as long as it wants.
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

from qidsql.errors import BudgetSpent

if TYPE_CHECKING:  # the command line looks for what was left behind, and must not wait for SQL parsers
    from qidsql.sql.statements import Row

Answer = TypeVar("Answer")

PATIENCE = 3.0  # seconds that a cancelled statement gets to end before its line is cut, ...
OVER_NETWORK = 1.0  # ... where a server has it that hears of a closed line anyway, ...
PARTING = 0.5  # ... and more seconds before its thread is left behind
AGAIN = 0.05  # seconds between two cancels: one that comes before its statement has started is lost
TICK = 0.2  # seconds between two looks at what else there is, such as a Ctrl-C that wakes nobody
LONGEST_PAUSE = 10.0  # seconds

_left_behind: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


class Session(Protocol):
    """One connection, used by one thread at a time: SQL in, rows out.

    `cancel` and `hang_up` are called from other threads: the first asks the engine to end the statement, the second
    ends the wait for an engine that does not say anything, and comes after so many seconds of `patience`. After
    `hold_moment` the time of all its statements is the same, where the engine can promise that.
    """

    patience: float

    def execute(self, sql: str) -> "list[Row]": ...

    def export(self, sql: str, path: Path) -> None: ...

    def load(self, sql: str, path: Path) -> None: ...

    def hold_moment(self) -> None: ...

    def cancel(self) -> None: ...

    def hang_up(self) -> None: ...

    def close(self) -> None: ...


Open: TypeAlias = Callable[[], Session]
Work: TypeAlias = Callable[[Session], Answer]


class Worker:
    """A session and its thread. The session is opened, used and closed there; the thread starts with the first work.

    With `pauses` it rests as long as it has worked, LONGEST_PAUSE at most.
    """

    def __init__(self, open_session: Open, pauses: bool = False) -> None:
        self._open = open_session
        self._pauses = pauses
        self._rested = 0.0  # when it may work again, of `time.monotonic`
        self._dismissed = threading.Event()
        self._jobs: SimpleQueue[Callable[[Session], object] | None] = SimpleQueue()
        self._opened: Future[Session] = Future()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._jobs.put, None).atexit = False

    def start(self) -> None:
        if self._thread is None:
            arguments = self._open, self._opened, self._jobs
            self._thread = threading.Thread(target=_serve, args=arguments, name="qidsql session", daemon=True)
            self._thread.start()

    def opened(self, deadline: float | None) -> Session:
        """The session, as soon as it is open. Raises what kept it from being opened, BudgetSpent."""
        self.start()
        return waited_for(self._opened, deadline)

    @property
    def dismissed(self) -> bool:
        return self._dismissed.is_set()

    @property
    def is_current(self) -> bool:
        """Whether this is called in its thread."""
        return self._thread is threading.current_thread()

    @property
    def is_open(self) -> bool:
        return self._opened.done() and self._opened.exception() is None

    @property
    def patience(self) -> float:
        return self.session.patience if self.is_open else 0.0

    @property
    def session(self) -> Session:
        """The session, which is open. Raises TimeoutError where it is not."""
        return self._opened.result(0)

    def submit(self, job: Callable[[Session], object]) -> None:
        """Has the thread do the job, which must not raise, after those it was given before."""
        self.start()
        self._jobs.put(job)

    def dismiss(self) -> None:
        """The session is closed when the thread is done with what it has to do, however long that takes."""
        self._dismissed.set()
        if self._thread is not None:
            _left_behind.add(self._thread)
        if self._thread is None:
            self._open().close()
        self._jobs.put(None)

    def work(self, work: Work[Answer], session: Session) -> Answer:
        """What the work returns. In the thread."""
        started = time.monotonic()
        try:
            return work(session)
        finally:
            ended = time.monotonic()
            self._rested = ended + min(LONGEST_PAUSE, ended - started) if self._pauses else 0.0

    def rest(self) -> None:
        """Waits until it may work again, or is dismissed. In the thread."""
        if self._rested:
            self._dismissed.wait(max(0.0, self._rested - time.monotonic()))

    def cancel(self) -> None:
        with suppress(Exception):
            self.session.cancel()

    def hang_up(self) -> None:
        with suppress(Exception):
            self.session.hang_up()

    def join(self, end: float) -> bool:
        """Waits for a dismissed worker until the moment. Whether its thread has ended."""
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))
        return self._thread is None or not self._thread.is_alive()


def _serve(
    open_session: Open, opened: "Future[Session]", jobs: "SimpleQueue[Callable[[Session], object] | None]"
) -> None:
    """What the thread of a worker does. It does not hold the worker, which may be forgotten without a word."""
    try:
        session = open_session()
    except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
        opened.set_exception(error)
        return
    opened.set_result(session)
    while (job := jobs.get()) is not None:
        job(session)
        del job
    with suppress(Exception):
        session.close()


def waited_for(future: "Future[Answer]", deadline: float | None) -> Answer:
    """The future's result. Raises what it raises, and BudgetSpent at the deadline (of `time.monotonic`)."""
    while not future.done():
        wait([future], ticks(deadline))
    return future.result()


def ticks(deadline: float | None) -> float:
    """How long to wait at once. Raises BudgetSpent at the deadline."""
    left = TICK if deadline is None else min(TICK, deadline - time.monotonic())
    if left <= 0:
        raise BudgetSpent("the time budget is used up")
    return left


def apart(work: Callable[[], Answer], cancel: Callable[[], object] | None, deadline: float | None) -> Answer:
    """Runs the work in a thread of its own and returns its result; cancels it, then leaves it, when the wait ends.

    Without `cancel` it is left at once. Raises what the work raises, BudgetSpent, KeyboardInterrupt.
    """
    done: Future[Answer] = Future()
    thread = threading.Thread(target=_settle, args=(done, work), name="qidsql session", daemon=True)
    thread.start()
    try:
        return waited_for(done, deadline)
    except BaseException:
        end = time.monotonic() + PATIENCE
        while cancel is not None and thread.is_alive() and time.monotonic() < end:
            cancel()
            thread.join(AGAIN)
        _left_behind.add(thread)
        raise


def _settle(done: "Future[Answer]", work: Callable[[], Answer]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
        done.set_exception(error)


class Batch(Generic[Answer]):
    """Work that some workers share: each takes the next piece when it is done with one."""

    def __init__(self, works: Mapping[int, Work[Answer]]) -> None:
        self._todo = deque(works.items())
        self._left = len(self._todo)
        self._at_work: set[Worker] = set()
        self._changed = threading.Condition()
        self._answers: dict[int, Answer] | None = {}  # by the numbers of the works; None when nobody wants more
        self.failure: BaseException | None = None
        self.failed: list[Worker] = []

    def start(self, workers: Sequence[Worker]) -> None:
        for worker in workers[: self._left]:
            worker.submit(partial(self._take, worker))

    def wait(self, deadline: float | None) -> None:
        """Returns when all is answered. Raises the first failure, and BudgetSpent at the deadline."""
        with self._changed:
            while self._left and self.failure is None:
                self._changed.wait(ticks(deadline))
            if self.failure is not None:
                raise self.failure

    def fail(self, failure: BaseException) -> None:
        """Ends the wait with this failure; nothing more is begun."""
        with self._changed:
            self._todo.clear()
            self.failure = self.failure or failure
            self._changed.notify_all()

    def abandon(self) -> list[Worker]:
        """Nothing more is begun. Those who failed, or are still at work."""
        with self._changed:
            self._todo.clear()
            return [*self.failed, *self._at_work]

    def taken(self) -> dict[int, Answer]:
        """The answers by the numbers of their works; those that come later are dropped."""
        with self._changed:
            answers, self._answers = self._answers or {}, None
        return answers

    def _take(self, worker: Worker, session: Session) -> None:
        """Works as long as there is something to do, in the thread of the worker."""
        while True:
            worker.rest()
            with self._changed:
                if not self._todo:
                    return
                number, work = self._todo.popleft()
                self._at_work.add(worker)
            try:
                answer = worker.work(work, session)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
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


def part_with(workers: Sequence[Worker]) -> None:
    """Ends sessions: cancels their statements on the server and waits for a moment. The rest are left behind.

    A session whose statement was cancelled is not used again: a cancel that arrives late would hit its next statement.
    """
    for worker in workers:
        worker.dismiss()
    idle_until = time.monotonic() + AGAIN
    busy = [worker for worker in workers if not worker.join(idle_until)]
    end = time.monotonic() + max((worker.patience for worker in busy), default=0.0)
    for worker in busy:
        threading.Thread(target=_cancel, args=(worker, end), name="qidsql cancel", daemon=True).start()
    still = [worker for worker in busy if not worker.join(end)]
    for worker in still:
        worker.hang_up()
    for worker in still:
        worker.join(end + PARTING)


def _cancel(worker: Worker, end: float) -> None:
    """Cancels until the worker is back. In a thread of its own: a cancel goes over the network as well."""
    while not worker.join(time.monotonic() + AGAIN) and time.monotonic() < end:
        worker.cancel()


def left_behind() -> bool:
    """Whether threads that nobody waits for are still in a driver: Python must not end in the middle of that."""
    return any(thread.is_alive() for thread in _left_behind)
