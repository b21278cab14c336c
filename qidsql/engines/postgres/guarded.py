"""Connections that hang up on a server that sends without end: it lies, or something between does.

libpq keeps a whole answer in memory, and psycopg all notifications.
"""

import socket
import sys
from collections.abc import Generator
from contextlib import suppress
from os import dup
from typing import Any, TypeVar

import psycopg

from qidsql.engines.workers import LARGEST_ANSWER
from qidsql.sql.templates import Row

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
