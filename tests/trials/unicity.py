"""How often the share of persons whom three known rows single out is outside the interval that draws give: it promises
1 %. At 0 and at 1 too, where all persons are alike, or each has rows of her own."""

from collections.abc import Iterator
from random import Random
from unittest.mock import patch

from qidsql.measures.histories import Unicity
from qidsql.profiling import known_rows
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.known_rows import RowsOfPersons
from qidsql.sql.relation import relation
from tests.stores import DuckDBStore, Store
from tests.trials import Ground, Trials
from tests.trials.histories import Choices, Row

COLUMNS = {"person": "INTEGER", "place": "INTEGER", "day": "INTEGER"}
DRAWN, KNOWN, K = 30, 3, 2  # persons of a sample, rows of each


def unicity(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    with ground.stores(DuckDBStore) as [store], patch.object(known_rows, "DRAWN_PERSONS", DRAWN):
        for trial in range(number):
            rows = crowd(Random(f"{seed} {trial}"))
            truth = Choices(rows, ("place", "day"), str(KNOWN)).unicity(K)
            found = drawn(store, rows)
            assert found.drawn == DRAWN and found.low is not None and found.high is not None
            held = found.low <= truth <= found.high
            yield None if held else f"seed {seed} trial {trial}: {truth}, not within {found.low} to {found.high}"


def crowd(chance: Random) -> list[Row]:
    """Events of 60 persons: alike, all different, or any between."""
    kind, places, days = (
        chance.choice(("alike", "own", "any", "any", "any")),
        chance.choice((1, 2, 4)),
        chance.randint(2, 9),
    )
    rows: list[Row] = []
    for person in chance.sample(range(100_000), 60):
        for event in range(4 if kind == "alike" else chance.randint(1, 5)):
            place = {"alike": event, "own": person}.get(kind, chance.randrange(places))
            rows.append((person, place, 1 if kind == "alike" else chance.randrange(days), None))
    return rows


def drawn(store: Store, rows: list[Row]) -> Unicity:
    """The point of the curve, by the statement that audits send."""
    store.execute("DROP TABLE IF EXISTS crowd")
    store.table("crowd", COLUMNS, [row[:3] for row in rows])
    with store.connect() as engine:
        table = engine.describe("crowd")
        source = relation(engine.dialect, table, table.columns)
        audited = profiler_for(engine, source, ("place", "day"), K, "person")
        points = {each.known_rows: each for each in RowsOfPersons(audited, source, "person", K).curve()}
    return points[str(KNOWN)]


TRIALS = Trials(
    "three known rows, drawn: the share that leaves nobody else within its interval", 1_000, 5, unicity, 0.02
)
