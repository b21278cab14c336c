"""The texts of DuckDB's frequent statements that are kept in sql_templates/duckdb/rendered.json.

python -m tests.sql.kept_texts      writes them anew, after a change of a template or of a function below
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from qidsql.engines.duckdb import csv_files, engine, parquet_files, reading
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.sql import classes, row_pairs
from qidsql.sql.pieces import pieces_of

FILE = Path(__file__).parents[2] / "sql_templates" / "duckdb" / "rendered.json"
COLUMNS = 16  # of tables whose statements are all kept; for one with more, the import of sqlglot counts less


def functions() -> Iterator[tuple[Callable[..., Any], tuple[int, ...]]]:
    """Each function that `in_pieces` made, with its numbers."""
    for function in (
        *(engine._columns, engine._stored_bytes, engine._parquet_bytes, reading._merged_texts, csv_files._read_csv),
        *(parquet_files._read_parquet, parquet_files._parquet_schemas, parquet_files._parquet_values),
        *(classes._count, classes._sizes_frame),
        *(
            row_pairs._frame,
            row_pairs._numbering,
            row_pairs._zero,
            row_pairs._last,
            row_pairs._aliased,
            row_pairs._same,
        ),
        row_pairs._bit_count,
    ):
        yield function, ()
    for number in (0, 1):
        yield classes._counts_frame, (number,)
    for number in range(1, COLUMNS + 1):
        yield classes._finest_frame, (number,)
        yield row_pairs._row_hash, (number,)
        yield row_pairs._bit, (number - 1,)


def texts() -> dict[str, tuple[str, ...]]:
    """Rendered by sqlglot."""
    found = {}
    for function, numbers in functions():
        build = function.__wrapped__.__wrapped__  # below the cache, and what looks the text up
        name = f"{build.__module__.rpartition('.')[2]}.{build.__qualname__}"
        found[" ".join([name, *map(str, numbers)])] = pieces_of(DUCKDB, build(DUCKDB, *numbers))
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(texts(), indent=1) + "\n", encoding="utf-8")
