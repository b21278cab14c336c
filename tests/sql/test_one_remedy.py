"""The classes after one coarser column: from the values as they are, and from codes of all columns, the same."""

from collections import Counter
from random import Random

import pytest

from qidsql.sql.hierarchies import values_told_apart
from qidsql.sql.remedies import Coarser, Merged, RemedyClasses, ValuesAtLevels
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE
TYPES = {"a": "INTEGER", "b": "INTEGER", "c": "VARCHAR(9)"}


def rows(seed: int) -> list[tuple[int | None, int | None, str | None]]:
    random = Random(seed)
    return [
        (random.choice([None, 1, 2, 3]), random.choice([None, 4, 5, 6, 7]), random.choice([None, "", "x", "X"]))
        for _ in range(40)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_one_remedy_is_as_beside_others(store: Store, seed: int) -> None:
    made = rows(seed)
    store.table("t", TYPES, made)
    with store.connect() as engine:
        table = engine.describe("t")
        columns = table.resolve(list(TYPES))
        leveled = {
            place: ValuesAtLevels(
                values_told_apart(engine.dialect, table, columns[place], {1: (lambda value: value * 0, True)}),
                [1],
                listed=False,
            )
            for place in (0, 1)
        }
        values = [len({row[place] for row in made} | {None}) for place in range(3)]
        classes = RemedyClasses(engine.dialect, table, columns, values, leveled)
        for remedy in (Coarser({1: 1}), Coarser({0: 1, 1: 1})):
            statement = classes.after_one(remedy, 3)
            [alone] = engine.run(statement)
            assert [alone] == engine.run(classes.after([remedy], 3))
            assert statement.scans == 1 + len(remedy.levels)
            coarse = [
                tuple(0 if place in remedy.levels and cell is not None else cell for place, cell in enumerate(row))
                for row in made
            ]
            assert alone.sizes == Counter(Counter(coarse).values())
            assert isinstance(alone, Merged) and all(len(each) == len(remedy.levels) for each in alone.lost.values())
