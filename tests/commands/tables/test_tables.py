"""`tables` lists what the catalog of each engine lists, under names that the other commands take."""

import json
from pathlib import Path

import duckdb
import pytest

import qidsql as package
from qidsql.commands.tables import report
from qidsql.commands.tables.command import TablesResult
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName
from tests.commandline import inside
from tests.stores import PostgresStore, Store, quoted

HOSTILE = 'we"ird; DROP'


def listed(engine: Engine, store: Store, table: str | None = None) -> TablesResult:
    """The tables of the store: a server has those of other tests as well."""
    return package.tables(engine, table, getattr(store, "schema", "main"))


@pytest.fixture
def filled(store: Store) -> Store:
    store.table("people", {"age": "INTEGER", "zip": "VARCHAR"}, [(1, "a"), (2, "b")])
    store.table(HOSTILE, {'ho"st': "INTEGER"}, [])
    store.execute("CREATE VIEW adults AS SELECT age FROM people WHERE age > 17")
    return store


def test_every_table_and_view_is_listed_with_its_columns(filled: Store) -> None:
    with filled.connect() as engine:
        result = listed(engine, filled)
        columns = {table.table.name: [column.name for column in table.columns] for table in result.tables}
        assert columns == {"people": ["age", "zip"], HOSTILE: ['ho"st'], "adults": ["age"]}
        assert {table.table.name: table.kind for table in result.tables}["adults"] == "view"
        assert (result.verdict, result.reason) == (Verdict.FINISHED, "3 tables")
        for table in result.tables:  # each name is one that the engine finds
            assert engine.describe(str(table.table)).name == table.table


def test_no_table_is_read(filled: Store) -> None:
    with filled.connect() as engine:
        before = engine.statements
        package.tables(engine)
        assert engine.statements == before


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("people", ["people"]),
        ("PEOPLE", ["people"]),
        ("*e", ["people"]),
        ("[ap]*", ["adults", "people"]),
        ("*.adults", ["adults"]),
    ],
)
def test_a_name_or_a_pattern(filled: Store, wanted: str, found: list[str]) -> None:
    with filled.connect() as engine:
        assert [table.table.name for table in listed(engine, filled, wanted).tables] == found


def test_letter_case_decides_where_it_can(postgres_store: PostgresStore) -> None:
    for name in ("people", "People"):
        postgres_store.table(name, {"age": "INTEGER"}, [])
    with postgres_store.connect() as engine:
        assert [table.table.name for table in listed(engine, postgres_store, "People").tables] == ["People"]
        assert len(listed(engine, postgres_store, "PEOPLE").tables) == 2


def test_a_name_that_fits_nothing_gets_near_misses(filled: Store) -> None:
    with filled.connect() as engine, pytest.raises(UnknownName, match=r"no table peple \(did you mean .*people"):
        listed(engine, filled, "peple")


def test_a_source_without_tables_is_inconclusive(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    result = package.tables(str(tmp_path / "empty.duckdb"))
    assert (result.verdict, result.tables) == (Verdict.INCONCLUSIVE, ())


def test_unreadable_columns_and_tables_are_marked(postgres_store: PostgresStore, reader: str) -> None:
    for name in ("open", "closed"):
        postgres_store.table(name, {"age": "INTEGER", "ssn": "INTEGER"}, [])
    postgres_store.execute(f"GRANT SELECT (age) ON {quoted('open')} TO {reader}")
    with postgres_store.connect_as(reader) as engine:
        tables = {table.table.name: table for table in listed(engine, postgres_store).tables}
    assert {column.name: column.readable for column in tables["open"].columns} == {"age": True, "ssn": False}
    assert tables["open"].obstacle is None
    assert "SELECT" in (tables["closed"].obstacle or "")


def test_the_report_lists_columns_of_one_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,zip\n1,x\n2,y\n")
    (tmp_path / "visits.csv").write_text("ward\nw\n")
    one, all_of_them = inside("tables", tmp_path, "people"), inside("tables", tmp_path)
    assert one.code == all_of_them.code == 0
    assert [line.split() for line in one.out.splitlines() if line.startswith(("age", "zip"))] == [
        ["age", "BIGINT"],
        ["zip", "VARCHAR"],
    ]
    assert "age, zip" in all_of_them.out and "ward" in all_of_them.out
    document = json.loads(inside("tables", tmp_path, "--format", "json").out)
    assert [table["table"] for table in document["tables"]] == ["main.people", "main.visits"]


def test_very_many_tables_are_listed_in_part_and_in_full_in_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "TABLES_LISTED", 3)
    with duckdb.connect(str(tmp_path / "many.duckdb")) as connection:
        for number in range(5):
            connection.execute(f"CREATE TABLE t{number} (a INTEGER)")
    said = inside("tables", "many.duckdb", cwd=tmp_path).out
    assert "t2" in said and "t3" not in said and "2 more tables are in the JSON" in said
    document = json.loads(inside("tables", "many.duckdb", "--format", "json", cwd=tmp_path).out)
    assert len(document["tables"]) == 5
