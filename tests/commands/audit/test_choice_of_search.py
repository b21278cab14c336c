"""The log says by which search minimal sets are found, and why it was chosen."""

import logging
import re

import pytest

import qidsql
from tests.stores import Store, at_costs

ROWS = [(n % 7, n % 11, "x" * (n % 3)) for n in range(60)]


def chosen(caplog: pytest.LogCaptureFixture) -> str:
    found = [each.getMessage() for each in caplog.records if "minimal" in each.getMessage()]
    caplog.clear()
    return " | ".join(found)


def test_an_audit_says_why(store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "VARCHAR"}, ROWS)
    caplog.set_level(logging.INFO)
    with store.connect() as engine:
        qidsql.audit(engine, "t", k=5)
        assert "level by level: they have few columns; no regions, as of fewer than" in chosen(caplog)
        at_costs(monkeypatch, region_rows=10)
        qidsql.audit(engine, "t", k=5)
        assert "below k = 5 by regions: a set costs a scan each" in chosen(caplog)
        qidsql.audit(engine, "t", k=5, max_size=2)
        assert re.search("no regions, as .*max.size or .*max.statements is set", chosen(caplog))


def test_a_search_says_why(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(n % 7, n % 11) for n in range(60)])
    caplog.set_level(logging.INFO)
    with store.connect() as engine:
        qidsql.keys(engine, "t", all=True)
        assert "by hitting-sets: a statement about pairs of rows decides many sets" in chosen(caplog)
        qidsql.keys(engine, "t", all=True, violates=5)
        assert "by borders: pairs of rows decide no set of it" in chosen(caplog)
        qidsql.keys(engine, "t", all=True, violates=5, algorithm="levelwise")
        assert "by levelwise: it was asked for" in chosen(caplog)
