"""Creates the sample database of the demo."""

from pathlib import Path

import duckdb

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.errors import SourceError
from qidsql.sql.templates import fill

STORAGE = "v1.2.0"  # an older file format, so that older DuckDB shells can open it


def write_sample(path: Path, patients: int) -> None:
    """Creates the file, with the same rows each time. Raises SourceError if it exists or cannot be written."""
    if path.exists():
        raise SourceError(f"{path} exists already; name another file, or remove it first")
    try:
        with duckdb.connect(str(path), config={"storage_compatibility_version": STORAGE}) as connection:
            for name in ("patients", "visits"):
                connection.execute(DUCKDB.render(fill(f"duckdb/demo_{name}", patients=patients)))
    except duckdb.Error as error:
        raise SourceError(
            f"{path} cannot be written ({type(error).__name__}); choose a folder you may write to"
        ) from None
