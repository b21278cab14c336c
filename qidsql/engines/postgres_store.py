"""A store in a schema of a Postgres database, for a team."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlglot import exp

from qidsql.engines.postgres import connection_label, connection_options, connection_parameters
from qidsql.engines.postgres_errors import not_connected
from qidsql.engines.store import PATIENCE, Store, values
from qidsql.errors import Held, StoreError
from qidsql.sql.dialects import POSTGRES, SYSTEM_PATH
from qidsql.sql.statements import Row
from qidsql.sql.templates import fill


class PostgresStore(Store):
    """A schema; made by the first transaction that writes, where the role may."""

    dialect = POSTGRES
    parameter = "%s"

    def __init__(self, url: str, schema: str, folder: str, patience: float = PATIENCE) -> None:
        super().__init__(folder, patience)
        self.url = url
        self.schema = schema
        self.parameters = connection_parameters(url)
        self.label = f"schema {schema} of {self.parameters.get('host', 'the local socket')}"

    def exists(self) -> bool:
        with self._connected() as connection:
            return self._usable(connection) is not None

    @contextmanager
    def transaction(self, writing: bool) -> Iterator["PostgresTransaction"]:
        try:
            with self._connected() as connection:
                if writing:
                    # Before anything is read: one writer at a time, and each sees what the one before has written.
                    connection.execute(_text("store/lock", store=f"qidsql {self.schema}"))
                    if self._usable(connection) is None:
                        connection.execute(_text("store/make_schema", schema=self._name))
                if self._usable(connection) is False:
                    role = connection.info.user
                    raise StoreError(
                        f"{self.label} could not be used: the role may not look into it; run: GRANT USAGE ON SCHEMA "
                        f"{self._name.sql('postgres')} TO {exp.to_identifier(role, quoted=True).sql('postgres')}"
                    )
                yield PostgresTransaction(self, connection)
        except psycopg.Error as error:
            raise self._why_not(error) from None

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._connected() as connection:
            connection.commit()
            connection.autocommit = True  # an open transaction would hold up the server's vacuum
            [(free,)] = connection.execute(_text("store/alone", store=f"qidsql {self.schema} alone")).fetchall()
            if not free:
                raise Held(f"another qidsql is at work: it holds the lock of {self.label}")
            yield

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection in a transaction, which is committed when the block ends without an error."""
        try:
            connection = psycopg.connect(self.url, prepare_threshold=None, **connection_options(self.parameters))  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise StoreError(f"{self.label} cannot be reached: {not_connected(error, self.parameters)}") from None
        with connection:
            self.label = f"schema {self.schema} of {connection_label(connection.info, self.parameters)}"
            connection.execute(SYSTEM_PATH.encode())
            connection.execute(_text("store/settings", lock_timeout=str(int(self.patience * 1000))))
            yield connection

    def _usable(self, connection: psycopg.Connection[Row]) -> bool | None:
        """Whether the role may use the schema; None where there is none."""
        found = connection.execute(_text("store/has_schema", schema=self.schema)).fetchall()
        return bool(found[0][0]) if found else None

    @property
    def _name(self) -> exp.Identifier:
        return exp.to_identifier(self.schema, quoted=True)

    def _why_not(self, error: psycopg.Error) -> StoreError:
        """By the SQLSTATE alone: the server's text may hold what was to be written."""
        state = error.sqlstate or ""
        words = {
            "42501": f"the role lacks rights: to read SELECT on the tables of schema {self.schema}, to keep runs "
            f"INSERT and DELETE as well, and CREATE on the database for the first run",
            "25006": "the server is read-only (a standby?); name its primary",
            "55P03": f"another process was writing for {self.patience:.0f} s; try again",
            "53100": "the server's disk is full",
            "42P01": "it holds no history, or not a whole one",
        }
        why = next((text for start, text in words.items() if state.startswith(start)), "")
        if not why:
            why = f"SQLSTATE {state}" if state else "the connection was lost"
        return StoreError(f"{self.label} could not be used: {why}")


class PostgresTransaction:
    """Statements on an open connection."""

    def __init__(self, store: PostgresStore, connection: psycopg.Connection[Row]) -> None:
        self._store = store
        self._connection = connection

    def ask(self, name: str, **given: Any) -> list[Row]:
        text, holes = self._store.prepared(name)
        cursor = self._connection.execute(text.encode(), values(holes, given))
        return cursor.fetchall() if cursor.description is not None else []

    def add(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        text, holes = self._store.prepared(name)
        with self._connection.cursor() as cursor:
            cursor.executemany(text.encode(), [values(holes, row) for row in rows])


def _text(name: str, **holes: Any) -> bytes:
    return POSTGRES.render(fill(f"postgres/{name}", **holes)).encode()
