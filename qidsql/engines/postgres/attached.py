"""The engine for a Postgres that is attached to the DuckDB that qidsql is loaded into.

Every statement is sent as text through DuckDB's `postgres_query` and runs inside Postgres. DuckDB makes the connection;
qidsql gets neither the server's address nor a password.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg import errors
from sqlglot import exp

from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.engines.costs import Costs
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.host import CatalogCache, HostConnection, HostError
from qidsql.engines.postgres.costs import COSTS
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.engines.postgres.engine import PostgresEngine
from qidsql.engines.postgres.errors import translate
from qidsql.engines.postgres.server import Server
from qidsql.engines.postgres.session import PostgresSession
from qidsql.engines.workers import Session
from qidsql.errors import AccessError, QidsqlError, StatementError
from qidsql.sql import quoted
from qidsql.sql.templates import Row, fill, integer

STATEMENT_SECONDS = 3600
IDLE_SECONDS = STATEMENT_SECONDS + 1800
INTERRUPTED, PERMISSION = 29, 34  # duckdb_error_type
ONE_SNAPSHOT = ("repeatable read", "serializable")
# DuckDB passes on the server's text without a SQLSTATE. Texts in other languages than English match no pattern.
KINDS: tuple[tuple[str, type[psycopg.Error]], ...] = (
    (r"could not identify an?", errors.UndefinedFunction),
    (r"permission denied", errors.InsufficientPrivilege),
    (r"canceling statement due to lock timeout", errors.LockNotAvailable),
    (r"canceling statement due to conflict with recovery", errors.SerializationFailure),
    (r"canceling statement", errors.QueryCanceled),
    (r"read-only transaction", errors.ReadOnlySqlTransaction),
    (r"relation .* does not exist", errors.UndefinedTable),
    (r"column .* does not exist", errors.UndefinedColumn),
    (r"does not exist", errors.UndefinedFunction),
    (r"division by zero|out of range|invalid input|cannot cast", errors.DataException),
    (r"No space left|out of memory|could not resize", errors.InsufficientResources),
    (r"(server|connection).*(closed|lost)|terminating connection|[Uu]nable to connect|could not connect|no connection "
     r"to the server|timeout expired", psycopg.OperationalError),
)  # fmt: skip


class RowSecurity(psycopg.Error):
    """Row-level security would hide rows."""


class FilesForbidden(psycopg.Error):
    """This DuckDB may not write files."""


class AttachedSession:
    """One connection to DuckDB, whose transaction uses one of DuckDB's connections to Postgres."""

    def __init__(self, connection: HostConnection, database: str) -> None:
        self._connection, self._database = connection, database
        self._working: HostConnection | None = None
        self.backend: int | None = None
        self.isolation = ""
        self.usable = True  # statements that can fail run in their own transactions

    def execute(self, sql: str) -> list[Row]:
        return self._rows(self._in_transaction(), sql)

    def export(self, sql: str, path: Path) -> None:
        """For codes and counts: integers and texts, which look the same in DuckDB's csv and Postgres'."""
        target = self._passed_on(sql)
        self._execute(
            self._in_transaction(),
            f"COPY ({target}) TO {quoted(str(path))} (FORMAT csv, HEADER false, USE_TMP_FILE false)",
        )

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("an attached Postgres is only read")

    def attempt(self, sql: str) -> list[Row]:
        """The rows of a statement in its own transaction, which is rolled back."""
        connection = self._connection.cursor()
        try:
            self._begin(connection)
            return self._rows(connection, sql)
        finally:
            connection.close()

    def bind(self, *statements: str) -> None:
        """Runs each one nested in another statement, so that it cannot contain a second one."""
        for sql in statements:
            self.attempt(sql)

    def role_path(self) -> list[str]:
        """The schemas that the role's own search path names."""
        connection = self._connection.cursor()
        try:
            self._execute(connection, "BEGIN")
            return [str(row[0]) for row in self._rows(connection, POSTGRES.render(fill("postgres/search_path")))]
        finally:
            connection.close()

    def freeze_time(self) -> None:
        """Nothing to do: now() is the start time of the transaction."""

    def cancel(self) -> None:
        """Cancels in Postgres, over another connection: DuckDB cannot be interrupted while it waits for Postgres."""
        if self.backend is None:
            return
        connection = self._connection.cursor()
        try:
            self._rows(connection, POSTGRES.render(fill("postgres/cancel", backend=self.backend)))
        except psycopg.Error:
            pass  # no server or no free connection: the server's own limits end the statement
        finally:
            connection.close()
        if self._working is not None:
            self._working.interrupt()

    def hang_up(self) -> None:
        """Nothing to do: the connection to the server belongs to DuckDB."""

    def close(self) -> None:
        """Ends the transaction."""
        if self._working is not None:
            self._working.close()
        self._connection.close()

    def _in_transaction(self) -> HostConnection:
        if self._working is None:
            connection = self._connection.cursor()
            try:
                self.backend = self._begin(connection)
            except BaseException:
                connection.close()
                raise
            self._working = connection
        return self._working

    def _begin(self, connection: HostConnection) -> int:
        """Begins a transaction in both, read-only in Postgres; returns the id of its server process."""
        self._execute(connection, "BEGIN")
        settings = fill(
            "postgres/settings",
            statement_timeout=str(STATEMENT_SECONDS * 1000),
            idle_timeout=str(IDLE_SECONDS * 1000),
        )
        [(_, isolation, backend, _)] = self._rows(connection, POSTGRES.render(fill("postgres/attached_session")))
        self._rows(connection, POSTGRES.render(settings))
        self.isolation = str(isolation)
        return integer(backend)

    def _rows(self, connection: HostConnection, sql: str) -> list[Row]:
        """The rows, transferred as JSON texts from Postgres: DuckDB would convert exact numbers to floating point."""
        query = f"SELECT CAST(pg_catalog.row_to_json(answer) AS pg_catalog.text) AS answer FROM ({sql}) AS answer"
        text_query = self._passed_on(query)
        return [_cells(cast(str, text)) for (text,) in self._execute(connection, text_query)]

    def _passed_on(self, sql: str) -> str:
        """The DuckDB query that runs SQL in the attached Postgres and returns its rows."""
        arguments = [exp.Literal.string(self._database), exp.Literal.string(sql)]
        return DUCKDB.render(exp.select("*").from_(exp.Anonymous(this="POSTGRES_QUERY", expressions=arguments)))

    def _execute(self, connection: HostConnection, sql: str) -> list[Row]:
        try:
            return connection.execute(sql).fetchall()
        except HostError as error:
            raise _of_server(error) from None


class AttachedServer(Server):
    """Opens sessions through DuckDB."""

    def __init__(self, connection: HostConnection, database: str) -> None:
        super().__init__("", {}, STATEMENT_SECONDS, snapshot=True, watched=False)
        self._connection, self._database = connection, database

    def session(self, exported: str | None = None) -> PostgresSession:
        session = AttachedSession(self._connection.cursor(), self._database)
        self.role_path = self.role_path or session.role_path()
        return cast(PostgresSession, session)

    def not_connected(self, error: Exception) -> QidsqlError:
        return error_of(error, "reading of the catalog")

    def label(self, session: Session) -> str:
        return f"{self._database}, the Postgres attached to this database"

    def warning(self, session: Session) -> str:
        return ""  # DuckDB made the connection and does not say how


class AttachedEngine(PostgresEngine):
    """Audits in an attached Postgres: one session, one transaction of Postgres, read-only.

    `host` is the engine of the DuckDB, which is closed with this one. `inside` are the tables by what the caller wrote:
    the same without the database.
    """

    costs = replace(COSTS, cancel_seconds=Costs().cancel_seconds)  # its connections to the server cannot be cut

    def __init__(
        self, connection: HostConnection, host: Engine, database: str, inside: Mapping[str, str], cache: CatalogCache
    ) -> None:
        self._host, self._inside, self._cache = host, inside, cache
        self._connection, self._database = connection, database
        super().__init__(AttachedServer(connection, database), 1)
        if self._on_one_session(lambda session: cast(AttachedSession, session).isolation) not in ONE_SNAPSHOT:
            self._one_snapshot = False
            self._of_snapshot = "each statement sees its own snapshot"
        self._of_snapshot += ": what is committed when it starts, and nothing of an open transaction here"
        self.snapshot = self._of_snapshot

    def state_token(self, table: Table) -> None:
        """None: the catalog is read in other transactions than the tables."""

    def release(self) -> None:
        super().release()
        self._connection.close()
        self._host.close()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        return error_of(error, purpose)

    def describe(self, table: str | None) -> Table:
        if table not in self._cache.tables:
            self._cache.tables[table] = super().describe(self._inside.get(table or "", table))
        return self._cache.tables[table]

    def seen(self, tables: Sequence[str], where: str) -> tuple[list[str], str]:
        """The answers that the caller's statement may give to `moment_query`, if it sees what this session sees.

        Its name of the table has the database, so nothing hides that; equal snapshots without changes of one's own, or
        a transaction that has just begun, see equal rows.
        """
        snapshot = self._on_one_session(lambda session: cast(AttachedSession, session).execute(_moment("infinity")))
        answers = ["this moment", *(str(row[0]) for row in snapshot if self._one_snapshot)]
        answers = ["; ".join([answer] * max(1, len(tables))) for answer in answers]
        return answers, ", ".join(map(self.whole_name, tables)) or f"all tables of {self._database}"

    def whole_name(self, table: str) -> str:
        """The table's name with its database, for people."""
        return f"{self._database}.{self.describe(table).name}"


def server_time(connection: HostConnection, database: str) -> str:
    """The attached server's time. Raises QidsqlError."""
    session = AttachedSession(connection, database)
    try:
        return str(session.attempt("SELECT pg_catalog.clock_timestamp()::pg_catalog.text AS now")[0][0])
    except psycopg.Error as error:
        raise error_of(error, "the server's time") from None
    finally:
        session.close()


def moment_query(database: str, since: str) -> str:
    """The query by which a session of DuckDB tells what its transaction in the attached Postgres sees."""
    arguments = f"{quoted(database)}, {quoted(_moment(since))}"
    return f"SELECT seen FROM system.main.postgres_query({arguments})"


def _moment(since: str) -> str:
    return POSTGRES.render(fill("postgres/callers_moment", since=since))


def error_of(error: Exception, purpose: str) -> QidsqlError:
    """The server's error as an error of qidsql."""
    if isinstance(error, RowSecurity):
        return AccessError(
            f"row-level security hides rows of a table behind the {purpose}; attach as a role that has BYPASSRLS, "
            f"else the answer would leave people out"
        )
    if isinstance(error, FilesForbidden):
        return StatementError(
            f"this database may not use files ({purpose}): enable_external_access is off, and the codes of the rows "
            f"go through a private temporary file; use the command line: qidsql uniques, qidsql protect"
        )
    return translate(error, purpose)


def _of_server(error: HostError) -> psycopg.Error:
    """The exception that the Postgres driver would raise, without its text: it can contain values and passwords."""
    if error.kind == INTERRUPTED:
        return errors.QueryCanceled()
    if error.kind == PERMISSION:
        return FilesForbidden()
    text = str(error).partition("ERROR:")[2] or str(error)
    if "row-level security" in text:
        return RowSecurity()
    return next((kind() for pattern, kind in KINDS if re.search(pattern, text)), psycopg.DatabaseError())


def _cells(text: str) -> Row:
    """Parses the JSON text of a row. Columns can have the same name."""
    return tuple(json.loads(text, object_pairs_hook=_values, parse_float=Decimal))


def _values(pairs: list[tuple[str, Any]]) -> list[Any]:
    return [value for _, value in pairs]
