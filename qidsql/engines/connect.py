"""From what a user calls a source to a live engine."""

import os
import re
from typing import Any

from qidsql.engines.base import Engine
from qidsql.engines.kind import ConnectOptions, EngineKind
from qidsql.engines.paths import exists, located, path_of_url
from qidsql.engines.registry import EXPECTED, FILES, KINDS, SERVERS, recognized
from qidsql.engines.unreached import Unreached
from qidsql.errors import AccessError, BudgetSpent, SourceError, UsageError, names_a_secret


def connect(
    source: str | None = None,
    *,
    workers: int = 2,
    statement_seconds: int = 3600,
    snapshot: bool = True,
    writable: bool = False,
    workspace: bool = False,
    gentle: bool = False,
) -> Engine:
    """A live engine on the source: a URL or connection string of a server, a path, `duckdb:///path`, or `env:NAME`.

    None stands for the environment variable QIDSQL_URL. `workers` (parallel sessions), `statement_seconds` (the
    server's limit for one statement) and `snapshot` (one snapshot for all statements) concern servers. `writable`:
    in one session and one transaction, of which nothing stays without `Engine.commit`; data files stay as they are.
    `gentle`: one session of a server, one process for each statement, and a pause after it that is as long.
    `workspace`: searches may take one coded copy of the columns into the engine's own temporary space; on Postgres that
    takes the right TEMPORARY, and one session.
    Raises SourceError, UsageError, AccessError, StatementError, Interrupted, and BudgetSpent at a time limit.
    """
    text, variable = _from_environment(source)
    options = ConnectOptions(workers, statement_seconds, snapshot, writable, workspace, gentle)
    try:
        server = recognized(text, SERVERS)
        engine = _opened_file(text, options) if server is None else server.open(text, options)
    except (AccessError, SourceError, UsageError) as error:
        if variable is None:
            raise
        raise type(error)(f"{variable}: {error}") from None
    engine.workspace = workspace
    return engine


def reached(source: str | None = None, **options: Any) -> Engine:
    """The same; where a time limit comes first, an engine whose every question raises that.

    Raises SourceError, UsageError, AccessError, StatementError, Interrupted.
    """
    try:
        return connect(source, **options)
    except BudgetSpent as stop:
        kind: EngineKind = recognized(_from_environment(source)[0], KINDS) or FILES[-1]
        return Unreached(shown(source), kind.dialect, stop)


def shown(source: str | None) -> str:
    """The source as people may see it while it cannot be opened: never a password."""
    if not source or not source.strip():
        return "$QIDSQL_URL" if os.environ.get("QIDSQL_URL") else "none"
    server = recognized(source, SERVERS)
    if server is not None:
        return server.shown(source)
    return "a URL that is not shown" if re.search(r"[@=]|://", source) and not exists(source) else source


def _opened_file(text: str, options: ConnectOptions) -> Engine:
    """The engine that reads what is at a path. Raises SourceError, UsageError."""
    kind = recognized(text, FILES)
    if kind is not None:
        found = located(path_of_url(text), EXPECTED)
        return kind.open(found.path, found.label, found.settings, options)
    scheme = re.match(r"^([a-zA-Z][\w+.-]*)://", text)
    if scheme:
        raise SourceError(f"qidsql knows no source of the kind {scheme[1]}://; expected {EXPECTED}")
    is_there = exists(text) or exists(text.rpartition("?")[0] or text)
    if (re.search(r":.*@|^\s*\w+\s*=.*\s\w+\s*=", text) or names_a_secret(text)) and not is_there:
        # Nearly a URL or a connection string. Not echoed: it may hold a password.
        raise SourceError(f"the source is no file, nor a URL that qidsql can read; expected {EXPECTED}")
    found = located(text, EXPECTED)
    databases = (each for each in FILES if found.path.is_file() and each.is_database(found.path))
    kind = next(databases, FILES[-1])
    return kind.open(found.path, found.label, found.settings, options)


def _from_environment(source: str | None) -> tuple[str, str | None]:
    """The source's text, and the name of the environment variable that holds it; None where it is the text itself."""
    if source is None or not source.strip():
        text = os.environ.get("QIDSQL_URL", "")
        if not text:
            raise UsageError(f"no source given and QIDSQL_URL is not set; expected {EXPECTED}")
        return text, "QIDSQL_URL"
    if source.startswith("env:"):
        name = source.removeprefix("env:")
        text = os.environ.get(name, "")
        if not text:
            known = name if re.fullmatch(r"\w+", name) else "behind env:"  # else a URL was put there
            raise UsageError(f"the environment variable {known} is not set; it was to name the source")
        return text, name
    return source, None
