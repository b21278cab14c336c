"""`--workspace`: the same answers from a coded copy, which is the engine's own and leaves no trace."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import qidsql as house
from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.errors import StatementError, UsageError
from qidsql.measures.criteria import Key
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import coded
from qidsql.sql.classes import class_sizes
from qidsql.sql.relation import relation
from qidsql.sql.templates import Statement
from tests.commandline import inside
from tests.definitions import entity_profile_of, mask_of, matching_profile_of, profile_of, projected, sizes_of, subsets
from tests.exhaustive import always, first
from tests.random_tables import KINDS, RandomTable, load, random_table
from tests.search.small_tables import CRITERIA, minimal_sets
from tests.stores import ONE_ENGINE, DuckDBStore, PostgresStore, Store

K = 3


def profiler_of(engine: Engine, table: RandomTable, entity: bool = False, nulls: Nulls = Nulls.EQUAL) -> TableProfiler:
    described = engine.describe(table.name)
    source = relation(engine.dialect, described, described.columns)
    return profiler_for(engine, source, table.names, K, "person" if entity else None, nulls=nulls)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 12)))
def test_profiles_by_codes_are_those_of_the_definitions(store: Store, seed: int) -> None:
    table = random_table(seed, store.name)
    sets = list(subsets(table.columns))
    rows = [projected(table.rows, places) for places in sets]
    load(store, [table])
    for entity, nulls, expected in (
        (False, Nulls.EQUAL, [profile_of(each, K) for each in rows]),
        (True, Nulls.EQUAL, [entity_profile_of(each, table.entities, K) for each in rows]),
        (False, Nulls.WILDCARD, [matching_profile_of(each, K) for each in rows]),
    ):
        with store.connect(workspace=True) as engine:
            copy, note = coded(profiler_of(engine, table, entity, nulls))
            found = copy.profiles([mask_of(places) for places in sets])
        if nulls is Nulls.WILDCARD:  # which has no classes
            assert [_risk(profile) for profile in found] == [_risk(profile) for profile in expected], table
        else:
            assert found == expected, table
        assert f" {table.columns + entity} column" in note


def _risk(profile: ClassProfile) -> tuple[int, int, int, int]:
    return profile.rows, profile.smallest, profile.rows_below_k, profile.colliding_pairs


@pytest.mark.exhaustive
@ONE_ENGINE
def test_every_kind_of_value_has_a_code_of_its_own(store: Store) -> None:
    tables = []
    for number, (kind, pool) in enumerate(KINDS.items()):
        cells = [(text, token) for text, token in pool] + [(None, None)] * 2
        rows = tuple((token,) for _, token in cells)
        tables.append(RandomTable(f"k{number}", (kind, "INTEGER"), tuple((text, "1") for text, _ in cells), rows))
    load(store, tables)
    for table in tables:
        with store.connect(workspace=True) as engine:
            copy, _ = coded(profiler_of(engine, table))
            assert copy.profiles([1]) == [profile_of(table.rows, K)], table.types


def test_nested_values_with_nulls_inside_are_told_apart(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES ([1, NULL], {'x': NULL, 'y': 1}), ([1, NULL], {'x': NULL, 'y': 1}), "
        "([NULL], {'x': NULL, 'y': NULL}), ([], {'x': 1, 'y': NULL}), (NULL, NULL)) AS v(list_of, record)"
    )
    with duckdb_store.connect(workspace=True) as engine:
        described = engine.describe("t")
        source = relation(engine.dialect, described, described.columns)
        plain = profiler_for(engine, source, ["list_of", "record"], K)
        expected = plain.profiles([1, 2, 3])
        assert [profile.classes for profile in expected] == [4, 4, 4]
        assert coded(plain)[0].profiles([1, 2, 3]) == expected


def some_rows() -> list[tuple[str | None, ...]]:
    draw = Random(5)
    rows = [tuple(draw.choice([None, "a", "b", "c", "d"][: 2 + place]) for place in range(5)) for _ in range(40)]
    return list(dict.fromkeys(rows))


ROWS = some_rows()
TYPES = dict.fromkeys("abcde", "VARCHAR(3)")


@pytest.fixture
def url(store: Store) -> str:
    store.table("t", TYPES, ROWS)
    return store.url


@pytest.mark.parametrize("algorithm", first(["hitting-sets", "borders", "levelwise", "pruned"]))
def test_keys_with_and_without(url: str, algorithm: str) -> None:
    result = house.keys(url, "t", all=True, algorithm=algorithm, workspace=True)
    plain = house.keys(url, "t", all=True, algorithm=algorithm)
    assert result.column_sets == plain.column_sets
    [key] = [definition for criterion, definition in CRITERIA if isinstance(criterion, Key)]
    found = {sum(1 << "abcde".index(name) for name in each.columns) for each in result.column_sets}
    assert found == set(minimal_sets(ROWS, key))
    [note] = result.account.notes
    assert note.startswith("workspace: 5 columns coded, ")
    assert not plain.account.notes


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_other_searches_with_and_without(url: str) -> None:
    questions: list[dict[str, Any]] = [
        {"distinct": "0.7"},
        {"violates": 3, "where": "a IS NOT NULL"},
        {"separation": "0.9", "nulls": "wildcard"},
    ]
    for options in questions:
        first, second = (house.keys(url, "t", all=True, workspace=way, **options) for way in (False, True))
        assert first.column_sets == second.column_sets != ()
        assert first.profile == second.profile
    sampled = [house.keys(url, "t", epsilon=0.2, seed=3, workspace=way) for way in (False, True)]
    assert sampled[0].column_sets == sampled[1].column_sets != ()
    masked = [house.protect(url, "t", distinct="0.5", exact=True, workspace=way, by="columns") for way in (False, True)]
    assert masked[0].published == masked[1].published != ()
    assert masked[0].script == masked[1].script
    assert masked[0].profile == masked[1].profile
    audited = [house.audit(url, "t", k=3, workspace=way) for way in (False, True)]
    assert audited[0].columns == audited[1].columns
    assert audited[0].searches == audited[1].searches
    assert [len(result.account.notes) for result in audited] == [0, 1]


def test_it_keeps_to_the_budget(url: str) -> None:
    result = house.keys(url, "t", workspace=True, max_statements=1)
    assert result.verdict == "inconclusive"
    assert result.account.statements == 1
    assert result.column_sets == ()


def test_one_copy_per_engine_and_only_where_it_was_asked_for(store: Store, url: str) -> None:
    with store.connect(workspace=True) as engine:
        house.keys(engine, "t")
        with pytest.raises(UsageError, match="only once per connection"):
            house.keys(engine, "t")
    with store.connect() as engine, pytest.raises(UsageError, match="needs a connection with workspace"):
        coded(profiler_for(engine, relation(engine.dialect, engine.describe("t"), ()), ["a"], K))


@pytest.mark.exhaustive
def test_a_dry_run_shows_the_copy_and_makes_none(url: str) -> None:
    for verb in (["keys"], ["protect", "--by", "columns", "--distinct", "0.5"], ["audit"]):
        outcome = inside(verb[0], url, "t", *verb[1:], "--workspace", "--dry-run")
        assert outcome.code == 0
        assert outcome.out.count("CREATE TABLE") == 1
        assert "-- coded copy of 5 columns" in outcome.out
        assert "Only the catalog was queried" in outcome.out


def test_nothing_stays_of_a_duckdb_workspace(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, ROWS)
    before = hashlib.sha256(duckdb_store.path.read_bytes()).digest()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    where = {"TMPDIR": str(temporary)}
    options = ("--workspace", "--format", "json", "--all", "--distinct", "0.5")
    outcome = inside("keys", duckdb_store.url, "t", *options, **where)
    assert outcome.code == 0, outcome.err
    assert "workspace: 5 columns coded" in json.loads(outcome.out)["notes"][0]
    assert inside("keys", duckdb_store.url, "t", "--workspace", "--where", "CAST(a AS INT) > 1", **where).code == 2
    assert hashlib.sha256(duckdb_store.path.read_bytes()).digest() == before
    assert list(temporary.iterdir()) == []
    assert [path.name for path in duckdb_store.path.parent.iterdir() if path != temporary] == [duckdb_store.path.name]


def test_parallel_sessions_see_the_copy(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", TYPES, ROWS)
    with duckdb_store.connect(workspace=True) as engine:
        copy, _ = coded(profiler_for(engine, relation(engine.dialect, engine.describe("t"), ()), ["a", "b"], K))
        assert engine.workers == 2
        answers = engine.run_many([class_sizes(engine.dialect, copy.source, ("a", "b"))] * 16)
        assert answers == [sizes_of(projected(ROWS, (0, 1)))] * 16


@pytest.mark.parametrize("sql", ["DELETE FROM t", "CREATE TEMP TABLE other (a int)", "SET TRANSACTION READ WRITE"])
def test_a_postgres_session_only_reads_from_the_copy_on(postgres_store: PostgresStore, sql: str) -> None:
    postgres_store.table("t", TYPES, ROWS)
    with postgres_store.connect(workspace=True) as engine:
        coded(profiler_for(engine, relation(engine.dialect, engine.describe("t"), ()), ["a"], K))
        assert engine.workers == 1
        with pytest.raises(StatementError):
            engine.run(Statement(sql, "write", lambda rows: None))
    left = "SELECT count(*) FROM pg_class WHERE relname = 'qidsql_workspace'"
    assert postgres_store.admin.execute(left).fetchone() == (0,)
    assert postgres_store.admin.execute("SELECT count(*) FROM t").fetchone() == (len(ROWS),)


def test_postgres_says_which_right_is_missing(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("t", TYPES, ROWS)
    postgres_store.execute(f"GRANT SELECT ON t TO {reader}")
    url = postgres_store.url_of(reader)
    outcome = inside("keys", url, "t", "--workspace")
    assert outcome.code == 2
    assert "may not create; run: GRANT TEMPORARY ON DATABASE" in outcome.line
    grant = outcome.line.partition("run: ")[2].partition(",")[0]
    postgres_store.execute(grant)
    assert inside("keys", url, "t", "--workspace", "--distinct", "0.5").code == 0
    outcome = inside("keys", url, "t", "--workspace", "--no-snapshot")
    assert (outcome.code, outcome.line) == (2, "--workspace needs one snapshot; leave out --no-snapshot")


@pytest.mark.exhaustive
def test_adult_with_and_without(adult_path: Path) -> None:
    with duckdb.connect(str(adult_path), read_only=True) as connection:
        columns = connection.table("adult").columns  # all of them, those too that look like sensitive or weights
    plain, result = (
        house.keys(str(adult_path), "adult", all=True, distinct="0.9", columns=columns, workspace=way)
        for way in (False, True)
    )
    assert (len(result.column_sets), result.complete) == (102, True)
    assert result.column_sets == plain.column_sets
