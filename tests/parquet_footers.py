"""The footer of a parquet file, as Thrift's compact protocol writes it: read into lists, changed, written again."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

Fields: TypeAlias = dict[int, list[Any]]  # of a struct, by number: type and value
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 7, 8, 9, 12
GROUPS, ROWS = 4, 3  # of the file
CHUNKS, ROWS_OF_GROUP = 1, 3  # of a row group
ABOUT, KIND, VALUES, STATISTICS, BLOOM = 3, 1, 5, 12, 14  # of a column chunk: its description, and in that
MAX, MIN, NULLS, DISTINCT, MAX_VALUE, MIN_VALUE = range(1, 7)  # of statistics


def footer(path: Path) -> Fields:
    return _parts(path)[1]


def changed(path: Path, change: Callable[[Fields, bytearray], None]) -> None:
    """Has a function change the fields of the footer, and the bytes before it."""
    body, fields = _parts(path)
    change(fields, body)
    written = b"".join(_written_fields(fields))
    path.write_bytes(bytes(body) + written + struct.pack("<I", len(written)) + b"PAR1")


def _parts(path: Path) -> tuple[bytearray, Fields]:
    whole = path.read_bytes()
    (size,) = struct.unpack("<I", whole[-8:-4])
    return bytearray(whole[: -8 - size]), _Reader(whole[-8 - size : -8]).fields()


def groups(file: Fields) -> list[Fields]:
    return list(file[GROUPS][1][1])


def chunks(group: Fields) -> list[Fields]:
    """The descriptions of a row group's columns."""
    return [each[ABOUT][1] for each in group[CHUNKS][1][1]]


class _Reader:
    def __init__(self, text: bytes) -> None:
        self._text, self._place = text, 0

    def _take(self, size: int) -> bytes:
        self._place += size
        return self._text[self._place - size : self._place]

    def _number(self) -> int:
        found = shift = 0
        while True:
            (byte,) = self._take(1)
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def fields(self) -> Fields:
        found: Fields = {}
        number = 0
        while (head := self._take(1)[0]) != 0:
            number = number + (head >> 4) if head >> 4 else _unfolded(self._number())
            found[number] = [head & 15, self._value(head & 15)]
        return found

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self._take(1)
        if kind == DOUBLE:
            return self._take(8)
        if kind == BINARY:
            return self._take(self._number())
        if kind == LIST:
            (head,) = self._take(1)
            size = self._number() if head >> 4 == 15 else head >> 4
            return [head & 15, [self._item(head & 15) for _ in range(size)]]
        return self.fields() if kind == STRUCT else _unfolded(self._number())

    def _item(self, kind: int) -> Any:
        return self._take(1) if kind in (TRUE, FALSE) else self._value(kind)


def _written_fields(fields: Fields) -> Iterator[bytes]:
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        short = 0 < number - before < 16
        yield bytes([(number - before) << 4 | kind]) if short else bytes([kind]) + _varint(_folded(number))
        if kind not in (TRUE, FALSE):
            yield from _written(kind, value)
        before = number
    yield b"\0"


def _written(kind: int, value: Any) -> Iterator[bytes]:
    if kind == STRUCT:
        yield from _written_fields(value)
    elif kind == LIST:
        of, items = value
        yield bytes([min(len(items), 15) << 4 | of]) + (_varint(len(items)) if len(items) > 14 else b"")
        for item in items:
            yield from _written(of, item)
    elif kind == BINARY:
        yield _varint(len(value)) + value
    else:
        yield value if isinstance(value, bytes) else _varint(_folded(value))


def _varint(number: int) -> bytes:
    found = []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _folded(number: int) -> int:
    """As an unsigned number, small if it is near 0."""
    return number * 2 if number >= 0 else -number * 2 - 1


def _unfolded(number: int) -> int:
    return number // 2 if number % 2 == 0 else -(number + 1) // 2
