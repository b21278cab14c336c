"""What is SQLite's own: a file that is never written, its locks and logs, types of values, 64 bits."""

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

import qidsql
from qidsql.core.budget import within
from qidsql.engines.base import Engine
from qidsql.engines.connect import UnreachedEngine, connect, connect_or_unreached, shown
from qidsql.engines.sqlite.engine import WideSum
from qidsql.errors import BudgetSpent, QidsqlError, SourceError, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.templates import Statement
from tests.definitions import profile_of
from tests.exhaustive import always
from tests.hostile_names import GIVEN
from tests.stores import SQLiteStore, quoted
from tests.ways import measured_set, work

ROWS = [("a", 1), ("a", 1), ("b", 1), ("b", 2)]


@pytest.fixture
def people(sqlite_store: SQLiteStore) -> SQLiteStore:
    sqlite_store.table("people", {"name": "TEXT", "age": "INTEGER"}, ROWS)
    return sqlite_store


def names_beside(store: SQLiteStore) -> set[str]:
    return {path.name for path in store.path.parent.iterdir()}


def profile(source: str | Engine, table: str = "people", columns: Sequence[str] = ("name", "age")) -> ClassProfile:
    return measured_set(source, table, columns=columns).profile


def complaint(source: str, **options: bool) -> str:
    with pytest.raises(QidsqlError) as error:
        connect(source, **options)  # type: ignore[arg-type]
    return str(error.value)


def test_it_is_known_by_its_first_bytes_and_by_its_url(people: SQLiteStore) -> None:
    other = people.path.rename(people.path.with_name("people.csv"))
    for source in (str(other), f"sqlite:///{other}", f"sqlite:{other}"):
        with connect(source) as engine:
            assert engine.version == f"SQLite {sqlite3.sqlite_version}"
            assert [str(name) for name in engine.table_names()] == ["main.people"]


@pytest.mark.parametrize("command", ["audit", "only", "keys", "columns", "uniques"])
def test_the_file_is_the_same_afterwards_and_nothing_is_beside_it(people: SQLiteStore, command: str) -> None:
    before, beside = people.path.read_bytes(), names_beside(people)
    work(command)(str(people.path), "people", **({"violates": 2} if command == "columns" else {}))
    assert people.path.read_bytes() == before
    assert names_beside(people) == beside


def test_nothing_can_be_written(people: SQLiteStore) -> None:
    with connect(str(people.path)) as engine:
        for sql in ("DELETE FROM people", "CREATE TEMP TABLE x AS SELECT 1", "PRAGMA user_version = 7"):
            with pytest.raises(QidsqlError):
                engine.run(Statement(sql, "a try", lambda rows: None))


def test_a_writer_in_the_middle_changes_nothing_that_is_seen(people: SQLiteStore) -> None:
    people.execute("PRAGMA journal_mode = WAL")
    with connect(str(people.path)) as engine:
        before = profile(engine)
        people.execute("DELETE FROM people WHERE name = 'b'")
        people.execute("ALTER TABLE people ADD COLUMN more TEXT")
        assert profile(engine) == before == profile_of(ROWS, 5)
    assert profile(str(people.path)).rows == 2


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_pipe_in_place_of_a_file_of_sqlite(people: SQLiteStore, ending: str) -> None:
    """Opening it would wait for a writer, without end."""
    os.mkfifo(people.path.with_name(people.path.name + ending))
    with pytest.raises(SourceError, match=f"{ending} is no ordinary file"):
        connect(str(people.path))


def test_a_writer_waits_while_a_database_without_a_log_is_read(people: SQLiteStore) -> None:
    with (
        connect(str(people.path)) as engine,
        closing(sqlite3.connect(people.path, timeout=0)) as writer,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        measured_set(engine, "people")
        writer.execute("DELETE FROM people")
        writer.commit()
    assert profile(str(people.path)) == profile_of(ROWS, 5)


@pytest.mark.exhaustive
def test_a_locked_file(people: SQLiteStore) -> None:
    with closing(sqlite3.connect(people.path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert "is locked by another process" in complaint(str(people.path))


def test_a_time_limit_ends_the_wait_for_a_lock(people: SQLiteStore) -> None:
    with closing(sqlite3.connect(people.path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with within(0.2), connect_or_unreached(str(people.path)) as engine:
            assert isinstance(engine, UnreachedEngine)


def test_a_write_ahead_log_in_a_folder_that_is_only_read(people: SQLiteStore, tmp_path: Path) -> None:
    """The rows in the log count too, or there is an error; never the file alone."""
    with closing(sqlite3.connect(people.path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM people WHERE age = 2")
        writer.commit()
        copies = tmp_path / "copies"
        copies.mkdir()
        for ending in ("", "-wal"):
            shutil.copy(f"{people.path}{ending}", copies)
    copies.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        rows = profile(str(copies / people.path.name)).rows
    except SourceError as error:
        assert "WAL mode" in str(error)
    else:
        assert rows == 3
    finally:
        copies.chmod(stat.S_IRWXU)


def test_files_that_are_no_database(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("a\n" * 1000)
    assert "is not an SQLite database" in complaint(f"sqlite:{text}")
    cut = tmp_path / "cut.db"
    cut.write_bytes(b"SQLite format 3\0" + bytes(4000))
    assert str(cut) in complaint(str(cut))
    assert "is not a file" in complaint(f"sqlite:{tmp_path}")
    assert "there is no file" in complaint(f"sqlite:{tmp_path / 'none'}")
    assert "names no file" in complaint("sqlite://")
    assert not (tmp_path / "none").exists()


def test_a_damaged_file_is_an_error_and_no_answer(sqlite_store: SQLiteStore) -> None:
    sqlite_store.table("t", {"a": "TEXT"}, [(f"{number:099}",) for number in range(2000)])
    content = bytearray(sqlite_store.path.read_bytes())
    content[40_000:60_000] = b"\xff" * 20_000
    sqlite_store.path.write_bytes(content)
    with pytest.raises(QidsqlError, match="damaged"):
        measured_set(str(sqlite_store.path), "t")


def test_what_it_cannot_do_is_refused(people: SQLiteStore) -> None:
    source = str(people.path)
    assert "only read" in complaint(source, writable=True)
    assert "only read" in complaint(source, workspace=True)
    assert "only read" in complaint(f"{source}?memory_limit=1GB")
    with pytest.raises(UsageError, match="create a view"):
        qidsql.audit(source, "people", where="age > 1")
    with pytest.raises(UsageError, match="only read"):
        qidsql.protect(source, "people", k=2, into="other", by="cells", against="released-rows")
    with pytest.raises(UsageError, match="by itself"):
        qidsql.protect(source, "people", k=2, sql="table", by="cells")


def test_its_own_types_of_values(sqlite_store: SQLiteStore) -> None:
    """1 and 1.0 look different; so do a text, a blob and a number, and texts that a collation takes for equal."""
    values = [
        "1",
        "1.0",
        "'1'",
        "x'31'",
        "NULL",
        "NULL",
        "'a'",
        "'A'",
        "'a '",
        "9007199254740993",
        "9007199254740992.0",
    ]
    rows = ", ".join(f"({value}, {value}, {value})" for value in values)
    sqlite_store.execute("CREATE TABLE t (a, b COLLATE NOCASE, c COLLATE RTRIM)")
    sqlite_store.execute(f"INSERT INTO t VALUES {rows}")
    sqlite_store.execute("CREATE VIEW v AS SELECT a, b AS b, c FROM (SELECT * FROM t)")
    tokens = [1, "1.0", "1", b"1", None, None, "a", "A", "a ", 2**53 + 1, 2.0**53]
    expected = profile_of([(token,) for token in tokens], 5)
    for table in ("t", "v"):
        for column in "abc":
            assert profile(str(sqlite_store.path), table, [column]) == expected, (table, column)


def test_texts_that_are_not_utf_8(sqlite_store: SQLiteStore) -> None:
    sqlite_store.execute("CREATE TABLE t (a TEXT, b INTEGER)")
    sqlite_store.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 1), (CAST(x'fe' AS TEXT), 1), (NULL, 2)")
    source = str(sqlite_store.path)
    assert profile(source, "t", ["a"]) == profile_of([(1,), (2,), (None,)], 5)
    assert qidsql.keys(source, "t", epsilon="0.5", delta="0.5").column_sets
    assert qidsql.uniques(source, "t", k=2).verdict == "finished"


def test_tables_without_row_numbers_and_with_their_names(sqlite_store: SQLiteStore) -> None:
    for number, definition in enumerate(
        ("(a TEXT PRIMARY KEY, b) WITHOUT ROWID", "(rowid, _rowid_)", "(rowid, _rowid_, oid)", "(a, b AS (a || 'x'))")
    ):
        sqlite_store.execute(f"CREATE TABLE t{number} {definition}")
    with connect(str(sqlite_store.path)) as engine:
        found = [engine.describe(f"t{number}") for number in range(4)]
        assert [table.row_address for table in found] == [(), ("oid",), (), ("rowid",)]
        assert [column.name for column in found[3].columns] == ["a", "b"]


@pytest.mark.parametrize("every", always(5, longer=[1]))
def test_hostile_names(sqlite_store: SQLiteStore, every: int) -> None:
    """A name that SQLite does not know in double quotes would be a text: the counts would be others."""
    for name in GIVEN[::every]:
        sqlite_store.table(name, {name: "TEXT", f"{name} 2": "INTEGER"}, ROWS)
        with connect(str(sqlite_store.path)) as engine:
            result = qidsql.audit(engine, quoted(name), k=2, columns=[name, f"{name} 2"])
            assert result.profile == profile_of(ROWS, 2), name
            assert qidsql.keys(engine, quoted(name), all=True).verdict == "finished", name
        sqlite_store.execute(f"DROP TABLE {quoted(name)}")


def test_a_view_that_cannot_be_read_bars_itself_alone(people: SQLiteStore) -> None:
    """And `doctor` refuses the views that an audit refuses, whose dates are those of rows too."""
    people.execute("CREATE TABLE moments (a TEXT)")
    people.execute("INSERT INTO moments VALUES ('now'), ('2020-01-01')")
    people.execute("CREATE VIEW clock AS SELECT date(a) AS x FROM moments")
    people.execute("CREATE VIEW days AS SELECT date(a) AS x FROM moments WHERE a LIKE '2%'")
    people.execute("CREATE VIEW gone AS SELECT * FROM nowhere")
    people.execute("CREATE VIEW unknown AS SELECT no_function(a) FROM moments")
    found = qidsql.doctor(people.url)
    names = {str(table.table).removeprefix("main.") for table in found.tables if not table.auditable}
    assert names == {"clock", "gone", "unknown"}
    for name in names:
        with pytest.raises(QidsqlError):
            qidsql.audit(people.url, name, k=2)
    assert qidsql.audit(people.url, "days", k=2).verdict == "violation"
    assert len(qidsql.tables(people.url).tables) == len(found.tables)


def test_a_statement_is_ended_at_the_time_limit(people: SQLiteStore) -> None:
    endless = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT COUNT(*) FROM s"
    with connect(str(people.path)) as engine:
        with pytest.raises(BudgetSpent):
            engine.run(Statement(endless, "an endless one", list), time.monotonic() + 0.2)
        assert profile(engine) == profile_of(ROWS, 5)


def test_whole_numbers_are_exact_or_an_error(people: SQLiteStore) -> None:
    total = WideSum()
    assert total.finalize() is None
    total.step(2**62, 3)
    total.step(5)
    assert total.finalize() == str(3 * 2**62 + 5)
    with connect(str(people.path)) as engine:
        for sql in (
            "SELECT 4611686018427387904 * 4",
            "SELECT SUM(n) FROM (SELECT 9223372036854775807 AS n UNION ALL SELECT 1)",
        ):
            with pytest.raises(QidsqlError, match="integers are too small"):
                engine.run(Statement(sql, "a try", list))


def test_its_errors_hold_no_values(people: SQLiteStore) -> None:
    people.execute("CREATE VIEW v AS SELECT json_extract(name, 'secret') AS a FROM people")
    with pytest.raises(QidsqlError) as error:
        measured_set(str(people.path), "v")
    assert "secret" not in str(error.value)
    assert shown(str(people.path)) == str(people.path)
