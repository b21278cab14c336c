"""Random tables held against random populations on three engines, against brute force from the definitions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random

import qidsql
from qidsql.commands.risk.population.population import PopulationFigures
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from tests.definitions import population_figures_of
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store
from tests.trials import Ground, Trials

TOGETHER = 20  # populations in one catalog
PUBLISHED = "published_"  # and the name of its population: a published table


def populations(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial holds one published table against one population, on one engine."""
    with ground.stores(DuckDBStore, PostgresStore, SQLiteStore) as stores:
        yield from islice(_all(stores, seed), number)


def _all(stores: Sequence[Store], seed: int) -> Iterator[str | None]:
    first = seed * 1_000_000
    while True:
        for store in stores:
            people = [random_table(each, store.name) for each in range(first, first + TOGETHER)]
            published = [_published(table, Random(first + place)) for place, table in enumerate(people)]
            load(store, [*people, *published])
            with store.connect() as engine:
                for place, (table, own) in enumerate(zip(people, published, strict=True)):
                    wrong = _wrong(engine, own, table, 2 + place % 3)
                    yield wrong and f"{store.name} table {first + place}: {wrong}"
            drop(store, [*people, *published])
        first += TOGETHER


def _published(people: RandomTable, draw: Random) -> RandomTable:
    """A sample of the people; sometimes with some of them twice."""
    some = [place for place in range(len(people.rows)) if draw.random() < 0.4]
    some += [place for place in some if draw.random() < draw.choice((0, 0, 0.3))]
    return replace(
        people,
        name=PUBLISHED + people.name,
        texts=tuple(people.texts[place] for place in some),
        rows=tuple(people.rows[place] for place in some),
    )


def _wrong(engine: Engine, published: RandomTable, people: RandomTable, k: int) -> str | None:
    """What it says that the definitions do not; None if all is right."""
    on = [f"{name}={name}" for name in people.names]
    try:
        result = qidsql.risk(engine, published.name, population=people.name, on=on, k=k, entity="row")
    except QidsqlError as error:
        return f"{type(error).__name__}: {error}"
    expected = population_figures_of([row[:-1] for row in published.rows], [row[:-1] for row in people.rows], k)
    if result.figures != expected:
        return f"{result.figures}, not {expected}"
    return None if result.verdict == verdict_of(expected) else f"verdict {result.verdict}, not {verdict_of(expected)}"


def verdict_of(figures: PopulationFigures) -> str:
    """The verdict without further options, by the figures."""
    if figures.rows_below_k:
        return "violation"
    unfit = figures.rows_absent or figures.rows_exceeding or figures.rows_with_null
    return "inconclusive" if unfit or not figures.rows or not figures.people else "pass"


TRIALS = Trials("random tables held against random populations; three engines", 3_000, 60, populations)
