"""What a call is about: tables, a query's text, a file, or a table of checks; and what the caller's own statement sees
of them, asked by a query that its macro runs.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qidsql.engines.duckdb.host import (
    PART,
    Caller,
    CatalogCache,
    HostConnection,
    HostError,
    seen_names,
    seen_of_all,
    seen_of_each,
    seen_of_typed,
    seen_query,
)
from qidsql.errors import SourceError, UsageError
from qidsql.sql import quoted

if TYPE_CHECKING:
    from qidsql.engines.duckdb.embedded import HostEngine


# What is no table of the catalog: a query's text, or a file. A view in the database `qidsql` stands for it.


QUERY = re.compile(r"(?is)\s*(?:\(|(?:select|from|with|values|table|pivot|unpivot)\s)")
FILE = re.compile(r"(?i).*\.(?:parquet|csv|tsv|json|jsonl|ndjson)(?:\.gz|\.zst)?")
VIEW = re.compile(r"(?:(?:the )?view )?(?:qidsql\.)?main\.qidsql:(.+?):\d+:")  # as made_view names it


def query_rows(typed: str) -> str | None:
    """The rows of a query's text as they stand behind FROM; None if it is a name."""
    return f"({_text(typed)}\n)" if QUERY.match(typed) else None


def _text(typed: str) -> str:
    return typed.strip().rstrip(";")


def as_typed(text: str) -> str:
    """The text without the names of such views: the query, or the file."""
    return VIEW.sub(lambda view: "the query" if view[1] == "query" else view[1], text)


def server_of(host: "HostEngine", typed: str) -> str | None:
    """The attached Postgres that the table is in."""
    return None if QUERY.match(typed) or FILE.fullmatch(typed) else host.attached_postgres(typed)[0]


def made_view(
    connection: "HostConnection", typed: str, number: int, caller: "Caller", beside: Sequence[str] = ()
) -> str | None:
    """Creates the view that stands for what was typed, and returns its name; None if that is a table.

    So is a table of an attached Postgres `beside` one of another place: DuckDB reads both.

    The tables in it are those that the caller's search path finds: whether the caller sees the same, the guard tells.
    Raises QidsqlError.
    """
    if not beside and not QUERY.match(typed) and not FILE.fullmatch(typed):
        return None
    from qidsql.engines.duckdb.dialect import DUCKDB
    from qidsql.engines.duckdb.embedded import UNSEEN, HostEngine
    from qidsql.engines.duckdb.host import CatalogCache, HostError

    host = HostEngine(connection.cursor(), caller, CatalogCache())
    try:
        if QUERY.match(typed):
            label, rows, query = "query", "the query", whole_query(typed, host)
        elif server := server_of(host, typed):
            if all(server_of(host, each) == server for each in beside):
                return None
            whole = PART.sub(r'"\1\2"', typed)
            label, rows, query = typed, f"FROM {whole}", whole_query(f"FROM {whole}", host)
        elif not FILE.fullmatch(typed):
            return None
        elif host.found_in_path(typed) is None:
            label, query = typed.rpartition("/")[2], f"FROM {quoted(typed)}"
            rows = "FROM the file" if "://" in typed else query  # an address can hold a password
        else:
            return None
        name = f"qidsql.main.{DUCKDB.identifier(f'qidsql:{label}:{number}:')}"
        connection.execute(f"{host.search_path}; CREATE VIEW {name} AS {query}")
    except HostError:
        raise UsageError(
            f"the rows of this {'query' if QUERY.match(typed) else 'table or file'} cannot be read: "
            f"{UNSEEN.format(rows=rows)}"
        ) from None
    finally:
        host.close()
    return name


def whole_query(typed: str, host: "HostEngine") -> str:
    """The query with the whole names of its tables. Raises UsageError."""
    from sqlglot import errors, exp, parse

    from qidsql.engines.duckdb.dialect import DUCKDB
    from qidsql.sql.relation import table_node

    try:
        found = [each for each in parse(_text(typed), dialect="duckdb") if each is not None]
    except errors.SqlglotError:
        found = []
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise UsageError("the text cannot be read as one query; create a view of it, and audit that")
    own = {each.alias.lower() for each in found[0].find_all(exp.CTE)}
    for table in list(found[0].find_all(exp.Table)):
        parts = [table.args.get("db"), table.this]
        if not isinstance(table.this, exp.Identifier) or table.catalog or (not table.db and table.name.lower() in own):
            continue
        name = host.found_in_path(".".join(part.sql("duckdb", identify=True) for part in parts if part))
        if name is not None:
            for place, part in table_node(name).args.items():
                if place in ("this", "db", "catalog"):
                    table.set(place, part)
    return DUCKDB.render(found[0])


# A table of checks: a row names a table, and in columns that are called like parameters, what is asked of it.
#
# `main.*` stands for one without parameters, of all tables and views of a schema.


MANY = "qidsql.checks"  # beside the table in the guard's question: each table of the checks is meant
ALL = re.compile(r"(.+)\.\*")
NAMED = ("table_name", "table")
READ = {"BIGINT": int, "DOUBLE": float}


@dataclass(frozen=True, slots=True)
class TableCheck:
    """`given` are the parameters, those that are not NULL."""

    table: str
    given: dict[str, Any]


def checks_in(host: "HostEngine", typed: str, parameters: Mapping[str, str]) -> list[TableCheck]:
    """The checks in a table, a query or a schema (`main.*`). `parameters` are the types by name. Raises QidsqlError."""
    if schema := ALL.fullmatch(typed):
        checks = [TableCheck(name, {}) for name in host.names_in(schema[1])]
    else:
        checks = list(_rows(host, typed, parameters))
    if not checks:
        raise UsageError(f"there is no check in {'this query' if query_rows(typed) else typed}")
    return checks


def listed_query(typed: str) -> str | None:
    """The query that tells which tables there are, if a check is meant for each; else None."""
    return seen_names() if ALL.fullmatch(typed) else None


def checks_query(host: "HostEngine", typed: str) -> str:
    """The query of what is seen of the checks themselves."""
    return seen_query(f"({whole_query(typed, host)})" if query_rows(typed) else host.full_name(typed))


def _rows(host: "HostEngine", typed: str, parameters: Mapping[str, str]) -> "list[TableCheck]":
    query = whole_query(typed, host) if query_rows(typed) else f"FROM {host.full_name(typed)}"
    from qidsql.engines.duckdb.host import HostError

    connection = host.lent.cursor()
    try:
        connection.execute(host.search_path)
        names = [str(row[0]) for row in connection.execute(f"DESCRIBE {query}").fetchall()]
        kinds = {name: _kind(name, parameters) for name in names}
        cells = ", ".join(f'CAST("{name.replace(chr(34), chr(34) * 2)}" AS {kind})' for name, kind in kinds.items())
        found = connection.execute(f"SELECT {cells} FROM ({query})").fetchall()
    except HostError:
        raise SourceError(
            "the checks cannot be read: they must be committed, and a parameter that takes several names needs a list"
        ) from None
    finally:
        connection.close()
    checks = []
    for number, row in enumerate(found, start=1):
        given = {name.lower(): cell for name, cell in zip(names, row, strict=True) if cell is not None}
        table = next((given.pop(name) for name in NAMED if name in given), None)
        if not table:
            raise UsageError(f"check {number} names no table: the column table_name is empty or missing")
        try:
            values = {name: READ.get(parameters[name], lambda cell: cell)(cell) for name, cell in given.items()}
        except ValueError:
            raise UsageError(f"check {number} has a text where a number is expected") from None
        checks.append(TableCheck(str(table), values))
    return checks


def _kind(name: str, parameters: Mapping[str, str]) -> str:
    if name.lower() in NAMED:
        return "VARCHAR"
    if name.lower() not in parameters:
        raise UsageError(f"{name} in the checks is no parameter; there are: table_name, {', '.join(parameters)}")
    return "VARCHAR[]" if parameters[name.lower()] == "VARCHAR[]" else "VARCHAR"


NAME = "qid_seen"  # of the scalar function that returns the query
ATTACHED = "SELECT 1 FROM system.main.duckdb_databases() WHERE type = 'postgres' LIMIT 1"
KEPT_SECONDS = 60.0  # seconds


@dataclass
class Guard:
    """The questions of an instance; one statement's questions about a server have the same moment."""

    parameters: Mapping[str, str]  # of a check: their types
    _moments: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def question(
        self, connection: HostConnection, table: str, where: str, beside: str, caller: Caller, statement: str
    ) -> str:
        """The query of what the caller sees of the table as typed; without one, of all tables.

        `beside` is a second table of the call. `statement` identifies the caller's statement, if
        this DuckDB can. Raises QidsqlError.
        """
        if beside == MANY:
            return self._of_checks(connection, table, where, caller, statement)
        try:
            if query := query_rows(table):
                return seen_query(query, where)
            if table and not connection.execute(ATTACHED).fetchall():
                return seen_of_typed(table, where)
            return self._of_any(connection, table, where, beside, caller, statement)
        except HostError:
            raise SourceError("this database's catalog cannot be read") from None
        finally:
            connection.close()

    def _of_checks(self, connection: HostConnection, typed: str, where: str, caller: Caller, statement: str) -> str:
        """What the caller sees of the checks and of each of their tables."""
        from qidsql.engines.duckdb.embedded import HostEngine

        host = HostEngine(connection, caller, CatalogCache())
        try:
            checks = checks_in(host, typed, self.parameters)
        finally:
            host.close()
        asked = [(each.table, each.given.get("where_", where)) for each in checks]
        listed = listed_query(typed) or self.question(connection.cursor(), typed, "", "", caller, statement)
        parts = (self.question(connection.cursor(), *each, "", caller, statement) for each in asked)
        return seen_of_each((listed, *parts))

    def _of_any(
        self, connection: HostConnection, table: str, where: str, beside: str, caller: Caller, statement: str
    ) -> str:
        from qidsql.engines.duckdb.embedded import HostEngine

        host = HostEngine(connection, caller, CatalogCache())
        database, inside = host.attached_postgres(table)
        if database is None or (beside and server_of(host, beside) != database):
            return seen_of_typed(table, where) if table else seen_of_all(host.stored_tables(host.name_in_session))
        if table and inside == table and "." not in table:
            raise UsageError(
                f"a temporary table or a CTE could be meant by {table}: write its name with its database, {database}"
            )
        return self._of_postgres(host, database, statement)

    def _of_postgres(self, host: "HostEngine", database: str, statement: str) -> str:
        from qidsql.engines.postgres.attached import moment_query, server_time

        now, place = time.monotonic(), (database, statement)
        self._moments = {each: known for each, known in self._moments.items() if known[0] > now - KEPT_SECONDS}
        if not statement or place not in self._moments:
            self._moments[place] = now, server_time(host.lent.cursor(), database)
        return moment_query(database, self._moments[place][1])
