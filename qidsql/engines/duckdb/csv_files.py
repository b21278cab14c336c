"""Reads CSV files through DuckDB without losing lines."""

import codecs
import csv
import gzip
import re
from io import StringIO
from pathlib import Path

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import Contents, FileReader, truth
from qidsql.errors import SourceError, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill, in_pieces, marks, put_together

DELIMITERS = ",;\t|"
# The characters that DuckDB trims from column names: Unicode spaces, but no tabs or line ends. It treats a name of
# ASCII whitespace only as missing.
BLANKS = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
LONGEST_HEAD = 1 << 20  # bytes at the start of a file that contain its first record


def csv_contents(reader: FileReader, header: str | None) -> Contents:
    """The rows as texts. `header` is the user's option: "true" or "false" (whether the first line has the names).

    The delimiter and the header are determined here: DuckDB's sniffer skips lines at the top until the rest is
    consistent, and so can silently lose most of a file. Raises SourceError, UsageError.
    """
    if header not in (None, "true", "false"):
        raise UsageError("the option header after the ? of the path must be true or false")
    paths = reader.files.paths
    delimiter, names = "", []
    for path in paths:
        head = _head(path)
        own = _delimiter(path, head)
        if own != (delimiter or own):
            raise SourceError(f"{path.name} has another delimiter than {paths[0].name}; audit them one by one")
        delimiter = own
        names.append((path.name if len(paths) > 1 else reader.files.label, _names(path, head, own, header)))
    parts = {
        "paths": reader.paths(),
        "delimiter": DUCKDB.literal(delimiter),
        "header": truth(header != "false"),
        "hive": reader.hive,
    }
    detected, plain = (put_together(_read_csv(DUCKDB), {**parts, "plain": truth(plain)}) for plain in (False, True))
    columns = reader.columns(detected)
    reader.check_names(names, columns)
    return Contents(plain, {name: [kind] for name, kind in columns.items()})


@in_pieces
def _read_csv(_: Dialect) -> exp.Expr:
    return fill("duckdb/read_csv", **marks("paths", "delimiter", "header", "hive", "plain"))


def _delimiter(path: Path, head: str) -> str:
    """The most frequent delimiter in the first line, outside of quotes."""
    unquoted = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", head), maxsplit=1)[0]
    return max(DELIMITERS, key=lambda sign: unquoted.count(sign)) if ".tsv" not in path.suffixes else "\t"


def _names(path: Path, head: str, delimiter: str, header: str | None) -> list[str]:
    """The names of the columns from the first record, as DuckDB spells them. Raises SourceError."""
    try:
        record = next(csv.reader(StringIO(head, newline=""), delimiter=delimiter), []) or [""]
    except csv.Error:  # a field of more than 128 kB
        raise SourceError(
            f"the first line of {path.name} cannot be read as names of columns; correct the file"
        ) from None
    fields = [field.strip(BLANKS) if field.strip(" \t\n\v\f\r") and header != "false" else "" for field in record]
    if header is None and any(re.fullmatch(r"[-+]?[\d.][\d.,:/-]*", field) for field in fields):
        raise SourceError(
            f"the first line of {path.name} does not look like names of columns; put ?header=false after the "
            f"path (the columns are then column0, column1, ...), or ?header=true if these are the names"
        )
    width = len(str(len(fields) - 1))
    return [field or f"column{place:0{width}}" for place, field in enumerate(fields)]


def _head(path: Path) -> str:
    """The start of a text file. Raises SourceError."""
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            return codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(LONGEST_HEAD))
    except UnicodeDecodeError:
        raise SourceError(f"{path.name} is not UTF-8 text; convert it, for example with iconv -t UTF-8") from None
    except (OSError, EOFError):
        raise SourceError(f"{path.name} cannot be read: it is damaged, or its extension is wrong") from None
