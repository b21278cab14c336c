"""`tables --rank`: one statement a table, the catalog once, the most identifying first."""

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.engines.base import ExecutedStatement
from qidsql.errors import Interrupted
from tests.commandline import inside
from tests.stores import SAIL, DuckDBStore, Store


def fill(store: Store) -> None:
    store.table("visits", {"id": "INTEGER", "zip": "INTEGER"}, [(i, i % 7) for i in range(200)])
    store.table("sexes", {"sex": "INTEGER", "age": "INTEGER"}, [(i % 2, i % 3) for i in range(100)])
    store.table("pairs", {"a": "INTEGER", "b": "INTEGER"}, [(i % 20, i % 20) for i in range(40)])
    store.table("empty", {"a": "INTEGER"}, [])


@pytest.mark.engines("duckdb", "postgres", "sqlite", SAIL)
def test_tables_are_ranked_by_how_many_rows_differ(store: Store) -> None:
    fill(store)
    with store.connect() as engine:
        before = engine.statements
        found = qidsql.tables(engine, schema=getattr(store, "schema", None), rank=True)
        assert engine.statements - before == 4
    assert [each.table.name for each in found.tables] == ["visits", "pairs", "sexes", "empty"]
    counts = {each.table.name: each.counts for each in found.tables}
    visits, pairs, sexes = (counts[name] for name in ("visits", "pairs", "sexes"))
    assert visits and pairs and sexes
    assert (visits.rows, visits.identifiers) == (200, ("id",))
    assert (pairs.rows, sexes.rows, sexes.identifiers) == (40, 100, ())
    assert 15 <= pairs.distinct_rows <= 25 and 4 <= sexes.distinct_rows <= 8


def test_a_table_that_cannot_be_read_is_the_last(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    duckdb_store.execute("CREATE TABLE texts AS SELECT 'geheim' AS a")
    duckdb_store.execute("CREATE VIEW broken AS SELECT CAST(a AS INTEGER) AS a FROM texts")
    found = qidsql.tables(duckdb_store.url, rank=True)
    assert found.tables[-1].table.name == "broken"
    assert found.tables[-1].counts is None and found.tables[-1].obstacle
    assert "geheim" not in found.tables[-1].obstacle
    assert sum(each.counts is not None for each in found.tables) == 5
    assert found.verdict is Verdict.FINISHED


def test_the_report_and_no_rank(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    ranked = inside("tables", duckdb_store.url, "--rank")
    assert ranked.code == 0 and "Each table was read once" in ranked.out
    lines = [line.split() for line in ranked.out.splitlines() if line.startswith("main.")]
    assert lines[0] == ["main.visits", "200", "100", "%", "id"]
    assert "counts" not in inside("tables", duckdb_store.url, "--format", "json").out


def test_a_budget_that_ends_names_what_was_not_reached_and_people_come_first(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    duckdb_store.table("zzz", {"birth_date": "DATE", "sex": "TEXT", "zip": "TEXT"}, [("1970-01-01", "f", "1000")])
    with qidsql.connect(duckdb_store.url) as engine:
        asked = engine.planned_statements(lambda: qidsql.tables(engine, rank=True))  # sessions end them in any order
        assert '"zzz"' in asked[0].sql and len(asked) == 5
        assert qidsql.tables(engine, rank=True).verdict is Verdict.FINISHED
    with qidsql.connect(duckdb_store.url) as engine:
        read: list[str] = []

        def end(each: ExecutedStatement) -> None:
            read.extend([each.purpose] if each.purpose.startswith("overview") else [])
            if len(read) == 2:
                raise Interrupted("the seconds are used up")

        engine.watchers.append(end)
        found = qidsql.tables(engine, rank=True)
    assert found.verdict is Verdict.INCONCLUSIVE
    left = [each for each in found.tables if each.counts is None]
    assert left and all(each.obstacle == "not reached: the seconds are used up" for each in left)
    assert found.reason.startswith(f"5 tables, {len(left)} of them not reached (main.")
