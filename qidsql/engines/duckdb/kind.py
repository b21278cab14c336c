"""How a DuckDB database, and data files that DuckDB reads, are recognized, described and opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qidsql.engines.kind import ConnectOptions, FileKind, Frame

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.store import Store
    from qidsql.sql.dialects import Dialect


class DuckDBKind(FileKind):
    schemes = ("duckdb",)
    sources = "a DuckDB database, a parquet, csv or json file or pattern, a folder of such files"
    mark = rb".{8}DUCK"
    endings = (".duckdb", ".ddb")
    keeps_history = True
    reads_beside = True

    @property
    def dialect(self) -> "Dialect":
        from qidsql.engines.duckdb.dialect import DUCKDB

        return DUCKDB

    def open(self, path: Path, label: str, settings: Mapping[str, str], options: ConnectOptions) -> "Engine":
        from qidsql.engines.duckdb.opening import open_database, open_files
        from qidsql.engines.duckdb.reading import find_beside

        second = options.beside
        beside = None if second is None else find_beside(second, path, self.is_database)
        if path.is_file() and self.is_database(path):
            return open_database(path, label, settings, options.writable, beside)
        return open_files(path, label, settings, beside)

    def open_frame(self, frame: Frame, writable: bool) -> "Engine":
        from qidsql.engines.duckdb.opening import open_frame

        return open_frame(frame, writable)

    def frame_from(self, path: Path | None, like: object) -> object:
        from qidsql.engines.duckdb.frames import frame_from

        return frame_from(path, like)

    def store(self, path: Path, patience: float) -> "Store":
        from qidsql.engines.duckdb.store import DuckDBStore

        return DuckDBStore(path, patience)
