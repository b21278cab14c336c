"""A network between a client and a Postgres server on a local socket, which fails when and how a test says."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import quote


class Kind(StrEnum):
    """How it fails."""

    CUT = "cut"  # each connection is closed, at both ends
    STALL = "stall"  # nothing is forwarded any more, on new connections neither
    SWALLOW = "swallow"  # what the server says on the connections of now is dropped; new ones work
    DEAF = "deaf"  # what the server says is dropped, on new connections too
    GARBLE = "garble"  # some bytes of the server are others
    SLOW = "slow"  # each block of the server takes a while


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, and after how many bytes of the server, over all connections."""

    kind: Kind
    after: int = 0
    marks: bytes = b"\x5a"  # what garbled bytes are combined with by exclusive or


class Network:
    """A proxy on a free port of localhost. Use it in a `with` block."""

    def __init__(self, server: Path) -> None:
        self._server = server  # the folder of the server's socket
        self._door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.lock = threading.Lock()
        self._links: list[_Link] = []
        self._fault: Fault | None = None
        self.carried = 0  # bytes of the server
        self.failed = False  # the fault has come
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, user: str = "postgres", database: str = "postgres", **options: str) -> str:
        port = self._door.getsockname()[1]
        given = "&".join(f"{name}={quote(value, safe='')}" for name, value in {"sslmode": "disable", **options}.items())
        return f"postgresql://{user}@127.0.0.1:{port}/{database}?{given}"

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """Fails in the block, where connections of before are closed, as are those of it at the end."""
        self._reset(fault)
        try:
            yield
        finally:
            self._reset(None)

    def fail(self, kind: Kind) -> None:
        """Fails from now on."""
        with self.lock:
            self._fault = Fault(kind, self.carried)
        self._fail()

    def _reset(self, fault: Fault | None) -> None:
        with self.lock:
            links, self._links = self._links, []
            self._fault, self.carried, self.failed = fault, 0, False
        for link in links:
            link.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(str(next(self._server.glob(".s.PGSQL.*[0-9]"))))
                except (OSError, StopIteration):
                    client.close()
                    continue
                with self.lock:
                    link = _Link(self, client, server)
                    kind = self._fault.kind if self._fault and self.failed else None
                    link.stalled, link.deaf = kind is Kind.STALL, kind is Kind.DEAF
                    self._links.append(link)

    def told(self, link: "_Link", data: bytes) -> bytes:
        """What arrives of what the server says, the fault considered."""
        with self.lock:
            before, self.carried = self.carried, self.carried + len(data)
            fault = self._fault
            due = fault is not None and link in self._links and self.carried > fault.after
            first = due and not self.failed
            self.failed = self.failed or due
        if fault is None or not due:
            return data
        place = max(0, fault.after - before)
        if fault.kind is Kind.GARBLE:
            garbled = bytes(byte ^ mark for byte, mark in zip(data[place:], fault.marks, strict=False))
            return data[:place] + garbled + data[place + len(garbled) :] if first else data
        if fault.kind is Kind.SLOW:
            time.sleep(0.03)
            return data
        if first:
            self._fail()
            return data[:place]
        return b"" if link.deaf or link.stalled else data

    def _fail(self) -> None:
        """The moment of the fault."""
        with self.lock:
            self.failed = True
            links, kind = list(self._links), self._fault.kind if self._fault else None
        for link in links:
            if kind is Kind.CUT:
                link.close()
            link.stalled = link.stalled or kind is Kind.STALL
            link.deaf = link.deaf or kind in (Kind.SWALLOW, Kind.DEAF)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()
        self._reset(None)


class _Link:
    """One connection through the network."""

    def __init__(self, network: Network, client: socket.socket, server: socket.socket) -> None:
        self._network, self._client, self._server = network, client, server
        self._pumps = 2
        self.stalled = self.deaf = False
        for pump in (self._to_server, self._to_client):
            threading.Thread(target=self._run, args=(pump,), daemon=True).start()

    def close(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _run(self, pump: Callable[[], None]) -> None:
        with suppress(OSError):
            pump()
        with self._network.lock:
            self._pumps -= 1
            if self._pumps:
                return
        self._client.close()
        self._server.close()

    def _to_server(self) -> None:
        while data := self._client.recv(1 << 16):
            if self.stalled:
                break
            self._server.sendall(data)
        if not self.stalled:  # else the server hears of a client that has gone as little as of anything
            self.close()

    def _to_client(self) -> None:
        while data := self._server.recv(1 << 16):
            data = self._network.told(self, data)
            if data and not self.stalled:
                self._client.sendall(data)
        if not self.stalled and not self.deaf:
            self.close()
