"""The single-statement checks as macros for DuckDB's shells. Does not import sqlglot, which would delay a shell."""

from functools import cache

from qidsql.sql.templates import sql_file


@cache
def duckdb_macros() -> str:
    """The script that creates the macros profile, violations and columns, in a database `qidsql` in memory."""
    return sql_file("duckdb/shell_macros")
