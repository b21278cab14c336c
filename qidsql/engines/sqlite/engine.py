"""SQLite: one read-only connection to a database file, in one read transaction."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, cast

from qidsql.core.catalog import Catalog, CatalogColumn, CatalogTable, find_schema
from qidsql.core.checks import Check, Examination, State
from qidsql.core.tables import Column, Comparison, Condition, Table, TableName
from qidsql.engines.base import Engine
from qidsql.engines.private_folder import PrivateFolder
from qidsql.engines.sqlite.dialect import SQLITE, WideSum, hash_63
from qidsql.engines.table_names import find_table
from qidsql.engines.workers import PATIENCE, Worker
from qidsql.errors import ConnectionLost, QidsqlError, SourceError, StatementError, UsageError
from qidsql.sql.statements import Row
from qidsql.sql.templates import fill

WHY = {  # by SQLite's names of results
    "BUSY": "is locked by another process that writes to it; try again later, or audit a copy",
    "NOTADB": "is not an SQLite database, or an encrypted one",
    "CORRUPT": "is damaged; restore it from a backup",
    "CANTOPEN": "cannot be opened; a database in WAL mode needs a folder that this user may write to",
    "READONLY": "is in WAL mode, or was left in the middle of a change: its folder must be one this user may write to",
}


class SQLiteSession:
    """The connection. Where SQLite goes on in floats, as behind the 64 bits of its integers, there is no answer."""

    patience = PATIENCE

    def __init__(self, path: Path) -> None:
        self._line = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        self._line.text_factory = partial(str, encoding="utf-8", errors="replace")
        self._line.create_function("HASH_63", -1, hash_63, deterministic=True)
        self._line.create_function("BIT_COUNT", 1, int.bit_count, deterministic=True)
        self._line.create_aggregate("WIDE_SUM", -1, cast(Any, WideSum))
        for sql in ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "BEGIN", "SELECT 1 FROM sqlite_schema"):
            self._line.execute(sql).fetchall()

    def execute(self, sql: str) -> list[Row]:
        rows = self._line.execute(sql).fetchall()
        if any(isinstance(cell, float) for row in rows for cell in row):
            raise OverflowError
        return rows

    def export(self, sql: str, path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            for row in self._line.execute(sql):
                file.write(",".join("" if c is None else '"' + str(c).replace('"', '""') + '"' for c in row) + "\n")

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("nothing is written to an SQLite database")

    def hold_moment(self) -> None:
        """There are no conditions that depend on the time."""

    def cancel(self) -> None:
        self._line.interrupt()

    def hang_up(self) -> None:
        """There is no line to cut."""

    def close(self) -> None:
        self._line.close()


class SQLiteEngine(Engine):
    """A database file, of which the schema main is read. Keys that the file declares are not looked up."""

    dialect = SQLITE
    export_format = "csv"
    version = f"SQLite {sqlite3.sqlite_version}"
    snapshot = "one read transaction for all statements"

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(1)
        self.label = label
        self._path = path
        self._folder: PrivateFolder | None = None

    def _open(self, deadline: float | None) -> list[Worker]:
        worker = Worker(partial(SQLiteSession, self._path))
        try:
            worker.opened(deadline)
        except sqlite3.Error as error:
            raise SourceError(str(self.translate(error, "opening"))) from None
        self._state = object()
        return [worker]

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        result = getattr(error, "sqlite_errorname", "SQLITE_ERROR").split("_")[1]
        if result == "INTERRUPT":
            return ConnectionLost(f"SQLite was interrupted ({purpose})")
        if isinstance(error, OverflowError) or "integer overflow" in str(error):
            return StatementError(f"SQLite does not have the whole numbers that are needed ({purpose})")
        return StatementError(f"{self.label} {WHY.get(result, 'gave SQLite no answer')} ({purpose}; {result})")

    def exports(self) -> Path:
        self._folder = self._folder or PrivateFolder()
        return self._folder.exports

    def release(self) -> None:
        if self._folder is not None:
            self._folder.remove()

    def table_names(self) -> list[TableName]:
        return [TableName(str(row[0]), "main") for row in self._catalog("tables")]

    def describe(self, table: str | None) -> Table:
        rows = self._catalog("tables")
        name = find_table(table, [TableName(str(row[0]), "main") for row in rows], "sqlite", ["main"], self.label)
        _, kind, numbered = next(row for row in rows if row[0] == name.name)
        columns = tuple(Column(c.name, c.type, c.nullable, True, c.comparison) for c in self._columns(name.name))
        taken = {column.name.lower() for column in columns}
        address = [each for each in ("rowid", "_rowid_", "oid") if numbered and each not in taken]
        return Table(name, str(kind), columns, row_address=tuple(address[:1]))

    def accepted(self, table: Table, where: str) -> Condition:
        raise UsageError("an SQLite database takes no where condition; make a view with it, and audit the view")

    def catalog(self, schema: str | None = None) -> Catalog:
        """A statement, and one more for each table."""
        names = {name: self._columns(name.name) for name in self.table_names()}
        find_schema(schema, names, self.label)
        kinds = {row[0]: str(row[1]) for row in self._catalog("tables")}
        return Catalog(tuple(CatalogTable(name, kinds[name.name], columns) for name, columns in names.items()))

    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        if role is not None:
            raise UsageError("SQLite has no roles: who may read the file may read all of it")
        return Examination((Check(State.OK, "opened read only, in one read transaction"),))

    def _only_read(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"{self.label} is an SQLite database, which is only read")

    received = taken = place_aside = settle_aside = _only_read

    def _columns(self, table: str) -> tuple[CatalogColumn, ...]:
        """A collation takes texts for equal that a reader tells apart; of a view's columns it is not known."""
        return tuple(
            CatalogColumn(
                str(name),
                str(kind) or "ANY",
                not required,
                comparison=Comparison.BYTES if collated else Comparison.VALUE,
            )
            for name, kind, required, collated in self._catalog("columns", table=table)
        )

    def _catalog(self, template: str, **holes: str) -> list[Row]:
        text = self.dialect.render(fill(f"sqlite/{template}", **holes))
        try:
            return self._alone(lambda session: session.execute(text))
        except sqlite3.Error as error:
            raise self.translate(error, "catalog") from None


def opened(path: Path, label: str) -> SQLiteEngine:
    """An engine on a database file. Raises SourceError, Interrupted, BudgetSpent."""
    if sqlite3.sqlite_version_info < (3, 37, 0):  # which lists its tables
        raise SourceError(f"this Python has SQLite {sqlite3.sqlite_version}; qidsql needs 3.37 or later")
    engine = SQLiteEngine(path, label)
    try:
        engine.table_names()
    except BaseException:
        engine.close()
        raise
    return engine
