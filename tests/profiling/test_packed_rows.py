"""Packed rows: the same profiles as from the columns, from integers that are gone with the answer."""

import hashlib
from itertools import permutations
from random import Random

import pytest

import qidsql as house
from qidsql.engines.base import Engine
from qidsql.profiling import batches, rows_in_memory
from qidsql.profiling import samples as row_pairs
from qidsql.profiling.batches import packed_rows
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import column_counts
from qidsql.sql.relation import relation
from qidsql.sql.row_codes import Lanes, PackedRows
from qidsql.sql.row_pairs import agreeing_packed
from tests.definitions import mask_of, profile_of, projected, subsets
from tests.exhaustive import always
from tests.random_tables import KINDS, RandomTable, load, random_table
from tests.stores import DuckDBStore

K = 3
TEXTS = {"a": "VARCHAR", "b": "VARCHAR", "c": "INTEGER"}
ROWS = [(f"a{n % 7}" if n % 5 else None, f"b{n % 11}", n % 13) for n in range(300)]


def profiler_of(engine: Engine, table: str, names: list[str]) -> TableProfiler:
    described = engine.describe(table)
    profiler = profiler_for(engine, relation(engine.dialect, described, described.columns), names, K)
    profiler.singles()
    return profiler


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are packed however few they are, and soon."""
    monkeypatch.setattr(batches, "LEAST_ROWS_TOGETHER", 1)
    monkeypatch.setattr(rows_in_memory, "SCANS", 1)


@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 40)))
def test_profiles_are_those_of_the_definitions(duckdb_store: DuckDBStore, small: None, seed: int) -> None:
    table = random_table(seed, duckdb_store.name)
    load(duckdb_store, [table])
    sets = list(subsets(table.columns))
    with duckdb_store.connect() as engine, engine.answer():
        packed = packed_rows(profiler_of(engine, table.name, list(table.names)))
        if not table.rows:
            assert packed is None
            return
        assert packed is not None
        found = engine.run(packed.profiles(engine.dialect, [mask_of(places) for places in sets], K))
    assert found == [profile_of(projected(table.rows, places), K) for places in sets], table


def test_every_kind_of_value_has_a_code_of_its_own(duckdb_store: DuckDBStore, small: None) -> None:
    tables = []
    for number, (kind, pool) in enumerate(KINDS.items()):
        cells = [(text, token) for text, token in pool] + [(None, None)] * 2
        rows = tuple((token,) for _, token in cells)
        tables.append(RandomTable(f"k{number}", (kind, "INTEGER"), tuple((text, "1") for text, _ in cells), rows))
    load(duckdb_store, tables)
    with duckdb_store.connect() as engine, engine.answer():
        for table in tables:
            packed = packed_rows(profiler_of(engine, table.name, list(table.names)))
            assert packed is not None, table.types
            assert engine.run(packed.profiles(engine.dialect, [1], K)) == [profile_of(table.rows, K)], table.types


def test_a_column_wider_than_what_is_left_of_a_word_begins_the_next() -> None:
    found = Lanes.of(("a", "b", "c", "d"), [2**40, 2**30, 1, 2], guarded=True)
    assert [(lane.word, lane.start, lane.width) for lane in found.lanes] == [
        (0, 0, 40),
        (1, 0, 30),
        (0, 43, 1),
        (0, 41, 1),
    ]
    assert found.bits(0b1011) == {0: 2**41 + 2**40 - 1, 1: 2**30 - 1}
    assert found.narrowed(("d", "a")).bits(0b01) == {0: 2**41}
    assert [lane.start for lane in Lanes.of(found.names, found.classes).lanes] == [0, 0, 41, 40]
    assert found.guards == [2**44 + 2**42 + 2**40, 2**30]


@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 40)))
def test_masks_are_those_of_the_pairs_that_agree(duckdb_store: DuckDBStore, small: None, seed: int) -> None:
    """Of all pairs where they are few; else of some, and it is told that there are more."""
    table = random_table(seed, duckdb_store.name)
    load(duckdb_store, [table])
    rows, places = table.rows, range(table.columns)
    with duckdb_store.connect() as engine, engine.answer():
        profiler = profiler_of(engine, table.name, list(table.names))
        packed = packed_rows(profiler, guarded=True)
        assert (packed is None) is (not rows)
        for agree in ((), *subsets(table.columns)) if packed else ():
            pairs = [(a, b) for a, b in permutations(rows, 2) if all(a[place] == b[place] for place in agree)]
            masks = {mask_of([place for place in places if a[place] != b[place]]) for a, b in pairs}
            for most in (1000, 3):
                asked = agreeing_packed(engine.dialect, packed, mask_of(agree), len(rows), most, 1000)
                number, found = engine.run(asked)
                assert number == min(len(pairs), most + 1)
                assert len(found) == len(set(found))
                assert set(found) == masks if number <= most else found and set(found) <= masks, (table, agree)


@pytest.mark.parametrize("seed", always(0, longer=range(1, 40)))
def test_the_minimal_keys_are_those_of_the_definition(
    duckdb_store: DuckDBStore, small: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """From packed rows, all at once or a few pairs at a time."""
    random = Random(seed)
    monkeypatch.setattr(row_pairs, "FEW", 1)
    monkeypatch.setattr(row_pairs, "PAIRS_PER_ROW", random.choice([1, 2, 1000]))
    columns = random.randint(2, 6)
    rows = [tuple(random.randint(0, random.choice([1, 3, 9])) for _ in range(columns)) for _ in range(24)]
    rows = [*dict.fromkeys(rows)]
    names = [f"c{place}" for place in range(columns)]
    duckdb_store.table("t", dict.fromkeys(names, "INTEGER"), rows)
    sent: list[str] = []
    with duckdb_store.connect() as engine:
        engine.watchers.append(lambda statement: sent.append(statement.sql))
        result = house.keys(engine, "t", all=True)
    keys = [set(places) for places in subsets(columns) if len(set(projected(rows, places))) == len(rows)]
    minimal = {tuple(sorted(key)) for key in keys if not any(other < key for other in keys)}
    assert result.complete
    assert {tuple(names.index(name) for name in found.columns) for found in result.column_sets} == minimal
    assert any("AS a\n" in sql or " AS a JOIN " in sql for sql in sent), "rows were compared as words"


def test_codes_that_are_too_large_for_their_lane_show(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", TEXTS, ROWS)
    with duckdb_store.connect() as engine, engine.answer():
        source = profiler_of(engine, "t", ["a", "b"]).source
        words = []
        for classes in ([8, 11], [7, 11], [8, 10]):
            found = Lanes.of(("a", "b"), classes)
            name = engine.hold(found.query(engine.dialect, source), "packed rows")
            assert name is not None
            held = PackedRows(name, found)
            words.append(engine.run(column_counts(engine.dialect, held.relation, ("w0",))))
    assert words[0] == (300, (0,))
    assert min(nulls for _, (nulls,) in words[1:]) > 0


def test_a_search_uses_them_and_leaves_nothing(duckdb_store: DuckDBStore, small: None) -> None:
    duckdb_store.table("t", TEXTS, ROWS)
    before = hashlib.sha256(duckdb_store.path.read_bytes()).digest()
    with duckdb_store.connect() as engine:
        sent: list[str] = []
        engine.watchers.append(lambda statement: sent.append(statement.sql))
        for _ in range(2):  # as many answers as wanted
            result = house.keys(engine, "t", all=True, distinct="0.3", algorithm="levelwise")
            assert result.complete
            assert result.account.bytes_read is not None  # also of statements on packed rows
            assert engine.table_names() == [engine.describe("t").name]
        masked = house.protect(engine, "t", distinct="0.3", by="columns")
        assert engine._connection.execute("SELECT COUNT(*) FROM duckdb_tables()").fetchall() == [(1,)]  # type: ignore[attr-defined]
    made = [sql for sql in sent if sql.startswith("CREATE TABLE")]
    assert len(made) >= 2
    assert any('FROM "store_held"' in sql and "GROUP BY relation.w0 &" in sql for sql in sent)
    assert hashlib.sha256(duckdb_store.path.read_bytes()).digest() == before
    assert masked.published
