"""Functional dependencies inside a table, against their definition."""

import random
from itertools import permutations

import pytest

from qidsql.linkage.functional import discovered
from tests.stores import Store

NAMES = ("zip", "town", "county", "sex", "key", "constant", "code")


def rows_of(chance: random.Random) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for number in range(80):
        place = chance.choice([None, *range(20)])
        town = None if place is None else place // 3
        county = None if place in (None, 0) else place // 6  # zip 0 has no county, and another has none either
        rows.append((place, town, county, chance.choice("fm"), number, 1, f"c{place}"))
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_dependencies_are_those_of_the_definition(store: Store, seed: int) -> None:
    rows = rows_of(random.Random(seed))
    types = ("INTEGER", "INTEGER", "INTEGER", "VARCHAR", "INTEGER", "INTEGER", "VARCHAR")
    store.table("t", dict(zip(NAMES, types, strict=True)), rows)
    telling = [place for place in range(len(NAMES)) if 1 < len({row[place] for row in rows}) < len(rows)]
    expected = {
        (NAMES[a], NAMES[b])
        for a, b in permutations(telling, 2)
        if all(one[b] == other[b] for one in rows for other in rows if one[a] == other[a])
    }
    with store.connect() as engine:
        found = discovered(engine, engine.describe("t"))
        assert {(each.determinants[0].column, each.dependent.column) for each in found.dependencies} == expected
        assert {("zip", "code"), ("code", "zip"), ("zip", "county")} <= expected
        assert found.unfinished == () and found.statements == engine.asked
        assert all(each.determinants[0].table == each.dependent.table for each in found.dependencies)


def test_a_budget_is_kept(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 1), (1, 1), (2, 2)])
    with store.connect() as engine:
        stopped = discovered(engine, engine.describe("t"), max_statements=1)
        assert stopped.statements <= 1 and stopped.dependencies == ()
        assert "were not all looked for" in stopped.unfinished[0]
        assert discovered(engine, engine.describe("t"), ["a"], max_statements=1).unfinished == ()
