"""What goes wrong in one call ends that call and nothing else; and no answer mixes two states of the data."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.postgres.engine import PostgresEngine
from qidsql.errors import BudgetSpent, ConnectionLost, SnapshotLost, StatementError
from qidsql.sql.templates import Row, Statement
from tests.postgres_server import wait_until
from tests.stores import PostgresStore, Store

COUNT = "SELECT COUNT(*) FROM $t"
ENDLESS = {
    "duckdb": "SELECT COUNT(*) FROM range(1000000000000) AS r(n) WHERE HASH(n) % 7 = 3",
    "postgres": "SELECT pg_sleep(600)",
}
ANEW = "a new one since"


def placed(engine: Engine, sql: str) -> str:
    """The statement with its tables, marked by $, where those of a test's store lie: no path leads there."""
    if isinstance(engine, PostgresEngine):
        return sql.replace("$", f"{engine._server.role_path[0]}.")
    assert isinstance(engine, DuckDBEngine)
    return sql.replace("$", f'"{engine._default.catalog}"."{engine._default.schema}".')


def ask(engine: Engine, sql: str, seconds: float | None = None) -> list[Row]:
    statement = Statement(placed(engine, sql), "question of a test", lambda rows: rows)
    return engine.run(statement, None if seconds is None else time.monotonic() + seconds)


@pytest.fixture
def store_of_t(store: Store) -> Store:
    store.table("t", {"a": "INTEGER", "b": "VARCHAR"}, [(i % 5, "x") for i in range(100)])
    return store


@pytest.mark.exhaustive
def test_a_renewed_engine_reads_the_current_state_over_the_same_connections(postgres_store: PostgresStore) -> None:
    postgres_store.table("t", {"a": "INTEGER"}, [(1,)])
    with postgres_store.connect() as engine:
        assert isinstance(engine, PostgresEngine)
        assert ask(engine, COUNT) == [(1,)]
        backends, described = engine.backends(), engine.snapshot
        postgres_store.execute("INSERT INTO t VALUES (2)")
        assert ask(engine, COUNT) == [(1,)]
        assert engine.renew()
        assert [answer for [answer] in engine.run_many([counting(engine)] * 2)] == [(2,), (2,)]
        assert (engine.backends(), engine.snapshot) == (backends, described)
        postgres_store.execute("ALTER TABLE t ADD b INTEGER")  # no lock of the ended transaction is in its way


def counting(engine: Engine) -> Statement[list[Row]]:
    return Statement(placed(engine, COUNT), "question of a test", lambda rows: rows)


def test_an_engine_is_not_renewed_after_an_error_nor_with_a_fixed_time(store_of_t: Store) -> None:
    with store_of_t.connect() as engine:
        ask(engine, COUNT)
        assert engine.renew()
        with pytest.raises(StatementError):
            ask(engine, "SELECT nothing_of_that_name FROM $t")
        assert not engine.renew()
    with store_of_t.connect() as engine:
        qidsql.audit(engine, "t", where="a < EXTRACT(YEAR FROM now())")
        assert not engine.renew()
    assert not engine.renew()


def test_after_a_failed_statement_the_next_call_works(store_of_t: Store) -> None:
    with store_of_t.connect() as engine:
        with pytest.raises(StatementError):
            qidsql.audit(
                engine, "t", where="1 / (a - a) > 0" if store_of_t.name == "postgres" else "CAST(b AS INT) > 0"
            )
        result = qidsql.audit(engine, "t")
        assert (result.verdict, result.account.rows) == (Verdict.PASS, 100)
        with pytest.raises(StatementError):
            ask(engine, "SELECT nothing_of_that_name FROM $t")
        assert ask(engine, COUNT) == [(100,)]


def test_after_a_budget_has_ended_the_next_call_works(store_of_t: Store) -> None:
    with store_of_t.connect() as engine:
        with pytest.raises(BudgetSpent):
            ask(engine, ENDLESS[store_of_t.name], 0.2)
        assert qidsql.audit(engine, "t").verdict is Verdict.PASS
        spent = qidsql.audit(engine, "t", max_seconds=1e-9)
        assert (spent.verdict, spent.columns) == (Verdict.INCONCLUSIVE, ())
        assert "the time budget is used up" in spent.account.unfinished[0]
        assert qidsql.keys(engine, "t", max_seconds=1e-9).account.unfinished
        assert qidsql.audit(engine, "t").verdict is Verdict.PASS


def test_in_one_answer_the_first_stop_is_the_last(store_of_t: Store) -> None:
    with store_of_t.connect() as engine:
        with engine.answer():
            with pytest.raises(BudgetSpent):
                ask(engine, ENDLESS[store_of_t.name], 0.2)
            assert isinstance(engine.stopped_by, BudgetSpent)
            with pytest.raises(BudgetSpent):
                ask(engine, COUNT)
        assert ask(engine, COUNT) == [(100,)]


def test_statements_that_do_not_wait_for_each_other_are_one_round(store_of_t: Store) -> None:
    with store_of_t.connect() as engine:
        statements = [Statement(placed(engine, COUNT), "question of a test", lambda rows: rows)] * 3
        engine.run_many(statements)
        assert (engine.statements, engine.rounds) == (3, 1)
        with engine.one_round():
            with engine.one_round():
                engine.run_many(statements)
            engine.run_many(statements)
        assert (engine.statements, engine.rounds) == (9, 2)
        engine.run_many([])
        with engine.one_round():
            pass
        assert engine.rounds == 2
        ask(engine, COUNT)
        assert engine.rounds == 3


def test_a_transaction_for_writing_that_failed_has_left_nothing(store_of_t: Store) -> None:
    with store_of_t.connect(writable=True) as engine:
        with engine.answer():
            ask(engine, "CREATE TABLE $copy AS SELECT * FROM $t")
            with pytest.raises(StatementError):
                ask(engine, "SELECT nothing_of_that_name FROM $copy")
            with pytest.raises(ConnectionLost, match="ended with a statement that failed"):
                ask(engine, "SELECT COUNT(*) FROM $copy")
        with pytest.raises(StatementError):
            ask(engine, "SELECT COUNT(*) FROM $copy")
        ask(engine, "CREATE TABLE $copy AS SELECT * FROM $t")
        engine.commit()
    with store_of_t.connect() as engine:
        assert ask(engine, "SELECT COUNT(*) FROM $copy") == [(100,)]


# on Postgres: snapshots


@pytest.fixture
def people(postgres_store: PostgresStore) -> Iterator[PostgresStore]:
    postgres_store.execute("CREATE TABLE t AS SELECT i % 5 AS a FROM generate_series(1, 100) AS i")
    yield postgres_store


def test_the_snapshot_stays_as_long_as_one_session_has_it(people: PostgresStore) -> None:
    with people.connect(workers=2) as engine:
        ask(engine, COUNT)
        people.execute("INSERT INTO t SELECT 1 FROM generate_series(1, 11)")
        for _ in range(3):
            with pytest.raises(StatementError):
                ask(engine, "SELECT 1 / 0")
            assert ask(engine, COUNT) == [(100,)]
        assert engine.snapshot == "one snapshot for all statements"
        assert engine.workers == 2


def test_a_new_snapshot_is_said_and_an_answer_does_not_go_on_with_it(people: PostgresStore) -> None:
    with people.connect(workers=1) as engine:
        with engine.answer():
            assert ask(engine, COUNT) == [(100,)]
            people.execute("INSERT INTO t VALUES (1)")
            with pytest.raises(StatementError):
                ask(engine, "SELECT 1 / 0")
            with pytest.raises(ConnectionLost):
                ask(engine, COUNT)
        result = qidsql.audit(engine, "t")
        assert (result.account.rows, ANEW in result.account.snapshot) == (101, True)


@pytest.mark.parametrize("workers", [1, 3])
def test_sessions_that_were_ended_are_replaced(people: PostgresStore, workers: int) -> None:
    url = f"{people.url}&application_name=doomed"
    with qidsql.connect(url, workers=workers) as engine:
        ask(engine, COUNT)
        people.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'doomed'"
        )
        result = qidsql.audit(engine, "t")
        assert (result.verdict, "connection to Postgres was lost" in result.account.unfinished[0]) == (
            Verdict.INCONCLUSIVE,
            True,
        )
        people.execute("INSERT INTO t VALUES (1)")
        result = qidsql.audit(engine, "t")
        assert (result.account.rows, ANEW in result.account.snapshot) == (101, True)
        assert engine.workers == workers


@pytest.fixture
def united(postgres_store: PostgresStore) -> PostgresStore:
    """A view of two tables, the smaller of which holds rows that are alone, and so decides."""
    postgres_store.execute("CREATE TABLE common AS SELECT 1 AS a FROM generate_series(1, 100)")
    postgres_store.execute("CREATE TABLE rare (a int, b int) ")
    postgres_store.execute("INSERT INTO rare SELECT i, i FROM generate_series(1, 10) AS i")
    postgres_store.execute("CREATE VIEW v AS SELECT a FROM common UNION ALL SELECT a FROM rare")
    return postgres_store


REWRITTEN = [
    "ALTER TABLE rare ALTER b TYPE bigint",
    "BEGIN; CREATE TEMP TABLE kept AS TABLE rare; TRUNCATE rare; INSERT INTO rare TABLE kept; DROP TABLE kept; COMMIT",
]


@pytest.mark.parametrize("change", REWRITTEN)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_table_rewritten_after_the_snapshot_is_not_taken_for_empty(
    united: PostgresStore, change: str, workers: int
) -> None:
    """Its rows are hidden from older snapshots: without them every row would be one of a hundred."""
    with united.connect(workers=workers) as engine:
        united.execute(change)
        result = qidsql.audit(engine, "v", k=5, keep_identifiers=True)
    assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 110)
    assert result.account.notes == (
        "started again: rare was altered, truncated or refreshed after the snapshot was taken",
    )
    assert ANEW in result.account.snapshot


@pytest.mark.parametrize("change", ["TRUNCATE rare", "CREATE OR REPLACE VIEW both_of AS TABLE rare"])
def test_answers_that_nothing_could_check_are_dropped(postgres_store: PostgresStore, change: str) -> None:
    """The first of two statements sees a changed table in an old snapshot; the second fails before the check."""
    postgres_store.execute(
        "CREATE TABLE rare (a int); INSERT INTO rare VALUES (1), (2);"
        "CREATE VIEW both_of AS TABLE rare UNION ALL TABLE rare"
    )
    kept: dict[int, object] = {}
    with postgres_store.connect(workers=1) as engine:
        postgres_store.execute(change)
        texts = [placed(engine, f"SELECT COUNT(*) FROM ${table}") for table in ("rare", "both_of")]
        first, second, third = (Statement(text, "a test", list) for text in (*texts, "SELECT 1 / 0"))
        with pytest.raises(StatementError):
            engine.run_many([first, second, third], keep=kept.__setitem__)
    assert kept == {}


def test_other_commands_end_inconclusive_on_a_rewritten_table(united: PostgresStore) -> None:
    with united.connect() as engine:
        united.execute(REWRITTEN[0])
        result = qidsql.keys(engine, "v")
        assert (str(result.verdict), result.column_sets) == ("inconclusive", ())
        assert "rare was altered" in result.account.unfinished[0]
        assert qidsql.keys(engine, "v").verdict == "finished"


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE parted DETACH PARTITION low",
        "CREATE TABLE more PARTITION OF parted FOR VALUES IN (3)",
        "TRUNCATE low",
    ],
)
def test_a_partition_that_came_or_went_after_the_snapshot(postgres_store: PostgresStore, change: str) -> None:
    postgres_store.execute(
        "CREATE TABLE parted (a int) PARTITION BY LIST (a);"
        "CREATE TABLE low PARTITION OF parted FOR VALUES IN (1);"
        "CREATE TABLE high PARTITION OF parted FOR VALUES IN (2);"
        "INSERT INTO parted SELECT 1 + i % 2 FROM generate_series(1, 40) AS i"
    )
    with postgres_store.connect() as engine:
        postgres_store.execute(change)
        result = qidsql.audit(engine, "parted", keep_identifiers=True)
    assert result.account.rows == (40 if "CREATE" in change else 20)
    assert "started again" in result.account.notes[-1]


@pytest.mark.parametrize(
    "harmless",
    [
        "INSERT INTO rare VALUES (7, 7)",
        "ANALYZE rare",
        "CREATE INDEX ON rare (a)",
        "VACUUM rare",
        "CREATE TABLE unrelated (a int)",
    ],
)
def test_what_leaves_the_rows_where_they_are_changes_nothing(united: PostgresStore, harmless: str) -> None:
    with united.connect() as engine:
        united.execute(harmless)
        result = qidsql.audit(engine, "v", keep_identifiers=True)
    assert (result.account.rows, result.account.notes) == (110, ())


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("parted", "ALTER TABLE parted ATTACH PARTITION other FOR VALUES IN (2)"),
        ("rare", "ALTER TABLE child INHERIT rare"),
    ],
)
def test_what_is_attached_between_two_statements_of_an_answer_ends_it(
    united: PostgresStore, table: str, change: str
) -> None:
    """Such a change waits for no reader, and its rows are older than the snapshot."""
    united.execute(
        "CREATE TABLE parted (a int) PARTITION BY LIST (a); CREATE TABLE other AS SELECT 2 AS a;"
        "CREATE TABLE child AS SELECT 1 AS a, 2 AS b"
    )
    count = f"SELECT COUNT(*) FROM ${table}"
    with united.connect() as engine:
        with engine.answer():
            [[before]] = ask(engine, count)
            assert ask(engine, count) == [(before,)]
            united.execute(change)
            with pytest.raises(SnapshotLost):
                ask(engine, count)
        assert ask(engine, count) == [(before + 1,)]  # type: ignore[operator]


@pytest.mark.parametrize("export", [False, True])
def test_without_a_snapshot_a_table_rewritten_while_a_statement_waits_for_it_is_not_taken_for_empty(
    united: PostgresStore, export: bool, tmp_path: Path
) -> None:
    into = tmp_path / "count.csv" if export else None
    with united.connect(snapshot=False) as engine, ThreadPoolExecutor(1) as pool:
        wanted = Statement(placed(engine, "SELECT COUNT(*) FROM $v"), "count", lambda rows: rows, into=into)
        with united.admin.transaction():
            united.execute(REWRITTEN[0])
            counted = pool.submit(engine.run, wanted)
            wait_until(lambda: united.admin.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        rows = counted.result(60)
    assert (tmp_path / "count.csv").read_text() == "110\n" if export else rows == [(110,)]


def test_an_alter_under_way_that_does_not_touch_rows_is_no_change(united: PostgresStore) -> None:
    """Its lock lets readers pass, so that the catalog's row may be marked by somebody who has not committed."""
    with united.connect() as engine, united.admin.transaction():
        united.execute("ALTER TABLE rare ALTER b SET STATISTICS 10")
        result = qidsql.audit(engine, "v", keep_identifiers=True)
    assert (result.account.rows, result.account.notes) == (110, ())


def test_threads_that_ask_in_turns_do_not_hear_of_each_others_stops(people: PostgresStore) -> None:
    with people.connect() as engine:
        with engine.answer():
            with pytest.raises(BudgetSpent):
                ask(engine, ENDLESS["postgres"], 0.2)
            counted: list[list[Row]] = []
            thread = threading.Thread(target=lambda: counted.append(ask(engine, COUNT)))
            thread.start()
            thread.join()
        assert counted == [[(100,)]]
