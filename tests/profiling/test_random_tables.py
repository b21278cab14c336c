"""Random small tables of awkward values, every column set, on both engines, against the definitions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from qidsql.core.tables import Nulls, names_of
from qidsql.engines.base import Engine
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling import batches
from qidsql.profiling import by_value as room
from qidsql.profiling.batches import MakeProfiles
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import class_profiles, class_profiles_by_finest, class_profiles_in_one_scan, class_sizes
from qidsql.sql.relation import Relation, relation
from tests.definitions import (
    entity_profile_of,
    entity_sizes_of,
    mask_of,
    matching_profile_of,
    profile_of,
    projected,
    sizes_of,
    subsets,
)
from tests.exhaustive import always, first
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import ONE_OF_THREE, TWO_ENGINES, TWO_OF_THREE, Store

pytestmark = TWO_OF_THREE

TABLES, PER_CATALOG = 400, 50  # a catalog of all of them would make every look at it slow
FIRST = always(0, longer=range(PER_CATALOG, TABLES, PER_CATALOG))


@dataclass(frozen=True)
class Case:
    """A table in a live engine, and what to ask about it."""

    engine: Engine
    source: Relation
    table: RandomTable
    sets: list[tuple[int, ...]]
    k: int

    def names(self, places: tuple[int, ...]) -> tuple[str, ...]:
        return names_of(mask_of(places), self.table.names)

    def rows(self, places: tuple[int, ...]) -> list[tuple[object, ...]]:
        return projected(self.table.rows, places)

    def true_profile(self, places: tuple[int, ...], rule: str) -> ClassProfile:
        rows = self.rows(places)
        if rule == "person":
            return entity_profile_of(rows, self.table.entities, self.k)
        return matching_profile_of(rows, self.k) if rule == "wildcard" else profile_of(rows, self.k)

    def profiler(self, entity: str | None = None, nulls: Nulls = Nulls.EQUAL) -> TableProfiler:
        rows = len(self.table.rows)
        return profiler_for(self.engine, self.source, self.table.names, self.k, entity, rows, nulls=nulls)


@pytest.fixture(scope="module", params=FIRST)
def cases(request: pytest.FixtureRequest, module_store: Store) -> Iterator[list[Case]]:
    """Some of the tables, from `request.param` on."""
    seeds = range(request.param, request.param + PER_CATALOG)
    tables = [random_table(seed, module_store.name) for seed in seeds]
    load(module_store, tables)
    with module_store.connect() as engine:
        yield [_case(engine, table, 2 + seed // 2 % 4) for seed, table in zip(seeds, tables, strict=True)]
    drop(module_store, tables)


def _case(engine: Engine, table: RandomTable, k: int) -> Case:
    described = engine.describe(table.name)
    return Case(engine, relation(engine.dialect, described, described.columns), table, list(subsets(table.columns)), k)


@pytest.mark.exhaustive
def test_profiles_of_every_column_set(cases: list[Case]) -> None:
    for case in cases:
        expected = [profile_of(case.rows(places), case.k) for places in case.sets]
        assert case.profiler().profiles([mask_of(places) for places in case.sets]) == expected, case.table


@TWO_ENGINES
@pytest.mark.parametrize("make", first([class_profiles_in_one_scan, class_profiles_by_finest]))
def test_profiles_of_every_column_set_in_one_scan(make: MakeProfiles, cases: list[Case]) -> None:
    for case in cases:
        named = [case.names(places) for places in case.sets]
        expected = [profile_of(case.rows(places), case.k) for places in case.sets]
        assert case.engine.run(make(case.engine.dialect, case.source, named, case.k)) == expected, case.table


@TWO_ENGINES
def test_sets_are_batched_where_their_columns_have_few_classes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "COVERED", 0)
    columns = {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER", "id": "INTEGER"}
    store.table("t", columns, [(i % 3, i % 4, i % 5, i) for i in range(1000)])  # a, b, c: 60 classes of 1,000 rows
    with store.connect() as engine:
        engine.costs = replace(engine.costs, finest_sets=8, union_rows=0)
        table = engine.describe("t")
        profiler = profiler_for(engine, relation(engine.dialect, table, table.columns), list(columns), 2, rows=1000)
        profiler.profiles([1, 2, 4, 8])
        before = engine.statements
        assert [each.classes for each in profiler.profiles([3, 9, 5, 12, 6])] == [12, 1000, 15, 1000, 20]
        assert engine.statements - before == 3


def test_profiles_of_a_few_column_sets_in_one_statement(cases: list[Case]) -> None:
    for case in cases:
        few = case.sets[-2:]
        statement = class_profiles(case.engine.dialect, case.source, [case.names(places) for places in few], case.k)
        assert case.engine.run(statement) == [profile_of(case.rows(places), case.k) for places in few], case.table


def test_single_columns_and_nulls(cases: list[Case]) -> None:
    for case in cases:
        table, profiler = case.table, case.profiler()
        nulls = tuple(sum(row[place] is None for row in table.rows) for place in range(table.columns))
        assert profiler.counts() == (len(table.rows), nulls), table
        assert profiler.singles() == [profile_of(case.rows((p,)), case.k) for p in range(table.columns)], table


def test_class_sizes_answer_for_every_k(cases: list[Case]) -> None:
    for case in cases:
        for places in (case.sets[0], case.sets[-1]):
            sizes = case.engine.run(class_sizes(case.engine.dialect, case.source, case.names(places)))
            assert sizes == sizes_of(case.rows(places)), case.table
            assert all(sizes.profile(k) == profile_of(case.rows(places), k) for k in (2, 3, 4, 5)), case.table


@pytest.mark.exhaustive
@ONE_OF_THREE
def test_entity_profiles_of_every_column_set(cases: list[Case]) -> None:
    for case in cases:
        expected = [entity_profile_of(case.rows(places), case.table.entities, case.k) for places in case.sets]
        profiler = case.profiler(entity="person")
        assert profiler.profiles([mask_of(places) for places in case.sets]) == expected, case.table


def test_entity_sizes_answer_for_every_k(cases: list[Case]) -> None:
    for case in cases:
        places, people = case.sets[-1], case.table.entities
        sizes = case.engine.run(class_sizes(case.engine.dialect, case.source, case.names(places), "person"))
        assert sizes == entity_sizes_of(case.rows(places), people), case.table
        assert all(sizes.profile(k) == entity_profile_of(case.rows(places), people, k) for k in (2, 3, 4, 5))


@pytest.mark.exhaustive
@ONE_OF_THREE
def test_what_contains_a_set_as_fine_as_all_columns_is_not_measured(cases: list[Case]) -> None:
    """With all columns and small sets known first, supersets of some are inferred: the profiles stay the true ones."""
    spared = 0
    for case in cases:
        for rule in ("equal", "person", "wildcard"):
            nulls = Nulls.WILDCARD if rule == "wildcard" else Nulls.EQUAL
            profiler = case.profiler("person" if rule == "person" else None, nulls)
            profiler.profile(profiler.everything)
            for size in range(1, case.table.columns + 1):  # one size after the other, as searches do
                sets = [places for places in case.sets if len(places) == size]
                profiles = profiler.profiles([mask_of(places) for places in sets])
                for places, profile in zip(sets, profiles, strict=True):
                    assert profile == case.true_profile(places, rule), (case.table, places, rule)
            spared += len(case.sets) - profiler.sets
    assert spared > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("many_classes", [0, 10**9], ids=["several sets together", "each set alone"])
def test_sampled_classes_have_exact_sizes(
    cases: list[Case], many_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MANY_CLASSES", many_classes)
    for case in cases:
        sets = [mask_of(places) for places in case.sets]
        if not case.profiler().samples_classes():
            return
        assert case.profiler().sampled(sets, 1) == [profile_of(case.rows(places), case.k) for places in case.sets]
        for places, sample in zip(case.sets, case.profiler().sampled(sets, 3), strict=True):
            rows = case.rows(places)
            sizes = [rows.count(row) for row in set(rows)]
            assert sample.classes <= len(sizes)
            assert {sample.smallest, sample.largest} <= {0, *sizes}
            assert sample.unique_rows <= sizes.count(1)
            assert sample.rows_below_k <= sum(size for size in sizes if size < case.k)
