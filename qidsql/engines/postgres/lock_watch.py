"""Connections that neither hang nor block: they hang up on a server that sends without end, and end where others
wait for locks of ours, such as an ALTER TABLE that blocks all later readers.

An open snapshot holds a weak lock on every table it has read, until it ends.
"""

import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from os import dup
from typing import Any, Protocol, TypeVar

import psycopg
from sqlglot import exp

from qidsql.engines.postgres.dialect import POSTGRES, SYSTEM_PATH
from qidsql.engines.workers import LARGEST_ANSWER, PARTING_SECONDS, next_wait
from qidsql.sql.templates import Row, fill, integer

# Connections that hang up on a server that sends without end: it lies, or something between does.
#
# libpq keeps a whole answer in memory, and psycopg all notifications.


Answer = TypeVar("Answer")

RECEIVED = slice(128, 136)  # the place of tcpi_bytes_received in Linux' TCP_INFO


class EndlessAnswer(psycopg.DataError):
    """More arrived than an answer can have."""

    def __str__(self) -> str:
        return "sends without end"


class GuardedConnection(psycopg.Connection[Row]):
    """A psycopg connection whose waits raise EndlessAnswer after more than LARGEST_ANSWER bytes, over TCP on Linux.

    Notifications, which qidsql never asks for, are dropped.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.pgconn.notify_handler = None

    def wait(self, gen: Generator[Any, Any, Answer], *arguments: Any, **more: Any) -> Answer:
        return super().wait(self._limited(gen), *arguments, **more)

    def _limited(self, steps: Generator[Any, Any, Answer]) -> Generator[Any, Any, Answer]:
        """The same steps of psycopg's, each of which reads what has arrived."""
        before = self._received()
        ready = None
        while True:
            try:
                wanted = steps.send(ready)
            except StopIteration as ended:
                answer: Answer = ended.value
                return answer
            if self._received() - before > LARGEST_ANSWER:
                hang_up(self)
                raise EndlessAnswer
            ready = yield wanted

    def _received(self) -> int:
        """The bytes received so far; 0 if the system does not count them."""
        with suppress(AttributeError, OSError, psycopg.Error), socket.socket(fileno=dup(self.fileno())) as line:
            told = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, RECEIVED.stop)
            return int.from_bytes(told[RECEIVED], sys.byteorder)
        return 0


def hang_up(connection: psycopg.Connection[Row]) -> None:
    """Ends waits on the connection in all threads. Closing the connection would wake none of them."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


LOOK_EVERY = 1.5  # seconds between checks
PAUSE_WHILE_REFUSED = 60.0  # seconds between checks while the server refuses the connection
LOOK_AGAIN = 0.2  # seconds between checks whether the other sessions are done
PASSING = 60.0  # seconds to wait for them

Connect = Callable[[], "psycopg.Connection[Row]"]


class Sessions(Protocol):
    """Sessions whose locks can block others: the ids of their server processes, and a way to end them."""

    def backends(self) -> list[int]: ...

    def release_locks(self) -> None: ...


class LockWatch:
    """Ends our sessions when other sessions wait for their locks.

    Checks use a separate connection, since the sessions are busy or blocked. It is opened at the first check, so that
    short work does without; it has no snapshot and locks no table. Without `connect` there are no checks.
    """

    def __init__(self, sessions: Sessions, connect: Connect | None) -> None:
        self._free, self._over = threading.Event(), threading.Event()
        self._free.set()
        self._lines: list[psycopg.Connection[Row]] = []
        self._thread: threading.Thread | None = None
        if connect is None:
            return
        arguments = weakref.ref(sessions), connect, self._lines, self._free, self._over
        self._thread = threading.Thread(target=_watch, args=arguments, name="qidsql lock watch", daemon=True)
        weakref.finalize(self, self._over.set).atexit = False
        self._thread.start()

    def wait(self, deadline: float | None) -> None:
        """Waits until the other sessions are done. Raises BudgetSpent."""
        while not self._free.is_set():
            self._free.wait(next_wait(deadline))

    def stop(self) -> None:
        """Ends the checks. Safe to call twice."""
        self._over.set()
        lines = list(self._lines)
        for line in lines:
            hang_up(line)
        if self._thread is not None and lines:  # otherwise it may be connecting over a network that does not respond
            self._thread.join(PARTING_SECONDS)


def _watch(
    sessions: weakref.ref[Sessions],
    connect: Connect,
    lines: list[psycopg.Connection[Row]],
    free: threading.Event,
    over: threading.Event,
) -> None:
    """The body of the thread, which ends when the sessions are garbage-collected."""
    pause = LOOK_EVERY
    while not over.wait(pause):
        try:
            if not lines:
                lines.append(connect())
            pause = LOOK_EVERY
            if not _check(sessions, lines[0], free, over):
                break
        except psycopg.Error:
            pause = min(PAUSE_WHILE_REFUSED, 2 * pause)
            _close(lines)
        finally:
            free.set()
    _close(lines)


def _check(
    sessions: weakref.ref[Sessions],
    line: psycopg.Connection[Row],
    free: threading.Event,
    over: threading.Event,
) -> bool:
    """One check; releases locks if others wait for them. False if the sessions are gone. Raises psycopg.Error."""
    held = sessions()
    if held is None:
        return False
    ours = held.backends()
    waiting = _backends(line, "blocked", ours=ours) if ours else []
    if waiting:
        free.clear()
        held.release_locks()
    del held  # so that it can be garbage-collected during the wait
    end = time.monotonic() + PASSING
    while (
        waiting and time.monotonic() < end and not over.wait(LOOK_AGAIN) and _backends(line, "passing", waiting=waiting)
    ):
        pass
    return True


def _backends(line: psycopg.Connection[Row], template: str, **backends: Sequence[int]) -> list[int]:
    """The backends that a query returns. Raises psycopg.Error."""
    holes = {name: [exp.Literal.number(each) for each in numbers] for name, numbers in backends.items()}
    with line.transaction():
        line.execute(SYSTEM_PATH.encode())
        rows = line.execute(POSTGRES.render(fill(f"postgres/{template}", **holes)).encode()).fetchall()
    return [integer(backend) for (backend,) in rows]


def _close(lines: list[psycopg.Connection[Row]]) -> None:
    while lines:
        lines.pop().close()
