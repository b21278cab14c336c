"""Statements for a user's session: the single-statement checks as macros, and what the session sees of a table.

Does not import sqlglot, which would delay a shell.
"""

from functools import cache

from qidsql.sql import quoted, sql_file


@cache
def duckdb_macros() -> str:
    """The script that creates the macros profile, violations and columns, in a database `qidsql` in memory."""
    return sql_file("duckdb/shell_macros")


def seen_macro() -> str:
    """The statement that creates the macro seen("table", filter), beside the others."""
    where = "CASE WHEN filter <> '' THEN system.main.concat(' WHERE (', filter, '\n)') END"
    rows = f'system.main.concat(qidsql.main.rows_of("table", 2), {where})'
    return f'CREATE OR REPLACE MACRO qidsql.main.seen("table", filter) AS TABLE\n{_seen(rows)}'


def seen_query(table: str, where: str = "") -> str:
    """The query of what a session sees of a table (its name in SQL), as the macro."""
    rows = f"FROM {table}" + (f" WHERE ({where}\n)" if where else "")
    return _seen(quoted(rows))


def _seen(rows: str) -> str:
    return sql_file("duckdb/seen").replace("(:rows)", f"({rows})")
