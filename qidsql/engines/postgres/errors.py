"""Turns Postgres errors into errors of qidsql, and checks what its catalog answers.

Texts of libpq and the server can contain values and passwords: they are used to recognize the case, never shown.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal

import psycopg

from qidsql.core.tables import Comparison
from qidsql.engines.postgres.lock_watch import EndlessAnswer
from qidsql.errors import AccessError, ConnectionLost, QidsqlError, SourceError, StatementError, UsageError
from qidsql.sql.templates import Row

# {host} is the server, or the service that names it; {user} and {database} are those requested. {option} is a name of
# libpq's own.
WHY_NOT_CONNECTED = (
    (r"no password supplied", "{host} requires a password for {user}; set PGPASSWORD or ~/.pgpass"),
    (
        r"password authentication failed",
        "{host} refused the password of {user}; set the right one in PGPASSWORD or ~/.pgpass",
    ),
    (
        r"too many (clients|connections)|remaining connection slots",
        "{host} has no connection left for {user}; try later",
    ),
    (r"database .* does not exist", "{host} has no database {database}"),
    (r"role .* does not exist", "{host} has no {user}"),
    (r"not permitted to log in", "{host} does not let {user} log in; run there: ALTER ROLE ... LOGIN"),
    (r"permission denied for database", "{user} may not connect to database {database} of {host}; grant CONNECT on it"),
    (r"not currently accepting connections", "database {database} of {host} accepts no connections"),
    (r"starting up|shutting down|in recovery|not accepting connections", "{host} is starting or stopping; try later"),
    (r"pg_hba\.conf|authentication failed", "{host} does not let {user} in from here; its pg_hba.conf decides that"),
    (r"service file|definition of service", "{host} is not defined; look into ~/.pg_service.conf or PGSERVICEFILE"),
    (r"resolve host|translate host name", "the host {host} cannot be resolved; check the URL"),
    (r"timeout expired|timed out", "{host} did not answer in time; check host, port and firewall"),
    (r"without end", "{host} sends without end; is it a Postgres server?"),
    (r"invalid response", "{host} is not a Postgres server"),
    (
        r"statement pooling",
        "{host} is a pooler in statement mode, in which no transaction can begin; use one in transaction or session "
        "mode, or the server itself",
    ),
    (r"query_wait_timeout", "the pooler at {host} had no connection to its server for {user}; try later"),
    (r"SSL|certificate", "no secure connection to {host} could be established; check sslmode and certificates"),
    (r"Permission denied", "this user may not use the socket of {host}"),
    (r"Connection refused|No such file", "no Postgres server answers at {host}; is it running there?"),
    (r"server closed the connection", "{host} is not a Postgres server, or it closed the connection"),
    (
        r"invalid (?P<option>[a-z_]+) value: ",
        "the value of {option} is none that libpq has; correct it in the source or environment",
    ),
)

# Of a source that libpq cannot read. Its text can quote a part of the password.
UNREADABLE = (
    (
        r"invalid (URI query parameter|connection option)",
        "the Postgres source has a parameter that libpq does not know; expected its own, such as sslmode=require (in a "
        "URL, a ? in a name or password is written as %3F)",
    ),
    (
        r'missing "="|unterminated quoted string',
        "the Postgres connection string cannot be read; expected keyword=value pairs, with ' around a value that has "
        "spaces (in it, \\' is a ' and \\\\ a \\)",
    ),
)
UNREADABLE_URL = (
    "the Postgres URL cannot be read; expected postgresql://user@host:5432/database, with any of % @ : / ? # in a name "
    "or password percent-encoded (@ is %40, % is %25)"
)

# Names in a view are resolved when it is created, names in a function when it is called.
PATH_OF_FUNCTIONS = (
    "it was altered or dropped meanwhile, or a function in the view uses a name without a schema, with which an audit "
    "finds only Postgres' own objects; run: ALTER FUNCTION ... SET search_path = ..."
)

# By SQLSTATE or its prefix. {purpose} is the purpose of the statement.
WHY_NOT_ANSWERED: tuple[tuple[str, type[QidsqlError], str], ...] = (
    (
        "42501",
        AccessError,
        "Postgres refused the {purpose}: the role lacks SELECT on a column, or a privilege on a table or function "
        "behind the view",
    ),
    (
        "25006",
        StatementError,
        "Postgres refused the {purpose}: the view or foreign table tries to write, and qidsql only reads",
    ),
    (
        "57014",
        ConnectionLost,
        "Postgres cancelled the {purpose}: its statement_timeout expired, or someone cancelled it",
    ),
    ("55P03", StatementError, "the table is locked by another session (an ALTER or VACUUM FULL?); try again later"),
    ("40P01", StatementError, "the table is locked by another session (an ALTER or VACUUM FULL?); try again later"),
    ("40001", ConnectionLost, "the standby server cancelled the {purpose} to follow its primary; run the audit again"),
    (
        "55000",
        StatementError,
        "Postgres cannot read what the {purpose} needs; is a materialized view behind it not filled yet?",
    ),
    (
        "42P01",
        StatementError,
        f"a table was not found at the {{purpose}}: {PATH_OF_FUNCTIONS}",
    ),
    ("42P07", UsageError, "the table that the {purpose} makes is there already; give another name, or --replace"),
    (
        "42703",
        StatementError,
        "a column was missing at the {purpose}; was the table altered meanwhile? If so, run the audit again",
    ),
    (
        "42",
        StatementError,
        f"Postgres rejected the {{purpose}} (SQLSTATE {{state}}): {PATH_OF_FUNCTIONS}",
    ),
    ("53", StatementError, "Postgres ran out of memory, disk or temporary space at the {purpose} (SQLSTATE {state})"),
    (
        "22",
        StatementError,
        "Postgres could not compute or convert a value at the {purpose} (SQLSTATE {state}); look at the where "
        "condition and at the expressions of the view",
    ),
    (
        "P0",
        StatementError,
        "a function behind the view or condition raised an error at the {purpose} (SQLSTATE {state}); try it with psql",
    ),
    ("HV", StatementError, "the foreign table could not be read at the {purpose} (SQLSTATE {state}); try it with psql"),
    (
        "08",
        StatementError,
        "the server or file behind a foreign table did not answer at the {purpose} (SQLSTATE {state})",
    ),
    ("58", StatementError, "Postgres could not read a file at the {purpose} (SQLSTATE {state}); see the server's log"),
    ("XX", StatementError, "Postgres had an internal error at the {purpose} (SQLSTATE {state}); see the server's log"),
)


def not_connected(error: Exception, parameters: Mapping[str, str]) -> SourceError:
    """The error for a failed connection. `parameters` are libpq's, including defaults."""
    host = parameters.get("host") or parameters.get("hostaddr") or "the local socket"
    port = parameters.get("port", "5432")
    names = {
        "host": host if port == "5432" else f"{host} port {port}",
        "user": f"user {parameters['user']}" if parameters.get("user") else "this user",
        "database": parameters.get("dbname") or parameters.get("user") or "of that name",
    }
    if parameters.get("service"):
        names["host"] = f"service {parameters['service']}"
    text = str(error)
    for pattern, message in WHY_NOT_CONNECTED:
        if found := re.search(pattern, text):
            return SourceError(message.format(**names, **found.groupdict()))
    if state := getattr(error, "sqlstate", None):  # of a first statement; libpq gives a failed connection none
        return SourceError(
            f"{names['host']} refused to begin a session of {names['user']} (SQLSTATE {state}); look at the settings "
            f"of the role and the database, and into the server's log"
        )
    return SourceError(f"no connection to {names['host']} could be established; try the same with psql")


def unreadable(error: Exception | None) -> SourceError:
    """The error for a source that cannot be read; without an error, one that libpq reads otherwise than it is meant."""
    for pattern, message in UNREADABLE:
        if re.search(pattern, str(error)):
            return SourceError(message)
    return SourceError(UNREADABLE_URL)


def translate(error: Exception, purpose: str) -> QidsqlError:
    """The error for a failed statement, by its SQLSTATE."""
    if not isinstance(error, psycopg.Error):
        return StatementError(f"the {purpose} could not be sent to Postgres ({type(error).__name__})")
    state = error.sqlstate or ""
    if isinstance(error, EndlessAnswer):
        return StatementError(
            f"the server sent more than a whole answer to the {purpose} can have; is another program there, or between?"
        )
    if (
        error.diag.source_function == "check_enable_rls"
    ):  # has the SQLSTATE of a missing privilege, and texts are localised
        return AccessError(
            f"row-level security hides rows of a table behind the {purpose}; audit as a role (for a view: its "
            f"owner) that has BYPASSRLS, else the answer would leave people out"
        )
    severity = error.diag.severity_nonlocalized or error.diag.severity  # poolers send the second alone
    ended = severity in ("FATAL", "PANIC") or state.startswith("57P")
    if not ended:
        for beginning, kind, message in WHY_NOT_ANSWERED:
            if state.startswith(beginning):
                return kind(message.format(purpose=purpose, state=state))
    if ended or (isinstance(error, psycopg.OperationalError) and not state):
        return ConnectionLost(f"the connection to Postgres was lost at the {purpose}; earlier results remain valid")
    return StatementError(f"Postgres could not answer the {purpose} (SQLSTATE {state})") if state else unlike(purpose)


@contextmanager
def understood(purpose: str) -> Iterator[None]:
    """Raises StatementError where the rows of an answer are not those that were asked for."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise unlike(purpose) from error


def unlike(purpose: str) -> StatementError:
    """The error for an answer that Postgres would not give."""
    return StatementError(
        f"the answer to the {purpose} is none that Postgres gives; is another program there, or between? Only "
        f"sslmode=verify-full keeps answers as the server sent them"
    )


# What the queries to the catalog answer, column by column: an answer that is otherwise comes from no Postgres.


Cell = Callable[[object], object]  # the cell as it is to be; raises TypeError or ValueError if it cannot be one
CATALOG = "reading of the catalog"
KINDS = {"r": "table", "v": "view", "m": "materialized view", "p": "partitioned table", "f": "foreign table"}

OBSTACLES = {
    "temporary": "{name} is a temporary table of another session, which only that one can read; copy it into a table",
    "schema": "the role {role} lacks USAGE on schema {schema}; run: GRANT USAGE ON SCHEMA {quoted_schema} TO {role}",
    "table": "the role {role} may not read {name}; run: GRANT SELECT ON {quoted} TO {role}",
    "row security": "row-level security hides rows of {name} from the role {role}; audit as its owner or a role that "
    "has BYPASSRLS, else the answer would leave people out",
    "unpopulated": "the materialized view {name} is not populated; run: REFRESH MATERIALIZED VIEW {quoted}",
}


def text(cell: object) -> str:
    if not isinstance(cell, str):
        raise TypeError
    return cell


def flag(cell: object) -> bool:
    if not isinstance(cell, bool):
        raise TypeError
    return cell


def _whole(cell: object) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | Decimal):
        raise TypeError
    return int(cell)


def texts(cell: object) -> list[str]:
    if not isinstance(cell, list):
        raise TypeError
    return [text(each) for each in cell]


def comparison(cell: object) -> Comparison:
    return Comparison(text(cell))


def one_of(known: Collection[str]) -> Cell:
    def found(cell: object) -> str:
        if cell not in known:
            raise ValueError
        return str(cell)

    return found


def or_null(cell: Cell) -> Cell:
    return lambda found: None if found is None else cell(found)


CELLS: dict[str, tuple[Cell, ...]] = {  # by the names of templates
    "catalog_foreign_keys": (_whole, texts, _whole, texts),
    "catalog_keys": (_whole, texts),
    "catalog_labels": (_whole, or_null(text), text, text),
    "catalog_views": (_whole, or_null(text)),
    "changed_settings": (text,),
    "columns": (text, text, flag, flag, comparison, _whole, text),
    "condition_columns": (text, text, flag),
    "dependences": (text, text, flag),
    "doctor_path": (text, flag, or_null(text)),
    "doctor_session": (text, text, flag, flag, flag, flag, or_null(flag), _whole, _whole, _whole, _whole, _whole),
    "doctor_tables": (text, text, flag, flag, flag, flag, or_null(flag), or_null(flag), or_null(flag)),
    "keywords": (text,),
    "place": (flag, flag, flag, or_null(text), flag),
    "rows_as_analyzed": (or_null(_whole), or_null(_whole)),
    "session": (text, text, text, or_null(text), flag, flag, text),
    "state_token": (text, text, text, text, or_null(text)),
    "table_bytes": (or_null(_whole), or_null(_whole)),
    "tables": (_whole, text, text, one_of(KINDS), or_null(_whole), or_null(one_of(OBSTACLES)), flag, flag, flag),
}
ONE_ROW = ("doctor_session", "place", "rows_as_analyzed", "session", "table_bytes")


def answered(template: str, rows: Sequence[Row]) -> list[Row]:
    """The rows with each cell of its type. Raises StatementError."""
    with understood(CATALOG):
        if template in ONE_ROW and len(rows) != 1:
            raise ValueError
        return [tuple(made(cell) for made, cell in zip(CELLS[template], row, strict=True)) for row in rows]
