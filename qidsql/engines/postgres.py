"""Postgres: read-only sessions on one exported snapshot, that wait for no lock and see every row or fail."""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import psycopg
from psycopg import conninfo
from sqlglot import exp

from qidsql.engines.base import Engine, Session
from qidsql.engines.naming import find_table
from qidsql.errors import AccessError, ConnectionLost, QidsqlError, SourceError, StatementError
from qidsql.schema import Column, Comparison, Table, TableName
from qidsql.sql.dialects import POSTGRES
from qidsql.sql.relation import relation
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import Filling, fill

KINDS = {"r": "table", "v": "view", "m": "materialized view", "p": "partitioned table", "f": "foreign table"}
NOTES = {
    "m": "a materialized view shows the data of its last refresh",
    "f": "a foreign table: its rows travel to this server at every scan",
}


class PostgresSession:
    """One connection in one read-only transaction."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self._cancelling = threading.Lock()

    def execute(self, sql: str) -> list[Row]:
        return self._connection.execute(sql.encode()).fetchall()

    def cancel(self) -> None:
        with self._cancelling:
            try:
                self._connection.cancel_safe(timeout=5.0)
            except psycopg.Error:
                self._connection.close()  # nothing can be told to the server any more

    def close(self) -> None:
        self._connection.close()


class PostgresEngine(Engine):
    """A Postgres database. The first session exports its snapshot, the others import it."""

    dialect = POSTGRES

    def __init__(self, catalog: psycopg.Connection[Row], sessions: Sequence[Session], label: str, shared: bool) -> None:
        super().__init__(sessions)
        self._catalog_connection = catalog
        self.label = label
        version, self.role, standby = self._catalog("session")[0]
        self.version = f"PostgreSQL {version}"
        place = " of a standby server" if standby else ""
        self.snapshot = f"one snapshot{place} for all statements" if shared else "each statement sees its own moment"

    def release(self) -> None:
        self._catalog_connection.close()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        return translate(error, purpose)

    def table_names(self) -> list[TableName]:
        return [_name(row) for row in self._catalog("tables")]

    def describe(self, table: str | None) -> Table:
        rows = self._catalog("tables")
        path = [str(row[0]) for row in self._catalog("search_path")]
        name = find_table(table, [_name(row) for row in rows], "postgres", path, self.label)
        oid, _, _, kind, estimate, secured = next(row for row in rows if _name(row) == name)
        if secured:
            raise AccessError(
                f"row-level security hides rows of {name} from the role {self.role}; audit with the table's owner or a "
                f"role that has BYPASSRLS, else the answer would leave people out"
            )
        columns = tuple(
            Column(str(column), str(data_type), bool(nullable), bool(readable), Comparison(str(comparison)))
            for column, data_type, nullable, readable, comparison in self._catalog("columns", oid=integer(oid))
        )
        described = Table(
            name=name,
            kind=KINDS[str(kind)],
            columns=columns,
            estimated_rows=integer(estimate) if estimate is not None and integer(estimate) >= 0 else None,
            notes=(NOTES[str(kind)],) if str(kind) in NOTES else (),
            row_address=("tableoid", "ctid") if kind in ("r", "m", "p") else (),
        )
        if not any(column.readable for column in columns):
            raise AccessError(f"the role {self.role} may not read {name}; run: GRANT SELECT ON {name} TO {self.role}")
        return self._with_groupable_columns(described)

    def _with_groupable_columns(self, table: Table) -> Table:
        """Columns whose type has no equality are compared as text. One statement to the planner, more if one fails."""
        probed = [c for c in table.columns if c.readable and c.comparison is Comparison.VALUE]
        if self._groupable(table, probed):
            return table
        bad = {column.name for column in probed if not self._groupable(table, [column])}
        columns = tuple(
            Column(c.name, c.type, c.nullable, c.readable, Comparison.TEXT) if c.name in bad else c
            for c in table.columns
        )
        return replace(table, columns=columns)

    def _groupable(self, table: Table, columns: Sequence[Column]) -> bool:
        if not columns:
            return True
        source = relation(self.dialect, table, columns)
        query = fill("postgres/groupable", relation=source.node, columns=source.columns([c.name for c in columns]))
        try:
            self._catalog_connection.execute(self.dialect.render(query).encode())
        except psycopg.errors.UndefinedFunction:
            return False
        except psycopg.Error as error:
            raise translate(error, f"description of {table.name}") from None
        return True

    def _catalog(self, template: str, **holes: Filling) -> list[Row]:
        """Rows of a catalog query."""
        try:
            text = self.dialect.render(fill(f"postgres/{template}", **holes))
            return self._catalog_connection.execute(text.encode()).fetchall()
        except psycopg.Error as error:
            raise translate(error, "reading of the catalog") from None


def connect(source: str, workers: int, statement_seconds: int, snapshot: bool) -> PostgresEngine:
    """An engine on a libpq URL or connection string. Raises SourceError."""
    try:
        parameters = conninfo.conninfo_to_dict(source)
    except psycopg.Error:
        raise SourceError("the Postgres URL cannot be read; expected postgresql://user@host:5432/database") from None
    opened: list[psycopg.Connection[Row]] = []
    try:
        opened += [_open(source, parameters, statement_seconds)]
        shared = _open_sessions(opened, source, parameters, workers, statement_seconds, snapshot)
    except psycopg.Error as error:
        for connection in opened:
            connection.close()
        raise _open_error(error, parameters) from None
    info = opened[0].info
    host = "" if info.host.startswith("/") else info.host + (f":{info.port}" if info.port != 5432 else "")
    return PostgresEngine(
        opened[0],
        [PostgresSession(connection) for connection in opened[1:]],
        f"postgresql://{info.user}@{host}/{info.dbname}",
        shared,
    )


def _open(source: str, parameters: Mapping[str, object], statement_seconds: int) -> psycopg.Connection[Row]:
    """One read-only connection. It notices a dead server, and the server a dead client, within about a minute."""
    defaults = {
        "application_name": "qidsql",
        "connect_timeout": "10",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
    }
    extra = {key: value for key, value in defaults.items() if key not in parameters}
    connection = psycopg.connect(source, autocommit=True, prepare_threshold=None, **extra)  # type: ignore[arg-type]
    safety = fill("postgres/safety", statement_timeout=str(statement_seconds * 1000))
    connection.execute(POSTGRES.render(safety).encode())
    connection.read_only = True
    return connection


def _open_sessions(
    opened: list[psycopg.Connection[Row]],
    source: str,
    parameters: Mapping[str, object],
    workers: int,
    statement_seconds: int,
    snapshot: bool,
) -> bool:
    """Appends the working connections; fewer than asked where the server has no more to give. True: one snapshot."""
    exported = ""
    for number in range(workers):
        try:
            connection = _open(source, parameters, statement_seconds)
        except psycopg.OperationalError:
            if number == 0:
                raise
            break
        opened.append(connection)
        if not snapshot:
            continue
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.autocommit = False
        if number == 0 and workers > 1:
            row = connection.execute(POSTGRES.render(fill("postgres/export_snapshot")).encode()).fetchone()
            assert row is not None
            exported = exp.Literal.string(str(row[0])).sql("postgres")
        elif number:
            connection.execute(f"SET TRANSACTION SNAPSHOT {exported}".encode())
    return snapshot


def _name(row: Row) -> TableName:
    return TableName(name=str(row[2]), schema=str(row[1]))


def _open_error(error: psycopg.Error, parameters: Mapping[str, object]) -> QidsqlError:
    """Why no connection came about. libpq's text can hold the password, so it only tells which case this is."""
    text = str(error)
    host = parameters.get("host") or parameters.get("hostaddr") or "the local socket"
    port = f" port {parameters['port']}" if parameters.get("port") else ""
    user = f"user {parameters['user']}" if parameters.get("user") else "this user"
    database = parameters.get("dbname") or "of that name"
    if parameters.get("service"):
        host, port = f"service {parameters['service']}", ""
    cases = [
        ("password authentication failed", f"{host} refused the password of {user}; set PGPASSWORD or ~/.pgpass"),
        ("no password supplied", f"{host} wants a password for {user}; set PGPASSWORD or ~/.pgpass"),
        (r"database .* does not exist", f"{host} has no database {database}"),
        (r"role .* does not exist", f"{host} knows no {user}"),
        ("pg_hba.conf", f"{host} does not let {user} in from here; its pg_hba.conf decides that"),
        ("definition of service", f"{host} is not defined; look into pg_service.conf"),
        ("could not translate host name", f"no host {host} is known; check the URL"),
        ("timeout expired", f"{host}{port} did not answer in time; check host, port and firewall"),
        ("Connection refused|No such file", f"no Postgres server answers at {host}{port}; is it running?"),
        ("too many clients|remaining connection slots", f"{host} has no connection left; try again later"),
        ("SSL|certificate", f"no secure connection to {host} came about; check sslmode and certificates"),
    ]
    for pattern, message in cases:
        if re.search(pattern, text):
            return SourceError(message)
    code = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    return SourceError(f"no connection to {host}{port} came about{code}; try the same URL with psql")


def translate(error: Exception, purpose: str) -> QidsqlError:
    """A failed statement in our words, by its SQLSTATE."""
    state = getattr(error, "sqlstate", None) or ""
    if state == "42501":
        return AccessError(
            f"Postgres refused the {purpose}: the role lacks SELECT on a column or on a table behind the view, or "
            f"row-level security applies to it"
        )
    if state == "57014":
        return ConnectionLost(f"Postgres cancelled the {purpose}: its statement timeout ran out, or somebody ended it")
    if state == "55P03":
        return StatementError("the table is locked by another session (an ALTER or VACUUM FULL?); try again later")
    if state == "40001":
        return ConnectionLost(
            "the standby server had to cancel the snapshot to follow its primary; run the audit again"
        )
    if state == "42P01":
        return StatementError(f"a table went missing at the {purpose}; was it dropped meanwhile?")
    if state.startswith("53"):
        return StatementError(
            f"Postgres ran out of memory, disk or temporary space at the {purpose} (SQLSTATE {state})"
        )
    if state.startswith("22"):
        return StatementError(
            f"Postgres could not convert a value at the {purpose}; look at --where and the view's casts"
        )
    if state.startswith(("08", "57")) or (isinstance(error, psycopg.OperationalError) and not state):
        return ConnectionLost(f"the connection to Postgres was lost at the {purpose}")
    code = f"SQLSTATE {state}" if state else type(error).__name__
    return StatementError(f"Postgres could not answer the {purpose} ({code})")
