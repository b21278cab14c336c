"""Data files made tables of DuckDB's: how they are read, and what type each column gets.

Two texts of a file that differ stay two values, always: a type is given to a column only when that merges none of
its texts. So '01234' never becomes 1234, nor '1.00' 1.0, unless every value is written the one way. An audit that
merged them would call people hidden in a crowd that a reader of the file can tell apart.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qidsql.engines.duckdb.csv_files import csv_contents
from qidsql.engines.duckdb.file_reader import Ask, FileReader
from qidsql.engines.duckdb.files import DataFiles
from qidsql.engines.duckdb.json_files import json_contents
from qidsql.engines.duckdb.parquet_files import parquet_contents
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill

# Types that a text may be given. Others (UUID, nested) gain nothing in a GROUP BY and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")


def read_files(ask: Ask, files: DataFiles, options: Mapping[str, str]) -> None:
    """Makes the files a table or view, in place where their format has types, else parsed once.

    Raises SourceError, UsageError, and what `ask` raises.
    """
    reader = FileReader(ask, files)
    table = exp.Table(this=exp.to_identifier(files.table, quoted=True))
    if files.kind == "parquet":
        reader.run(exp.Create(this=table, kind="VIEW", expression=parquet_contents(reader).query))
        return
    found = csv_contents(reader, options.get("header")) if files.kind == "csv" else json_contents(reader)
    reader.run(exp.Create(this=table, kind="TABLE", expression=found.query))
    _give_types(reader, table, found.types)


def _give_types(reader: FileReader, table: exp.Table, types: Mapping[str, Sequence[str]]) -> None:
    """Gives each column of text the first of its types by which no two texts become one value."""
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
