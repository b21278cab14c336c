"""Turns data files into DuckDB tables and chooses the type of each column.

Different texts of a file always stay different values: a column gets a type only if that merges none of its texts. So
'01234' never becomes 1234, nor '1.00' 1.0, unless all values are written the same way. An audit of merged values would
report people as indistinguishable whom a reader of the file can tell apart.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.files import Contents, DataFiles, Execute, FileReader
from qidsql.engines.duckdb.parquet_files import check_nulls, parquet_contents
from qidsql.engines.duckdb.text_files import OPTION, Marks, csv_contents, json_contents, note_of_marks, without_marks
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import name_text
from qidsql.sql.templates import fill, in_pieces, integer, mark_of_table, marks, put_together

# Types for columns of texts. Others (UUID, nested) make no GROUP BY cheaper and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")
# Those whose equal values are always written alike, as 0.0 and -0.0 are not.
WRITTEN_ALIKE = ("BIGINT", "UBIGINT", "HUGEINT", "DATE", "TIMESTAMP", "BOOLEAN")
FIRST = 1_000  # rows that show which columns are worth converting as they are read
BLOCK = 250  # columns of a statement: DuckDB's time to bind it grows with their square
TEXTS = "temp.main.qidsql_texts"


def read_files(
    execute: Execute, files: DataFiles, options: Mapping[str, str], scratch: Path, catalog: str | None = None
) -> tuple[str, Sequence[str]]:
    """Creates a view of the files if their format has types, else a table into which they are parsed once.

    In the default database, or in the attached one of this name. `scratch` is a private folder. Returns a note on
    marks of missing values in the table, empty if it has none, and its columns. Raises SourceError, UsageError, and
    errors of `execute`.
    """
    reader, marks = FileReader(execute, files), Marks.declared(options.get(OPTION))
    table = name_text(DUCKDB, TableName(files.table, "main" if catalog else "", catalog or ""))
    if files.kind == "parquet":
        execute(f"CREATE VIEW {table} AS {without_marks(reader, parquet_contents(reader), marks).query}")
        check_nulls(reader, scratch)
        return "", list(reader.columns(f"FROM {table}")) if marks else ()
    found = csv_contents(reader, options.get("header")) if files.kind == "csv" else json_contents(reader)
    kinds, found = found.types, without_marks(reader, found, marks)
    typed = _read_typed(reader, table, found)
    if not typed:
        execute(f"CREATE TABLE {table} AS {found.query}")
    _give_types(reader, table, {name: kinds for name, kinds in found.types.items() if name not in typed})
    return note_of_marks(reader, table, kinds), list(found.types)


def _read_typed(reader: FileReader, table: str, found: Contents) -> set[str]:
    """Reads the files into a table whose columns get their types at once if the texts are written like their values.

    Returns these columns; if there are none, there is no table.
    """
    kinds = {name: each[0] for name, each in found.types.items() if each and each[0] in WRITTEN_ALIKE}
    if not kinds:
        return set()
    texts, wide = f"({found.query}) AS texts", len(kinds) > BLOCK
    limit = "" if wide else f" LIMIT {FIRST}"
    reader.execute(f"CREATE OR REPLACE TEMP TABLE {TEXTS} AS SELECT * FROM {texts}{limit}")
    typed: dict[str, str] = {}
    for start in range(0, len(kinds), BLOCK):
        some = list(kinds)[start : start + BLOCK]
        shown = ", ".join(f"COALESCE(BOOL_AND({_unchanged(name, kinds[name])}), TRUE)" for name in some)
        [[unchanged]] = reader.execute(f"SELECT LIST_VALUE({shown}) FROM {TEXTS}")
        assert isinstance(unchanged, list)
        typed |= {name: kinds[name] for name, each in zip(some, unchanged, strict=True) if each}
    every = {name: DUCKDB.identifier(name) for name in reader.columns(f"FROM {TEXTS}")}
    values = ", ".join(_converted(name, typed[name]) if name in typed else column for name, column in every.items())
    if wide and typed:
        reader.execute(f"CREATE TABLE {table} AS SELECT {values} FROM {TEXTS}")
    reader.execute(f"DROP TABLE {TEXTS}")
    if wide or not typed:
        return set(typed)
    flag = DUCKDB.identifier(f"{max(found.types, key=len)}_unchanged")  # the name of no column
    all_unchanged = " AND ".join(_unchanged(name, kind) for name, kind in typed.items())
    reader.execute(f"CREATE TABLE {table} AS SELECT {values}, {all_unchanged} AS {flag} FROM {texts}")
    [[changed]] = reader.execute(f"SELECT COUNT(*) FROM {table} WHERE NOT {flag}")
    if integer(changed):
        reader.execute(f"DROP TABLE {table}")
        return set()
    reader.execute(f"ALTER TABLE {table} DROP COLUMN {flag}")
    return set(typed)


def _unchanged(name: str, kind: str) -> str:
    column = DUCKDB.identifier(name)
    return f"CAST(TRY_CAST({column} AS {kind}) AS VARCHAR) IS NOT DISTINCT FROM {column}"


def _converted(name: str, kind: str) -> str:
    column = DUCKDB.identifier(name)
    return f"TRY_CAST({column} AS {kind}) AS {column}"


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
