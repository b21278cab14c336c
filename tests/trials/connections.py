"""Audits over a network that is cut, stalls, swallows answers, garbles or delays them, at random bytes of every phase.

Real processes (forked from a warm one, see `tests.forks`), a real server, a proxy between them. A run that could answer
in spite of the fault gives exactly the right answer; any other ends with 2 or 3, in time, and no session outlives it.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg

from tests.faulty_network import Fault, Kind, Network
from tests.forks import Forks
from tests.postgres_server import wait_until
from tests.trials import Ground, Trials
from tests.trials.disturbed import wrong_end

AT_ONCE = 4  # most of a trial is waiting
SECONDS, GRACE = 2.0, 5.0  # the deadline, and how long after it a process may still be there
LATE = "it was alive long after its deadline"
SCHEMA = "trials_connections"
TABLES = {  # of which one passes, one violates, and one cannot be read in time
    "safe": "SELECT i % 3 AS a, i % 4 AS b, 'x' AS c FROM generate_series(1, 240) AS i",
    "risky": "SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c FROM generate_series(1, 2000) AS i",
}
KINDS = (Kind.CUT, Kind.STALL, Kind.SWALLOW, Kind.DEAF, Kind.GARBLE, Kind.SLOW)


@dataclass(frozen=True, slots=True)
class Site:
    """What the trials share."""

    server: str
    forks: Forks
    expected: dict[str, dict[str, Any]]
    carried: dict[str, int]  # bytes of the server in an audit without a fault
    networks: "SimpleQueue[Network]"
    patience: float


def connections(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one audit with one fault."""
    url = ground.postgres_url()
    with ExitStack() as held:
        admin = held.enter_context(psycopg.connect(url, autocommit=True))
        admin.execute(f"CREATE SCHEMA {SCHEMA}")
        held.callback(admin.execute, f"DROP SCHEMA {SCHEMA} CASCADE")
        for name, query in TABLES.items():
            admin.execute(f"CREATE TABLE {SCHEMA}.{name} AS {query}".encode())
        forks = held.enter_context(Forks(["audit", url, f"{SCHEMA}.risky", "--format", "json"]))
        networks: SimpleQueue[Network] = SimpleQueue()
        for _ in range(AT_ONCE):
            networks.put(held.enter_context(Network(folder_of(url))))
        site = Site(url, forks, {}, {}, networks, ground.patience)
        for name in TABLES:
            _look(site, name)
        pool = held.enter_context(ThreadPoolExecutor(AT_ONCE))
        late = []
        names = [f"{seed}.{each}" for each in range(number)]
        for name, wrong in zip(names, pool.map(lambda name: _trial(site, name), names), strict=True):
            if wrong is not None and wrong.endswith(LATE):
                late.append(name)
            else:
                yield wrong
        for name in late:  # once more and alone: what hangs hangs again, what had to wait for the machine does not
            yield _trial(site, name)


def folder_of(url: str) -> Path:
    """The folder of the server's socket."""
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def _look(site: Site, table: str) -> None:
    """What an audit says when nothing goes wrong."""
    network = site.networks.get()
    with network.failing(Fault(Kind.CUT, 1 << 40)):
        child = site.forks.start("audit", network.url(), f"{SCHEMA}.{table}", "--format", "json")
        assert child.ended(60 * site.patience), "an audit without a fault did not end"
        site.carried[table] = network.carried
    site.expected[table] = json.loads(child.out)
    assert child.code == (table == "risky"), child
    site.networks.put(network)


def _trial(site: Site, name: str) -> str | None:
    random = Random(name)
    table, kind = random.choice(list(TABLES)), random.choice(KINDS)
    marks = bytes(random.randrange(1, 256) for _ in range(random.choice((1, 1, 4))))
    fault = Fault(kind, random.randrange(int(1.1 * site.carried[table])), marks)
    network = site.networks.get()
    try:
        with network.failing(fault):
            url = network.url(application_name=f"trial {name}")
            arguments = ("audit", url, f"{SCHEMA}.{table}", "--format", "json", "--max-seconds", str(SECONDS))
            child = site.forks.start(*arguments)
            late = not child.ended(SECONDS + GRACE * site.patience)
            if late:
                child.kill(9)
                child.ended(60)
        wrong = LATE if late else wrong_end(child, site.expected[table]) or _sessions(site, name)
        return wrong and f"{name} {table} {fault}: {wrong}"
    finally:
        site.networks.put(network)


def _sessions(site: Site, name: str) -> str | None:
    """Sessions of the trial that are still there when the server has heard that the connections are closed."""
    query = "SELECT state, query FROM pg_stat_activity WHERE application_name = %s"
    with psycopg.connect(site.server, autocommit=True) as admin:
        try:
            wait_until(lambda: not admin.execute(query, [f"trial {name}"]).fetchall(), 10 * site.patience)
        except AssertionError:
            return f"sessions left: {admin.execute(query, [f'trial {name}']).fetchall()}"
    return None


TRIALS = Trials("audits over a network that fails: cut, stall, swallow, garble, slow", 1_000, 3, connections)
