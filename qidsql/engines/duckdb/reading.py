"""Turns data files into DuckDB tables and chooses the type of each column; with them a second source.

Different texts of a file always stay different values: a column gets a type only if that merges none of its texts. So
'01234' never becomes 1234, nor '1.00' 1.0, unless all values are written the same way. An audit of merged values would
report people as indistinguishable whom a reader of the file can tell apart.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.files import Contents, DataFiles, Execute, FileReader, allowed_paths, find_files, how_read
from qidsql.engines.duckdb.parquet_files import check_nulls, parquet_contents
from qidsql.engines.duckdb.text_files import OPTION, Marks, csv_contents, json_contents, note_of_marks, without_marks
from qidsql.engines.kind import Located
from qidsql.engines.private_folder import PrivateFolder, remove_name
from qidsql.errors import SourceError, UsageError
from qidsql.sql import sql_file
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import name_text
from qidsql.sql.templates import fill, in_pieces, integer, mark_of_table, marks, put_together

# Types for columns of texts. Others (UUID, nested) make no GROUP BY cheaper and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")
# Those whose equal values are always written alike, as 0.0 and -0.0 are not.
WRITTEN_ALIKE = ("BIGINT", "UBIGINT", "HUGEINT", "DATE", "TIMESTAMP", "BOOLEAN")
FIRST_ROWS = 1_000  # rows that show which columns are worth converting as they are read
COLUMNS_PER_STATEMENT = 250  # columns of a statement: DuckDB's time to bind it grows with their square
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
    texts, wide = f"({found.query}) AS texts", len(kinds) > COLUMNS_PER_STATEMENT
    limit = "" if wide else f" LIMIT {FIRST_ROWS}"
    reader.execute(f"CREATE OR REPLACE TEMP TABLE {TEXTS} AS SELECT * FROM {texts}{limit}")
    typed: dict[str, str] = {}
    for start in range(0, len(kinds), COLUMNS_PER_STATEMENT):
        some = list(kinds)[start : start + COLUMNS_PER_STATEMENT]
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


# A second source in a session: a database, attached read-only, or data files, as tables of a private database.


@dataclass(frozen=True, slots=True)
class Beside:
    """A second source. `files` are its data files by table; a database has none."""

    label: str
    path: Path
    files: tuple[DataFiles, ...]
    options: Mapping[str, str]

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        database = [self.path, self.path.with_name(f"{self.path.name}.wal")]
        return [path for each in self.files for path in each.paths] if self.files else database

    @property
    def allowed_paths(self) -> list[str]:
        """The paths that must stay readable."""
        return [path for each in self.files for path in allowed_paths(each)]

    @property
    def snapshot(self) -> str:
        return how_read(self.files) if self.files else "opened read-only"


def catalog_beside(catalog: str) -> str:
    """The name under which the second source is attached, next to the database of this name."""
    return f"{catalog}_beside"


def find_beside(second: Located, first: Path, is_database: Callable[[Path], bool]) -> Beside:
    """The second source at a path; `first` is the path of the first. Raises SourceError, UsageError."""
    path, label = second.path, second.label
    if path.exists() and first.exists() and os.path.samefile(path, first):
        raise UsageError(f"{label} is the source itself; leave it out, and name the table")
    if set(second.settings) - {"header", OPTION}:
        raise UsageError(
            f"the second source takes only the options header, for csv files, and {OPTION} after its ?; put "
            f"memory_limit and threads after the first one"
        )
    files = () if path.is_file() and is_database(path) else find_files(path, label)
    if obstacle := next((each.obstacle for each in files if each.obstacle), ""):
        raise SourceError(obstacle)
    return Beside(label, path, files, second.settings)


def attach_beside(beside: Beside, folder: PrivateFolder, execute: Execute) -> None:
    """Attaches the source, before the session is sealed. Raises SourceError, UsageError, and errors of `execute`."""
    [[_, database, *_]] = execute(sql_file("duckdb/default_schema"))
    catalog = catalog_beside(str(database))
    if not beside.files:
        execute(_attach(beside.path, catalog, "READ_ONLY"))
        return
    execute("SET search_path = 'system.main'")  # a macro of the first source could be called read_csv
    path = folder.path / "beside.duckdb"
    execute("SET checkpoint_threshold = '1B'")  # no write-ahead log
    execute(_attach(path, catalog, "READ_WRITE"))
    remove_name(path)
    for each in beside.files:
        read_files(execute, each, beside.options, folder.path, catalog)
    execute("RESET search_path")


def _attach(path: Path, catalog: str, mode: str) -> str:
    name = exp.alias_(exp.Literal.string(str(path)), exp.to_identifier(catalog, quoted=True))
    return exp.Attach(this=name, expressions=[exp.AttachOption(this=exp.var(mode))]).sql("duckdb")
