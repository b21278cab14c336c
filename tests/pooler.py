"""A pooler with one connection to its server, as pgbouncer has with pool_size = 1: who comes second waits."""

import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

from tests.local_server import MESSAGE, LocalServer, message

SSL, CANCEL = 80877103, 80877102


def _error(state: str, text: str, severity: str = "FATAL") -> bytes:
    """As pgbouncer writes it: without the severity that is not localized."""
    return message(b"E", f"S{severity}\0C{state}\0M{text}\0\0".encode())


class PoolOfOne(LocalServer):
    """In transaction mode, or in statement mode. Clients wait at most `patience` seconds.

    `refused` is how many waited for longer.
    """

    def __init__(self, server: Path, patience: float = 60, by_statement: bool = False) -> None:
        self.patience, self._by_statement = patience, by_statement
        self.refused = 0
        self._turn = threading.Lock()  # of the client that has the server
        super().__init__(server)
        self._server, self._greeting = self._begun()
        self._open.append(self._server)

    def _begun(self) -> tuple[socket.socket, bytes]:
        """A connection to the server, and what it said up to where it is ready."""
        server = self.connected()
        body = struct.pack("!I", 196608) + b"user\0postgres\0database\0postgres\0\0"
        server.sendall(struct.pack("!I", len(body) + 4) + body)
        said = b""
        while not said.endswith(message(b"Z", b"I")):
            said += server.recv(1 << 16)
        return server, said

    def serve(self, client: socket.socket) -> None:
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
                self._server.sendall(message(kind, body))
                if kind in b"QS" and self._relay(client) == b"I":
                    self._turn.release()
                    holding = False
        if holding:
            with suppress(OSError):  # the server is closed at the end
                self._server.sendall(message(b"Q", b"ROLLBACK\0"))
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
