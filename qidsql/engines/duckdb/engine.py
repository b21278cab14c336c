"""DuckDB: a database file, or data files read by DuckDB. Opened read-only and cut off from everything else."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TypeAlias

import duckdb
from sqlglot import exp

from qidsql.core.catalog import Attribute, Catalog, CatalogColumn, CatalogTable, ForeignKey, find_schema
from qidsql.core.checks import Examination
from qidsql.core.tables import Column, Comparison, Condition, Table, TableName
from qidsql.core.time_limit import limit
from qidsql.engines.base import Engine
from qidsql.engines.duckdb.condition import accepted
from qidsql.engines.duckdb.ddl import indexed_columns, query_of_view
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.doctor import examine
from qidsql.engines.duckdb.files import DataFiles, allowed_paths, file_token, find_files
from qidsql.engines.duckdb.reading import read_files
from qidsql.engines.duckdb.types import value_kind
from qidsql.engines.private_folder import PrivateFolder, remove_name
from qidsql.engines.table_names import find_table, no_schema
from qidsql.engines.workers import PATIENCE, Worker, apart
from qidsql.errors import (
    AccessError,
    ConnectionLost,
    Interrupted,
    QidsqlError,
    SourceError,
    StatementError,
    UsageError,
)
from qidsql.sql.relation import table_node
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import Filling, fill

WORKERS = 2  # DuckDB spreads one statement over all cores itself; two statements at once fill the gaps of small ones
OPTIONS = {  # what may stand behind the path, and what it must look like
    "memory_limit": (r"\d+(\.\d+)? ?[KMGT]i?B", "a size such as 4GB"),
    "threads": (r"[1-9]\d{0,3}", "a number of threads such as 2"),
}
Settings: TypeAlias = dict[str, str | bool | int | float | list[str]]
IN_USE = (duckdb.ResourceInUseException,) if hasattr(duckdb, "ResourceInUseException") else ()  # from DuckDB 2.0 on


class DuckDBSession:
    """One cursor, for one thread at a time."""

    patience = PATIENCE

    def __init__(self, cursor: duckdb.DuckDBPyConnection, search_path: str) -> None:
        self._cursor = cursor
        self._cursor.execute(search_path)
        self._held = False

    def execute(self, sql: str) -> list[Row]:
        return self._cursor.execute(sql).fetchall()

    def hold_moment(self) -> None:
        """Begins a transaction: now() is the time of its beginning."""
        if not self._held:
            self._cursor.execute("BEGIN TRANSACTION")
            self._held = True

    def export(self, sql: str, path: Path) -> None:
        target = exp.Literal.string(str(path)).sql("duckdb")
        form = "csv, HEADER" if path.suffix == ".csv" else "parquet"
        # Into the place itself: a file in memory is there already, and no other file could take its name.
        self._cursor.execute(f"COPY ({sql}) TO {target} (FORMAT {form}, USE_TMP_FILE false)")

    def load(self, sql: str, path: Path) -> None:
        raise NotImplementedError("DuckDB reads files in place: see DuckDBEngine.received")

    def cancel(self) -> None:
        self._cursor.interrupt()

    def hang_up(self) -> None:
        """There is no line to cut."""

    def close(self) -> None:
        _close(self._cursor)


class DuckDBEngine(Engine):
    """A DuckDB database, or an own one over data files.

    `connection` and `folder` belong to the engine from here on. The folder takes spilled intermediate results and
    exports; without one it is made when the first export needs it. `files` are the data files, by tables, where the
    database is our own.
    """

    dialect = DUCKDB
    export_format = "parquet"
    options_in_path = True
    # A macro of a database may have the name of any function, count() and sum() too, and would be called in its place.
    # Here only DuckDB's own are found; tables are named with database and schema, and views keep a path of their own.
    search_path = "SET search_path = 'system.main'"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        label: str,
        folder: PrivateFolder | None,
        files: Sequence[DataFiles] = (),
        writable: bool = False,
        token: str | None = None,
    ) -> None:
        self._folder = folder
        super().__init__(1 if writable else WORKERS)
        self.writable = self._one_moment = writable
        self.label = label
        self._connection = connection
        self.files = files
        self.data_files = [path for each in files for path in each.paths]
        self._token = token
        self.snapshot = "opened read-only, which keeps writers out meanwhile"
        if writable:
            self.snapshot = "opened for writing, in one transaction"
        if files:
            kinds = {each.kind == "parquet" for each in files}
            self.snapshot = "files read in place" if True in kinds else "files parsed once, at the start"
            if len(kinds) > 1:
                self.snapshot = "parquet files read in place, others parsed once, at the start"
        [(schema, database)] = connection.execute(_catalog_text("default_schema")).fetchall()
        self._default = TableName("", str(schema), str(database))  # where an unqualified name is looked for
        connection.execute(self.search_path)
        self.version = "DuckDB " + str(self._catalog("version")[0][0]).removeprefix("v")

    def _open(self, deadline: float | None) -> list[Worker]:
        """A transaction that was lost is begun anew; without one, what was read cannot have changed."""
        if self._one_moment:
            self._state = object()
        missing = self.workers - len(self._sessions)
        return [Worker(partial(self._session, self._connection.cursor())) for _ in range(missing)]

    def _session(self, cursor: duckdb.DuckDBPyConnection) -> DuckDBSession:
        session = DuckDBSession(cursor, self.search_path)
        if self._one_moment:
            session.hold_moment()
        return session

    def state_token(self) -> str | None:
        return self._token

    @property
    def memory_limit(self) -> int | None:
        return _bytes(str(self._catalog("doctor_session", database=self._default.catalog)[0][1]))

    def exports(self) -> Path:
        self._folder = self._folder or PrivateFolder()
        return self._folder.exports

    def received(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        return exp.func("read_parquet", exp.Literal.string(str(path)), dialect="duckdb")

    def taken(self, name: TableName, replace: bool) -> str | None:
        schemas = {(str(catalog), str(schema).lower()) for catalog, schema in self._catalog("schemas")}
        if (name.catalog, name.schema.lower()) not in schemas:
            raise UsageError(no_schema(name, self.label))
        same = (row for row in self._listed() if str(row[2]).lower() == name.name.lower())
        return next(
            (str(row[3]) for row in same if (row[0], str(row[1]).lower()) == (name.catalog, name.schema.lower())), None
        )

    def place_aside(self) -> TableName:
        """In a database of its own in the private folder: temporary tables would show in one session only."""
        catalog = f"{self._default.catalog}_workspace"  # no other database has that name
        path = self.exports() / "workspace.duckdb"
        self._catalog("attach", path=str(path), catalog=exp.to_identifier(catalog, quoted=True))
        remove_name(path)
        return TableName("coded", "main", catalog)

    def settle_aside(self, name: TableName) -> int:
        return integer(self._catalog("workspace_size", catalog=str(name.catalog))[0][0])

    def release(self) -> None:
        _close(self._connection)
        if self._folder is not None:
            self._folder.remove()

    def translate(self, error: Exception, purpose: str) -> QidsqlError:
        if self.files and isinstance(error, duckdb.PermissionException):
            return StatementError(  # the file's name is looked up like a pattern, which only the file itself allows
                f"DuckDB could not find the data ({purpose}): a file of {self.label} was moved or removed meanwhile"
            )
        return translate(error, purpose)

    def table_names(self) -> list[TableName]:
        return [self._name(row) for row in self._listed()]

    def describe(self, table: str | None) -> Table:
        rows = self._listed()
        name = find_table(table, [self._name(row) for row in rows], "duckdb", [self._default.schema], self.label)
        row = next(row for row in rows if self._name(row) == name)
        # A view does not say which collation its columns inherit: with any collation about, compare texts by bytes.
        return self._described_row(row, bool(row[5]) or (row[3] == "view" and any(other[5] for other in rows)))

    def accepted(self, table: Table, where: str) -> Condition:
        return accepted(lambda template, **holes: self._catalog(template, **holes), self._put, table, where)

    def _listed(self) -> list[Row]:
        """The tables and views, in the order of their names."""
        return sorted((*self._catalog("tables"), *self._catalog("views")), key=lambda row: row[:3])

    def _described_row(self, row: Row, collated: bool) -> Table:
        """A table of the list with its columns. One statement."""
        name = self._name(row)
        # The catalog lists a view's columns as of its making; the query behind it may have more by now.
        columns = tuple(
            Column(
                name=str(column),
                type=_without_labels(str(kind)),
                nullable=nullable != "NO",
                comparison=_comparison(str(kind), collated),
            )
            for column, kind, nullable, *_ in self._put(_columns_text(name), f"columns of {name}")
        )
        kind = self._kind(row)
        return _table(name, kind, columns, None if row[4] is None else integer(row[4]))

    def describe_listed(self, listed: CatalogTable) -> Table:
        """No statement for a table; a view is asked for its columns, of which the catalog has those of its making."""
        if listed.kind != "table":
            return super().describe_listed(listed)
        columns = tuple(Column(c.name, c.type, c.nullable, c.readable, c.comparison) for c in listed.columns)
        return _table(listed.name, listed.kind, columns, listed.estimated_rows)

    def catalog(self, schema: str | None = None) -> Catalog:
        """Four statements to the system catalog, and one more for each view: the catalog lists a view's columns as of
        its making. Those of a view that cannot be queried stay so."""
        rows = self._listed()
        schema = find_schema(schema, map(self._name, rows), self.label)
        rows = [row for row in rows if schema is None or row[1] == schema]
        collated_views = any(row[5] for row in rows)
        by_name = {self._name(row): row for row in rows}
        columns: dict[TableName, list[CatalogColumn]] = {name: [] for name in by_name}
        for row in self._catalog("catalog_columns"):
            if (name := self._name(row)) in columns:
                _, _, _, column, kind, nullable, comment = row
                collated = bool(by_name[name][5]) or (by_name[name][3] == "view" and collated_views)
                plain = _without_labels(str(kind))
                columns[name].append(
                    CatalogColumn(
                        name=str(column),
                        type=plain,
                        nullable=bool(nullable),
                        labels=_comment(comment),
                        comparison=_comparison(str(kind), collated),
                        base=plain,
                        kind=value_kind(plain),
                    )
                )
        for name, row in by_name.items():
            if row[3] == "view":
                columns[name] = self._queried(name, columns[name], collated_views)
        unique, foreign_keys = self._keys(columns)
        return Catalog(
            tables=tuple(
                CatalogTable(
                    name=name,
                    kind=self._kind(row),
                    columns=tuple(columns[name]),
                    estimated_rows=None if row[4] is None else integer(row[4]),
                    definition=query_of_view(str(row[7])) if row[7] and not self.files else None,
                    unique=tuple(unique[name]),
                    labels=_comment(row[6]),
                )
                for name, row in by_name.items()
            ),
            foreign_keys=tuple(foreign_keys),
        )

    def _queried(self, view: TableName, made: list[CatalogColumn], collated: bool) -> list[CatalogColumn]:
        """The columns of a view as a query finds them, with the comments of those of its making."""
        try:
            rows = self._put(_columns_text(view), f"columns of {view}")
        except (StatementError, AccessError):
            return made
        labels = {column.name: column.labels for column in made}
        found = []
        for column, kind, nullable, *_ in rows:
            plain = _without_labels(str(kind))
            compared = _comparison(str(kind), collated)
            found.append(
                CatalogColumn(
                    name=str(column),
                    type=plain,
                    nullable=nullable != "NO",
                    labels=labels.get(str(column), ()),
                    comparison=compared,
                    base=plain,
                    kind=value_kind(plain),
                )
            )
        return found

    def _keys(
        self, tables: Mapping[TableName, Sequence[CatalogColumn]]
    ) -> tuple[dict[TableName, list[tuple[str, ...]]], list[ForeignKey]]:
        """The declared keys of each table, and the foreign keys between them."""
        unique: dict[TableName, list[tuple[str, ...]]] = {name: [] for name in tables}
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
            raise UsageError("DuckDB has no roles: who may read the file may read all of it")
        return examine(self._catalog("doctor_session", database=self._default.catalog)[0], self.files)

    def _kind(self, row: Row) -> str:
        """What a table is to people: a file is one that has the source to itself."""
        return str(row[3]) if not self.files else "file" if len(self.files) == 1 else "data file"

    def _name(self, row: Row) -> TableName:
        return TableName(name=str(row[2]), schema=str(row[1]), catalog=str(row[0]))

    def _catalog(self, template: str, **holes: Filling) -> list[Row]:
        """Rows of a catalog query."""
        text = (
            _catalog_text(template) if not holes else fill(f"duckdb/{template}", **holes).sql("duckdb", comments=False)
        )
        return self._put(text, "catalog")

    def _put(self, sql: str, purpose: str) -> list[Row]:
        try:
            return self._alone(lambda session: session.execute(sql))
        except (duckdb.Error, RuntimeError, MemoryError) as error:
            raise self.translate(error, purpose) from None


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Closes a connection. One whose statement has not ended yet, though it was interrupted, is closed with the last
    reference to it: waiting could take for ever.
    """
    with suppress(*IN_USE):
        connection.close()


def _bytes(text: str) -> int | None:
    """A size as DuckDB writes it, such as 18.8 GiB."""
    found = re.fullmatch(r"([\d.]+) (KiB|MiB|GiB|TiB|PiB)", text)
    return None if found is None else int(float(found[1]) * 1024 ** (1 + "KMGTP".index(found[2][0])))


def _comment(text: object) -> tuple[tuple[str, str], ...]:
    return (("comment", str(text)),) if text else ()


@cache
def _catalog_text(template: str) -> str:
    """The text of a catalog query without holes."""
    return _text(fill(f"duckdb/{template}"))


@lru_cache(maxsize=256)
def _columns_text(table: TableName) -> str:
    """The text of the query for a table's columns: a call in a shell is bound and run, and often comes again."""
    return _text(fill("duckdb/columns", table=table_node(table)))


def _text(tree: exp.Expr) -> str:
    return tree.sql("duckdb", comments=False)


def _table(name: TableName, kind: str, columns: tuple[Column, ...], rows: int | None) -> Table:
    address = ("rowid",) if kind == "table" and not _shadowed("rowid", columns) else ()
    return Table(name, kind, columns, rows, row_address=address)


def _shadowed(hidden: str, columns: Sequence[Column]) -> bool:
    """True when the table has a column of its own by the name of a hidden one."""
    return any(column.name.lower() == hidden for column in columns)


def open_database(path: Path, label: str, options: Mapping[str, str], writable: bool = False) -> DuckDBEngine:
    """An engine on a database file, opened read-only or for writing.

    Raises SourceError, UsageError, Interrupted, BudgetSpent.
    """
    token = file_token([path, path.with_name(f"{path.name}.wal")])  # before it is read: what changes later shows
    with _opening(label) as folder:
        settings = _config(folder, options)
        connection = _connected(lambda: _connection(str(path), settings, read_only=not writable))
        _seal(connection, [], folder)
        return DuckDBEngine(connection, label, folder, writable=writable, token=token)


def open_files(path: Path, label: str, options: Mapping[str, str]) -> DuckDBEngine:
    """An engine on a data file, on those of a pattern as one table, or on a folder of them as tables.

    Raises SourceError, UsageError, Interrupted, BudgetSpent.
    """
    files = find_files(path, label)
    csv = any(each.kind == "csv" for each in files)
    reading = {name: value for name, value in options.items() if name == "header" and csv}
    token = file_token([file for each in files for file in each.paths])
    with _opening(label) as folder:
        settings = _config(folder, {name: value for name, value in options.items() if name not in reading})
        in_place = all(each.kind == "parquet" for each in files)

        def read(connection: duckdb.DuckDBPyConnection) -> None:
            for each in files:
                try:
                    read_files(lambda sql: connection.execute(sql).fetchall(), each, reading)
                except (duckdb.Error, MemoryError) as error:
                    raise _open_error(error, each.label) from None

        make = partial(_connection, ":memory:", settings) if in_place else partial(_nameless_database, folder, settings)
        connection = _connected(make, read)
        _seal(connection, [file for each in files for file in allowed_paths(each)], folder)
        return DuckDBEngine(connection, label, folder, files, token=token)


def _connected(
    connect: Callable[[], duckdb.DuckDBPyConnection],
    prepare: Callable[[duckdb.DuckDBPyConnection], None] = lambda connection: None,
) -> duckdb.DuckDBPyConnection:
    """A connection that is prepared, within the time limit. Raises what these raise, KeyboardInterrupt, BudgetSpent."""
    begun: list[duckdb.DuckDBPyConnection] = []

    def work() -> duckdb.DuckDBPyConnection:
        begun.append(connect())
        prepare(begun[0])
        return begun[0]

    def interrupt() -> None:
        for connection in begun:
            connection.interrupt()

    return apart(work, interrupt, limit())


@contextmanager
def _opening(label: str) -> Iterator[PrivateFolder]:
    """A private temporary folder for an engine; removed again when the engine cannot be made, whatever the reason."""
    folder = PrivateFolder()
    try:
        yield folder
    except BaseException as error:
        folder.remove()
        if isinstance(error, (duckdb.Error, MemoryError)):
            raise _open_error(error, label) from None
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted while {label} was opened") from None
        raise


def _comparison(kind: str, collated: bool) -> Comparison:
    """How values of a type are compared, so that what a reader tells apart stays apart."""
    if kind in ("INTERVAL", "VARIANT"):  # 1 month equals 30 days there, and 1 equals 1.0
        return Comparison.TEXT
    if collated and "VARCHAR" in kind:
        return Comparison.BYTES if kind == "VARCHAR" else Comparison.TEXT
    return Comparison.VALUE


def _without_labels(kind: str) -> str:
    """A type's name without the labels of its ENUMs: they are values of cells."""
    return re.sub(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)", "ENUM", kind)


def _config(folder: PrivateFolder, options: Mapping[str, str]) -> Settings:
    """Settings from the first moment on: nothing is spilled beside the production file, nothing is downloaded."""
    for name, value in options.items():
        if name not in OPTIONS:
            known = " or ".join(OPTIONS)
            raise UsageError(f"an option behind the path is not known; expected {known} (header for csv files)")
        form, words = OPTIONS[name]
        if not re.fullmatch(form, value, flags=re.IGNORECASE):
            raise UsageError(f"the option {name} behind the path must be {words}")  # what it is may be a secret
    return {
        "temp_directory": str(folder.path / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **options,
    }


def _nameless_database(folder: PrivateFolder, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A new database for the rows of files: on the disk, without a name there and without a log."""
    path = folder.path / "parsed.duckdb"
    connection = _connection(str(path), {**settings, "checkpoint_threshold": "1B"})
    remove_name(path)
    return connection


def _connection(database: str, settings: Settings, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection that writes no progress bar to stdout."""
    connection = duckdb.connect(database, read_only=read_only, config=settings)
    connection.execute("SET enable_progress_bar = false")
    return connection


def _seal(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], folder: PrivateFolder) -> None:
    """Cuts the database off from other files and from settings, whatever a view's definition may try."""
    if paths:
        array = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
        connection.execute(f"SET allowed_paths = {array.sql('duckdb')}")
    folders = exp.Array(expressions=[exp.Literal.string(f"{folder.exports}/")])
    connection.execute(f"SET allowed_directories = {folders.sql('duckdb')}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _open_error(error: Exception, label: str) -> QidsqlError:
    """Why a database or file could not be opened, in our words: the driver's text may hold lines of the file."""
    text = str(error)
    holder = re.search(r"lock is held in (.+?) \(PID (\d+)\)", text)
    if holder:
        program = Path(holder[1]).name
        return SourceError(
            f"{label} is open for writing in {program} (process {holder[2]}); close it there, or audit a copy"
        )
    if "Could not set lock" in text:
        return SourceError(f"{label} is open for writing in another process; close it there, or audit a copy")
    if isinstance(error, duckdb.ConnectionException) and "different configuration" in text:
        return SourceError(f"{label} is open in this process with other settings; close that connection first")
    version = re.search(
        r"version number (\d+), but we can only read (?:storage )?versions? (between \d+ and \d+|\d+)", text
    )
    if version:
        return SourceError(
            f"{label} has the storage version {version[1]}, DuckDB {duckdb.__version__} reads {version[2]}; "
            f"upgrade the duckdb package, or export the file with the DuckDB that wrote it"
        )
    if "not a valid DuckDB database" in text:
        return SourceError(f"{label} is not a DuckDB database file")
    if "Corrupt database file" in text or "Could not read enough bytes" in text:
        return SourceError(f"{label} is damaged or cut short; restore it from a backup, or copy it again")
    if isinstance(error, duckdb.PermissionException) or "Permission denied" in text:
        return SourceError(f"{label} may not be read by this user; check the file's permissions")
    if _is_full(error):
        return SourceError(
            f"{label} does not fit DuckDB's memory limit or the temporary folder; raise it with ?memory_limit=8GB "
            f"behind the path, or point TMPDIR to a larger disk"
        )
    if "encoded" in text and "utf-8" in text:
        return SourceError(f"{label} is not UTF-8 text; convert it, for example with iconv -t UTF-8")
    if isinstance(error, (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.DataError)):
        line = re.search(r"\b(?:on|in) line:? (\d+)", text, flags=re.IGNORECASE)
        where = f" at line {line[1]}" if line else ""
        found = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        why = "it is not what its name promises"
        if found:
            why = f"{found[2]} fields where {found[1]} are expected"
        elif "sniffing" in text:
            why = "its lines differ in their number of fields or in their ends, or a quote is left open"
        return SourceError(f"{label} cannot be parsed{where}: {why}; correct the file, or export it again")
    if isinstance(error, duckdb.NotImplementedException):
        return SourceError(f"{label} cannot be read as a table: DuckDB has no column type for what is nested in it")
    return SourceError(f"{label} cannot be opened by DuckDB ({type(error).__name__})")


def _is_full(error: Exception) -> bool:
    """Whether memory or the disk did not suffice; a disk may have been filled by another process."""
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)):
        return True
    full = r"No space left|Disk quota exceeded|Could not write|not enough space|bad allocation|bad_alloc"
    return isinstance(error, duckdb.Error) and re.search(full, str(error)) is not None


def _by_ctrl_c(error: BaseException) -> bool:
    """Whether it is what DuckDB makes of Ctrl-C in the main thread."""
    return isinstance(error, RuntimeError) and "interrupted" in str(error)


def translate(error: Exception, purpose: str) -> QidsqlError:
    """A failed statement in our words."""
    if _by_ctrl_c(error):
        return Interrupted(f"interrupted ({purpose})")
    if _is_full(error):
        return StatementError(
            f"DuckDB ran out of memory or temporary space ({purpose}); put ?memory_limit=8GB behind the path, "
            f"free disk space in the temporary folder (TMPDIR), or audit fewer columns, with a simpler where condition"
        )
    if isinstance(error, duckdb.InterruptException):
        return ConnectionLost(f"DuckDB was interrupted ({purpose})")
    if isinstance(error, duckdb.PermissionException):
        return AccessError(
            f"DuckDB refused to read it ({purpose}): the view reads files or other databases, and an "
            f"audit is cut off from both; name the file itself as the source, or audit a table made from the view"
        )
    if isinstance(error, (duckdb.BinderException, duckdb.CatalogException)):
        return StatementError(
            f"DuckDB cannot make sense of a statement ({purpose}): the where condition compares or calls what its "
            f"columns' types do not allow (write CAST(age AS INTEGER) >= 18), or a view no longer fits its tables"
        )
    if isinstance(error, (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)):
        return StatementError(
            f"DuckDB could not compute a value ({purpose}); look at the where condition and at the view's casts"
        )
    if isinstance(error, duckdb.IOException) or "Corrupt database file" in str(error):
        return StatementError(
            f"DuckDB could not read the data ({purpose}): a file is damaged, or was changed or removed meanwhile"
        )
    if isinstance(error, duckdb.Error):
        return StatementError(f"DuckDB could not answer a statement ({purpose}; {type(error).__name__})")
    return StatementError(f"the DuckDB driver failed ({purpose}; {type(error).__name__})")
