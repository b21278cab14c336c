"""Columns of random tables recoded and dropped turn by turn, every figure of every turn by its definition."""

from collections.abc import Iterator

from qidsql.errors import QidsqlError
from tests.commands.protect.test_turns import check_table
from tests.stores import DuckDBStore, PostgresStore
from tests.trials import Ground, Trials


def turns(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is all turns of one table on one engine."""
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        for place in range(number):
            store, of_table = stores[place % 2], seed * 1_000_000 + place
            try:
                check_table(store, of_table)
                yield None
            except (AssertionError, QidsqlError) as wrong:
                yield f"{store.name} table {of_table}: {type(wrong).__name__}"


TRIALS = Trials("columns recoded and dropped turn by turn, by the definition of each figure", 1_000, 4, turns)
