"""Views whose values change from statement to statement: refused, however the functions are hidden; others are not."""

import json
import subprocess
import sys

import psycopg
import pytest

import qidsql
from qidsql.engines.condition import Dependences
from qidsql.engines.spark.address import address
from qidsql.engines.spark.engine import depending
from qidsql.engines.spark.session import SparkSession
from qidsql.errors import UsageError
from tests.hostile_names import GIVEN
from tests.stores import (
    THREE_ENGINES,
    TWO_ENGINES,
    DuckDBStore,
    PostgresStore,
    SparkStore,
    SQLiteStore,
    Store,
    quoted,
)
from tests.ways import measured_set, work

ROWS = [("a", 1), ("a", 1), ("b", 2), ("b", 2)]


@pytest.fixture
def people(store: Store) -> Store:
    store.table("people", {"name": "VARCHAR(20)", "age": "INTEGER"}, ROWS)
    return store


def refused(store: Store, view: str) -> str:
    """The error of an audit; it must not depend on the verdict."""
    with pytest.raises(UsageError, match="can change from statement to statement") as error:
        qidsql.audit(store.url, quoted(view), k=2)
    return str(error.value)


@THREE_ENGINES
def test_random_values_behind_another_view(people: Store) -> None:
    """The rows stay the same in number, and half of such audits would pass."""
    people.execute(
        "CREATE VIEW noisy AS SELECT name, age + CASE WHEN RANDOM() > 0 THEN 1 ELSE 2 END AS age FROM people"
    )
    people.execute("CREATE VIEW shown AS SELECT name, age AS years FROM noisy")
    people.execute("CREATE VIEW named AS SELECT name AS \"random\", age AS uuid, UPPER('x') AS now FROM people")
    for view in ("noisy", "shown"):
        assert "random" in refused(people, view).lower()
    assert qidsql.audit(people.url, "named", k=2, entity="row").verdict == "pass"


@pytest.mark.exhaustive
@THREE_ENGINES
def test_every_command_refuses_it_and_lists_call_it_an_obstacle(people: Store) -> None:
    people.execute("CREATE VIEW noisy AS SELECT name, RANDOM() AS age FROM people")
    for command, options in (
        ("only", {"columns": "age"}),
        ("keys", {}),
        ("columns", {"violates": 2}),
        ("uniques", {}),
    ):
        with pytest.raises(UsageError, match=r"(?i)the view .*noisy uses random"):
            work(command)(people.url, "noisy", **options)
    with pytest.raises(UsageError, match=r"(?i)the view .*noisy uses random"):
        qidsql.link(people.url, "people", "noisy", on="age=age")
    found = {str(each.table).rpartition(".")[2]: each for each in qidsql.doctor(people.url).tables}
    assert any("uses random" in check.text for check in found["noisy"].checks)


@TWO_ENGINES
def test_samples_and_hostile_names(people: Store) -> None:
    people.execute("CREATE VIEW sampled AS SELECT name FROM people TABLESAMPLE SYSTEM (50)")
    assert "TABLESAMPLE" in refused(people, "sampled")
    inner, outer = GIVEN[0], GIVEN[1]
    people.execute(f"CREATE VIEW {quoted(inner)} AS SELECT name FROM people WHERE random() < 2")
    people.execute(f"CREATE VIEW {quoted(outer)} AS SELECT * FROM {quoted(inner)}")
    refused(people, outer)


@TWO_ENGINES
def test_a_view_that_uses_the_time_is_read_at_one_time(people: Store) -> None:
    people.execute(
        "CREATE VIEW aged AS SELECT name, CURRENT_DATE - DATE '2000-01-01' AS days, now() AS moment FROM people"
    )
    with people.connect() as engine:
        table = engine.narrowed(engine.describe("aged"), None)
        assert table.time_dependent
        assert engine.workers == 1
        assert any("current time" in note for note in table.notes)


def test_a_column_named_like_a_view_is_a_column(duckdb_store: DuckDBStore) -> None:
    """In DuckDB the names in a text count: a name that is only a column is none of a view, in any doubt it is."""
    duckdb_store.table("people", {"noisy": "INTEGER", "age": "INTEGER"}, [(i % 2, i % 3) for i in range(12)])
    duckdb_store.execute("CREATE VIEW noisy AS SELECT RANDOM() AS age")
    duckdb_store.execute("CREATE VIEW fine AS SELECT people.noisy, age FROM people WHERE noisy < 3")
    changing = {
        "mixed": "SELECT noisy FROM people, noisy AS n",
        "inner_one": "SELECT noisy.age FROM noisy",
        "within": "SELECT age FROM people WHERE age IN (SELECT age FROM noisy)",
        "named": "FROM query_table('noisy')",
        "pivoted": "FROM (PIVOT noisy ON age IN (1, 2) USING count(*))",
        "summed": "FROM (SUMMARIZE noisy)",
    }
    for name, query in changing.items():
        duckdb_store.execute(f"CREATE VIEW {name} AS {query}")
    duckdb_store.execute("CREATE VIEW behind AS SELECT noisy AS n FROM mixed")
    with duckdb_store.connect() as engine:
        assert engine.describe("fine").kind == "view"
        for name in (*changing, "behind"):
            with pytest.raises(UsageError, match="uses random"):
                engine.describe(name)


def test_macros_of_duckdb(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("people", {"name": "VARCHAR", "age": "INTEGER"}, ROWS)
    duckdb_store.execute("CREATE MACRO noise(x) AS x + random()")
    duckdb_store.execute('CREATE MACRO "To ""hide"""(x) AS noise(x)')
    duckdb_store.execute("CREATE MACRO some_people() AS TABLE SELECT * FROM people WHERE random() < 0.5")
    duckdb_store.execute('CREATE VIEW by_value AS SELECT name, "To ""hide"""(age) AS age FROM people')
    duckdb_store.execute("CREATE VIEW by_table AS SELECT * FROM some_people()")
    for view in ("by_value", "by_table"):
        refused(duckdb_store, view)


def test_what_postgres_declares(postgres_store: PostgresStore) -> None:
    """A function is volatile unless it is declared otherwise, and an operator is a function."""
    store, body = postgres_store, "LANGUAGE plpgsql AS $$ BEGIN RETURN x + 1; END $$"
    store.table("people", {"name": "VARCHAR", "age": "INTEGER"}, ROWS)
    store.execute(f"CREATE FUNCTION undeclared(x INTEGER) RETURNS INTEGER {body}")
    store.execute(f"CREATE FUNCTION declared(x INTEGER) RETURNS INTEGER IMMUTABLE {body}")
    store.execute("CREATE OPERATOR @@@ (RIGHTARG = INTEGER, PROCEDURE = undeclared)")
    store.execute("CREATE VIEW called AS SELECT undeclared(age) AS age FROM people")
    store.execute("CREATE VIEW operated AS WITH own AS (SELECT @@@ age AS age FROM people) SELECT * FROM own")
    store.execute("CREATE VIEW clock AS SELECT name FROM people WHERE statement_timestamp() > '2000-01-01'")
    store.execute("CREATE VIEW fine AS SELECT declared(age) AS age, SUM(age) OVER () AS ages FROM people")
    store.execute("CREATE MATERIALIZED VIEW kept AS SELECT undeclared(age) AS age FROM people")
    assert "declare your function STABLE" in refused(store, "called")
    assert "undeclared" in refused(store, "operated")
    assert "declare" not in refused(store, "clock")
    for view in ("fine", "kept"):
        assert qidsql.audit(store.url, view, k=2).verdict == "pass"


def test_a_view_whose_texts_follow_settings_that_the_audit_replaces(postgres_store: PostgresStore) -> None:
    """`01.1` ... `30.1` for the role, `2020` in each row for the audit, whose dates are ISO: once a pass."""
    store = postgres_store
    store.execute("CREATE TABLE visits AS SELECT DATE '2020-01-01' + i AS day FROM generate_series(0, 29) i")
    store.execute("CREATE FUNCTION text_of(DATE) RETURNS TEXT STABLE LANGUAGE SQL AS 'SELECT $1::text'")
    for number, text in enumerate(("day::text", "format('%s', day)", "text_of(day)", "to_json(day)::text")):
        store.execute(f"CREATE VIEW v{number} AS SELECT substr({text}, 1, 4) AS year FROM visits")
    store.execute("CREATE VIEW fine AS SELECT extract(year FROM day) AS year FROM visits")
    german = f"{store.url}%20-cdatestyle%3DGerman"
    with psycopg.connect(german) as connection:
        assert connection.execute("SELECT count(DISTINCT year) FROM v0").fetchone() == (30,)
    for number in range(4):
        with pytest.raises(UsageError, match=r"the audit's DateStyle is not that of .* audit a copy"):
            qidsql.audit(german, f"v{number}", k=5)
        assert qidsql.audit(store.url, f"v{number}", k=5, entity="row").verdict == "pass"
    assert qidsql.audit(german, "fine", k=5, entity="row").verdict == "pass"


def test_a_view_by_the_time_beside_one_that_cannot_be_read(duckdb_store: DuckDBStore) -> None:
    """The look at the neighbour's columns ended the transaction in which the time stands still."""
    duckdb_store.execute("CREATE TABLE people AS SELECT 1 AS age FROM range(9)")
    duckdb_store.execute("CREATE VIEW files AS SELECT * FROM glob('/tmp/*')")
    duckdb_store.execute("CREATE VIEW clock AS SELECT age FROM people WHERE now() > '2020-01-01'")
    assert qidsql.audit(duckdb_store.url, "clock", k=5, entity="row").verdict == "pass"


OF_SESSION = {
    DuckDBStore: (
        *("current_user", "session_user", "current_role", "current_schema", "current_catalog", "current_schemas(true)"),
        *("current_setting('threads')", "current_database()", "getvariable('who')", "version()"),
        "(SELECT max(value) FROM duckdb_settings() WHERE name = 'threads')",
        *("(SELECT max(name) FROM pg_settings)", "(SELECT max(x) FROM query('SELECT current_user AS x'))"),
    ),
    PostgresStore: (
        *("current_user", "user", "session_user", "current_role", "current_schema", "current_schemas(true)::text"),
        *("current_setting('application_name')", "has_table_privilege('pg_class', 'insert')::text"),
        *("inet_client_addr()::text", "pg_backend_pid()::text", "(SELECT max(usename) FROM pg_stat_activity)"),
        "(SELECT max(table_name) FROM information_schema.tables)",
    ),
}


@pytest.mark.exhaustive
@TWO_ENGINES
def test_a_view_that_shows_others_other_rows(people: Store) -> None:
    for number, who in enumerate(OF_SESSION[type(people)]):
        people.execute(f"CREATE VIEW v{number} AS SELECT name, age FROM people WHERE CAST({who} AS VARCHAR(20)) <> 'x'")
    people.execute("CREATE VIEW behind AS SELECT age FROM v0")
    with people.connect() as engine:
        for view in (*(f"v{number}" for number in range(len(OF_SESSION[type(people)]))), "behind"):
            with pytest.raises(UsageError, match="can show other rows to others") as error:
                engine.describe(view)
            assert "audit a copy" in str(error.value)


@TWO_ENGINES
def test_a_view_of_columns_that_are_called_like_the_session(store: Store) -> None:
    store.table("logins", {"user": "VARCHAR(20)", "age": "INTEGER"}, ROWS)
    store.execute(
        "CREATE VIEW fine AS SELECT logins.\"user\", lower('current_user') AS word, age + 1 AS pg_age, "
        'sum(age) OVER (PARTITION BY logins."user") AS ages FROM logins WHERE logins."user" <> \'pg_stat_activity\''
    )
    assert qidsql.audit(store.url, "fine", k=2).verdict == "pass"


def test_macros_of_duckdb_that_ask_the_session(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("people", {"name": "VARCHAR", "age": "INTEGER"}, ROWS)
    duckdb_store.execute("CREATE MACRO own(x) AS x <> current_user")
    duckdb_store.execute("CREATE MACRO owned(x) AS own(x)")
    duckdb_store.execute("CREATE VIEW shown AS SELECT age FROM people WHERE owned(name)")
    with duckdb_store.connect() as engine, pytest.raises(UsageError, match="uses current_user, so it can show other"):
        engine.describe("shown")


def test_functions_of_postgres_that_ask_the_session(postgres_store: PostgresStore) -> None:
    """The text of a function counts, and of those that it calls, whatever they are declared as."""
    store = postgres_store
    store.table("people", {"name": "VARCHAR(20)", "age": "INTEGER"}, ROWS)
    makes = "(x text) RETURNS boolean STABLE LANGUAGE"
    store.execute(f"CREATE FUNCTION own{makes} sql AS $$ SELECT x <> current_user $$")
    store.execute(f"CREATE FUNCTION owned{makes} plpgsql AS $$ BEGIN RETURN {store.schema}.own(x); END $$")
    store.execute(f"CREATE FUNCTION atomic{makes} sql BEGIN ATOMIC SELECT x <> session_user; END")
    store.execute(
        f"CREATE FUNCTION plain{makes} sql AS $$ SELECT pg_catalog.lower(x) <> 'current_user' -- of a user $$"
    )
    for name in ("own", "owned", "atomic", "plain"):
        store.execute(f"CREATE VIEW by_{name} AS SELECT age FROM people WHERE {name}(name)")
    with store.connect() as engine:
        for name in ("own", "owned", "atomic"):
            with pytest.raises(UsageError, match=r"_user, so it can show other rows"):
                engine.describe(f"by_{name}")
        assert engine.describe("by_plain").kind == "view"


def test_a_view_of_the_time_of_day(postgres_store: PostgresStore) -> None:
    postgres_store.table("people", {"name": "VARCHAR", "age": "INTEGER"}, ROWS)
    postgres_store.execute("CREATE VIEW today AS SELECT age FROM people WHERE LOCALTIMESTAMP > '2000-01-01'")
    with postgres_store.connect() as engine:
        assert engine.describe("today").time_dependent


def test_a_text_that_a_view_of_postgres_makes_a_time(postgres_store: PostgresStore) -> None:
    """It may be 'now' or 'today', which a literal of the type would have ended when the view was made."""
    postgres_store.execute("CREATE TABLE people AS SELECT DATE '2000-01-01' AS born, TEXT '2000-01-01' AS t, TRUE AS b")
    postgres_store.execute("CREATE TYPE held AS (x text)")
    year = "extract(year FROM (r).born)::text"
    postgres_store.execute(f"CREATE FUNCTION year_of(r people) RETURNS text STABLE RETURN {year}")
    views = {
        "'now'::text::date": True,
        "born < ('no' || 'w')::timestamp": True,
        "(CASE WHEN b THEN 'today'::text::date ELSE born END)": True,
        "upper('now')::timestamptz": True,
        "ARRAY['now'::text]::date[]": True,
        "'[today,)'::text::daterange": True,
        "(ROW('now')::held).x::date": True,
        "year_of(people)": False,
        "'now'::date": False,
        "t::date": False,
        "'now'::text": False,
        "'1'::text::int + (t::date - born)": False,
        "born < '2000-01-02'": False,
    }
    for number, value in enumerate(views):
        postgres_store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x, t FROM people")
    with postgres_store.connect() as engine:
        found = {value: engine.describe(f"v{number}").time_dependent for number, value in enumerate(views)}
    assert found == views


def test_a_function_that_is_declared_stable_and_is_not(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused where its text shows it; if it did not, statements that count different numbers of rows are noticed."""
    store = postgres_store
    store.execute("CREATE FUNCTION chance() RETURNS float LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN random(); END $$")
    store.execute("CREATE TABLE many AS SELECT i % 50 AS z FROM generate_series(1, 20000) AS i")
    store.execute("CREATE VIEW drawn AS SELECT z FROM many WHERE chance() + z * 0 < 0.3")
    assert "random" in refused(store, "drawn")
    monkeypatch.setattr("qidsql.engines.postgres.engine.checked", lambda view, *_: view)
    found = qidsql.audit(store.url, "drawn", k=5)
    assert found.verdict == "inconclusive"
    assert any("the source changes from statement to statement" in why for why in found.account.unfinished)


def test_what_sqlite_does_not_call_deterministic(sqlite_store: SQLiteStore) -> None:
    """A prepared statement that SQLite keeps must not hide the functions at the second look."""
    sqlite_store.table("people", {"name": "TEXT", "age": "INTEGER"}, ROWS)
    sqlite_store.execute("CREATE VIEW tokens AS SELECT name, hex(randomblob(4)) AS token FROM people")
    sqlite_store.execute("CREATE VIEW fine AS SELECT SUM(age) OVER () AS ages, MAX(age, 3) AS most FROM people")
    with sqlite_store.connect() as engine:
        for _ in range(2):
            with pytest.raises(UsageError, match="randomblob"):
                engine.describe("tokens")
            assert engine.describe("fine").kind == "view"


def test_dates_of_sqlite_that_are_the_current_time(sqlite_store: SQLiteStore) -> None:
    sqlite_store.table("people", {"born": "TEXT", "age": "INTEGER"}, [("2000-01-01", 1)])
    views = {
        "today": "SELECT age, DATE('now') AS d FROM people",
        "ages": "SELECT STRFTIME('%Y', 'now') - STRFTIME('%Y', born) AS age FROM people",
        "plain": "SELECT age, DATE() AS d FROM people",
        "behind": "SELECT * FROM today",
        "clock": "SELECT age, CURRENT_DATE AS d FROM people",
    }
    for name, query in {**views, "fine": "SELECT DATE(born) AS d, 'new' AS word FROM people"}.items():
        sqlite_store.execute(f"CREATE VIEW {name} AS {query}")
    with sqlite_store.connect() as engine:
        for name in views:
            with pytest.raises(UsageError, match="so its values can change from statement to statement"):
                engine.describe(name)
        assert engine.describe("fine").kind == "view"


IN_ZONE = """
import json, sys, qidsql
print(json.dumps([qidsql.audit(sys.argv[1], view, k=2).to_dict() for view in ("days", "instants", "visits")]))
"""


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_zone_is_said_where_days_are_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same instants are one day in UTC and two in Tokyo: the zone is in every report, loud where it matters."""
    store.table("visits", {"seen": "TIMESTAMPTZ", "age": "INTEGER"}, [(f"2020-01-01 {h}:00+00", 1) for h in (13, 16)])
    store.execute("CREATE VIEW days AS SELECT CAST(seen AS DATE) AS day, age FROM visits")
    store.execute("CREATE VIEW instants AS SELECT seen, age FROM visits WHERE seen IS NOT NULL")
    for name in ("TZ", "PGTZ"):
        monkeypatch.setenv(name, "Asia/Tokyo")
    found = json.loads(subprocess.check_output([sys.executable, "-c", IN_ZONE, store.url]))
    assert {each["time_zone"] for each in found} == {"Asia/Tokyo"}
    assert {each["reader"] for each in found} == {None if isinstance(store, DuckDBStore) else "postgres"}
    assert {each["verdict"] for each in found} == {"violation"}
    loud = ["the time zone of the session, here Asia/Tokyo" in " ".join(each["notes"]) for each in found]
    assert loud == [True, False, False]
    with store.connect() as engine:
        table = engine.narrowed(engine.describe("visits"), "seen > '2020-01-02'")
    assert any("the where condition depend on the time zone" in note for note in table.notes)


@TWO_ENGINES
def test_ages_go_by_the_zone_and_one_alone_by_today(store: Store) -> None:
    """From 1 February to 1 March in UTC is a month, in New York 29 days. Both engines call ages unchanging."""
    store.table("visits", {"seen": "TIMESTAMPTZ", "born": "TIMESTAMP"}, [("2024-02-01 00:00+00", "2000-01-01 00:00")])
    on_duckdb = isinstance(store, DuckDBStore)
    views = {  # by the zone, by the time
        "age(seen, TIMESTAMPTZ '2024-03-01 00:00+00')": (True, False),
        "seen - TIMESTAMPTZ '2024-03-01 00:00+00'": (on_duckdb, False),  # 23 hours are a day where clocks are changed
        "age(born, TIMESTAMP '1990-01-01 00:00')": (False, False),
        "age(born)": (False, True),
        "born < CURRENT_DATE": (True, True),
    }
    for number, value in enumerate(views):
        store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x FROM visits")
    with store.connect() as engine:
        for number, (value, expected) in enumerate(views.items()):
            table = engine.describe(f"v{number}")
            assert ("depend on the time zone" in " ".join(table.notes), table.time_dependent) == expected, value
        table = engine.narrowed(engine.describe("visits"), "born < CURRENT_DATE")
    assert "depend on the time zone" in " ".join(table.notes)


def test_a_lone_age_of_duckdb_is_up_to_today_wherever_it_stands(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute("CREATE MACRO years(x) AS age(x)")
    duckdb_store.execute("CREATE TABLE people AS SELECT TIMESTAMP '2000-01-01' AS born, 1 AS today")
    views = {
        "years(born)": True,
        "age(TIMESTAMP '2000-01-01')": True,
        "today + 1": False,
        "date_diff('day', born, today())": True,
    }
    for number, value in enumerate(views):
        duckdb_store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x FROM people")
    with duckdb_store.connect() as engine:
        assert [engine.describe(f"v{number}").time_dependent for number in range(len(views))] == list(views.values())
        assert "depend on the time zone" in " ".join(engine.describe("v3").notes)
        for where, expected in {"age(born) > INTERVAL '1 day'": True, "age(born, born) IS NULL": False}.items():
            condition = engine.narrowed(engine.describe("people"), where).condition
            assert condition is not None
            assert condition.time_dependent == expected


def test_settings_that_functions_of_postgres_go_by_are_named(postgres_store: PostgresStore) -> None:
    """`cats` and `cat` are one word in English, and two where the session has another configuration."""
    postgres_store.table("people", {"word": "TEXT", "pay": "NUMERIC"}, [("cats", 1), ("cat", 1)])
    views = {
        "to_tsvector(word)": "default_text_search_config",
        "to_tsvector('simple', word)": "",
        "word @@ 'cat'": "default_text_search_config",
        "CAST(pay AS money)": "lc_monetary",
        "to_char(pay, 'L9D99')": "lc_monetary, lc_numeric",
        "to_char(timestamp '2020-01-01', 'YYYY')": "",
        "jsonb_path_exists_tz(to_jsonb(word), '$.a')": "time zone",
    }
    for number, value in enumerate(views):
        postgres_store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x FROM people")
    with postgres_store.connect() as engine:
        for number, (value, setting) in enumerate(views.items()):
            notes = " ".join(engine.describe(f"v{number}").notes)
            assert setting in notes if setting else not notes, value
        condition = engine.narrowed(engine.describe("people"), "to_tsvector(word) @@ plainto_tsquery('cat')")
    assert "default_text_search_config" in " ".join(condition.notes)


@pytest.mark.exhaustive
def test_generated_columns_of_duckdb(duckdb_store: DuckDBStore) -> None:
    store = duckdb_store
    for name, value in {"noisy": "random() + a", "clock": "now()", "asks": "current_setting('threads')"}.items():
        made = "a INTEGER, since TIMESTAMP DEFAULT now(), CHECK (a > random() - 9)"
        store.execute(f'CREATE TABLE {name} ({made}, "b (" INTEGER AS (a + 1), x AS ({value}))')
        store.execute(f"INSERT INTO {name} (a) VALUES (1), (1)")
        store.execute(f"CREATE VIEW of_{name} AS SELECT a FROM {name}")
    store.execute("CREATE TABLE fine (a INTEGER, since TIMESTAMP DEFAULT now(), x AS (upper('random()') || a))")
    with store.connect() as engine:
        for name in ("noisy", "of_noisy", "asks", "of_asks"):
            with pytest.raises(UsageError, match=r"uses (random|current_setting), so"):
                engine.describe(name)
        assert engine.describe("clock").time_dependent
        assert not engine.describe("fine").notes
    assert any("uses random" in c.text for t in qidsql.doctor(store.url).tables for c in t.checks if "noisy" in t.table)


def test_what_postgres_calls_by_other_names(postgres_store: PostgresStore) -> None:
    """Aggregates, domains, casts, and functions that are called like those that only wait."""
    store = postgres_store
    store.table("people", {"name": "VARCHAR(20)", "age": "INTEGER"}, ROWS)
    chance = "LANGUAGE sql AS $$ SELECT $1 WHERE random() < 2 $$"
    store.execute(f"CREATE FUNCTION pg_sleep_long(int) RETURNS int {chance}")
    store.execute("CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql AS $$ SELECT $1 + (random() * $2)::int $$")
    store.execute("CREATE AGGREGATE total(int) (SFUNC = step, STYPE = int, INITCOND = '0')")
    store.execute(f"CREATE FUNCTION holds(int) RETURNS int {chance}")
    store.execute(f"CREATE DOMAIN aged AS int CHECK ({store.schema}.holds(VALUE) > 0)")
    store.execute("CREATE FUNCTION text_of() RETURNS text STABLE LANGUAGE plpgsql AS "
                  "$$ DECLARE t text; BEGIN EXECUTE 'SELECT current_' || 'user' INTO t; RETURN t; END $$")  # fmt: skip
    for number, value in enumerate(("pg_sleep_long(age)", "total(age) OVER ()", "age::aged")):
        store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x FROM people")
        refused(store, f"v{number}")
    store.execute("CREATE VIEW asks AS SELECT age FROM people WHERE text_of() <> 'x'")
    with store.connect() as engine, pytest.raises(UsageError, match="uses execute, so it can show other rows"):
        engine.describe("asks")


def test_texts_of_sqlite_that_are_the_time(sqlite_store: SQLiteStore) -> None:
    """A function of dates may get 'now' as a value that is stored, or made; one look at all rows tells."""
    sqlite_store.table("people", {"born": "TEXT", "word": "TEXT"}, [("2000-01-01", "Now"), ("2000-01-02", "know")])
    views = {
        "date('no' || 'w')": "can change",
        "strftime('%Y', word)": "can change",
        "date(substr(word, -3))": "can change",
        "date(born, 'local' || 'time')": "time zone",
        "date(born || ' 10:00', '+1 day')": "",
        "strftime('%Y', born) || word": "",
    }
    for number, value in enumerate(views):
        sqlite_store.execute(f"CREATE VIEW v{number} AS SELECT {value} AS x FROM people")
    with sqlite_store.connect() as engine:
        for number, expected in enumerate(views.values()):
            try:
                found = "; ".join(engine.narrowed(engine.describe(f"v{number}"), None).notes)
            except UsageError as error:
                found = str(error)
            assert expected in found if expected else not found, number


def test_functions_of_java_hive_and_python_in_plans_of_spark() -> None:
    """Nothing tells what they do."""
    for plan, name in {
        "Project [reflect(java.lang.Math, random) AS x#1]": "reflect",
        "Project [java_method(java.lang.Math, random) AS x#1]": "java_method",
        "Project [HiveSimpleUDF#org.example.Who(name#1) AS x#2]": "HiveSimpleUDF",
        "Aggregate [HiveUDAFFunction#org.example.Any(a#1) AS x#2]": "HiveUDAFFunction",
        "Project [pythonUDF0#12 AS x#2]": "pythonUDF0",
        "Project [Mine(a#1) AS x#2]": "Mine",
    }.items():
        assert depending(plan, frozenset({"mine"})).changing == {name}, plan
    assert depending("Project [upper(mine#1) AS reflected#2]", frozenset({"mine"})) == Dependences()


@pytest.mark.spark
def test_plans_of_spark(spark_store: SparkStore) -> None:
    """Its catalog does not show every view's text; a wide view comes first, whose plan must not be shortened."""
    session = SparkSession(address(spark_store.url), 600)
    wide = ", ".join(f"id % {number + 2} AS c{number}" for number in range(60))
    session.execute(f"CREATE TEMPORARY VIEW wide AS SELECT {wide}, RAND() AS noise FROM RANGE(20)")
    session.execute("CREATE TEMPORARY VIEW shown AS SELECT c1, noise FROM wide")
    session.execute("CREATE TEMPORARY VIEW fine AS SELECT id % 2 AS uuid, UPPER('x') AS rand FROM RANGE(20)")
    for view in ("wide", "shown"):
        with pytest.raises(UsageError, match="can change from statement to statement"):
            qidsql.audit(spark_store.url, view, k=2)
    assert qidsql.audit(spark_store.url, "fine", k=2, entity="row").verdict == "pass"
    session.execute("CREATE TEMPORARY VIEW aged AS SELECT id % 2 AS a, now() AS at FROM RANGE(20)")
    session.execute("CREATE TEMPORARY VIEW today AS SELECT id % 2 AS a FROM RANGE(20) WHERE now() > '2000-01-01'")
    session.execute("CREATE TEMPORARY VIEW days AS SELECT CAST(at AS DATE) AS a FROM aged")
    session.execute("CREATE TEMPORARY VIEW made AS SELECT id % 2 AS a, CAST('now' AS TIMESTAMP) AS at FROM RANGE(20)")
    with spark_store.connect() as engine:
        notes = {view: " ".join(engine.describe(view).notes) for view in ("days", "fine", "made")}
        assert engine.role and engine.time_zone
    assert ["depend on the time zone" in each for each in notes.values()] == [True, False, False]
    assert "current time" in notes["made"]
    for view, noted in (("aged", True), ("today", True), ("fine", False)):
        notes = measured_set(spark_store.url, view, columns=["a"] if noted else ["uuid"]).account.notes
        assert any("each statement reads the current time anew" in note for note in notes) == noted, view


PICKED = {  # views of people, and whether the order of reading can decide what they show
    "SELECT name FROM people LIMIT 3": True,
    "SELECT name, COUNT(*) AS n FROM (SELECT name FROM people LIMIT 3) AS t GROUP BY name": True,
    "SELECT name, ROW_NUMBER() OVER (PARTITION BY name ORDER BY age) AS n FROM people": True,
    "SELECT name, MAX(age) AS age FROM people GROUP BY name": False,
    "SELECT name AS \"first\", age AS lag, 'limit' AS word FROM people": False,
}
PICKED_BY = {
    "duckdb": (
        "SELECT * FROM first_three()",
        "SELECT DISTINCT ON (name) name, age FROM people",
        "SELECT name, ANY_VALUE(age) AS a FROM people GROUP BY 1",
    ),
    "postgres": (
        "SELECT DISTINCT ON (name) name, age FROM people",
        "SELECT name, ARRAY_AGG(age) AS a FROM people GROUP BY 1",
        "SELECT name, STRING_AGG(name, ',') AS a FROM people GROUP BY 1",
    ),
    "sqlite": ("SELECT name, GROUP_CONCAT(age) AS a FROM people GROUP BY 1",),
}


@THREE_ENGINES
def test_a_view_that_picks_rows_says_so(people: Store) -> None:
    """Of three of four rows nobody knows which: with threads, or synchronized scans, two statements can see others."""
    views = {**PICKED, **dict.fromkeys(PICKED_BY[people.name], True)}
    if people.name == "duckdb":
        people.execute("CREATE MACRO first_three() AS TABLE SELECT name, age FROM people LIMIT 3")
        views["SELECT name, HISTOGRAM(age) AS h FROM people GROUP BY name"] = False
    for number, text in enumerate(views):
        people.execute(f"CREATE VIEW v{number} AS {text}")
        people.execute(f"CREATE VIEW behind{number} AS SELECT * FROM v{number}")
    with people.connect() as engine:
        for number, (text, picks) in enumerate(views.items()):
            for view in (f"v{number}", f"behind{number}"):
                notes = "; ".join(engine.describe(view).notes)
                assert ("picks rows or values" in notes) is picks, (text, notes)


@pytest.mark.spark
def test_a_view_of_spark_that_picks_rows_says_so(spark_store: SparkStore) -> None:
    session = SparkSession(address(spark_store.url), 600)
    session.execute("CREATE TEMPORARY VIEW people AS SELECT id % 2 AS name, id AS age FROM RANGE(20)")
    views = {text: picks for text, picks in PICKED.items() if '"' not in text}
    views |= {
        "SELECT name, first(age) AS a FROM people GROUP BY 1": True,
        "SELECT name, collect_list(age) AS a FROM people GROUP BY 1": True,
        "SELECT name AS `first`, age AS lag, 'limit' AS word FROM people": False,
    }
    with spark_store.connect() as engine:
        for number, (text, picks) in enumerate(views.items()):
            session.execute(f"CREATE TEMPORARY VIEW v{number} AS {text}")
            session.execute(f"CREATE TEMPORARY VIEW behind{number} AS SELECT * FROM v{number}")
            for view in (f"v{number}", f"behind{number}"):
                notes = "; ".join(engine.describe(view).notes)
                assert ("picks rows or values" in notes) is picks, (text, notes)
