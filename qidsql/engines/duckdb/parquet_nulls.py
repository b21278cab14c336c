"""Column chunks that the footer of a parquet file calls NULL throughout: from version 2 on DuckDB takes that for true,
and gives NULLs without reading any value. So their bytes are read once as columns of a file that says nothing of NULLs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TypeAlias, cast

from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.file_reader import FileReader, path_list
from qidsql.engines.private_folder import in_memory
from qidsql.errors import SourceError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill, in_pieces, integer, marks, put_together

TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
REPETITIONS = ("REQUIRED", "OPTIONAL", "REPEATED")
TOGETHER = 500  # columns of a file
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
        while chunks := list(islice(alike, TOGETHER)):
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
