"""Rows that prove column sets to have a small class, beside the sizes of all classes of all column sets."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest

from qidsql.commands.protect.columns.columns import columns as masking
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.commands.table_search import TableSearch
from qidsql.core.policy import Policy
from qidsql.measures.criteria import RowsBelowK, Violates
from qidsql.profiling import samples as witnesses_of_tables
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.samples import rarest_rows
from qidsql.protection.masking import exact_masking
from qidsql.search.smallest import Witnesses
from qidsql.sql.matching_rows import witness_rows
from qidsql.sql.relation import relation
from tests.exhaustive import always
from tests.search.tables import MemoryProfiler, Row, class_sizes, fill, random_table
from tests.stores import TWO_OF_THREE, Store

TABLES = {"duckdb": 15, "postgres": 8, "sqlite": 15, "spark": 4}
MANY = 10_000


def differing(rows: Sequence[Row], one: Row) -> dict[int, int]:
    """{mask: rows that differ from this one in exactly these columns}."""
    return Counter(
        sum(1 << place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b) for other in rows
    )


def small_classes(rows: Sequence[Row], k: int) -> list[Row]:
    """The rows of classes below k, once each, those with the rarest values first."""
    sizes = Counter(rows)
    common = [Counter(column) for column in zip(*rows, strict=True)]
    small = [row for row in sizes if sizes[row] < k]
    return sorted(small, key=lambda row: sum(counts[value] for counts, value in zip(common, row, strict=True)))


def below(rows: Sequence[Row], columns: int, k: int) -> bool:
    return any(size < k for size in class_sizes(rows, columns))


def column_sets(rows: Sequence[Row]) -> range:
    return range(1, 1 << len(rows[0]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, longer=range(1, 15)))
@TWO_OF_THREE
def test_the_witnesses_of_random_tables(store: Store, seed: int) -> None:
    random = Random(seed)
    tables = [rows for rows in (random_table(random) for _ in range(TABLES[store.name])) if rows]
    fill(store, tables)
    with store.connect() as engine:
        for number, rows in enumerate(tables):
            k, few = random.randint(2, 6), random.randint(1, 5)
            table = engine.describe(f"t{number}")
            source, names = relation(engine.dialect, table, table.columns), tuple(c.name for c in table.columns)

            def asked(most_witnesses: int, most: int = MANY) -> list[dict[int, int]]:
                return engine.run(witness_rows(engine.dialect, source, names, k, most_witnesses, most))  # noqa: B023

            every, some = asked(MANY), asked(few)
            small = small_classes(rows, k)
            assert sorted(map(sorted, (each.items() for each in every))) == sorted(
                sorted(differing(rows, row).items()) for row in small
            )
            masks = sum(map(len, every))
            assert asked(MANY, masks + 1) == every
            assert not asked(MANY, masks)  # a row of the result may be missing: no class size is known
            assert some == every[: len(some)]
            assert len(some) == min(few, len(small))
            everyone, chosen = (Witnesses(lambda found=found: found, len(names), k, 0) for found in (every, some))
            for columns in column_sets(rows):
                violates = below(rows, columns, k)
                assert everyone.prove(columns) is violates  # a small class consists of smaller ones: none is missing
                assert violates or not chosen.prove(columns)


@TWO_OF_THREE
def test_the_witnesses_have_the_rarest_values(store: Store) -> None:
    rows: list[Row] = [(1, 1), (1, 1), (1, 2), (2, 1), (None, 3), (None, 1), (1, 4)]
    fill(store, [rows])
    with store.connect() as engine:
        table = engine.describe("t0")
        source, names = relation(engine.dialect, table, table.columns), tuple(c.name for c in table.columns)
        found = engine.run(witness_rows(engine.dialect, source, names, 2, 2, MANY))
    # (NULL, 3) has values of 2 + 1 rows, and the next, (1, 2) and (1, 4), of 4 + 1, as (2, 1) of 1 + 4
    assert found[0] == differing(rows, (None, 3))
    assert found[1] in [differing(rows, row) for row in ((1, 2), (1, 4), (2, 1))]


@pytest.mark.engines("sqlite")
def test_values_that_a_collation_merges_are_different(store: Store) -> None:
    store.execute("CREATE TABLE t (a TEXT COLLATE NOCASE, b INTEGER)")
    store.execute("INSERT INTO t VALUES (?, ?)", [("x", 1), ("X", 1), ("x", 1), ("x", 2), ("X", 2), ("x", 2)])
    with store.connect() as engine:
        table = engine.describe("t")
        found = engine.run(
            witness_rows(engine.dialect, relation(engine.dialect, table, table.columns), ("a", "b"), 2, 9, MANY)
        )
    assert found == [{0: 1, 1: 2, 2: 1, 3: 2}] * 2


def in_memory(rows: Sequence[Row], k: int, number: int) -> Callable[[], list[dict[int, int]]]:
    return lambda: [differing(rows, row) for row in small_classes(rows, k)[:number]]


@pytest.mark.parametrize("seed", always(*range(3), longer=range(3, 60)))
def test_masking_returns_the_same_with_witnesses(seed: int) -> None:
    assert list(saved_by_witnesses(Random(seed), 40))  # each table is checked on the way


def test_witnesses_save_measurements() -> None:
    assert sum(saved_by_witnesses(Random(0), 120)) > 0


def saved_by_witnesses(random: Random, tables: int) -> Iterator[int]:
    """For each table the sets that the search measures without witnesses less those with them, its answers checked."""
    for _ in range(tables):
        rows = random_table(random)
        if not rows:
            continue
        k, width = random.randint(2, 6), len(rows[0])
        weights = random.choice([None, [random.randint(1, 5) for _ in range(width)]])
        number, patience = random.randint(1, 8), random.choice([0, 0, 5])
        plain, helped = MemoryProfiler(rows, width, k), MemoryProfiler(rows, width, k)

        def witnesses() -> Witnesses:
            return Witnesses(in_memory(rows, k, number), width, k, patience)  # noqa: B023

        plans = (
            exact_masking(plain, Violates(k), weights),
            exact_masking(helped, Violates(k), weights, witnesses()),
        )
        assert plans[0].weight == plans[1].weight
        assert all(plan.optimal for plan in plans)
        assert all(below(rows, met, k) for met in plans[1].met)
        yield len(plain.asked) - len(helped.asked)


COLUMNS = [f"c{place}" for place in range(9)]


def duplicated(store: Store) -> None:
    """A table of four rows a class and more, but for a few."""
    random = Random(3)
    rows = [tuple(int(4 * random.random() ** 4) for _ in COLUMNS) for _ in range(700)]
    store.table("t", dict.fromkeys(COLUMNS, "INTEGER"), [row for row in rows for _ in range(4)])


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_a_command_reports_the_sets_that_witnesses_decided(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    duplicated(store)
    request = ColumnsRequest("t", violates=5, exact=True)
    with store.connect() as engine:
        helped = masking(engine, request)
        monkeypatch.setattr(TableSearch, "witnesses", lambda search, criterion: None)
        plain = masking(engine, request)
    assert helped.reason == plain.reason
    assert not plain.account.notes
    [note] = helped.account.notes
    assert "witness rows, without measuring them" in note
    assert helped.account.sets_profiled < plain.account.sets_profiled


@pytest.mark.engines("duckdb")
def test_witnesses_are_queried_where_classes_are_few(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [(1, 1), (1, 1), (1, 2), (2, 2), (2, 2), (2, 2)]
    fill(store, [rows, rows[2:], rows[3:]])
    with store.connect() as engine:
        profilers = []
        for number in range(3):
            table = engine.describe(f"t{number}")
            source = relation(engine.dialect, table, table.columns)
            profilers.append(profiler_for(engine, source, ["c0", "c1"], 5))
        found = [rarest_rows(profiler, 3) for profiler in profilers]
        assert [len(each) for each in found] == [2, 1, 0]
        assert not rarest_rows(profilers[1], 1)  # no class is below 1
        monkeypatch.setattr(witnesses_of_tables, "ROWS_PER_CLASS", 3)
        assert not rarest_rows(profilers[0], 3)


@pytest.mark.engines("duckdb")
def test_no_witnesses_where_they_prove_nothing(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "who": "INTEGER"}, [(1, None, 1), (1, 2, 1)])
    with store.connect() as engine:
        for policy in (Policy(entity="who"), Policy(nulls="wildcard")):
            assert TableSearch(engine, "t", policy, {}).witnesses(Violates(2)) is None
        search = TableSearch(engine, "t", Policy(), {})
        assert search.witnesses(RowsBelowK(2, 1)) is None
        assert search.witnesses(Violates(2)) is not None
