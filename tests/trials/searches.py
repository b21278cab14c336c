"""Searches of random tables by every algorithm, criterion, rule for NULLs and unit, against brute force."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

import qidsql
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import KeysResult
from qidsql.commands.protect.columns.command import ColumnsResult
from qidsql.core.options import Wanted
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError, UsageError
from qidsql.measures.profiles import ClassProfile
from tests.definitions import subsets
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store
from tests.trials import Ground, Trials
from tests.trials.audits import definition, minimal

TOGETHER, PER_TABLE = 50, 4
K = 3
RATIOS = ("0.3", "0.5", "0.8", "0.95", "1")
UNITS: tuple[dict[str, Any], ...] = ({}, {}, {"nulls": "wildcard"}, {"entity": "person"})

Places = tuple[int, ...]
Meets = Callable[[Places], bool]


def searches(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one search by `keys` or `mask` of one table on one engine. Options that are refused do not count."""
    with ground.stores(DuckDBStore, PostgresStore, SQLiteStore) as stores:
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
                        random = Random(f"{first + place}.{draw}.{store.name}")
                        options = options_of(random)
                        masking = random.random() < 0.25
                        try:
                            wrong = (_mask if masking else _keys)(engine, table, options, random)
                        except UsageError:
                            continue
                        except QidsqlError as error:
                            wrong = f"{type(error).__name__}: {error}"
                        where = f"{store.name} table {first + place} {'mask' if masking else 'keys'} {options}"
                        yield wrong and f"{where}: {wrong}"
            drop(store, tables)
        first += TOGETHER


def options_of(random: Random) -> dict[str, Any]:
    """What both commands take: a criterion, a rule for NULLs or persons, and weights at times."""
    criterion: dict[str, Any] = random.choice(
        (
            {},
            {"distinct": random.choice(RATIOS)},
            {"separation": random.choice(RATIOS)},
            {"violates": K},
            {"rows_below_k": random.choice(RATIOS), "k": K},
        )
    )
    return {**criterion, **random.choice(UNITS)}


def _keys(engine: Engine, table: RandomTable, options: dict[str, Any], random: Random) -> str | None:
    options["algorithm"] = random.choice([None, *(name for name in ALGORITHMS if name != "sampled")])
    named = ALGORITHMS.get(options["algorithm"])
    wanted = named.wanted if named else random.choice(tuple(Wanted))
    if wanted is Wanted.MINIMUM:
        options["weights"] = weights_of(table, random)
    elif named is None:
        options[wanted.value] = True
    if wanted is Wanted.ALL and random.random() < 0.2:
        options["max_size"] = random.randint(1, 3)
    result = qidsql.keys(engine, table.name, columns=table.names, **options)
    if not table.rows or _of_nobody(table, options):
        return None if result.verdict == "inconclusive" else f"outcome {result.verdict} of an empty table, or of nobody"
    if result.verdict != "finished":
        return f"outcome {result.verdict}: {result.account.unfinished}"
    meets = criterion_of(table, options)
    right = minimal(table.columns, meets)
    found = [tuple(sorted(table.names.index(name) for name in each.columns)) for each in result.column_sets]
    if not all(map(meets, found)):
        return f"{found} hold a set that does not meet the criterion"
    if bool(found or "max_size" in options) != bool(right or "max_size" in options):
        return f"found {found}, where the minimal sets are {sorted(right)}"
    if result.minimal and not set(found) <= right:
        return f"{found} hold a set that is not minimal"
    if wanted is Wanted.ALL:
        return _wrong_list(result, found, right, options)
    return _wrong_minimum(result, found, right, options, table) if wanted is Wanted.MINIMUM else None


def _wrong_list(result: KeysResult, found: Sequence[Places], right: set[Places], options: dict[str, Any]) -> str | None:
    most = options.get("max_size", max(map(len, right), default=0))
    if result.complete and set(found) != right:
        return f"{found} called complete, not {sorted(right)}"
    listed = right if result.certificate is None else set(found)  # else something may be missing, by chance
    if {each for each in listed if len(each) <= most} != set(found):
        return f"{found}, not those of {sorted(right)} with up to {most} columns"
    return None


def _wrong_minimum(
    result: KeysResult, found: Sequence[Places], right: set[Places], options: dict[str, Any], table: RandomTable
) -> str | None:
    if not right:
        return None
    weights = [options["weights"].get(name, 1) for name in table.names]
    least = min(sum(weights[place] for place in each) for each in right)
    cost = sum(weights[place] for place in found[0])
    if result.cost != cost:
        return f"cost {result.cost} of {found[0]}, which weighs {cost}"
    if result.lower_bound is not None and result.lower_bound > least:
        return f"lower bound {result.lower_bound}, where {least} is enough"
    if (result.optimal or options["algorithm"] in (None, "implicit-hitting-set")) and cost != least:
        return f"cost {cost}, where {least} is enough"
    return None


def _mask(engine: Engine, table: RandomTable, options: dict[str, Any], random: Random) -> str | None:
    options |= {"exact": random.random() < 0.5, "weights": weights_of(table, random)}
    by_rows = {"entity": "row", **options}  # a person has several rows
    result: ColumnsResult = qidsql.protect(engine, table.name, columns=table.names, **by_rows, by="columns")
    if not table.rows or _of_nobody(table, options):
        return None if result.verdict == "inconclusive" else f"outcome {result.verdict} of an empty table, or of nobody"
    meets = criterion_of(table, options, above=True)
    weights = [options["weights"].get(name, 1) for name in table.names]
    if result.verdict != ("finished" if result.published or result.bound else "violation"):
        return f"outcome {result.verdict}: {result.account.unfinished}"
    safe = [(), *(places for places in subsets(table.columns) if not meets(places))]
    most = max(sum(weights[place] for place in places) for places in safe)
    published = tuple(table.names.index(name) for name in result.published)
    if published and meets(published):
        return f"published {published} meet the criterion"
    if result.weight != sum(weights[place] for place in published):
        return f"weight {result.weight} of {published}"
    if result.bound < most or ((options["exact"] or result.optimal) and result.weight != most):
        return f"weight {result.weight}, bound {result.bound}, where {most} can be published"
    return None


def _of_nobody(table: RandomTable, options: dict[str, Any]) -> bool:
    """Whether persons are counted, and a row has none: it may be of somebody counted already."""
    return "entity" in options and any(row[-1] is None for row in table.rows)


def weights_of(table: RandomTable, random: Random) -> dict[str, int]:
    return {name: random.randint(1, 4) for name in table.names} if random.random() < 0.4 else {}


def criterion_of(table: RandomTable, options: dict[str, Any], above: bool = False) -> Meets:
    """The criterion of the options, from its definition; `above`: what masking forbids, a ratio above the one given."""
    k = options.get("k", options.get("violates", K))
    define = definition(table, options, k)

    def meets(places: Places) -> bool:
        profile = define(places)
        if "distinct" in options:
            return _reaches(Fraction(profile.classes, profile.rows), options["distinct"], above)
        if "separation" in options:
            pairs = profile.rows * (profile.rows - 1)
            return _reaches(1 - Fraction(profile.colliding_pairs, pairs or 1), options["separation"], above)
        if "violates" in options:
            return profile.smallest < k
        if "rows_below_k" in options:
            return _reaches(_at_risk(profile), options["rows_below_k"], False)
        return profile.smallest < 5 if above else profile.colliding_pairs == 0  # the defaults of protect and of keys

    return meets


def _at_risk(profile: ClassProfile) -> Fraction:
    return Fraction(profile.rows_below_k, profile.rows)


def _reaches(ratio: Fraction, beta: str, above: bool) -> bool:
    return ratio > Fraction(beta) if above else ratio >= Fraction(beta)


TRIALS = Trials("searches by every algorithm and criterion, by value, wildcard, person", 10_000, 30, searches)
