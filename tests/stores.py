"""Places to put tables for a test, one per engine, behind the same words."""

import itertools
import os
import re
import sqlite3
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

import duckdb
import psycopg
import pytest
from psycopg import sql

from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.postgres.engine import PostgresEngine
from qidsql.engines.spark.address import address
from qidsql.engines.spark.session import SparkSession
from qidsql.engines.sqlite.engine import SQLiteEngine
from tests.exhaustive import always

SERIES = r"(WITH RECURSIVE g(id) AS (SELECT \1 UNION ALL SELECT id + 1 FROM g WHERE id < \2) SELECT id FROM g)"
SAIL = pytest.param("spark", marks=pytest.mark.spark)
SAIL_LONGER = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.exhaustive])
THREE_ENGINES = pytest.mark.engines("duckdb", "postgres", "sqlite")
EVERY_ENGINE = pytest.mark.engines("duckdb", "postgres", "sqlite", SAIL)
ONE_ENGINE = pytest.mark.engines(*always("duckdb", longer=["postgres"]))  # what follows an audit
ONE_OF_THREE = pytest.mark.engines(*always("duckdb", longer=["postgres", "sqlite"]), SAIL_LONGER)
TWO_OF_THREE = pytest.mark.engines(*always("duckdb", "postgres", longer=["sqlite"]), SAIL_LONGER)
TWO_ENGINES = pytest.mark.engines("duckdb", "postgres")  # with conditions, grouping sets, copies
BATCH = 200  # cells in a statement
_writing = Lock()  # of two threads the second waits
_schemas = itertools.count(1000 * os.getpid())  # several processes may share a server


def at_costs(patch: pytest.MonkeyPatch, **numbers: int) -> None:
    """With these costs on every engine, so that small tables take the ways of large ones."""
    for kind in (DuckDBEngine, PostgresEngine, SQLiteEngine):
        patch.setattr(kind, "costs", replace(kind.costs, **numbers))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Store(ABC):
    """A database that a test may fill; `url` is what a user would call it."""

    name: str
    url: str

    @abstractmethod
    def execute(self, statement: str, rows: Iterable[Sequence[object]] = ()) -> None:
        """Runs one statement, once per row of parameters (written ?) where there are any."""

    def run(self, script: Iterable[str]) -> None:
        """Runs the statements of a script that qidsql has printed."""
        for statement in script:
            self.execute(statement)

    def connect(self, **options: object) -> Engine:
        """An engine on the store. Close it before the next `execute` (a DuckDB file has one writer or many readers)."""
        return connect(self.url, **options)  # type: ignore[arg-type]

    def table(self, name: str, columns: Mapping[str, str], rows: Iterable[Sequence[object]]) -> None:
        """A new table with these columns (name: type) and rows."""
        self.execute(f"CREATE TABLE {quoted(name)} ({', '.join(f'{quoted(c)} {t}' for c, t in columns.items())})")
        rows = list(rows)
        if rows:
            self.execute(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", rows)

    def close(self) -> None:  # noqa: B027 - a DuckDB store holds nothing open
        """Lets go of the store."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database file to write to, made where there is none: the one in use in a DuckDB that stays. Starting a DuckDB
    takes many times longer than attaching a file, and tests do it thousands of times.
    """
    name, place = quoted(path.stem), str(path).replace("'", "''")
    with _writing, _duckdb().cursor() as connection:
        connection.execute(f"ATTACH '{place}' AS {name}")
        connection.execute(f"USE {name}")
        try:
            yield connection
        finally:
            with suppress(duckdb.TransactionException):  # there is none but after an error
                connection.rollback()
            connection.execute("USE memory")
            connection.execute(f"DETACH {name}")


def in_batches(statement: str, rows: list[Sequence[object]]) -> Iterator[tuple[str, list[Sequence[object]]]]:
    """The rows in statements of several each: DuckDB takes ten times as long for one by one."""
    start, _, row = statement.rpartition(" VALUES ")
    several = max(1, BATCH // len(rows[0])) if re.fullmatch(r"\((\?, )*\?\)", row) else 1
    whole = len(rows) // several * several
    for size, part in ((several, rows[:whole]), (len(rows) - whole, rows[whole:])):
        if part:
            batches = (part[place : place + size] for place in range(0, len(part), size))
            together = f"{start} VALUES {', '.join([row] * size)}" if several > 1 else statement
            yield together, [[cell for each in batch for cell in each] for batch in batches]


class DuckDBStore(Store):
    """A database file. It is open only while it is written to."""

    name = "duckdb"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = str(path)
        with opened(path):
            pass

    def execute(self, statement: str, rows: Iterable[Sequence[object]] = ()) -> None:
        with opened(self.path) as connection:
            rows = list(rows)
            if rows:
                connection.begin()  # else every row is a transaction of its own
                for several, cells in in_batches(statement, rows):
                    connection.executemany(several, cells)
                connection.commit()
            else:
                connection.execute(statement)


class SQLiteStore(Store):
    """A database file."""

    name = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path.absolute()}"
        self.execute("VACUUM")  # else the file stays empty until the first table

    def execute(self, statement: str, rows: Iterable[Sequence[object]] = ()) -> None:
        rows = list(rows)
        statement = re.sub(r"generate_series\((\d+), (\d+)\) AS g\(id\)", SERIES, statement)
        with closing(sqlite3.connect(self.path)) as connection, connection:
            if rows:
                connection.executemany(statement, rows)
            elif ";" in statement and statement.startswith("BEGIN"):
                connection.executescript(statement)
            else:
                connection.execute(statement)


class SparkStore(DuckDBStore):
    """Temporary views in a session of a Spark Connect server: whatever is in a DuckDB file, as parquet files.

    What a test writes goes into the DuckDB file; the views are made when the source is asked for.
    """

    name = "spark"

    def __init__(self, path: Path, server: str) -> None:
        self._id = str(uuid.uuid4())
        self._views: list[str] = []
        self._stale = True
        self._session = SparkSession(address(f"{server}/;session_id={self._id}"), 600)
        self._server = server
        super().__init__(path)

    @property
    def url(self) -> str:
        if self._stale:
            self._mirror()
            self._stale = False
        return f"{self._server}/;session_id={self._id}"

    @url.setter
    def url(self, path: str) -> None:
        """That of the DuckDB file is not used."""

    def execute(self, statement: str, rows: Iterable[Sequence[object]] = ()) -> None:
        self._stale = True
        super().execute(statement, rows)

    def _mirror(self) -> None:
        for view in self._views:
            self._session.execute(f"DROP VIEW IF EXISTS {self._quoted(view)}")
        with opened(self.path) as connection:
            found = "SELECT table_name FROM information_schema.tables WHERE table_catalog = CURRENT_DATABASE()"
            self._views = [name for (name,) in connection.execute(found).fetchall()]
            for view in self._views:
                file = self.path.with_name(f"{uuid.uuid4()}.parquet")
                connection.execute(f"COPY (SELECT * FROM {quoted(view)}) TO '{file}' (FORMAT parquet)")
                made = f"SELECT * FROM parquet.{self._quoted(str(file))}"
                self._session.execute(f"CREATE OR REPLACE TEMPORARY VIEW {self._quoted(view)} AS {made}")

    def _quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def close(self) -> None:
        """Ends the session on the server too."""
        self._session.borrowed = False
        self._session.close()


class PostgresStore(Store):
    """A schema of its own, first in the search path, dropped at the end. `admin` is a superuser's connection to it."""

    name = "postgres"

    def __init__(self, server: str) -> None:
        self.server = server
        self.schema = f"test_{next(_schemas)}"
        self.admin = psycopg.connect(server, autocommit=True)
        self.admin.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.schema)))
        self.admin.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self.schema)))
        self.url = self.url_of()

    def url_of(self, user: str | None = None) -> str:
        """The URL of this schema, for a role of the test's own where one is named."""
        separator = "&" if "?" in self.server else "?"
        url = f"{self.server}{separator}options=-csearch_path%3D{self.schema}"
        return url if user is None else url + f"&user={user}"

    def connect_as(self, user: str, **options: object) -> Engine:
        """An engine on the schema, as another role."""
        return connect(self.url_of(user), **options)  # type: ignore[arg-type]

    def execute(self, statement: str, rows: Iterable[Sequence[object]] = ()) -> None:
        rows = list(rows)
        if rows:
            with self.admin.cursor() as cursor:
                cursor.executemany(statement.replace("?", "%s").encode(), rows)
        else:
            self.admin.execute(statement.encode())

    def close(self) -> None:
        """Ends what a test that failed may have left at work: it would hold its locks for as long as it likes."""
        left = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND position(%s IN query) > 0"
        self.admin.execute(f"SELECT pg_terminate_backend(pid) {left}".encode(), [self.schema])
        self.admin.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(self.schema)))
        self.admin.close()
