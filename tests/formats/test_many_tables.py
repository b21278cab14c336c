"""Reports look at one table after the other: a run over a hundred, each with thousands of sets, fits into memory."""

import json
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from qidsql.cli.run_report import report
from qidsql.cli.streams import report_text
from qidsql.declarations.results import plain
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import NAMES, document_format, rendered
from qidsql.operations import document
from qidsql.operations.document import PackedTables, RunResult
from qidsql.operations.table_run import TableRun
from tests.exhaustive import first


@dataclass(frozen=True)  # without slots, so that it can be seen whether one is still there
class Watched(TableRun):
    """A table of which it can be told whether it is still held."""


class WatchedDocument(dict[str, Any]):
    """A table in the compact form of which it can be told."""


class WatchedTables(PackedTables):
    """Tables that fail when more than two are held at once."""

    def __init__(self, packed: Any = ()) -> None:
        super().__init__(packed)
        self.seen: list[weakref.ref[Any]] = []

    def _watch(self, table: Watched | WatchedDocument) -> None:
        self.seen.append(weakref.ref(table))
        assert sum(each() is not None for each in self.seen) <= 2

    def __iter__(self) -> Iterator[TableRun]:
        for table in super().__iter__():
            watched = Watched(**{name: getattr(table, name) for name in TableRun.__slots__})  # type: ignore[attr-defined]
            self._watch(watched)
            del table
            yield watched
            del watched

    def compact(self) -> Iterator[dict[str, Any]]:
        for table in super().compact():
            watched = WatchedDocument(table)
            self._watch(watched)
            del table
            yield watched
            del watched


@pytest.fixture
def many(documents: Mapping[str, RunResult]) -> RunResult:
    return replace(documents["run"], tables=WatchedTables(documents["run"].tables.packed * 2))


@pytest.mark.parametrize("format", first(NAMES))
def test_a_report_holds_one_table_at_a_time(many: RunResult, format: str) -> None:
    expected = rendered(replace(many, tables=PackedTables(many.tables.packed)), format)
    assert "".join(document_format(format).written(many)) == expected
    assert isinstance(many.tables, WatchedTables)
    assert len(many.tables.seen) >= len(many.tables)


def test_so_do_a_terminal_and_hidden_counts(many: RunResult) -> None:
    assert report_text(report(many), 110, False)
    assert json.loads(rendered(without_small_counts(many, 11), "json"))["min_count"] == 11


def test_packed_tables_are_small(documents: Mapping[str, RunResult]) -> None:
    """The column sets of a table are in memory once, and compressed."""
    [table] = documents["violation"].tables
    [packed] = documents["violation"].tables.packed
    assert 4 * len(packed) < len(json.dumps(plain(table)))


def test_a_run_without_tables_is_a_report_too(documents: Mapping[str, RunResult]) -> None:
    none = replace(documents["run"], tables=PackedTables())
    assert json.loads(rendered(none, "json"))["tables"] == []
    assert json.loads(rendered(replace(none, coverage=None), "sarif"))["runs"][0]["results"] == []


def test_tables_of_a_small_run_are_unpacked_once(
    documents: Mapping[str, RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = documents["run"].tables.packed
    tables = PackedTables(packed)
    assert all(one is other for one, other in zip(tables, tables, strict=True))
    tables.append(tables[0])
    assert [each.table for each in tables] == [*(each.table for each in PackedTables(packed)), tables[0].table]
    monkeypatch.setattr(document, "KEPT", 0)
    large = PackedTables(packed)
    assert large == PackedTables(packed)
    assert all(one is not other for one, other in zip(large, large, strict=True))
