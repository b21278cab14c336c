"""Reads JSON files through DuckDB, with every number as it is written in the file.

DuckDB parses numbers into 64 bits, so 4.12345678901234567 and ...68 become one value, and 1.50 becomes 1.5. Therefore
numbers are turned into strings before it parses a record. A mark distinguishes them from strings of the file; it is
random for every source, so that no file can contain it.
"""

import secrets
from collections.abc import Mapping, Sequence

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import JSON, Contents, FileReader
from qidsql.errors import SourceError
from qidsql.sql.templates import Filling, fill

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
