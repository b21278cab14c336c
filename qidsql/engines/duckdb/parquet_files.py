"""Reads Parquet files in place through DuckDB. Column types can differ between the files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TypeAlias, cast

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.files import Contents, DataFiles, Execute, FileReader, path_list, truth
from qidsql.engines.private_folder import in_memory
from qidsql.errors import QidsqlError, SourceError, Stopped
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill, in_pieces, integer, marks, put_together

PLACE = "file_row_number"  # DuckDB's column of the places of rows, unless the file has one of this name
PLACES = 1_000  # of rows that a statement reads
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


FILES_DESCRIBED = 4_000  # files in one statement, which has all their schemas in memory


def columns_of_files(execute: Execute, files: Sequence[DataFiles]) -> dict[str, dict[str, str] | str]:
    """The columns of files, each a table, and their types; or why a file has none: by the names of the tables.

    One statement for thousands of them, and two for each schema. Raises Stopped.
    """
    if not files:
        return {}
    if len(files) > FILES_DESCRIBED:
        first, rest = files[:FILES_DESCRIBED], files[FILES_DESCRIBED:]
        return columns_of_files(execute, first) | columns_of_files(execute, rest)
    by_path = {each.paths[0]: each for each in files}
    try:
        schemas = _schemas(FileReader(execute, DataFiles("", "", "parquet", tuple(by_path))))
    except Stopped:
        raise
    except QidsqlError as error:  # of one of them
        half = len(files) // 2
        return (
            columns_of_files(execute, files[:half]) | columns_of_files(execute, files[half:])
            if half
            else {files[0].table: str(error)}
        )
    found: dict[str, dict[str, str] | str] = {}
    for alike in ([by_path[path] for path in schema.files] for schema in schemas):
        reader = FileReader(execute, alike[0])
        try:
            columns = reader.columns(parquet_contents(reader).query)
            found.update(dict.fromkeys((each.table for each in alike), columns))
        except Stopped:
            raise
        except QidsqlError as error:
            found.update({each.table: str(error).replace(alike[0].label, each.label) for each in alike})
    return found


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


def read_first_rows(execute: Execute, files: Sequence[Path]) -> None:
    """Reads the first row of each row group. Raises errors of `execute` if one cannot be read."""
    paths = path_list(files)
    starts = [str(start) for (start,) in execute(put_together(_parquet_starts(DUCKDB), {"paths": paths}))]
    for first in range(0, len(starts), PLACES):
        places = ", ".join(starts[first : first + PLACES])
        execute(put_together(_parquet_rows(DUCKDB), {"paths": paths, "places": places}))


@in_pieces
def _parquet_starts(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_starts", **marks("paths"))


@in_pieces
def _parquet_rows(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_rows", **marks("paths", "places"))


# Column chunks that the footer of a parquet file calls NULL throughout: from version 2 on DuckDB takes that for true,
# and gives NULLs without reading any value. So their bytes are read once as columns of a file that says nothing of
# NULLs.


TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
REPETITIONS = ("REQUIRED", "OPTIONAL", "REPEATED")
FILE_COLUMNS_TOGETHER = 500  # columns of a file
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12  # Thrift's compact types
_OfNode: TypeAlias = tuple[str, str | None, int | None, str | None, int]
Value: TypeAlias = tuple[int, bytes]  # its type, and how it is written


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    type: str | None
    length: int | None
    repetition: str | None
    children: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A column chunk that should be NULL throughout. `path`: the nodes of the schema from the top to its leaf."""

    file: Path
    path: tuple[_Node, ...]
    values: int
    codec: str
    start: int
    size: int


def check_nulls(reader: FileReader, scratch: Path) -> None:
    """Raises SourceError if a chunk has values that the footer denies. `scratch` is a private folder."""
    for _, alike in groupby(_denied(reader), lambda chunk: chunk.values):  # as rows of one file have all its columns
        while chunks := list(islice(alike, FILE_COLUMNS_TOGETHER)):
            with in_memory(scratch / "nulls.parquet") as path:
                path.write_bytes(_file_of(chunks))
                counts = ", ".join(f"COUNT(c{place}{'.x' * (len(c.path) - 1)})" for place, c in enumerate(chunks))
                parts = {"paths": path_list([path]), "counts": counts}
                [[found]] = reader.execute(put_together(_parquet_counts(DUCKDB), parts))
            for chunk, count in zip(chunks, cast(list[int], found), strict=True):
                if count:
                    raise SourceError(
                        f"{chunk.file.name} says of some rows that all their values of the column "
                        f"{'.'.join(each.name for each in chunk.path)} are NULL, and they are not: write the file anew"
                    )


def _denied(reader: FileReader) -> Iterator[_Chunk]:
    """The chunks that should be NULL throughout, those with as many values together. DuckDB believes it of columns
    without lists only."""
    rows = reader.execute(put_together(_parquet_nulls(DUCKDB), {"paths": reader.paths()}))
    leaves = _leaves(reader, {Path(str(row[0])) for row in rows}) if rows else {}
    for name, column, *rest in rows:
        file = Path(str(name))
        path = leaves[file][integer(column)]
        if all(node.repetition != "REPEATED" for node in path):
            yield _Chunk(file, path, *cast(tuple[int, str, int, int], rest))


def _leaves(reader: FileReader, files: Iterable[Path]) -> dict[Path, list[tuple[_Node, ...]]]:
    """The paths to the leaves of the files' schemas."""
    nodes: dict[Path, list[_Node]] = {}
    for file, *node in reader.execute(put_together(_parquet_nodes(DUCKDB), {"paths": reader.paths(sorted(files))})):
        nodes.setdefault(Path(str(file)), []).append(_Node(*cast(_OfNode, node)))
    return {file: [path[1:] for path in _paths(iter(each))] for file, each in nodes.items()}


def _paths(nodes: Iterator[_Node], above: tuple[_Node, ...] = ()) -> Iterator[tuple[_Node, ...]]:
    node = next(nodes)
    if not node.children:
        yield (*above, node)
    for _ in range(node.children):
        yield from _paths(nodes, (*above, node))


def _file_of(chunks: Sequence[_Chunk]) -> bytes:
    """A parquet file of one row group whose columns c0, c1, ... are these chunks, with an x for each field inside."""
    body, nodes, columns = [b"PAR1"], [_struct({4: _text("root"), 5: _number(len(chunks))})], []
    place = 4
    for number, chunk in enumerate(chunks):
        with chunk.file.open("rb") as file:
            file.seek(chunk.start)
            body.append(file.read(max(chunk.size, 0)))
        names = [f"c{number}", *("x" for _ in chunk.path[1:])]
        nodes += [_node(node, name) for node, name in zip(chunk.path, names, strict=True)]
        columns.append(_struct({2: _number(place, I64), 3: _struct(_about(chunk, names, place))}))
        place += chunk.size
    group = _struct({1: _list(columns), 2: _number(place, I64), 3: _number(chunks[0].values, I64)})
    about = {1: _number(2), 2: _list(nodes), 3: _number(chunks[0].values, I64), 4: _list([group])}
    _, footer = _struct(about)
    return b"".join((*body, footer, len(footer).to_bytes(4, "little"), b"PAR1"))


def _node(node: _Node, name: str) -> Value:
    fields = {3: _number(REPETITIONS.index(node.repetition or "REQUIRED")), 4: _text(name)}
    if node.type is None:
        return _struct({**fields, 5: _number(1)})
    length = {} if node.length is None else {2: _number(node.length)}
    return _struct({1: _number(TYPES.index(node.type)), **length, **fields})


def _about(chunk: _Chunk, names: Sequence[str], place: int) -> dict[int, Value]:
    return {
        1: _number(TYPES.index(str(chunk.path[-1].type))),
        2: _list([_number(0)]),  # the encodings; each page says its own
        3: _list([_text(name) for name in names]),
        4: _number(CODECS.index(chunk.codec)),
        5: _number(chunk.values, I64),
        6: _number(chunk.size, I64),
        7: _number(chunk.size, I64),
        9: _number(place, I64),
    }


def _struct(fields: Mapping[int, Value]) -> Value:
    written, before = [], 0
    for number, (kind, value) in sorted(fields.items()):
        written += [bytes([(number - before) << 4 | kind]), value]
        before = number
    return STRUCT, b"".join((*written, b"\0"))


def _list(items: Sequence[Value]) -> Value:
    return LIST, b"".join((bytes([0xF0 | items[0][0]]), _varint(len(items)), *(value for _, value in items)))


def _text(text: str) -> Value:
    return BINARY, _varint(len(text)) + text.encode()


def _number(number: int, kind: int = I32) -> Value:
    return kind, _varint(number * 2)


def _varint(number: int) -> bytes:
    written = []
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes((*written, number))


@in_pieces
def _parquet_nulls(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_nulls", **marks("paths"))


@in_pieces
def _parquet_nodes(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_nodes", **marks("paths"))


@in_pieces
def _parquet_counts(_: Dialect) -> exp.Expr:
    return fill("duckdb/parquet_counts", **marks("paths", "counts"))
