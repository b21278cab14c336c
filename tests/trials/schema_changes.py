"""Tables that are altered, rewritten, renamed, replaced or emptied at a random moment of an audit or a search.

What a command reports is what it reports of the table as it was before, or as it was after, in all figures; or it says
in plain words that it came to no answer. Where each statement sees its own snapshot (`--no-snapshot`), the verdict at
least is one of the two.
"""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from threading import Timer

import psycopg

from qidsql.engines.postgres import lock_watch as postgres_lock_watch
from tests.commandline import Outcome, inside
from tests.stores import PostgresStore
from tests.trials import Ground, Trials
from tests.trials.disturbed import wrong_end

ROWS = "SELECT i % {a} AS a, i % {b} AS b, i % 2 AS c FROM generate_series(1, {rows}) AS i"
LONE = "SELECT i AS a, i AS b, i AS c FROM generate_series(1, {lone}) AS i"
KINDS = {  # how t is made, whose lone rows, where it has any, lie in a place of their own
    "table": ("CREATE TABLE t AS {rows} UNION ALL {lone}",),
    "view": (
        "CREATE TABLE base AS {rows}",
        "CREATE TABLE rare AS {lone}",
        "CREATE VIEW t AS TABLE base UNION ALL TABLE rare",
    ),
    "materialized": ("CREATE TABLE rare AS {rows} UNION ALL {lone}", "CREATE MATERIALIZED VIEW t AS TABLE rare"),
    "parted": (
        "CREATE TABLE t (a int, b int, c int) PARTITION BY RANGE (a)",
        "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (5)",
        "CREATE TABLE rare PARTITION OF t FOR VALUES FROM (5) TO (1000)",
        "INSERT INTO t {rows} UNION ALL {lone}",
    ),
    "parent": ("CREATE TABLE t AS {rows}", "CREATE TABLE rare AS {lone}", "ALTER TABLE rare INHERIT t"),
}
ANYWHERE = (  # in the place of the lone rows
    "ALTER TABLE {place} ALTER c TYPE bigint",
    "ALTER TABLE {place} ADD d text DEFAULT clock_timestamp()",
    "ALTER TABLE {place} RENAME COLUMN c TO d",
    "ALTER TABLE {place} DROP COLUMN c",
    "ALTER TABLE {place} RENAME TO other",
    "ALTER TABLE {place} SET SCHEMA pg_temp",
    "DROP TABLE {place}",
    "DROP TABLE {place} CASCADE",
    "TRUNCATE {place}",
    "CREATE TEMP TABLE kept AS TABLE {place}; TRUNCATE {place}; INSERT INTO {place} TABLE kept; DROP TABLE kept",
    "CREATE TEMP TABLE kept AS TABLE {place}; DELETE FROM {place}; DROP TABLE kept",
    "INSERT INTO {place} SELECT 7, i, i FROM generate_series(1, 3) AS i",
    "UPDATE {place} SET b = 1, c = 1",
    "VACUUM FULL {place}",
    "CREATE INDEX ON {place} (a); CLUSTER {place} USING {place}_a_idx",
)
SPECIAL = {
    "table": ("CREATE TABLE new AS SELECT * FROM t WHERE a < 5; DROP TABLE t; ALTER TABLE new RENAME TO t",),
    "view": ("CREATE OR REPLACE VIEW t AS TABLE base", "DROP VIEW t"),
    "materialized": ("DELETE FROM rare WHERE a >= 5; REFRESH MATERIALIZED VIEW t", "REFRESH MATERIALIZED VIEW t"),
    "parted": (
        "ALTER TABLE t DETACH PARTITION rare",
        "ALTER TABLE t DETACH PARTITION rare; CREATE TABLE new PARTITION OF t FOR VALUES FROM (5) TO (1000)",
        "CREATE TABLE new AS SELECT 1001 AS a, 1 AS b, 1 AS c; "
        "ALTER TABLE t ATTACH PARTITION new FOR VALUES FROM (1001) TO (2000)",
    ),
    "parent": ("ALTER TABLE rare NO INHERIT t", "CREATE TABLE new () INHERITS (t); INSERT INTO new VALUES (9, 9, 9)"),
}
COMMANDS = (("audit",), ("audit",), ("audit", "--no-snapshot"), ("keys", "--all"), ("uniques",))


def schema_changes(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one command and one change."""
    often, postgres_lock_watch.LOOK_EVERY = postgres_lock_watch.LOOK_EVERY, 0.2
    try:
        for each in range(number):
            with PostgresStore(ground.postgres_url()) as store:
                yield _trial(store, f"{seed}.{each}")
    finally:
        postgres_lock_watch.LOOK_EVERY = often


def _trial(store: PostgresStore, name: str) -> str | None:
    random = Random(name)
    kind = random.choice(list(KINDS))
    rows = ROWS.format(a=random.randrange(2, 5), b=random.randrange(1, 4), rows=random.randrange(200, 400))
    lone = LONE.format(lone=random.choice((0, 1, 5)))
    for statement in KINDS[kind]:
        store.execute(statement.format(rows=rows, lone=lone))
    change = random.choice(ANYWHERE + 3 * SPECIAL[kind]).format(place="t" if kind == "table" else "rare")
    command, *options = random.choice(COMMANDS)
    arguments = (command, store.url, "t", *options, "--format", "json", "--max-seconds", "30")
    before, seconds = _timed(arguments)
    with ExitStack() as held:
        other = held.enter_context(psycopg.connect(store.url, autocommit=True))
        timer = Timer(random.random() * 1.1 * seconds, _change, (other, change))
        timer.start()
        outcome = inside(*arguments)
        timer.join()
    after, _ = _timed(arguments)
    wrong = _wrong(outcome, before, after, "--no-snapshot" in options)
    return wrong and f"{name} {kind}, {command} {' '.join(options)}, {change}: {wrong}"


def _timed(arguments: tuple[str, ...]) -> tuple[Outcome, float]:
    started = time.monotonic()
    return inside(*arguments), time.monotonic() - started


def _change(connection: "psycopg.Connection[tuple[object, ...]]", change: str) -> None:
    """In one transaction, where it can be. What the server refuses changes nothing."""
    try:
        connection.execute(change.encode())
    except psycopg.Error:
        connection.rollback()


def _wrong(outcome: Outcome, before: Outcome, after: Outcome, moments: bool) -> str | None:
    """What is wrong with an outcome, when these are the right ones."""
    answers = [json.loads(each.out) for each in (before, after) if each.out]
    if not outcome.out or not answers:
        return wrong_end(outcome, {})
    if moments:
        verdicts = {answer["verdict"] for answer in answers} | {"inconclusive"}
        verdict = json.loads(outcome.out)["verdict"]
        return None if verdict in verdicts else f"the verdict {verdict}, not {' or '.join(sorted(verdicts))}"
    wrongs = [wrong_end(outcome, answer) for answer in answers]
    return None if None in wrongs else " / ".join(map(str, wrongs))


TRIALS = Trials("tables that are altered, rewritten, renamed or emptied while they are read", 200, 2, schema_changes)
