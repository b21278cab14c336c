"""Reads data files through DuckDB and checks that every column keeps the name it has in the file.

DuckDB treats names that differ only in letter case as equal, and renames the second of two such columns. An option that
names a column could then find the other one, and a search could miss a column. Such files are refused.
"""

import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.files import DataFiles
from qidsql.errors import SourceError
from qidsql.sql.templates import Row

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
