"""Files that qidsql writes as DuckDB databases: the demo's, and a store, which one process at a time
may have open for writing.

Each transaction attaches the file to a DuckDB in memory and detaches it afterwards: starting a DuckDB takes five to ten
times as long.
"""

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.driver_errors import by_signal
from qidsql.engines.kind import no_pipes
from qidsql.engines.private_folder import file_lock
from qidsql.engines.store import STORE_PATIENCE, Prepared, Store, Transaction
from qidsql.errors import SourceError, StoreError
from qidsql.sql.relation import inserting
from qidsql.sql.templates import Row, fill

OWN = ("", ".wal", ".wal.checkpoint", ".wal.recovery")  # the endings of the files that DuckDB needs for one
ATTACHED = "stored"  # the name of the file's database
# Up to DuckDB 1.4 two databases of one process can open a file at once, one of them for writing: no attaching there.
ATTACHES = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 5)
OPENING_PAUSE = 0.05  # seconds between attempts to open a file that another process has open
THREADS = threading.Lock()  # threads of one process would share one database, and their transactions would clash
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "256MB",
    "threads": 1,
    "default_block_size": "16384",  # of a new file: each small table takes a block
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DuckDBStore(Store):
    """A file, created by the first writing transaction."""

    dialect = DUCKDB
    schema = "main"
    parameter = "?"

    def __init__(self, path: Path, patience: float = STORE_PATIENCE) -> None:
        super().__init__(patience)
        self.path = path
        self.label = str(path)
        self._database: duckdb.DuckDBPyConnection | None = None  # in memory; the file is attached in transactions

    def exists(self) -> bool:
        return self.path.exists()

    def can_be_opened(self) -> bool:
        return self.exists()

    @contextmanager
    def transaction(self, writing: bool) -> Iterator["DuckDBTransaction"]:
        if not THREADS.acquire(timeout=self.patience):
            raise StoreError(f"{self.label} was in use by this process for {self.patience:.0f} s; try again")
        try:
            with self._transaction(writing) as transaction:
                yield transaction
        finally:
            THREADS.release()

    @contextmanager
    def _transaction(self, writing: bool) -> Iterator["DuckDBTransaction"]:
        connection = self._attached(writing)
        try:
            connection.execute("BEGIN TRANSACTION")
            yield DuckDBTransaction(self, connection)
            connection.execute("COMMIT" if writing else "ROLLBACK")
        except (duckdb.Error, RuntimeError) as error:
            raise self._why_not(error, "written" if writing else "read") from None
        finally:
            self._detach(connection)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        [lock] = self._beside([".lock"])
        no_pipes([lock], self.label, StoreError)
        with file_lock(lock):
            yield

    def _beside(self, endings: Iterable[str]) -> list[Path]:
        return [self.path.with_name(f"{self.path.name}{ending}") for ending in endings]

    def _attached(self, writing: bool) -> duckdb.DuckDBPyConnection:
        """A connection that has the file open, as its default database."""
        if writing and not self.path.absolute().parent.is_dir():
            raise StoreError(
                f"{self.label} cannot be created: its folder does not exist; create it, or name another file"
            )
        no_pipes(self._beside(OWN), self.label, StoreError)
        give_up = time.monotonic() + self.patience
        path, mode = exp.Literal.string(str(self.path)).sql("duckdb"), "READ_WRITE" if writing else "READ_ONLY"
        while True:
            try:
                if not ATTACHES:
                    self._database = self._sealed(duckdb.connect(str(self.path), not writing, self._settings))
                    return self._database
                connection = self._database = self._database or self._sealed(duckdb.connect(config=self._settings))
                connection.execute(f"ATTACH {path} AS {ATTACHED} ({mode})")
                connection.execute(f"USE {ATTACHED}")
                return connection
            except (duckdb.Error, RuntimeError) as error:
                if not _is_locked(error) or time.monotonic() >= give_up:
                    self._end()
                    raise self._why_not(error, "opened") from None
            time.sleep(OPENING_PAUSE)

    def _sealed(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        """The connection, which opens no other file, whatever is defined in this one."""
        paths = (exp.Literal.string(f"{self.path}{ending}").sql("duckdb") for ending in OWN)
        connection.execute(f"SET allowed_paths = [{', '.join(paths)}]")
        connection.execute("SET enable_external_access = false")
        return connection

    def _detach(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Closes the file, and rolls back what was not committed. If that fails, ends the DuckDB that has it open."""
        detached = False
        try:
            with suppress(duckdb.TransactionException):  # there is a transaction only after an error
                connection.rollback()
            if ATTACHES:
                connection.execute("USE memory")
                connection.execute(f"DETACH {ATTACHED}")
            detached = ATTACHES
        except (duckdb.Error, RuntimeError):
            pass
        finally:
            if not detached:
                self._end()

    def _end(self) -> None:
        """Ends the DuckDB; the next transaction starts another."""
        if self._database is not None:
            with suppress(duckdb.Error, RuntimeError):
                self._database.close()
        self._database = None

    @property
    def _settings(self) -> dict[str, str | bool | int | float | list[str]]:
        return {**SETTINGS, "temp_directory": f"{self.path}.tmp"}

    def _why_not(self, error: Exception, what: str) -> StoreError | KeyboardInterrupt:
        """The driver's error as a StoreError, or as the interrupt behind it. Its text can contain values: not used."""
        if by_signal(error):
            return KeyboardInterrupt()
        text = str(error)
        if _is_locked(error):
            return StoreError(
                f"{self.label} was open in another process for {self.patience:.0f} s; close it there, and try again"
            )
        if "No space left" in text or "Could not write" in text or isinstance(error, duckdb.OutOfMemoryException):
            return StoreError(f"{self.label} could not be {what}: the disk is full; free some space, and try again")
        if "Permission denied" in text or "read-only" in text.lower() or "Read-only" in text:
            return StoreError(
                f"{self.label} may not be {what} by this user; its folder must be writable too (for a .wal file)"
            )
        if "not a valid DuckDB database" in text:
            return StoreError(f"{self.label} is not a DuckDB database file; name another, or move it away")
        if "Corrupt database file" in text or "Could not read enough bytes" in text or "Serialization" in text:
            return StoreError(f"{self.label} is damaged or cut short; restore it from a backup, or move it away")
        if "version number" in text:
            return StoreError(f"{self.label} was written by another version of DuckDB; upgrade the duckdb package")
        return StoreError(f"{self.label} could not be {what} ({type(error).__name__})")


class DuckDBTransaction(Transaction):
    def __init__(self, store: DuckDBStore, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(store)
        self._connection = connection

    def execute(self, statement: Prepared, values: Mapping[str, Any]) -> list[Row]:
        return self._connection.execute(statement.text, statement.values(values)).fetchall()

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """One statement with a list of values per column: single rows are hundreds of times slower in DuckDB."""
        text = _inserting_columns(table, tuple(columns))
        self._connection.execute(text, [[row[column] for row in rows] for column in columns])


@cache
def _inserting_columns(table: str, columns: tuple[str, ...]) -> str:
    """The statement that inserts many rows, given as a list of values per column."""
    values = (exp.func("UNNEST", exp.var("?"), dialect="duckdb") for _ in columns)
    return DUCKDB.render(inserting(table, exp.select(*values), columns))


def _is_locked(error: Exception) -> bool:
    """Whether another process has the file open, or another database of this process."""
    locked = "Could not set lock|lock is held|Unique file handle conflict|different configuration"
    return re.search(locked, str(error)) is not None


# Creates the sample database of the demo.


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
