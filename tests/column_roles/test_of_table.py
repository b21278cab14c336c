"""What audit and mask propose for columns without a declared role: as init does, from comments and keys too."""

import pytest

import qidsql
from qidsql.errors import UsageError
from tests.stores import DuckDBStore, Store


def filled(store: Store) -> str:
    """Rows whose names say nothing, except to whoever reads the comments and the keys."""
    store.execute("CREATE TABLE people (pid INTEGER PRIMARY KEY, zip VARCHAR(9), x1 VARCHAR(9), x2 INTEGER)")
    store.execute("INSERT INTO people VALUES (?, ?, ?, ?)", [(i, f"z{i % 3}", f"c{i % 4}", i % 4) for i in range(24)])
    store.execute("COMMENT ON COLUMN people.x1 IS 'coded by the ward [sensitive]'")
    store.execute("CREATE TABLE stays (sid INTEGER, who INTEGER REFERENCES people (pid), ward INTEGER)")
    store.execute("INSERT INTO stays VALUES (?, ?, ?)", [(i // 2, i % 24, i % 2) for i in range(96)])
    return store.url


def test_comments_and_keys_count_in_an_audit(store: Store) -> None:
    url = filled(store)
    people = {each.name: each for each in qidsql.audit(url, "people", k=2).columns}
    assert (people["x1"].role, people["x1"].reason) == ("sensitive", "proposed as sensitive (comment: sensitive)")
    assert people["x2"].role == "quasi-identifier"
    stays = {each.name: each for each in qidsql.audit(url, "stays", k=2).columns}
    assert stays["who"].role == "direct identifier"
    assert stays["who"].proposed
    none = {each.name: each for each in qidsql.audit(url, "people", k=2, roles="none").columns}
    assert none["x1"].role == "quasi-identifier"


def test_mask_publishes_no_column_that_init_would_propose_as_sensitive_unless_it_is_named(
    duckdb_store: DuckDBStore,
) -> None:
    url = filled(duckdb_store)
    found = qidsql.protect(url, "people", violates=2, by="columns")
    assert "x1" not in (*found.published, *found.withheld)
    reasons = {each.name: each.reason for each in found.account.left_out}
    assert reasons["x1"] == "proposed as sensitive (comment: sensitive)"
    assert qidsql.protect(url, "people", violates=2, columns="x1", by="columns").published == ("x1",)
    assert "x1" in qidsql.protect(url, "people", violates=2, weights="x1=9", by="columns").published
    declared = qidsql.protect(url, "people", violates=2, sensitive="x1", by="columns")
    assert {each.name: each.reason for each in declared.account.left_out}["x1"] == "declared sensitive"
    duckdb_store.execute("CREATE TABLE secrets (diagnosis VARCHAR(9), income INTEGER)")
    duckdb_store.execute("INSERT INTO secrets VALUES (?, ?)", [("a", 1), ("b", 2)])
    with pytest.raises(UsageError, match="no column"):
        qidsql.protect(url, "secrets", violates=2, by="columns")
