"""Data files made a table of DuckDB's: which files are meant, how they are read, and what type each column gets.

Two texts of a file that differ stay two values, always: a type is given to a column only when that merges none of
its texts. So '01234' never becomes 1234, nor '1.00' 1.0, unless every value is written the one way. An audit that
merged them would call people hidden in a crowd that a reader of the file can tell apart.
"""

import csv
import glob
import gzip
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sqlglot import exp

from qidsql.errors import SourceError, UsageError
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import Filling, fill

Ask: TypeAlias = Callable[[str], list[Row]]  # a statement in, its rows out

HEAD = 16 * 1024  # bytes of a file's beginning that its token covers; those of a DuckDB database hold its headers
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
DELIMITERS = ",;\t|"
PATTERN = r"[*?\[]"
# Types that a text may be given. Others (UUID, nested) gain nothing in a GROUP BY and stay text.
TYPES = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Files of one kind that are audited as one table. `label` is what the user calls them."""

    label: str
    table: str
    kind: str
    paths: tuple[Path, ...]


def find_files(path: Path, label: str) -> tuple[DataFiles, ...]:
    """The tables that a path means: a file or pattern is one, and in a folder each data file. Raises SourceError."""
    return _in_folder(path, label) if path.is_dir() else (_one_table(path, label),)


def _in_folder(folder: Path, label: str) -> tuple[DataFiles, ...]:
    # A .txt is read where it is named; in a folder it is more likely to be there for people.
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and _by_ending(file) is not None]
    files = [file for file in files if ".txt" not in file.suffixes]
    found: dict[str, DataFiles] = {}
    for file in files:
        name = file.name.split(".")[0]
        if not name:
            continue
        if name.casefold() in found:
            other = found[name.casefold()].paths[0].name
            raise SourceError(f"{other} and {file.name} in {label} would be tables of one name; name one of them")
        found[name.casefold()] = DataFiles(label, name, _kind(file, file.name), (file.absolute(),))
    if not found:
        raise SourceError(
            f"{label} is a folder without a data file in it; name a file, or a pattern such as "
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
    return DataFiles(label, _table_name(path), next(iter(kinds)), paths)


def _kind(path: Path, label: str) -> str:
    """The kind of a file: by its first bytes where they tell, else by its ending. Raises SourceError."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read ({error.strerror}); check the file's permissions") from None
    if not start:
        raise SourceError(f"{path.name} is empty: it has not even the names of columns")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3"):
        raise SourceError(f"{path.name} is an SQLite database, which qidsql cannot read; export the table as csv")
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
    """The name under which files are audited: their own, without endings, or their folder's for a bare pattern."""
    names = [path.name.split(".")[0], *(part for part in reversed(path.absolute().parts[:-1]))]
    return next((name for name in names if name and (path.exists() or not re.search(PATTERN, name))), "files")


def read_files(ask: Ask, files: DataFiles, options: Mapping[str, str]) -> None:
    """Makes the files a table or view, in place where their format has types, else parsed once.

    Raises SourceError, UsageError, and what `ask` raises.
    """
    table = exp.Table(this=exp.to_identifier(files.table, quoted=True))
    paths = exp.Array(expressions=[exp.Literal.string(glob.escape(str(path))) for path in files.paths])
    if files.kind == "parquet":
        _run(ask, exp.Create(this=table, kind="VIEW", expression=fill("duckdb/read_parquet", paths=paths)))
        return
    if files.kind == "csv":
        delimiter, header = _csv_format(files, options.get("header"))
        holes: dict[str, Filling] = {"paths": paths, "delimiter": delimiter, "header": exp.Boolean(this=header)}
        types = _types(ask, fill("duckdb/read_csv", plain=exp.false(), **holes))
        texts = fill("duckdb/read_csv", plain=exp.true(), **holes)
    else:
        types = _types(ask, fill("duckdb/guess_json", paths=paths))
        # Text for the scalars; a column of mixed or nested values stays JSON text, which tells "1" from 1.
        plain = {name: "VARCHAR" if kind in (*TYPES, "VARCHAR", "UUID") else "JSON" for name, kind in types.items()}
        columns = [
            exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=exp.Literal.string(kind))
            for name, kind in plain.items()
        ]
        texts = fill("duckdb/read_json", paths=paths, columns=exp.Struct(expressions=columns))
    _run(ask, exp.Create(this=table, kind="TABLE", expression=texts))
    _give_types(ask, table, types)


def file_token(paths: Sequence[Path]) -> str | None:
    """A text that is the same again only while the files are, by their sizes, times, inodes and beginnings: every
    checkpoint of a DuckDB database changes its beginning. None where a file cannot be looked at."""
    seen = hashlib.sha256()
    for path in paths:
        try:
            found = path.stat()
            with path.open("rb") as file:
                head = file.read(HEAD)
        except FileNotFoundError:  # as a write-ahead log mostly is
            seen.update(b"-;")
            continue
        except OSError:
            return None
        seen.update(
            f"{path.resolve()}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns};".encode()
        )
        seen.update(head)
    return f"files {seen.hexdigest()}"


def allowed_paths(files: DataFiles) -> list[str]:
    """The files that must stay readable, as they are and as `read_files` writes them."""
    if files.kind != "parquet":
        return []
    return sorted({name for path in files.paths for name in (str(path), glob.escape(str(path)))})


def _give_types(ask: Ask, table: exp.Table, types: Mapping[str, str]) -> None:
    """Turns columns of text into the types guessed, each where no two texts become one value."""
    for name, kind in types.items():
        if kind not in TYPES:
            continue
        column = exp.column(exp.to_identifier(name, quoted=True))
        typed = exp.DataType.build(kind, dialect="duckdb")
        value = exp.TryCast(this=exp.column("text_value"), to=typed)
        [[merged]] = _run(ask, fill("duckdb/merged_texts", texts=table, column=column, value=value))
        if integer(merged) == 0:
            change = exp.AlterColumn(this=column, dtype=typed)
            _run(ask, exp.Alter(this=table, kind="TABLE", actions=[change]))


def _types(ask: Ask, query: exp.Expr) -> dict[str, str]:
    """The columns of a query and their types, as DuckDB guesses them."""
    return {str(row[0]): str(row[1]) for row in _run(ask, exp.Describe(this=query))}


def _run(ask: Ask, tree: exp.Expr) -> list[Row]:
    return ask(tree.sql("duckdb", comments=False))


def _csv_format(files: DataFiles, header: str | None) -> tuple[str, bool]:
    """The delimiter, and whether the first line holds the columns' names.

    Both are settled here, from the first line: DuckDB's own guess skips lines at the top until the rest fits together,
    and so can lose most of a file in silence. Raises SourceError, UsageError.
    """
    if header not in (None, "true", "false"):
        raise UsageError(f"the option header behind the path must be true or false, got {header}")
    delimiter = ""
    for path in files.paths:
        line = _first_line(path)
        unquoted = re.sub(r'"[^"]*"', "", line)
        own = max(DELIMITERS, key=lambda sign: unquoted.count(sign)) if ".tsv" not in path.suffixes else "\t"
        if own != (delimiter or own):
            raise SourceError(f"{path.name} separates its columns by another sign than {files.paths[0].name} does")
        delimiter = own
        fields = next(csv.reader([line], delimiter=own), [])
        if header is None and any(re.fullmatch(r"[-+]?[\d.][\d.,:/-]*", field.strip()) for field in fields):
            raise SourceError(
                f"the first line of {path.name} does not look like names of columns; put ?header=false behind the "
                f"path (the columns are then column0, column1, ...), or ?header=true if these are the names"
            )
    return delimiter, header != "false"


def _first_line(path: Path) -> str:
    """The first line of a text file, at most a megabyte of it. Raises SourceError."""
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            return file.readline(1 << 20).decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise SourceError(f"{path.name} is not UTF-8 text; convert it, for example with iconv -t UTF-8") from None
    except (OSError, EOFError):
        raise SourceError(f"{path.name} cannot be read: it is damaged, or not what its ending says") from None
