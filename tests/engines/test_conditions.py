"""The where condition: the engine reads it by its own rules, and nothing else than that comes of it.

Hundreds of conditions beside the raw statement: tests/trials/conditions.py.
"""

import time
from pathlib import Path

import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.engines.postgres.condition import tokens
from qidsql.errors import UnknownName, UsageError
from tests.commandline import inside as run
from tests.exhaustive import first
from tests.stores import TWO_ENGINES, DuckDBStore, PostgresStore, Store
from tests.ways import measured_set, words


def rows(source: object, where: str, table: str = "people", column: str = "age") -> int | None:
    return measured_set(source, table, columns=[column], where=where).profile.rows  # type: ignore[arg-type]


# qualifiers


@pytest.fixture
def homes(duckdb_store: DuckDBStore) -> DuckDBStore:
    """Of 100 people 80 are in Oslo, all of one age; 20 others have their home there, each of another age."""
    duckdb_store.execute(
        "CREATE TABLE people AS SELECT i AS id, {'city': CASE WHEN i < 20 THEN 'Oslo' ELSE 'Bergen' END} AS home, "
        "CASE WHEN i < 20 THEN 'Bergen' ELSE 'Oslo' END AS city, CASE WHEN i < 20 THEN i ELSE 50 END AS age "
        "FROM range(100) AS r(i)"
    )
    return duckdb_store


def test_a_field_is_not_a_column_of_its_name(homes: DuckDBStore) -> None:
    result = qidsql.audit(homes.url, "people", columns=["age"], where="home.city = 'Oslo'")
    assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 20)
    assert qidsql.audit(homes.url, "people", columns=["age"], where="city = 'Oslo'").profile.smallest == 80  # type: ignore[union-attr]
    for where in ("people.home.city = 'Oslo'", "main.people.home.city = 'Oslo'", "HOME.CITY = 'Oslo'"):
        assert rows(homes.url, where) == 20


@pytest.mark.exhaustive
def test_scripts_keep_the_fields(homes: DuckDBStore) -> None:
    asked = {"where": "home.city = 'Oslo' -- by home", "columns": ["age"]}
    homes.run(qidsql.protect(homes.url, "people", distinct=0.9, weights={"age": 1}, **asked, by="columns").script or ())  # type: ignore[arg-type]
    homes.run(qidsql.protect(homes.url, "people", k=5, sql="view", against="released-rows", **asked, by="cells").script)  # type: ignore[arg-type]
    homes.run(qidsql.protect(homes.url, "people", k=5, sql="table", **asked, by="cells").script)  # type: ignore[arg-type]
    for made in ("people_suppressed", "people_anonymized"):
        assert measured_set(homes.url, made, columns=["age"]).profile.rows == 20
    homes.run(
        qidsql.protect(homes.url, "people", k=5, sql="update", against="released-rows", **asked, by="cells").script
    )  # type: ignore[arg-type]
    assert rows(homes.url, "age IS NULL") == 20


def test_a_qualifier_that_is_not_there(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE people AS SELECT i AS id, i % 3 AS age FROM generate_series(1, 30) AS i")
    with pytest.raises(UsageError, match=r"names st\.id; expected columns of "):
        rows(postgres_store.url, "st.id = 1")
    assert rows(postgres_store.url, f"people.id = 1 OR {postgres_store.schema}.people.id = 2") == 2


# names


def test_case_twins(postgres_store: PostgresStore) -> None:
    """A = 2 is a = 2 in SQL."""
    postgres_store.execute(
        'CREATE TABLE people ("A" int, a int, age int);'
        "INSERT INTO people SELECT 2, 1, 7 FROM generate_series(1, 50); INSERT INTO people VALUES (1, 2, 8)"
    )
    result = qidsql.audit(postgres_store.url, "people", columns=["age"], where="A = 2")
    assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 1)
    assert rows(postgres_store.url, '"A" = 2') == 50


def test_a_name_in_capitals_wants_quotes_in_postgres(store: Store) -> None:
    store.table("people", {"City": "VARCHAR(9)", "age": "INTEGER"}, [("Oslo", 1), ("Bergen", 2)])
    assert rows(store.url, "\"City\" = 'Oslo'") == 1
    if store.name == "duckdb":
        assert rows(store.url, "city = 'Oslo'") == 1
    else:
        with pytest.raises(UnknownName, match=r'no column city \(did you mean "City"\?\)'):
            rows(store.url, "city = 'Oslo'")


def test_all_unknown_names_are_said_at_once(store: Store) -> None:
    store.table("people", {"id": "INTEGER", "age": "INTEGER"}, [(1, 1)])
    for where in ("agge > 1 AND kept = 1", "agge > kept + id", "abs(agge) > 1 OR lower(kept) = 'x'"):
        with pytest.raises(UnknownName, match=r"no columns agge \(did you mean age\?\), kept in"):
            rows(store.url, where)
    with pytest.raises(UnknownName, match=r"no column people.agge \(did you mean age\?\) in"):
        rows(store.url, "people.agge > 1")
    with pytest.raises(UnknownName, match="no column keep in"):  # a word of Postgres' grammar
        rows(store.url, "keep = 1")


@pytest.mark.parametrize(
    "hidden", ["ctid = '(0,1)'", "people.xmin = 1", "tableoid > 0", "rowid = 0", "people.rowid = 0"]
)
def test_hidden_columns_are_refused(store: Store, hidden: str) -> None:
    if ("rowid" in hidden) != (store.name == "duckdb"):
        pytest.skip("the other engine's")
    store.table("people", {"age": "INTEGER"}, [(1,)])
    with pytest.raises(UsageError, match="the position of a row in storage"):
        rows(store.url, hidden)


def test_a_table_may_have_a_column_by_the_name_of_a_hidden_one(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("people", {"rowid": "INTEGER", "age": "INTEGER"}, [(7, 1), (8, 2)])
    assert rows(duckdb_store.url, "rowid = 7") == 1


# what is the engine's own


@pytest.mark.exhaustive
@TWO_ENGINES
def test_no_condition_asks_the_session(store: Store) -> None:
    store.table("people", {"user": "VARCHAR(20)", "age": "INTEGER"}, [("a", 1), ("a", 1)])
    words = ["current_user", "CURRENT_ROLE", "session_user", "current_catalog", "current_schema", "current_database()"]
    words += ["user"] if isinstance(store, PostgresStore) else ["user()", "current_user()"]
    for word in words:
        with pytest.raises(UsageError, match=r"depends on the session"):
            rows(store.url, f"{word} = 'x' OR age = 1")
    assert rows(store.url, "\"user\" = 'a' AND \"user\" <> 'current_user'") == 2


@pytest.mark.parametrize(
    "where", ["to_char(d, 'YYYY-MM') = '2020-02'", "jsonb_typeof(d) = 'x'", "date_part('year', d) = 2020"]
)
def test_a_function_is_the_engines_or_it_is_refused(duckdb_store: DuckDBStore, where: str) -> None:
    duckdb_store.execute("CREATE TABLE people AS SELECT DATE '2020-02-01' AS d, 1 AS age")
    if "date_part" in where:
        assert rows(duckdb_store.url, where) == 1
    else:
        with pytest.raises(UsageError, match="which the engine does not have"):
            rows(duckdb_store.url, where)


def test_macros_of_a_database_catch_no_call(duckdb_store: DuckDBStore) -> None:
    """Whoever has made the file would decide what an audit of it finds."""
    duckdb_store.execute("CREATE TABLE people AS SELECT i AS id, i % 3 AS age FROM range(30) AS r(i)")
    for macro in ("count(x) AS 77", "sum(x) AS 78", "min(x) AS 80", "hash(x) AS 1", "lower(x) AS 'x'", "row(a) AS 1"):
        duckdb_store.execute(f"CREATE MACRO {macro}")
    duckdb_store.execute("CREATE MACRO duckdb_columns() AS TABLE SELECT 1")
    with duckdb_store.connect() as engine:
        result = qidsql.audit(engine, "people", columns=["id", "age"], k=5)
        assert (result.verdict, result.profile.smallest) == (Verdict.VIOLATION, 1)  # type: ignore[union-attr]
        assert measured_set(engine, "people", columns=["age"], k=5).profile.smallest == 10
        assert qidsql.keys(engine, "people", columns=["id", "age"]).column_sets[0].columns == ("id",)
        with pytest.raises(UsageError, match="calls lower, which is a macro of this database"):
            rows(engine, "lower('A') = 'x'")


def test_a_view_keeps_the_macros_it_was_made_with(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE TABLE t AS SELECT i AS age FROM range(10) AS r(i); CREATE MACRO small(x) AS x < 3")
    duckdb_store.execute("CREATE VIEW people AS SELECT age, small(age) AS is_small FROM t")
    assert rows(duckdb_store.url, "is_small") == 3


OTHERS = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TYPE person AS (name text, feeling mood);
CREATE FUNCTION blind(mood) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'good' $$;
CREATE CAST (mood AS text) WITH FUNCTION blind(mood) AS IMPLICIT;
CREATE TABLE people (a mood, p person, age int);
INSERT INTO people VALUES ('good', '(x,good)', 1), ('bad', '(y,bad)', 2);
CREATE FUNCTION blind(people) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'good' $$;
CREATE CAST (people AS text) WITH FUNCTION blind(people) AS IMPLICIT
"""


@pytest.mark.parametrize("where", [
    "a = 'good'", "lower(a) = 'good'", "a::text = 'good'", "CAST(a AS text) = 'good'", "people.a = 'good'",
    "(p).feeling = 'good'", "CAST((p).feeling AS text) = 'good'", "people::text = 'good'", "lower(people) = 'good'",
])  # fmt: skip
def test_no_cast_of_whoever_made_a_type_is_called(postgres_store: PostgresStore, where: str) -> None:
    postgres_store.execute(OTHERS)
    with pytest.raises(UsageError, match=r"write concat\(|the whole row; name columns"):
        rows(postgres_store.url, where)
    assert rows(postgres_store.url, "concat(a) = 'good'") == 1
    assert rows(postgres_store.url, "a IS NOT NULL AND people.age = 1 AND concat(p) <> ''") == 1


# the time


@pytest.mark.parametrize(
    "where", first(["born < now()", "born < current_date", "born < CURRENT_TIMESTAMP", "age(born) > INTERVAL '1 day'"])
)
def test_the_time_stands_still_for_an_audit(store: Store, where: str) -> None:
    store.execute(
        "CREATE TABLE people AS SELECT i AS id, i % 3 AS age, TIMESTAMP '2020-01-01' AS born "
        "FROM generate_series(1, 30) AS r(i)"
    )
    with store.connect(workers=2) as engine:
        table = engine.narrowed(engine.describe("people"), where)
        assert engine.workers == 1
        result = qidsql.audit(engine, "people", columns=["age"], where=where)
        assert (result.account.rows, result.verdict) == (30, Verdict.PASS)
        assert any("depend on the time of the audit" in note for note in result.account.notes)
    assert table.condition is not None
    assert table.condition.time_dependent


def test_a_moment_that_passes_between_two_statements_changes_nothing(store: Store) -> None:
    """The rows are those of one time, however long an audit takes."""
    store.execute(
        "CREATE TABLE people AS SELECT CAST(now() AS TIMESTAMP) + i * INTERVAL '50 milliseconds' AS due, 1 AS age "
        "FROM generate_series(0, 400) AS r(i)"
    )
    with store.connect() as engine:
        first = rows(engine, "due < CAST(now() AS TIMESTAMP)")
        time.sleep(0.3)
        assert rows(engine, "due < CAST(now() AS TIMESTAMP)") == first
    with store.connect() as engine:
        assert (rows(engine, "due < CAST(now() AS TIMESTAMP)") or 0) > (first or 0)


def test_without_a_snapshot_the_time_goes_on_and_it_is_said(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE people AS SELECT 1 AS age, TIMESTAMP '2020-01-01' AS born")
    with postgres_store.connect(workers=2, snapshot=False) as engine:
        result = qidsql.audit(engine, "people", where="born < now()", k=2)
        assert engine.workers == 2
    assert result.account.snapshot == "each statement sees its own snapshot"
    assert any("depend on the time" in note for note in result.account.notes)


def test_conditions_without_the_time_keep_all_sessions(store: Store) -> None:
    store.execute("CREATE TABLE people AS SELECT 1 AS age, DATE '2020-01-01' AS born")
    with store.connect(workers=2) as engine:
        for where in ("age = 1", "born > '2019-01-01'", "extract(year FROM born) = 2020", "upper('today') = 'TODAY'"):
            table = engine.narrowed(engine.describe("people"), where)
            assert table.condition is not None
            assert table.condition.time_dependent == (
                where.startswith("upper") and store.name == "postgres"
            )  # to be safe
            if not table.condition.time_dependent:
                assert engine.workers == 2


# once, before anything else


def test_a_condition_is_bound_once(store: Store) -> None:
    store.table("people", {"age": "INTEGER"}, [(1,)])
    with store.connect() as engine:
        described = engine.describe("people")
        first = engine.narrowed(described, "age = 1")
        engine.parse_condition = None  # type: ignore[assignment, method-assign]
        assert engine.narrowed(described, "age = 1") == first
        assert engine.statements == 0


@pytest.mark.parametrize("verb", first(["audit", "only", "keys", "columns", "uniques", "matching", "identical"]))
def test_every_command_refuses_a_wrong_condition_before_its_work(duckdb_store: DuckDBStore, verb: str) -> None:
    duckdb_store.table("people", {"age": "INTEGER", "city": "VARCHAR"}, [(1, "cnry")] * 5)
    more = {"columns": ["--distinct", "0.5"], "identical": ["-c", "age"], "only": ["--only", "age"]}.get(verb, [])
    for where, said in (
        ("city > 1", "the where condition"),
        ("agge = 1", "did you mean age"),
        ("age = 1; --", "cannot be read"),
    ):
        outcome = run(*words(verb), duckdb_store.url, "people", *more, "--where", where, "--show-sql")
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert said in outcome.err
        assert "cnry" not in outcome.err


def test_statements_are_shown_with_the_condition_as_it_was_written(store: Store) -> None:
    store.table("people", {"age": "INTEGER", "city": "VARCHAR(9)"}, [(1, "a")] * 5)
    where = "age   =\n  1 AND city <> 'x\n  y' -- all"
    outcome = run("audit", store.url, "people", "--where", where, "--dry-run")
    assert outcome.code == 0
    assert f"\n{where}\n" in outcome.out
    assert where in run("audit", store.url, "people", "--where", where, "--show-sql").err


def test_files(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,City\n1,Oslo\n2,Oslo\n3,Bergen\n")
    assert rows(str(tmp_path / "people.csv"), "city = 'Oslo' AND people.age < 2", None) == 1  # type: ignore[arg-type]


# words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A.b = 'it''s' -- x\n AND c", "a . b = 'it''s' and c"),
        ("/* a /* b */ c */ d/**/e", "d e"),
        ('"A ""b""".c', 'A "b" . c'),
        ("E'a\\'b', e'c', x'1', N'n', xE'a'", "E'a\\'b' , e'c' , x'1' , N'n' , xe 'a'"),
        ("$$a'b$$ $t$ $$ $t$ a$b$c $1", "$$a'b$$ $t$ $$ $t$ a$b$c $1"),
        ("1or 1.5e3and .5 é", "1 or 1.5e3 and . 5 é"),
        ("a<--b\n-1*/**/2", "a < - 1 * 2"),
        ("a\u00a0b", "a\u00a0b"),
        ("'a'\n'b\\' c", "'a' 'b\\' c"),
    ],
)
def test_the_words_of_postgres(text: str, found: str) -> None:
    assert " ".join(token.text for token in tokens(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "'a",
        '"a',
        "/* a",
        "/* /* */",
        "$$a",
        "E'\\'",
        "U&'a'",
        'u&"a"',
        "a \0 b",
        "'a''",
        "E'a'\n'b'",
        "e'a' /* */ 'b\\'",
    ],
)
def test_a_text_that_does_not_end_has_no_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"unterminated|comment|not found|continued"):
        tokens(text)
