"""Giving way: nobody waits for long for a lock of our sessions, such as an ALTER TABLE with all readers behind it.

An open snapshot keeps every table that was read in it under a light lock, for as long as it lasts.
"""

import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import dup
from typing import Protocol

import psycopg
from sqlglot import exp

from qidsql.engines.postgres.dialect import POSTGRES, SYSTEM_PATH
from qidsql.engines.workers import PARTING, ticks
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import fill

LOOK_EVERY = 1.5  # seconds
LONGEST_PAUSE = 60.0  # seconds between two looks, where the server refuses the connection
LOOK_AGAIN = 0.2  # seconds between two looks whether those who were given way to are done
PASSING = 60.0  # seconds that they get

Connect = Callable[[], "psycopg.Connection[Row]"]


class Sessions(Protocol):
    """Those who may keep others waiting: the processes that serve them, and their end."""

    def backends(self) -> list[int]: ...

    def give_way(self) -> None: ...


class GivingWay:
    """Looks for others who wait for the sessions, and makes these give way.

    The looks need a connection of their own, since the others are busy or locked. It is made at the first look, so that
    what is short does without, and it sees no snapshot and locks no table. Without `connect` nobody looks.
    """

    def __init__(self, sessions: Sessions, connect: Connect | None) -> None:
        self._free, self._over = threading.Event(), threading.Event()
        self._free.set()
        self._lines: list[psycopg.Connection[Row]] = []
        self._thread: threading.Thread | None = None
        if connect is None:
            return
        arguments = weakref.ref(sessions), connect, self._lines, self._free, self._over
        self._thread = threading.Thread(target=_watch, args=arguments, name="qidsql giving way", daemon=True)
        weakref.finalize(self, self._over.set).atexit = False
        self._thread.start()

    def wait(self, deadline: float | None) -> None:
        """Returns when those who were given way to are done. Raises BudgetSpent."""
        while not self._free.is_set():
            self._free.wait(ticks(deadline))

    def stop(self) -> None:
        """Ends the looks. Safe to call twice."""
        self._over.set()
        lines = list(self._lines)
        for line in lines:
            hang_up(line)
        if self._thread is not None and lines:  # else it may be connecting, over a network that does not answer
            self._thread.join(PARTING)


def _watch(
    sessions: "weakref.ref[Sessions]",
    connect: Connect,
    lines: "list[psycopg.Connection[Row]]",
    free: threading.Event,
    over: threading.Event,
) -> None:
    """What the thread does, as long as somebody holds the sessions."""
    pause = LOOK_EVERY
    while not over.wait(pause):
        try:
            if not lines:
                lines.append(connect())
            pause = LOOK_EVERY
            if not _look(sessions, lines[0], free, over):
                break
        except psycopg.Error:
            pause = min(LONGEST_PAUSE, 2 * pause)
            _close(lines)
        finally:
            free.set()
    _close(lines)


def _look(
    sessions: "weakref.ref[Sessions]",
    line: "psycopg.Connection[Row]",
    free: threading.Event,
    over: threading.Event,
) -> bool:
    """One look, and what follows from it. False when the sessions are gone. Raises psycopg.Error."""
    held = sessions()
    if held is None:
        return False
    ours = held.backends()
    waiting = _asked(line, "blocked", ours=ours) if ours else []
    if waiting:
        free.clear()
        held.give_way()
    del held  # while others pass, nobody may want it any more
    end = time.monotonic() + PASSING
    while waiting and time.monotonic() < end and not over.wait(LOOK_AGAIN) and _asked(line, "passing", waiting=waiting):
        pass
    return True


def _asked(line: "psycopg.Connection[Row]", template: str, **backends: Sequence[int]) -> list[int]:
    """The backends that a query names. Raises psycopg.Error."""
    holes = {name: [exp.Literal.number(each) for each in numbers] for name, numbers in backends.items()}
    with line.transaction():
        line.execute(SYSTEM_PATH.encode())
        rows = line.execute(POSTGRES.render(fill(f"postgres/{template}", **holes)).encode()).fetchall()
    return [integer(backend) for (backend,) in rows]


def _close(lines: "list[psycopg.Connection[Row]]") -> None:
    while lines:
        lines.pop().close()


def hang_up(connection: "psycopg.Connection[Row]") -> None:
    """Ends whatever wait there is on the connection, in any thread. Closing the connection would wake nobody."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
