"""Turns data files into DuckDB tables and chooses the type of each column.

Different texts of a file always stay different values: a column gets a type only if that merges none of its texts. So
'01234' never becomes 1234, nor '1.00' 1.0, unless all values are written the same way. An audit of merged values would
report people as indistinguishable whom a reader of the file can tell apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qidsql.core.tables import TableName
from qidsql.engines.duckdb.csv_files import csv_contents
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import Execute, FileReader
from qidsql.engines.duckdb.files import DataFiles
from qidsql.engines.duckdb.json_files import json_contents
from qidsql.engines.duckdb.parquet_files import parquet_contents
from qidsql.sql.dialects import Dialect
from qidsql.sql.pieces import in_pieces, mark_of_table, marks, put_together
from qidsql.sql.relation import name_text
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill
from qidsql.sql.trees import exp

# Types for columns of texts. Others (UUID, nested) make no GROUP BY cheaper and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")


def read_files(execute: Execute, files: DataFiles, options: Mapping[str, str], catalog: str | None = None) -> None:
    """Creates a view of the files if their format has types, else a table into which they are parsed once.

    In the default database, or in the attached one of this name. Raises SourceError, UsageError, and errors of
    `execute`.
    """
    reader = FileReader(execute, files)
    table = name_text(DUCKDB, TableName(files.table, "main" if catalog else "", catalog or ""))
    if files.kind == "parquet":
        execute(f"CREATE VIEW {table} AS {parquet_contents(reader).query}")
        return
    found = csv_contents(reader, options.get("header")) if files.kind == "csv" else json_contents(reader)
    execute(f"CREATE TABLE {table} AS {found.query}")
    _give_types(reader, table, found.types)


def _give_types(reader: FileReader, table: str, types: Mapping[str, Sequence[str]]) -> None:
    """Gives each column of texts the first of its types under which different texts stay different values."""
    for name, kinds in types.items():
        column = DUCKDB.identifier(name)
        for kind in kinds:
            if kind in TYPES and not _merges(reader, table, column, kind):
                reader.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {kind}")
                break


def _merges(reader: FileReader, table: str, column: str, kind: str) -> bool:
    parts = {"texts": table, "column": column, "value": f"TRY_CAST(text_value AS {kind})"}
    [[merged]] = reader.execute(put_together(_merged_texts(DUCKDB), parts))
    return integer(merged) > 0


@in_pieces
def _merged_texts(_: Dialect) -> exp.Expr:
    return fill("duckdb/merged_texts", texts=mark_of_table("texts"), **marks("column", "value"))
