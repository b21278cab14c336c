"""A source that a command opens itself."""

import pytest

from qidsql.engines.base import Engine
from qidsql.engines.connect import Source
from tests.stores import Store


def test_an_engine_that_was_given_stays_open(duckdb_store: Store) -> None:
    duckdb_store.table("people", {"age": "INTEGER"}, [(1,)])
    with duckdb_store.connect() as engine:
        source = Source(engine)
        with source.opened() as same:
            assert same is engine
        assert not engine.closed
        assert (source.text, source.named) == (None, True)


def test_each_engine_that_is_opened_is_shown_to_those_who_watch(duckdb_store: Store) -> None:
    duckdb_store.table("people", {"age": "INTEGER"}, [(1,)])
    seen: list[Engine] = []
    source = Source(duckdb_store.url, watch=seen.append)
    for _ in range(2):
        with source.opened() as engine:
            assert seen[-1] is engine
        assert engine.closed
    assert len(set(map(id, seen))) == 2
    assert (source.text, source.named) == (duckdb_store.url, True)


def test_the_variable_names_a_source_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QIDSQL_URL", raising=False)
    assert not Source().named
    monkeypatch.setenv("QIDSQL_URL", "clinic.duckdb")
    assert Source().named
