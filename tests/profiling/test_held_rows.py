"""Rows held in memory: the same profiles as from the view or file, which is read once; gone with the answer."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

import qidsql as house
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.profiling import rows_in_memory
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import relation
from tests.definitions import mask_of, profile_of, projected, subsets
from tests.exhaustive import always
from tests.random_tables import load, random_table
from tests.stores import DuckDBStore

K = 3
NUMBERS = {"a": "INTEGER", "b": "SMALLINT", "c": "DATE", "d": "VARCHAR"}
ROWS = [(n % 7, n % 11 if n % 5 else None, f"2020-01-{1 + n % 13:02}", f"d{n % 3}") for n in range(300)]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are held from the first column sets on."""
    monkeypatch.setattr(rows_in_memory, "SCANS", 0)


def profiler_of(engine: Engine, table: str | None, names: Sequence[str] = "abcd") -> tuple[TableProfiler, list[str]]:
    """A profiler that knows the number of rows, and the texts of the statements that follow."""
    described = engine.describe(table)
    found = profiler_for(engine, relation(engine.dialect, described, described.columns), names, K)
    found.counts()
    sent: list[str] = []
    engine.watchers.append(lambda statement: sent.append(statement.sql))
    return found, sent


@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 40)))
def test_profiles_are_those_of_the_definitions(duckdb_store: DuckDBStore, seed: int) -> None:
    table = random_table(seed, duckdb_store.name)
    load(duckdb_store, [table])
    duckdb_store.execute(f"CREATE VIEW seen AS SELECT * FROM {table.name}")
    sets = list(subsets(table.columns))
    with duckdb_store.connect() as engine, engine.answer():
        found, sent = profiler_of(engine, "seen", table.names)
        profiles = found.profiles([mask_of(places) for places in sets])
    assert profiles == [profile_of(projected(table.rows, places), K) for places in sets], table
    short = set(table.names) - found.source.long
    assert len([sql for sql in sent if sql.startswith("CREATE TABLE")]) == bool(short)


def test_a_file_is_read_once_and_its_texts_are_left(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b SMALLINT, c DATE, d VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        connection.execute(f"COPY t TO '{path}'")
    with connect(str(path)) as engine, engine.answer():
        found, sent = profiler_of(engine, None)
        sets = [0b0011, 0b0110, 0b1001, 0b0111]
        profiles = found.profiles(sets)
        assert found.narrowed(["b", "c"]).profiles([0b11]) == profiles[1:2]
    columns = [[place for place in range(4) if mask >> place & 1] for mask in sets]
    assert profiles == [profile_of(projected(ROWS, places), K) for places in columns]
    [made] = [sql for sql in sent if sql.startswith("CREATE TABLE")]
    assert '"d"' not in made
    for sql in sent:
        assert sql == made or ('"memory_held"' in sql) is ('"d"' not in sql)


@pytest.mark.parametrize("spared", ["a stored table", "too large", "a writer"])
def test_others_are_read_where_they_are(
    duckdb_store: DuckDBStore, monkeypatch: pytest.MonkeyPatch, spared: str
) -> None:
    duckdb_store.table("t", NUMBERS, ROWS)
    duckdb_store.execute("CREATE VIEW seen AS SELECT * FROM t")
    if spared == "too large":
        monkeypatch.setattr(rows_in_memory, "MEMORY_PART_HELD", 10**12)
    with duckdb_store.connect(writable=spared == "a writer") as engine, engine.answer():
        found, sent = profiler_of(engine, "t" if spared == "a stored table" else "seen")
        assert found.profiles([0b011]) == [profile_of(projected(ROWS, [0, 1]), K)]
    assert sent
    assert not any("_held" in sql for sql in sent)


def test_an_audit_says_the_same_and_leaves_nothing(duckdb_store: DuckDBStore, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb_store.table("t", NUMBERS, ROWS)
    duckdb_store.execute("CREATE VIEW seen AS SELECT * FROM t WHERE a < 6")
    with duckdb_store.connect() as engine:
        sent: list[str] = []
        engine.watchers.append(lambda statement: sent.append(statement.sql))
        held = house.audit(engine, "seen", k=K)
        assert engine._connection.execute("SELECT COUNT(*) FROM duckdb_tables()").fetchall() == [(1,)]  # type: ignore[attr-defined]
        assert any("_held" in sql for sql in sent)
        monkeypatch.setattr(rows_in_memory, "MEMORY_PART_HELD", 10**12)
        plain = house.audit(engine, "seen", k=K)
    assert held.column_sets == plain.column_sets
    assert (held.verdict, held.reason, held.withheld) == (plain.verdict, plain.reason, plain.withheld)


def test_a_database_of_the_same_name_is_nobody_elses() -> None:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS memory_held")
        connection.execute("CREATE TABLE memory_held.t AS SELECT i % 3 AS a FROM range(60) AS r(i)")
        [table] = house.tables(connection).tables
        assert (table.table.catalog, table.table.name) == ("memory_held", "t")
        assert house.audit(connection, "memory_held.main.t", k=K).column_sets == ()
