"""What the engines' catalogs say of themselves, on real servers."""

from pathlib import Path

import duckdb
import pytest

from qidsql.core.tables import Attribute, Catalog, CatalogColumn, CatalogTable, Comparison
from qidsql.engines.connect import connect
from qidsql.errors import UnknownName
from tests.stores import DuckDBStore, PostgresStore, Store, quoted

HOSTILE = [
    'a"b',
    "semi;colon",
    "per%cent %s",
    "$1 :name ?",
    "Ünïcode 名",
    "select",
    " blank ",
    "back\\slash",
    "new\nline",
]


def catalog_of(store: Store, schema: str | None = None) -> Catalog:
    with store.connect() as engine:
        found = engine.catalog(schema)
        assert engine.statements == 0, "only the system catalog is read"
        return found


def table_of(catalog: Catalog, name: str) -> CatalogTable:
    return next(table for table in catalog.tables if table.name.name == name)


def column_of(catalog: Catalog, table: str, name: str) -> CatalogColumn:
    return next(column for column in table_of(catalog, table).columns if column.name == name)


def clinic(store: Store) -> None:
    for statement in (
        "CREATE TABLE ward (house INTEGER, floor_number INTEGER, name VARCHAR(20), PRIMARY KEY (house, floor_number))",
        "CREATE TABLE patients (id BIGINT PRIMARY KEY, email VARCHAR UNIQUE, badge INTEGER NOT NULL UNIQUE, born DATE)",
        "CREATE TABLE stays (patient BIGINT REFERENCES patients (id), storey INTEGER, building INTEGER, "
        "FOREIGN KEY (building, storey) REFERENCES ward (house, floor_number))",
        'CREATE VIEW people (nr, "birth date") AS SELECT id, born FROM patients',
        "COMMENT ON COLUMN patients.born IS 'date of birth; ''quoted'''",
        "COMMENT ON TABLE ward IS 'where the beds are'",
        "COMMENT ON VIEW people IS 'for the counter'",
    ):
        store.execute(statement)


def test_tables_columns_keys_and_comments(store: Store) -> None:
    clinic(store)
    catalog = catalog_of(store)
    assert {
        table.name.name: table.kind for table in catalog.tables if table.name.name in "ward patients stays people"
    } == {
        "ward": "table",
        "patients": "table",
        "stays": "table",
        "people": "view",
    }
    assert [column.name for column in table_of(catalog, "stays").columns] == ["patient", "storey", "building"]
    assert [column.name for column in table_of(catalog, "people").columns] == ["nr", "birth date"]
    assert column_of(catalog, "patients", "id").type.upper() == "BIGINT"
    assert not column_of(catalog, "patients", "id").nullable
    assert column_of(catalog, "patients", "email").nullable
    assert set(table_of(catalog, "ward").unique) == {("house", "floor_number")}
    # email is UNIQUE and lets NULL in twice: rows that agree on it are possible
    assert set(table_of(catalog, "patients").unique) == {("id",), ("badge",)}
    assert column_of(catalog, "patients", "born").labels == (("comment", "date of birth; 'quoted'"),)
    assert table_of(catalog, "ward").labels == (("comment", "where the beds are"),)
    assert table_of(catalog, "people").labels == (("comment", "for the counter"),)
    keys = {
        tuple(
            (own.column, other.table.name, other.column) for own, other in zip(key.columns, key.referenced, strict=True)
        )
        for key in catalog.foreign_keys
        if key.columns[0].table.name == "stays"
    }
    assert keys == {
        (("patient", "patients", "id"),),
        (("building", "ward", "house"), ("storey", "ward", "floor_number")),
    }
    ward = table_of(catalog, "ward").name
    assert Attribute(ward, "house") in catalog.attributes()
    assert catalog.attribute("WARD.house") == Attribute(ward, "house")


def test_the_query_of_a_view_is_the_engines_own_text(store: Store) -> None:
    store.table("a as b", {"x": "INTEGER"}, [])
    store.execute('CREATE VIEW "view as v" ("c as d") AS WITH w AS (SELECT x AS y FROM "a as b") SELECT y FROM w')
    definition = table_of(catalog_of(store), "view as v").definition
    assert definition is not None and definition.upper().startswith("WITH") and not definition.endswith(";")
    if store.name == "postgres":
        assert f'{store.schema}."a as b"' in definition  # type: ignore[attr-defined]


def test_one_schema_only_and_schemas_nobody_knows(store: Store) -> None:
    store.execute("CREATE SCHEMA IF NOT EXISTS other_wing")
    store.execute("CREATE TABLE other_wing.beds (bed INTEGER)")
    store.table("here", {"a": "INTEGER"}, [])
    try:
        assert [table.name.name for table in catalog_of(store, "OTHER_WING").tables] == ["beds"]
        assert {"beds", "here"} <= {table.name.name for table in catalog_of(store).tables}
        with pytest.raises(UnknownName, match=r"no schema other_win \(did you mean other_wing\?\)"):
            catalog_of(store, "other_win")
    finally:
        store.execute("DROP SCHEMA other_wing CASCADE")


def test_hostile_names_come_back_as_they_are(store: Store) -> None:
    names = ", ".join(f"{quoted(name)} INTEGER" for name in HOSTILE)
    key = ", ".join(map(quoted, HOSTILE[:3]))
    store.execute(f"CREATE TABLE {quoted(HOSTILE[0])} ({names}, PRIMARY KEY ({key}))")
    other = ", ".join(map(quoted, HOSTILE[3:6]))
    store.execute(
        f"CREATE TABLE {quoted(HOSTILE[1])} ({names}, FOREIGN KEY ({other}) REFERENCES {quoted(HOSTILE[0])} ({key}))"
    )
    store.execute(f"COMMENT ON COLUMN {quoted(HOSTILE[0])}.{quoted(HOSTILE[4])} IS 'odd'")
    catalog = catalog_of(store)
    assert [column.name for column in table_of(catalog, HOSTILE[0]).columns] == HOSTILE
    assert table_of(catalog, HOSTILE[0]).unique == (tuple(HOSTILE[:3]),)
    assert column_of(catalog, HOSTILE[0], HOSTILE[4]).labels == (("comment", "odd"),)
    [reference] = [key for key in catalog.foreign_keys if key.columns[0].table.name == HOSTILE[1]]
    assert [each.column for each in reference.columns] == HOSTILE[3:6]
    assert [each.column for each in reference.referenced] == HOSTILE[:3]


def test_unique_indexes_are_keys_unless_null_or_an_expression_is_in_them(store: Store) -> None:
    store.table("t", {"a": "INTEGER NOT NULL", '"B': "INTEGER NOT NULL", "c": "INTEGER", "d": "VARCHAR NOT NULL"}, [])
    store.execute('CREATE UNIQUE INDEX one ON t (a, """B")')
    store.execute("CREATE UNIQUE INDEX two ON t (a, c)")
    store.execute("CREATE UNIQUE INDEX three ON t (lower(d))")
    assert table_of(catalog_of(store), "t").unique == (("a", '"B'),)


def test_the_labels_of_an_enum_are_not_told(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t (e ENUM ('canary-sick', 'well'), f ENUM ('it''s')[])")
    assert [column.type for column in table_of(catalog_of(duckdb_store), "t").columns] == ["ENUM", "ENUM[]"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_is_a_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"voters.{kind}"
    duckdb.execute(f"COPY (SELECT 7 AS age, DATE '2000-01-01' AS born) TO '{path}'")
    with connect(str(path)) as engine:
        [table] = engine.catalog().tables
    assert (table.name.name, table.kind, table.definition) == ("voters", "file", None)
    assert [(column.name, column.type) for column in table.columns][1] == ("born", "DATE")


@pytest.mark.exhaustive
def test_many_tables_take_no_more_statements_than_few(store: Store) -> None:
    columns = ", ".join(f"c{number} INTEGER" for number in range(30))
    store.execute("; ".join(f"CREATE TABLE t{number} ({columns}, PRIMARY KEY (c0))" for number in range(200)))
    with store.connect() as engine:
        asked: list[str] = []
        asking = engine._catalog  # type: ignore[attr-defined]
        engine._catalog = lambda template, *a, **h: asked.append(template) or asking(template, *a, **h)  # type: ignore[attr-defined]
        catalog = engine.catalog("main" if store.name == "duckdb" else store.schema)  # type: ignore[attr-defined]
    assert len(catalog.attributes()) == 6000
    assert len(asked) <= 6


# Postgres alone


def test_a_unique_that_counts_nulls_as_equal_is_a_key(postgres_store: PostgresStore) -> None:
    if postgres_store.admin.info.server_version < 150000:
        pytest.skip("NULLS NOT DISTINCT came with Postgres 15")
    postgres_store.execute("CREATE TABLE t (a int, b int, c int NOT NULL, UNIQUE NULLS NOT DISTINCT (a), UNIQUE (b))")
    postgres_store.execute("CREATE UNIQUE INDEX part ON t (c) WHERE c > 3")
    postgres_store.execute("ALTER TABLE t ADD UNIQUE (c) DEFERRABLE")
    assert table_of(catalog_of(postgres_store), "t").unique == (("a",),)


def test_a_key_does_not_hold_for_heirs(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE parent (a int PRIMARY KEY)")
    postgres_store.execute("CREATE TABLE child () INHERITS (parent)")
    assert table_of(catalog_of(postgres_store), "parent").unique == ()


def test_columns_that_an_index_only_includes_are_not_of_its_key(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL, c int NOT NULL, UNIQUE (b) INCLUDE (c))")
    assert set(table_of(catalog_of(postgres_store), "t").unique) == {("a",), ("b",)}


def test_partitions_are_left_to_their_table(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE owners (id int PRIMARY KEY)")
    postgres_store.execute("CREATE TABLE t (a int REFERENCES owners (id), PRIMARY KEY (a)) PARTITION BY RANGE (a)")
    postgres_store.execute("CREATE TABLE t_low PARTITION OF t FOR VALUES FROM (0) TO (10)")
    catalog = catalog_of(postgres_store, postgres_store.schema)
    assert {table.name.name: table.kind for table in catalog.tables} == {"owners": "table", "t": "partitioned table"}
    assert len(catalog.foreign_keys) == 1
    assert table_of(catalog, "t").unique == (("a",),)


def test_tables_closed_to_the_role_are_named_with_the_obstacle(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.execute("CREATE TABLE seen (a int, hidden int)")
    postgres_store.execute("CREATE TABLE closed (b int)")
    postgres_store.execute(f"GRANT SELECT (a) ON seen TO {reader}")
    with postgres_store.connect_as(reader) as engine:
        catalog = engine.catalog(postgres_store.schema)
    obstacle = table_of(catalog, "closed").obstacle
    assert obstacle is not None and f"GRANT SELECT ON {quoted(postgres_store.schema)}.{quoted('closed')}" in obstacle
    assert table_of(catalog, "closed").columns != ()
    assert table_of(catalog, "seen").obstacle is None
    assert [column.readable for column in table_of(catalog, "seen").columns] == [True, False]


def test_domains_and_arrays_are_seen_through(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE DOMAIN code AS varchar(8)")
    postgres_store.execute("CREATE DOMAIN special_code AS code")
    postgres_store.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    postgres_store.execute("CREATE DOMAIN good_mood AS mood CHECK (VALUE <> 'sad')")
    postgres_store.execute(
        "CREATE TABLE t (a special_code, b text, c interval, d numeric(5,2), e mood, f good_mood, g code[])"
    )
    columns = {column.name: column for column in table_of(catalog_of(postgres_store), "t").columns}
    assert [columns[name].base for name in "abcdef"] == [
        "character varying",
        "text",
        "interval",
        "numeric",
        "enum",
        "enum",
    ]
    assert columns["a"].type.endswith("special_code")
    assert columns["c"].comparison is Comparison.PUBLISHED


def test_security_labels_are_read(postgres_store: PostgresStore) -> None:
    # SECURITY LABEL wants a label provider loaded, and PyPI's server brings none: the rows that it would write are
    # put into the system catalog itself, where PostgreSQL Anonymizer's stand too.
    postgres_store.execute("CREATE TABLE people (id int, lastname text)")
    admin = postgres_store.admin
    oid = admin.execute("SELECT CAST('people' AS REGCLASS)::oid").fetchone()[0]  # type: ignore[index]
    rule = "MASKED WITH FUNCTION anon.fake_last_name()"
    admin.execute("SET allow_system_table_mods = on")
    try:
        for place, label in ((2, rule), (0, "TABLESAMPLE BERNOULLI(10)")):
            admin.execute(
                "INSERT INTO pg_seclabel VALUES (%s, CAST('pg_class' AS REGCLASS), %s, 'anon', %s)", (oid, place, label)
            )
        postgres_store.execute("COMMENT ON COLUMN people.lastname IS 'family name'")
        catalog = catalog_of(postgres_store)
        assert column_of(catalog, "people", "lastname").labels == (
            ("comment", "family name"),
            ("security label anon", rule),
        )
        assert table_of(catalog, "people").labels == (("security label anon", "TABLESAMPLE BERNOULLI(10)"),)
    finally:
        admin.execute("DELETE FROM pg_seclabel WHERE objoid = %s", (oid,))
        admin.execute("SET allow_system_table_mods = off")


def test_views_are_written_with_schemas_and_the_search_path_stays(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE base (a int)")
    postgres_store.execute("CREATE VIEW plain AS SELECT a FROM base")
    postgres_store.execute("CREATE MATERIALIZED VIEW kept AS SELECT a FROM base")
    for snapshot in (True, False):
        with postgres_store.connect(snapshot=snapshot) as engine:
            catalog = engine.catalog()
            for name in ("plain", "kept"):
                assert f"{postgres_store.schema}.base" in str(table_of(catalog, name).definition)
            assert engine.describe("base").name.schema == postgres_store.schema


def test_what_the_catalog_told_is_not_asked_again(store: Store) -> None:
    """Of a table in the catalog `describe_listed` says the same as `describe`; of a view whose query changed too."""
    clinic(store)
    store.execute('CREATE TABLE "odd ""one" (a INTEGER[], "B" TEXT COLLATE "C", rowid INTEGER)')
    store.execute("CREATE VIEW all_wards AS SELECT * FROM ward")
    if isinstance(store, PostgresStore):
        store.execute("CREATE TABLE texts (j JSON, x XML, p POINT, i INTERVAL)")
        store.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM patients")
    else:
        store.execute("ALTER TABLE stays ADD COLUMN bed INTEGER")
    with store.connect() as engine:
        for listed in engine.catalog().tables:
            name = ".".join(quoted(part) for part in (listed.name.schema, listed.name.name) if part)
            assert engine.describe_listed(listed) == engine.describe(name)
        if isinstance(store, PostgresStore):
            asked = []
            ask = engine._catalog  # type: ignore[attr-defined]
            engine._catalog = lambda *names, **holes: asked.append(names) or ask(*names, **holes)  # type: ignore[attr-defined]
            for listed in engine.catalog().tables[:3]:
                engine.describe_listed(listed)
            assert not [names for names in asked if names == ("tables",)][1:]
