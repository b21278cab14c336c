"""A pooler with one connection to its server, as pgbouncer has with pool_size = 1: who comes second waits."""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

SSL, CANCEL = 80877103, 80877102
MESSAGE = struct.Struct("!cI")


def _message(kind: bytes, body: bytes) -> bytes:
    return MESSAGE.pack(kind, len(body) + 4) + body


def _error(state: str, text: str, severity: str = "FATAL") -> bytes:
    """As pgbouncer writes it: without the severity that is not localized."""
    return _message(b"E", f"S{severity}\0C{state}\0M{text}\0\0".encode())


class PoolOfOne:
    """On a free port of localhost, in transaction mode, or in statement mode. Clients wait at most `patience` seconds.

    `refused` is how many waited for longer.
    """

    def __init__(self, server: Path, patience: float = 60, by_statement: bool = False) -> None:
        self._place = str(next(server.glob(".s.PGSQL.*[0-9]")))
        self.patience, self._by_statement = patience, by_statement
        self.refused = 0
        self._turn = threading.Lock()  # of the client that has the server
        self._server, self._greeting = self._begun()
        self._door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._threads: list[threading.Thread] = []
        self._clients: list[socket.socket] = []
        self._start(self._accept)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._door.getsockname()[1]}/postgres?sslmode=disable"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._door, *self._clients, self._server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join()

    def _begun(self) -> tuple[socket.socket, bytes]:
        """A connection to the server, and what it said up to where it is ready."""
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._place)
        body = struct.pack("!I", 196608) + b"user\0postgres\0database\0postgres\0\0"
        server.sendall(struct.pack("!I", len(body) + 4) + body)
        said = b""
        while not said.endswith(_message(b"Z", b"I")):
            said += server.recv(1 << 16)
        return server, said

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self._clients.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        holding = False
        with suppress(OSError, struct.error), client, client.makefile("rb") as asked:
            if not self._greeted(client, asked):
                return
            while head := asked.read(MESSAGE.size):
                kind, length = MESSAGE.unpack(head)
                body = asked.read(length - 4)
                if kind == b"X":
                    break
                if self._by_statement and body.upper().startswith(b"BEGIN"):
                    client.sendall(_error("08P01", "transaction blocks not allowed in statement pooling mode", "ERROR"))
                    return
                if not holding and not (holding := self._turn.acquire(timeout=self.patience)):
                    self.refused += 1
                    client.sendall(_error("08P01", "query_wait_timeout"))
                    return
                self._server.sendall(_message(kind, body))
                if kind in b"QS" and self._relay(client) == b"I":
                    self._turn.release()
                    holding = False
        if holding:
            with suppress(OSError):  # the server is closed at the end
                self._server.sendall(_message(b"Q", b"ROLLBACK\0"))
                self._relay(None)
            self._turn.release()

    def _greeted(self, client: socket.socket, asked: object) -> bool:
        while True:
            [length] = struct.unpack("!I", asked.read(4))  # type: ignore[attr-defined]
            [code] = struct.unpack("!I", asked.read(length - 4)[:4])  # type: ignore[attr-defined]
            if code == CANCEL:
                return False
            if code != SSL:
                client.sendall(self._greeting)
                return True
            client.sendall(b"N")

    def _relay(self, client: socket.socket | None) -> bytes:
        """Passes on what the server says until it is ready; returns its state: I outside of a transaction."""
        while True:
            head = self._exactly(MESSAGE.size)
            kind, length = MESSAGE.unpack(head)
            body = self._exactly(length - 4)
            if client is not None:
                with suppress(OSError):
                    client.sendall(head + body)
            if kind == b"Z":
                return body

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            block = self._server.recv(size - len(found))
            if not block:
                raise ConnectionError
            found += block
        return found
