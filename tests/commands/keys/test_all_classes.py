"""`keys --all-classes`: sets that tell apart all that all columns tell apart, where duplicate rows leave no key."""

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.errors import UsageError
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE

NAMES = ("a", "b", "c", "d")


def classes(rows: Sequence[tuple[object, ...]], places: Sequence[int]) -> int:
    return len({tuple(row[place] for place in places) for row in rows})


def minimal(rows: Sequence[tuple[object, ...]]) -> set[tuple[str, ...]]:
    """By trying all."""
    goal, found = classes(rows, range(4)), list[tuple[int, ...]]()
    for size in range(1, 5):
        for places in combinations(range(4), size):
            if classes(rows, places) == goal and not any(set(one) <= set(places) for one in found):
                found.append(places)
    return {tuple(NAMES[place] for place in places) for places in found}


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, 1, 2, longer=range(3, 8)))
def test_all_minimal_sets_are_those_of_the_definition(store: Store, seed: int) -> None:
    random = Random(seed)
    rows = [tuple(random.choice([1, 2, 3, None]) for _ in NAMES) for _ in range(12)]
    rows += rows[:4]  # duplicates: there is no key
    store.table("t", dict.fromkeys(NAMES, "INTEGER"), rows)
    with store.connect() as engine:
        assert keys(engine, KeysRequest("t")).column_sets == ()
        for algorithm in (None, "borders", "levelwise", "hitting-sets"):
            every = keys(engine, KeysRequest("t", all_classes=True, all=True, algorithm=algorithm))
            assert {found.columns for found in every.column_sets} == minimal(rows)
            assert every.complete
        least = keys(engine, KeysRequest("t", all_classes=True))
        assert least.optimal
        assert least.cost == min(map(len, minimal(rows)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nulls": "wildcard"}, "--all-classes counts classes"),
        ({"entity": "a"}, "--all-classes measures rows"),
        ({"violates": 3}, "choose one criterion"),
        ({"epsilon": "0.1"}, "a sample cannot guarantee"),
    ],
)
def test_what_goes_with_it(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        KeysRequest("t", all_classes=True, **options)  # type: ignore[arg-type]
