"""Documents of tables held small: a run over a hundred tables with thousands of column sets each fits into memory."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

Document = dict[str, Any]


class Packed(Sequence[Document]):
    """Documents, each unpacked when it is looked at, as it comes back from JSON."""

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


def packed(document: Mapping[str, Any]) -> bytes:
    """The document as JSON, compressed by zlib."""
    return zlib.compress(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpacked(written: bytes) -> Document:
    """The document again, as it comes back from JSON."""
    document: Document = json.loads(zlib.decompress(written).decode("utf-8", "surrogatepass"))
    return document
