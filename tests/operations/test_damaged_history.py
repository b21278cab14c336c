"""A history that somebody else wrote, or that was damaged: an error names it, no file opens, nothing is internal."""

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from qidsql.engines.store import Prepared
from qidsql.errors import StoreError
from qidsql.operations.history.alerts import AlertRecord
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.records import TABLES, History
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import RunCallbacks, run
from tests.commandline import inside
from tests.exhaustive import always
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.stores import DuckDBStore, PostgresStore, opened

ALERTS = '[alerts.desk]\nkind = "command"\ncommand = ["false"]\n'  # so that a message waits
GARBAGE = {  # for each type of column
    "VARCHAR": ["'x'", "'{}'", "'{\"k\": []}'", "''", "repeat('[', 100000)"],
    "BLOB": ["'x'::BLOB", "''::BLOB"],
    "TIMESTAMP": ["'infinity'", "'290000-01-01 (BC)'"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "DOUBLE": ["'nan'", "'-infinity'"],
    "BOOLEAN": ["NULL"],
}
READINGS: dict[str, Callable[[History], Any]] = {
    "runs": lambda history: history.runs(),
    "a run": lambda history: list(history.result(history.find("last").run).tables),
    "past tables": lambda history: [each.table for each in history.past_tables(history.tables()).values()],
    "last tables": lambda history: history.last_tables(),
    "coverage": lambda history: history.last_coverage(),
    "columns": lambda history: history.last_columns(),
    "one table": lambda history: [history.table_history(*each) for each in history.tables()],
    "unfinished": lambda history: [history.unfinished_table(each) for each in history.unfinished()],
    "sent": lambda history: AlertRecord(history).last_sent("desk"),
    "pending": lambda history: AlertRecord(history).pending(),
}


def read(path: Path) -> list[str]:
    """The readings that end in something else than an answer or an error of the history."""
    wrong, history = [], history_of(path.parent)
    for name, reading in READINGS.items():
        try:
            reading(history)
        except StoreError:
            pass
        except Exception as error:  # noqa: BLE001 - what is looked for
            wrong.append(f"{name}: {type(error).__name__}")
    return wrong


@pytest.mark.exhaustive
@pytest.mark.parametrize("cells", always(6, longer=[150]))
def test_garbage_in_a_history(tmp_path: Path, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One column after the other, each of a history that was good."""
    monkeypatch.setattr("qidsql.operations.alerts.delivery.BACKOFF", 0)
    with DuckDBStore(tmp_path / "people.duckdb") as store:
        fill(store, safe=SAFE, risky=RISKY)
        policy = policy_file(tmp_path, store.url, entries("main.safe", "main.risky"), ALERTS)
    assert inside("run", "-q", cwd=tmp_path).code == 1

    def stop(stage: str) -> None:
        if stage.startswith("2 of 2"):
            raise KeyboardInterrupt

    run(read_policy_file(policy), history_of(tmp_path), callbacks=RunCallbacks(stage=stop))
    path, good = tmp_path / "qidsql-history.duckdb", tmp_path / "good.duckdb"
    shutil.copy(path, good)
    assert read(path) == []
    listed = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
    with opened(path) as connection:
        columns = connection.execute(listed).fetchall()
    assert {table for table, *_ in columns} == set(TABLES)
    changes = [(t, column, garbage) for t, column, kind in columns for garbage in GARBAGE[kind]]
    wrong = []
    for table, column, garbage in random.Random(7).sample(changes, min(cells, len(changes))):
        shutil.copy(good, path)
        with suppress(duckdb.Error), opened(path) as connection:  # a key, or a column that must have a value
            connection.execute(f"UPDATE {table} SET {column} = {garbage}")
        wrong += [f"{table}.{column} = {garbage}: {each}" for each in read(path)]
    assert wrong == []


VIEW = "CREATE OR REPLACE VIEW {} AS SELECT 1 AS run, content FROM read_text('{}')"


@pytest.mark.parametrize("table", ["runs", "history_format", "unfinished"])
def test_a_view_is_no_history(tmp_path: Path, table: str) -> None:
    """It could read any file, with the rights of whoever looks at the history."""
    secret, path = tmp_path / "secret", tmp_path / "qidsql-history.duckdb"
    secret.write_text("the secret")
    history_of(tmp_path).prepare()
    with opened(path) as connection:
        connection.execute(f"DROP TABLE {table}")
        connection.execute(VIEW.format(table, secret))
    for arguments in (["history"], ["report", "last"]):
        outcome = inside(*arguments, cwd=tmp_path)
        assert outcome.code == 2
        assert f"{table} in it is no table" in outcome.line


def test_a_history_opens_no_file(tmp_path: Path) -> None:
    """Whatever statement would run there."""
    (tmp_path / "secret").write_text("the secret")
    history = history_of(tmp_path)
    history.prepare()
    for writing in (False, True):
        with pytest.raises(StoreError), history.store.transaction(writing) as store:
            store.execute(Prepared(f"SELECT content FROM read_text('{tmp_path}/secret')", ()), {})


def test_a_view_in_postgres_is_no_history(postgres_store: PostgresStore) -> None:
    history = open_history(postgres_store.server, postgres_store.schema)
    history.prepare()
    postgres_store.execute("ALTER TABLE runs RENAME TO others")
    postgres_store.execute("CREATE VIEW runs AS SELECT * FROM others")
    with pytest.raises(StoreError, match="runs in it is no table"):
        open_history(postgres_store.server, postgres_store.schema).runs()


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    """As a policy file and as a history; a shell's <(...) is a pipe with a writer, which has always worked."""
    os.mkfifo(tmp_path / "pipe")
    assert "is no ordinary file" in inside("history", "--history", "pipe", cwd=tmp_path).line
    assert "is a pipe" in inside("run", "pipe", cwd=tmp_path).line
    history_of(tmp_path).prepare()
    for ending in (".wal", ".wal.checkpoint", ".wal.recovery"):
        beside = tmp_path / f"qidsql-history.duckdb{ending}"
        os.mkfifo(beside)
        assert f"{beside.name} is no ordinary file" in inside("history", cwd=tmp_path).line
        beside.unlink()
    os.mkfifo(tmp_path / "qidsql-history.duckdb.lock")
    with pytest.raises(StoreError, match="is no ordinary file"), history_of(tmp_path).store.exclusive():
        pass
    reading, writing = os.pipe()
    os.write(writing, b"format = 2")
    os.close(writing)
    assert "format" in inside("run", f"/dev/fd/{reading}", cwd=tmp_path).err
    os.close(reading)
