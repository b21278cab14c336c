"""Reports look at one table after the other: a run over a hundred, each with thousands of sets, fits into memory."""

import json
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from qidsql.cli.run_report import render as render_for_a_terminal
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.render import FORMATS, render, written
from qidsql.operations.packed_tables import Packed
from tests.report.documents import Document


class Part(dict[str, Any]):
    """A dict of which it can be told whether it is still there."""

    __slots__ = ("__weakref__",)


class Watched(Packed):
    """Tables that fail when the audits of more than two are held at once."""

    def __init__(self, tables: list[Document]) -> None:
        super().__init__()
        self.audits: list[weakref.ref[Part]] = []
        for table in tables:
            self.append(table)

    def __iter__(self) -> Iterator[Document]:
        for table in super().__iter__():
            audit = Part(table["audit"] or {})
            self.audits.append(weakref.ref(audit))
            assert sum(each() is not None for each in self.audits) <= 2
            yield {**table, "audit": audit or None}
            del table, audit


@pytest.fixture
def many(documents: dict[str, Document]) -> Document:
    return {**documents["run"], "tables": Watched(documents["run"]["tables"] * 2)}


@pytest.mark.parametrize("format", FORMATS)
def test_a_report_holds_one_table_at_a_time(many: Document, format: str) -> None:
    told = render({**many, "tables": list(Packed.__iter__(many["tables"]))}, format)
    assert "".join(written(many, format)) == told
    assert len(many["tables"].audits) >= len(many["tables"])


def test_so_do_a_terminal_and_hidden_counts(many: Document) -> None:
    assert render_for_a_terminal(many)
    hidden = without_small_counts(many, 11)
    assert isinstance(hidden["tables"], Packed)
    assert json.loads(render(hidden, "json"))["min_count"] == 11


def test_a_run_without_tables_is_a_report_too(documents: dict[str, Document]) -> None:
    none = {**documents["run"], "tables": []}
    assert json.loads(render(none, "json"))["tables"] == []
    assert json.loads(render({**none, "coverage": None}, "sarif"))["runs"][0]["results"] == []
