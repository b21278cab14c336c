"""From what a user calls a source to a live engine. Drivers are imported here, and only the one that is needed."""

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl

from qidsql.engines.base import Engine
from qidsql.errors import SourceError, UsageError

EXPECTED = (
    "a Postgres URL (postgresql://user@host/db, service=NAME), a DuckDB database, a parquet, csv or json file, "
    "or env:NAME"
)
POSTGRES_KEYWORDS = (
    r"^\s*(service|host|hostaddr|dbname|user|port|password|passfile|options|application_name|connect_timeout|"
    r"target_session_attrs|(ssl|gss|krb|keepalives|channel_|load_|require_|client_|tcp_)\w*)\s*=\s*\S"
)


def connect(
    source: str | None = None, *, workers: int = 2, statement_seconds: int = 3600, snapshot: bool = True
) -> Engine:
    """A live engine on the source: a Postgres URL or connection string, `duckdb:///path`, a path, or `env:NAME`.

    None stands for the environment variable QIDSQL_URL. `workers` (parallel sessions), `statement_seconds` (the
    server's limit for one statement) and `snapshot` (one snapshot for all statements) concern servers.
    Raises SourceError, UsageError.
    """
    text = _from_environment(source)
    if re.match(r"^postgres(ql)?://", text) or (re.match(POSTGRES_KEYWORDS, text) and not Path(text).exists()):
        from qidsql.engines import postgres

        return postgres.connect(text, workers, statement_seconds, snapshot)
    if text.startswith("duckdb://"):
        return _open_path(text.removeprefix("duckdb://").removeprefix("/") or ":memory:", absolute=text.count("/") > 3)
    scheme = re.match(r"^([a-zA-Z][\w+.-]*)://", text)
    if scheme:
        raise SourceError(f"qidsql knows no source of the kind {scheme[1]}://; expected {EXPECTED}")
    if re.search(r":.*@|^\s*\w+\s*=.*\s\w+\s*=", text) and not Path(text).exists():
        # Nearly a URL or a connection string. Not echoed: it may hold a password.
        raise SourceError(f"the source is no file, nor a URL that qidsql can read; expected {EXPECTED}")
    return _open_path(text)


def _from_environment(source: str | None) -> str:
    """The source's text, looked up where it names an environment variable."""
    if source is None or not source.strip():
        text = os.environ.get("QIDSQL_URL", "")
        if not text:
            raise UsageError(f"no source given and QIDSQL_URL is not set; expected {EXPECTED}")
        return text
    if source.startswith("env:"):
        name = source.removeprefix("env:")
        text = os.environ.get(name, "")
        if not text:
            raise UsageError(f"the environment variable {name} is not set; {source} was to name the source")
        return text
    return source


def _open_path(text: str, absolute: bool = False) -> Engine:
    """An engine on a database file or on data files; options may follow a question mark."""
    from qidsql.engines import duckdb

    path_text, _, query = text.partition("?") if not Path(text).exists() else (text, "", "")
    options = dict(parse_qsl(query))
    if "?" in text and not options and not Path(text).exists():
        path_text = text  # a question mark of a pattern, not of options
    if absolute:
        path_text = "/" + path_text.lstrip("/")
    path = Path(path_text).expanduser()
    if re.search(r"[*?\[]", path_text) and not path.exists():
        return duckdb.open_files(str(path), path_text, options)
    if path.is_dir():
        raise SourceError(
            f"{path_text} is a folder; name a file in it, or a pattern such as {path_text.rstrip('/')}/*.parquet"
        )
    if not path.exists():
        raise SourceError(f"there is no file {path_text}; expected {EXPECTED}")
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path_text} may not be read by this user; check the file's permissions")
    if _is_database(path):
        return duckdb.open_database(path, path_text, options)
    return duckdb.open_files(str(path), path_text, options)


def _is_database(path: Path) -> bool:
    """By the mark in the file; the ending alone also counts, so that the error names the cause."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK" or path.suffix.lower() in (".duckdb", ".ddb")
