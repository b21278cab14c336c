"""A store in a schema of a Postgres database, which a team can share."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from sqlglot import exp

from qidsql.core.budget import earlier, limit
from qidsql.engines.postgres.dialect import POSTGRES, SYSTEM_PATH
from qidsql.engines.postgres.errors import not_connected
from qidsql.engines.postgres.lock_watch import GuardedConnection, hang_up
from qidsql.engines.postgres.server import connection_label, connection_options, connection_parameters, parameters_label
from qidsql.engines.store import STORE_PATIENCE, Prepared, Store, Transaction
from qidsql.engines.workers import run_in_thread
from qidsql.errors import BudgetSpent, LockHeld, StoreError
from qidsql.sql.relation import inserting, row_of_holes
from qidsql.sql.templates import Row, fill

Answer = TypeVar("Answer")


SLACK = 5.0  # seconds to wait beyond the server's own limits
LEAST_PATIENCE = 1.5  # seconds to wait even after the time limit, so that a run that exceeded it is recorded


class PostgresStore(Store):
    """A schema, created by the first writing transaction if the role may."""

    dialect = POSTGRES
    parameter = "%s"

    def __init__(self, url: str, schema: str, patience: float = STORE_PATIENCE) -> None:
        super().__init__(patience)
        self.url = url
        self.schema = schema
        self.parameters = connection_parameters(url)
        self.label = f"schema {schema} of {parameters_label(self.parameters, 'host' in self.parameters)}"

    def exists(self) -> bool:
        with self._connected() as line:
            return self._usable(line) is not None

    @contextmanager
    def transaction(self, writing: bool) -> Iterator["PostgresTransaction"]:
        try:
            with self._connected() as line:
                if writing:
                    # Taken before any read: one writer at a time, and each sees the writes of the one before.
                    line.execute(_text("lock", store=f"qidsql {self.schema}"))
                    if self._usable(line) is None:
                        line.execute(POSTGRES.render(exp.Create(this=self._name, kind="SCHEMA")).encode())
                if self._usable(line) is False:
                    role = line.connection.info.user
                    raise StoreError(
                        f"{self.label} could not be used: the role lacks USAGE on it; run: GRANT USAGE ON SCHEMA "
                        f"{self._name.sql('postgres')} TO {exp.to_identifier(role, quoted=True).sql('postgres')}"
                    )
                yield PostgresTransaction(self, line)
        except psycopg.Error as error:
            raise self._why_not(error) from None
        except BudgetSpent:
            raise StoreError(f"{self.label} could not be used: the server did not answer in time") from None

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._connected() as line:
            line.commit()
            line.connection.autocommit = True  # an open transaction would delay the server's vacuum
            [(free,)] = line.execute(_text("alone", store=f"qidsql {self.schema} alone"))
            if not free:
                raise LockHeld(f"another qidsql is at work: it holds the lock of {self.label}")
            yield

    @contextmanager
    def _connected(self) -> Iterator["TimedConnection"]:
        """A connection in a transaction, which is committed if the block ends without an error."""
        options = connection_options(self.parameters)
        try:
            line = TimedConnection(
                lambda: GuardedConnection.connect(self.url, prepare_threshold=None, **options),  # type: ignore[arg-type]
                self.patience,
            )
        except psycopg.Error as error:
            raise StoreError(f"{self.label} cannot be reached: {not_connected(error, self.parameters)}") from None
        except BudgetSpent:
            raise StoreError(f"{self.label} cannot be reached: the server did not answer in time") from None
        try:
            self.label = f"schema {self.schema} of {connection_label(line.connection.info, self.parameters)}"
            line.execute(SYSTEM_PATH.encode())
            line.execute(_text("settings", lock_timeout=str(int(self.patience * 1000))))
            yield line
            line.commit()
        finally:
            line.connection.close()  # rolls back what was not committed

    def _usable(self, line: "TimedConnection") -> bool | None:
        """Whether the role may use the schema; None if it does not exist."""
        found = line.execute(_text("has_schema", schema=self.schema))
        return bool(found[0][0]) if found else None

    @property
    def _name(self) -> exp.Identifier:
        return exp.to_identifier(self.schema, quoted=True)

    def _why_not(self, error: psycopg.Error) -> StoreError:
        """The error for a failed transaction, from the SQLSTATE alone: the server's text can contain values."""
        state = error.sqlstate or ""
        words = {
            "42501": f"the role lacks privileges: reading needs SELECT on the tables of schema {self.schema}, "
            f"recording also INSERT and DELETE, and the first run CREATE on the database",
            "25006": "the server is read-only (a standby?); name its primary",
            "55P03": f"another process was writing for {self.patience:.0f} s; try again",
            "53100": "the server's disk is full",
            "42P01": "it contains no complete history",
        }
        why = next((text for start, text in words.items() if state.startswith(start)), "")
        if not why:
            why = f"SQLSTATE {state}" if state else "the connection was lost"
        return StoreError(f"{self.label} could not be used: {why}")


class TimedConnection:
    """A connection whose calls end within the time limit, even if the network does not respond."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Row]], patience: float) -> None:
        """Raises psycopg.Error, BudgetSpent."""
        self._patience = patience + SLACK
        self.connection = run_in_thread(connect, None, self._deadline())

    def execute(self, sql: bytes, values: Sequence[Any] | None = None) -> list[Row]:
        """The rows of a statement. Raises psycopg.Error, BudgetSpent."""

        def work() -> list[Row]:
            cursor = self.connection.execute(sql, values)
            return cursor.fetchall() if cursor.description is not None else []

        return self._done(work)

    def add(self, sql: bytes, rows: Sequence[Sequence[Any]]) -> None:
        """Runs a statement for each row of values. Raises psycopg.Error, BudgetSpent."""

        def work() -> None:
            with self.connection.cursor() as cursor:
                cursor.executemany(sql, rows)

        self._done(work)

    def commit(self) -> None:
        """Raises psycopg.Error, BudgetSpent."""
        self._done(self.connection.commit)

    def _done(self, work: Callable[[], Answer]) -> Answer:
        return run_in_thread(work, lambda: hang_up(self.connection), self._deadline())

    def _deadline(self) -> float:
        now = time.monotonic()
        return max(now + LEAST_PATIENCE, earlier(now + self._patience, limit()) or 0.0)


class PostgresTransaction(Transaction):
    def __init__(self, store: PostgresStore, line: TimedConnection) -> None:
        super().__init__(store)
        self._line = line

    def execute(self, statement: Prepared, values: Mapping[str, Any]) -> list[Row]:
        return self._line.execute(statement.text.encode(), statement.values(values))

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        statement = self._store.prepared(inserting(table, row_of_holes(columns), columns))
        self._line.add(statement.text.encode(), [statement.values(row) for row in rows])


def _text(name: str, **holes: Any) -> bytes:
    return POSTGRES.render(fill(f"postgres/store/{name}", **holes)).encode()
