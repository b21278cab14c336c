"""Audits and searches whose budget ends early, against what is true: never a false pass, nor a false "complete"."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import qidsql
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import KeysResult
from qidsql.core.options import Wanted
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError, UsageError
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials
from tests.trials.audits import OPTIONS, definition, minimal
from tests.trials.searches import Meets, Places, criterion_of, options_of, weights_of

TOGETHER, PER_TABLE = 50, 4
K = 3


def truncated(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one audit, one search for keys or one masking of one table, with a budget."""
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        yield from islice(_all(stores, seed), number)


def _all(stores: Sequence[Store], seed: int) -> Iterator[str | None]:
    first = seed * 1_000_000
    while True:
        for store in stores:
            tables = [random_table(each, store.name) for each in range(first, first + TOGETHER)]
            load(store, tables)
            for place, table in enumerate(tables):
                for draw in range(PER_TABLE):
                    random = Random(f"{first + place}.{draw}.{store.name}")
                    tried = random.choice((_audit, _keys, _keys, _mask))
                    budget = _budget(random)
                    try:
                        with store.connect() as engine:
                            wrong = tried(engine, table, budget, random)
                    except UsageError:
                        continue
                    except QidsqlError as error:
                        wrong = f"{type(error).__name__}: {error}"
                    yield wrong and f"{store.name} table {first + place} {tried.__name__} {budget}: {wrong}"
            drop(store, tables)
        first += TOGETHER


def _budget(random: Random) -> dict[str, Any]:
    if random.random() < 0.2:
        return {"max_seconds": random.choice((0.0001, 0.001, 0.003, 0.01, 0.03))}
    return {"max_statements": random.randint(1, 12)}


def _audit(engine: Engine, table: RandomTable, budget: dict[str, Any], random: Random) -> str | None:
    options = random.choice(OPTIONS)
    budget |= options
    define = definition(table, options, K)
    result = qidsql.audit(engine, table.name, k=K, columns=table.names, **budget)
    truth = "inconclusive" if not table.rows else "pass" if define(range(table.columns)).smallest >= K else "violation"
    if result.verdict not in (truth, "inconclusive"):
        return f"verdict {result.verdict}, where the truth is {truth}"
    for search in result.searches[:1]:
        unsafe = minimal(table.columns, lambda places: 0 < define(places).smallest < K)
        found = {tuple(sorted(table.names.index(name) for name in each.columns)) for each in result.found_by(search)}
        if not found <= unsafe and search.complete:
            return f"minimal sets {sorted(found)}, not {sorted(unsafe)}"
        if {each for each in unsafe if len(each) <= search.complete_to_size} - found:
            return f"minimal sets {sorted(found)} called complete to {search.complete_to_size}, not {sorted(unsafe)}"
    return None


def _keys(engine: Engine, table: RandomTable, budget: dict[str, Any], random: Random) -> str | None:
    budget |= options_of(random)
    algorithm = random.choice([name for name in ALGORITHMS if name != "sampled"])
    wanted = ALGORITHMS[algorithm].wanted
    budget["algorithm"] = algorithm
    weights = weights_of(table, random) if wanted is Wanted.MINIMUM else {}
    result = qidsql.keys(engine, table.name, columns=table.names, weights=weights, **budget)
    meets = criterion_of(table, budget)
    right = minimal(table.columns, meets) if table.rows else set()
    return _wrong_sets(result, table, right, meets) or _wrong_bound(result, table, right, weights)


def _wrong_sets(result: KeysResult, table: RandomTable, right: set[Places], meets: Meets) -> str | None:
    found = {tuple(sorted(table.names.index(name) for name in each.columns)) for each in result.column_sets}
    if not all(map(meets, found)):
        return f"{sorted(found)} hold a set that does not meet the criterion"
    if result.minimal and not found <= right:
        return f"{sorted(found)} called minimal, not {sorted(right)}"
    if table.rows and result.complete and found != right:
        return f"{sorted(found)} called complete, not {sorted(right)}"
    if {each for each in right if len(each) <= result.complete_to_size} - found:
        return f"{sorted(found)} called complete to {result.complete_to_size} columns, not {sorted(right)}"
    return None


def _wrong_bound(result: KeysResult, table: RandomTable, right: set[Places], weights: dict[str, int]) -> str | None:
    weigh = [weights.get(name, 1) for name in table.names]
    least = min((sum(weigh[place] for place in each) for each in right), default=None)
    if result.lower_bound is not None and least is not None and result.lower_bound > least:
        return f"lower bound {result.lower_bound}, where {least} is enough"
    if result.impossible and right:
        return f"called impossible, where {sorted(right)} are minimal"
    return None


def _mask(engine: Engine, table: RandomTable, budget: dict[str, Any], random: Random) -> str | None:
    budget |= options_of(random) | {"exact": random.random() < 0.7}
    result = qidsql.protect(engine, table.name, columns=table.names, **budget, by="columns")
    if not table.rows:
        return None if result.verdict == "inconclusive" else f"outcome {result.verdict} of an empty table"
    meets = criterion_of(table, budget, above=True)
    published = tuple(table.names.index(name) for name in result.published)
    if published and meets(published):
        return f"published {published} meet the criterion"
    right = minimal(table.columns, meets)
    most = table.columns - min((len(each) for each in _hitting(table.columns, right)), default=0)
    return (
        None if result.bound is None or result.bound >= most else f"bound {result.bound}, where {most} can be published"
    )


def _hitting(columns: int, sets: set[Places]) -> Iterator[Places]:
    """Column sets that hold a column of each."""
    for mask in range(1 << columns):
        places = tuple(place for place in range(columns) if mask >> place & 1)
        if all(set(places) & set(each) for each in sets):
            yield places


TRIALS = Trials("audits, keys and columns to publish whose budget ends early", 5_000, 12, truncated)
