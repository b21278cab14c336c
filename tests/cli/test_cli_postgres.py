"""The real command against a real server: exit codes, signals, and what ends up on stdout and stderr."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.commandline import inside, refused
from tests.exhaustive import pairs
from tests.postgres_server import PostgresServer, wait_until
from tests.stores import PostgresStore

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "qidsql"]
CANARY = "c4n4ry"
PASS, VIOLATION, ERROR, INCONCLUSIVE = range(4)


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PGPASSFILE": "/nowhere", "PGAPPNAME": "audited"} | environment,
    )


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr; never a traceback."""
    process = start(*arguments, **environment)
    return finish(process)


def finish(process: subprocess.Popen[str], seconds: float = 120) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert "Traceback" not in out + err, err
    return process.returncode, out, err


@pytest.fixture
def slow(postgres_store: PostgresStore) -> Iterator[tuple[PostgresStore, Callable[[], list[str]]]]:
    """A view v whose scans take minutes, and the wait events of the sessions that an audit has open."""
    postgres_store.execute(
        "CREATE VIEW v AS SELECT i % 2 AS a, CAST(pg_sleep(0.2) AS text) AS b FROM generate_series(1, 9000) AS i"
    )
    query = "SELECT COALESCE(wait_event, '') FROM pg_stat_activity WHERE application_name = 'audited'"
    yield postgres_store, lambda: [event for (event,) in postgres_store.admin.execute(query).fetchall()]


@pytest.mark.exhaustive
def test_the_exit_code_and_the_json_tell_the_verdict(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t AS SELECT i % 2 AS a, i % 5 AS b FROM generate_series(1, 100) AS i")
    code, out, err = run("audit", postgres_store.url, "t", "--k", "10", "--format", "json")
    assert (code, json.loads(out)["verdict"], err) == (PASS, "pass", "")
    code, out, _ = run("audit", postgres_store.url, "t", "--k", "11", "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (VIOLATION, "violation")
    postgres_store.execute("DELETE FROM t")
    code, out, _ = run("audit", postgres_store.url, "t", "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (INCONCLUSIVE, "inconclusive")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sent", "option"), pairs([signal.SIGINT, signal.SIGTERM], ["--snapshot", "--no-snapshot"]))
def test_a_signal_ends_the_statements_on_the_server(
    slow: tuple[PostgresStore, Callable[[], list[str]]], sent: signal.Signals, option: str
) -> None:
    store, events = slow
    process = start("audit", store.url, "v", option)
    wait_until(lambda: "PgSleep" in events())
    process.send_signal(sent)
    wait_until(lambda: not events())  # minutes before the statement would end by itself
    code, out, err = finish(process)
    assert code == INCONCLUSIVE
    assert "interrupted" in out
    assert CANARY not in out + err


@pytest.mark.exhaustive
def test_what_is_known_by_the_signal_is_printed(postgres_store: PostgresStore) -> None:
    """Twelve columns of one bit each: all together are below k, and only big sets are, so the search takes long."""
    bits = ", ".join(f"i >> {place} & 1 AS bit{place}" for place in range(12))
    postgres_store.execute(
        f"CREATE TABLE t AS SELECT {bits} FROM generate_series(0, 4095) AS i;"
        "CREATE VIEW v AS SELECT t.* FROM t, pg_sleep(0.02)"
    )
    process = start("audit", postgres_store.url, "v", "--show-sql")
    assert process.stderr is not None
    asked = (line for line in process.stderr if line.startswith("-- "))
    for _ in range(6):
        next(asked)
    process.send_signal(signal.SIGINT)
    code, out, _ = finish(process)
    assert code == (VIOLATION if out.startswith("VIOLATION") else INCONCLUSIVE)  # proved by then, or not
    assert "4,096 rows" in out
    assert "interrupted" in out


@pytest.mark.exhaustive
def test_a_killed_client_leaves_no_statement_behind(slow: tuple[PostgresStore, Callable[[], list[str]]]) -> None:
    store, events = slow
    process = start("audit", store.url, "v")
    wait_until(lambda: "PgSleep" in events())
    process.kill()
    wait_until(lambda: not events())  # the server looks every five seconds
    process.communicate()


def test_a_time_budget_stops_a_single_long_statement(slow: tuple[PostgresStore, Callable[[], list[str]]]) -> None:
    store, events = slow
    code, out, _ = run("audit", store.url, "v", "--max-seconds", "0.5")
    assert code == INCONCLUSIVE
    assert "the time budget is" in out
    wait_until(lambda: not events())


def test_a_statement_timeout_is_inconclusive(slow: tuple[PostgresStore, Callable[[], list[str]]]) -> None:
    store, _ = slow
    code, out, _ = run("audit", store.url.replace("search_path", "statement_timeout%3D1000%20-csearch_path"), "v")
    assert code == INCONCLUSIVE
    assert "statement_timeout" in out


def test_errors_are_one_line(postgres_store: PostgresStore) -> None:
    postgres_store.execute(f"CREATE TABLE t AS SELECT 1 AS a, '{CANARY}' AS b")
    for arguments in (
        ["nothere"],
        ["t", "-c", "nothere", "-c", "aa"],
        ["t", "--where", "b::int > 0"],
        ["t", "--where", "1 = 1; DROP TABLE t"],
        ["t", "--where", "a = (SELECT 1)"],
        ["t", "--where", "pg_sleep(9) IS NULL"],
    ):
        assert CANARY not in refused("audit", postgres_store.url, *arguments)


# with a server to break


@pytest.fixture
def guarded(spare_server: PostgresServer) -> str:
    """The URL, with its password, of a role on the spare server that may read a table t and a slow view v."""
    with psycopg.connect(spare_server.url, autocommit=True) as admin:
        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'").fetchone():
            spare_server.ask_passwords_of("guarded", CANARY)
            admin.execute(
                "CREATE TABLE t AS SELECT i % 7 AS a, i % 11 AS b, 'secret ' || i AS c"
                " FROM generate_series(1, 500) AS i;"
                "CREATE VIEW v AS SELECT a, CAST(pg_sleep(0.2) AS text) AS b FROM t;"
                "CREATE VIEW broken AS SELECT c::int AS c FROM t; GRANT SELECT ON t, v, broken TO guarded"
            )
    return f"postgresql://guarded:{CANARY}@/postgres?host={spare_server.folder}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "URL", "t"],
        ["audit", "URL", "t", "--format", "json"],
        ["audit", "URL", "t", "--show-sql"],
        ["audit", "URL", "t", "--dry-run"],
        ["audit", "env:SOURCE", "t"],
        ["audit", "URL", "broken"],
        ["audit", "URL", "broken", "--show-sql", "--format", "json"],
        ["audit", "URL", "t", "--where", "c::int = 1"],
        ["audit", "URL", "nothere"],
        ["audit", "URL"],
        ["audit", "URLx", "t"],
        ["audit", "URL&nothere=1", "t"],
        ["audit", "URL", "URL"],
        ["audit", "t", "URL"],
        ["risk", "URL", "t"],
        ["audit", "URL", "v", "--only", "nothere"],
    ],
)
def test_no_password_and_no_value_is_ever_shown(guarded: str, arguments: list[str]) -> None:
    given = [each.replace("URL", guarded) for each in arguments]
    found = inside(*given, SOURCE=guarded, PGPASSFILE="/nowhere")
    assert CANARY not in found.out + found.err
    assert "secret 1" not in found.out + found.err
    assert found.code in (PASS, VIOLATION, ERROR)
    if found.code == ERROR:
        assert (found.out, found.err.count("\n")) == ("", 1)


def sleeping(server: PostgresServer) -> bool:
    with psycopg.connect(server.url) as admin:
        return bool(admin.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").fetchone())


@pytest.mark.exhaustive
def test_a_server_that_hangs_does_not_hold_up_the_end(guarded: str, spare_server: PostgresServer) -> None:
    process = start("audit", guarded, "v")
    wait_until(lambda: sleeping(spare_server))
    spare_server.freeze()
    try:
        process.send_signal(signal.SIGINT)
        code, out, _ = finish(process)  # the server says nothing all the while
    finally:
        spare_server.thaw()
    assert code == INCONCLUSIVE
    assert "interrupted" in out


@pytest.mark.exhaustive
def test_a_server_that_shuts_down_leaves_the_audit_inconclusive(guarded: str, spare_server: PostgresServer) -> None:
    process = start("audit", guarded, "v", "--format", "json")
    wait_until(lambda: sleeping(spare_server))
    spare_server.shut_down()
    code, out, err = finish(process)
    result = json.loads(out)
    assert (code, result["verdict"]) == (INCONCLUSIVE, "inconclusive")
    assert "connection to Postgres was lost" in result["unfinished"][0]
    assert CANARY not in out + err
    code, out, err = run("audit", guarded, "t")
    assert (code, out) == (ERROR, "")
    assert "is it running there?" in err
