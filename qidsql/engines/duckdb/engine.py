"""DuckDB: a database file, or data files read by DuckDB. Read-only, without access to other files or the network."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import count as counter
from pathlib import Path
from sys import intern
from threading import Lock
from typing import TypeVar, cast

import duckdb
from sqlglot import exp

from qidsql.core.budget import bytes_limited
from qidsql.core.results import Check, Examination, State
from qidsql.core.tables import (
    FILES,
    Attribute,
    Catalog,
    CatalogColumn,
    CatalogTable,
    Column,
    Comparison,
    Condition,
    ForeignKey,
    Table,
    TableName,
    find_schema,
)
from qidsql.engines.base import Engine
from qidsql.engines.condition import Dependences, checked
from qidsql.engines.duckdb.condition import parse_condition
from qidsql.engines.duckdb.costs import (
    ARRAY_SETTING,
    BYTES_OF_LARGE_DATABASE,
    BYTES_PER_CLASS_AND_COLUMN,
    CAN_BE_SET,
    CLASS_BYTES_PER_FILE_BYTE,
    COSTS,
    MEMORY_LIMITS_THAT_SPILL,
    SESSIONS,
    SPILLED_BYTES_PER_CLASS_AND_COLUMN,
    USUAL_BITS,
    bits_for,
)
from qidsql.engines.duckdb.dependences import MOST_READS, Reads, dependences, generated, indexed_columns, query_of_view
from qidsql.engines.duckdb.dialect import DUCKDB, value_kind
from qidsql.engines.duckdb.doctor import examine
from qidsql.engines.duckdb.driver_errors import file_fault, translate
from qidsql.engines.duckdb.files import DataFiles, FilesRead, how_read, in_place, path_list, versions
from qidsql.engines.duckdb.parquet_files import PLACE, columns_of_files, read_first_rows
from qidsql.engines.duckdb.reading import Beside, catalog_beside, read_files
from qidsql.engines.duckdb.settings import (
    FEW_BYTES_FREE,
    MEASURED,
    Measuring,
    SpillRoom,
    SpillWatch,
    bytes_on_disk,
    rests_on_files,
)
from qidsql.engines.private_folder import PrivateFolder, remove_name
from qidsql.engines.runner import TableBytes
from qidsql.engines.table_names import find_table, no_schema
from qidsql.engines.workers import Worker
from qidsql.errors import AccessError, QidsqlError, SnapshotLost, SourceError, StatementError, UsageError
from qidsql.sql import sql_file
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import name_text
from qidsql.sql.templates import MARK, Filling, Row, fill, in_pieces, integer, mark, mark_of_table, marks, put_together
from qidsql.wording.texts import count, size

Answer = TypeVar("Answer")

UNREAD = (
    "the view reads files: where a parquet file says that a column is NULL throughout, DuckDB 2 reads no value "
    "there; name the files as the source to have that checked"
)
AT_ONCE = 2_000  # rows of a catalog in memory
COLUMNS_KEPT = 10_000  # of catalogs
HELD, HOLDING = counter(1), Lock()  # numbers of tables of held rows, made one at a time: engines share a database
IN_USE = (duckdb.ResourceInUseException,) if hasattr(duckdb, "ResourceInUseException") else ()  # from DuckDB 2.0 on


class DuckDBSession:
    """One cursor, for one thread at a time."""

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection,
        search_path: str,
        bits: Callable[[], int] = lambda: USUAL_BITS,
        measuring: Measuring | None = None,
    ) -> None:
        self._cursor = cursor
        self._cursor.execute(search_path)
        self._held = False
        self._wanted, self._bits = bits, USUAL_BITS
        self._measuring = measuring

    def execute(self, sql: str) -> list[Row]:
        self._prepare()
        return self.do(sql)

    def each_row(self, sql: str, keep: Callable[[Row], None]) -> None:
        """Passes on the rows of a statement one by one: of many, only some are in memory."""
        self._prepare()
        result = self._cursor.execute(sql)
        while rows := result.fetchmany(AT_ONCE):
            for row in rows:
                keep(row)

    def _prepare(self) -> None:
        if (bits := self._wanted()) != self._bits:
            self.do(f"SET SESSION {ARRAY_SETTING} = {bits}")
            self._bits = bits
        self._measure()

    def do(self, sql: str) -> list[Row]:
        """Runs a statement under the settings as they are."""
        return self._cursor.execute(sql).fetchall()

    def _measure(self) -> None:
        if self._measuring is not None and self._measuring.wanted:
            self._measuring.begin(self.do)

    def freeze_time(self) -> None:
        """Begins a transaction: now() is its start time."""
        if not self._held:
            self._cursor.execute("BEGIN TRANSACTION")
            self._held = True

    def export(self, sql: str, path: Path) -> None:
        target = exp.Literal.string(str(path)).sql("duckdb")
        form = "csv, HEADER" if path.suffix == ".csv" else "parquet"
        self._measure()
        # Written in place: a file in memory already exists, and a temporary file could not replace it.
        self._cursor.execute(f"COPY ({sql}) TO {target} (FORMAT {form}, USE_TMP_FILE false)")

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("DuckDB reads files in place: see DuckDBEngine.received")

    def cancel(self) -> None:
        self._cursor.interrupt()

    def hang_up(self) -> None:
        """Nothing to disconnect."""

    def close(self) -> None:
        _close(self._cursor)


UNREADABLE_VIEW = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.PermissionException,
    duckdb.IOException,
    duckdb.InvalidInputException,
)


class DuckDBEngine(Engine):
    """A DuckDB database, or data files in a private one.

    The engine owns `connection` and `folder`. `files` are the data files by table, if any. `borrowed`: others use the
    database, and write to it.
    """

    dialect = DUCKDB
    costs = COSTS
    export_format = "parquet"
    of_frame = False  # its table is a copy of a data frame
    options_in_path = True
    writes_files = True
    # A macro of a database can shadow any function, even count() and sum(). With this path only DuckDB's own are found;
    # statements name tables with database and schema, and views keep their own path.
    search_path = "SET search_path = 'system.main'"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        label: str,
        folder: PrivateFolder | None,
        files: Sequence[DataFiles] = (),
        writable: bool = False,
        read: FilesRead | None = None,
        beside: Beside | None = None,
        borrowed: bool = False,
    ) -> None:
        super().__init__(1 if writable or borrowed else SESSIONS, folder)
        self._measuring = Measuring() if folder is None else None  # of a database that is not ours
        self.writable, self._one_transaction = writable, writable or borrowed
        self.label = label
        self._connection = connection
        self.files = files
        self.labelled = not files
        self._beside = beside
        self.notes: Mapping[str, str] = {}  # on the contents of files, by table
        self.unread: Mapping[str, str] = {}  # why other files of the folder cannot be read, by table
        self.later: dict[str, DataFiles] = {}  # those that are read when their table is described, by table
        self._in_place = in_place([*files, *(beside.files if beside is not None else ())])
        self._versions = versions(self._in_place)
        self.data_files = [path for each in files for path in each.paths]
        self._read, self._token = read, read and read.token
        self._hash: str | None = ""  # of a database file; empty: not computed
        self._tables: list[Row] | None = None
        self._texts: tuple[list[Row], dict[str, list[str]], Reads] | None = None  # of these rows
        self._grouping_bits = USUAL_BITS
        self._holds = False  # whether the database for tables of held rows is there
        self.snapshot = "opened read-only, which keeps writers out meanwhile"
        if borrowed:
            self.snapshot = "in one transaction, beside those of the connection"
        elif writable:
            self.snapshot = "opened for writing, in one transaction"
        if files:
            self.snapshot = how_read(files)
        if beside is not None:
            self.label_beside = beside.label
            self.data_files += beside.paths
            self.snapshot += f"; {beside.label}: {beside.snapshot}"
        self._spill = None if folder is None else SpillWatch(folder.path / "spill")
        [(schema, database, threads, memory, spilled)] = self._defaults(connection)
        self._threads, self._memory = integer(threads), _bytes(str(memory))
        self._room = None if folder is None else SpillRoom(folder.path, _bytes(str(spilled)))
        self._most_parts = 1
        self._default = TableName("", str(schema), str(database))  # the catalog and schema of unqualified names
        # The database in memory for held rows, also of other engines on this file; none of a user has its name.
        self._holding = "" if folder is None else f"{database}_held"
        connection.execute(self.search_path)
        [(version, zone)] = self._catalog("version")
        self.version, self.time_zone = "DuckDB " + str(version).removeprefix("v"), str(zone)

    def _defaults(self, connection: duckdb.DuckDBPyConnection) -> list[Row]:
        return connection.execute(_catalog_text("default_schema")).fetchall()

    def _open(self, deadline: float | None) -> list[Worker]:
        """A lost transaction is replaced by a new one, with another state. Without one the data cannot have changed."""
        if self._one_transaction:
            self._state = object()
        missing = self.workers - len(self._sessions)
        return [Worker(partial(self._session, self._connection.cursor())) for _ in range(missing)]

    def _ready_sessions(self, deadline: float | None) -> list[Worker]:
        """An answer sees the files that are read in place as they are when it begins, or ends."""
        if self._answer.state is None and (found := versions(self._in_place)) != self._versions:
            self._versions, self._state = found, object()
        return super()._ready_sessions(deadline)

    def _check_snapshot(self) -> None:
        if (changed := self._changed()) is not None:
            raise changed

    @property
    def _checks_snapshot(self) -> bool:
        return bool(self._in_place)

    def _changed(self) -> SnapshotLost | None:
        if versions(self._in_place) == self._versions:
            return None
        return SnapshotLost(f"a file of {self.label} was changed, moved or removed meanwhile; run this again")

    def _renew_sessions(self) -> bool:
        """Nothing to do: what was opened read-only stays as it was."""
        return True

    def _session(self, cursor: duckdb.DuckDBPyConnection) -> DuckDBSession:
        session = DuckDBSession(cursor, self.search_path, lambda: self._grouping_bits, self._measuring)
        if self._one_transaction:
            session.freeze_time()
        return session

    def state_token(self, table: Table) -> str | None:
        """Of tables and files. The time zone decides about computed columns and conditions."""
        if self._token is None or table.kind not in ("table", *FILES):
            return None
        return f"{self._token} {self.time_zone}"

    def file_hash(self, table: Table, key: bytes) -> str | None:
        """Of a database the whole file, once, while it keeps writers out; not of views and generated columns, which may
        tell the day."""
        if self._read is None or self.writable or bytes_limited():
            return None
        if table.kind in FILES:
            own = [path for each in self.files for path in each.paths if each.table == table.name.name]
            return self._read.hashed(own, key) if own else None
        listed = (row for row in self._listed() if self._name(row) == table.name)
        if table.kind != "table" or self.files or any(row[7] is not None for row in listed):
            return None
        if self._hash == "":
            large = bytes_on_disk(self._read.paths) > BYTES_OF_LARGE_DATABASE
            self._hash = None if large else self._read.hashed(self._read.paths, key)
        return self._hash

    def sees_one_state(self, table: Table) -> bool:
        return True

    @property
    def memory_limit(self) -> int | None:
        return self._memory

    @property
    def little_room(self) -> bool:
        if self._room is None or self._memory is None:
            return False
        return (
            self._room.free < FEW_BYTES_FREE
            or bytes_on_disk(self.data_files) * CLASS_BYTES_PER_FILE_BYTE > self._memory
        )

    def parts(self, classes: int, columns: int, failures: int = 0) -> int:
        """Only where neither the memory nor the temporary folder has room for them: each part is a scan. Groups far
        larger than the memory cannot all be spilled (100 million rows at 1 GB): then a few parts suffice."""
        cells = classes * columns
        if self._memory is None or self._room is None:
            return 1
        parts = -(-cells * BYTES_PER_CLASS_AND_COLUMN * SESSIONS // self._memory)  # as other statements can run beside
        if parts <= 1 or cells * SPILLED_BYTES_PER_CLASS_AND_COLUMN <= self._room.free:
            parts = -(-cells * BYTES_PER_CLASS_AND_COLUMN // (self._memory * MEMORY_LIMITS_THAT_SPILL))
            parts = max(parts, 1 << failures)
        else:
            parts <<= failures
        self._most_parts = max(self._most_parts, parts)
        return parts

    def expect(self, rows: int) -> None:
        if CAN_BE_SET:
            self._grouping_bits = bits_for(rows, self._threads, self._memory)

    def import_file(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        return exp.func("read_parquet", exp.Literal.string(str(path)), dialect="duckdb")

    def existing_kind(self, name: TableName, replace: bool) -> str | None:
        schemas = {(str(catalog), str(schema).lower()) for catalog, schema in self._catalog("schemas")}
        if (name.catalog, name.schema.lower()) not in schemas:
            raise UsageError(no_schema(name, self.label))
        same = (row for row in self._listed() if str(row[2]).lower() == name.name.lower())
        return next(
            (str(row[3]) for row in same if (row[0], str(row[1]).lower()) == (name.catalog, name.schema.lower())), None
        )

    def working_copy_name(self) -> TableName:
        """In a separate database in the private folder: temporary tables are visible to one session only."""
        catalog = f"{self._default.catalog}_workspace"  # no other database has that name
        path = self.exports() / "workspace.duckdb"
        self._attach(str(path), catalog)
        remove_name(path)
        return TableName("coded", "main", catalog)

    def finish_working_copy(self, name: TableName) -> int:
        return integer(self._catalog("workspace_size", catalog=str(name.catalog))[0][0])

    @property
    def _held_as(self) -> str:
        return "TEMPORARY TABLE" if self.writable else "TABLE"

    def _name_to_hold(self) -> TableName | None:
        if self.writable:  # one transaction, which writes to one database at most, temporary tables aside
            return TableName(f"held_{next(HELD)}", "main", "temp")
        if self._one_transaction:
            return None
        with HOLDING:
            if not self._holds:
                self._attach(":memory:", self._holding)
                self._holds = True
            return TableName(f"held_{next(HELD)}", "main", self._holding)

    def _attach(self, path: str, catalog: str) -> None:
        parts = {"path": self.dialect.literal(path), "catalog": self.dialect.identifier(catalog)}
        self._execute(put_together(_attached(self.dialect), parts), "catalog")

    def _let_go(self, names: Sequence[TableName]) -> None:
        for name in names:
            with suppress(duckdb.Error), self._connection.cursor() as cursor:  # it may not have been made
                cursor.execute(f"DROP TABLE {name_text(self.dialect, name)}")

    def release(self) -> None:
        if self._measuring is not None:
            with suppress(duckdb.Error, RuntimeError):  # it may be closed
                self._measuring.end(lambda sql: self._connection.execute(sql).fetchall())
        if self._spill is not None:
            self._spill.end()
        _close(self._connection)

    @property
    def remarks(self) -> tuple[str, ...]:
        said = []
        if self._spill is not None and self._spill.peak:
            megabytes = max(1, self._spill.peak // 1_000_000)
            said.append(
                f"up to {count(megabytes)} MB at a time were spilled to a private temporary folder, which is removed"
            )
        if self._most_parts > 1 and self._room is not None:
            said.append(
                f"memory limit {size(self._memory or 0)}, {size(self._room.free)} free for temporary files: classes "
                f"were counted in up to {self._most_parts} parts, a scan for each"
            )
        return tuple(said)

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        if (changed := self._changed()) is not None:
            return changed
        if self._spill is None and isinstance(error, duckdb.PermissionException):
            return AccessError(
                f"the connection may not use files ({purpose}), as enable_external_access is off: neither for a view "
                f"that reads some, nor for codes of rows and copies, which go through a private temporary file"
            )
        if self.files and isinstance(error, duckdb.PermissionException):
            return StatementError(  # DuckDB looks up the name like a pattern: an error unless the file exists
                f"DuckDB could not find the data ({purpose}): a file of {self.label} was moved or removed meanwhile"
            )
        if self._in_place and (fault := file_fault(error, self.label, self._in_place)):
            return StatementError(fault)
        return translate(error, purpose)

    def table_bytes(self, table: TableName) -> TableBytes | None:
        """By the footers of parquet files; of other tables an estimate by their blocks; nothing of held rows."""
        if table.catalog == self._holding:
            return TableBytes(exact=True)
        rows = [row for row in self._listed() if self._name(row) == table]
        files = [each for each in self._files_of(rows[0]) if each.table == table.name] if rows else []
        if files and files[0].kind == "parquet":
            text = put_together(_parquet_bytes(DUCKDB), {"paths": path_list(files[0].paths)})
            found = self._execute(text, "catalog")
        elif '"' in table.name and self.version.startswith("DuckDB 1."):  # whose function does not find it
            return None
        elif table == self._working_copy or (rows and rows[0][3] == "table"):
            parts = {"table": DUCKDB.literal(name_text(DUCKDB, table)), "catalog": DUCKDB.literal(str(table.catalog))}
            found = self._execute(put_together(_stored_bytes(DUCKDB), parts), "catalog")
        else:
            return None
        columns = {str(column): integer(size) for column, size in found}
        return TableBytes(columns=columns, exact=bool(files) and files[0].kind == "parquet")

    def table_names(self) -> list[TableName]:
        return [self._name(row) for row in self._listed() if not self._is_beside(row)] + self._unread_names()

    def _unread_names(self) -> list[TableName]:
        return [replace(self._default, name=name) for name in sorted(self.unread)]

    def describe(self, table: str | None) -> Table:
        rows = [row for row in self._listed() if not self._is_beside(row)]
        found = self._described_of(table, rows, self._default.schema, self.label)
        self._measure(found.name)
        if self._measuring is not None and self._measuring.wanted:
            return replace(found, notes=(*found.notes, UNREAD), by_name=True)
        return found

    def describe_beside(self, table: str | None) -> Table:
        if self._beside is None:
            return super().describe_beside(table)
        rows = [row for row in self._listed() if self._is_beside(row)]
        return self._described_of(table, rows, "main", self._beside.label)

    def _is_beside(self, row: Row) -> bool:
        """Whether a table of the catalog is in the second source."""
        return self._beside is not None and row[0] == catalog_beside(self._default.catalog)

    def _described_of(self, table: str | None, rows: Sequence[Row], schema: str, label: str) -> Table:
        """The table that the text names among these rows of the catalog. Raises as `describe`."""
        names = [self._name(row) for row in rows]
        if label == self.label:
            names += self._unread_names()
        name = find_table(table, names, "duckdb", [schema], label)
        if name not in map(self._name, rows):
            raise SourceError(self.unread[name.name])
        row = next(row for row in rows if self._name(row) == name)
        # The catalog has no collations of a view's columns: if any table has one, texts are compared by bytes.
        return self._described_row(row, bool(row[5]) or (row[3] == "view" and any(other[5] for other in rows)))

    def parse_condition(self, table: Table, where: str) -> Condition:
        return parse_condition(lambda template, **holes: self._catalog(template, **holes), self._execute, table, where)

    def _listed(self) -> list[Row]:
        """The rows of the tables and views, ordered by name. Queried once if this connection keeps writers out."""
        if self._tables is None or self._token is None or self.writable:
            found: list[Row] = []  # of 20,000 tables the names of databases and schemas are a text each
            self._each_row("tables", lambda row: found.append((*map(intern, map(str, row[:2])), *row[2:])))
            rows = [row for row in (*found, *self._catalog("views")) if row[0] != self._holding]
            place = self._default.catalog, self._default.schema
            rows += [(*place, name, "view", None, False, None, None) for name in self.later]
            self._tables = sorted(rows, key=lambda row: row[:3])
        return self._tables

    def _described_row(self, row: Row, collated: bool) -> Table:
        """The table of a catalog row, with its columns. One statement. Raises UsageError."""
        name = self._name(row)
        if row[3] == "view":
            self._check_depth(row, self._listed())
        if not self._is_beside(row) and (files := self.later.pop(name.name, None)) is not None:
            read_files(self._read_of_files, files, {}, self.exports(), self._default.catalog)
        # The catalog lists a view's columns as of its creation; its query may have more by now.
        columns = tuple(
            Column(
                name=str(column),
                type=_without_labels(str(kind)),
                nullable=nullable != "NO",
                comparison=_comparison(str(kind), collated),
            )
            for column, kind, nullable, *_ in self._execute(_columns_text(name), f"columns of {name}")
        )
        kind = self._kind(row)
        table = _table(name, kind, columns, None if row[4] is None else integer(row[4]), row[3] == "view")
        if not self._is_beside(row) and (note := self.notes.get(name.name)):
            table = replace(table, notes=(note,))
        return table if row[7] is None or kind in FILES else checked(table, self._dependences(row), self.time_zone)

    def _dependences(self, row: Row) -> Dependences:
        """Those of a view, or of a table with generated columns, of a row of the catalog."""
        query = f"SELECT * FROM {name_text(DUCKDB, self._name(row))}"
        return dependences(self._catalog, query, _computed(row), self._behind(self._listed())[0])

    def _check_depth(self, row: Row, listed: list[Row]) -> None:
        """Raises UsageError for a view that DuckDB could not plan in any time."""
        if self._files_of(row):
            return
        if (reads := self._behind(listed)[1].of(str(row[2]).lower())) > MOST_READS:
            raise UsageError(
                f"{self._name(row)} reads tables {count(reads)} times through the views in it, too often to be planned "
                f"(at most {count(MOST_READS)}); make a table of it, or audit those that it reads"
            )

    def _behind(self, listed: list[Row]) -> tuple[dict[str, list[str]], Reads]:
        """The queries of views and the generated columns of tables, by name in lower case."""
        if self._texts is None or self._texts[0] is not listed:
            behind: dict[str, list[str]] = {}
            for each in listed:
                if each[7] is not None:
                    behind.setdefault(str(each[2]).lower(), []).append(_computed(each))
            self._texts = listed, behind, Reads(behind)
        return self._texts[1:]

    def _measure(self, name: TableName) -> None:
        """Has statements believe nothing that files say about themselves, if the relation of a database of others
        rests on files. Raises StatementError if its settings are locked."""
        if (measuring := self._measuring) is None or measuring.wanted:
            return
        text = name_text(DUCKDB, name)
        measured = self._asked(lambda session: measuring.begin(session.do), "settings")
        plan = self._asked(lambda session: session.do(f"EXPLAIN (FORMAT json) SELECT * FROM {text}"), f"plan of {name}")
        measuring.wanted = rests_on_files(str(plan[0][1]), measured)
        if not measuring.wanted:
            self._asked(lambda session: measuring.end(session.do), "settings")
        elif not measured:
            [(setting, value)] = MEASURED.items()
            raise StatementError(
                f"{name} reads files, and what these say about their values is not checked, as the settings of this "
                f"database are locked: SET {setting} = '{value}' before, or audit the files by their path"
            )

    def describe_listed(self, listed: CatalogTable) -> Table:
        """No statement for a table without generated columns. One for a view: the catalog has its columns as of its
        creation."""
        if listed.kind != "table" or listed.computed:
            return super().describe_listed(listed)
        columns = tuple(Column(c.name, c.type, c.nullable, c.readable, c.comparison) for c in listed.columns)
        return _table(listed.name, listed.kind, columns, listed.estimated_rows)

    def catalog(self, schema: str | None = None) -> Catalog:
        """Four statements to the system catalog, and one more for each view, whose columns in the catalog are as of its
        creation. A view that cannot be queried keeps these."""
        listed, unread = self._listed(), self._unread_names()
        by_name = {self._name(row): row for row in listed}
        schema = find_schema(schema, (*by_name, *unread), self.label)
        if schema is not None:
            by_name = {name: row for name, row in by_name.items() if name.schema == schema}
        collated_views = any(row[5] for row in by_name.values())

        columns: dict[TableName, list[CatalogColumn]] = {name: [] for name in by_name}

        def keep(row: Row) -> None:
            if (name := self._name(row)) in columns:
                _, _, _, place, name_of_it, kind, nullable, comment = row
                collated = bool(by_name[name][5]) or (by_name[name][3] == "view" and collated_views)
                column = _catalog_column(name_of_it, kind, nullable, collated, _comment(comment))
                of_table = columns[name]
                of_table.extend([column] * (integer(place) - len(of_table)))  # until the others come
                of_table[integer(place) - 1] = column

        self._each_row("catalog_columns", keep)
        obstacles: dict[TableName, str] = {}
        with self.answer():  # whether one of many files changed is asked once, not before each statement
            later = columns_of_files(self._read_of_files, list(self.later.values()))
        for name in by_name:
            found = later.get(name.name, {})
            if isinstance(found, str):
                obstacles[name] = found
            elif found:
                columns[name] = [_catalog_column(column, kind, True, False) for column, kind in found.items()]
        for name, row in by_name.items():
            if row[3] != "view" or name.name in self.later:
                continue
            try:
                self._check_depth(row, listed)
            except UsageError as error:
                obstacles[name] = str(error)
            else:
                columns[name] = self._queried(name, columns[name], collated_views)
        unique, foreign_keys = self._keys(columns)
        return Catalog(
            tables=tuple(
                CatalogTable(
                    name=name,
                    kind=self._kind(row),
                    columns=tuple(columns.pop(name)),
                    estimated_rows=None if row[4] is None else integer(row[4]),
                    definition=query_of_view(str(row[7])) if row[3] == "view" and not self.files else None,
                    unique=tuple(unique.get(name, ())),
                    labels=_comment(row[6]),
                    obstacle=obstacles.get(name),
                    computed=row[3] == "table" and row[7] is not None,
                )
                for name, row in by_name.items()
            )
            + tuple(CatalogTable(name, "data file", (), obstacle=self.unread[name.name]) for name in unread),
            foreign_keys=tuple(foreign_keys),
        )

    def _queried(self, view: TableName, made: list[CatalogColumn], collated: bool) -> list[CatalogColumn]:
        """The columns of a view's query, with the comments in the catalog (`made`)."""

        def look(session: DuckDBSession) -> list[Row] | None:
            if not self._one_transaction:
                return session.execute(_columns_text(view))
            with closing(self._connection.cursor()) as aside, suppress(*UNREADABLE_VIEW):  # would end the transaction
                return aside.execute(_columns_text(view)).fetchall()
            return None

        try:
            rows = self._asked(look, f"columns of {view}")
        except (StatementError, AccessError):
            rows = None
        if rows is None:
            return made
        labels = {column.name: column.labels for column in made}
        return [
            _catalog_column(column, kind, nullable != "NO", collated, labels.get(str(column), ()))
            for column, kind, nullable, *_ in rows
        ]

    def _keys(
        self, tables: Mapping[TableName, Sequence[CatalogColumn]]
    ) -> tuple[dict[TableName, list[tuple[str, ...]]], list[ForeignKey]]:
        """The declared keys of each table, and the foreign keys between them."""
        unique: dict[TableName, list[tuple[str, ...]]] = defaultdict(list)
        foreign_keys = []
        for row in self._catalog("catalog_keys"):
            name = self._name(row)
            if name not in tables:
                continue
            _, _, _, kind, own, referenced_table, referenced, statement = row
            names = indexed_columns(str(statement)) if kind == "INDEX" else tuple(own)  # type: ignore[arg-type]
            if kind == "FOREIGN KEY":
                other = TableName(str(referenced_table), name.schema, name.catalog)
                if other in tables:
                    foreign_keys.append(
                        ForeignKey(
                            tuple(Attribute(name, each) for each in names),
                            tuple(Attribute(other, str(each)) for each in referenced),  # type: ignore[attr-defined]
                        )
                    )
                continue
            mandatory = {column.name for column in tables[name] if not column.nullable}
            if names and mandatory.issuperset(names) and names not in unique[name]:
                unique[name].append(names)
        return unique, foreign_keys

    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        if role is not None:
            raise UsageError("DuckDB has no roles: anyone who can read the file can read all of it")
        found = examine(self._catalog("doctor_session", database=self._default.catalog)[0], self.files)
        parquet = [each for each in self.files if each.kind == "parquet" and each.table not in self.later]
        names = {replace(self._default, name=each.table): each for each in parquet}
        return replace(found, tables={name: self._unread(name, files) for name, files in names.items()})

    def _unread(self, name: TableName, files: DataFiles) -> tuple[Check, ...]:
        """The problem of parquet files whose values cannot be read, as far as the first rows of row groups tell."""
        try:
            if all(str(row[0]).lower() != PLACE for row in self._execute(_columns_text(name), f"columns of {name}")):
                read_first_rows(lambda sql: self._execute(sql, "first rows"), files.paths)
        except StatementError as error:
            text, _, remedy = str(error).partition("; ")
            return (Check(State.PROBLEM, text, remedy),)
        return ()

    def _kind(self, row: Row) -> str:
        """The kind of a table for messages: "file" if it is the only one of the source."""
        if self.of_frame:
            return "data frame"
        files = self._files_of(row)
        return str(row[3]) if not files else "file" if len(files) + len(self.unread) == 1 else "data file"

    def _files_of(self, row: Row) -> Sequence[DataFiles]:
        """The data files of the source that a table of the catalog is in, if it consists of such."""
        return self._beside.files if self._beside is not None and self._is_beside(row) else self.files

    def _name(self, row: Row) -> TableName:
        return TableName(name=str(row[2]), schema=str(row[1]), catalog=str(row[0]))

    def _catalog(self, template: str, **holes: Filling) -> list[Row]:
        """Rows of a catalog query."""
        text = (
            _catalog_text(template) if not holes else fill(f"duckdb/{template}", **holes).sql("duckdb", comments=False)
        )
        return self._execute(text, "catalog")

    def _read_of_files(self, sql: str) -> list[Row]:
        return self._execute(sql, "columns of the files")

    def _each_row(self, template: str, keep: Callable[[Row], None]) -> None:
        """Passes on the rows of a catalog query, as `_catalog`, of which only some are in memory."""
        self._asked(lambda session: session.each_row(_catalog_text(template), keep), "catalog")

    def _execute(self, sql: str, purpose: str) -> list[Row]:
        return self._asked(lambda session: session.execute(sql), purpose)

    def _asked(self, work: Callable[[DuckDBSession], Answer], purpose: str) -> Answer:
        """The result of a work on one session, as no part of the statements to tables."""
        try:
            return self._on_one_session(lambda session: work(cast(DuckDBSession, session)))
        except (duckdb.Error, RuntimeError, MemoryError) as error:
            raise self.translate(error, purpose) from None


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Closes a connection. If an interrupted statement is still running, the connection closes with its last reference:
    waiting for it could take forever.
    """
    with suppress(*IN_USE):
        connection.close()


def _bytes(text: str) -> int | None:
    """Parses a size in DuckDB's notation, such as 18.8 GiB."""
    found = re.fullmatch(r"([\d.]+) (?:bytes|([KMGTP])iB)", text)
    return None if found is None else int(float(found[1]) * 1024 ** " KMGTP".index(found[2] or " "))


@lru_cache(COLUMNS_KEPT)  # tables of one shape have many columns in common
def _catalog_column(
    name: object, kind: object, nullable: object, collated: bool, labels: tuple[tuple[str, str], ...] = ()
) -> CatalogColumn:
    plain = _without_labels(str(kind))
    return CatalogColumn(
        name=str(name),
        type=plain,
        nullable=bool(nullable),
        labels=labels,
        comparison=_comparison(str(kind), collated),
        base=plain,
        kind=value_kind(plain),
    )


def _comment(text: object) -> tuple[tuple[str, str], ...]:
    return (("comment", str(text)),) if text else ()


@cache
def _catalog_text(template: str) -> str:
    """The text of a catalog query without holes: it is in DuckDB's dialect, and needs no parser."""
    return sql_file(f"duckdb/{template}")


@lru_cache(maxsize=256)
def _columns_text(table: TableName) -> str:
    """The text of the query for a table's columns. Cached: a shell binds and runs each call, and often repeats it."""
    return put_together(_columns(DUCKDB), {"table": name_text(DUCKDB, table)})


@in_pieces
def _columns(_: Dialect) -> exp.Expr:
    return fill("duckdb/columns", table=mark_of_table("table"))


@in_pieces
def _attached(_: Dialect) -> exp.Expr:
    return fill("duckdb/attach", path=mark("path"), catalog=exp.to_identifier(f"{MARK}catalog"))


@in_pieces
def _parquet_bytes(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_bytes", **marks("paths"))


@in_pieces
def _stored_bytes(_: Dialect) -> exp.Expr:
    return fill("duckdb/stored_bytes", **marks("table", "catalog"))


def _computed(row: Row) -> str:
    """The query of a view of the catalog, the generated columns of a table."""
    return str(row[7]) if row[3] == "view" else generated(str(row[7]))


def _table(name: TableName, kind: str, columns: tuple[Column, ...], rows: int | None, computed: bool = False) -> Table:
    address = ("rowid",) if kind == "table" and not _shadowed("rowid", columns) else ()
    return Table(name, kind, columns, rows, row_address=address, computed=computed)


def _shadowed(hidden: str, columns: Sequence[Column]) -> bool:
    """Whether the table has a column of its own with the name of a hidden one."""
    return any(column.name.lower() == hidden for column in columns)


def _comparison(kind: str, collated: bool) -> Comparison:
    """How values of a type are compared, so that values a reader can distinguish stay different."""
    if re.search(r"\b(INTERVAL|VARIANT)\b", kind):  # 1 month equals 30 days there, and 1 equals 1.0, also inside others
        return Comparison.PUBLISHED
    if collated and "VARCHAR" in kind:
        return Comparison.BYTES if kind == "VARCHAR" else Comparison.TEXT
    return Comparison.VALUE


def _without_labels(kind: str) -> str:
    """A type's name without the labels of its ENUMs, since these are cell values."""
    return re.sub(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)", "ENUM", kind)
