"""A Postgres server that lies: a proxy before a real one that changes rows of its answers."""

import random
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.local_server import MESSAGE, LocalServer, message

Cells = list[bytes | None]
Lie = Callable[[int, Cells], Cells]  # the number of a row since the start, and its cells, which it may change


class LyingServer(LocalServer):
    """Passes on what the real server says, but for the rows."""

    def __init__(self, server: Path, lie: Lie) -> None:
        self._lie = lie
        self._rows = 0
        self._lock = threading.Lock()
        super().__init__(server)

    def serve(self, client: socket.socket) -> None:
        with client, self.connected() as server:
            forward = self.started(_forward, client, server)
            with suppress(OSError, struct.error), server.makefile("rb") as answers:
                while head := answers.read(MESSAGE.size):
                    kind, length = MESSAGE.unpack(head)
                    body = answers.read(length - 4)
                    client.sendall(message(kind, self._changed(body) if kind == b"D" else body))
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            forward.join()

    def _changed(self, body: bytes) -> bytes:
        with self._lock:
            number, self._rows = self._rows, self._rows + 1
        cells = self._lie(number, _cells(body))
        parts = (struct.pack("!i", -1) if cell is None else struct.pack("!i", len(cell)) + cell for cell in cells)
        return struct.pack("!h", len(cells)) + b"".join(parts)


class EndlessServer(LocalServer):
    """Passes on what the real server says, and in the answer with row number `after` far more than anybody asked for.

    `said`: a message of the protocol, or None for that row once more.
    """

    MUCH = 1 << 26  # bytes

    def __init__(self, server: Path, said: bytes | None, after: int) -> None:
        self._said, self._after = said, after
        self.sent = 0
        super().__init__(server)

    def serve(self, client: socket.socket) -> None:
        rows = 0
        with client, self.connected() as server:
            forward = self.started(_forward, client, server)
            with suppress(OSError, struct.error), server.makefile("rb") as answers:
                while head := answers.read(MESSAGE.size):
                    kind, length = MESSAGE.unpack(head)
                    told = message(kind, answers.read(length - 4))
                    rows += kind == b"D"
                    if kind == b"D" and rows == self._after:
                        self._flood(client, self._said or told)
                    client.sendall(told)
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            forward.join()

    def _flood(self, client: socket.socket, said: bytes) -> None:
        block = said * (1 + (1 << 16) // len(said))
        while self.sent < self.MUCH:
            client.sendall(block)
            self.sent += len(block)


def _forward(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError):
        while block := client.recv(1 << 16):
            server.sendall(block)
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)


def _cells(body: bytes) -> Cells:
    [number], place, found = struct.unpack_from("!h", body), 2, list[bytes | None]()
    for _ in range(number):
        [length] = struct.unpack_from("!i", body, place)
        place += 4
        found.append(None if length < 0 else body[place : place + length])
        place += max(0, length)
    return found


def random_lie(chance: random.Random) -> Lie:
    """Changes cells of a few rows: into another type, a number below 0 or too large, or nothing; or their number."""
    others = (b"-167", b"abc", None, b"", b"99999999999999999999", b"NaN", b"{1,2}", b"\xff", b"t", b"0", b"1.5")

    rows = {int(chance.paretovariate(0.4)) + 15 for _ in range(3)}

    def lie(number: int, cells: Cells) -> Cells:
        if number not in rows or not cells:
            return cells
        if chance.random() < 0.1:
            return cells[1:] if chance.random() < 0.5 else [*cells, b"1"]
        cells[chance.randrange(len(cells))] = chance.choice(others)
        return cells

    return lie
