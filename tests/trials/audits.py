"""Audits of random tables on three engines, through the public function, against brute force from the definitions."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from qidsql.measures.profiles import ClassProfile
from tests.definitions import Values, entity_profile_of, matching_profile_of, profile_of, projected, subsets
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store
from tests.trials import Ground, Trials

TOGETHER = 50  # tables in one catalog
BY_ROW = {"entity": "row"}  # as the column of persons is named like one
OPTIONS: tuple[dict[str, Any], ...] = (BY_ROW, {**BY_ROW, "nulls": "wildcard"}, {"entity": "person"})


def audits(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one audit of one table with one of the options on one engine."""
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
                    options = OPTIONS[(first + place) % len(OPTIONS)]
                    wrong = wrong_in(engine, table, options, 2 + place % 4)
                    yield wrong and f"{store.name} table {first + place} {options}: {wrong}"
            drop(store, tables)
        first += TOGETHER


def wrong_in(engine: Engine, table: RandomTable, options: dict[str, Any], k: int) -> str | None:
    """What an audit says of the table that the definitions do not; None where all is right."""
    define = definition(table, options, k)
    try:
        result = qidsql.audit(engine, table.name, k=k, columns=table.names, **options)
    except QidsqlError as error:
        return f"{type(error).__name__}: {error}"
    whole = define(tuple(range(table.columns)))
    verdict = "inconclusive" if not table.rows else "pass" if whole.smallest >= k else "violation"
    if whole.smallest == k and options.get("entity") == "person" and None in table.entities:
        verdict = "inconclusive"  # rows without a person are counted as one more, and may be of one counted already
    if result.verdict != verdict:
        return f"verdict {result.verdict}, not {verdict}"
    if not table.rows:
        return None
    if result.profile != whole:
        return f"profile {result.profile}, not {whole}"
    if result.verdict != "violation":
        return None
    unsafe = minimal(table.columns, lambda places: 0 < define(places).smallest < k)
    listed = result.searches[0]
    found = {tuple(sorted(table.names.index(name) for name in each.columns)) for each in result.found_by(listed)}
    if not listed.complete or found != unsafe:
        return f"minimal sets below k {sorted(found)} (complete: {listed.complete}), not {sorted(unsafe)}"
    return _wrong_remedy(result, table, define)


def _wrong_remedy(
    result: AuditResult, table: RandomTable, define: Callable[[Sequence[int]], ClassProfile]
) -> str | None:
    """A profile without some columns that is not the defined one, or a promise to pass that does not hold."""
    without = [((column.name,), column.without) for column in result.columns if column.without is not None]
    for names, profile in (*without, *((each.columns, each.profile) for each in result.withheld)):
        true = define([place for place in range(table.columns) if table.names[place] not in names])
        if profile != true:
            return f"without {names} {profile}, not {true}"
    for each in result.withheld:
        if each.passes and each.profile.smallest < each.profile.k:
            return f"without {each.columns} called a pass at {each.profile.smallest}"
    return None


def definition(table: RandomTable, options: dict[str, Any], k: int) -> Callable[[Sequence[int]], ClassProfile]:
    """The profile of column places, from the definition that belongs to the options."""

    def define(places: Sequence[int]) -> ClassProfile:
        rows: list[Values] = projected(table.rows, places)
        if options.get("entity") == "person":
            return entity_profile_of(rows, table.entities, k)
        return matching_profile_of(rows, k) if options.get("nulls") == "wildcard" else profile_of(rows, k)

    return define


def minimal(columns: int, meets: Callable[[tuple[int, ...]], bool]) -> set[tuple[int, ...]]:
    """All minimal non-empty sets that meet a monotone test."""
    found: list[tuple[int, ...]] = []
    for places in subsets(columns):
        if not any(set(smaller) <= set(places) for smaller in found) and meets(places):
            found.append(places)
    return set(found)


TRIALS = Trials("audits of random tables by value, by wildcard, by person; three engines", 10_000, 30, audits)
