"""What the sessions do on the server: they write nothing, see one state of the data, end in time, and never lie."""

import threading
from collections.abc import Callable

import psycopg
import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import ConnectionLost, StatementError
from qidsql.sql.templates import Row, Statement
from tests.postgres_server import wait_until
from tests.stores import PostgresStore


def ask(engine: Engine, *sql: str) -> list[list[Row]]:
    """Rows of statements that are put to all sessions at once."""
    return engine.run_many([Statement(text, "question of a test", lambda rows: rows) for text in sql])


def named(store: PostgresStore, role: str | None = None) -> tuple[str, Callable[[str], list[Row]]]:
    """A URL that marks its sessions, and a function that looks at them from outside, by pg_stat_activity's columns."""
    name = f"audit of {store.schema}"

    def look(columns: str) -> list[Row]:
        query = f"SELECT {columns} FROM pg_stat_activity WHERE application_name = %s ORDER BY backend_start"
        return store.admin.execute(query.encode(), [name]).fetchall()

    return store.url_of(role) + f"&application_name={name.replace(' ', '%20')}", look


@pytest.fixture
def people(postgres_store: PostgresStore, reader: str) -> PostgresStore:
    """A table t of which every pair of columns is below k, readable for `reader`."""
    postgres_store.execute(
        "CREATE TABLE t AS SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c FROM generate_series(1, 500) AS i;"
        f"GRANT SELECT ON t TO {reader}"
    )
    return postgres_store


@pytest.fixture
def slow(postgres_store: PostgresStore) -> PostgresStore:
    """A view v of which every scan takes minutes."""
    postgres_store.execute(
        "CREATE VIEW v AS SELECT i AS a, CAST(pg_sleep(0.2) AS text) AS b FROM generate_series(1, 9000) AS i"
    )
    return postgres_store


# nothing is written


@pytest.mark.parametrize("snapshot", [True, False])
@pytest.mark.parametrize("options", [{"distinct": "0.5"}, {"entity": "a"}, {"where": "a > 1"}])
def test_an_audit_writes_nothing(people: PostgresStore, reader: str, snapshot: bool, options: dict[str, str]) -> None:
    url, look = named(people, reader)
    asked: list[str] = []
    with connect(url, workers=3, snapshot=snapshot) as engine:
        engine.watchers.append(lambda each: asked.append(each.sql))
        assert audit(engine, AuditRequest("t", **options)).verdict is Verdict.VIOLATION
        for pid, backend_xid in look("pid, backend_xid"):
            assert backend_xid is None, "a transaction number was given out, so something was written"
            locks = people.admin.execute("SELECT DISTINCT mode FROM pg_locks WHERE pid = %s", [pid]).fetchall()
            assert {mode for (mode,) in locks} <= {"AccessShareLock", "ExclusiveLock"}  # its own virtual number
        assert ask(engine, "SELECT pg_current_xact_id_if_assigned(), current_setting('transaction_read_only')") == [
            [(None, "on")]
        ]
    assert asked
    assert all(sql.startswith(("SELECT", "WITH")) and "TEMP" not in sql.upper() for sql in asked)


@pytest.mark.parametrize("snapshot", [True, False])
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMP TABLE scratch (a int)",
        "INSERT INTO {schema}.t VALUES (1, 1, 1)",
        "SELECT * FROM {schema}.t FOR UPDATE",
        "SELECT nextval('{schema}.s')",
    ],
)
def test_a_session_could_not_write_if_it_tried(people: PostgresStore, snapshot: bool, statement: str) -> None:
    people.execute("CREATE SEQUENCE s")
    with people.connect(snapshot=snapshot) as engine, pytest.raises(StatementError, match="only reads"):
        ask(engine, statement.format(schema=people.schema))


def test_settings_end_with_the_transaction(people: PostgresStore) -> None:
    """So that a connection pooler hands a changed session to nobody else."""
    with people.connect(workers=1, snapshot=False) as engine:
        assert engine._on_one_session(lambda session: session.execute("SELECT current_setting('row_security')")) == [
            ("off",)
        ]
        connection = engine._on_one_session(lambda session: session.connection)  # type: ignore[attr-defined]
        connection.autocommit = True
        assert connection.execute("SHOW row_security").fetchone() == ("on",)
        assert connection.execute("SHOW statement_timeout").fetchone() == ("0",)


# one state of the data


MEETING = """
CREATE FUNCTION meet(sessions int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(4711);
    FOR attempt IN 1..6000 LOOP
        EXIT WHEN (SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711) >= sessions;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$
"""  # returns when so many sessions have called it, or after a minute


def test_all_sessions_see_one_snapshot(people: PostgresStore) -> None:
    people.execute(MEETING)
    with people.connect(workers=3) as engine:
        question = f"SELECT COUNT(*), pg_backend_pid(), {people.schema}.meet(3) FROM {people.schema}.t GROUP BY ()"
        people.execute("INSERT INTO t SELECT 1, 1, 1 FROM generate_series(1, 100)")
        before = [rows[0] for rows in ask(engine, *[question] * 3)]
        people.execute("DELETE FROM t WHERE a < 3")
        after = [rows[0] for rows in ask(engine, *[question] * 3)]
    assert {count for count, *_ in before + after} == {500}
    assert len({pid for _, pid, _ in before}) == 3


def test_sessions_that_open_amid_writing_see_one_snapshot(people: PostgresStore) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            people.execute("INSERT INTO t VALUES (1, 1, 1)")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with people.connect(workers=4) as engine:
            counts = ask(engine, *[f"SELECT COUNT(*), pg_sleep(0.1) FROM {people.schema}.t"] * 4)
    finally:
        stop.set()
        writer.join()
    assert counts[0][0][0] >= 500  # type: ignore[operator]
    assert all(rows == counts[0] for rows in counts)


def test_without_a_snapshot_each_statement_sees_its_own_moment(people: PostgresStore) -> None:
    url, look = named(people)
    with connect(url, workers=2, snapshot=False) as engine:
        question = f"SELECT COUNT(*) FROM {people.schema}.t"
        assert ask(engine, question) == [[(500,)]]
        people.execute("INSERT INTO t VALUES (1, 1, 1)")
        assert ask(engine, question) == [[(501,)]]
        assert set(look("state, backend_xmin")) == {("idle", None)}  # nothing that holds up a vacuum
        assert engine.snapshot == "each statement sees its own snapshot"


def test_fewer_connections_than_asked_for_make_fewer_workers(people: PostgresStore, reader: str) -> None:
    people.execute(f"ALTER ROLE {reader} CONNECTION LIMIT 1")
    with people.connect_as(reader, workers=4) as engine:
        assert engine.workers == 1
        assert audit(engine, AuditRequest("t")).verdict is Verdict.VIOLATION


# the end comes in time


def test_a_statement_timeout_leaves_the_audit_inconclusive(slow: PostgresStore) -> None:
    with slow.connect(statement_seconds=1) as engine:
        result = audit(engine, AuditRequest("v"))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "statement_timeout" in result.account.unfinished[0]


def test_a_lower_statement_timeout_of_the_role_is_kept(slow: PostgresStore, reader: str) -> None:
    slow.execute(f"GRANT SELECT ON v TO {reader}; ALTER ROLE {reader} SET statement_timeout = '1s'")
    with slow.connect_as(reader) as engine:
        result = audit(engine, AuditRequest("v"))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "statement_timeout" in result.account.unfinished[0]


def test_a_time_budget_ends_a_single_long_statement_on_the_server(slow: PostgresStore) -> None:
    url, look = named(slow)
    with connect(url) as engine:
        result = audit(engine, AuditRequest("v", max_seconds=0.5))
        assert result.verdict is Verdict.INCONCLUSIVE
        assert "the time budget is" in result.account.unfinished[0]
        wait_until(lambda: ("active",) not in look("state"))
    wait_until(lambda: not look("pid"))


# the server goes its own way


def audit_in_the_background(engine: Engine, table: str) -> tuple[threading.Thread, list[AuditResult]]:
    results: list[AuditResult] = []
    thread = threading.Thread(target=lambda: results.append(audit(engine, AuditRequest(table))))
    thread.start()
    return thread, results


def test_a_terminated_session_leaves_the_audit_inconclusive(slow: PostgresStore) -> None:
    url, look = named(slow)
    with connect(url) as engine:
        thread, results = audit_in_the_background(engine, "v")
        wait_until(lambda: ("PgSleep",) in look("wait_event"))
        look("pg_terminate_backend(pid)")
        thread.join(120)
        assert not thread.is_alive()
    assert [result.verdict for result in results] == [Verdict.INCONCLUSIVE]
    assert "connection to Postgres was lost" in results[0].account.unfinished[0]


def test_what_was_known_before_the_loss_stands(people: PostgresStore) -> None:
    """All columns together are below k, which decides; the search behind it does not end."""
    url, look = named(people)
    with connect(url) as engine:
        engine.watchers.append(lambda _: engine.statements == 5 and look("pg_terminate_backend(pid)") and None)
        result = audit(engine, AuditRequest("t"))
    assert "connection to Postgres was lost" in result.account.unfinished[0]
    assert result.verdict is Verdict.VIOLATION
    assert result.profile is not None


def test_a_session_that_died_while_idle_is_noticed(people: PostgresStore) -> None:
    url, look = named(people)
    with connect(url, workers=1) as engine:
        look("pg_terminate_backend(pid)")
        wait_until(lambda: not look("pid"))
        with pytest.raises(ConnectionLost):
            ask(engine, f"SELECT COUNT(*) FROM {people.schema}.t")


def test_a_session_that_was_idle_for_too_long_is_a_lost_connection(people: PostgresStore) -> None:
    url, look = named(people)
    with connect(url, workers=1) as engine:
        ask(engine, "SELECT set_config('idle_in_transaction_session_timeout', '50', TRUE)")
        wait_until(lambda: not look("pid"))
        with pytest.raises(ConnectionLost):
            ask(engine, f"SELECT COUNT(*) FROM {people.schema}.t")


def test_a_server_side_cancel_leaves_the_audit_inconclusive(slow: PostgresStore) -> None:
    url, look = named(slow)
    with connect(url) as engine:
        thread, results = audit_in_the_background(engine, "v")
        wait_until(lambda: ("PgSleep",) in look("wait_event"))
        look("pg_cancel_backend(pid)")
        thread.join(120)
        assert not thread.is_alive()
    assert [result.verdict for result in results] == [Verdict.INCONCLUSIVE]


@pytest.mark.parametrize("snapshot", [True, False])
def test_an_exclusive_lock_is_not_waited_for(people: PostgresStore, snapshot: bool) -> None:
    url = people.url.replace("search_path", "lock_timeout%3D100%20-csearch_path")  # a lower limit of the user's is kept
    with connect(url, snapshot=snapshot) as engine:
        with people.admin.transaction():
            people.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StatementError, match="locked by another session"):
                audit(engine, AuditRequest("t"))
        assert audit(engine, AuditRequest("t")).account.rows == 500  # nothing had been asked, so the engine lives on


@pytest.mark.parametrize(("change", "words"), [("DROP TABLE t", "dropped"), ("ALTER TABLE t DROP b", "altered")])
def test_a_table_that_changes_between_statements_is_an_error(people: PostgresStore, change: str, words: str) -> None:
    def change_it(stage: str) -> None:
        if stage.startswith("profiling all columns"):
            people.execute(change)

    with people.connect(snapshot=False) as engine, pytest.raises(StatementError, match=words):
        audit(engine, AuditRequest("t"), change_it)


def test_a_snapshot_keeps_the_table_as_it_was(people: PostgresStore) -> None:
    def change_it(stage: str) -> None:
        if stage.startswith("profiling"):
            people.execute("SET lock_timeout = 100")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                people.execute("TRUNCATE t")
            people.execute("DELETE FROM t")

    with people.connect() as engine:
        assert audit(engine, AuditRequest("t"), change_it).account.rows == 500
