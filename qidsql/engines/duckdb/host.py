"""What a user's session of DuckDB and qidsql ask of each other: connections to the database that an extension is loaded
into, the single-statement checks as macros, and what the session sees of a table. Imports no driver.

Imports stay light, since a shell waits for them when it loads the extension: no sqlglot.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self

from qidsql.sql import quoted, sql_file

if TYPE_CHECKING:
    from qidsql.core.tables import Table
    from qidsql.sql.templates import Row


# The interface to the DuckDB extension: connections to the database it is loaded into. Imports no driver.
#
# Imports stay light, since a shell waits for them when it loads the extension.


SETTINGS = """SELECT system.main.current_setting('default_collation') AS default_collation,
  system.main.current_setting('TimeZone') AS time_zone"""


class HostError(RuntimeError):
    """A statement that failed in the host: the kind of error (`duckdb_error_type`) and its text."""

    def __init__(self, kind: int, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class HostConnection(Protocol):
    """Runs SQL for one thread at a time; another thread may call `interrupt`. Raises HostError."""

    def execute(self, sql: str) -> Self: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]: ...

    def cursor(self) -> Self: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """The settings of the session that calls; None if unknown."""

    search_path: str | None = None
    time_zone: str | None = None

    def settings(self, connection: HostConnection) -> str:
        """The statements under which a connection measures: only DuckDB's functions, texts byte by byte, this zone.

        Only what has to change is set, as settings can be locked.
        """
        [(collation, zone)] = connection.execute(SETTINGS).fetchall()
        statements = ["SET search_path = 'system.main'"]
        if str(collation).lower() not in ("", "binary"):
            statements.append("SET SESSION default_collation = 'binary'")
        if self.time_zone and self.time_zone != zone:
            statements.append(f"SET SESSION TimeZone = {quoted(self.time_zone)}")
        return "; ".join(statements)


@dataclass(frozen=True, slots=True)
class CatalogCache:
    """Rows of catalog queries: one engine binds a call and another runs it, with the same catalog."""

    rows: "dict[str, list[Row]]" = field(default_factory=dict)
    tables: "dict[str | None, Table]" = field(default_factory=dict)


# Statements for a user's session: the single-statement checks as macros, and what the session sees of a table.
#
# Does not import sqlglot, which would delay a shell.


PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')  # of a table's name, as in the macro rows_of


@cache
def duckdb_macros() -> str:
    """The script that creates the checks that are single statements, in a database `qidsql` in memory."""
    return "\n".join((sql_file("duckdb/shell_macros"), sql_file("duckdb/shell_measures")))


def seen_query(table: str, where: str = "") -> str:
    """The query of what a session sees of a table (its name in SQL)."""
    rows = f"FROM {table}" + (f" WHERE ({where}\n)" if where else "")
    return sql_file("duckdb/seen").replace("(:rows)", f"({quoted(rows)})")


def seen_of_typed(table: str, where: str) -> str:
    """The query of what a session sees of a table as its user typed the name: each part is quoted."""
    return seen_query(PART.sub(r'"\1\2"', table), where)


def seen_of_all(tables: Sequence[str]) -> str:
    """The query of what a session sees of tables (their names in SQL), and which ones there are."""
    return seen_of_each((seen_names(), *map(seen_query, tables)))


def seen_names() -> str:
    """The query of which tables a session sees."""
    return sql_file("duckdb/seen_names")


def seen_of_each(queries: Sequence[str]) -> str:
    """The answers of several such queries as one."""
    return f"SELECT system.main.concat_ws('; ', {', '.join(f'({query})' for query in queries)}) AS seen"
