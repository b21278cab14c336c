"""A Postgres server: what its source says, how sessions on it are opened, and what it is called in messages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import cast
from urllib.parse import quote

import psycopg
from psycopg import conninfo, pq

from qidsql.engines.postgres.errors import not_connected, unreadable
from qidsql.engines.postgres.lock_watch import GuardedConnection
from qidsql.engines.postgres.session import PostgresSession
from qidsql.engines.workers import Session
from qidsql.errors import QidsqlError, SourceError, redacted
from qidsql.sql.templates import Row

OLDEST_SERVER = 120000  # from version 12 on the catalog shows which collations merge texts


@dataclass
class Server:
    """Opens sessions. `source` is the text for libpq, `parameters` its parsed form.

    `gentle`: a pause of the same length after each statement.
    """

    source: str = field(repr=False)  # it can contain a password
    parameters: Mapping[str, str]
    statement_seconds: int
    snapshot: bool
    writable: bool = False
    workspace: bool = False
    gentle: bool = False
    watched: bool = True  # whether to watch for sessions that wait for ours
    role_path: Sequence[str] = ()  # the role's own search path, for names that the user gives

    def session(self, exported: str | None = None) -> PostgresSession:
        """A new session; with `snapshot` its transaction has begun. Raises psycopg.Error, SourceError."""
        connection = self._connected()
        try:
            _check_version(connection.info)
            writing = self.writable or self.workspace
            session = PostgresSession(connection, self.statement_seconds, self.snapshot, writing)
            self.role_path = self.role_path or session.role_path()
            if self.snapshot:
                session.begin(exported)
        except BaseException:
            connection.close()
            raise
        return session

    def watching(self) -> psycopg.Connection[Row]:
        """A separate connection for `LockWatch`. Raises psycopg.Error."""
        return self._connected(autocommit=True)

    def label(self, session: Session) -> str:
        return connection_label(cast(PostgresSession, session).connection.info, self.parameters)

    def warning(self, session: Session) -> str:
        return exposure(cast(PostgresSession, session).connection)

    def not_connected(self, error: Exception) -> QidsqlError:
        return not_connected(error, self.parameters)

    def _connected(self, autocommit: bool = False) -> psycopg.Connection[Row]:
        options = connection_options(self.parameters)
        return GuardedConnection.connect(self.source, prepare_threshold=None, autocommit=autocommit, **options)  # type: ignore[arg-type]


def connection_parameters(source: str) -> dict[str, str]:
    """The connection parameters from the source, the environment and libpq's defaults, without the password.

    Raises SourceError.
    """
    defaults = {each.keyword.decode(): each.val.decode() for each in pq.Conninfo.get_defaults() if each.val}
    try:
        given = {key: str(value) for key, value in conninfo.conninfo_to_dict(source).items() if value is not None}
    except psycopg.Error as error:
        raise unreadable(error) from None
    # With an unescaped / or @ in a password, libpq parses parts of it as host or port, and errors would show them.
    if re.match(r"^\w+://([^/?]*@[^/?]*@|[^?]*/[^?]*@)", source) or not _is_port(given.get("port")):
        raise unreadable(None)
    hidden = {"password"} | {key for key in ("host", "dbname") if "@" in given.get(key, "")}
    return {key: value for key, value in (defaults | given).items() if key not in hidden}


def _is_port(text: str | None) -> bool:
    return text is None or all(part.isdigit() or not part for part in text.split(","))


def connection_options(parameters: Mapping[str, str]) -> dict[str, str]:
    """Defaults for libpq's options: both sides notice within about a minute that the other is gone."""
    wanted = {
        "application_name": "qidsql",
        "connect_timeout": "10",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "60000",
    }
    return {key: value for key, value in wanted.items() if key not in parameters} | {"client_encoding": "UTF8"}


def exposure(connection: psycopg.Connection[Row]) -> str:
    """What others on the network can see of a connection with a password; "" if it is encrypted, or on this machine."""
    line, host = connection.pgconn, connection.info.hostaddr
    if line.ssl_in_use or not line.used_password or not host or _is_this_machine(host):
        return ""
    return (
        f"the connection to {connection.info.host} is not encrypted: on its way others can read how the password is "
        f"proved and the answers, and change these; add sslmode=verify-full to the source, or set PGSSLMODE"
    )


def _is_this_machine(address: str) -> bool:
    return ip_address(address.partition("%")[0]).is_loopback


def _check_version(info: psycopg.ConnectionInfo) -> None:
    if info.server_version < OLDEST_SERVER:
        raise SourceError(
            f"the server is Postgres {info.server_version / 10000:.4g}; qidsql needs Postgres 12 or later"
        )


def connection_label(info: psycopg.ConnectionInfo, parameters: Mapping[str, str]) -> str:
    """The source for messages, which can be used as a source again."""
    found = {"user": info.user, "host": info.host, "port": str(info.port), "dbname": info.dbname}
    return parameters_label(found, "host" in parameters)


def parameters_label(parameters: Mapping[str, str], socket_given: bool = True) -> str:
    """The source for messages, before it is connected. `socket_given`: a socket's folder was given, is no default."""
    host, port = parameters.get("host", ""), parameters.get("port", "5432")
    user = f"{_in_url(parameters['user'])}@" if parameters.get("user") else ""
    if not host and parameters.get("service"):
        return f"service={parameters['service']}"
    if host.startswith("/"):  # servers on one machine can share the folder, by their ports
        place, query = "", f"?host={_in_url(host)}" if socket_given else ""
    else:
        place, query = f"[{host}]" if ":" in host else host, ""
    place += f":{port}" if port != "5432" else ""
    return redacted(f"postgresql://{user}{place}/{_in_url(parameters.get('dbname', ''))}{query}")


def _in_url(text: str) -> str:
    """The text with what has a meaning in a URL percent-encoded; / stays, which has none in a folder or at the end."""
    return re.sub(r"[^\w.~/-]", lambda found: quote(found[0]), text)
