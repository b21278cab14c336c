"""The command line over a network that fails: it ends in time, with 3, and leaves nothing behind on the server."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from jsonschema import Draft202012Validator

import qidsql
from qidsql.cli.report import schema
from qidsql.core.budget import within
from qidsql.core.results import Verdict
from qidsql.engines.connect import connect
from qidsql.errors import ConnectionLost, SourceError
from qidsql.operations.history.opening import open_history
from tests.commandline import command, environment, finished, inside
from tests.exhaustive import always
from tests.faulty_network import Fault, Kind, Network
from tests.policies import entries, policy_file
from tests.postgres_server import PostgresServer, wait_until
from tests.ways import words

INCONCLUSIVE = 3
LATE = 300  # seconds after which a process counts as one that does not end; it takes less than five on an idle machine


@pytest.fixture(scope="module")
def server(spare_server: PostgresServer) -> PostgresServer:
    """With a table t of one class for each value, and a view v of which every scan takes minutes."""
    with psycopg.connect(spare_server.url, autocommit=True) as admin:
        admin.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 11 AS b FROM generate_series(1, 5000) AS i")
        admin.execute(
            "CREATE VIEW v AS SELECT i % 2 AS a, CAST(pg_sleep(0.2) AS text) AS b FROM generate_series(1, 9000) AS i"
        )
    return spare_server


@pytest.fixture(scope="module")
def network(server: PostgresServer) -> Iterator[Network]:
    with Network(server.folder) as network:
        yield network


def sessions(server: PostgresServer, state: str = "%") -> list[tuple[object, ...]]:
    query = "SELECT state, query FROM pg_stat_activity WHERE application_name = 'qidsql' AND state LIKE %s"
    with psycopg.connect(server.url) as admin:
        return admin.execute(query, [state]).fetchall()


def asleep(server: PostgresServer) -> bool:
    with psycopg.connect(server.url) as admin:
        return admin.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").fetchone() is not None


def start(
    *arguments: object, cwd: Path | None = None, before: Sequence[str] = (), **extra: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*before, *command(*arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment({"PGPASSFILE": "/nowhere", **extra}),
    )


def at_work(server: PostgresServer, *arguments: object, **more: Any) -> "subprocess.Popen[str]":
    """A command with a deadline that is far, at its statement. How far a deadline has to be depends on the machine."""
    for seconds in (3, 10, 30, 100, 400):
        begun = time.monotonic()
        process = start(*arguments, "--max-seconds", seconds, **more)
        wait_until(lambda process=process: asleep(server) or process.poll() is not None)
        if time.monotonic() - begun < seconds / 2:
            return process
        process.kill()
        process.communicate()
        wait_until(lambda: not sessions(server))
    raise AssertionError("it did not get to its statement")


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = finished(process, LATE)
    assert "Traceback" not in out + err, err
    return process.returncode, out, err


# the deadline


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", always(Kind.STALL, longer=[Kind.SWALLOW]))
def test_a_deadline_ends_a_statement_whose_answer_does_not_come(
    server: PostgresServer, network: Network, kind: Kind
) -> None:
    with network.failing(Fault(kind, 1 << 40)):
        process = at_work(server, "audit", network.url(), "v", "--format", "json")
        network.fail(kind)
        code, out, _ = ended(process)
        if kind is Kind.SWALLOW:  # new connections work, so that the statement is cancelled, and the end is heard
            wait_until(lambda: not sessions(server))
    wait_until(lambda: not sessions(server))
    assert (code, json.loads(out)["verdict"]) == (INCONCLUSIVE, "inconclusive")
    assert json.loads(out)["unfinished"] == ["the time budget is used up"]


BEFORE = {"connecting": 0, "settings": 400, "catalog": 2500}  # bytes of the server
COMMANDS = {
    "audit": ("t",),
    "keys": ("t", "--all"),
    "columns": ("t", "--distinct", "0.5"),
    "uniques": ("t", "--scores", "suda", "--key", "a"),
    "matching": ("t", "--column", "a"),
    "identical": ("t",),
    "impact": ("t", "--protected", "t2"),
    "link": ("t", "t2", "--on", "a=a"),
    "risk": ("t", "--population", "t2", "--on", "a=a"),
    "graph": ("--identifier", "t.a", "--sensitive", "t.b"),
    "turns": ("t", "--turn", "drop=a"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", always(*list(COMMANDS)[:3], longer=list(COMMANDS)[3:]))
def test_a_deadline_holds_while_connecting_and_before_the_catalog_is_read(network: Network, name: str) -> None:
    """In every command that has one: an inconclusive answer as JSON, as its schema says."""
    with network.failing(Fault(Kind.DEAF, list(BEFORE.values())[list(COMMANDS).index(name) % 3])):
        outcome = inside(*words(name), network.url(), *COMMANDS[name], "--max-seconds", "0.5", "--format", "json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["verdict"]) == (INCONCLUSIVE, "inconclusive")
    assert any("the time budget is used up" in said for said in document["unfinished"])
    Draft202012Validator(schema(words(name)[0])).validate(document)


def test_the_same_from_python(network: Network) -> None:
    with network.failing(Fault(Kind.STALL, 0)):
        result = qidsql.audit(network.url(), "t", max_seconds=0.5)
    assert (result.verdict, result.account.engine) == (Verdict.INCONCLUSIVE, "not connected")
    with network.failing(Fault(Kind.CUT, 0)), pytest.raises(SourceError):
        qidsql.audit(network.url(), "t", max_seconds=30)


# signals


@pytest.mark.exhaustive
@pytest.mark.parametrize("sent", always(signal.SIGINT, longer=[signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_ends_it_whatever_the_network_does(
    server: PostgresServer, network: Network, sent: signal.Signals
) -> None:
    if signal.getsignal(sent) is signal.SIG_IGN:  # as under nohup: the process would inherit that, and heed it
        signal.signal(sent, signal.SIG_DFL)
    kind = Kind.SWALLOW if sent == signal.SIGINT else Kind.STALL
    with network.failing(Fault(kind, 1 << 40)):
        process = start("audit", network.url(), "v")
        wait_until(lambda: asleep(server))
        network.fail(kind)
        for _ in range(5):  # an impatient hand
            process.send_signal(sent)
            time.sleep(0.05)
        code, out, _ = ended(process)
    assert code == INCONCLUSIVE
    assert "was interrupted" in out
    wait_until(lambda: not sessions(server))


@pytest.mark.exhaustive
@pytest.mark.parametrize("phase", always("catalog", longer=["connecting", "settings"]))
def test_a_signal_ends_it_before_the_catalog_is_read(network: Network, phase: str) -> None:
    with network.failing(Fault(Kind.STALL, BEFORE[phase])):
        process = start("audit", network.url(), "t")
        wait_until(lambda: network.failed)
        process.send_signal(signal.SIGTERM)
        code, _, _ = ended(process)
    assert code == INCONCLUSIVE


STUCK = """
import sys, time
import qidsql.cli.app
from qidsql.__main__ import main

class Sticky:
    def __del__(self):  # what is raised in here is lost
        print("stuck", flush=True)
        time.sleep(3600)

def run():
    sticky = Sticky()
    del sticky
    time.sleep(3600)

qidsql.cli.app._run = lambda signals: run()
main()
"""


@pytest.mark.exhaustive
def test_a_signal_that_gets_lost_ends_the_process_all_the_same() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGTERM)
    _, err = finished(process, LATE)
    assert process.returncode == INCONCLUSIVE
    assert "work that did not end in time was abandoned" in err


@pytest.mark.exhaustive
def test_a_signal_that_is_ignored_stays_ignored(server: PostgresServer) -> None:
    """nohup's, for one."""
    process = at_work(server, "audit", server.url, "v", before=["sh", "-c", 'trap "" HUP; exec "$@"', "sh"])
    process.send_signal(signal.SIGHUP)
    code, out, _ = ended(process)
    assert (code, "the time budget is used up" in out, "interrupted" in out) == (INCONCLUSIVE, True, False)


# the history


@pytest.mark.exhaustive
def test_a_run_ends_though_its_history_does_not_answer(
    server: PostgresServer, network: Network, tmp_path: Path
) -> None:
    """It keeps the document in a file."""
    policy_file(
        tmp_path,
        server.url,
        entries("public.v"),
        '[defaults]\non_new = "ignore"\n[history]\nurl = "env:HISTORY_URL"\nschema = "over_network"\n',
    )
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA over_network")
    open_history(server.url, "over_network").prepare()
    with network.failing(Fault(Kind.STALL, 1 << 40)):
        process = at_work(server, "run", "-q", cwd=tmp_path, HISTORY_URL=network.url())
        network.fail(Kind.STALL)
        code, out, err = ended(process)
    assert code == INCONCLUSIVE
    assert "INCONCLUSIVE" in out
    assert "the run is not in the history" in err
    assert re.search(r"saved in \S*qidsql-run-\S+\.json", err)


# what a session says to its network


def test_both_sides_notice_that_the_other_is_gone(network: Network) -> None:
    with connect(network.url()) as engine:
        names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")
        wanted = engine._on_one_session(
            lambda session: session.execute(
                "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name LIKE 'tcp%' ORDER BY name"
            )
        )
        assert {str(name) for name, _ in wanted} == set(names)
        ours = engine._on_one_session(lambda session: session.connection.info.get_parameters())  # type: ignore[attr-defined]
        assert {name: ours[name] for name in ("keepalives_idle", "tcp_user_timeout")} == {
            "keepalives_idle": "30",
            "tcp_user_timeout": "60000",
        }


def test_an_engine_goes_on_when_its_network_does(network: Network) -> None:
    with connect(network.url()) as engine:
        assert qidsql.audit(engine, "t").account.rows == 5000
        with network.failing(Fault(Kind.CUT, 0)):
            assert "connection to Postgres was lost" in qidsql.audit(engine, "t").account.unfinished[0]
            with pytest.raises((SourceError, ConnectionLost)):
                engine.describe("t")
        assert qidsql.audit(engine, "t").account.rows == 5000
        with network.failing(Fault(Kind.DEAF, 0)), within(0.5):
            assert qidsql.audit(engine, "t").verdict is Verdict.INCONCLUSIVE
        assert qidsql.audit(engine, "t").account.rows == 5000
