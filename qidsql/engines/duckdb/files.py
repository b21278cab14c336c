"""Finds the data files of a path and their kinds: each file, or all files of a pattern, is audited as a table."""

import glob
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from qidsql.core.budget import check_time, limit
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.errors import SourceError
from qidsql.sql.templates import Row
from qidsql.wording.texts import few

FILE_BYTES_AT_ONCE = 1 << 20  # bytes read at a time
MOST_HASHED = 100  # files of a source
HEAD = 16 * 1024  # bytes at the start of a file that its token covers; in a DuckDB database they contain the headers
KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
PATTERN = r"[*?\[]"
FOLDER_COLUMN = r"[^=?]+=[^=?]*"  # a folder name that DuckDB turns into a column


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Files of one kind that are audited as one table. `label` is the user's text for them, `obstacle` why one of a
    folder cannot be read."""

    label: str
    table: str
    kind: str
    paths: tuple[Path, ...]
    obstacle: str = ""

    @property
    def folder_columns(self) -> tuple[str, ...]:
        """The columns from folder names such as year=2024/month=01/."""
        return _folder_columns(self.paths[0])  # those of all files: see `_check_folders`


def find_files(path: Path, label: str) -> tuple[DataFiles, ...]:
    """The tables of a path: one for a file or pattern, and one per data file of a folder, with the obstacle if it is
    none. Raises SourceError."""
    return _in_folder(path, label) if path.is_dir() else (_one_table(path, label),)


def _in_folder(folder: Path, label: str) -> tuple[DataFiles, ...]:
    # A .txt file is read only if it is named: in a folder it is more likely documentation.
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and _by_ending(file) is not None]
    files = [file for file in files if ".txt" not in file.suffixes]
    found: dict[str, DataFiles] = {}
    for file in files:
        name = os.fsencode(file.name.split(".")[0]).decode(errors="replace")
        if not name:
            continue
        paths = (*(found[name.casefold()].paths if name.casefold() in found else ()), file.absolute())
        try:
            kind, obstacle = _kind(file, file.name), ""
        except SourceError as error:
            kind, obstacle = "", str(error)
        if paths[1:]:
            obstacle = (
                f"{few([path.name for path in paths])} in {label} would be tables with the same name; name the file "
                f"itself as the source, such as {label.rstrip('/')}/{file.name}, or rename all but one"
            )
        found[name.casefold()] = DataFiles(f"{file.name} in {label}", name, kind, paths, obstacle)
    if not found:
        raise SourceError(
            f"{label} is a folder without data files; name a file, or a pattern such as "
            f"{label.rstrip('/')}/**/*.parquet"
        )
    return tuple(found.values())


def _one_table(path: Path, label: str) -> DataFiles:
    found = [path] if path.exists() else [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    paths = tuple(file.absolute() for file in found if file.is_file())
    if not paths:
        raise SourceError(f"no files match {label}")
    kinds = {_kind(file, label): file.name for file in paths}
    if len(kinds) > 1:
        raise SourceError(f"{label} matches files of several kinds ({', '.join(sorted(kinds.values()))}); narrow it")
    _check_folders(paths, label)
    return DataFiles(label, _table_name(path), next(iter(kinds)), paths)


def _folder_columns(path: Path) -> tuple[str, ...]:
    return tuple(part.partition("=")[0] for part in path.parts[:-1] if re.fullmatch(FOLDER_COLUMN, part))


def _odd_folders(path: Path) -> tuple[str, ...]:
    """Folder names that other readers turn into columns, or that were meant to be some."""
    return tuple(part for part in path.parts[:-1] if "=" in part and not re.fullmatch(FOLDER_COLUMN, part))


def _check_folders(paths: Sequence[Path], label: str) -> None:
    """Raises SourceError if the folders of files have values that DuckDB makes no column of: it makes none if not all
    of them have the same names."""
    odd = {_odd_folders(path) for path in paths}
    if len(odd) > 1:
        name = next(part.partition("=")[0] for parts in sorted(odd) for part in parts)
        raise SourceError(
            f"{label}: files lie in folders {name}=..., of which DuckDB makes no column, so that values would be lost; "
            f"rename the folders: a name, one =, and a value without = and ?"
        )
    found = {path: _folder_columns(path) for path in paths}
    columns = Counter(found.values())
    if len(columns) < 2:
        return
    (usual, _), *_ = columns.most_common()
    path, own = next((path, own) for path, own in found.items() if own != usual)
    top = os.path.commonpath(paths)
    # Without the values in the folders' names.
    shown = re.sub("=[^/=?]*/", "=.../", Path(os.path.relpath(path, top)).as_posix())
    raise SourceError(
        f"{label}: {shown} lies in {_folders(own)}, other files in {_folders(usual)}, so that a column of the folders "
        f"would be lost; move the file, or name only files whose folders have the same names"
    )


def _folders(columns: Sequence[str]) -> str:
    names = "/".join(f"{name}=..." for name in columns)
    return f"folders {names}" if names else "no folder that makes a column"


def _kind(path: Path, label: str) -> str:
    """The kind of a file: by its first bytes if they identify it, else by its extension. Raises SourceError."""
    if "\\" in str(path) and re.search(PATTERN, str(path)) and os.sep == "/":
        raise SourceError(
            f"{path.name} has a backslash and one of * ? [ in its path, which DuckDB cannot find; rename it"
        )
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise SourceError(f"{path.name!a} is a name that is not UTF-8, which DuckDB cannot find; rename it") from None
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read ({error.strerror}); check the file's permissions") from None
    if not start:
        raise SourceError(f"{path.name} is empty: expected at least the names of the columns")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3"):
        raise SourceError(f"{path.name} is an SQLite database and not a data file")
    kind = _by_ending(path)
    if kind is None:
        raise SourceError(
            f"{label} is neither a DuckDB database nor one of the files qidsql reads ({', '.join(KINDS)})"
        )
    return kind


def _by_ending(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return KINDS.get(suffixes[0] if suffixes[1:] == [".gz"] else (suffixes or [""])[-1])


def _table_name(path: Path) -> str:
    """The name of the table: the file name without extensions, or the folder's name if that is a pattern."""
    names = [path.name.split(".")[0], *(part for part in reversed(path.absolute().parts[:-1]))]
    return next((name for name in names if name and (path.exists() or not re.search(PATTERN, name))), "files")


def file_token(paths: Sequence[Path], options: Mapping[str, str]) -> str | None:
    """A text that changes whenever the files change, or how they are read: from their sizes, times, inodes, first bytes
    (every checkpoint of a DuckDB database changes these) and paths, in which columns can be. None if one cannot be
    read."""
    seen = hashlib.sha256(repr(sorted(options.items())).encode())
    for path in paths:
        try:
            found = path.stat()
            with path.open("rb") as file:
                head = file.read(HEAD)
        except FileNotFoundError:  # usually a write-ahead log
            seen.update(b"-;")
            continue
        except OSError:
            return None
        seen.update(
            f"{path.absolute()}:{path.resolve()}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns};".encode(
                errors="surrogateescape"
            )
        )
        seen.update(head)
    return f"files {seen.hexdigest()}"


class FilesRead:
    """Files in the state in which they are when this is made, before they are read."""

    def __init__(self, paths: Sequence[Path], options: Mapping[str, str] = MappingProxyType({})) -> None:
        self.paths, self._options, self.token = paths, options, file_token(paths, options)

    def hashed(self, paths: Sequence[Path], key: bytes) -> str | None:
        """As `hash_of_files` of some of them; None if any is in another state by now, or they are many."""
        if self.token is None or len(self.paths) > MOST_HASHED:
            return None
        found = hash_of_files(paths, key)
        return found if file_token(self.paths, self._options) == self.token else None


def hash_of_files(paths: Sequence[Path], key: bytes) -> str | None:
    """A hash with a key of the names and all bytes of the files, and of which there are; None if one cannot be read.
    Raises BudgetSpent."""
    seen = hashlib.blake2b(key=key)
    for path in paths:
        seen.update(f"{path.absolute()};".encode(errors="surrogateescape"))
        try:
            with path.open("rb") as file:
                while part := file.read(FILE_BYTES_AT_ONCE):
                    check_time(limit())
                    seen.update(part)
                seen.update(f";{file.tell()};".encode())
        except FileNotFoundError:  # usually a write-ahead log
            continue
        except OSError:
            return None
    return seen.hexdigest()


def in_place(files: Sequence[DataFiles]) -> list[Path]:
    """Those that each statement reads anew."""
    return [path for each in files if each.kind == "parquet" for path in each.paths]


def versions(paths: Sequence[Path]) -> tuple[tuple[int, int, int] | None, ...]:
    """What changes with each file, without reading it; None for one that is gone."""
    return tuple(_version(path) for path in paths)


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def allowed_paths(files: DataFiles) -> list[str]:
    """The paths that must stay readable: as they are, and escaped as in statements."""
    if files.kind != "parquet":
        return []
    return sorted({name for path in files.paths for name in (str(path), glob.escape(str(path)))})


def how_read(files: Sequence[DataFiles]) -> str:
    """When the rows of these files are read: the state of the data that statements see. And which columns are not in
    the files."""
    kinds = {each.kind == "parquet" for each in files}
    read = "files read in place" if True in kinds else "files parsed once, at the start"
    if len(kinds) > 1:
        read = "parquet files read in place, others parsed once, at the start"
    folders = [name for each in files for name in each.folder_columns]
    return read if not folders else f"{read}; {few(folders)} from the names of folders"


# Reads data files through DuckDB and checks that every column keeps the name it has in the file.
#
# DuckDB treats names that differ only in letter case as equal, and renames the second of two such columns. An option
# that names a column could then find the other one, and a search could miss a column. Such files are refused.


Execute: TypeAlias = Callable[[str], list[Row]]  # runs a statement and returns its rows

JSON = ("JSON",)


@dataclass(frozen=True, slots=True)
class Contents:
    """The rows of files: a query for them, and the candidate types of each column of texts (JSON: of JSON text)."""

    query: str
    types: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class FileReader:
    """The files of one table, and the function that runs statements in DuckDB."""

    execute: Execute
    files: DataFiles

    def columns(self, query: str) -> dict[str, str]:
        """The columns of a query and their DuckDB types."""
        return {str(row[0]): str(row[1]) for row in self.execute(f"DESCRIBE {query}")}

    def paths(self, paths: Iterable[Path] | None = None) -> str:
        """The paths as a list of SQL: all files, or some of them."""
        return path_list(self.files.paths if paths is None else paths)

    @property
    def hive(self) -> str:
        """Whether folder names such as year=2024 make columns."""
        return truth(bool(self.files.folder_columns))

    def check_names(self, names: Iterable[tuple[str, Sequence[str]]], found: Iterable[str]) -> None:
        """Raises SourceError unless DuckDB `found` exactly the columns of the files: `names` lists them by file."""
        spelled: dict[bytes, tuple[str, str]] = {}  # by name in lower case: its first spelling and the file
        for file, own in names:
            seen: set[bytes] = set()
            for name in own:
                known, place = spelled.setdefault(_folded(name), (name, file))
                if _folded(name) in seen and name == known:
                    raise SourceError(
                        f"{file} has two columns {name}; rename one, so that an option can tell them apart"
                    )
                if name != known:
                    where = (
                        f"{file} has columns {known} and {name}" if place == file else _two(known, place, name, file)
                    )
                    raise SourceError(
                        f"{where}, whose names differ only in letter case; rename one, since DuckDB treats them "
                        f"as equal"
                    )
                seen.add(_folded(name))
        for folder in self.files.folder_columns:
            if _folded(folder) in spelled:
                name, file = spelled[_folded(folder)]
                raise SourceError(
                    f"{file} has a column {name}, and lies in a folder {folder}=..., whose value would take its place; "
                    f"rename the folder or the column"
                )
        folders = self.files.folder_columns
        if len(set(map(_folded, folders))) < len(folders):
            raise SourceError(
                f"{self.files.label} lies in two folders of one name, in {'=..., '.join(folders)}=...; rename one, "
                f"since DuckDB would make one column of them"
            )
        expected = {name for name, _ in spelled.values()}.union(self.files.folder_columns)
        if expected != set(found):
            odd = ", ".join(sorted(expected.symmetric_difference(found))[:6])
            raise SourceError(
                f"{self.files.label} cannot be read column by column: DuckDB finds other names of columns than the "
                f"file and its folders have ({odd}); write the file anew with plain names, or rename its folders"
            )


def path_list(paths: Iterable[Path]) -> str:
    """The paths as a list of SQL."""
    return f"[{', '.join(DUCKDB.literal(glob.escape(str(path))) for path in paths)}]"


def truth(value: bool) -> str:
    return str(value).upper()


def _two(known: str, place: str, name: str, file: str) -> str:
    return f"{place} has a column {known} and {file} a column {name}"


def _folded(name: str) -> bytes:
    """The name as DuckDB compares it: case-insensitive for a to z only."""
    return name.encode("utf-8", "surrogatepass").lower()
