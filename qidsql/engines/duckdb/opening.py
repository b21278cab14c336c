"""Opens DuckDB on a database, on data files or on rows in memory, without access to anything else."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import TypeAlias
from urllib.parse import quote
from weakref import WeakValueDictionary

import duckdb

from qidsql.core.budget import limit
from qidsql.engines.duckdb.costs import ARRAY_SETTING, CAN_BE_SET
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.driver_errors import open_error, unparsed
from qidsql.engines.duckdb.embedded import BorrowedEngine
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.duckdb.files import DataFiles, FilesRead, allowed_paths, find_files, in_place
from qidsql.engines.duckdb.frames import merged_columns, with_texts
from qidsql.engines.duckdb.reading import Beside, attach_beside, read_files
from qidsql.engines.duckdb.settings import MEASURED, bytes_on_disk, without_progress_bar
from qidsql.engines.duckdb.text_files import OPTION, Marks, odd_places
from qidsql.engines.kind import Frame, no_pipes
from qidsql.engines.private_folder import MEMORY, FolderOnDisk, PrivateFolder, remove_name, writers_kept_out
from qidsql.engines.workers import next_wait, run_in_thread
from qidsql.errors import BudgetSpent, Interrupted, LockHeld, SourceError, UsageError
from qidsql.wording.texts import few

OPTIONS = {  # after the ? of a path: the pattern of a value, and its description
    "memory_limit": (r"\d+(\.\d+)? ?[KMGT]i?B", "a size such as 4GB"),
    "max_temp_directory_size": (r"\d+(\.\d+)? ?([KMGT]i?)?B", "a size such as 50GB"),
    "threads": (r"[1-9]\d{0,3}", "a number of threads such as 2"),
}
MANY_FILES = 500  # parquet files of a folder: of more, each is read when its table is described (4 ms each)
FRAME = "data"  # the table's name
# bytes of files whose rows stay in memory: compressing them for the disk takes as long as reading
BYTES_IN_MEMORY = 32_000_000
Settings: TypeAlias = dict[str, str | bool | int | float | list[str]]


def open_database(
    path: Path, label: str, options: Mapping[str, str], writable: bool = False, beside: Beside | None = None
) -> DuckDBEngine:
    """An engine on a database file, opened read-only or for writing, and on a second source if there is one.

    Raises SourceError, UsageError, Interrupted, BudgetSpent.
    """
    paths = [path, path.with_name(f"{path.name}.wal"), *(beside.paths if beside else ())]
    no_pipes(paths, label)
    read = FilesRead(paths)  # before reading, so that later changes show
    use = (read.token, *sorted(options.items()), *sorted(beside.options.items() if beside else ()))
    with _in_turn(path), _opening(label, None if writable or read.token is None else use) as folder:
        settings = _config(folder, options) | _measured(beside.files if beside else ())

        def prepare(connection: duckdb.DuckDBPyConnection) -> None:
            if not _is_sealed(connection):
                _attach(beside, folder, connection)
                _seal(connection, beside.allowed_paths if beside else [], folder)
                if not writable and folder.on_disk is not None:
                    folder.on_disk.held.enter_context(writers_kept_out(path))

        connection = _connected(partial(_connection, str(path), settings, read_only=not writable), prepare)
        return DuckDBEngine(connection, label, folder, writable=writable, read=read, beside=beside)


def open_files(path: Path, label: str, options: Mapping[str, str], beside: Beside | None = None) -> DuckDBEngine:
    """An engine on a data file, on a pattern of files as one table, or on a folder with a table per file: those that
    cannot be read are tables with an obstacle, unless all are.

    Raises SourceError, UsageError, Interrupted, BudgetSpent.
    """
    found = find_files(path, label)
    files, unread = [each for each in found if not each.obstacle], {e.table: e.obstacle for e in found if e.obstacle}
    of_reading = {"header", OPTION} if any(each.kind == "csv" for each in files) else {OPTION}
    reading = {name: value for name, value in options.items() if name in of_reading}
    missing = Marks.declared(reading.get(OPTION))
    of_source = [file for each in found for file in each.paths]
    state = FilesRead(of_source + (beside.paths if beside else []), reading)
    with _opening(label) as folder:
        settings = _config(folder, {name: value for name, value in options.items() if name not in reading})
        settings |= _measured([*files, *(beside.files if beside else ())])
        parsed = [path for each in files if each.kind != "parquet" for path in each.paths]
        notes: dict[str, str] = {}
        later = {each.table: each for each in files if each.kind == "parquet"}
        if len(later) <= MANY_FILES or missing:
            later = {}

        def read(connection: duckdb.DuckDBPyConnection) -> None:
            columns: set[str] = set()
            for each in [each for each in files if each.table not in later]:
                try:
                    notes[each.table], names = _read(connection, each, reading, folder.path)
                    columns.update(names)
                except SourceError as error:
                    if not path.is_dir():
                        raise
                    unread[each.table] = str(error)
                    files.remove(each)
            if not files:
                raise SourceError(next(iter(unread.values())))
            if not unread:
                missing.check(columns, label)
            _attach(beside, folder, connection)

        in_memory = not parsed or ("memory_limit" not in settings and _small(parsed))
        on_disk = partial(_nameless_database, folder, settings)
        connection = _connected(partial(_connection, ":memory:", settings) if in_memory else on_disk, read)
        readable = [file for each in files for file in allowed_paths(each)]
        _seal(connection, readable + (beside.allowed_paths if beside else []), folder)
        engine = DuckDBEngine(connection, label, folder, files, read=state, beside=beside)
        engine.notes, engine.unread, engine.later = notes, unread, later
        if reading:
            engine.read_with = "?" + "&".join(f"{name}={quote(text, safe=',:?*#/')}" for name, text in reading.items())
        if missing:
            engine.snapshot += f"; read as NULL: {missing}"
        return engine


def _read(
    connection: duckdb.DuckDBPyConnection, files: DataFiles, reading: Mapping[str, str], scratch: Path
) -> tuple[str, Sequence[str]]:
    """As `read_files`; nothing is left of a table that cannot be read. Raises SourceError, UsageError, Interrupted."""
    try:
        return read_files(lambda sql: connection.execute(sql).fetchall(), files, reading, scratch)
    except duckdb.InterruptException:
        raise
    except (duckdb.Error, MemoryError, SourceError) as error:
        parquet = files.paths if files.kind == "parquet" else ()
        connection.execute(f"DROP {'VIEW' if parquet else 'TABLE'} IF EXISTS main.{DUCKDB.identifier(files.table)}")
        if isinstance(error, SourceError):
            raise
        told = open_error(error, files.label, parquet)
        odd = [] if parquet or "cannot be parsed" not in str(told) else odd_places(files)
        raise unparsed(files.label, odd[0]) if odd else told from None


def open_connection(connection: duckdb.DuckDBPyConnection, writable: bool = False) -> DuckDBEngine:
    """An engine on the database of a connection, by a cursor of its own in one transaction; its settings are kept.

    Tables that are temporary, or not committed as the connection sees them, are refused. Raises SourceError,
    Interrupted, BudgetSpent.
    """
    label = "the DuckDB connection"
    with _opening(label):
        cursor = _connected(lambda: without_progress_bar(connection.cursor()))
        return BorrowedEngine(connection, cursor, label, writable)


def open_frame(frame: Frame, writable: bool = False) -> DuckDBEngine:
    """An engine on a data frame of pandas or polars, or an Arrow table: a copy in memory, as the table data.

    The index of a pandas frame is not a column; objects in a column are compared by their texts. Of a DuckDB connection
    the tables are read in place. Raises SourceError, UsageError, Interrupted, BudgetSpent.
    """
    if isinstance(frame, duckdb.DuckDBPyConnection):
        return open_connection(frame, writable)
    kind = type(frame)
    package = kind.__module__.partition(".")[0].removeprefix("_")
    label = f"the {package} {kind.__name__}"
    schema = getattr(frame, "collect_schema", None)  # of polars, whose lazy frames warn of `columns`
    listed = schema() if schema else getattr(frame, "column_names", None)
    names = [str(name) for name in (getattr(frame, "columns", ()) if listed is None else listed)]
    if len({name.lower() for name in names}) < len(names):
        raise UsageError(f"{label} has columns whose names differ only in letter case, or not at all; rename them")
    deadline = limit()
    with _opening(label) as folder:

        def read(connection: duckdb.DuckDBPyConnection) -> None:
            try:
                # DuckDB reads pandas itself, and others through pyarrow, which an Arrow stream does not need.
                of_pandas = package == "pandas"
                arrow = None if of_pandas else getattr(frame, "__arrow_c_stream__", None)
                given = with_texts(frame, deadline) if of_pandas else frame
                connection.register("frame", given if arrow is None else arrow())
                connection.execute(f"CREATE TABLE {FRAME} AS FROM frame")
                connection.unregister("frame")
                merged = merged_columns(connection, frame, FRAME)
            except BudgetSpent:
                raise
            except Exception as error:  # noqa: BLE001 - its objects can raise anything as texts
                raise SourceError(
                    f"{label} cannot be read by DuckDB ({type(error).__name__}); expected a pandas or polars DataFrame "
                    f"or an Arrow table, whose columns have one type each"
                ) from None
            if merged:
                raise SourceError(
                    f"DuckDB would merge values of {few(merged)} of {label}, such as durations that differ in "
                    f"nanoseconds, or 1 and 1.0 among objects; convert them to integers or texts"
                )

        connection = _connected(partial(_connection, ":memory:", _config(folder, {})), read)
        _seal(connection, [], folder)
        engine = DuckDBEngine(connection, label, folder)
        engine.snapshot, engine.of_frame = "copied into memory at the start", True
        return engine


def _attach(beside: Beside | None, folder: PrivateFolder, connection: duckdb.DuckDBPyConnection) -> None:
    """Attaches the second source, if there is one. Raises SourceError, UsageError."""
    if beside is not None:
        try:
            attach_beside(beside, folder, lambda sql: connection.execute(sql).fetchall())
        except (duckdb.Error, MemoryError) as error:
            raise open_error(error, beside.label) from None


def _connected(
    connect: Callable[[], duckdb.DuckDBPyConnection],
    prepare: Callable[[duckdb.DuckDBPyConnection], None] = lambda connection: None,
) -> duckdb.DuckDBPyConnection:
    """Connects and prepares within the time limit. Raises errors of these, KeyboardInterrupt, BudgetSpent."""
    begun: list[duckdb.DuckDBPyConnection] = []
    ended, left = Event(), Event()  # left: nobody waits for the connection any more

    def work() -> duckdb.DuckDBPyConnection:
        try:
            begun.append(connect())
            prepare(begun[0])
            return begun[0]
        finally:
            ended.set()
            if left.is_set():
                close()

    def interrupt() -> None:
        for connection in begun:
            connection.interrupt()

    def close() -> None:
        for connection in begun:
            connection.close()

    try:
        return run_in_thread(work, interrupt, limit())
    except BaseException:
        left.set()
        if ended.is_set():
            close()
        raise


@contextmanager
def _in_turn(path: Path) -> Iterator[None]:
    """Lets one thread at a time open this file. Raises BudgetSpent."""
    lock = _turns[hash(path) % len(_turns)]
    while not lock.acquire(timeout=next_wait(limit())):
        pass
    try:
        yield
    finally:
        lock.release()


def _forget_parent() -> None:
    """In a forked process no thread of its parent opens a file, and no database of it answers."""
    _folders_in_use.clear()
    _turns[:] = [Lock() for _ in _turns]


_turns = [Lock() for _ in range(16)]
# By the state of a database file and how it was opened: DuckDB opens it once in a process, with one temporary folder.
_folders_in_use: WeakValueDictionary[object, FolderOnDisk] = WeakValueDictionary()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


@contextmanager
def _opening(label: str, use: object = None) -> Iterator[PrivateFolder]:
    """A private temporary folder for a new engine, the same one for the same `use`; removed if the block fails."""
    folder = PrivateFolder(_folders_in_use.get(use))
    if use is not None and folder.on_disk is not None:
        _folders_in_use[use] = folder.on_disk
    try:
        yield folder
    except BaseException as error:
        folder.remove()
        if isinstance(error, (duckdb.Error, MemoryError, LockHeld)):
            raise open_error(error, label) from None
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted while {label} was opened") from None
        raise


def _config(folder: PrivateFolder, options: Mapping[str, str]) -> Settings:
    """Settings for connecting: no spilling beside the production file, no downloads."""
    for name, value in options.items():
        if name not in OPTIONS:
            *others, last = OPTIONS
            known = f"{', '.join(others)} or {last}"
            raise UsageError(
                f"unknown option after the ? of the path; expected {known} (for files also {OPTION}, for csv header)"
            )
        form, words = OPTIONS[name]
        if not re.fullmatch(form, value, flags=re.IGNORECASE):
            raise UsageError(f"the option {name} after the ? of the path must be {words}")  # the value can be a secret
    return {
        "temp_directory": str(folder.path / "spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **options,
    }


def _measured(files: Sequence[DataFiles]) -> Settings:
    """The settings under which statements measure these files, and believe nothing that they say about themselves."""
    return dict(MEASURED) if in_place(files) else {}


def _small(files: Sequence[Path]) -> bool:
    """Whether the rows of the files take little memory; compressed ones can be of any size."""
    compressed = any(path.suffix.lower() == ".gz" for path in files)
    return not compressed and bytes_on_disk(files) <= BYTES_IN_MEMORY


def _nameless_database(folder: PrivateFolder, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A new database for the rows of files: on disk, unlinked, and without a write-ahead log."""
    path = folder.path / "parsed.duckdb"
    connection = _connection(str(path), {**settings, "checkpoint_threshold": "1B"})
    remove_name(path)
    return connection


def _connection(database: str, settings: Settings, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection without a progress bar on stdout."""
    return without_progress_bar(duckdb.connect(database, read_only=read_only, config=settings))


def _is_sealed(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether it is one more connection to a database that is open here and was sealed."""
    with connection.cursor() as cursor:
        cursor.execute(DuckDBEngine.search_path)  # a macro of the database could be called current_setting
        [(sealed,)] = cursor.execute("SELECT current_setting('lock_configuration')").fetchall()
    return bool(sealed)


def _seal(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], folder: PrivateFolder) -> None:
    """Denies access to other files and changes of settings but one of speed, whatever a view's definition tries."""
    connection.execute(DuckDBEngine.search_path)  # [...] calls list_value, which a macro of the database could be
    if paths:
        connection.execute(f"SET allowed_paths = [{', '.join(map(DUCKDB.literal, paths))}]")
    # Files in memory are links there; from DuckDB 2.0.1 on, access is checked where a link leads.
    folders = (f"{folder.all_exports}/", f"/memfd:{MEMORY}/")
    connection.execute(f"SET allowed_directories = [{', '.join(map(DUCKDB.literal, folders))}]")
    connection.execute("SET enable_external_access = false")
    if CAN_BE_SET:
        connection.execute(f"SET allowed_configs = ['{ARRAY_SETTING}']")
    connection.execute("RESET search_path")  # the engine asks for the path of unqualified names
    connection.execute("SET lock_configuration = true")
