"""Limits on disclosure of every model on random tables, by row and by person, against the definitions."""

from collections.abc import Iterator

from tests.disclosure_limits import COLUMNS, SENSITIVE, differences, random_rows
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore
from tests.trials import Ground, Trials

TOGETHER = 50


def limits(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one table on one engine: all its column sets, each with a limit of every model."""
    with ground.stores(DuckDBStore, PostgresStore, SQLiteStore) as stores:
        for first in range(seed * 1_000_000, seed * 1_000_000 + number, TOGETHER):
            seeds = range(first, min(first + TOGETHER, seed * 1_000_000 + number))
            store = stores[first // TOGETHER % len(stores)]
            for each in seeds:
                store.table(f"t{each}", dict.fromkeys((*COLUMNS, SENSITIVE, "person"), "INTEGER"), random_rows(each))
            with store.connect() as engine:
                for each in seeds:
                    wrong = differences(engine, f"t{each}", random_rows(each))
                    yield f"{store.name}: {wrong[0]}" if wrong else None
            for each in seeds:
                store.execute(f"DROP TABLE t{each}")


TRIALS = Trials("limits on disclosure of every model, by row, by person; three engines", 2_000, 5, limits)
