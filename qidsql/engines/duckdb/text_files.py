"""Reads CSV files through DuckDB without losing lines."""

import codecs
import csv
import gzip
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from json import JSONDecodeError, JSONDecoder, dumps, loads
from pathlib import Path
from typing import IO

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.files import JSON, Contents, DataFiles, FileReader, truth
from qidsql.errors import SourceError, UnknownName, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import Filling, fill, in_pieces, integer, mark_of_table, marks, put_together
from qidsql.sql.templates import marks as marks_of
from qidsql.wording.texts import count, plural

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


# Where a file that DuckDB cannot parse is odd: of a csv file it often names no line, of json the one after.


LINES_READ = 100_000  # lines at the start of a csv file: DuckDB names the line of later ones
LOOKED_AT_WHOLE = 1 << 26  # bytes of a json file that is looked at as a whole


def odd_places(files: DataFiles) -> list[str]:
    """The first odd line of each file that has one, and what is odd, without any text of the file."""
    look = _odd_record if files.kind == "csv" else _odd_value
    found = []
    for path in files.paths:
        with suppress(OSError, EOFError, UnicodeDecodeError, SourceError), _opened(path) as file:
            line, why = look(path, file)
            if line:
                found.append(f" at line {line}{f' of {path.name}' if len(files.paths) > 1 else ''}: {why}")
    return found


def _opened(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _odd_record(path: Path, file: IO[str]) -> tuple[int, str]:
    """The line of the first record of other width than the first, or of a line break that differs; 0: there is none."""
    breaks: list[str] = []

    def lines() -> Iterator[str]:
        for line in islice(file, LINES_READ):
            breaks.append(line[len(line.rstrip("\r\n")) :])
            yield line

    records = csv.reader(lines(), delimiter=_delimiter(path, _head(path)), strict=True)
    width, begun = 0, 1
    try:
        for record in records:
            width = width or len(record)
            if record and len(record) != width:
                return begun, f"{plural(len(record), 'field')} where the first line has {count(width)}"
            begun = records.line_num + 1
    except csv.Error:
        return begun, "a quote is not closed, or has other text behind it"
    odd = next((place for place, each in enumerate(breaks, start=1) if each not in ("", breaks[0])), 0)
    return odd, "it ends in another line break than the first"


def _odd_value(path: Path, file: IO[str]) -> tuple[int, str]:
    """The line of the first value that is no JSON; 0: there is none, or it was not looked for."""
    why = "this is no JSON"
    for number, line in enumerate(file, start=1):
        try:
            if line.strip():
                loads(line)
        except ValueError:
            if number > 1:
                return number, why
            break  # values of several lines
    else:
        return 0, why
    file.seek(0)
    text, blank = file.read(LOOKED_AT_WHOLE + 1), re.compile(r"\s*")
    place, end = 0, len(text.rstrip()) if len(text) <= LOOKED_AT_WHOLE else 0
    try:
        while place < end:
            _, place = JSONDecoder().raw_decode(text, blank.match(text, place).end())  # type: ignore[union-attr]
    except JSONDecodeError as error:
        return error.lineno, why
    return 0, why


# Reads JSON files through DuckDB, with every number as it is written in the file.
#
# DuckDB parses numbers into 64 bits, so 4.12345678901234567 and ...68 become one value, and 1.50 becomes 1.5. Therefore
# numbers are turned into strings before it parses a record. A mark distinguishes them from strings of the file; it is
# random for every source, so that no file can contain it.


# The text before a number (with whole strings), and the number; or the rest at the end.
NUMBER = r'((?:[^"\-0-9]|-[^0-9"]|"(?:[^"\\]|\\.)*")*)(-?[0-9][0-9.eE+\-]*|$)'
CHANGED = r"[0-9][.eE]|[0-9]{16}|-0"  # matches every number that DuckDB might write differently
# The kinds of values that make a column of texts, and its candidate types. A column of other kinds is JSON text.
SCALARS: Mapping[frozenset[str], tuple[str, ...]] = {
    frozenset(): (),
    frozenset({"BIGINT", "UBIGINT"}): ("BIGINT", "UBIGINT"),
    frozenset({"BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DOUBLE"}): ("DOUBLE",),
    frozenset({"BOOLEAN"}): ("BOOLEAN",),
    frozenset({"DATE"}): ("DATE",),
    frozenset({"TIME"}): ("TIME",),
    frozenset({"TIMESTAMP"}): ("TIMESTAMP",),
    frozenset({"VARCHAR", "DATE", "TIME", "TIMESTAMP"}): (),
}


def json_contents(reader: FileReader) -> Contents:
    """The rows of JSON records: an array of objects, or one object after the other.

    A column of strings, of numbers or of booleans is text; one of mixed or nested values is JSON text, in which
    "1" differs from 1. Columns are found by key: DuckDB's own JSON reader makes one map of records with many keys or
    an empty key. Raises SourceError.
    """
    label, mark = reader.files.label, secrets.token_hex(8)
    keys = _keys(reader)
    names = [key or f"column{place}" for place, key in enumerate(keys)]
    pointers = exp.Array(expressions=[exp.Literal.string(_pointer(key)) for key in keys])
    types = [_types_of(kinds) for kinds in _kinds(reader, pointers, len(keys))]
    columns = [
        _part("json_tree", number=place, marked=f'"{mark}([^"]*)"', bare=r"\1")
        if found is None
        else _part("json_text", number=place, mark=mark)
        for place, found in enumerate(types, start=1)
    ]
    query = fill(
        "duckdb/read_json",
        paths=_paths(reader),
        hive=exp.var(reader.hive),
        changed=CHANGED,
        number=NUMBER,
        marked=rf'\1"{mark}\2"',
        rest=exp.Neg(this=exp.Literal.number(len(mark) + 2)),
        texts=_of_all("JSON_EXTRACT_STRING", "record", pointers),
        trees=_of_all("JSON_EXTRACT", "record", pointers),
        columns=[exp.alias_(node, name, quoted=True) for node, name in zip(columns, names, strict=True)],
    )
    text = DUCKDB.render(query)
    reader.check_names([(label, names)], reader.columns(text))
    return Contents(text, {name: JSON if found is None else found for name, found in zip(names, types, strict=True)})


def _types_of(kinds: set[str]) -> tuple[str, ...] | None:
    """The candidate types for a column of texts; None for a column of JSON text."""
    return next((types for scalars, types in SCALARS.items() if kinds <= scalars), None)


def _keys(reader: FileReader) -> list[str]:
    """The keys of all objects, in the order of their first appearance. Raises SourceError."""
    label = reader.files.label
    rows = reader.execute(DUCKDB.render(fill("duckdb/json_keys", paths=_paths(reader))))
    if any(not is_object for is_object, *_ in rows):
        raise SourceError(f'{label} contains records that are not objects; write each row as {{"column": value, ...}}')
    keys: list[str] = []
    for _, key, times in rows:
        if key is not None:
            keys.append(str(key))
        if times is not None and int(str(times)) > 1:
            raise SourceError(f"{label} has an object with the key {key} twice; give each key one value")
    if not keys:
        raise SourceError(f"{label} has no column: its objects have no keys")
    return keys


def _kinds(reader: FileReader, pointers: exp.Expr, number: int) -> list[set[str]]:
    """The kinds of JSON values of each column, without nulls."""
    kinds = [_part("json_kinds_of", number=place) for place in range(1, number + 1)]
    query = fill(
        "duckdb/json_kinds",
        paths=_paths(reader),
        types=_of_all("JSON_TYPE", "json", pointers),
        texts=_of_all("JSON_EXTRACT_STRING", "json", pointers),
        kinds=kinds,
    )
    [(_, *row)] = reader.execute(DUCKDB.render(query))
    return [{str(kind) for kind in (found if isinstance(found, Sequence) else ())} - {"NULL"} for found in row]


def _paths(reader: FileReader) -> exp.Expr:
    return exp.Var(this=reader.paths())


def _pointer(key: str) -> str:
    """The JSON pointer of a key (RFC 6901)."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _of_all(function: str, record: str, pointers: exp.Expr) -> exp.Expr:
    """A function applied to the values at all pointers, as a list, so that the record is parsed once."""
    return exp.Anonymous(this=function, expressions=[exp.column(record), pointers.copy()])


def _part(template: str, **holes: Filling) -> exp.Expr:
    """The single column of a template, for use in another query."""
    query = fill(f"duckdb/{template}", **holes)
    assert isinstance(query, exp.Select)
    return query.selects[0]


# Marks of missing values in files, such as NA: those that the user declares are read as NULL, usual ones are noted.


OPTION = "missing"  # after the ? of a path
# The only texts of a file that a note may name: programs write them, and they say nothing of anybody.
USUAL = ("NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", r"\N", "?", "*", "-", "--", ".", "..")
NUMBERS = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIMESTAMP")  # types of columns, once marks are NULL
COLUMNS_NAMED = 6  # columns that a note names


@dataclass(frozen=True, slots=True)
class Marks:
    """Declared marks: of all columns, and further ones by column."""

    everywhere: tuple[str, ...] = ()
    by_column: Mapping[str, tuple[str, ...]] | None = None

    @classmethod
    def declared(cls, text: str | None) -> "Marks":
        """From the user's list, such as NA,?,hours:99. Raises UsageError."""
        if text is None:
            return cls()
        parts = [part.rpartition(":") for part in text.split(",")]
        if not all(mark for *_, mark in parts):
            raise UsageError(
                f"the option {OPTION} after the ? of the path must list marks of missing values, for one column after "
                f"its name, such as {OPTION}=NA,hours:99"
            )
        columns = {column for column, *_ in parts if column}
        by_column = {name: tuple(mark for column, _, mark in parts if column == name) for name in columns}
        return cls(tuple(mark for column, _, mark in parts if not column), by_column)

    def of(self, column: str) -> tuple[str, ...]:
        return (*self.everywhere, *(self.by_column or {}).get(column, ()))

    def check(self, columns: Iterable[str], label: str) -> None:
        """Raises UnknownName unless each column that has marks of its own is among these."""
        known = set(columns)
        if unknown := sorted(set(self.by_column or {}) - known):
            raise UnknownName("column", unknown, f"{label}, for marks of missing values", known)

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.by_column)

    def __str__(self) -> str:
        own = (f"{', '.join(marks)} of {column}" for column, marks in sorted((self.by_column or {}).items()))
        return "; ".join([", ".join(self.everywhere)] * bool(self.everywhere) + list(own))


def without_marks(reader: FileReader, found: Contents, marks: Marks) -> Contents:
    """The contents with NULL for the marks: a column that was of texts because of them can be one of numbers."""
    replaced, types = [], dict(found.types)
    for name in reader.columns(found.query):
        if own := marks.of(name):
            column = DUCKDB.identifier(name)
            marked = _is_among(_text(name), own, types.get(name))
            replaced.append(f"CASE WHEN {marked} THEN NULL ELSE {column} END AS {column}")
            if types.get(name) in (["VARCHAR"], JSON):
                types[name] = NUMBERS
    if not replaced:
        return found
    return Contents(f"SELECT * REPLACE ({', '.join(replaced)}) FROM ({found.query}) AS texts", types)


def note_of_marks(reader: FileReader, table: str, types: Mapping[str, Sequence[str]]) -> str:
    """What a reader should know of usual marks in the columns of texts; empty if there are none. Two statements."""
    texts = [name for name, kind in reader.columns(f"FROM {table}").items() if kind in ("VARCHAR", "JSON")]
    if not texts:
        return ""
    among = {name: _is_among(_text(name), USUAL, types.get(name)) for name in texts}
    parts = ", ".join(f"COUNT(*) FILTER (WHERE {condition})" for condition in among.values())
    [numbers] = reader.execute(f"SELECT {parts} FROM {table}")
    marked = [name for name, number in zip(texts, numbers, strict=True) if integer(number)]
    if not marked:
        return ""
    said, seen = [], set()
    for name in marked[:COLUMNS_NAMED]:
        marks, text = _marks_in(reader, table, name, among[name])
        seen |= marks
        said.append(text)
    more = f" and {count(len(marked) - COLUMNS_NAMED)} more columns" if len(marked) > COLUMNS_NAMED else ""
    return (
        f"texts that often mean a missing value: {'; '.join(said)}{more}; to read them as NULL, put "
        f"?{OPTION}={','.join(sorted(seen))} after the path"
    )


def _marks_in(reader: FileReader, table: str, name: str, among: str) -> tuple[set[str], str]:
    """The usual marks in a column, and the text of a note on them."""
    parts = {"texts": table, "column": _text(name), "marked": among}
    rows = reader.execute(put_together(_marks_in_column(DUCKDB), parts))
    others = [numbers for mark, _, numbers in rows if mark is None]
    marks = {str(mark): plural(integer(times), "field") for mark, times, _ in rows if mark is not None}
    said = " and ".join(f"{fields} {mark}" for mark, fields in marks.items())
    return {mark.strip('"') for mark in marks}, f"{name} ({said}{', else numbers' if others == [True] else ''})"


@in_pieces
def _marks_in_column(_: Dialect) -> exp.Expr:
    return fill("duckdb/marks_in_column", texts=mark_of_table("texts"), **marks_of("column", "marked"))


def _text(column: str) -> str:
    return f"CAST({DUCKDB.identifier(column)} AS VARCHAR)"


def _is_among(text: str, marks: Sequence[str], types: Sequence[str] | None) -> str:
    """Whether a text is one of the marks; in a column of JSON text it is quoted there, if it is a string."""
    quoted = [dumps(mark, ensure_ascii=False) for mark in marks] if types == JSON else []
    return f"{text} IN ({', '.join(DUCKDB.literal(mark) for mark in (*marks, *quoted))})"
