"""Commands whose process, or a process of the server that works for them, is ended at a random moment.

SIGKILL, SIGTERM, SIGINT and SIGHUP to the client; SIGKILL, SIGTERM and a cancel to a backend of the server, of which
the first brings all of its sessions down. Real processes, forked from a warm one (see `tests.forks`).
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg

from tests.forks import Child, Forks
from tests.postgres_server import PostgresServer, wait_until
from tests.trials import Ground, Trials
from tests.trials.connections import TABLES
from tests.trials.disturbed import wrong_end

GRACE = 5.0  # seconds that a process may be there after it was told to end
ROLE = "auditing"
KILLED = -signal.SIGKILL
CLIENT = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
BACKEND = ("kill", "terminate", "cancel")


@dataclass(frozen=True, slots=True)
class Site:
    """What the trials share."""

    server: PostgresServer
    forks: Forks
    expected: dict[tuple[str, ...], dict[str, Any]]
    seconds: dict[tuple[str, ...], float]  # that a command takes when nobody ends it
    patience: float


def kills(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one command, and one end of one process. They have a server of their own, which comes down."""
    with ExitStack() as held:
        server = held.enter_context(PostgresServer())
        with psycopg.connect(server.url, autocommit=True) as admin:
            for name, query in TABLES.items():
                admin.execute(f"CREATE TABLE {name} AS {query}".encode())
            admin.execute("CREATE VIEW slow AS SELECT a, b, c + length(CAST(pg_sleep(0.01) AS text)) AS c FROM risky")
        forks = held.enter_context(Forks(["audit", server.url, "risky", "--format", "json"]))
        site = Site(server, forks, {}, {}, ground.patience)
        for arguments in (("audit", "safe"), ("audit", "risky"), ("keys", "risky", "--all"), ("uniques", "risky")):
            child = forks.start(arguments[0], server.url, *arguments[1:], "--format", "json")
            assert child.ended(60 * site.patience), child
            site.expected[arguments] = json.loads(child.out)
            site.seconds[arguments] = child.seconds
        for each in range(number):
            yield _trial(site, f"{seed}.{each}")


def _trial(site: Site, name: str) -> str | None:
    random = Random(name)
    arguments = random.choice([*site.expected, ("audit", "slow")])
    how = random.choice((*CLIENT, *CLIENT, *BACKEND))
    child = site.forks.start(
        arguments[0], f"{site.server.url}&application_name=trial", *arguments[1:], "--format", "json"
    )
    child.ended(random.random() * 1.1 * site.seconds.get(arguments, 0.8))
    wait_until(lambda: child.heeds_signals or child.over.is_set())  # before that it is Python that ends
    running = not child.over.is_set()
    if isinstance(how, signal.Signals):
        child.kill(how)
    else:
        _end_backend(site, how, random)
    asked = time.monotonic()
    if how in BACKEND and arguments == ("audit", "slow"):
        child.ended(0.2)
        child.kill(signal.SIGTERM)  # without it, it might go on for a minute
        asked = time.monotonic()
    late = not child.ended(site.patience * (GRACE if isinstance(how, signal.Signals) or arguments[1] == "slow" else 30))
    if late:
        child.kill(signal.SIGKILL)
        child.ended(60)
    wrong = "it was alive long after its signal" if late else _wrong(site, child, arguments, how, running)
    wrong = wrong or _sessions(site)
    return wrong and f"{name} {' '.join(arguments)} {how!r} after {asked - child.started:.2f} s: {wrong}"


def _end_backend(site: Site, how: str, random: Random) -> None:
    """Ends one of the processes that serve the command, or its statement; where there is none by now, nothing."""
    with psycopg.connect(site.server.url, autocommit=True) as admin, suppress(psycopg.Error):
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'trial'"
        backends = [pid for (pid,) in admin.execute(query).fetchall()]
        if not backends:
            return
        victim = random.choice(backends)
        if how == "kill":
            os.kill(victim, signal.SIGKILL)
            return
        admin.execute(f"SELECT pg_{how}_backend(%s)".encode(), [victim])


def _wrong(site: Site, child: Child, arguments: tuple[str, ...], how: object, running: bool) -> str | None:
    """What is wrong with the way it ended: a report that was whole by then stands, with its own exit code."""
    if how is signal.SIGKILL and child.code == KILLED:
        return None
    if child.left:
        return f"left on the disk: {child.left}"
    if isinstance(how, signal.Signals) and running and not _whole(child.out) and child.code not in (0, 3):
        return f"a signal ended in {child.code}: {child.err[-3000:]}"
    return wrong_end(child, site.expected.get(arguments, site.expected["audit", "risky"]))


def _whole(text: str) -> bool:
    """Whether the report was out."""
    try:
        return bool(json.loads(text))
    except ValueError:
        return False


def _sessions(site: Site) -> str | None:
    """Sessions that are still there: a server notices within some seconds that a client is gone."""
    query = "SELECT state, query FROM pg_stat_activity WHERE application_name = 'trial'"

    def left() -> list[tuple[object, ...]] | None:
        with suppress(psycopg.OperationalError), psycopg.connect(site.server.url) as admin:  # it may be recovering
            return admin.execute(query).fetchall()
        return None

    try:
        wait_until(lambda: left() == [], 20 * site.patience)
    except AssertionError:
        return f"sessions left: {left()}"
    return None


TRIALS = Trials("commands whose process, or whose server's, is killed, terminated or interrupted", 500, 2, kills)
