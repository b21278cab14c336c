"""Nobody waits for our locks: an ALTER TABLE gets its own while a long statement of ours runs, or nothing does."""

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

import qidsql
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.postgres import lock_watch as postgres_lock_watch
from qidsql.errors import SnapshotLost
from qidsql.sql.templates import Statement
from tests.engines.test_engine_goes_on import COUNT, ask, placed
from tests.postgres_server import wait_until
from tests.stores import PostgresStore

GAVE_WAY = "another session (ALTER TABLE?) waited for a lock of this one, which gave up its snapshot"
ALTER = "ALTER TABLE t ADD d int"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_lock_watch, "LOOK_EVERY", 0.2)


@pytest.fixture
def slow(postgres_store: PostgresStore) -> PostgresStore:
    """A view v of a table t whose scans take minutes, as long as the table `switch` says so."""
    postgres_store.execute("CREATE TABLE t AS SELECT i % 5 AS a FROM generate_series(1, 1000) AS i")
    postgres_store.execute("CREATE TABLE switch AS SELECT 1 AS seconds")
    postgres_store.execute(
        "CREATE FUNCTION nap() RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN "
        f"PERFORM pg_sleep(seconds) FROM {postgres_store.schema}.switch WHERE seconds > 0; RETURN 'x'; END $$"
    )
    postgres_store.execute("CREATE VIEW v AS SELECT a, nap() AS b FROM t")
    return postgres_store


def quick(store: PostgresStore) -> None:
    store.execute("UPDATE switch SET seconds = 0")


def asleep(store: PostgresStore) -> bool:
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'qidsql'"
    return store.admin.execute(query).fetchone() is not None


def begun(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results


def refused(engine: Engine, statement: Statement[None]) -> str:
    with pytest.raises(SnapshotLost) as error:
        engine.run(statement)
    return str(error.value)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_alter_gets_its_lock_and_the_audit_begins_anew(slow: PostgresStore, workers: int) -> None:
    stages: list[str] = []
    with slow.connect(workers=workers) as engine:
        thread, results = begun(lambda: audit(engine, AuditRequest("v", k=5), stages.append))
        wait_until(lambda: asleep(slow))
        with slow.admin.transaction():
            slow.execute(ALTER)  # which waits for the view's scan
            slow.execute("INSERT INTO t SELECT 9 FROM generate_series(1, 7)")
            quick(slow)
        thread.join(120)
    [result] = results
    assert (result.verdict, result.account.rows) == (Verdict.PASS, 1007)
    assert result.account.notes[-1] == f"started again: {GAVE_WAY}"
    assert f"starting again: {GAVE_WAY}" in stages
    assert "a new one since" in result.account.snapshot


def test_a_search_ends_inconclusive_and_says_why(slow: PostgresStore) -> None:
    with slow.connect() as engine:
        thread, results = begun(lambda: qidsql.keys(engine, "v"))
        wait_until(lambda: asleep(slow))
        slow.execute(ALTER)
        quick(slow)
        thread.join(120)
        [result] = results
        assert (str(result.verdict), result.account.unfinished) == ("inconclusive", (GAVE_WAY,))
        assert qidsql.keys(engine, "v").verdict == "finished"


def test_an_audit_that_has_to_begin_anew_each_time_ends_inconclusive(slow: PostgresStore) -> None:
    with slow.connect() as engine:
        thread, results = begun(lambda: qidsql.audit(engine, "v"))
        for name in "xyz":
            wait_until(lambda: asleep(slow))
            slow.execute(f"ALTER TABLE t ADD {name} int")
        thread.join(120)
    [result] = results
    assert (result.verdict, result.account.unfinished) == (Verdict.INCONCLUSIVE, (GAVE_WAY,))
    assert len(result.account.notes) == 2


def test_without_a_snapshot_the_statement_is_asked_again(slow: PostgresStore) -> None:
    with slow.connect(snapshot=False) as engine:
        thread, results = begun(lambda: ask(engine, "SELECT COUNT(*), MIN(b) FROM $v"))
        wait_until(lambda: asleep(slow))
        slow.execute(ALTER)
        quick(slow)
        thread.join(120)
    assert results == [[(1000, "x")]]


def test_an_idle_engine_gives_way_too(slow: PostgresStore) -> None:
    with slow.connect() as engine:
        assert ask(engine, COUNT) == [(1000,)]
        slow.execute(ALTER)
        slow.execute("INSERT INTO t VALUES (1)")
        assert ask(engine, COUNT) == [(1001,)]
        assert "a new one since" in engine.snapshot


def test_between_two_statements_of_an_answer_the_snapshot_is_not_changed_for_another(slow: PostgresStore) -> None:
    with slow.connect() as engine, engine.answer():
        ask(engine, COUNT)
        slow.execute(ALTER)
        with pytest.raises(SnapshotLost):
            ask(engine, COUNT)


def test_a_new_snapshot_waits_for_those_who_were_given_way_to(slow: PostgresStore) -> None:
    """Else it would queue behind their lock, and give up after some seconds."""
    slow.execute("SET application_name = 'altering'")
    with slow.connect() as engine:
        ask(engine, COUNT)
        with slow.admin.transaction():
            slow.execute(ALTER)
            thread, results = begun(lambda: ask(engine, COUNT))
            thread.join(0.5)
            assert thread.is_alive()
            slow.execute("DELETE FROM t WHERE a = 1")
        thread.join(120)
    assert results == [[(800,)]]


def test_an_index_that_is_made_concurrently_does_not_wait_either(slow: PostgresStore) -> None:
    with slow.connect() as engine:
        ask(engine, COUNT)
        slow.execute("CREATE INDEX CONCURRENTLY ON t (a)")
        assert ask(engine, COUNT) == [(1000,)]


def test_who_waits_for_somebody_else_is_no_reason(slow: PostgresStore) -> None:
    with slow.connect() as engine, psycopg.connect(slow.url) as other:
        assert ask(engine, "SELECT COUNT(*) FROM $switch") == [(1,)]
        other.execute("SELECT COUNT(*) FROM t")
        thread, _ = begun(lambda: slow.execute(ALTER))
        wait_until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        time.sleep(1.0)  # several looks
        assert engine.snapshot == "one snapshot for all statements"
        assert ask(engine, "SELECT COUNT(*) FROM $switch") == [(1,)]
        other.rollback()
        thread.join(120)
        assert engine.snapshot == "one snapshot for all statements"


def test_a_copy_that_is_being_written_gives_way_and_leaves_nothing(slow: PostgresStore) -> None:
    with slow.connect(writable=True) as engine:
        statement = Statement(placed(engine, "CREATE TABLE $copy AS SELECT * FROM $v"), "copy", lambda rows: None)
        thread, results = begun(lambda: refused(engine, statement))
        wait_until(lambda: asleep(slow))
        slow.execute(ALTER)
        thread.join(120)
        assert results == [GAVE_WAY]
        assert "copy" not in [name.name for name in engine.table_names()]


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1, 2])
def test_where_the_role_has_no_connection_left_it_is_looked_no_further(
    slow: PostgresStore, reader: str, limit: int
) -> None:
    slow.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {slow.schema} TO {reader}")
    slow.execute(f"ALTER ROLE {reader} CONNECTION LIMIT {limit}")
    with slow.connect_as(reader, workers=limit) as engine:
        assert ask(engine, COUNT) == [(1000,)]
        time.sleep(1.0)
        assert ask(engine, COUNT) == [(1000,)]
        assert engine.workers in (
            1,
            limit,
        )  # the last connection is the second session's or the looks', who comes first


@pytest.mark.exhaustive
def test_a_gentle_engine_has_one_session_and_rests(slow: PostgresStore) -> None:
    quick(slow)
    with slow.connect(workers=4, gentle=True) as engine:
        assert engine.workers == 1
        assert ask(engine, "SELECT current_setting('max_parallel_workers_per_gather')") == [("0",)]
        engine.run_many([Statement("SELECT pg_sleep(0.2)", "nap", lambda rows: rows)] * 4)
        assert engine.seconds > 4 * 0.2 + 3 * 0.2
