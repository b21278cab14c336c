"""The texts of frequent statements that are kept in sql_templates/ENGINE/rendered.json.

python -m tests.sql.kept_texts      writes them anew, after a change of a template or of a function below
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from qidsql.engines.duckdb import csv_files, parquet_files, reading
from qidsql.engines.duckdb import engine as duckdb
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres import engine as postgres
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql import classes, held_rows, packed_rows, row_pairs
from qidsql.sql.dialects import Dialect
from qidsql.sql.pieces import pieces_of

FOLDER = Path(__file__).parents[2] / "sql_templates"
KEPT = [DUCKDB, POSTGRES]
COLUMNS = 16  # of tables whose statements are all kept; for one with more, the import of sqlglot counts less
OF_DUCKDB = (
    *(duckdb._columns, duckdb._stored_bytes, duckdb._parquet_bytes, csv_files._read_csv),
    *(reading._merged_texts, reading._first_texts, duckdb._attached, row_pairs._xor, row_pairs._packed_frame),
    *(held_rows._frame, packed_rows._frame, packed_rows._codes, packed_rows._lane, packed_rows._same),
    *(parquet_files._read_parquet, parquet_files._parquet_schemas, parquet_files._parquet_values),
)
OF_POSTGRES = {  # the holes of its own templates
    "settings": ("statement_timeout", "idle_timeout"),
    "gentle": (),
    "search_path": (),
    "export_snapshot": (),
    "session": (),
    "tables": (),
    "columns": ("oids",),
    "table_bytes": ("table",),
    **dict.fromkeys(("catalog_labels", "catalog_keys", "catalog_foreign_keys"), ("oids",)),
    **dict.fromkeys(("locked", "changed_since"), ("ours",)),
    "groupable": ("relation", "columns"),
    **dict.fromkeys(("state_token", "view_functions"), ("schema", "relation")),
}
OF_BOTH = (
    *(classes._count, classes._sizes_frame, classes._part_frame),
    *(row_pairs._frame, row_pairs._numbering, row_pairs._zero, row_pairs._last),
    *(row_pairs._aliased, row_pairs._same, row_pairs._bit_count),
)


def functions(dialect: Dialect) -> Iterator[tuple[Callable[..., Any], tuple[int | str, ...]]]:
    """Each function that `in_pieces` made, with its arguments."""
    if dialect == DUCKDB:
        yield from ((function, ()) for function in OF_DUCKDB)
    else:
        yield from ((postgres._query, (template, *holes)) for template, holes in OF_POSTGRES.items())
    yield from ((function, ()) for function in OF_BOTH)
    yield from ((classes._counts_frame, (some,)) for some in (0, 1))
    for number in range(1, COLUMNS + 1):
        yield classes._finest_frame, (number,)
        yield classes._sets_frame, (number,)
        yield row_pairs._row_hash, (number,)
        yield row_pairs._bit, (number - 1,)


def texts(dialect: Dialect) -> dict[str, tuple[str, ...]]:
    """Rendered by sqlglot."""
    found = {}
    for function, arguments in functions(dialect):
        build = function.__wrapped__.__wrapped__  # below the cache, and what looks the text up
        name = f"{build.__module__.rpartition('.')[2]}.{build.__qualname__}"
        found[" ".join([name, *map(str, arguments)])] = pieces_of(dialect, build(dialect, *arguments))
    return found


if __name__ == "__main__":
    for each in KEPT:
        text = json.dumps(texts(each), indent=1) + "\n"
        (FOLDER / each.name / "rendered.json").write_text(text, encoding="utf-8")
