"""No cell value in any output: marked values of every type, on both engines and in files, and failures of every kind.

Column names may appear, and what the user typed where it is asked for (--show-sql, --dry-run, the policy in JSON). What
single commands, runs, histories, alerts and reports say is put to the test by tests/trials/canaries.py.
"""

import json
import logging
import signal
import subprocess
import traceback
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import duckdb
import pytest

import qidsql as package
from qidsql.errors import QidsqlError
from tests.aviary import BROKEN, HIDDEN, OF_DUCKDB, OF_POSTGRES, SECRET, SHARED, broken_files, fill, hit
from tests.commandline import command, environment, finished, inside
from tests.postgres_server import wait_until
from tests.secret_shapes import shapes
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.ways import words


@pytest.fixture(scope="module")
def aviary(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[dict[str, Store]]:
    place = tmp_path_factory.mktemp("aviary")
    with DuckDBStore(place / "birds.duckdb") as files, PostgresStore(postgres_url) as server:
        stores: dict[str, Store] = {"files": files, "server": server}
        for store in stores.values():
            fill(store)
        yield stores


def test_what_the_user_typed_appears_only_where_it_is_asked_for(aviary: dict[str, Store]) -> None:
    birds = [aviary["files"].url, "birds", "-c", "grp", "-c", "a_code"]
    where = "a_code <> 'cnry_typed'"
    wrong = [where + more for more in (" AND", " AND nope = 1", "; SELECT 1", " AND CAST(a_code AS INT) > 1")]
    runs = [(verb, where) for verb in ("audit", "risk")] + [("audit", condition) for condition in wrong]
    for verb, condition in runs:
        outcome = inside(verb, *birds, "--where", condition)
        assert hit(outcome.out + outcome.err) is None
        assert len(outcome.err.splitlines()) == (condition in wrong)
    assert "cnry_typed" in inside("audit", *birds, "--where", where, "--dry-run").out


def test_no_error_about_a_source_holds_its_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for shape in shapes():
        with pytest.raises(QidsqlError) as raised:
            package.connect(shape).close()
        assert SECRET not in str(raised.value), shape


def test_an_interrupted_audit_leaves_no_value(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "many.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE many AS SELECT "
            + ", ".join(f"'cnry' || hash(i * 20 + {j}) % 5000 AS c{j}" for j in range(10))
            + " FROM range(400000) AS r(i)"
        )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        command("audit", tmp_path / "many.duckdb", "--show-sql"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
        text=True,
    )
    assert process.stderr
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = finished(process)
    assert hit(first + out + err) is None
    assert list(scratch.iterdir()) == []


def test_no_value_when_a_table_goes_away_during_a_run_and_a_statement_is_cancelled(
    aviary: dict[str, Store], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The first table holds the run up until the second is gone; the server ends its statement."""
    server = aviary["server"]
    assert isinstance(server, PostgresStore)
    caplog.set_level(logging.DEBUG)
    server.execute("CREATE VIEW slow AS SELECT grp, a_text FROM birds, pg_sleep(600)")
    server.execute("CREATE TABLE vanishing AS SELECT a_text, grp FROM birds")
    entries = "".join(f'[[tables]]\ntable = "{server.schema}.{name}"\n' for name in ("slow", "vanishing"))
    desk = '[alerts.desk]\nkind = "command"\ncommand = ["sh", "-c", "cat >> told"]\n'
    (tmp_path / "qidsql.toml").write_text(f'format = 1\n[sources.server]\nurl = "env:SERVER_URL"\n{desk}{entries}')
    asleep = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%slow%'"

    def meddle() -> None:
        wait_until(lambda: server.admin.execute(f"SELECT 1 {asleep}".encode()).fetchall())
        server.execute("DROP TABLE vanishing")
        server.execute(f"SELECT pg_cancel_backend(pid) {asleep}")

    meddler = Thread(target=meddle)
    meddler.start()
    outcome = inside("run", "--format", "json", cwd=tmp_path, SERVER_URL=server.url)
    meddler.join()
    document = json.loads(outcome.out)
    assert [table["verdict"] for table in document["tables"]] == ["inconclusive", "error"], document
    assert hit(outcome.out + outcome.err + caplog.text + (tmp_path / "told").read_text()) is None


def test_no_value_in_the_errors_of_the_python_api(aviary: dict[str, Store], tmp_path: Path) -> None:
    """As they are printed, and what hangs on them: the driver's error must not be a cause of ours."""
    sources = [(store.url, name) for store in aviary.values() for name in BROKEN]
    sources += [(str(tmp_path / name), "birds" if ".duckdb" in name else None) for name in broken_files(tmp_path)]
    raised = 0
    for source, table in sources:
        try:
            package.audit(source, table, max_statements=5)
        except QidsqlError as error:
            raised += 1
            told = traceback.TracebackException.from_exception(error, capture_locals=False)
            chain: BaseException | None = error
            while chain is not None:
                assert hit(f"{chain!r} {chain} {getattr(chain, '__notes__', '')} {vars(chain)}") is None
                assert chain.__suppress_context__ or chain.__context__ is None
                chain = chain.__cause__
            assert hit("".join(told.format())) is None
    assert raised >= 2 * len(BROKEN) - 2 + 9, "what was to break broke, where an engine minds"


def test_the_hunt_finds_every_kind_of_value(aviary: dict[str, Store]) -> None:
    """Each column, shown as it is, is caught; and so is a driver's error."""
    with duckdb.connect(aviary["files"].url, read_only=True) as files:
        shown = files.execute("SELECT * EXCLUDE grp FROM birds LIMIT 1 OFFSET 7")
        cells = {column[0]: cell for column, cell in zip(shown.description, shown.fetchone() or (), strict=True)}
        with pytest.raises(duckdb.Error) as raw:
            files.execute("SELECT * FROM casts").fetchall()
        assert hit(str(raw.value)) is not None
    server = aviary["server"]
    assert isinstance(server, PostgresStore)
    shown = server.admin.execute("SELECT * FROM birds LIMIT 1 OFFSET 7")
    cells |= {f"{column[0]} there": cell for column, cell in zip(shown.description, shown.fetchone(), strict=True)}
    assert len(cells) == 2 * len(SHARED) + len(OF_DUCKDB) + len(OF_POSTGRES) - 1
    for name, cell in cells.items():
        assert HIDDEN.search(f"{cell} {cell!r}") or name == "grp there", (name, cell)


def test_a_secret_in_a_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    """Typed where a condition or the name of a copy belongs."""
    path = str(tmp_path / "t.csv")
    Path(path).write_text("a,b\n1,2\n")
    for arguments in (
        ("audit", path, "--where", "api_key=hunter2"),
        (
            *words("matching"),
            "--k",
            "2",
            path,
            "--into",
            "Server=h;Uid=u;Pwd=hunter2;",
        ),
    ):
        outcome = inside(*arguments)
        assert outcome.code == 2 and outcome.err and "hunter2" not in outcome.out + outcome.err
