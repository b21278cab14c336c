"""Statements for a user's session: the single-statement checks as macros, and what the session sees of a table.

Does not import sqlglot, which would delay a shell.
"""

import re
from collections.abc import Sequence
from functools import cache

from qidsql.sql import quoted, sql_file

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
