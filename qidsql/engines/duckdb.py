"""DuckDB: a database file, or data files read by DuckDB. Opened read-only and cut off from everything else."""

import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

import duckdb
from sqlglot import exp

from qidsql.engines.base import Engine
from qidsql.engines.naming import find_table
from qidsql.errors import AccessError, ConnectionLost, QidsqlError, SourceError, StatementError
from qidsql.schema import Column, Comparison, Table, TableName
from qidsql.sql.dialects import DUCKDB
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import Filling, fill

READERS = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".txt": "read_csv",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
WORKERS = 2  # DuckDB spreads one statement over all cores itself; two statements at once fill the gaps of small ones
OPTIONS = ("memory_limit", "threads")


class DuckDBSession:
    """One cursor, for one thread at a time."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def execute(self, sql: str) -> list[Row]:
        return self._cursor.execute(sql).fetchall()

    def cancel(self) -> None:
        self._cursor.interrupt()

    def close(self) -> None:
        self._cursor.close()


class DuckDBEngine(Engine):
    """A DuckDB database, or an own one over data files.

    `connection` belongs to the engine from here on. `workspace` is a private temporary folder (spilled intermediate
    results, and the parsed form of CSV files); it is removed when the engine is closed.
    """

    dialect = DUCKDB

    def __init__(self, connection: duckdb.DuckDBPyConnection, label: str, workspace: Path, kind: str = "table") -> None:
        super().__init__([DuckDBSession(connection.cursor()) for _ in range(WORKERS)])
        self.label = label
        self.snapshot = (
            "read-only file, which nobody can change meanwhile" if kind == "table" else "files read in place"
        )
        self._connection = connection
        self._kind = kind
        self._remove = weakref.finalize(self, shutil.rmtree, workspace, ignore_errors=True)
        self.version = "DuckDB " + str(self._catalog("version")[0][0]).removeprefix("v")

    def release(self) -> None:
        self._connection.close()
        self._remove()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        return translate(error, purpose)

    def table_names(self) -> list[TableName]:
        return [self._name(row) for row in self._catalog("tables")]

    def describe(self, table: str | None) -> Table:
        rows = self._catalog("tables")
        default_schema = str(self._catalog("default_schema")[0][0])
        name = find_table(table, [self._name(row) for row in rows], "duckdb", [default_schema], self.label)
        row = next(row for row in rows if self._name(row) == name)
        # A view does not say which collation its columns inherit: with any collation about, compare texts by bytes.
        collated = bool(row[5]) or (row[3] == "view" and any(other[5] for other in rows))
        columns = tuple(
            Column(
                name=str(column),
                type=str(kind),
                nullable=bool(nullable),
                comparison=Comparison.BYTES if collated and kind == "VARCHAR" else Comparison.VALUE,
            )
            for column, kind, nullable in self._catalog(
                "columns", catalog=name.catalog, schema=name.schema, table=name.name
            )
        )
        notes = ("its texts are compared byte by byte: a collation would merge values that a reader tells apart",)
        return Table(
            name=name,
            kind=self._kind if self._kind != "table" else str(row[3]),
            columns=columns,
            estimated_rows=None if row[4] is None else integer(row[4]),
            notes=notes if collated else (),
            row_address=("rowid",) if row[3] == "table" and not _shadowed("rowid", columns) else (),
        )

    def _name(self, row: Row) -> TableName:
        return TableName(name=str(row[2]), schema=str(row[1]), catalog=str(row[0]))

    def _catalog(self, template: str, **holes: Filling) -> list[Row]:
        """Rows of a catalog query."""
        try:
            return self._connection.execute(fill(f"duckdb/{template}", **holes).sql("duckdb")).fetchall()
        except duckdb.Error as error:
            raise translate(error, "reading the catalog") from None


def _shadowed(hidden: str, columns: Sequence[Column]) -> bool:
    """True when the table has a column of its own by the name of a hidden one."""
    return any(column.name.lower() == hidden for column in columns)


def open_database(path: Path, label: str, options: dict[str, str]) -> DuckDBEngine:
    """An engine on a database file, opened read-only. Raises SourceError."""
    workspace = Path(tempfile.mkdtemp(prefix="qidsql-"))
    try:
        connection = duckdb.connect(str(path), read_only=True, config=_config(workspace, options))
        _seal(connection, [])
    except duckdb.Error as error:
        shutil.rmtree(workspace, ignore_errors=True)
        raise _open_error(error, label) from None
    return DuckDBEngine(connection, label, workspace)


def open_files(pattern: str, label: str, options: dict[str, str]) -> DuckDBEngine:
    """An engine on data files of one kind, named or by a pattern. Raises SourceError."""
    name = re.sub(r"\.(gz|zst)$", "", pattern.rstrip("*"), flags=re.IGNORECASE)
    reader = READERS.get(Path(pattern).suffix.lower()) or READERS.get(Path(name).suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise SourceError(f"{label} is neither a DuckDB database nor one of the files qidsql reads ({known})")
    workspace = Path(tempfile.mkdtemp(prefix="qidsql-"))
    try:
        store = ":memory:" if reader == "read_parquet" else str(workspace / "parsed.duckdb")
        connection = duckdb.connect(store, config=_config(workspace, options))
        _read_files(connection, reader, _table_of(pattern), pattern)
        _seal(connection, [str(Path(pattern.split("*")[0]).parent)] if reader == "read_parquet" else [])
    except duckdb.Error as error:
        shutil.rmtree(workspace, ignore_errors=True)
        raise _open_error(error, label) from None
    return DuckDBEngine(connection, label, workspace, kind="file")


def _read_files(connection: duckdb.DuckDBPyConnection, reader: str, table: str, pattern: str) -> None:
    """Makes the files a table or view of that name."""
    view = exp.to_table(exp.to_identifier(table, quoted=True).sql("duckdb"), dialect="duckdb")
    holes: dict[str, Filling] = {"view": view, "paths": pattern}
    if reader != "read_csv":
        connection.execute(fill(f"duckdb/{reader}", **holes).sql("duckdb"))
        return
    try:
        connection.execute(fill("duckdb/read_csv", plain=exp.false(), **holes).sql("duckdb"))
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        # A value far down does not fit the type found at the top: every value as its text is exact too.
        connection.execute(fill("duckdb/read_csv", plain=exp.true(), **holes).sql("duckdb"))


def _table_of(pattern: str) -> str:
    """The name under which files are audited: their own, without endings, or their folder's for a bare pattern."""
    path = Path(pattern)
    stem = path.name.split(".")[0]
    return stem if not re.search(r"[*?\[]", stem) else (path.parent.name or "files")


def _config(workspace: Path, options: dict[str, str]) -> dict[str, str | bool | int | float | list[str]]:
    """Settings from the first moment on: nothing is spilled beside the production file, nothing is downloaded."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise SourceError(f"unknown option {', '.join(unknown)} behind the path; expected {' or '.join(OPTIONS)}")
    return {
        "temp_directory": str(workspace / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **options,
    }


def _seal(connection: duckdb.DuckDBPyConnection, folders: Sequence[str]) -> None:
    """Cuts the database off from files and settings, whatever a view's definition may try."""
    connection.execute("SET enable_progress_bar = false")
    if folders:
        array = exp.Array(expressions=[exp.Literal.string(folder) for folder in folders])
        connection.execute(f"SET allowed_directories = {array.sql('duckdb')}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _open_error(error: duckdb.Error, label: str) -> QidsqlError:
    """Why a database or file could not be opened, in our words: the driver's text may hold lines of the file."""
    text = str(error)
    holder = re.search(r"lock is held in (.+?) \(PID (\d+)\)", text)
    if holder:
        program = Path(holder[1]).name
        return SourceError(
            f"{label} is open for writing in {program} (process {holder[2]}); close it there, or audit a copy"
        )
    if isinstance(error, duckdb.ConnectionException) and "different configuration" in text:
        return SourceError(f"{label} is open in this process with other settings; close that connection first")
    if "not a valid DuckDB database" in text:
        return SourceError(f"{label} is not a DuckDB database file")
    version = re.search(r"version number (\d+), but we can only read versions? ([\d, and-]+\d)", text)
    if version:
        return SourceError(
            f"{label} has the storage version {version[1]}, this DuckDB reads {version[2]}; "
            f"upgrade the duckdb package, or export the file with the DuckDB that wrote it"
        )
    if isinstance(error, duckdb.PermissionException) or "Permission denied" in text:
        return SourceError(f"{label} may not be read by this user; check the file's permissions")
    if "No files found" in text:
        return SourceError(f"no files match {label}")
    if isinstance(error, (duckdb.InvalidInputException, duckdb.ConversionException)):
        line = re.search(r"line:? (\d+)", text, flags=re.IGNORECASE)
        where = f" at line {line[1]}" if line else ""
        return SourceError(f"{label} cannot be parsed{where}: it is not the well-formed table its name promises")
    if isinstance(error, duckdb.OutOfMemoryException):
        return SourceError(
            f"{label} does not fit DuckDB's memory limit; raise it with ?memory_limit=8GB behind the path"
        )
    return SourceError(f"{label} cannot be opened by DuckDB ({type(error).__name__})")


def translate(error: Exception, purpose: str) -> QidsqlError:
    """A failed statement in our words."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return StatementError(
            f"DuckDB ran out of memory or temporary space at the {purpose}; "
            f"raise ?memory_limit=..., free disk space in the temporary folder, or audit fewer columns"
        )
    if isinstance(error, duckdb.InterruptException) or "Interrupted" in str(error)[:40]:
        return ConnectionLost(f"DuckDB was interrupted at the {purpose}")
    if isinstance(error, duckdb.PermissionException):
        return AccessError(
            f"DuckDB refused the {purpose}: the table reads files or extensions, and an audit is cut off from both"
        )
    if isinstance(error, duckdb.ConversionException):
        return StatementError(
            f"DuckDB could not convert a value at the {purpose}; look at --where and at the view's casts"
        )
    if isinstance(error, duckdb.Error):
        return StatementError(f"DuckDB could not answer the {purpose} ({type(error).__name__})")
    return StatementError(f"the DuckDB driver failed at the {purpose} ({type(error).__name__})")
