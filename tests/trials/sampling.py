"""How often an answer on a sample is wrong: at most as often as delta says, on tables made to mislead.

Each table has a column set just short of the ratio that is asked for, which a sample of too few rows would accept.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import cycle, islice
from typing import Any

import qidsql
from qidsql.engines.base import Engine
from tests.stores import DuckDBStore
from tests.trials import Ground, Trials

ROWS = 1200
EPSILON, DELTA = Fraction(1, 10), Fraction(1, 10)
SURE = 1e-6  # the chance that a sampler that keeps its promise is called one that does not


def _unseparated() -> list[tuple[int, int]]:
    """Column a leaves just more than EPSILON of all pairs of rows together; with b, every row stands alone."""
    pairs = ROWS * (ROWS - 1)
    size = next(size for size in range(ROWS) if size * (size - 1) > EPSILON * pairs)
    return [(min(row, ROWS - size), max(0, row - (ROWS - size))) for row in range(ROWS)]


def _repeated() -> list[tuple[int, int]]:
    """Column a has just fewer than 1 - EPSILON distinct values for each row; with b, every row stands alone."""
    twice = int(EPSILON * ROWS) + 1  # values that come twice
    return [(row % (ROWS - twice), row // (ROWS - twice)) for row in range(ROWS)]


def _false_key(engine: Engine, table: str, seed: int, **criterion: str) -> bool:
    """Whether a set is vouched for that is short of the ratio."""
    result = qidsql.keys(
        engine, table, columns=["a", "b"], epsilon=EPSILON, delta=DELTA, seed=seed, verify=False, **criterion
    )
    vouched = result.certificate is not None and not result.certificate.promise.startswith("nothing")
    return vouched and [each.columns for each in result.column_sets] == [("a",)]


def _false_mask(engine: Engine, table: str, seed: int, **criterion: str) -> bool:
    """Whether column a is published although its ratio is above the one given."""
    result = qidsql.protect(
        engine,
        table,
        columns=["a", "b"],
        epsilon=EPSILON,
        delta=DELTA,
        seed=seed,
        verify=False,
        **criterion,
        by="columns",
    )
    return "a" in result.published


def _missing_set(engine: Engine, table: str, seed: int, **criterion: str) -> bool:
    """Whether sub-tables prune the set {a}, which meets the criterion."""
    result = qidsql.keys(
        engine, table, columns=["a", "b"], all=True, algorithm="pruned", delta=DELTA, seed=seed, **criterion
    )
    return ("a",) not in [each.columns for each in result.column_sets]


Case = tuple[str, Callable[..., bool], str, dict[str, Any]]
CASES: tuple[Case, ...] = (
    ("almost a key, by pairs", _false_key, "unseparated", {"separation": "1"}),
    ("almost a key, by rows", _false_key, "repeated", {"distinct": "1"}),
    ("columns to publish, by pairs", _false_mask, "unseparated", {"separation": "0.89"}),
    ("columns to publish, by rows", _false_mask, "repeated", {"distinct": "0.89"}),
    ("a list by sub-tables of pairs", _missing_set, "unseparated", {"separation": "0.89"}),
    ("a list by sub-tables of rows", _missing_set, "repeated", {"distinct": "0.89"}),
)


def sampling(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one sample. The last of each kind fails when more samples misled than chance explains."""
    with DuckDBStore(ground.folder / "sampling.duckdb") as store:
        for name, rows in (("unseparated", _unseparated()), ("repeated", _repeated())):
            store.table(name, {"a": "INTEGER", "b": "INTEGER"}, rows)
        tried, wrong = dict.fromkeys(range(len(CASES)), 0), dict.fromkeys(range(len(CASES)), 0)
        with store.connect() as engine:
            for trial, kind in enumerate(islice(cycle(range(len(CASES))), number)):
                _, ask, table, criterion = CASES[kind]
                tried[kind] += 1
                wrong[kind] += ask(engine, table, seed * number + trial, **criterion)
                last = trial >= number - len(CASES)
                too_many = last and wrong[kind] > most_by_chance(tried[kind], DELTA)
                yield f"{CASES[kind][0]}: {wrong[kind]} of {tried[kind]} samples misled" if too_many else None


def most_by_chance(tried: int, delta: Fraction) -> int:
    """The most failures among so many trials that a chance of delta each leaves likely."""
    failures, chance = 0, float(1 - delta) ** tried  # the chance of exactly so many
    likely = chance
    while 1 - likely > SURE:
        chance *= (tried - failures) / (failures + 1) * float(delta / (1 - delta))
        failures += 1
        likely += chance
    return failures


TRIALS = Trials("samples on tables made to mislead; wrong in at most delta = 0.1", 20_000, 60, sampling)
