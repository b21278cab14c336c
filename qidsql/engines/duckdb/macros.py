"""The single-statement checks as macros for DuckDB's shells. Needs no sqlglot: a shell that loads them waits for it."""

from functools import cache

from qidsql.sql.folder import sql_file


@cache
def duckdb_macros() -> str:
    """The script that makes the macros profile, violations and columns, in a database `qidsql` in memory."""
    return sql_file("duckdb/shell_macros")
