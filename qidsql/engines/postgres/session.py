"""A session on Postgres: one connection in one transaction, or one transaction per statement."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq
from sqlglot import exp

from qidsql.engines.postgres.costs import COSTS
from qidsql.engines.postgres.dialect import POSTGRES, SYSTEM_PATH
from qidsql.engines.postgres.lock_watch import hang_up
from qidsql.errors import QidsqlError, Stopped
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import Filling, Row, fill, in_pieces, integer, marks, put_together

BYTES_AT_ONCE = 1 << 16  # bytes sent at once


class RetryStatement(QidsqlError):
    """A statement was ended, or its answer is unusable; it can be repeated without consequences."""


@dataclass(eq=False, slots=True)
class Snapshot:
    """A snapshot that sessions read; `lost` is the error if it no longer exists."""

    lost: Stopped | None = None


class PostgresSession:
    """One connection in one transaction, or without `snapshot` one per statement. Read-only unless `writable`."""

    def __init__(
        self,
        connection: psycopg.Connection[Row],
        statement_seconds: int,
        snapshot: bool,
        writable: bool = False,
    ) -> None:
        self.connection = connection
        self.backend: int | None = None  # the id of the server process, also behind a pooler
        self._snapshot = snapshot
        self._cancelling = threading.Lock()
        connection.read_only = not writable
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        settings = statement_text(
            "settings",
            statement_timeout=str(statement_seconds * 1000),
            idle_timeout=str((statement_seconds + 1800) * 1000),  # idle during a whole statement of another session
        )
        self._settings = f"{SYSTEM_PATH};\n{settings}".encode()

    def begin(self, snapshot: str | None = None) -> None:
        """Begins the transaction, on another session's exported snapshot if given.

        From then on only Postgres' own functions, operators and types are found.
        """
        if snapshot is not None:
            name = POSTGRES.literal(snapshot)
            self.connection.execute(f"SET TRANSACTION SNAPSHOT {name}".encode())
        cursor = self.connection.execute(self._settings)
        while cursor.nextset():  # the last result has the settings
            pass
        self.backend = integer(fetched(cursor)[0][1])

    def begin_again(self, snapshot: str | None = None) -> None:
        """Ends the transaction, and begins another."""
        self.connection.rollback()
        self.begin(snapshot)

    def role_path(self) -> list[str]:
        """The schemas on the role's own search path. Call it before the transaction begins."""
        with self.connection.transaction(force_rollback=True):
            rows = fetched(self.connection.execute(statement_text("search_path").encode()))
        return [str(row[0]) for row in rows]

    def execute(self, sql: str) -> list[Row]:
        return self._execute(sql)

    def _execute(self, sql: str, single: bool = False) -> list[Row]:
        """The rows of a statement. With `single` the server itself refuses several statements in the text."""
        with self._transaction():
            return fetched(self.connection.execute(sql.encode(), binary=single))

    def export(self, sql: str, path: Path) -> None:
        cursor, copy = self.connection.cursor(), f"COPY ({sql}) TO STDOUT (FORMAT csv)".encode()
        with self._transaction(), path.open("wb") as file, cursor, cursor.copy(copy) as blocks:
            for block in blocks:
                file.write(block)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """The session's transaction, or a new one, whose tables must not be rewritten during its lock waits.

        Raises RetryStatement.
        """
        if self._snapshot:
            yield
            return
        with self.connection.transaction():
            self.begin()
            yield
            changed = fetched(self.connection.execute(about_backends("changed_since", [self.backend]).encode()))
            if changed:
                raise RetryStatement(f"{relation_names(changed)} was altered, truncated or refreshed while it was read")

    def load(self, sql: str, path: Path) -> None:
        with path.open("rb") as file, self.connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            while block := file.read(BYTES_AT_ONCE):
                copy.write(block)

    def attempt(self, sql: str) -> list[Row]:
        """The rows of a statement, in a savepoint: an error leaves the session usable."""
        with self.connection.transaction():
            return self.execute(sql)

    def bind(self, *statements: str) -> None:
        """Runs statements that contain a user's text, and rolls them back."""
        with self.connection.transaction(force_rollback=True):
            for sql in statements:
                self._execute(sql, single=True)

    def freeze_time(self) -> None:
        """Nothing to do: now() is the start time of the transaction."""

    @property
    def usable(self) -> bool:
        """Whether the session can go on after an error."""
        status = self.connection.info.transaction_status
        return status in (pq.TransactionStatus.IDLE, pq.TransactionStatus.INTRANS)

    def cancel(self) -> None:
        """Cancels over a separate connection, with a short timeout, since the network may not respond."""
        with self._cancelling:
            try:
                self.connection.cancel_safe(timeout=COSTS.cancel_seconds)
            except psycopg.Error:
                self.hang_up()

    def close(self) -> None:
        with self._cancelling:  # a cancel needs the connection
            self.connection.close()

    def hang_up(self) -> None:
        """Ends the wait for a server that does not respond. Closing the connection would not wake the thread."""
        hang_up(self.connection)


def fetched(cursor: psycopg.Cursor[Row]) -> list[Row]:
    try:
        return cursor.fetchall() if cursor.description is not None else []
    except (ValueError, ArithmeticError) as error:  # of a cell that is not of its column's type
        raise psycopg.DataError(type(error).__name__) from None


def about_backends(template: str, backends: Sequence[object]) -> str:
    """The text of a query about the activity of some server processes."""
    return statement_text(template, ours=[integer(backend) for backend in backends])


def relation_names(rows: Sequence[Row]) -> str:
    """The names of tables; those newer than the snapshot have none."""
    return ", ".join(sorted({str(name or "a table") for (name,) in rows}))


def statement_text(template: str, **holes: Filling | Sequence[int]) -> str:
    """The text of one of Postgres' own templates."""
    return put_together(
        catalog_statement(POSTGRES, template, *holes), {name: _part(value) for name, value in holes.items()}
    )


def _part(value: Filling | Sequence[int]) -> str:
    if isinstance(value, (str, int)):
        return POSTGRES.literal(value) if isinstance(value, str) else str(value)
    return ", ".join(map(_part, value)) if isinstance(value, Sequence) else POSTGRES.render(value)


@in_pieces
def catalog_statement(_: Dialect, template: str, *holes: str) -> exp.Expr:
    return fill(f"postgres/{template}", **marks(*holes))
