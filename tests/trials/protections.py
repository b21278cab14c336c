"""Suppression, anonymization and unsafe combinations of random tables, by every method, against brute force."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, islice
from random import Random
from typing import Any

import qidsql
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from tests.definitions import Values, frequencies, projected
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials
from tests.ways import work

TOGETHER, PER_TABLE = 50, 2
FEW = 9  # rows that brute force can part into groups


def protections(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one plan for one table on one engine, or one count of its unsafe combinations."""
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        yield from islice(_all(stores, seed), number)


def _all(stores: Sequence[Store], seed: int) -> Iterator[str | None]:
    first = seed * 1_000_000
    while True:
        for store in stores:
            tables = [random_table(each, store.name) for each in range(first, first + TOGETHER)]
            load(store, tables)
            with store.connect() as engine:
                for place, table in enumerate(tables):
                    for draw in range(PER_TABLE):
                        random = Random(f"{first + place}.{draw}")
                        tried = random.choice((_suppress, _suppress, _anonymize, _uniques))
                        options: dict[str, Any] = {"k": random.choice((2, 2, 3, 5))}
                        try:
                            wrong = tried(engine, table, options, random)
                        except QidsqlError as error:
                            wrong = f"{type(error).__name__}: {error}"
                        yield wrong and f"{store.name} table {first + place} {tried.__name__} {options}: {wrong}"
            drop(store, tables)
        first += TOGETHER


def _suppress(engine: Engine, table: RandomTable, options: dict[str, Any], random: Random) -> str | None:
    weights = _weights(table, random)
    options |= {"weights": weights, "method": random.choice(("optimal", "optimal", "shared"))}
    options["nulls"] = random.choice(("equal", "equal", "wildcard"))
    result = work("matching")(engine, table.name, columns=table.names, entity="row", **options)
    if len(table.rows) < options["k"]:
        outcome = "violation" if table.rows else "inconclusive"
        return None if result.verdict == outcome else f"outcome {result.verdict}, not {outcome}"
    if result.verdict != "finished":
        return f"outcome {result.verdict}: {result.account.unfinished}"
    rows = projected(table.rows, range(table.columns))
    weigh = [weights.get(name, 1) for name in table.names]
    least = sum(_least_loss(row, rows, weigh, options) for row in rows)
    if options["method"] == "shared":
        right = result.cost is not None and result.cost <= least and not result.optimal
        return None if right else f"cost {result.cost}, optimal {result.optimal}; row by row it is {least}"
    right = result.cost == result.lower_bound == least and result.optimal
    return None if right else f"cost {result.cost}, bound {result.lower_bound}, not {least}"


def _least_loss(row: Values, rows: Sequence[Values], weights: Sequence[int], options: dict[str, Any]) -> int:
    """The least weight of cells without which k rows agree with what is left of the row [Wilson, 3]."""
    columns = range(len(row))
    wildcard = options["nulls"] == "wildcard"

    def agree(place: int, other: Values) -> bool:
        return row[place] == other[place] or (wildcard and None in (row[place], other[place]))

    return min(
        sum(weights[place] for place in columns if place not in kept)
        for size in range(len(row) + 1)
        for kept in combinations(columns, size)
        if sum(all(agree(place, other) for place in kept) for other in rows) >= options["k"]
    )


def _anonymize(engine: Engine, table: RandomTable, options: dict[str, Any], random: Random) -> str | None:
    weights = _weights(table, random)
    options |= {"weights": weights, "method": random.choice(("auto", "exact", "heuristic"))}
    result = work("identical")(engine, table.name, columns=table.names, entity="row", **options)
    if len(table.rows) < options["k"]:
        outcome = "violation" if table.rows else "inconclusive"
        return None if result.verdict == outcome else f"outcome {result.verdict}, not {outcome}"
    if result.verdict != "finished" or result.cost is None:
        return f"outcome {result.verdict}: {result.account.unfinished}"
    if len(table.rows) > FEW:
        return None if result.lower_bound <= result.cost else f"cost {result.cost} below {result.lower_bound}"
    rows = projected(table.rows, range(table.columns))
    least = _cheapest_groups(rows, [weights.get(name, 1) for name in table.names], options["k"])
    if not result.lower_bound <= least <= result.cost:
        return f"cost {result.cost}, bound {result.lower_bound}, where {least} is the least"
    if (result.optimal or options["method"] != "heuristic") and result.cost != least:
        return f"cost {result.cost}, optimal {result.optimal}, where {least} is the least"
    return None


def _cheapest_groups(rows: Sequence[Values], weights: Sequence[int], k: int) -> int:
    """The least weight suppressed over all partitions into groups of k rows or more."""

    def price(group: tuple[int, ...]) -> int:
        lost = sum(w for p, w in enumerate(weights) if len({rows[number][p] for number in group}) > 1)
        return lost * len(group)

    @cache
    def cheapest(left: frozenset[int]) -> int:
        if not left:
            return 0
        first, *others = sorted(left)
        options = [10**9]
        for size in range(k - 1, len(others) + 1):
            for chosen in combinations(others, size):
                group = (first, *chosen)
                options.append(price(group) + cheapest(left - set(group)))
        return min(options)

    return cheapest(frozenset(range(len(rows))))


def _uniques(engine: Engine, table: RandomTable, options: dict[str, Any], random: Random) -> str | None:
    options["nulls"] = random.choice(("equal", "equal", "wildcard"))
    result = qidsql.uniques(engine, table.name, columns=table.names, **options)
    if not table.rows:
        return None if result.verdict == "inconclusive" else f"outcome {result.verdict} of an empty table"
    rows = projected(table.rows, range(table.columns))
    expected = _minimal_unsafe(rows, **options)
    by_size = Counter(len(places) for _, places in expected)
    at_risk = len({number for number, _ in expected})
    if not result.complete or result.by_size != dict(sorted(by_size.items())) or result.rows_unsafe != at_risk:
        return f"{result.by_size}, {result.rows_unsafe} rows, not {dict(by_size)}, {at_risk} rows"
    return None


def _minimal_unsafe(rows: Sequence[Values], k: int, nulls: str) -> set[tuple[int, tuple[int, ...]]]:
    """Rows and column sets on which fewer than k rows agree, while k do on every proper part [Wilson, 2]."""
    found: set[tuple[int, tuple[int, ...]]] = set()
    for size in range(len(rows[0]) + 1):
        for places in combinations(range(len(rows[0])), size):
            parts = projected(rows, places)
            crowds = frequencies(parts) if nulls == "wildcard" else [parts.count(part) for part in parts]
            for number, crowd in enumerate(crowds):
                if crowd < k and not any((number, p) in found for s in range(size) for p in combinations(places, s)):
                    found.add((number, places))
    return found


def _weights(table: RandomTable, random: Random) -> dict[str, int]:
    return {name: random.randint(1, 3) for name in table.names} if random.random() < 0.4 else {}


TRIALS = Trials("plans by cells and uniques, by every method", 5_000, 12, protections)
