"""The scripts for SQL shells, on real engines: against the definitions, over random tables, and with mutants."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

import duckdb
import psycopg
import pytest
from psycopg.errors import RaiseException

import qidsql
from qidsql.engines.duckdb.host import duckdb_macros
from qidsql.engines.postgres.functions import postgres_functions
from qidsql.measures.profiles import ClassProfile
from tests.definitions import profile_of, projected
from tests.random_tables import RandomTable, drop, load, random_table
from tests.stores import TWO_ENGINES, DuckDBStore, PostgresStore, Store

K = 3
OTHERS = ("entities", "wildcard", "disclosing", "histories")  # than the counts of classes
COUNTS = [field.name for field in fields(ClassProfile) if field.name not in OTHERS]
Ask = Callable[[str], list[tuple[Any, ...]]]


def tables(engine: str) -> list[RandomTable]:
    return [random_table(seed, engine) for seed in range(40)]


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """The random tables, for all tests of this file."""
    load(module_store, tables(module_store.name))
    yield module_store
    drop(module_store, tables(module_store.name))


def session(store: Store, script: str) -> Any:
    """A connection that has run the script: what it takes is thrown away at its end."""
    if isinstance(store, DuckDBStore):
        connection = duckdb.connect(str(store.path), read_only=True)
        connection.execute(script)
        return connection
    assert isinstance(store, PostgresStore)
    other = psycopg.connect(store.url)
    other.execute("DROP SCHEMA IF EXISTS qidsql CASCADE")
    other.execute(script.encode())
    return other


def script(engine: str) -> str:
    return duckdb_macros() if engine == "duckdb" else postgres_functions()


def differences(store: Store, text: str) -> Iterator[str]:
    """Where the answers are not those of the definitions."""
    listed = "[{}]" if store.name == "duckdb" else "ARRAY[{}]"
    with session(store, text) as connection:

        def ask(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql).fetchall()  # type: ignore[no-any-return]

        for table in tables(store.name):
            yield from _differences(ask, table, listed.format(", ".join(f"'{name}'" for name in table.names)))


def _differences(ask: Ask, table: RandomTable, names: str) -> Iterator[str]:
    rows = [row[:-1] for row in table.rows]
    expected = profile_of(rows, K)
    [found] = ask(f"SELECT * FROM qidsql.profile('{table.name}', {names}, k => {K})")
    if [int(cell) for cell in found[: len(COUNTS)]] != [asdict(expected)[name] for name in COUNTS]:
        yield f"profile of {table}: {found}"
    if rows and found[-3:] != _ratios(expected):
        yield f"ratios of {table}: {found[-3:]}"
    below = ask(f"SELECT class_size FROM qidsql.violations('{table.name}', {names}, k => {K})")
    if [size for (size,) in below] != sorted(size for size in Counter(rows).values() if size < K):
        yield f"classes of {table}: {below}"
    by_name = {row[0]: row[1:] for row in ask(f"SELECT * FROM qidsql.columns('{table.name}', k => {K})")}
    for place, name in enumerate(table.names):
        alone = projected(rows, [place])
        expected = profile_of(alone, K)
        if name not in by_name:  # an empty table has no cells to tell of its columns
            if rows:
                yield f"{name} of {table} is missing"
            continue
        nulls, *cells = by_name[name]
        if nulls != alone.count((None,)):
            yield f"NULLs of {name} in {table}: {nulls}"
        if [int(cell) for cell in cells[: len(COUNTS)]] != [asdict(expected)[name] for name in COUNTS]:
            yield f"{name} of {table}: {cells}"
        if rows and tuple(cells[-3:]) != _ratios(expected):
            yield f"ratios of {name} of {table}: {cells[-3:]}"


def _ratios(profile: ClassProfile) -> tuple[float, ...]:
    return float(profile.distinct_ratio), float(profile.separation_ratio), float(profile.share_below_k)


@pytest.mark.exhaustive
def test_the_answers_are_those_of_the_definitions(filled: Store) -> None:
    assert list(differences(filled, script(filled.name))) == []


MUTANTS: dict[str, Sequence[tuple[str, str]]] = {
    "duckdb": [
        ("system.main.min(class_size), 0)", "system.main.max(class_size), 0)"),
        ("class_count) FILTER (WHERE class_size < k)", "class_count) FILTER (WHERE class_size <= k)"),
        ("FILTER (WHERE class_size = 1), 0) AS BIGINT) AS unique_rows", ", 0) AS BIGINT) AS unique_rows"),
        ('system.main."-"(class_size, 1)), class_count)', "class_size), class_count)"),
        ("THEN CAST(COLUMNS(columns) AS VARCHAR) COLLATE \"binary\"\n    END", "THEN NULL\n    END"),
        ("system.main.count(*) < k", "system.main.count(*) <= k"),
        ("ORDER BY classes.class_size;", "ORDER BY classes.class_size DESC;"),
        ("GROUP BY name, value\n", "GROUP BY name, value, random() < 0.5\n"),
        ("FILTER (WHERE missing)", "FILTER (WHERE NOT missing)"),
        ("count(*) FILTER (WHERE class_size = 1)", "count(*) FILTER (WHERE class_size = 2)"),
        ("encode('0.0')", "encode('-0.0')"),
        ("ELSE system.main.encode(CAST(COLUMNS(*) AS VARCHAR))", "ELSE system.main.encode(lower(COLUMNS(*)::TEXT))"),
        ('system.main."-"(pairs, colliding_pairs), pairs) ELSE', "colliding_pairs, pairs) ELSE"),
    ],
    "postgres": [
        ("MIN(sizes.class_size), 0)", "MAX(sizes.class_size), 0)"),
        ("FILTER (WHERE sizes.class_size < k)", "FILTER (WHERE sizes.class_size <= k)"),
        ("FILTER (WHERE sizes.class_size = 1)", "FILTER (WHERE sizes.class_size = 2)"),
        ("(sizes.class_size - 1)", "sizes.class_size"),
        ("described.comparison IN ('text', 'published')", "described.comparison IN ('published')"),
        ("HAVING COUNT(*) < %s ORDER BY 1", "HAVING COUNT(*) <= %s ORDER BY 1"),
        ("HAVING COUNT(*) < %s ORDER BY 1", "HAVING COUNT(*) < %s ORDER BY 1 DESC"),
        ("COUNT(*) - COUNT(%I)", "COUNT(%I)"),
        ("pairs - colliding AS", "colliding AS"),
    ],
}  # fmt: skip


def noticed(store: Store, mutant: tuple[str, str]) -> bool:
    text = script(store.name)
    assert mutant[0] in text
    try:
        return next(differences(store, text.replace(*mutant)), None) is not None
    except (duckdb.Error, psycopg.Error):
        return True


@pytest.mark.exhaustive
def test_every_mutant_is_noticed(filled: Store) -> None:
    assert [mutant for mutant in MUTANTS[filled.name] if not noticed(filled, mutant)] == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("profile('people', '{a,zz}')", "qidsql: no column zz in "),
        ("profile('people', ARRAY['a', NULL])", "qidsql: no column NULL in "),
        ("profile('people', '{a}', k => 0)", "qidsql: k must be at least 2"),
        ("violations('people', '{a}', k => NULL)", "qidsql: k must be at least 2"),
        ("columns('people', k => 1)", "qidsql: k must be at least 2"),
        ("profile('people', '{}')", "has no column to look at"),
        ("profile('people', '{zz}')", 'there are: a, b "c"'),
        ("profile(NULL)", "qidsql: the table must not be NULL"),
        ("columns(NULL)", "qidsql: the table must not be NULL"),
    ],
)
def test_what_cannot_be_right_is_an_error_of_the_function(postgres_store: PostgresStore, call: str, words: str) -> None:
    postgres_store.table("people", {"a": "INTEGER", 'b "c"': "TEXT"}, [(1, "x"), (1, None)])
    with (
        session(postgres_store, postgres_functions()) as connection,
        pytest.raises(RaiseException, match=re.escape(words)),
    ):
        connection.execute(f"SELECT * FROM qidsql.{call}")


LOOSE = {  # equal to the engine, or by a cast that whoever made the type defined
    "duckdb": ["CREATE TABLE people AS SELECT unnest([[INTERVAL 1 MONTH], [INTERVAL 30 DAY]]) AS a"],
    "postgres": [
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "CREATE FUNCTION blind(mood) RETURNS json LANGUAGE sql IMMUTABLE AS $$ SELECT '1'::json $$",
        "CREATE CAST (mood AS json) WITH FUNCTION blind(mood) AS IMPLICIT",
        "CREATE TABLE people AS SELECT CAST('good' AS mood) AS a UNION ALL SELECT 'bad'",
        "CREATE TABLE numbers AS SELECT 70 AS a UNION ALL SELECT 70.00",
    ],
}


@TWO_ENGINES
def test_equality_is_no_looser_than_what_a_reader_sees(store: Store) -> None:
    for statement in LOOSE[store.name]:
        store.execute(statement)
    with session(store, script(store.name)) as connection:
        for table in ("people", "numbers")[: len(LOOSE[store.name])]:
            assert connection.execute(f"SELECT smallest FROM qidsql.profile('{table}', k => 2)").fetchall() == [(1,)]
            assert connection.execute(f"SELECT classes FROM qidsql.columns('{table}', k => 2)").fetchall() == [(2,)]
            shown = connection.execute(f"SELECT * FROM qidsql.violations('{table}', k => 2)").fetchall()
            assert len(shown) == 2 and (store.name == "duckdb" or shown[0] != shown[1])


def test_values_are_shown_by_violations_alone(postgres_store: PostgresStore) -> None:
    postgres_store.table("people", {"a": "INTEGER", 'b "c"': "TEXT"}, [(1, "x"), (1, None)])
    with session(postgres_store, postgres_functions()) as connection:
        asked = "SELECT * FROM qidsql.violations('people', ARRAY['b \"c\"', 'a'], k => 2) ORDER BY 2"
        found = connection.execute(asked).fetchall()
        assert connection.execute("SELECT * FROM qidsql.violations('people', k => 2) ORDER BY 2").fetchall() == found
    assert found == [(1, {"a": 1, 'b "c"': None}), (1, {"a": 1, 'b "c"': "x"})]


def test_an_earlier_version_is_replaced_and_a_schema_of_another_role_refused(
    postgres_store: PostgresStore, reader: str
) -> None:
    names = [f"c{place}" for place in range(120)]
    postgres_store.table("wide", dict.fromkeys(names, "INTEGER"), [tuple(range(120))])
    earlier = """CREATE FUNCTION qidsql.profile(relation regclass, columns text[] DEFAULT NULL, k integer DEFAULT 5)
    RETURNS TABLE (other_name bigint) LANGUAGE sql AS 'SELECT CAST(1 AS bigint)'"""
    with session(postgres_store, f"CREATE SCHEMA qidsql; {earlier}") as connection:
        connection.execute(postgres_functions().replace("COMMIT;", "RESET search_path;").encode())
        assert connection.execute("SELECT classes FROM qidsql.profile('wide')").fetchall() == [(1,)]
        [(_, values)] = connection.execute("SELECT * FROM qidsql.violations('wide')").fetchall()
        assert values == dict(zip(names, range(120), strict=True))
        assert connection.execute("SELECT qidsql.version()").fetchall() == [(qidsql.__version__,)]
        connection.execute(f"ALTER SCHEMA qidsql OWNER TO {reader}".encode())
        with pytest.raises(RaiseException, match="the schema qidsql belongs to another role"):
            connection.execute(postgres_functions().encode())


@pytest.mark.parametrize("other", ["reader", "PUBLIC"])
def test_a_schema_in_which_others_may_create_functions_is_refused(
    postgres_store: PostgresStore, reader: str, other: str
) -> None:
    grant = f"GRANT CREATE ON SCHEMA qidsql TO {reader if other == 'reader' else other}"
    with (
        session(postgres_store, f"CREATE SCHEMA qidsql; {grant}") as connection,
        pytest.raises(RaiseException, match="other roles may create functions in the schema qidsql"),
    ):
        connection.execute(postgres_functions().encode())


@pytest.mark.parametrize(
    "call",
    [
        "profile('people')",
        "violations('people')",
        "columns('people')",
        "anonymity('people', '{a}')",
        "diversity('people', '{a}', 'a')",
        "closeness('people', '{a}', 'a')",
        "risks('people', '{a}')",
    ],
)
def test_rows_that_a_policy_hides_are_an_error(postgres_store: PostgresStore, reader: str, call: str) -> None:
    postgres_store.table("people", {"a": "INTEGER"}, [(1,), (2,)])
    for statement in (
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY half ON people TO {reader} USING (a = 1)",
        f"GRANT SELECT ON people TO {reader}",
    ):
        postgres_store.execute(statement)
    with session(postgres_store, postgres_functions()) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA qidsql TO {reader}".encode())
        connection.execute(f"SET LOCAL ROLE {reader}".encode())
        with pytest.raises(psycopg.Error, match="row-level security"):
            connection.execute(f"SELECT * FROM qidsql.{call}".encode())


HOSTILE = [
    "class_size",
    "qidsql text",
    "qidsql text_1",
    "value",
    "name",
    "missing",
    "text_a",
    'b "c"',
    "n\nl",
    "\\1",
    "*",
]


def test_columns_that_are_called_as_the_macros_call_theirs(duckdb_store: DuckDBStore) -> None:
    rows = [tuple(f"{place} {number}" for place in range(len(HOSTILE))) for number in range(3)]
    duckdb_store.table("people", dict.fromkeys(HOSTILE, "VARCHAR"), rows)
    with session(duckdb_store, duckdb_macros()) as connection:
        found = connection.execute("FROM qidsql.violations('people', k := 2)")
        names = [name for name, *_ in found.description]
        assert names == ["class_size", "class_size_1", *HOSTILE[1:]]  # a result has no two columns of one name
        assert sorted(found.fetchall()) == [(1, *row) for row in rows]
        for place, name in enumerate(HOSTILE):
            chosen = "[" + "'" + name.replace("'", "''") + "']"
            found = connection.execute(f"FROM qidsql.violations('people', {chosen}, k := 2)").fetchall()
            assert sorted(found) == [(1, row[place]) for row in rows], name
            [(count, classes, *_)] = connection.execute(f"FROM qidsql.profile('people', {chosen})").fetchall()
            assert (count, classes) == (3, 3), name
        assert {name for name, *_ in connection.execute("FROM qidsql.columns('people')").fetchall()} == set(HOSTILE)
