"""Kinds of engines: how their sources are recognized, described and opened, and the path that a user's text names.

Each engine's folder declares its kind in a module `kind`; `qidsql.engines.registry` lists them. These modules are
imported at start-up, so a kind imports its driver, dialect and engine only when they are used.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias
from urllib.parse import parse_qsl

from qidsql.errors import QidsqlError, SourceError

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.store import Store
    from qidsql.sql.dialects import Dialect


# Finds the path that a user's text names: a file, a folder or a pattern. Independent of engines.


PATTERN = r"[*?\[]"


@dataclass(frozen=True, slots=True)
class Located:
    """A path, the text for it as the user wrote it, and the settings after its question mark."""

    path: Path
    label: str
    settings: dict[str, str]


def located(text: str, expected: str) -> Located:
    """A regular file, a folder, or a pattern of files. Raises SourceError, whose message says what was `expected`."""
    label, settings = text, {}
    if not exists(text) and (found := re.fullmatch(r"(.+?)\?(\w+=.*)?", text, flags=re.DOTALL)):
        label, settings = found[1], dict(parse_qsl(found[2] or "", keep_blank_values=True))
    path = _expanded(label)
    if not exists(label) and not re.search(PATTERN, label):
        near = get_close_matches(path.name, _names_beside(path), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"expected {expected}"
        raise SourceError(f"there is no file {label}; {hint}")
    if exists(label) and not (path.is_file() or path.is_dir()):
        raise SourceError(
            f"{label} is not a regular file; write its data to a file first, since an audit reads it many times"
        )
    return Located(path, label, settings)


def path_of_url(url: str) -> str:
    """The path in a URL of a file: scheme:///abs/path, scheme:relative/path, and SQLAlchemy's scheme:///relative.

    Raises SourceError.
    """
    scheme, _, rest = url.partition(":")
    path = re.sub(r"^//(?=[^/])|^/+(?=/)", "", rest)
    if path.strip("/") in ("", ":memory:"):
        raise SourceError(
            f"the {scheme} URL names no file; expected an existing file, such as {scheme}:///data/clinic.db"
        )
    relative = path.lstrip("/")
    if rest.startswith("///") and not _exists_without_settings(path):
        return relative if _exists_without_settings(relative) else path
    return path


def no_pipes(paths: Iterable[Path], label: str, refused: type[QidsqlError] = SourceError) -> None:
    """Refuses a database with a pipe among its files: opening one waits for its writer, without end."""
    for each in paths:
        if each.exists() and not each.is_file():
            raise refused(
                f"{label} cannot be opened: {each.name} is no ordinary file; remove it or name another database"
            )


def exists(text: str) -> bool:
    """Whether there is such a file or folder that this user can see."""
    try:
        return _expanded(text).exists()
    except OSError:  # no access to a parent folder, or the name is too long
        return False


def _exists_without_settings(text: str) -> bool:
    return exists(text.partition("?")[0] or text)


def _expanded(text: str) -> Path:
    """The path with its ~ resolved. Raises SourceError."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SourceError(
            f"{text} begins with a home folder that this system does not know; write the path out"
        ) from None


def _names_beside(path: Path) -> list[str]:
    """The names of the files in the same folder."""
    try:
        return os.listdir(path.parent)
    except OSError:
        return []


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

    def frame_from(self, path: Path | None, like: object) -> object:
        """The rows of a parquet file as a frame of the kind of another; without a file, whether that kind can be made.
        Raises UsageError."""
        raise NotImplementedError("this engine reads no data frames")

    def store(self, path: Path, patience: float) -> "Store":
        """A store in a file, if `keeps_history`. Does not open it."""
        raise NotImplementedError("this engine keeps no history")
