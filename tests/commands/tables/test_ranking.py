"""`tables --rank`: two statements a table, the catalog once, the riskiest first."""

import json
from collections import Counter
from pathlib import Path

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.engines.runner import ExecutedStatement
from qidsql.errors import Interrupted
from tests.commandline import inside
from tests.exhaustive import first
from tests.stores import SAIL, DuckDBStore, Store

PATIENTS = [(i, i % 50, "fm"[i % 2], i % 5) for i in range(60)]
VISITS = [*((i % 60, i % 7) for i in range(100)), (3, 98), (3, 99), (4, 97), (None, 97)]  # a row of nobody


def fill(store: Store) -> None:
    """Two tables of one source that have persons in common, one that says nothing of them, and one without rows."""
    store.table("visits", {"patient_id": "INTEGER", "visit_day": "INTEGER"}, VISITS)
    columns = {"patient_id": "INTEGER", "zip": "INTEGER", "sex": "TEXT", "diagnosis": "INTEGER"}
    store.table("patients", columns, PATIENTS)
    store.table("pairs", {"a": "INTEGER", "b": "INTEGER"}, [(i % 20, i % 20) for i in range(40)])
    store.table("empty", {"a": "INTEGER"}, [])


@pytest.mark.engines("duckdb", "postgres", "sqlite", SAIL)
def test_tables_are_ranked_by_whom_they_single_out_and_what_they_say_of_them(store: Store) -> None:
    fill(store)
    with store.connect() as engine:
        before = engine.statements
        found = qidsql.tables(engine, schema=getattr(store, "schema", None), rank=True)
        assert engine.statements - before == 4 + 4 + 1
    assert [each.table.name for each in found.tables] == ["patients", "visits", "pairs", "empty"]
    patients, visits, pairs, empty = (each.counts for each in found.tables)
    assert visits and patients and pairs and empty
    classes: dict[int, set[int]] = {}
    for person, day in VISITS[:-1]:
        classes.setdefault(day, set()).add(person)
    alone = set().union(*(each for each in classes.values() if len(each) == 1))
    assert alone == {3, 4} and (visits.persons, visits.alone, visits.entity) == (60, 2, "patient_id")
    rare = Counter(row[1:3] for row in PATIENTS)
    assert (patients.persons, patients.alone) == (60, sum(rows == 1 for rows in rare.values()))
    assert (patients.sensitive, patients.quasi_identifiers) == (("diagnosis",), ("zip", "sex"))
    assert patients.alone_by is not None  # alone by definition, and by no column less
    for part, somebody in (
        (patients.alone_by, True),
        *((patients.alone_by[:i] + patients.alone_by[i + 1 :], False) for i in range(len(patients.alone_by))),
    ):
        places = [("zip", "sex").index(name) + 1 for name in part]
        assert (1 in Counter(tuple(row[place] for place in places) for row in PATIENTS).values()) is somebody
    assert visits.alone_by is None  # of persons with several rows
    assert [len(each.joined) for each in (patients, visits, pairs)] == [1, 1, 0]
    assert [each.risk for each in (visits, patients, pairs)] == [2 * 2, 40 * 2 * 2, 0]
    assert 15 <= pairs.distinct_rows <= 25 and pairs.alone == 0


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
    assert ranked.code == 0 and "4 tables; people are alone in 2" in ranked.out
    lines = [line.split() for line in ranked.out.splitlines() if line.startswith("main.")]
    assert lines[0] == ["main.patients", "60", "40", "of", "60", "██████▊", "zip", "diagnosis", "main.visits"]
    assert f"qidsql audit {duckdb_store.url} main.patients" in ranked.out
    assert "counts" not in inside("tables", duckdb_store.url, "--format", "json").out


def test_a_budget_that_ends_names_what_was_not_reached_and_people_come_first(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    columns = {"birth_date": "DATE", "sex": "TEXT", "zip": "TEXT", "job": "TEXT", "email": "TEXT"}
    duckdb_store.table("zzz", columns, [("1970-01-01", "f", "1000", "cook", "a@b.org")])
    with qidsql.connect(duckdb_store.url) as engine:
        asked = engine.planned_statements(lambda: qidsql.tables(engine, rank=True))  # sessions end them in any order
        assert '"zzz"' in asked[0].sql and len(asked) == 5  # of the first half
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
    left = [each for each in found.tables if each.obstacle == "not reached: the seconds are used up"]
    assert all(each.counts is None or each.counts.alone is None for each in left)
    assert any(each.counts is None for each in left)
    assert found.reason.startswith(f"5 tables, {len(left)} of them not reached (main.")


def test_tables_of_which_only_the_rows_were_counted_are_not_reached(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store)
    with qidsql.connect(duckdb_store.url) as engine:

        def end(each: ExecutedStatement) -> None:
            if each.purpose.startswith("class profile"):
                raise Interrupted("the seconds are used up")

        engine.watchers.append(end)
        found = qidsql.tables(engine, rank=True)
    assert found.verdict is Verdict.INCONCLUSIVE and "of them not reached" in found.reason
    assert all(each.counts is not None for each in found.tables)
    assert sum(each.obstacle == "not reached: the seconds are used up" for each in found.tables) >= 3


@pytest.mark.parametrize("last", first([3, 1, 5, 7, 9]))
def test_what_a_budget_did_not_reach_is_read_later(duckdb_store: DuckDBStore, tmp_path: Path, last: int) -> None:
    fill(duckdb_store)
    whole, file = qidsql.tables(duckdb_store.url, rank=True), tmp_path / "rank.json"
    assert qidsql.tables(duckdb_store.url, rank=True, resume=file) == whole  # the first time there is no file
    asked: list[ExecutedStatement] = []

    def end(each: ExecutedStatement) -> None:
        asked.append(each)
        if len(asked) == last:
            raise Interrupted("the seconds are used up")

    with qidsql.connect(duckdb_store.url) as engine:
        engine.watchers.append(end)
        begun = qidsql.tables(engine, rank=True, resume=file)
    assert begun.verdict is Verdict.INCONCLUSIVE
    counted = [each.table.name for each in begun.tables if each.counts is not None]
    file.write_text(json.dumps(begun.to_dict()))
    asked.clear()
    with qidsql.connect(duckdb_store.url) as engine:
        engine.watchers.append(asked.append)
        assert qidsql.tables(engine, rank=True, resume=file) == whole
    overviews = [each.sql for each in asked if each.purpose.startswith("overview")]
    assert len(overviews) == 4 - len(counted)
    assert not any(f'"{name}"' in sql for name in counted for sql in overviews)


def test_what_cannot_be_resumed_is_refused(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store)
    file = tmp_path / "rank.json"
    document = json.dumps(qidsql.tables(duckdb_store.url, rank=True).to_dict())
    file.write_text(document.replace(duckdb_store.url, "other.duckdb"))
    for content, words in ((file.read_text(), "another source"), ("{}", "not as qidsql writes it"), ("[", "not JSON")):
        file.write_text(content)
        refused = inside("tables", duckdb_store.url, "--rank", "--resume", str(file))
        assert refused.code == 2 and words in refused.err
    assert "--resume continues --rank" in inside("tables", duckdb_store.url, "--resume", str(file)).err
