"""Audits that decide by parts of the rows, of tables of any size, against brute force. Persons have a row each, or rows
are counted themselves."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random

import pytest

import qidsql
from qidsql.engines.base import Engine
from qidsql.profiling import by_entity
from qidsql.profiling import samples as regions
from tests.random_tables import RandomTable, drop, load, of_persons_with_a_row_each, random_table
from tests.stores import DuckDBStore, PostgresStore, Store, at_costs
from tests.trials import Ground, Trials
from tests.trials.audits import TOGETHER, definition, wrong_in


def decisions(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one audit of one table, with buckets of a random number and least size."""
    with ground.stores(PostgresStore, DuckDBStore) as stores:
        yield from islice(_all(stores, seed), number)


def _all(stores: Sequence[Store], seed: int) -> Iterator[str | None]:
    first = seed * 1_000_000 + 500_000
    for store in cycle(stores):
        tables = [random_table(each, store.name) for each in range(first, first + TOGETHER)]
        tables = [of_persons_with_a_row_each(each) if place % 3 else each for place, each in enumerate(tables)]
        load(store, tables)
        with store.connect() as engine:
            for place, table in enumerate(tables):
                wrong = _decided(engine, table, Random(first + place))
                yield wrong and f"table {first + place}: {wrong}"
        drop(store, tables)
        first += TOGETHER


def _decided(engine: Engine, table: RandomTable, draw: Random) -> str | None:
    k = draw.choice((draw.randint(2, 6), draw.randint(2, 20)))
    options = draw.choice(({"entity": "row"}, {"entity": "person"}))
    with pytest.MonkeyPatch.context() as patch:
        at_costs(patch, region_rows=1)
        patch.setattr(by_entity, "ENTITIES", 1)
        patch.setattr(regions, "LEAST_BUCKETS", draw.choice((2, 4, 64)))
        patch.setattr(regions, "FEWEST_ROWS_OF_BUCKET", draw.choice((1, 2, 10)))
        patch.setattr(regions, "COUNTED_ROWS", draw.choice((2, 1_000)))
        wrong = wrong_in(engine, table, options, k)
        if wrong:
            return wrong
        result = qidsql.audit(engine, table.name, k=k, columns=table.names, **options)
    define = definition(table, options, k)
    for found in result.column_sets:
        true = define([place for place in range(table.columns) if table.names[place] in found.columns])
        if found.profile != true:
            return f"{found.columns} {found.profile}, not {true}"
    return None


TRIALS = Trials("audits that decide by parts of the rows, compared with brute force", 5_000, 20, decisions)
