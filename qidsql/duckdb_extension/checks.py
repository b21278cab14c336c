"""A table of checks: a row names a table, and in columns that are called like parameters, what is asked of it.

`main.*` stands for one without parameters, of all tables and views of a schema.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qidsql.duckdb_extension.queries import query_rows, whole_query
from qidsql.engines.duckdb.macros import seen_names, seen_query
from qidsql.errors import SourceError, UsageError

if TYPE_CHECKING:
    from qidsql.engines.duckdb.embedded import HostEngine

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
    from qidsql.engines.embedding import HostError

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
