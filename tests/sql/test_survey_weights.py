"""Classes by size and sum of survey weights: the definition written again, and what becomes of awkward weights."""

from dataclasses import replace
from random import Random

import pytest

from qidsql.core.tables import Comparison
from qidsql.engines.base import Engine
from qidsql.sql.population import SurveyWeights, survey_weights
from qidsql.sql.relation import relation
from tests.definitions import survey_weights_of
from tests.exhaustive import always
from tests.random_tables import load, random_table
from tests.stores import EVERY_ENGINE, TWO_ENGINES, Store

NAMES = ("a", "b")


def weighed(engine: Engine, table: str, columns: tuple[str, ...], weight: str) -> SurveyWeights:
    """The weight by value, however its column is compared, as `TableSearch.with_column` has it."""
    found = engine.describe(table)
    by_value = [replace(each, comparison=Comparison.VALUE) if each.name == weight else each for each in found.columns]
    return engine.run(survey_weights(engine.dialect, relation(engine.dialect, found, by_value), columns, weight))


@pytest.mark.parametrize("seed", always(*range(5), longer=range(5, 70)))
@EVERY_ENGINE
def test_random_weights(store: Store, seed: int) -> None:
    """Whole numbers: no two sums are within 0.1 % of each other but equal ones. A few are unusable."""
    draw = Random(seed)
    rows = [(draw.choice((None, 1, 2)), draw.choice("xyz")) for _ in range(draw.randint(1, 40))]
    pool = [1, 2, 3, 40] if draw.random() < 0.6 else [1, 2, 3, 0, -2, None, 10**16]
    weights = [draw.choice(pool) for _ in rows]
    table = {"a": "INTEGER", "b": "VARCHAR(1)", "w": "BIGINT"}
    store.table("t", table, [(*row, weight) for row, weight in zip(rows, weights, strict=True)])
    with store.connect() as engine:
        assert weighed(engine, "t", NAMES, "w") == survey_weights_of(rows, weights)


@pytest.mark.parametrize("seed", range(2))
@EVERY_ENGINE
def test_columns_of_every_type(store: Store, seed: int) -> None:
    table = random_table(seed, store.name)
    load(store, [table])
    ones = [1] * len(table.rows)
    store.execute(f"CREATE VIEW w AS SELECT t.*, 1.0 AS weight FROM {table.name} AS t")
    with store.connect() as engine:
        found = weighed(engine, "w", tuple(table.names), "weight")
    assert found == survey_weights_of([row[: table.columns] for row in table.rows], ones)


@TWO_ENGINES
def test_what_is_no_number_is_no_weight(store: Store) -> None:
    """NaN compares as larger than every number, and a sum of infinities has no logarithm."""
    for awkward in ("NaN", "Infinity", "-Infinity", "1e16", "-0.0"):
        store.execute("DROP TABLE IF EXISTS t")
        store.execute("CREATE TABLE t (a INTEGER, w DOUBLE PRECISION)")
        store.execute(f"INSERT INTO t VALUES (1, '{awkward}'), (1, '{awkward}'), (2, 1.5)")
        with store.connect() as engine:
            assert weighed(engine, "t", ("a",), "w") == SurveyWeights((), null=0, bad=2), awkward


@EVERY_ENGINE
def test_many_different_weights_leave_the_engine_as_a_small_histogram(store: Store) -> None:
    """5,000 classes of one row, each with a weight of its own between 10 and 20: ln 2 * 1000 bins, no row lost."""
    store.table("t", {"a": "INTEGER", "w": "DOUBLE PRECISION"}, [(n, 10 + n / 500) for n in range(5000)])
    with store.connect() as engine:
        found = weighed(engine, "t", ("a",), "w")
    assert 690 <= len(found.classes) <= 695
    assert (found.rows, found.total) == (5000, pytest.approx(sum(10 + n / 500 for n in range(5000))))
    assert all(9.999 <= each.weight <= 20.001 for each in found.classes)


@EVERY_ENGINE
def test_no_row(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "w": "INTEGER"}, [])
    with store.connect() as engine:
        assert weighed(engine, "t", ("a",), "w") == SurveyWeights((), 0, 0)
