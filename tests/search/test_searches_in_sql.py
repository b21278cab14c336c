"""The exact searches through SQL on real engines: wide tables, hostile names, budgets, the reference figures."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from qidsql.difference_masks import DifferenceMasks
from qidsql.engines.base import Engine
from qidsql.measures import Criterion, Distinct, Key, Separation
from qidsql.profiler import Budget, TableProfiler
from qidsql.search.borders import borders
from qidsql.search.keys import minimal_keys
from qidsql.search.minimum import minimum
from qidsql.sql.relation import relation
from tests.search.tables import K
from tests.stores import DuckDBStore, Store


def profiler_of(engine: Engine, table: str, **options: object) -> TableProfiler:
    described = engine.describe(table)
    source = relation(engine.dialect, described, described.columns)
    names = [column.name for column in described.columns]
    return TableProfiler(engine, source, names, K, rows=described.estimated_rows, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [63, 64, 130])
def test_masks_of_more_columns_than_one_integer_holds(store: Store, width: int) -> None:
    """A ring of columns: row i has another value than most in columns i and i + 1 only."""
    rows = [tuple(1 if place in (row, (row + 1) % width) else 0 for place in range(width)) for row in range(width)]
    store.table("ring", {f"c{place}": "INTEGER" for place in range(width)}, rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "ring")
        [whole] = DifferenceMasks(profiler, max_pairs=width * width, max_masks=10**6).agreeing([0])
        assert whole.pairs == width * (width - 1)
        bits = [1 << place for place in range(width)]
        rings = [bits[row] | bits[(row + 1) % width] for row in range(width)]
        assert set(whole.masks) == {a ^ b for a in rings for b in rings if a != b}
        [some] = DifferenceMasks(profiler, max_pairs=2).agreeing([1])
        assert not some.complete
        assert some.masks
        assert not any(mask & 1 for mask in some.masks)


@pytest.mark.parametrize("width", [64, 130])
def test_a_key_whose_columns_lie_in_different_lanes(store: Store, width: int) -> None:
    rows = [(row // 8, *[0] * (width - 2), row % 8) for row in range(64)]
    store.table("wide", {f"c{place}": "INTEGER" for place in range(width)}, rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "wide")
        result = minimal_keys(profiler, DifferenceMasks(profiler, max_pairs=2))
        smallest = minimum(profiler, Key(), DifferenceMasks(profiler, max_pairs=2))
    assert [each.mask for each in result.found] == [1 | 1 << width - 1]
    assert (smallest.cost, smallest.optimal) == (2, True)


def test_null_equals_null_in_a_mask(store: Store) -> None:
    store.table("n", {"a": "INTEGER", "b": "VARCHAR(9)"}, [(None, "x"), (None, None), (1, None)])
    with store.connect() as engine:
        [none, a, b, both] = DifferenceMasks(profiler_of(engine, "n")).agreeing([0, 1, 2, 3])
    assert set(none.masks) == {0b01, 0b10, 0b11}
    assert (a.pairs, a.masks, b.pairs, b.masks) == (2, (0b10,), 2, (0b01,))
    assert (both.pairs, both.masks, both.complete) == (0, (), True)


def test_hostile_names(store: Store) -> None:
    names = ['we"ird; drop', "order", "the part: columns", "c0", "s0", "lane0", "class_number", "place", ":rest"]
    rows = [(1, 1, 1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1, 1, 2), (1, 1, 1, 2, 1, 1, 1, 1, 2)]
    store.table("h", dict.fromkeys(names, "INTEGER"), rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "h")
        result = minimal_keys(profiler, DifferenceMasks(profiler))
    assert [each.mask for each in result.found] == [1 << 3 | 1 << 8]


def test_a_spent_budget_ends_a_key_search(store: Store) -> None:
    rows = [(i % 5, i // 5 % 5, i // 25, i % 7) for i in range(100)]
    store.table("t", dict.fromkeys("abcd", "INTEGER"), rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "t", budget=Budget(max_statements=3))
        result = minimal_keys(profiler, DifferenceMasks(profiler, max_pairs=10))
    assert result.stopped is not None
    assert not result.complete


def test_entities_are_refused(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "person": "INTEGER"}, [(1, 1)])
    with store.connect() as engine, pytest.raises(ValueError, match="entities"):
        DifferenceMasks(profiler_of(engine, "t", entity="person"))


@pytest.fixture
def adult(store: Store, shared: Path) -> Store:
    """The adult table of Motwani & Xu: without fnlwgt and without duplicates, 29,096 rows of 14 columns."""
    figures = json.loads((shared / "reference_figures.json").read_text())["mx_adult"]
    assert (figures["rows"], figures["columns"]) == (29096, 14)
    names = figures["selection"].removeprefix("select distinct ").split(" from ")[0].split(",")
    query = f"SELECT DISTINCT {', '.join(names)} FROM read_csv('{shared / 'adult.csv'}', all_varchar=true, header=true)"
    if isinstance(store, DuckDBStore):
        store.execute(f"CREATE TABLE adult AS {query}")
    else:
        store.table("adult", dict.fromkeys(names, "TEXT"), duckdb.sql(query).fetchall())
        store.execute("ANALYZE adult")
    return store


def test_adult_has_two_minimal_keys_of_13_columns(adult: Store) -> None:
    with adult.connect() as engine:
        profiler = profiler_of(engine, "adult")
        result = minimal_keys(profiler, DifferenceMasks(profiler))
        assert engine.asked <= 15
        assert [each.size for each in result.found] == [13, 13]
        assert result.complete
        before = engine.asked
        smallest = minimum(profiler, Key(), DifferenceMasks(profiler))
        assert engine.asked - before <= 10
    assert (smallest.cost, smallest.optimal, smallest.lower_bound) == (13, True, 13)


@pytest.mark.parametrize(
    ("criterion", "figure"),
    [(Distinct(Fraction(9, 10)), "quasi_0_9_distinct"), (Separation(Fraction(999, 1000)), "quasi_0_999_separation")],
)
def test_adult_has_the_minimal_sets_of_the_reference(
    adult: Store, shared: Path, criterion: Criterion, figure: str
) -> None:
    expected = json.loads((shared / "reference_figures.json").read_text())["mx_adult"]["all_minimal"][figure]
    with adult.connect() as engine:
        profiler = profiler_of(engine, "adult")
        result = borders(profiler, criterion)
    assert len(result.found) == expected["count"]
    assert Counter(str(each.size) for each in result.found) == expected["by_size"]
    assert result.complete
    if figure == "quasi_0_9_distinct":
        assert profiler.sets <= 700
