"""How an SQLite database is recognized, described and opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qidsql.engines.kind import ConnectOptions, FileKind, no_pipes
from qidsql.errors import SourceError, UsageError

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.sql.dialects import Dialect


class SQLiteKind(FileKind):
    schemes = ("sqlite",)
    sources = "an SQLite database"
    mark = rb"SQLite format 3\0"

    @property
    def dialect(self) -> "Dialect":
        from qidsql.engines.sqlite.engine import SQLITE

        return SQLITE

    def open(self, path: Path, label: str, settings: Mapping[str, str], options: ConnectOptions) -> "Engine":
        from qidsql.engines.sqlite.engine import opened

        if settings or options.writable or options.workspace:
            raise UsageError(
                "an SQLite database is only read: leave out --workspace, --into TABLE and the options after the ?"
            )
        if not path.is_file():
            raise SourceError(f"{label} is not a file; expected an SQLite database")
        no_pipes((path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm")), label)
        return opened(path, label)
