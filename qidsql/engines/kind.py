"""Kinds of engines: how their sources are recognized, described and opened.

Each engine's folder declares its kind in a module `kind`; `qidsql.engines.registry` lists them. These modules are
imported at start-up, so a kind imports its driver, dialect and engine only when they are used.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from qidsql.engines.paths import Located
from qidsql.errors import SourceError

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.store import Store
    from qidsql.sql.dialects import Dialect


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """The options of `qidsql.engines.connect.connect`."""

    workers: int = 2
    statement_seconds: int = 3600
    snapshot: bool = True
    writable: bool = False
    workspace: bool = False
    gentle: bool = False
    beside: Located | None = None


class Rows(Protocol):
    """A data frame of pandas or polars, or an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Tables(Protocol):
    """A DuckDB connection."""

    def table(self, table_name: str) -> object: ...

    def from_arrow(self, arrow_object: object) -> object: ...


Frame: TypeAlias = Rows | Tables


class EngineKind(ABC):
    """`sources` describes its sources in messages; `keeps_history`: whether it has stores (`qidsql.engines.store`)."""

    schemes: ClassVar[tuple[str, ...]]  # of its URLs
    sources: ClassVar[str]
    keeps_history: ClassVar[bool] = False
    reads_beside: ClassVar[bool] = False  # another of its sources in the same session
    has_files: ClassVar[bool] = False  # as tables, by their paths

    def recognizes(self, text: str) -> bool:
        """Whether a user's text for a source means this engine, judged by the text alone."""
        scheme, colon, _ = text.partition(":")
        return bool(colon) and scheme in self.schemes

    @property
    @abstractmethod
    def dialect(self) -> "Dialect":
        """Its dialect of SQL."""


class ServerKind(EngineKind):
    """An engine that is reached by a URL. `url` is the name of such a URL in messages."""

    url: ClassVar[str]

    @abstractmethod
    def open(self, text: str, options: ConnectOptions) -> "Engine":
        """An engine on the source. Raises SourceError, AccessError, StatementError, UsageError, Interrupted,
        BudgetSpent."""

    @abstractmethod
    def shown(self, text: str) -> str:
        """The source for messages, without secrets."""

    @abstractmethod
    def store(self, text: str, schema: str, patience: float) -> "Store":
        """A store in a schema, if `keeps_history`. Does not connect. Raises SourceError."""


class FileKind(EngineKind):
    """An engine in this process that reads files. `mark` is a pattern for the first bytes of a database."""

    mark: ClassVar[bytes]
    endings: ClassVar[tuple[str, ...]] = ()  # also recognized, so that the error for a damaged file names the cause

    def is_database(self, path: Path) -> bool:
        """Whether a regular file is a database of this engine. Raises SourceError."""
        try:
            with path.open("rb") as file:
                marked = re.match(self.mark, file.read(16), flags=re.DOTALL) is not None
        except OSError as error:
            raise SourceError(f"{path.name} cannot be read ({error.strerror}); check the file's permissions") from None
        return marked or path.suffix.lower() in self.endings

    @abstractmethod
    def open(self, path: Path, label: str, settings: Mapping[str, str], options: ConnectOptions) -> "Engine":
        """An engine on a path, with the settings after its question mark. Raises as `ServerKind.open`."""

    def open_frame(self, frame: Frame, writable: bool) -> "Engine":
        """An engine on a copy of a data frame, or on a connection. Raises SourceError, UsageError, Interrupted,
        BudgetSpent."""
        raise NotImplementedError("this engine reads no data frames")

    def store(self, path: Path, patience: float) -> "Store":
        """A store in a file, if `keeps_history`. Does not open it."""
        raise NotImplementedError("this engine keeps no history")
