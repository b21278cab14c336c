"""The tables of a run held small: a run over a hundred tables with thousands of column sets each fits into memory."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from qidsql.operations.references import referring, resolved

Document = dict[str, Any]


class Packed(Sequence[Document]):
    """Documents of tables, each unpacked when it is looked at, as it comes back from JSON."""

    def __init__(self, written: Iterable[bytes] = ()) -> None:
        self._packed = list(written)  # each as `packed` made it

    def append(self, document: Document) -> None:
        self._packed.append(packed(document))

    def __repr__(self) -> str:
        return repr(list(self))

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, place: int) -> Document: ...

    @overload
    def __getitem__(self, place: slice) -> list[Document]: ...

    def __getitem__(self, place: int | slice) -> Document | list[Document]:
        found = self._packed[place]
        if isinstance(found, list):
            return [unpacked(each) for each in found]
        return unpacked(found)

    def __iter__(self) -> Iterator[Document]:
        return map(unpacked, self._packed)


def packed(table: Mapping[str, Any]) -> bytes:
    """The table as JSON, compressed by zlib."""
    return zlib.compress(json.dumps(referring(table), ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpacked(written: bytes) -> Document:
    """The table again, as it comes back from JSON."""
    return resolved(json.loads(zlib.decompress(written).decode("utf-8", "surrogatepass")))
