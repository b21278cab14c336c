"""Audits and searches on an engine with latency, which ask more column sets a round, some with a budget that ends
early: beside brute force, and beside the answers of the same engine without latency."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from random import Random
from typing import Any

from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from tests.disclosure_limits import COLUMNS, SENSITIVE, random_rows
from tests.slow_engine import SlowStore
from tests.stores import DuckDBStore
from tests.trials import Ground, Trials, audits, searches, truncated
from tests.trials.disturbed import PROOF
from tests.ways import work

TOGETHER = 20
WORK = {"started", "seconds", "statements", "rounds", "scans", "sets_profiled", "bytes_read"}
LIMITS: tuple[dict[str, Any], ...] = (
    {"l_diversity": 2},
    {"l_diversity": 3},
    {"entropy_l": "2"},
    {"recursive_l": "3/2,2"},
    {"alpha": "0.5"},
    {"t_closeness": "0.4"},
    {"t_ordered": "0.25"},
    {"beta_likeness": "1"},
    {"enhanced_beta": "2"},
    {"delta_disclosure": "1"},
)


def rounds(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one audit or search of one table, in turn."""
    with ExitStack() as held:
        paths = [ground.folder / f"{name}.duckdb" for name in ("audits", "searches", "limits", "cut")]
        audited, searched, limited, cut = (held.enter_context(SlowStore(path)) for path in paths)
        every = (
            audits._all([audited], seed),
            searches._all([searched], seed),
            _limits(limited, seed),
            truncated._all([cut], seed),
        )
        yield from islice(chain.from_iterable(zip(*every, strict=False)), number)


def _limits(store: SlowStore, seed: int) -> Iterator[str | None]:
    """Searches for what discloses sensitive values, and audits for it, with latency and without."""
    first = seed * 1_000_000
    while True:
        seeds = range(first, first + TOGETHER)
        for each in seeds:
            store.table(f"t{each}", dict.fromkeys((*COLUMNS, SENSITIVE, "person"), "INTEGER"), random_rows(each))
        with store.connect() as engine:
            broad = [_answered(engine, f"t{each}", Random(each)) for each in seeds]
        with DuckDBStore.connect(store) as engine:
            local = [_answered(engine, f"t{each}", Random(each)) for each in seeds]
        for (call, one), (_, other) in zip(broad, local, strict=True):
            yield None if one == other else f"{call}: not the same {_different(one, other)}"
        for each in seeds:
            store.execute(f"DROP TABLE t{each}")
        first += TOGETHER


def _different(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [key for key in {**one, **other} if one.get(key) != other.get(key)]


def _answered(engine: Engine, table: str, random: Random) -> tuple[str, dict[str, Any]]:
    """A random call, and its answer; empty if the call is refused."""
    command = random.choice(("keys", "columns", "audit"))
    options = {"exclude": ["person"], **random.choice(LIMITS)}
    if command == "audit":
        options |= {"sensitive": [SENSITIVE], "k": random.randint(1, 3)}
    else:
        options["reveals"] = SENSITIVE
    if command == "keys":
        options["all"] = random.random() < 0.6
    call = f"{command} {table} {options}"
    try:
        return call, answer(work(command)(engine, table, **options))
    except UsageError:
        return call, {}


def answer(result: Any) -> dict[str, Any]:
    """The result without the work it took, its proof, and the one that was found of several that are as good."""
    found = {key: value for key, value in result.to_dict().items() if key not in (*WORK, *PROOF)}
    several = found.get("wanted") == "minimum" or found.get("algorithm") == "implicit-hitting-set"
    for key in ("column_sets", "published", "withheld", "profile", "script") if several else ():
        found.pop(key, None)
    return found


TRIALS = Trials("audits and searches where statements have latency; brute force", 3_000, 25, rounds)
