"""What audit and mask propose for columns without a declared role: as init does, from comments and keys too."""

import qidsql
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


def test_mask_names_what_it_publishes_without_a_declared_role(duckdb_store: DuckDBStore) -> None:
    url = filled(duckdb_store)

    def notes(**options: str) -> list[str]:
        found = qidsql.mask(url, "people", violates=2, **options)  # type: ignore[arg-type]
        assert found.published
        return [note for note in found.account.notes if "nobody declared a role" in note]

    assert "x1 (proposed as sensitive, comment: sensitive)" in notes()[0]
    assert not notes(sensitive="x1")
    assert not notes(columns="x1")
