"""Checks of a Postgres database before an audit: role, privileges, row-level security, limits, statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from qidsql.core.results import Check, Examination, State
from qidsql.core.tables import TableName
from qidsql.engines.condition import CatalogQuery
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql.copies import granting
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Row, integer
from qidsql.wording.texts import count, few, plural

STATEMENT_MILLISECONDS = 3_600_000  # qidsql's own limit for a statement, in milliseconds
HOUR = 3_600_000
FEW_CONNECTIONS = 5  # connections


@dataclass(frozen=True, slots=True)
class _Rights:
    """The role's privileges on a table, and the freshness of its statistics."""

    name: TableName
    use: bool
    read: bool
    read_all: bool
    write: bool
    analyzed: bool | None
    stale: bool
    row_security: bool


class _Session(NamedTuple):
    """The columns of postgres/doctor_session.sql."""

    role: str
    database: str
    superuser: bool
    bypasses: bool
    read_only: bool
    standby: bool
    encrypted: bool | None
    statement_timeout: int
    standby_delay: int
    work_memory: int
    temp_file_limit: int
    connections_left: int


def examine(
    catalog: CatalogQuery,
    role_path: Sequence[str],
    sessions: int,
    snapshot: str,
    schema: str | None,
    role: str | None,
    older: str = "",
) -> Examination:
    """The checks, with three statements to the system catalog.

    `role_path` lists the schemas on the search path of the session's role. The grants are all that `role` needs, or
    without it those that the session's role lacks. `older`: a version that has no hashes of rows.
    """
    facts = _Session(*catalog("doctor_session")[0])  # type: ignore[arg-type]
    rights = [_rights(row) for row in catalog("doctor_tables") if schema is None or row[0] == schema]
    schemas = [exp.Literal.string(each) for each in role_path]
    creators = catalog("doctor_path", schemas=schemas) if schemas else []
    checks = [
        *_role(facts, rights),
        *_path(facts.role, creators),
        *_connection(facts, sessions, snapshot),
        *_limits(facts),
        *_version(older),
    ]
    tables = {each.name: tuple(_table(each)) for each in rights}
    grants = _grants(rights, facts.database, role or facts.role, everything=role is not None)
    return Examination(tuple(checks), tables, tuple(grants))


def _rights(row: Row) -> _Rights:
    schema, table, use, read, read_all, write, analyzed, stale, row_security = row
    return _Rights(
        TableName(str(table), str(schema)),
        bool(use),
        bool(read),
        bool(read_all),
        bool(write) and bool(use),
        None if analyzed is None else bool(analyzed),
        bool(stale),
        bool(row_security),
    )


def _role(facts: _Session, rights: Sequence[_Rights]) -> Iterator[Check]:
    """The role, and its privileges beyond reading."""
    if facts.read_only:
        yield Check(State.OK, f"connected as {facts.role}; the session is read only")
    else:
        yield Check(State.PROBLEM, f"connected as {facts.role}; the session is not read only", "report this, please")
    if facts.bypasses:
        yield Check(State.OK, f"{facts.role} bypasses row-level security: no row is hidden")
    remedy = "qidsql only reads; a role with SELECT only is safer, --role NAME prints its GRANTs"
    written = [str(each.name) for each in rights if each.write]
    if facts.superuser:
        yield Check(
            State.WARNING,
            f"{facts.role} is a superuser: functions of other roles in views, and in expressions of indexes, run with "
            f"its privileges, including access to the server's files and programs, even in a read-only session",
            remedy,
        )
    elif written:
        many = plural(len(written), "table")
        yield Check(State.WARNING, f"{facts.role} may write to {many}: {few(written, 4)}", remedy)


def _path(role: str, creators: Sequence[Row]) -> Iterator[Check]:
    """Schemas in which others can create functions and operators that this role would call."""
    for schema, by_everybody, names in creators:
        if by_everybody or names:
            who = "every role" if by_everybody else str(names)
            whom = "PUBLIC" if by_everybody else str(names)
            yield Check(
                State.WARNING,
                f"{who} may create functions and operators in schema {schema}, on the search path of {role}; they "
                f"could be called instead of Postgres' own",
                f"qidsql ignores them, other programs of {role} do not: REVOKE CREATE ON SCHEMA "
                f"{_identifier(str(schema)).sql('postgres')} FROM {whom}, or ALTER ROLE "
                f"{_identifier(role).sql('postgres')} SET search_path = ''",
            )


def _connection(facts: _Session, sessions: int, snapshot: str) -> Iterator[Check]:
    """Whether the connection is encrypted, and whether statements can run in parallel."""
    if facts.encrypted is False:
        yield Check(
            State.WARNING, "the connection is not encrypted", "add sslmode=verify-full to the URL, or PGSSLMODE"
        )
    if sessions > 1:
        yield Check(State.OK, f"{sessions} sessions at once; {snapshot}")
    else:
        yield Check(
            State.WARNING,
            "only one session could be opened: statements run one after the other",
            "raise the role's CONNECTION LIMIT, or connect to the server directly, not through a pooler",
        )
    if facts.connections_left < FEW_CONNECTIONS:
        left = plural(max(0, integer(facts.connections_left)), "connection")
        yield Check(State.WARNING, f"{left} left on the server", "audit at another time, or raise max_connections")


def _limits(facts: _Session) -> Iterator[Check]:
    """Limits that end a statement, and where it spills."""
    if 0 < facts.statement_timeout < STATEMENT_MILLISECONDS:
        role = _identifier(facts.role).sql("postgres")
        yield Check(
            State.NOTE,
            f"the server ends this role's statements after {_duration(facts.statement_timeout)}; large tables may be "
            f"inconclusive",
            f"if they do: ALTER ROLE {role} SET statement_timeout = '1h'",
        )
    if facts.standby and facts.standby_delay >= 0:
        yield Check(
            State.WARNING,
            f"a standby server: it cancels statements that delay its replay for {_duration(facts.standby_delay)}",
            "raise max_standby_streaming_delay there, or audit the primary",
        )
    limit = "without limit" if facts.temp_file_limit < 0 else f"at most {_size(facts.temp_file_limit)} of it"
    memory = f"work_mem {_size(facts.work_memory)}; larger operations use the server's disk, {limit}"
    yield Check(State.OK, f"{memory}; more of it makes audits hardly faster")


def _version(older: str) -> Iterator[Check]:
    if older:
        yield Check(
            State.NOTE,
            f"{older} has no hashes of rows: each column set is counted on its own",
            "from version 14 on an audit of 100,000 rows takes less than half of it",
        )


def _table(table: _Rights) -> Iterator[Check]:
    """Row-level security, and the freshness of statistics, which affect the choice of statements but no result."""
    if not (table.use and table.read):
        return
    if table.row_security:
        yield Check(State.NOTE, "row-level security is on: only its owner and roles with BYPASSRLS see all rows")
    if table.analyzed is False:
        yield Check(
            State.NOTE, "never analysed: its number of rows is estimated from its file size", "run ANALYZE on it"
        )
    elif table.analyzed and table.stale:
        yield Check(State.NOTE, "changed much since it was analysed", "run ANALYZE on it")


def _grants(rights: Sequence[_Rights], database: str, role: str, everything: bool) -> list[str]:
    """The GRANT statements for everything that a role needs, or for what the session's role lacks."""
    trees = [granting("CONNECT", _identifier(database), role, "DATABASE")] if everything else []
    schemas = dict.fromkeys(each.name.schema for each in rights if everything or not each.use)
    trees += [granting("USAGE", _identifier(schema), role, "SCHEMA") for schema in schemas]
    trees += [granting("SELECT", table_node(each.name), role) for each in rights if everything or not each.read]
    return [POSTGRES.render(tree) for tree in trees]


def _identifier(name: str) -> exp.Expr:
    return exp.to_identifier(name, quoted=True)


def _duration(milliseconds: int) -> str:
    for unit, name in ((HOUR, "h"), (60_000, "min"), (1000, "s")):
        if milliseconds >= unit and milliseconds % unit == 0:
            return f"{count(milliseconds // unit)} {name}"
    return f"{count(milliseconds)} ms"


def _size(kilobytes: int) -> str:
    for unit, name in ((1 << 20, "GB"), (1 << 10, "MB")):
        if kilobytes >= unit:
            return f"{count(kilobytes // unit)} {name}"
    return f"{count(kilobytes)} kB"
