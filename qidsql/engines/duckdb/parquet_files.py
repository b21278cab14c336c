"""Reads Parquet files in place through DuckDB. Column types can differ between the files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import Contents, FileReader, truth
from qidsql.errors import SourceError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill, in_pieces, integer, marks, put_together

NUMERIC = r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\)"


@dataclass(frozen=True, slots=True)
class _Schema:
    """Files that have the same columns with the same types."""

    names: tuple[str, ...]
    files: tuple[Path, ...]


def parquet_contents(reader: FileReader) -> Contents:
    """The rows. Columns are matched by name; a column that a file lacks is NULL. Raises SourceError."""
    schemas = _schemas(reader)
    label = reader.files.label
    everything = put_together(_read_parquet(DUCKDB), {"paths": reader.paths(), "hive": reader.hive})
    if len(schemas) > 1:
        _check_types(reader, schemas, everything)
    names = [(label if len(reader.files.paths) == 1 else each.files[0].name, each.names) for each in schemas]
    reader.check_names(names, reader.columns(everything))
    return Contents(everything, {})


def _schemas(reader: FileReader) -> list[_Schema]:
    rows = reader.execute(put_together(_parquet_schemas(DUCKDB), {"paths": reader.paths()}))
    return [
        _Schema(_top_level(names, children), tuple(Path(str(file)) for file in files))  # type: ignore[arg-type, attr-defined]
        for names, children, files in rows
    ]


def _top_level(names: Sequence[str], children: Sequence[int]) -> tuple[str, ...]:
    """The top-level columns of a schema, which lists the root, then each column followed by its nested fields."""
    found = []
    open_nodes = 0  # of the current column
    for name, below in zip(names[1:], children[1:], strict=True):
        if not open_nodes:
            found.append(name)
            open_nodes = 1
        open_nodes += below - 1
    return tuple(found)


def _check_types(reader: FileReader, schemas: Sequence[_Schema], everything: str) -> None:
    """Raises SourceError if a column has several types, and a common type could merge different values.

    Numbers may be converted if none of them changes. One scan of each such column.
    """
    parts = [{"paths": reader.paths(each.files[:1]), "hive": truth(False)} for each in schemas]
    types = [reader.columns(put_together(_read_parquet(DUCKDB), each)) for each in parts]
    by_name: dict[str, dict[str, list[_Schema]]] = {}
    for schema, own in zip(schemas, types, strict=True):
        for name, kind in own.items():
            by_name.setdefault(name, {}).setdefault(kind, []).append(schema)
    several = {name: kinds for name, kinds in by_name.items() if len(kinds) > 1}
    for name, kinds in several.items():
        used = {kind: found for kind, found in kinds.items() if _used(reader, name, found)}
        if len(used) < 2:
            continue
        if all(re.fullmatch(NUMERIC, kind) for kind in used):
            together = reader.columns(everything)[name]
            if not any(_changed(reader, name, kind, together, found) for kind, found in used.items()):
                continue
        (one, first), (other, second), *_ = used.items()
        raise SourceError(
            f"column {name} is {one} in {first[0].files[0].name} and {other} in {second[0].files[0].name}, and "
            f"a common type could merge different values; write these files again with one type, or audit them one by "
            f"one"
        )


def _used(reader: FileReader, name: str, schemas: Sequence[_Schema]) -> bool:
    """Whether the column has a value in these files: without one, its type does not matter."""
    return _count(reader, name, schemas, truth(True)) > 0


def _changed(reader: FileReader, name: str, kind: str, together: str, schemas: Sequence[_Schema]) -> bool:
    """Whether converting to the type `together` changes a number of the column."""
    column = DUCKDB.identifier(name)
    back = f"TRY_CAST(TRY_CAST({column} AS {together}) AS {kind})"
    return _count(reader, name, schemas, f"{back} IS DISTINCT FROM {column}") > 0


def _count(reader: FileReader, name: str, schemas: Sequence[_Schema], condition: str) -> int:
    """How many values of the column in these files meet the condition."""
    parts = {
        "paths": reader.paths(file for each in schemas for file in each.files),
        "column": DUCKDB.identifier(name),
        "condition": condition,
    }
    return integer(reader.execute(put_together(_parquet_values(DUCKDB), parts))[0][0])


@in_pieces
def _read_parquet(_: Dialect) -> exp.Expr:
    return fill("duckdb/read_parquet", **marks("paths", "hive"))


@in_pieces
def _parquet_schemas(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_schemas", **marks("paths"))


@in_pieces
def _parquet_values(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_values", **marks("paths", "column", "condition"))
