"""A second source in a session: a database, attached read-only, or data files, as tables of a private database."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from qidsql.engines.duckdb.files import DataFiles, Execute, allowed_paths, find_files, how_read
from qidsql.engines.duckdb.reading import read_files
from qidsql.engines.duckdb.text_files import OPTION
from qidsql.engines.paths import Located
from qidsql.engines.private_folder import PrivateFolder, remove_name
from qidsql.errors import SourceError, UsageError
from qidsql.sql import sql_file


@dataclass(frozen=True, slots=True)
class Beside:
    """A second source. `files` are its data files by table; a database has none."""

    label: str
    path: Path
    files: tuple[DataFiles, ...]
    options: Mapping[str, str]

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        database = [self.path, self.path.with_name(f"{self.path.name}.wal")]
        return [path for each in self.files for path in each.paths] if self.files else database

    @property
    def allowed_paths(self) -> list[str]:
        """The paths that must stay readable."""
        return [path for each in self.files for path in allowed_paths(each)]

    @property
    def snapshot(self) -> str:
        return how_read(self.files) if self.files else "opened read-only"


def catalog_beside(catalog: str) -> str:
    """The name under which the second source is attached, next to the database of this name."""
    return f"{catalog}_beside"


def find_beside(second: Located, first: Path, is_database: Callable[[Path], bool]) -> Beside:
    """The second source at a path; `first` is the path of the first. Raises SourceError, UsageError."""
    path, label = second.path, second.label
    if path.exists() and first.exists() and os.path.samefile(path, first):
        raise UsageError(f"{label} is the source itself; leave it out, and name the table")
    if set(second.settings) - {"header", OPTION}:
        raise UsageError(
            f"the second source takes only the options header, for csv files, and {OPTION} after its ?; put "
            f"memory_limit and threads after the first one"
        )
    files = () if path.is_file() and is_database(path) else find_files(path, label)
    if obstacle := next((each.obstacle for each in files if each.obstacle), ""):
        raise SourceError(obstacle)
    return Beside(label, path, files, second.settings)


def attach_beside(beside: Beside, folder: PrivateFolder, execute: Execute) -> None:
    """Attaches the source, before the session is sealed. Raises SourceError, UsageError, and errors of `execute`."""
    [[_, database, *_]] = execute(sql_file("duckdb/default_schema"))
    catalog = catalog_beside(str(database))
    if not beside.files:
        execute(_attach(beside.path, catalog, "READ_ONLY"))
        return
    execute("SET search_path = 'system.main'")  # a macro of the first source could be called read_csv
    path = folder.path / "beside.duckdb"
    execute("SET checkpoint_threshold = '1B'")  # no write-ahead log
    execute(_attach(path, catalog, "READ_WRITE"))
    remove_name(path)
    for each in beside.files:
        read_files(execute, each, beside.options, folder.path, catalog)
    execute("RESET search_path")


def _attach(path: Path, catalog: str, mode: str) -> str:
    name = exp.alias_(exp.Literal.string(str(path)), exp.to_identifier(catalog, quoted=True))
    return exp.Attach(this=name, expressions=[exp.AttachOption(this=exp.var(mode))]).sql("duckdb")
