"""DuckDB's own progress bar, which would write to stdout."""

import duckdb


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Turns the bar off. In a notebook without ipywidgets it is off, and DuckDB refuses to set it."""
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection
