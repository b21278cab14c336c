"""Tables of a run as they are stored and written: no column set twice; and held small while a run is in memory.

A finding that is a column set of the table's audit is written with its place there, `column_set`, instead of measures;
what it `was` then holds those measures alone that differ from now.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

from qidsql.declarations.results import described, loaded, plain
from qidsql.operations.table_run import TableRun, measures

Document: TypeAlias = Mapping[str, Any]  # plain lists, dicts, strings and numbers


class PackedTables(Sequence[TableRun]):
    """The tables of a run, each unpacked when it is looked at: a run over a hundred tables with thousands of column
    sets each fits into memory. `packed` are the tables as `packed` made them."""

    def __init__(self, packed: Iterable[bytes] = ()) -> None:
        self.packed = list(packed)

    @classmethod
    def of(cls, tables: Iterable[TableRun]) -> "PackedTables":
        return cls(map(packed, tables))

    def append(self, table: TableRun) -> None:
        self.packed.append(packed(table))

    def __repr__(self) -> str:
        return f"<{len(self)} tables>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedTables) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.packed)

    @overload
    def __getitem__(self, place: int) -> TableRun: ...

    @overload
    def __getitem__(self, place: slice) -> list[TableRun]: ...

    def __getitem__(self, place: int | slice) -> TableRun | list[TableRun]:
        if isinstance(place, slice):
            return [unpacked(each) for each in self.packed[place]]
        return unpacked(self.packed[place])

    def __iter__(self) -> Iterator[TableRun]:
        return map(unpacked, self.packed)

    def to_plain(self) -> list[dict[str, Any]]:
        """The tables with whole findings."""
        return [plain(table) for table in self]

    @classmethod
    def of_plain(cls, documents: Iterable[Document]) -> "PackedTables":
        """From tables with whole findings or compact ones."""
        return cls.of(map(whole, documents))

    @classmethod
    def plain_schema(cls, definitions: dict[str, Any]) -> dict[str, Any]:
        """The schema of tables in the compact form."""
        table = described(TableRun, definitions)
        finding = definitions["Finding"]
        place = {"type": "integer", "minimum": 0, "description": "its place in the audit's column_sets"}
        finding["properties"]["column_set"] = place
        finding["properties"]["was"]["description"] += "; of a column_set, the measures that differ from now"
        finding["required"].remove("measures")
        finding["oneOf"] = [{"required": ["measures"]}, {"required": ["column_set"]}]
        return {"type": "array", "items": table}


def packed(table: TableRun) -> bytes:
    """The table in its compact form as JSON, compressed by zlib."""
    return zlib.compress(json.dumps(compact(table), ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpacked(written: bytes) -> TableRun:
    """The table of which `packed` made this."""
    return whole(json.loads(zlib.decompress(written).decode("utf-8", "surrogatepass")))


def compact(table: TableRun) -> dict[str, Any]:
    """The table as it is written, its findings with the places of their column sets where these have the same
    measures."""
    written: dict[str, Any] = plain(table)
    sets = _sets(written)
    places = {tuple(found["columns"]): place for place, found in reversed(list(enumerate(sets)))}
    return {**written, "findings": [_referring(each, sets, places) for each in written["findings"]]}


def whole(written: Document) -> TableRun:
    """The table of which `compact` made this. Raises KeyError, IndexError, TypeError, ValueError for others."""
    sets = _sets(written)
    table: TableRun = loaded(
        TableRun, {**written, "findings": [_resolved(finding, sets) for finding in written["findings"]]}
    )
    return table


def _sets(table: Document) -> list[Document]:
    return table["audit"]["column_sets"] if table["audit"] else []


def _referring(finding: Document, sets: list[Document], places: Mapping[tuple[str, ...], int]) -> Document:
    now, was = finding["measures"], finding["was"]
    place = places.get(tuple(finding["columns"]))
    if place is None or now != measures(sets[place]) or (was is not None and set(was) != set(now)):
        return finding
    changed = None if was is None else {name: figure for name, figure in was.items() if figure != now[name]}
    return _with(finding, "measures", ("column_set", place), changed)


def _resolved(finding: Document, sets: list[Document]) -> Document:
    if "column_set" not in finding:
        return finding
    now, changed = measures(sets[finding["column_set"]]), finding["was"]
    return _with(finding, "column_set", ("measures", now), None if changed is None else {**now, **changed})


def _with(finding: Document, key: str, given: tuple[str, Any], was: Document | None) -> Document:
    """The finding with another key and value in that key's place."""
    return dict(given if name == key else (name, was if name == "was" else value) for name, value in finding.items())
