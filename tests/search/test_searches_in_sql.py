"""The exact searches through SQL on real engines: wide tables, hostile names, budgets, the reference figures."""

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, starmap
from pathlib import Path
from random import Random

import duckdb
import pytest

from qidsql.core.tables import positions
from qidsql.engines.base import Engine
from qidsql.measures.criteria import Criterion, Distinct, Key, Separation
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.knowledge import Budget
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree
from qidsql.search.borders import borders
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.smallest import minimum
from qidsql.sql.relation import relation
from tests.exhaustive import first
from tests.search.tables import K, class_sizes
from tests.stores import EVERY_ENGINE, ONE_ENGINE, ONE_OF_THREE, TWO_ENGINES, DuckDBStore, Store, quoted

pytestmark = EVERY_ENGINE


def profiler_of(engine: Engine, table: str, **options: object) -> TableProfiler:
    described = engine.describe(table)
    source = relation(engine.dialect, described, described.columns)
    names = [column.name for column in described.columns]
    return profiler_for(engine, source, names, K, rows=described.estimated_rows, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", first([63, 64, 130]))
def test_masks_of_more_columns_than_one_integer_holds(store: Store, width: int) -> None:
    """A ring of columns: row i has another value than most in columns i and i + 1 only."""
    rows = [tuple(1 if place in (row, (row + 1) % width) else 0 for place in range(width)) for row in range(width)]
    store.table("ring", {f"c{place}": "INTEGER" for place in range(width)}, rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "ring")
        [whole] = PairsThatAgree(profiler, max_pairs=width * width, max_masks=10**6).agreeing([0])
        assert whole.pairs == width * (width - 1)
        bits = [1 << place for place in range(width)]
        rings = [bits[row] | bits[(row + 1) % width] for row in range(width)]
        assert set(whole.masks) == {a ^ b for a in rings for b in rings if a != b}
        [some] = PairsThatAgree(profiler, max_pairs=2).agreeing([1])
        assert not some.complete
        assert some.masks
        assert not any(mask & 1 for mask in some.masks)


@pytest.mark.parametrize("width", first([64, 130]))
def test_a_key_whose_columns_lie_in_different_lanes(store: Store, width: int) -> None:
    rows = [(row // 8, *[0] * (width - 2), row % 8) for row in range(64)]
    store.table("wide", {f"c{place}": "INTEGER" for place in range(width)}, rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "wide")
        result = minimal_keys(profiler, PairsThatAgree(profiler, max_pairs=2))
        smallest = minimum(profiler, Key(), PairsThatAgree(profiler, max_pairs=2))
    assert [each.mask for each in result.found] == [1 | 1 << width - 1]
    assert (smallest.cost, smallest.optimal) == (2, True)


def test_null_equals_null_in_a_mask(store: Store) -> None:
    store.table("n", {"a": "INTEGER", "b": "VARCHAR(9)"}, [(None, "x"), (None, None), (1, None)])
    with store.connect() as engine:
        [none, a, b, both] = PairsThatAgree(profiler_of(engine, "n")).agreeing([0, 1, 2, 3])
    assert set(none.masks) == {0b01, 0b10, 0b11}
    assert (a.pairs, a.masks, b.pairs, b.masks) == (2, (0b10,), 2, (0b01,))
    assert (both.pairs, both.masks, both.complete) == (0, (), True)


def test_hostile_names(store: Store) -> None:
    names = ['we"ird; drop', "order", "the part 0: columns", "c0", "s0", "lane0", "class_number", "place", ":rest"]
    rows = [(1, 1, 1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1, 1, 2), (1, 1, 1, 2, 1, 1, 1, 1, 2)]
    store.table("h", dict.fromkeys(names, "INTEGER"), rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "h")
        result = minimal_keys(profiler, PairsThatAgree(profiler))
    assert [each.mask for each in result.found] == [1 << 3 | 1 << 8]


UNORDERED = {  # types that cannot be sorted, or not even compared
    "duckdb": ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "INTERVAL"],
    "postgres": ["XID", "CID", "POINT", "JSON", "TID"],
}
VALUES = {
    "INTEGER[]": "[{0}]",
    "STRUCT(a INTEGER)": "{{'a': {0}}}",
    "INTERVAL": "{0} days",
    "POINT": "({0},1)",
    "JSON": "[{0}]",
    "TID": "(0,{0})",
}


@TWO_ENGINES
def test_keys_of_columns_without_an_order(store: Store) -> None:
    types = UNORDERED[store.name]
    for number, kind in enumerate(types):
        text = VALUES.get(kind, "{0}")
        cells = [None if i == 3 else text.format(i % 4) for i in range(12)]
        store.execute(f"CREATE TABLE t{number} (a {kind}, b INTEGER)")
        for place, cell in enumerate(cells):
            value = "NULL" if cell is None else f"CAST('{cell}' AS {kind})" if kind != "STRUCT(a INTEGER)" else cell
            value = cell if kind == "INTEGER[]" and cell is not None else value
            store.execute(f"INSERT INTO t{number} VALUES ({value}, {place // 4})")
    with store.connect() as engine:
        for number, kind in enumerate(types):
            profiler = profiler_of(engine, f"t{number}")
            result = minimal_keys(profiler, PairsThatAgree(profiler, max_pairs=2))
            assert [each.mask for each in result.found] == [0b11], kind
            answers = PairsThatAgree(profiler).agreeing([0b01, 0b10])
            assert [set(each.masks) for each in answers] == [{0b10}, {0b01}], kind


@TWO_ENGINES
def test_a_table_and_a_condition_named_like_the_marks_of_the_statement(store: Store) -> None:
    """The statement is put together around marks; names that look the same are the user's."""
    name, column = 'the part 0: agree" the part 1: lanes', "the part 0: columns"
    rows = [(1, 1, 1), (1, 2, 1), (2, 2, 1)]
    store.table(name, {column: "INTEGER", "the part 1: rest": "INTEGER", "c": "INTEGER"}, rows)
    with store.connect() as engine:
        described = engine.narrowed(engine.describe(quoted(name)), f'"{column}" > 0')
        source = relation(engine.dialect, described, described.columns)
        profiler = profiler_for(engine, source, [each.name for each in described.columns], K)
        result = minimal_keys(profiler, PairsThatAgree(profiler))
    assert [each.mask for each in result.found] == [0b011]


def difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The columns in which two rows differ, as a mask."""
    return sum(1 << place for place, (x, y) in enumerate(zip(one, other, strict=True)) if x != y)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_many_pairs_are_looked_at_in_part_and_every_mask_is_true(store: Store) -> None:
    """Of more pairs than asked for, some: at least one, and none that is not there."""
    random = Random(5)
    rows = [(random.randrange(3), random.randrange(2), *(random.randrange(9) for _ in range(3))) for _ in range(600)]
    store.table("t", dict.fromkeys("abcde", "INTEGER"), rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "t")
        sets = [0, 0b1, 0b11, 0b110, 0b111]
        masks = set(starmap(difference, combinations(rows, 2)))
        for max_pairs in (2, 50, 3_000):
            for agree, answer in zip(sets, PairsThatAgree(profiler, max_pairs).agreeing(sets), strict=True):
                classes = class_sizes(rows, agree)
                assert answer.pairs == sum(size * (size - 1) for size in classes)
                assert answer.complete == (answer.pairs <= max_pairs)
                every = {mask for mask in masks if not mask & agree}
                assert answer.masks
                assert set(answer.masks) <= every
                assert not answer.complete or set(answer.masks) == every


def test_long_values_are_compared_by_hashes_that_tell_them_apart(store: Store) -> None:
    texts = [f"a text longer than a pointer, number {number}" for number in range(40)]
    rows = [(texts[i % 40], texts[i // 40], None if i % 3 else texts[0], i % 2) for i in range(160)]
    store.table("t", {"a": "TEXT", "b": "TEXT", "c": "TEXT", "d": "INTEGER"}, rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "t")
        masks = PairsThatAgree(profiler)
        plain = masks.agreeing([0, 0b1, 0b100, 0b1000])
        masks._hashed = None  # as for a large table
        hashed = masks.agreeing([0, 0b1, 0b100, 0b1000])
        assert masks._hashed == (frozenset("abc") if engine.dialect.hashes_values else frozenset())
    assert [(each.pairs, set(each.masks)) for each in plain] == [(each.pairs, set(each.masks)) for each in hashed]


def test_the_rows_of_a_large_table_are_told_apart_by_their_hashes(store: Store) -> None:
    store.table("t", dict.fromkeys("ab", "INTEGER"), [(i % 7, i // 7) for i in range(70)])
    store.table("twice", dict.fromkeys("ab", "INTEGER"), [(i % 7, i % 5) for i in range(70)])
    with store.connect() as engine:
        for table in ("t", "twice"):
            expected = profiler_of(engine, table).profile(0b11)
            profiler = profiler_of(engine, table)
            profiler.rows = 10**7  # as if it were large
            before = engine.statements
            assert profiler.profile(0b11) == expected
            by_hash = engine.dialect.hashes_values
            assert engine.statements - before == (2 if by_hash and table == "twice" else 1)


@pytest.mark.exhaustive
@ONE_OF_THREE
def test_keys_beyond_counting_some_are_found_and_proved(store: Store) -> None:
    """100 independent columns of 2 to 4 values: the minimal keys cannot be listed, some of them can."""
    random = Random(6)
    rows = [tuple(random.randrange(2 + place % 3) for place in range(100)) for _ in range(200)]
    store.table("t", {f"c{place}": "SMALLINT" for place in range(100)}, rows)
    with store.connect() as engine:
        for seconds in (1, 10, 100):  # what is found in a time depends on the machine
            profiler = profiler_of(engine, "t", budget=Budget(max_seconds=seconds))
            result = minimal_keys(profiler, PairsThatAgree(profiler, max_masks=5_000))
            if result.found:
                break
    assert result.stopped is not None
    assert not result.complete
    assert result.found
    assert 3 <= result.complete_to_size < min(each.size for each in result.found)  # 4 ** 3 < 200 rows
    for each in result.found:
        assert max(class_sizes(rows, each.mask)) == 1
        assert all(max(class_sizes(rows, each.mask ^ 1 << place)) > 1 for place in positions(each.mask))


def test_a_spent_budget_ends_a_key_search(store: Store) -> None:
    rows = [(i % 5, i // 5 % 5, i // 25, i % 7) for i in range(100)]
    store.table("t", dict.fromkeys("abcd", "INTEGER"), rows)
    with store.connect() as engine:
        profiler = profiler_of(engine, "t", budget=Budget(max_statements=3))
        result = minimal_keys(profiler, PairsThatAgree(profiler, max_pairs=10))
    assert result.stopped is not None
    assert not result.complete


def test_entities_are_refused(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "person": "INTEGER"}, [(1, 1)])
    with store.connect() as engine, pytest.raises(ValueError, match="entities"):
        PairsThatAgree(profiler_of(engine, "t", entity="person"))


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


@pytest.mark.exhaustive
@ONE_ENGINE
def test_adult_has_two_minimal_keys_of_13_columns(adult: Store) -> None:
    with adult.connect() as engine:
        profiler = profiler_of(engine, "adult")
        result = minimal_keys(profiler, PairsThatAgree(profiler))
        assert engine.statements <= 15
        assert [each.size for each in result.found] == [13, 13]
        assert result.complete
        before = engine.statements
        smallest = minimum(profiler, Key(), PairsThatAgree(profiler))
        assert engine.statements - before <= 10
    assert (smallest.cost, smallest.optimal, smallest.lower_bound) == (13, True, 13)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("criterion", "figure"),
    [
        (Distinct(Fraction(9, 10)), "quasi_0_9_distinct"),
        pytest.param(Separation(Fraction(999, 1000)), "quasi_0_999_separation", marks=pytest.mark.exhaustive),
    ],
)
@ONE_ENGINE
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
