"""From what a user calls a source to a live engine. Drivers are imported here, and only the one that is needed."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from qidsql.engines.base import Engine
from qidsql.engines.unreached import Unreached
from qidsql.errors import AccessError, BudgetSpent, SourceError, UsageError, names_a_secret
from qidsql.sql.dialects import DUCKDB, POSTGRES

EXPECTED = (
    "a Postgres URL (postgresql://user@host/db, service=NAME), a DuckDB database, a parquet, csv or json file, "
    "a folder of such files, or env:NAME"
)
POSTGRES_KEYWORDS = (
    r"^\s*(service|host|hostaddr|dbname|user|port|password|passfile|options|application_name|connect_timeout|"
    r"target_session_attrs|(ssl|gss|krb|keepalives|channel_|load_|require_|client_|tcp_)\w*)\s*=\s*\S"
)


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
    """A live engine on the source: a Postgres URL or connection string, `duckdb:///path`, a path, or `env:NAME`.

    None stands for the environment variable QIDSQL_URL. `workers` (parallel sessions), `statement_seconds` (the
    server's limit for one statement) and `snapshot` (one snapshot for all statements) concern servers. `writable`:
    in one session and one transaction, of which nothing stays without `Engine.commit`; data files stay as they are.
    `gentle`: one session of a server, one process for each statement, and a pause after it that is as long.
    `workspace`: searches may take one coded copy of the columns into the engine's own temporary space; on Postgres that
    takes the right TEMPORARY, and one session.
    Raises SourceError, UsageError, AccessError, StatementError, Interrupted, and BudgetSpent at a time limit.
    """
    text, variable = _from_environment(source)
    try:
        engine = _opened(text, workers, statement_seconds, snapshot, writable, workspace, gentle)
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
        name = shown(source)
        return Unreached(name, POSTGRES if re.match(r"postgresql:|service=", name) else DUCKDB, stop)


def shown(source: str | None) -> str:
    """The source as people may see it while it cannot be opened: never a password."""
    if not source or not source.strip():
        return "$QIDSQL_URL" if os.environ.get("QIDSQL_URL") else "none"
    if re.match(r"^postgres(ql)?://", source) or (re.match(POSTGRES_KEYWORDS, source) and not Path(source).exists()):
        from qidsql.engines.postgres import engine as postgres

        try:
            return postgres.parameters_label(postgres.connection_parameters(source))
        except SourceError:
            return "a Postgres URL that cannot be read"
    return "a URL that is not shown" if re.search(r"[@=]|://", source) and not _exists(source) else source


def _opened(
    text: str,
    workers: int,
    statement_seconds: int,
    snapshot: bool,
    writable: bool,
    workspace: bool,
    gentle: bool,
) -> Engine:
    """The engine that knows such a source. Raises SourceError, UsageError."""
    if re.match(r"^postgres(ql)?://", text) or (re.match(POSTGRES_KEYWORDS, text) and not Path(text).exists()):
        from qidsql.engines.postgres import engine as postgres

        return postgres.connect(text, workers, statement_seconds, snapshot, writable, workspace, gentle)
    if text.startswith("duckdb:"):
        return _open_path(_path_of_url(text), writable)
    scheme = re.match(r"^([a-zA-Z][\w+.-]*)://", text)
    if scheme:
        raise SourceError(f"qidsql knows no source of the kind {scheme[1]}://; expected {EXPECTED}")
    is_there = _exists(text) or _exists(text.rpartition("?")[0] or text)
    if (re.search(r":.*@|^\s*\w+\s*=.*\s\w+\s*=", text) or names_a_secret(text)) and not is_there:
        # Nearly a URL or a connection string. Not echoed: it may hold a password.
        raise SourceError(f"the source is no file, nor a URL that qidsql can read; expected {EXPECTED}")
    return _open_path(text, writable)


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


def _path_of_url(url: str) -> str:
    """The path in a DuckDB URL: duckdb:///abs/path, duckdb:relative/path, and SQLAlchemy's duckdb:///relative."""
    rest = url.removeprefix("duckdb:")
    path = re.sub(r"^//(?=[^/])|^/+(?=/)", "", rest)
    if path.strip("/") in ("", ":memory:"):
        raise SourceError(
            "the DuckDB URL names no file; an audit needs one that is there, such as duckdb:///data/clinic.duckdb"
        )
    relative = path.lstrip("/")
    if rest.startswith("///") and not _exists(path.rpartition("?")[0] or path):
        return relative if _exists(relative.rpartition("?")[0] or relative) else path
    return path


def _open_path(text: str, writable: bool) -> Engine:
    """An engine on a database file or on data files; options may follow a question mark."""
    from qidsql.engines.duckdb import engine as duckdb

    path_text, options = text, {}
    if not _exists(text) and (found := re.fullmatch(r"(.+)\?(\w+=[^?]*)?", text, flags=re.DOTALL)):
        path_text, options = found[1], dict(parse_qsl(found[2] or "", keep_blank_values=True))
    path = _expanded(path_text)
    if re.search(r"[*?\[]", path_text) and not _exists(path_text):
        return duckdb.open_files(path, path_text, options)
    if _exists(path_text) and path.is_dir():
        return duckdb.open_files(path, path_text, options)
    if not _exists(path_text):
        near = get_close_matches(path.name, _names_beside(path), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"expected {EXPECTED}"
        raise SourceError(f"there is no file {path_text}; {hint}")
    if not path.is_file():
        raise SourceError(
            f"{path_text} is not a regular file; write its data to one first, an audit reads it many times"
        )
    if _is_database(path):
        return duckdb.open_database(path, path_text, options, writable)
    return duckdb.open_files(path, path_text, options)


def _expanded(text: str) -> Path:
    """The path with its ~ resolved. Raises SourceError."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SourceError(
            f"{text} begins with a home folder that this system does not know; write the path out"
        ) from None


def _exists(text: str) -> bool:
    """Whether there is such a file or folder, as far as this user can see."""
    try:
        return _expanded(text).exists()
    except OSError:  # a folder on the way is closed to this user, or the name is longer than names can be
        return False


def _names_beside(path: Path) -> list[str]:
    """What else is in the file's folder."""
    try:
        return os.listdir(path.parent)
    except OSError:
        return []


def _is_database(path: Path) -> bool:
    """By the mark in the file; the ending alone also counts, so that the error names the cause. Raises SourceError."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK" or path.suffix.lower() in (".duckdb", ".ddb")
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read ({error.strerror}); check the file's permissions") from None
