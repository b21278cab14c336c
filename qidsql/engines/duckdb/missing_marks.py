"""Marks of missing values in files, such as NA: those that the user declares are read as NULL, usual ones are noted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import JSON, Contents, FileReader
from qidsql.errors import UnknownName, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill, in_pieces, integer, mark_of_table, put_together
from qidsql.sql.templates import marks as marks_of
from qidsql.wording.texts import count, plural

OPTION = "missing"  # after the ? of a path
# The only texts of a file that a note may name: programs write them, and they say nothing of anybody.
USUAL = ("NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", r"\N", "?", "*", "-", "--", ".", "..")
NUMBERS = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DATE", "TIMESTAMP")  # types of columns, once marks are NULL
FEW = 6  # columns that a note names


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
    """The same rows with NULL for the marks: a column that was of texts because of them can be one of numbers."""
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
    for name in marked[:FEW]:
        marks, text = _marks_in(reader, table, name, among[name])
        seen |= marks
        said.append(text)
    more = f" and {count(len(marked) - FEW)} more columns" if len(marked) > FEW else ""
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
