"""A server of Postgres' protocol on a free port of localhost, before a real one; a thread for each client."""

import socket
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

MESSAGE = struct.Struct("!cI")  # its kind and length, the length's own four bytes included


def message(kind: bytes, body: bytes) -> bytes:
    return MESSAGE.pack(kind, len(body) + 4) + body


class LocalServer(ABC):
    """What `serve` answers. `server` is the folder of the real one's socket. Use it in a `with` block."""

    def __init__(self, server: Path) -> None:
        self._socket = str(next(server.glob(".s.PGSQL.*[0-9]")))
        self._door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._open = [self._door]
        self._threads: list[threading.Thread] = []
        self.started(self._accept)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._door.getsockname()[1]}/postgres?sslmode=disable"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # which wakes the thread that waits there
            each.close()
        for thread in self._threads:
            thread.join()

    @abstractmethod
    def serve(self, client: socket.socket) -> None:
        """Speaks with a client until it leaves."""

    def connected(self) -> socket.socket:
        """A connection to the real server."""
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._socket)
        return server

    def started(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)
        return thread

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self._open.append(client)
                self.started(self.serve, client)
