"""What bears on an audit in a Postgres database: role, rights, row-level security, limits, freshness of statistics."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from qidsql.core.checks import Check, Examination, State
from qidsql.core.tables import TableName
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql.publication import granting
from qidsql.sql.relation import table_node
from qidsql.sql.statements import Row, integer
from qidsql.wording.numbers import count, few, plural

PATIENCE = 3_600_000  # milliseconds that qidsql gives a statement
HOUR = 3_600_000
FEW = 5  # connections


@dataclass(frozen=True, slots=True)
class _Rights:
    """What the role may do with a table, and how fresh its statistics are."""

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
    ask: Callable[..., list[Row]],
    role_path: Sequence[str],
    sessions: int,
    snapshot: str,
    schema: str | None,
    role: str | None,
) -> Examination:
    """The findings; `ask` answers a catalog query by the name of its template. Three statements, to the catalog only.

    `role_path` lists the schemas on the search path of the session's role. With a `role` the grants are all that it
    needs, without one those that this session's role lacks.
    """
    facts = _Session(*ask("doctor_session")[0])  # type: ignore[arg-type]
    rights = [_rights(row) for row in ask("doctor_tables") if schema is None or row[0] == schema]
    schemas = [exp.Literal.string(each) for each in role_path]
    creators = ask("doctor_path", schemas=schemas) if schemas else []
    checks = [
        *_role(facts, rights),
        *_path(facts.role, creators),
        *_connection(facts, sessions, snapshot),
        *_limits(facts),
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
    """Who asks, and what he may do besides reading."""
    if facts.read_only:
        yield Check(State.OK, f"connected as {facts.role}; the session is read only")
    else:
        yield Check(State.PROBLEM, f"connected as {facts.role}; the session is not read only", "report this, please")
    if facts.bypasses:
        yield Check(State.OK, f"{facts.role} bypasses row-level security: no row stays hidden")
    remedy = "qidsql only reads; a role with SELECT only is safer, --role NAME prints its GRANTs"
    written = [str(each.name) for each in rights if each.write]
    if facts.superuser:
        yield Check(
            State.WARNING,
            f"{facts.role} is a superuser: others' functions behind views, casts and types run with its rights, on the "
            f"server's files and programs too, and a read-only session does not stop them",
            remedy,
        )
    elif written:
        many = plural(len(written), "table")
        yield Check(State.WARNING, f"{facts.role} may write to {many}: {few(written, 4)}", remedy)


def _path(role: str, creators: Sequence[Row]) -> Iterator[Check]:
    """Schemas in which others could put functions and operators that catch a call of this role."""
    for schema, by_everybody, names in creators:
        if by_everybody or names:
            who = "every role" if by_everybody else str(names)
            whom = "PUBLIC" if by_everybody else str(names)
            yield Check(
                State.WARNING,
                f"{who} may create functions and operators in schema {schema}, on the search path of {role}; they "
                f"could be called in place of Postgres' own",
                f"qidsql looks past them, other programs of {role} do not: REVOKE CREATE ON SCHEMA "
                f"{_identifier(str(schema)).sql('postgres')} FROM {whom}, or ALTER ROLE "
                f"{_identifier(role).sql('postgres')} SET search_path = ''",
            )


def _connection(facts: _Session, sessions: int, snapshot: str) -> Iterator[Check]:
    """How safe the line is, and whether statements can run in parallel."""
    if facts.encrypted is False:
        yield Check(
            State.WARNING, "the connection is not encrypted", "add sslmode=verify-full to the URL, or PGSSLMODE"
        )
    if sessions > 1:
        yield Check(State.OK, f"{sessions} sessions at once; {snapshot}")
    else:
        yield Check(
            State.WARNING,
            "only one session came about: statements run one after the other",
            "raise the role's CONNECTION LIMIT, or connect past the pooler to the server itself",
        )
    if facts.connections_left < FEW:
        left = plural(max(0, integer(facts.connections_left)), "connection")
        yield Check(State.WARNING, f"{left} left on the server", "audit at another time, or raise max_connections")


def _limits(facts: _Session) -> Iterator[Check]:
    """What ends a statement, and where it spills."""
    if 0 < facts.statement_timeout < PATIENCE:
        role = _identifier(facts.role).sql("postgres")
        yield Check(
            State.NOTE,
            f"the server ends this role's statements after {_duration(facts.statement_timeout)}; large tables may come "
            f"out inconclusive",
            f"if they do: ALTER ROLE {role} SET statement_timeout = '1h'",
        )
    if facts.standby and facts.standby_delay >= 0:
        yield Check(
            State.WARNING,
            f"a standby server: it cancels what holds up its replay for {_duration(facts.standby_delay)}",
            "raise max_standby_streaming_delay there, or audit the primary",
        )
    limit = "without limit" if facts.temp_file_limit < 0 else f"at most {_size(facts.temp_file_limit)} of it"
    yield Check(State.OK, f"work_mem {_size(facts.work_memory)}; what needs more goes to the server's disk, {limit}")


def _table(table: _Rights) -> Iterator[Check]:
    """Row-level security, and how fresh the planner's statistics are: they steer how statements are put, no answer."""
    if not (table.use and table.read):
        return
    if table.row_security:
        yield Check(State.NOTE, "row-level security is on: only its owner and roles with BYPASSRLS see all rows")
    if table.analyzed is False:
        yield Check(State.NOTE, "never analysed: its size is guessed from its file", "run ANALYZE on it")
    elif table.analyzed and table.stale:
        yield Check(State.NOTE, "changed much since it was analysed", "run ANALYZE on it")


def _grants(rights: Sequence[_Rights], database: str, role: str, everything: bool) -> list[str]:
    """The statements that give a role all it needs, or (the session's own) what it lacks."""
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
