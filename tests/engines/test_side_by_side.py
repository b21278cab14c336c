"""Several engines on one DuckDB file in a process, and engines that outlive a fork."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

import qidsql
from qidsql.errors import SourceError
from tests.commandline import environment

SLOW = """
import pandas, qidsql, time
class Slow:
    def __str__(self):
        time.sleep(0.05)
        return "x"
print(qidsql.audit(pandas.DataFrame({"a": [Slow()] * 5000}), max_seconds=0.2).verdict)
"""
WRITER = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('INSERT INTO t VALUES (1, 2)')"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "store.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 5 AS b FROM range(3500) AS r(i)")
        connection.execute("CREATE TABLE u AS SELECT i AS a, i % 2 AS b FROM range(40) AS r(i)")
        connection.execute("CREATE MACRO current_setting(a) AS true")
    return path


@pytest.mark.exhaustive
def test_threads_work_on_one_file_at_the_same_time(database: Path) -> None:
    calls = [
        *[lambda: qidsql.audit(str(database), "t", k=100).verdict] * 3,
        lambda: qidsql.uniques(str(database), "u", k=2).verdict,
        lambda: qidsql.uniques(str(database), "u", k=3).verdict,
        lambda: qidsql.protect(str(database), "u", k=2, method="shared", by="cells", against="released-rows").verdict,
        lambda: [str(each.table) for each in qidsql.tables(str(database)).tables],
    ]
    alone = [call() for call in calls]
    with ThreadPoolExecutor(len(calls)) as threads:
        together = [each.result() for each in [threads.submit(call) for call in calls]]
    assert together == alone


def test_threads_work_on_one_file_beside_the_same_second_one(database: Path, tmp_path: Path) -> None:
    population = tmp_path / "population.csv"
    population.write_text("a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(7000)))
    with ThreadPoolExecutor(4) as threads:
        works = [threads.submit(qidsql.risk, str(database), "t", population=str(population), k=2) for _ in range(4)]
        assert {each.result().verdict for each in works} == {"pass"}


def test_an_engine_that_is_closed_leaves_the_others_at_work(database: Path) -> None:
    first, second = qidsql.connect(str(database)), qidsql.connect(str(database))
    assert first.exports() != second.exports()
    first.close()
    assert second.exports().is_dir()
    with qidsql.connect(str(database)) as third:
        assert qidsql.audit(third, "t", k=100).verdict == qidsql.audit(second, "t", k=100).verdict == "pass"
        with pytest.raises(duckdb.Error, match=r"locked|disabled"):
            third._connection.execute("SET enable_external_access = true")  # type: ignore[attr-defined]
    folder = second.exports().parent
    second.close()
    assert not folder.exists()


def test_other_settings_are_refused_in_one_line(database: Path) -> None:
    with qidsql.connect(str(database)), pytest.raises(SourceError, match="open in this process with other settings"):
        qidsql.connect(f"{database}?threads=1")


@pytest.mark.skipif(sys.platform != "linux", reason="locks of open files are Linux's")
def test_whatever_reads_the_file_in_this_process_writers_stay_out(database: Path) -> None:
    """POSIX locks end when the process closes the file once more, as `connect` does to see what it is."""
    write = [sys.executable, "-c", WRITER, str(database)]
    with qidsql.connect(str(database)):
        database.read_bytes()
        assert subprocess.run(write, capture_output=True).returncode == 1
    assert subprocess.run(write, capture_output=True).returncode == 0


def in_child(engine: Any, path: Path, said: Any) -> None:
    try:
        qidsql.audit(engine, "t")
    except SourceError as error:
        said.put(str(error))
    engine.close()
    said.put(qidsql.audit(str(path), "t", k=100).verdict)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_an_engine_in_a_forked_process_says_so(database: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    other.write_bytes(database.read_bytes())
    forking = multiprocessing.get_context("fork")
    said = forking.Queue()
    with qidsql.connect(str(database)) as engine:
        qidsql.audit(engine, "t")
        child = forking.Process(target=in_child, args=(engine, other, said))
        child.start()
        text = said.get(timeout=60)
        assert f"belongs to process {os.getpid()}" in text and "\n" not in text
        assert said.get(timeout=60) == "pass"
        child.join()
        assert engine.exports().is_dir() and qidsql.audit(engine, "t", k=100).verdict == "pass"


@pytest.mark.exhaustive
def test_objects_whose_text_takes_long_end_with_the_budget_and_not_at_exit() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "inconclusive\n"), done.stderr


def test_objects_are_compared_by_their_texts_and_values_by_value() -> None:
    class Of:
        def __init__(self, text: str) -> None:
            self.text = text

        def __str__(self) -> str:
            return self.text

    frame = pandas.DataFrame({"a": [Of("x"), Of("x"), Of("y"), Of("y")], 5: [[1], [1], [2], [2]]})
    assert qidsql.audit(frame, k=2).profile.classes == 2  # type: ignore[union-attr]


def test_an_object_without_a_text_is_an_error_without_its_words() -> None:
    class Mute:
        def __str__(self) -> str:
            raise KeyError("SECRET")

    with pytest.raises(SourceError, match="KeyError") as raised:
        qidsql.audit(pandas.DataFrame({"a": [Mute()]}))
    assert "SECRET" not in str(raised.value)
