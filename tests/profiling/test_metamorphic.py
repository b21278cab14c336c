"""What must happen to the profiles when a table is changed in a way whose effect is known, on both engines.

No expected number is computed here: the engine's answer on a table is held against its answer on the changed one.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from random import Random

import pytest

from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.relation import relation
from tests.random_tables import RandomTable, load, random_table
from tests.stores import ONE_OF_THREE, Store

pytestmark = ONE_OF_THREE

SEEDS = range(2000, 2012)
K = 3


@pytest.fixture
def tables(store: Store) -> list[RandomTable]:
    drawn = [random_table(seed, store.name) for seed in SEEDS]
    return [table for table in drawn if len(table.rows) > 1]


def profiles(
    store: Store, tables: Sequence[RandomTable], orders: Sequence[Sequence[str]], entity: str | None = None
) -> list[list[ClassProfile]]:
    """Loads the tables, then profiles every column set of each; a set's bits follow that table's order of names."""
    load(store, tables)
    answers = []
    with store.connect() as engine:
        for table, names in zip(tables, orders, strict=True):
            described = engine.describe(table.name)
            source = relation(engine.dialect, described, described.columns)
            profiler = profiler_for(engine, source, names, K, entity, len(table.rows))
            answers.append(profiler.profiles(range(1, 1 << len(names))))
    return answers


def renamed(
    table: RandomTable, texts: Sequence[tuple[str | None, ...]], types: Sequence[str] | None = None
) -> RandomTable:
    return replace(table, name=f"{table.name}_changed", texts=tuple(texts), types=tuple(types or table.types))


def test_the_order_of_rows_changes_nothing(store: Store, tables: list[RandomTable]) -> None:
    names = [table.names for table in tables]
    shuffled = [renamed(table, Random(1).sample(table.texts, len(table.texts))) for table in tables]
    assert profiles(store, tables, names) == profiles(store, shuffled, names)


def test_the_order_of_columns_changes_nothing(store: Store, tables: list[RandomTable]) -> None:
    names = [table.names for table in tables]
    turned = [
        renamed(table, [(*row[-2::-1], row[-1]) for row in table.texts], (*table.types[-2::-1], table.types[-1]))
        for table in tables
    ]
    backwards = [each[::-1] for each in names]  # c0 now names what was the last column
    assert profiles(store, tables, names) == profiles(store, turned, backwards)


def test_other_values_in_the_place_of_the_old_change_nothing(store: Store, tables: list[RandomTable]) -> None:
    """One number for each value, as a dictionary would: the values themselves carry no weight."""
    names = [table.names for table in tables]
    coded = []
    for table in tables:
        codes: dict[object, str] = {}
        rows = [
            tuple(
                None if cell is None else codes.setdefault((place, cell), str(len(codes)))
                for place, cell in enumerate(row)
            )
            for row in table.rows
        ]
        coded.append(renamed(table, rows, ["INTEGER"] * len(table.types)))
    assert profiles(store, tables, names) == profiles(store, coded, names)


@pytest.mark.exhaustive
@pytest.mark.parametrize("entity", [None, "person"])
def test_a_constant_column_changes_nothing(store: Store, tables: list[RandomTable], entity: str | None) -> None:
    names = [table.names for table in tables]
    wider = [
        renamed(table, [("1", *row) for row in table.texts], ("INTEGER", *table.types)) for table in tables
    ]  # named c0; what was c0 is c1
    before = profiles(store, tables, names, entity)
    after = profiles(store, wider, [table.names for table in wider], entity)
    for old, new in zip(before, after, strict=True):
        assert new[2::2] == old  # the sets with the constant column and others
        assert new[1::2] == old  # ... and without it
        assert new[0].classes == 1


def test_doubling_every_row_doubles_every_class(store: Store, tables: list[RandomTable]) -> None:
    names = [table.names for table in tables]
    doubled = [renamed(table, [*table.texts, *table.texts]) for table in tables]
    before, after = profiles(store, tables, names), profiles(store, doubled, names)
    for old, new in zip(chain(*before), chain(*after), strict=True):
        assert (new.rows, new.classes) == (2 * old.rows, old.classes)
        assert (new.smallest, new.largest, new.unique_rows) == (2 * old.smallest, 2 * old.largest, 0)
        # 2c(2c - 1) = 4c(c - 1) + 2c, summed over the classes
        assert new.colliding_pairs == 4 * old.colliding_pairs + 2 * old.rows
        assert new.rows_below_k == 2 * old.unique_rows  # below 3 are now those that were alone


@pytest.mark.exhaustive
def test_doubling_every_row_adds_no_entity(store: Store, tables: list[RandomTable]) -> None:
    names = [table.names for table in tables]
    doubled = [renamed(table, [*table.texts, *table.texts]) for table in tables]
    assert profiles(store, tables, names, "person") == profiles(store, doubled, names, "person")


def test_another_column_only_splits_classes(store: Store, tables: list[RandomTable]) -> None:
    for table, answers in zip(tables, profiles(store, tables, [table.names for table in tables]), strict=True):
        for mask in range(1, 1 << table.columns):
            for more in (mask | 1 << place for place in range(table.columns)):
                few, many = answers[mask - 1], answers[more - 1]
                assert many.classes >= few.classes
                assert many.smallest <= few.smallest
                assert many.rows_below_k >= few.rows_below_k
                assert many.colliding_pairs <= few.colliding_pairs
