"""What a user may call a DuckDB source, and the one line that refuses what cannot be one."""

import gzip
import os
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.engines import workers
from qidsql.engines.connect import connect
from qidsql.engines.duckdb.engine import DuckDBSession
from qidsql.errors import BudgetSpent, QidsqlError, SourceError, UsageError
from qidsql.sql.templates import Statement
from tests.ways import measured_set

ROWS = [(1, "x"), (1, "x"), (2, "y")]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
    return path


def rows(source: str, table: str | None = None) -> int:
    return measured_set(source, table, k=2).profile.rows


def complaint(source: str, kind: type[QidsqlError] = SourceError) -> str:
    """The message with which connecting is refused."""
    with pytest.raises(kind) as error:
        connect(source).close()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.exhaustive
def test_the_ways_to_name_a_database(database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLINIC", f"duckdb://{database}")
    (tmp_path / "no ending").write_bytes(database.read_bytes())
    for source in (
        str(database),
        "clinic.duckdb",
        "./clinic.duckdb",
        "~/clinic.duckdb",
        "no ending",
        f"duckdb://{database}",  # duckdb:///absolute/path
        f"duckdb:///{database}",  # four slashes, as SQLAlchemy writes it
        "duckdb:///clinic.duckdb",  # three slashes and a relative path, as SQLAlchemy writes it
        "duckdb:clinic.duckdb",
        "env:CLINIC",
        "clinic.duckdb?memory_limit=1GB&threads=1",
        "clinic.duckdb?",
        f"duckdb://{database}?threads=1",
    ):
        assert rows(source) == 3, source


def test_a_file_whose_name_holds_signs_of_patterns_and_options(tmp_path: Path) -> None:
    folder = tmp_path / "[2024] a?b"
    folder.mkdir()
    for name in ("50%*.parquet", "what?.csv", "a?threads=1.csv"):
        duckdb.sql("SELECT 1 AS a").write_csv(str(folder / "other.csv"))
        if name.endswith("csv"):
            (folder / name).write_text("a\nx\n")
        else:
            duckdb.sql("SELECT 1 AS a").write_parquet(str(folder / name))
        assert rows(str(folder / name)) == 1


def test_options_are_checked(database: Path) -> None:
    for option in ("memory=1GB", "header=true"):
        assert (
            "expected memory_limit, max_temp_directory_size or threads (for files also missing, for csv header)"
            in complaint(f"{database}?{option}", UsageError)
        )
    for value in ("lots", ""):
        assert "must be a size such as 4GB" in complaint(f"{database}?memory_limit={value}", UsageError)
    assert "must be a number of threads" in complaint(f"{database}?threads=0", UsageError)


def test_the_memory_limit_arrives(database: Path) -> None:
    with connect(f"{database}?memory_limit=123MiB&threads=1") as engine:
        shown = engine._catalog  # type: ignore[attr-defined]
        assert shown is not None
        connection = engine._connection  # type: ignore[attr-defined]
        settings = connection.execute("SELECT current_setting('memory_limit'), current_setting('threads')").fetchone()
    assert settings == ("123.0 MiB", 1)


def test_what_is_not_there(tmp_path: Path, database: Path) -> None:
    assert "there is no file" in complaint(str(tmp_path / "nope.duckdb"))
    assert "did you mean clinic.duckdb?" in complaint(str(tmp_path / "clinik.duckdb"))
    assert "no files match" in complaint(str(tmp_path / "*.parquet"))
    assert "is a folder without data files" in complaint(str(tmp_path))
    assert "is not a regular file" in complaint("/dev/null")
    assert "there is no file" in complaint("x" * 5000)
    assert "home folder" in complaint("~no-such-user-here/x.csv")
    assert "names no file" in complaint("duckdb://")
    assert "names no file" in complaint("duckdb:///:memory:")
    assert "does not support mysql:// URLs" in complaint("mysql://user:pw@host/db")
    assert "pw" not in complaint("mysql://user:pw@host/db")
    assert "NOT_SET is not set" in complaint("env:NOT_SET", UsageError)


def test_what_is_no_database(tmp_path: Path) -> None:
    for name, content in {"text.duckdb": b"a,b\n1,2\n" * 999, "empty.duckdb": b"", "short.duckdb": b"x"}.items():
        (tmp_path / name).write_bytes(content)
        assert "is not a DuckDB database file" in complaint(str(tmp_path / name))
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    assert "SQLite" in complaint(str(tmp_path / "other.db"))
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04")
    assert ".parquet" in complaint(str(tmp_path / "sheet.xlsx"))


def test_a_damaged_database(tmp_path: Path, database: Path) -> None:
    whole = database.read_bytes()
    for number, broken in enumerate([whole[:5000], whole[:20], whole[:4096] + b"\xff" * 200 + whole[4296:]]):
        path = tmp_path / f"broken{number}.duckdb"
        path.write_bytes(broken)
        assert "is damaged or cut short" in complaint(str(path))


@pytest.mark.parametrize("version", [1, 1000])
def test_a_database_of_another_storage_version(tmp_path: Path, database: Path, version: int) -> None:
    path = tmp_path / "other.duckdb"
    header = bytearray(database.read_bytes())
    header[12:20] = struct.pack("<Q", version)
    header[0:8] = struct.pack("<Q", checksum(bytes(header[8:4096])))
    path.write_bytes(header)
    message = complaint(str(path))
    assert f"has the storage version {version}, DuckDB {duckdb.__version__} reads between" in message
    assert "upgrade the duckdb package" in message


def checksum(block: bytes) -> int:
    """The checksum of a header block, as DuckDB computes it: whole words, each multiplied by a constant."""
    result = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        result ^= (word * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    return result


WRITER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("INSERT INTO t VALUES (9, 'z')")
print("ready", flush=True)
sys.stdin.readline()
"""


def test_a_database_open_for_writing_elsewhere_and_its_copy(database: Path, tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdin and writer.stdout
    try:
        assert writer.stdout.readline() == "ready\n"
        message = complaint(str(database))
        assert "is open for writing in python3" in message
        assert f"(process {writer.pid})" in message
        copy = tmp_path / "copy.duckdb"
        copy.write_bytes(database.read_bytes())
        copy.with_suffix(".duckdb.wal").write_bytes(database.with_suffix(".duckdb.wal").read_bytes())
        assert rows(str(copy)) == 4  # the write-ahead log beside it is read as well
    finally:
        writer.communicate("\n")
    assert rows(str(database)) == 4


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")).write_text("a\n1\n")
    for source in (tmp_path, tmp_path / "*.csv"):
        assert r"'\udcff.csv' is a name that is not UTF-8" in complaint(str(source))


def test_a_pipe_in_place_of_the_write_ahead_log(database: Path) -> None:
    """Opening it would wait for a writer, without end."""
    os.mkfifo(database.with_suffix(".duckdb.wal"))
    assert "clinic.duckdb.wal is no ordinary file" in complaint(str(database))


def test_a_database_open_in_this_process(database: Path) -> None:
    with duckdb.connect(str(database)):
        assert "close that connection first" in complaint(str(database))


@pytest.mark.exhaustive
def test_an_unreadable_file(tmp_path: Path, database: Path) -> None:
    (tmp_path / "people.csv").write_text("a\n1\n")
    tmp_path.chmod(0o755)
    for path in (database, tmp_path / "people.csv"):
        path.chmod(0)
        script = (
            "import os, sys; from qidsql.engines.duckdb import engine; from qidsql.engines.connect import connect; "
            "os.chdir(os.path.dirname(sys.argv[1])); os.geteuid() or os.seteuid(65534)\n"
            "try: connect(os.path.basename(sys.argv[1]))\nexcept Exception as error: print(error)"
        )
        said = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == f"{path.name} cannot be read (Permission denied); check the file's permissions"


def test_nothing_is_written_beside_the_database_and_nothing_is_left(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before, names = database.read_bytes(), sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    names = sorted([*names, "people.csv"])
    qidsql.audit(str(database))
    qidsql.audit(str(tmp_path / "people.csv"))
    (tmp_path / "broken.csv").write_text('a,b\n1,"2\n')
    complaint(str(tmp_path / "broken.csv"))
    (tmp_path / "broken.csv").unlink()
    assert database.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert list(scratch.iterdir()) == []


def test_gzip_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "people.csv.gz").write_bytes(b"a,b\n1,2\n")
    assert "is damaged, or its extension is wrong" in complaint(str(tmp_path / "people.csv.gz"))
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    (tmp_path / "people.csv.gz").write_bytes(whole[:-20])
    with pytest.raises(SourceError):
        connect(str(tmp_path / "people.csv.gz"))


@pytest.mark.exhaustive
def test_a_statement_that_does_not_end_keeps_no_one_from_closing(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBSession, "cancel", lambda session: None)
    endless = "SELECT COUNT(*) FROM range(1000000000000) AS numbers(n) WHERE HASH(n) % 7 = 3"
    engine = connect(str(database))
    monkeypatch.setattr(engine, "costs", replace(engine.costs, cancel_seconds=0.0))
    folder = engine.exports().parent
    cursor = engine._on_one_session(lambda session: session._cursor)  # type: ignore[attr-defined]
    for seconds in (0.5, 5, 50):  # until the statement has begun
        with pytest.raises(BudgetSpent):
            engine.run(Statement(endless, "endless", lambda rows: None), time.monotonic() + seconds)
        if workers.left_behind():
            break
    assert workers.left_behind()
    try:
        engine.close()
        assert not folder.exists()
    finally:
        end = time.monotonic() + 5
        while workers.left_behind() and time.monotonic() < end:  # a thread of another test may stay
            with suppress(duckdb.ConnectionException):  # it has ended by now
                cursor.interrupt()
            time.sleep(0.05)


@pytest.mark.exhaustive
def test_each_data_file_of_a_folder_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name\n07,ann\n08,bob\n08,cyd\n")
    duckdb.execute(f"COPY (SELECT n, n % 2 AS half FROM range(5) AS r(n)) TO '{tmp_path}/numbers.parquet'")
    (tmp_path / "words.jsonl").write_text('{"word": "x"}\n')
    (tmp_path / "README.md").write_text("none of the data")
    (tmp_path / "notes.txt").write_text("none either, it is: prose")
    (tmp_path / ".hidden.csv").write_text("a\n1\n")
    with connect(str(tmp_path)) as engine:
        described = {str(name.name): engine.describe(str(name)) for name in engine.table_names()}
        listed = {table.name.name: table for table in engine.catalog().tables}
        assert {table.kind for table in (*described.values(), *listed.values())} == {"data file"}
    assert {name: tuple(column.name for column in table.columns) for name, table in described.items()} == {
        "people": ("id", "name"),
        "numbers": ("n", "half"),
        "words": ("word",),
    }
    assert [rows(str(tmp_path), name) for name in ("people", "numbers", "words")] == [3, 5, 1]
    with pytest.raises(UsageError, match=r"name one: main\.numbers, main\.people, main\.words"):
        rows(str(tmp_path))
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": ')
    (tmp_path / "nothing.csv").write_text("")
    assert rows(str(tmp_path), "people") == 3
    said = {"broken": f"broken.json in {tmp_path} cannot be parsed at line 1", "nothing": "nothing.csv is empty"}
    with connect(str(tmp_path)) as engine:
        obstacles = {table.name.name: table.obstacle for table in engine.catalog().tables if table.obstacle}
        assert obstacles.keys() == said.keys()
        for name, words in said.items():
            with pytest.raises(SourceError, match=words) as error:
                engine.describe(name)
            assert str(error.value) == obstacles[name]
    doctor = {table.table: table.auditable for table in qidsql.doctor(str(tmp_path)).tables}
    assert doctor == {f"main.{name}": name not in said for name in ("numbers", "people", "words", *said)}
    for name in ("people.csv", "numbers.parquet", "words.jsonl"):
        (tmp_path / name).rename(tmp_path / f"{name}.away")
    assert "nothing.csv is empty" in complaint(str(tmp_path))  # no table is left to audit
    for name in ("people.csv", "numbers.parquet", "words.jsonl"):
        (tmp_path / f"{name}.away").rename(tmp_path / name)
    broken.unlink()


def test_files_of_one_name_are_an_error_of_their_table(tmp_path: Path) -> None:
    """Which of them would be audited? The others of the folder are no matter of theirs."""
    for name in ("people.csv", "People.json", "others.csv"):
        (tmp_path / name).write_text('[{"a": 1}]' if name.endswith("json") else "a\n1\n")
    with connect(str(tmp_path)) as engine:
        assert [column.name for column in engine.describe("others").columns] == ["a"]
        obstacles = [table.obstacle for table in engine.catalog().tables if table.obstacle]
        with pytest.raises(SourceError, match=r"People.json, people.csv in .* name the file itself") as error:
            engine.describe("people")
    assert obstacles == [str(error.value)]
    assert f"{tmp_path}/people.csv" in obstacles[0]
    (tmp_path / "others.csv").unlink()
    assert "would be tables with the same name" in complaint(str(tmp_path))
