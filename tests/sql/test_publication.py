"""The scripts of a masking plan: what they say, and that they do it."""

import duckdb
import psycopg
import pytest

import qidsql
from qidsql.core.tables import TableName
from qidsql.errors import UnknownName, UsageError
from qidsql.sql.copies import granting_columns, publishing_view
from tests.stores import DuckDBStore, PostgresStore, Store


def fill(store: Store) -> None:
    store.table('we"ird', {"a": "INTEGER", 'b "x"': "INTEGER", "secret": "INTEGER"}, [(1, 2, 3), (4, 5, 6)])


def test_the_view_holds_the_published_columns_and_rows(store: Store) -> None:
    fill(store)
    with store.connect() as engine:
        table = engine.narrowed(engine.describe('"we""ird"'), "a > 1")
        script = publishing_view(engine.dialect, table, ["a", 'b "x"'], TableName("public view"))
    assert len(script) == 1
    for statement in script:
        store.execute(statement)
    with store.connect() as engine:
        described = engine.describe('"public view"')
        assert [column.name for column in described.columns] == ["a", 'b "x"']


def test_the_words_of_the_script(duckdb_store: DuckDBStore, postgres_store: PostgresStore) -> None:
    for store in (duckdb_store, postgres_store):
        fill(store)
        with store.connect() as engine:
            table, dialect = engine.describe('"we""ird"'), engine.dialect
            [view, *grants] = publishing_view(dialect, table, ["a"], TableName("v", "s"), "reader")
            assert view.startswith('CREATE VIEW "s"."v" AS SELECT "a" FROM ')
            assert "WHERE" not in view
            assert grants == (['GRANT SELECT ON "s"."v" TO "reader"'] if store is postgres_store else [])
            with pytest.raises(UsageError, match="can be published"):
                publishing_view(dialect, table, [], TableName("v"))
            with pytest.raises(UnknownName):
                publishing_view(dialect, table, ["nope"], TableName("v"))


def test_a_role_is_left_with_the_published_columns(postgres_store: PostgresStore) -> None:
    fill(postgres_store)
    role = f"reader_{postgres_store.schema}"
    postgres_store.execute(f"CREATE ROLE {role} LOGIN")
    try:
        postgres_store.execute(f"GRANT USAGE ON SCHEMA {postgres_store.schema} TO {role}")
        postgres_store.execute(f'GRANT SELECT ON "we""ird" TO {role}')
        with postgres_store.connect() as engine:
            script = granting_columns(engine.dialect, engine.describe('"we""ird"'), ["a", 'b "x"'], role)
        for statement in script:
            postgres_store.execute(statement)
        with psycopg.connect(postgres_store.url_of(role)) as reader:
            assert reader.execute('SELECT a, "b ""x""" FROM "we""ird" ORDER BY a').fetchall() == [(1, 2), (4, 5)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute('SELECT secret FROM "we""ird"')
    finally:
        postgres_store.execute(f"DROP OWNED BY {role}")
        postgres_store.execute(f"DROP ROLE {role}")


def test_duckdb_has_no_roles(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    with duckdb_store.connect() as engine, pytest.raises(UsageError, match="has no roles"):
        granting_columns(engine.dialect, engine.describe('"we""ird"'), ["a"], "reader")
    with duckdb.connect(str(duckdb_store.path)) as connection, pytest.raises(duckdb.Error):
        connection.execute('GRANT SELECT ON "we""ird" TO reader')


@pytest.mark.parametrize("name", ["t" * 63, "é" * 31 + "t", "t" * 53 + "_published"])
def test_a_view_beside_a_table_with_a_long_name(postgres_store: PostgresStore, name: str) -> None:
    """Postgres cuts names at 63 bytes: the script would have been for the table itself."""
    rows = [(1, number % 2, number) for number in range(9)]
    postgres_store.table(name, {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, rows)
    script = qidsql.protect(postgres_store.url, f'"{name}"', distinct=0.5, by="columns").script
    [view] = [statement for statement in script if statement.startswith("CREATE VIEW")]
    postgres_store.execute(view)
    with postgres_store.connect() as engine:
        [made] = [each.name for each in engine.table_names() if each.name != name]
        assert made.endswith(("_published", "_published_2"))
        assert len(made.encode()) <= 63
        assert [column.name for column in engine.describe(f'"{made}"').columns] == ["a", "b"]
    with pytest.raises(UsageError, match="is the table itself, or longer than"):
        qidsql.protect(postgres_store.url, f'"{name}"', distinct=0.5, view="v" * 64, by="columns")
    with pytest.raises(UsageError, match="is the table itself, or longer than"):
        qidsql.protect(postgres_store.url, f'"{name}"', distinct=0.5, view=name, by="columns")
