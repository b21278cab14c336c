"""Connects to a source: from the user's text to a live engine."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from qidsql.core.budget import within, within_bytes
from qidsql.core.files import resolved, variable
from qidsql.engines.base import Engine
from qidsql.engines.kind import (
    PATTERN,
    ConnectOptions,
    EngineKind,
    FileKind,
    Frame,
    Located,
    exists,
    located,
    path_of_url,
)
from qidsql.engines.registry import EXPECTED, FILES, KINDS, SERVERS, recognized
from qidsql.errors import AccessError, BudgetSpent, SourceError, Stopped, UsageError, names_a_secret
from qidsql.sql.dialects import Dialect

# An engine for a source that could not be reached within the time limit. Imports no driver.
#
# Commands then report a time limit in the same way, whether it ended the connecting or a later statement.


class UnreachedEngine(Engine):
    """An engine whose every method raises the error that ended the connecting."""

    version = "not connected"
    snapshot = "the source was not reached"
    label_beside = "not opened"
    export_format = ""

    def __init__(self, label: str, dialect: Dialect, stop: Stopped) -> None:
        super().__init__(1)
        self.label = label
        self.dialect = dialect
        self._stop = stop

    def _stopped(self, *_: Any, **__: Any) -> NoReturn:
        raise type(self._stop)(str(self._stop))

    _open = translate = exports = table_names = describe = parse_condition = catalog = examine = import_file = _stopped
    working_copy_name = finish_working_copy = existing_kind = describe_beside = _stopped


def connect(
    source: str | Frame | None = None,
    *,
    workers: int = 2,
    statement_seconds: int = 3600,
    snapshot: bool = True,
    writable: bool = False,
    workspace: bool = False,
    gentle: bool = False,
    beside: str | None = None,
) -> Engine:
    """A live engine on the source: a URL or connection string of a server, a path, `duckdb:///path`, or `env:NAME`; or
    a data frame of pandas or polars or an Arrow table, which is copied into DuckDB's memory as the table data; or a
    DuckDB connection, whose committed tables are read in place.

    None stands for the environment variable QIDSQL_URL. `workers` (parallel sessions), `statement_seconds` (the
    server's limit for one statement) and `snapshot` (one snapshot for all statements) apply to servers. `writable`: one
    session in one transaction, which is rolled back without `Engine.commit`; data files and frames are never written.
    `gentle`: one session of a server, one process per statement, and a pause of the same length after each statement.
    `workspace`: searches may make one coded copy of the columns in the engine's temporary space; on Postgres this needs
    the TEMPORARY privilege and uses one session. `beside`: a second source that statements can read together with the
    first (`Engine.describe_beside`); both must be sources of DuckDB. Where files are tables, none is opened.
    Raises SourceError, UsageError, AccessError, StatementError, Interrupted, and BudgetSpent at a time limit.
    """
    if source is not None and not isinstance(source, str):
        return FILES[-1].open_frame(source, writable)
    text, variable = source_text(source)
    server = recognized(text, SERVERS)  # whose own table the path may be
    second = None if beside is None or (server is not None and server.has_files) else _second(beside)
    options = ConnectOptions(workers, statement_seconds, snapshot, writable, workspace, gentle, second)
    opening = time.time()
    try:
        engine = _opened(text, options)
    except (AccessError, SourceError, UsageError) as error:
        if variable is None:
            raise
        raise type(error)(f"{variable}: {error}") from None
    engine.workspace, engine.opening = workspace, opening
    return engine


def connect_or_unreached(source: str | Frame | None = None, **options: Any) -> Engine:
    """An engine as by `connect`; if a time limit ends the connecting, an engine whose every method raises BudgetSpent.

    Raises SourceError, UsageError, AccessError, StatementError, Interrupted.
    """
    try:
        return connect(source, **options)
    except BudgetSpent as stop:
        if source is not None and not isinstance(source, str):
            return UnreachedEngine("the data frame", FILES[-1].dialect, stop)
        kind: EngineKind = recognized(source_text(source)[0], KINDS) or FILES[-1]
        return UnreachedEngine(shown(source), kind.dialect, stop)


def same_place(text: str, other: str) -> bool:
    """Whether two texts name the same source: the same URL, the same path, or a data file and its folder."""
    if text == other:
        return True
    first, second = _path(text), _path(other)
    if first is None or second is None or second != first.parent:
        return first is not None and first == second
    is_database = first.is_file() and any(each.is_database(first) for each in FILES)
    return not is_database  # which is no table of its folder


def folder_of(text: str) -> Path | None:
    """The folder of a source: that of a file, a folder itself, the first folder of a pattern; None of a server."""
    path = _path(text)
    if path is None or path.is_dir():
        return path
    parts = [*path.parts]
    fixed = next((place for place, part in enumerate(parts) if re.search(PATTERN, part)), len(parts) - 1)
    return Path(*parts[:fixed])


def _path(text: str) -> Path | None:
    """The absolute path that a source names; None for a server, and if there is no such file."""
    if recognized(text, SERVERS) is not None:
        return None
    try:
        return Path(os.path.realpath(_file(text)[1].path.expanduser()))
    except (SourceError, UsageError):
        return None


def shown(source: str | None) -> str:
    """The source for messages before it is open: never a password."""
    if not source or not source.strip():
        return "$QIDSQL_URL" if os.environ.get("QIDSQL_URL") else "none"
    server = recognized(source, SERVERS)
    if server is not None:
        return server.shown(source)
    return "a URL that is not shown" if re.search(r"[@=]|://", source) and not exists(source) else source


def _opened(text: str, options: ConnectOptions) -> Engine:
    """The engine on the source. Raises as `connect`."""
    server = recognized(text, SERVERS)
    kind, found = (server, None) if server is not None else _file(text)
    if options.beside is not None and not kind.reads_beside:
        raise UsageError(
            f"{options.beside.label} cannot be read together with {shown(text)}; load it into a table there, and name "
            f"that table"
        )
    if server is not None:
        return server.open(text, options)
    assert isinstance(kind, FileKind) and found is not None
    return kind.open(found.path, found.label, found.settings, options)


def _second(text: str) -> Located:
    """The source to read together with the first. Raises SourceError, UsageError."""
    text = resolved(text, "the second source")
    kind, found = (SERVERS[0], None) if recognized(text, SERVERS) else _file(text)
    if found is None or not kind.reads_beside:
        readable = ", ".join(each.sources for each in KINDS if each.reads_beside)
        raise UsageError(f"the second source must be {readable}; export its table to a parquet or csv file")
    return found


def _file(text: str) -> tuple[FileKind, Located]:
    """The path that the text names, and the kind of engine that reads it. Raises SourceError, UsageError."""
    kind = recognized(text, FILES)
    if kind is not None:
        return kind, located(path_of_url(text), EXPECTED)
    scheme = re.match(r"^([a-zA-Z][\w+.-]*)://", text)
    if scheme:
        text = f"qidsql does not support {scheme[1]}:// URLs"
        raise SourceError(f"{text}; export the table to parquet, or give {EXPECTED}")
    is_there = exists(text) or exists(text.partition("?")[0] or text)
    if (re.search(r":.*@|^\s*\w+\s*=.*\s\w+\s*=", text) or names_a_secret(text)) and not is_there:
        # Looks like a URL or a connection string. Not echoed: it can contain a password.
        raise SourceError(f"the source is no file, nor a URL that qidsql can read; expected {EXPECTED}")
    found = located(text, EXPECTED)
    databases = (each for each in FILES if found.path.is_file() and each.is_database(found.path))
    return next(databases, FILES[-1]), found


def source_text(source: str | None) -> tuple[str, str | None]:
    """The source's text, and the name of the environment variable it is from; None if it was given directly."""
    if source is None or not source.strip():
        text = os.environ.get("QIDSQL_URL", "")
        if not text:
            raise UsageError(f"no source given and QIDSQL_URL is not set; expected {EXPECTED}")
        return text, "QIDSQL_URL"
    return resolved(source, "the source"), variable(source)


# A source that is not open yet: for commands that open it themselves, or only sometimes.


@dataclass(frozen=True, slots=True)
class Source:
    """A source for `connect`, or an engine, which stays open.

    `options` are those of `connect`; `watch` is called with each engine that is opened. `max_seconds` limits connecting
    and all use of the engine, `max_bytes` what its statements read.
    """

    given: str | Frame | Engine | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Engine], None] = lambda engine: None
    max_seconds: float | None = None
    max_bytes: int | None = None

    @property
    def text(self) -> str | None:
        """The source as the user wrote it."""
        return self.given if isinstance(self.given, str) else None

    @property
    def named(self) -> bool:
        """Whether there is a source."""
        return self.given is not None or bool(os.environ.get("QIDSQL_URL"))

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        """An engine on the source. Raises as `connect_or_unreached`."""
        with within(self.max_seconds), within_bytes(self.max_bytes):
            if isinstance(self.given, Engine):
                yield self.given
                return
            with connect_or_unreached(self.given, **self.options) as engine:
                self.watch(engine)
                yield engine
