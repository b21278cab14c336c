"""What alerts remember: the same in memory, in a DuckDB file and in a schema of Postgres; and who is alone there."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import duckdb
import psycopg
import pytest

from qidsql.core.results import Verdict
from qidsql.engines.duckdb.store import DuckDBStore
from qidsql.engines.postgres.store import PostgresStore
from qidsql.engines.store import Store
from qidsql.errors import LockHeld, StoreError
from qidsql.operations.alerts.delivery import (
    MemoryRecord,
    PendingMessage,
    Record,
    SentVerdict,
    deliver_pending,
    notify,
    overview,
)
from qidsql.operations.alerts.message import LastSent, Message, VerdictChange
from qidsql.operations.alerts.settings import Snooze
from qidsql.operations.changes import Extent
from qidsql.operations.history.alerts import AlertRecord
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.records import History
from tests.operations.alerts.runs import alert, run_document

START = datetime(2026, 11, 21, 3, tzinfo=UTC)
HOSTILE = 'it\'s "a" ? %s :name \\ \u202e é'


@pytest.fixture(params=["duckdb", "postgres"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    if request.param == "duckdb":
        yield open_history(str(tmp_path / "history.duckdb"), patience=1)
        return
    url = request.getfixturevalue("postgres_url")
    schema = f"alerts_{uuid4().hex}"  # its own: a process that ends late must not make that of the next test
    yield open_history(url, schema, patience=1)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def drop(store: Store, table: str) -> None:
    text = f"DROP TABLE {store.schema}.{table}"
    if isinstance(store, PostgresStore):
        with psycopg.connect(store.url, autocommit=True) as connection:
            connection.execute(text)
    elif isinstance(store, DuckDBStore):
        with duckdb.connect(store.path) as connection:
            connection.execute(text)


@pytest.mark.exhaustive
def test_a_history_from_before_there_were_alerts_is_read(history: History) -> None:
    """Of each table in turn: nothing stands there, and the next transaction that writes makes it again."""
    subject, standing = ("clinic", "main.patients"), {"a": Extent(1, 2, 3)}
    for table in ("alert_findings", "alert_questions", "alert_states", "deliveries"):
        change = VerdictChange(*subject, None, None, Verdict.VIOLATION, "", (), standing, "q1")
        AlertRecord(History(history.store)).add(message(1, "team", change), START)
        drop(history.store, table)
        older = AlertRecord(History(history.store))
        asked = None if table == "alert_questions" else "q1"
        told = {subject: LastSent(Verdict.VIOLATION, {} if table == "alert_findings" else standing, asked)}
        assert older.last_sent("team") == ({} if table == "alert_states" else told)
        assert len(older.pending()) == (table != "deliveries")


def message(number: int, name: str, *changes: VerdictChange) -> Message:
    return Message(id=f"run-{number}/{name}", alert=name, run=f"run-{number}", started=START, changes=changes)


@pytest.mark.exhaustive
def test_a_history_remembers_what_memory_does(history: History) -> None:
    """The same random calls on both; what they answer is the same after each."""
    chance = random.Random(11)
    short: Record = MemoryRecord()
    long: Record = AlertRecord(history)
    ids: list[str] = []
    for number in range(15):
        name = chance.choice(["team", "desk"])
        what = chance.choice(["put", "put", "failed", "gone"])
        if what == "put":
            tables = chance.sample(["main.patients", "main.visits", HOSTILE, ""], chance.randint(1, 3))
            found = [
                VerdictChange(
                    "clinic" if table else "",
                    table,
                    None,
                    chance.choice([Verdict.PASS, None]),
                    chance.choice([Verdict.VIOLATION, Verdict.PASS]),
                    HOSTILE,
                    broken={each: Extent(1, number, 2**40) for each in chance.sample([HOSTILE, "b"], 2)[: number % 3]},
                    question=chance.choice([None, f"q{number}"]),
                )
                for table in tables
            ]
            ids.append(f"run-{number}/{name}")
            for record in (short, long):
                record.add(message(number, name, *found), START + timedelta(seconds=number))
        elif ids:
            chosen = chance.choice(ids)
            for record in (short, long):
                if what == "gone":
                    record.remove(chosen)
                elif any(kept.message.id == chosen for kept in short.pending()) or record is long:
                    record.record_failure(chosen, number, f"{HOSTILE} {number}")
        assert list(long.pending()) == list(short.pending())
        for each in ("team", "desk", "nobody"):
            assert long.last_sent(each) == short.last_sent(each)
    assert short.pending(), "something is left to compare"


def test_nothing_is_made_by_looking(history: History) -> None:
    assert AlertRecord(history).last_sent("team") == {}
    assert AlertRecord(history).pending() == []
    assert not history.store.exists()


def test_a_run_that_was_killed_before_it_delivered_loses_nothing(history: History, tmp_path: Path) -> None:
    """The message stands in the record before the first attempt: the next process delivers it, and tells it once."""
    listener = alert(kind="command", command=["sh", "-c", "cat >> told; echo >> told"])

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    class Dying(AlertRecord):
        pending = killed  # type: ignore[assignment]

    with pytest.raises(Killed):
        notify(run_document(1, patients="violation"), [listener], Dying(history), killed, tmp_path)
    assert not (tmp_path / "told").exists()
    said: list[str] = []
    notify(run_document(2, patients="violation"), [listener], AlertRecord(history), said.append, tmp_path)
    lines = (tmp_path / "told").read_text().splitlines()
    assert (len(lines), said) == (1, [])
    assert '"run": "run-1"' in lines[0]
    assert deliver_pending([listener], AlertRecord(history), said.append, tmp_path) == 0
    assert len((tmp_path / "told").read_text().splitlines()) == 1


def test_the_overview_tells_it_all_but_the_address(history: History) -> None:
    record = AlertRecord(history)
    change = VerdictChange("clinic", "main.patients", None, Verdict.PASS, Verdict.VIOLATION, "why")
    record.add(message(1, "team", change), START)
    record.record_failure("run-1/team", 3, "the server returned status 500")
    snooze = [{"table": "main.visits", "until": "2026-12-01", "reason": "soon"}, {"until": "2026-11-01"}]
    [shown] = overview([alert(kind="slack", url="env:SECRET_PLACE", snooze=snooze)], record, START.date()).alerts
    assert shown.told == (SentVerdict("clinic", "main.patients", Verdict.VIOLATION),)
    [kept] = shown.kept
    assert (kept.attempts, kept.failure) == (3, "the server returned status 500")
    assert shown.snoozed == (Snooze(date(2026, 12, 1), "main.visits", "soon"),)
    assert "SECRET_PLACE" not in str(shown)
    assert isinstance(record.pending()[0], PendingMessage)


def test_one_is_alone_and_writes_all_the_same(history: History, request: pytest.FixtureRequest) -> None:
    """The lock keeps others from it, in this process too, and holds up neither readers nor writers."""
    label = history.store
    other = (
        open_history(str(label.path), patience=1)  # type: ignore[attr-defined]
        if hasattr(label, "path")
        else open_history(request.getfixturevalue("postgres_url"), label.schema, patience=1)
    )
    with history.exclusive():
        with pytest.raises(LockHeld, match="another qidsql is at work"), other.exclusive():
            raise AssertionError("two were alone")
        AlertRecord(other).add(message(1, "team"), START)
        assert len(AlertRecord(history).pending()) == 1
    with other.exclusive():
        pass


def test_alone_where_nothing_can_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="cannot be opened"),
        open_history(str(tmp_path / "no" / "h.duckdb")).exclusive(),
    ):
        pass
