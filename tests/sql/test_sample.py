"""Samples drawn inside the engine: the same contract on every engine, for tables, views and files."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path

import duckdb
import pytest

from qidsql.core.options import MAX_SEED
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import UnknownName, UsageError
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.classes import class_profiles, class_profiles_in_one_scan, column_counts
from qidsql.sql.relation import Relation, sample, sample_of_entities
from qidsql.sql.templates import Statement
from tests.exhaustive import always, first, pairs
from tests.stores import (
    ONE_ENGINE,
    THREE_ENGINES,
    TWO_ENGINES,
    TWO_OF_THREE,
    DuckDBStore,
    PostgresStore,
    SQLiteStore,
    Store,
)

pytestmark = TWO_OF_THREE

ROWS = 3_000
KINDS = ["t", "v"]  # a table, and a view whose rows an engine makes in any order


def fill(store: Store) -> None:
    """Rows id, a, b; the view has each of them, in no certain order."""
    store.execute(f"CREATE TABLE t AS SELECT id, id % 7 AS a, id % 3 AS b FROM generate_series(1, {ROWS}) AS g(id)")
    store.execute("CREATE VIEW v AS SELECT id, MIN(a) AS a, MAX(b) AS b FROM t GROUP BY id")


def drawn(engine: Engine, table: str, size: int, seed: int, where: str | None = None) -> Relation:
    described = engine.narrowed(engine.describe(table), where)
    return sample(engine.dialect, described, described.columns, size, seed)


def values(engine: Engine, relation: Relation, column: str = "id") -> list[int]:
    sql = f"SELECT {engine.dialect.render(relation.column(column))} FROM {engine.dialect.render(relation.node)}"
    rows: list[tuple[int, ...]] = engine.run(Statement(sql, "sampled rows", list))  # type: ignore[arg-type]
    return sorted(row[0] for row in rows)


@pytest.mark.parametrize("table", KINDS)
def test_a_sample_has_the_size_asked_for_and_no_row_twice(store: Store, table: str) -> None:
    fill(store)
    with store.connect() as engine:
        ids = values(engine, drawn(engine, table, 100, 1))
        assert len(ids) == len(set(ids)) == 100
        assert len(values(engine, drawn(engine, table, ROWS + 1, 1))) == ROWS


@pytest.mark.parametrize("table", first(KINDS))
def test_a_seed_gives_the_same_rows_again_and_another_seed_others(store: Store, table: str) -> None:
    fill(store)
    with store.connect() as engine:
        first = values(engine, drawn(engine, table, 100, 1))
        assert all(values(engine, drawn(engine, table, 100, 1)) == first for _ in range(5))
        common = len(set(first) & set(values(engine, drawn(engine, table, 100, 2))))
    with store.connect() as engine:
        assert values(engine, drawn(engine, table, 100, 1)) == first
    assert common < 20  # 3 are expected


@pytest.mark.parametrize("table", KINDS)
def test_a_smaller_sample_is_part_of_a_larger_one(store: Store, table: str) -> None:
    fill(store)
    with store.connect() as engine:
        assert set(values(engine, drawn(engine, table, 50, 9))) < set(values(engine, drawn(engine, table, 200, 9)))


@TWO_ENGINES
@pytest.mark.parametrize("table", KINDS)
def test_the_condition_comes_before_the_sample(store: Store, table: str) -> None:
    fill(store)
    with store.connect() as engine:
        ids = values(engine, drawn(engine, table, 100, 1, "b = 1 AND id <= 1500"))
        assert len(ids) == 100
        assert all(number % 3 == 1 and number <= 1500 for number in ids)
        assert len(values(engine, drawn(engine, table, 100, 1, "id <= 60"))) == 60
        with pytest.raises(UnknownName):
            drawn(engine, table, 100, 1, "nope = 1")


@TWO_ENGINES
@pytest.mark.parametrize("table", KINDS)
def test_every_statement_sees_the_same_sample(store: Store, table: str) -> None:
    """Whatever columns it reads, and however it groups them."""
    fill(store)
    with store.connect() as engine:
        source = drawn(engine, table, 200, 5)
        ids = values(engine, source)
        columns: Sequence[tuple[str, ...]] = [("a",), ("b",), ("a", "b"), ("id",), ("id", "b")]
        together = engine.run(class_profiles(engine.dialect, source, columns, 5))
        assert engine.run(class_profiles_in_one_scan(engine.dialect, source, columns, 5)) == together
        for names, profile in zip(columns, together, strict=True):
            sizes = Counter(tuple({"a": i % 7, "b": i % 3, "id": i}[name] for name in names) for i in ids)
            assert profile.rows == 200
            assert profile.classes == len(sizes)
            assert profile.colliding_pairs == sum(size * (size - 1) for size in sizes.values())
            assert engine.run(class_profiles(engine.dialect, source, [names], 5)) == [profile]
        assert engine.run(column_counts(engine.dialect, source, ("a",))) == (200, (0,))


@pytest.mark.exhaustive
@ONE_ENGINE
@TWO_ENGINES
@pytest.mark.parametrize(("table", "where"), pairs(KINDS, [None, "b = 0"]))
@pytest.mark.parametrize("seeds", always(25, longer=[150]))
def test_samples_are_uniform(store: Store, table: str, where: str | None, seeds: int) -> None:
    """Rows in tenths of the table, and neighbouring rows together: both as often as chance has it."""
    fill(store)
    tenths: Counter[int] = Counter()
    neighbours, size = 0, 100
    with store.connect() as engine:
        for seed in range(seeds):
            ids = values(engine, drawn(engine, table, size, seed, where))
            tenths.update((number - 1) * 10 // ROWS for number in ids)
            step = 3 if where else 1
            neighbours += sum(after - before == step for before, after in pairwise(ids))
    rows = ROWS // 3 if where else ROWS
    expected = seeds * size / 10
    chi_square = sum((tenths[tenth] - expected) ** 2 / expected for tenth in range(10)) / (1 - size / rows)
    assert chi_square < 33.7  # 9 degrees of freedom: once in 10,000
    adjacent = seeds * size * (size - 1) / rows
    assert abs(neighbours - adjacent) < 4 * adjacent**0.5


@pytest.mark.exhaustive
@pytest.mark.parametrize("table", KINDS)
@pytest.mark.parametrize("seeds", always(12, longer=[25]))
def test_samples_of_different_seeds_share_rows_by_chance_only(store: Store, table: str, seeds: int) -> None:
    """Orders that were shifted copies of each other would make samples that share all of some rows, or none."""
    fill(store)
    with store.connect() as engine:
        samples = [set(values(engine, drawn(engine, table, 300, seed))) for seed in range(seeds)]
    shared = [len(one & other) for one, other in combinations(samples, 2)]
    assert 10 <= min(shared) <= max(shared) <= 55  # 30 are expected, with a deviation of 5


@pytest.mark.parametrize("seeds", always(25, longer=[60]))
def test_copies_of_a_row_in_a_view_are_drawn_one_by_one(store: Store, seeds: int) -> None:
    store.execute("CREATE TABLE t AS SELECT id % 20 AS a FROM generate_series(1, 400) AS g(id)")
    store.execute("CREATE VIEW v AS SELECT a FROM t")
    counts: Counter[int] = Counter()
    with store.connect() as engine:
        for seed in range(seeds):
            found = values(engine, drawn(engine, "v", 40, seed), "a")
            assert len(found) == 40
            counts.update(Counter(found).values())
            assert max(Counter(found).values()) < 12  # all 20 copies of two values, were copies drawn together
    assert len(counts) >= 4


@TWO_ENGINES
def test_a_profiler_over_a_sample_asks_many_sets_at_once(store: Store) -> None:
    fill(store)
    with store.connect() as engine:
        full = profiler_for(engine, drawn(engine, "t", ROWS, 1), ["id", "a", "b"], 5)
        asked = engine.statements
        profiles = full.over(drawn(engine, "t", 300, 1), 300).profiles(range(1, 8))
        assert engine.statements - asked == 1
    assert [profile.rows for profile in profiles] == [300] * 7
    assert profiles[0].classes == 300


def test_odd_names_nulls_and_texts_survive(store: Store) -> None:
    columns = {'we"ird; drop': "VARCHAR(9)", "row_hash": "INTEGER", "copy": "INTEGER", "c0": "INTEGER"}
    store.table("odd", columns, [("x", 1, None, 2), (None, 1, None, 3), ("", 1, None, 3)])
    store.execute('CREATE VIEW "odd view" AS SELECT * FROM odd')
    with store.connect() as engine:
        for name in ("odd", '"odd view"'):
            profiles = engine.run(class_profiles(engine.dialect, drawn(engine, name, 3, 0), [(c,) for c in columns], 2))
            assert [profile.classes for profile in profiles] == [3, 1, 1, 2]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_are_sampled_too(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    duckdb.execute(f"COPY (SELECT id, id % 7 AS a FROM range(5000) AS g(id)) TO '{path}'")
    with connect(str(path)) as engine:
        ids = values(engine, drawn(engine, "t", 100, 3))
        assert len(set(ids)) == 100
        assert all(values(engine, drawn(engine, "t", 100, 3)) == ids for _ in range(3))
        assert values(engine, drawn(engine, "t", 100, 4)) != ids


def test_a_column_named_like_the_hidden_row_number(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t AS SELECT 1 AS RowID, id FROM range(500) AS g(id)")
    with duckdb_store.connect() as engine:
        assert engine.describe("t").row_address == ()
        assert len(set(values(engine, drawn(engine, "t", 50, 1)))) == 50


def test_partitions_and_materialized_views(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE p (id integer, part integer) PARTITION BY LIST (part)")
    for part in range(4):
        postgres_store.execute(f"CREATE TABLE p{part} PARTITION OF p FOR VALUES IN ({part})")
    postgres_store.execute("INSERT INTO p SELECT id, id % 4 FROM generate_series(1, 2000) AS g(id)")
    postgres_store.execute("CREATE MATERIALIZED VIEW m AS SELECT id FROM p")
    with postgres_store.connect() as engine:
        ids = values(engine, drawn(engine, "p", 200, 1))
        assert len(set(ids)) == 200
        parts = Counter(number % 4 for number in ids)
        assert all(20 < parts[part] < 80 for part in range(4))
        # Rows at the same place of two partitions are not drawn together: 30 partners by chance, else 150.
        assert sum((number - 1) // 4 == (other - 1) // 4 for number, other in pairwise(ids)) < 50
        assert len(set(values(engine, drawn(engine, "m", 200, 1)))) == 200


@TWO_ENGINES
def test_a_condition_on_a_column_that_is_not_audited(store: Store) -> None:
    fill(store)
    with store.connect() as engine:
        for name in KINDS:
            table = engine.narrowed(engine.describe(name), "b = 1")
            source = sample(engine.dialect, table, table.resolve(["a"]), 100, 1)
            assert engine.run(column_counts(engine.dialect, source, ("a",))) == (100, (0,))


@pytest.mark.parametrize(("size", "seed"), [(0, 1), (1, -1), (1, MAX_SEED)])
def test_impossible_sizes_and_seeds_are_refused(duckdb_store: DuckDBStore, size: int, seed: int) -> None:
    fill(duckdb_store)
    with duckdb_store.connect() as engine, pytest.raises(UsageError):
        drawn(engine, "t", size, seed)


def test_more_columns_than_grouping_takes(store: Store) -> None:
    names = {f"c{place}": "INTEGER" for place in range(70)}
    store.table("t", names, [tuple(row >> place % 5 & 1 for place in range(70)) for row in range(40)])
    with store.connect() as engine:
        profiler = profiler_for(engine, drawn(engine, "t", 30, 1), list(names), 5)
        everything = profiler.everything
        masks = [everything, everything ^ 1, *(0b11111 | 1 << place for place in range(5, 70)), 1 << 69]
        profiles = profiler.profiles(masks)
        alone = [profiler_for(engine, drawn(engine, "t", 30, 1), list(names), 5).profile(mask) for mask in masks[::8]]
    assert profiles[::8] == alone
    assert len({profile.classes for profile in profiles}) == 2


def of_entities(engine: Engine, size: int, seed: int, where: str | None = None) -> list[int]:
    """The entities drawn, each with its own value of the column."""
    table = engine.narrowed(engine.describe("visits"), where)
    column, entity = table.resolve(["a", "person"])
    drawn = sample_of_entities(engine.dialect, table, [column], entity, size, seed)
    people, values_of_a = (values(engine, drawn, name) for name in ("person", "a"))
    assert values_of_a == sorted(person % 7 for person in people)
    return people


@THREE_ENGINES  # with a condition
def test_a_sample_of_entities_has_each_one_once(store: Store) -> None:
    store.execute(
        f"CREATE TABLE visits AS SELECT id % 500 AS person, id % 500 % 7 AS a FROM generate_series(1, {ROWS}) AS g(id)"
    )
    with store.connect() as engine:
        first = of_entities(engine, 100, 1)
        assert len(set(first)) == len(first) == 100
        assert of_entities(engine, 100, 1) == first
        assert len(set(first) & set(of_entities(engine, 100, 2))) < 50
        assert of_entities(engine, 600, 1) == list(range(500))
        if not isinstance(store, SQLiteStore):  # which takes no condition
            assert of_entities(engine, 600, 1, "person < 9") == list(range(9))
