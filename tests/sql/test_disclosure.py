"""What classes disclose about a sensitive column: the definitions written again."""

from fractions import Fraction

import pytest

from qidsql.sql.disclosure import disclosure
from qidsql.sql.relation import relation
from tests.definitions import Values, disclosure_of, entity_disclosure_of
from tests.exhaustive import always
from tests.random_tables import load, random_table
from tests.stores import THREE_ENGINES, Store

K = 3
SEEDS = [seed for seed in range(120) if random_table(seed, "duckdb").columns > 1]  # one is the sensitive column


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(*SEEDS[:6], longer=SEEDS[6:]))
@THREE_ENGINES  # Sail cannot plan the windows of what is counted in persons
def test_random_tables(store: Store, seed: int) -> None:
    table = random_table(seed, store.name)
    load(store, [table])
    *known, sensitive = table.names
    rows = [row[:-1] for row in table.rows]
    with store.connect() as engine:
        described = engine.describe(table.name)
        source = relation(engine.dialect, described, described.columns)
        names = tuple(known)
        assert engine.run(disclosure(engine.dialect, source, names, sensitive, K)) == disclosure_of(rows, K)
        found = engine.run(disclosure(engine.dialect, source, names, sensitive, K, "person"))
        assert found == entity_disclosure_of(rows, table.entities, K)


def test_a_guess_is_never_worse_than_a_blind_one() -> None:
    rows: list[Values] = [("a", 1), ("a", 2), ("b", 1), ("b", 1), ("c", None)]
    found = disclosure_of(rows, 2)
    assert (found.guess_before, found.guess_after) == (Fraction(3, 5), Fraction(4, 5))
    assert found.guess_in_large == Fraction(3, 4)
    assert (found.revealed, found.revealed_null) == (3, 1)
