"""Data files as DuckDB reads them, and whether it reads every column under the name that it has there.

DuckDB takes names that differ only in the case of letters for one, and renames the second of two columns. An option
that names a column would then find the other one, and a search could go past a column. Such files are refused.
"""

import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sqlglot import exp

from qidsql.engines.duckdb.files import DataFiles
from qidsql.errors import SourceError
from qidsql.sql.statements import Row

Ask: TypeAlias = Callable[[str], list[Row]]  # a statement in, its rows out


@dataclass(frozen=True, slots=True)
class Contents:
    """The rows of files: a query for them, and for columns of texts the types that these may be given."""

    query: exp.Expr
    types: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class FileReader:
    """The files of one table, and what to ask DuckDB by."""

    ask: Ask
    files: DataFiles

    def run(self, tree: exp.Expr) -> list[Row]:
        return self.ask(tree.sql("duckdb", comments=False))

    def columns(self, query: exp.Expr) -> dict[str, str]:
        """The columns of a query and their types, as DuckDB has them."""
        return {str(row[0]): str(row[1]) for row in self.run(exp.Describe(this=query))}

    def paths(self, paths: Iterable[Path] | None = None) -> exp.Array:
        """The files as a list, or some of them."""
        names = [glob.escape(str(path)) for path in (self.files.paths if paths is None else paths)]
        return exp.Array(expressions=[exp.Literal.string(name) for name in names])

    @property
    def hive(self) -> exp.Expr:
        """Whether folders stand for columns."""
        return exp.Boolean(this=bool(self.files.folder_columns))

    def check_names(self, names: Iterable[tuple[str, Sequence[str]]], found: Iterable[str]) -> None:
        """Raises SourceError unless DuckDB found the columns of the files (of each its name and theirs), one by one."""
        spelled: dict[bytes, tuple[str, str]] = {}  # the name in small letters: as it is written first, and where
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
                        f"{where}, whose names differ only in the case of letters; rename one, DuckDB takes them for "
                        f"the same name"
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
                f"DuckDB would take them for the same column"
            )
        expected = {name for name, _ in spelled.values()}.union(self.files.folder_columns)
        if expected != set(found):
            odd = ", ".join(sorted(expected.symmetric_difference(found))[:6])
            raise SourceError(
                f"{self.files.label} cannot be read column by column: DuckDB finds other names of columns than the "
                f"file and its folders have ({odd}); write the file anew with plain names, or rename its folders"
            )


def _two(known: str, place: str, name: str, file: str) -> str:
    return f"{place} has a column {known} and {file} a column {name}"


def _folded(name: str) -> bytes:
    """The name as DuckDB compares it: only the case of a to z makes no difference."""
    return name.encode("utf-8", "surrogatepass").lower()
