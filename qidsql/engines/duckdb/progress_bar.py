"""DuckDB's own progress bar, which would write to stdout."""

from contextlib import suppress

import duckdb


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Turns the bar off. In a notebook without ipywidgets it is off, and DuckDB refuses to set it."""
    with suppress(duckdb.Error):  # also of a database that is sealed
        connection.execute("SET enable_progress_bar = false")
    return connection
