"""Turns data files into DuckDB tables and chooses the type of each column.

Different texts of a file always stay different values: a column gets a type only if that merges none of its texts. So
'01234' never becomes 1234, nor '1.00' 1.0, unless all values are written the same way. An audit of merged values would
report people as indistinguishable whom a reader of the file can tell apart.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.engines.duckdb.csv_files import csv_contents
from qidsql.engines.duckdb.file_reader import Execute, FileReader
from qidsql.engines.duckdb.files import DataFiles
from qidsql.engines.duckdb.json_files import json_contents
from qidsql.engines.duckdb.parquet_files import parquet_contents
from qidsql.sql.relation import table_node
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill

# Types for columns of texts. Others (UUID, nested) make no GROUP BY cheaper and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")


def read_files(execute: Execute, files: DataFiles, options: Mapping[str, str], catalog: str | None = None) -> None:
    """Creates a view of the files if their format has types, else a table into which they are parsed once.

    In the default database, or in the attached one of this name. Raises SourceError, UsageError, and errors of
    `execute`.
    """
    reader = FileReader(execute, files)
    table = table_node(TableName(files.table, "main" if catalog else "", catalog or ""))
    if files.kind == "parquet":
        reader.run(exp.Create(this=table, kind="VIEW", expression=parquet_contents(reader).query))
        return
    found = csv_contents(reader, options.get("header")) if files.kind == "csv" else json_contents(reader)
    reader.run(exp.Create(this=table, kind="TABLE", expression=found.query))
    _give_types(reader, table, found.types)


def _give_types(reader: FileReader, table: exp.Table, types: Mapping[str, Sequence[str]]) -> None:
    """Gives each column of texts the first of its types under which different texts stay different values."""
    for name, kinds in types.items():
        column = exp.column(exp.to_identifier(name, quoted=True))
        for kind in kinds:
            if kind in TYPES and not _merges(reader, table, column, kind):
                change = exp.AlterColumn(this=column, dtype=exp.DataType.build(kind, dialect="duckdb"))
                reader.run(exp.Alter(this=table, kind="TABLE", actions=[change]))
                break


def _merges(reader: FileReader, table: exp.Table, column: exp.Expr, kind: str) -> bool:
    value = exp.TryCast(this=exp.column("text_value"), to=exp.DataType.build(kind, dialect="duckdb"))
    [[merged]] = reader.run(fill("duckdb/merged_texts", texts=table, column=column.copy(), value=value))
    return integer(merged) > 0
