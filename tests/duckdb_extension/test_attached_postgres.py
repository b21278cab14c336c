"""Tables of a Postgres that is attached to the DuckDB that qidsql is loaded into: they are audited in Postgres."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.duckdb_extension.test_table_functions import A_FEW, CASES, Cases, compare, lists, rows
from tests.duckdb_hosts import Answer, Module, Refused, fetched
from tests.exhaustive import always
from tests.postgres_server import PostgresServer
from tests.stores import PostgresStore

pytestmark = pytest.mark.exhaustive  # as it takes longer to install than to run
VERSION = "1.5.5"  # the newest of which PyPI has DuckDB's postgres extension
PEOPLE = """CREATE TABLE people AS SELECT i AS id, i % 7 AS a, CAST(i % 13 AS TEXT) AS b,
CASE WHEN i % 5 = 0 THEN NULL ELSE i % 3 END AS c, i / 4 % 10 AS d FROM generate_series(0, 299) AS r(i)"""
# Its values can be computed in statements that group or count alone: not in one that fetches rows.
COUNTING = """CREATE FUNCTION counting() RETURNS boolean STABLE LANGUAGE sql
RETURN asked() ~ 'GROUP BY|COUNT'"""
GROUPED = "CREATE VIEW grouped AS SELECT id, CASE WHEN counting() THEN a ELSE 1 / (a - a) END AS a, b FROM people"

GRAPH = "SELECT finding FROM qidsql.graph(identifiers := ['people.id'], sensitive := ['people.c']) LIMIT 1"


@dataclass(frozen=True)
class Attaching:
    """A DuckDB with qidsql and the postgres extension."""

    host: Module
    scanner: Path

    def run(self, url: str, statements: Sequence[str]) -> list[Answer]:
        """The answers to the statements in one process, the Postgres attached as pg."""
        attach = f"ATTACH '{url}' AS pg (TYPE postgres, READ_ONLY)"
        return self.host.run([f"LOAD '{self.scanner}'", self.host.load, attach, *statements])[3:]

    def script(self, text: str, url: str) -> Any:
        """What a Python program of its own prints as JSON; its `connection` has the Postgres attached."""
        start = (
            "import json, sys, duckdb\n"
            "connection = duckdb.connect(config={'allow_unsigned_extensions': 'true'})\n"
            "connection.execute('SET enable_progress_bar = false')\n"
            "connection.execute(f\"LOAD '{sys.argv[1]}'\")\n"
            "connection.execute(f\"ATTACH '{sys.argv[2]}' AS pg (TYPE postgres)\")\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", start + text, str(self.scanner), url],
            env=self.host.environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def attaching(extension: Path, tmp_path_factory: pytest.TempPathFactory) -> Attaching:
    packages = tmp_path_factory.mktemp("attaching")
    for package in (f"duckdb=={VERSION}", f"duckdb-extension-postgres-scanner=={VERSION}"):
        fetched(package, packages)
    [scanner] = packages.rglob("postgres_scanner.duckdb_extension")
    return Attaching(Module("module with postgres", extension, packages), scanner)


@pytest.mark.parametrize("cases", always(longer=[A_FEW, CASES]), ids=["few", "all"])
def test_audits_equal_the_command_lines(attaching: Attaching, postgres_store: PostgresStore, cases: Cases) -> None:
    postgres_store.execute(PEOPLE)
    url = postgres_store.url
    compare(cases, lambda statements: attaching.run(url, statements), "pg.people", url, "people")


@pytest.mark.exhaustive
def test_names(attaching: Attaching, postgres_store: PostgresStore) -> None:
    schema = postgres_store.schema
    postgres_store.execute(PEOPLE)
    every = "columns := ['id', 'a']"
    postgres_store.execute('CREATE TABLE "A ""table""" ("x y" INTEGER, "all" TEXT)')
    postgres_store.execute('INSERT INTO "A ""table""" VALUES (1, \'é\'), (2, NULL), (2, NULL)')
    quoted, *answers, local, unnamed, wrong, column, where = attaching.run(
        postgres_store.url,
        [
            f'SELECT columns, rows FROM qidsql.keys(\'pg.{schema}."A ""table"""\', distinct_ := \'2/3\')',
            f"SELECT columns, rows FROM qidsql.keys('pg.{schema}.people', {every})",
            f'SELECT columns, rows FROM qidsql.keys(\'"PG"."{schema}"."people"\', {every})',
            f"SELECT columns, rows FROM qidsql.keys('pg.people', {every})",
            "CREATE TABLE people AS SELECT 1 AS one",
            "SELECT columns, rows FROM qidsql.keys('memory.people')",
            f"FROM qidsql.keys('{schema}.people')",
            f"FROM qidsql.keys('pg.{schema}.peopel')",
            "FROM qidsql.keys('pg.people', columns := ['aa'])",
            "FROM qidsql.keys('pg.people', where_ := 'a = b')",
        ],
    )
    assert lists(quoted) == [[["x y"], 3]]
    assert [lists(answer) for answer in answers[:3]] == [[[["id"], 300]]] * 3
    assert lists(local) == [[["one"], 1]]
    for answer, words in (
        (unnamed, f'is in pg, an attached Postgres, and is audited there: write its name with its database, "pg"."'
                  f'{schema}"."people"'),
        (wrong, f"no table {schema}.peopel (did you mean {schema}.people?) in pg, the Postgres attached to this"),
        (column, "no column aa (did you mean a?) in "),
        (where, "the where condition has an operation that its columns' types do not allow"),
    ):  # fmt: skip
        assert isinstance(answer, Refused)
        assert words in answer


@pytest.mark.exhaustive
def test_conditions_are_read_by_postgres(attaching: Attaching, postgres_store: PostgresStore) -> None:
    """DuckDB would take A for a, has no to_char, and other functions by the name of Postgres' own."""
    postgres_store.execute('CREATE TABLE twins ("A" int, a int, born date)')
    postgres_store.execute(
        "INSERT INTO twins SELECT i % 2, i % 5, DATE '2020-02-01' + i FROM generate_series(1, 40) AS i"
    )
    name = f"pg.{postgres_store.schema}.twins"
    accepted = {"A = 2": 8, '"A" = 1': 20, "to_char(born, 'YYYY-MM') = '2020-02'": 28, "born < now()": 40}
    refused = {
        "A + nope = 2": "no column nope in ",
        "pg_sleep(9) IS NULL": "the where condition calls pg_sleep, which may return another value each time",
        "a = 1) OR (a = 2": "the where condition cannot be read as one condition in SQL",
        "ctid IS NULL": "the where condition names ctid, the position of a row in storage",
        "a > 'x'": "Postgres could not compute or convert a value at the where condition",
    }

    def asked(where: str) -> str:
        text = where.replace("'", "''")
        return f"SELECT rows FROM qidsql.audit('{name}', where_ := '{text}') WHERE finding = 'table'"

    answers = attaching.run(postgres_store.url, [asked(where) for where in (*accepted, *refused)])
    assert [lists(answer) for answer in answers[: len(accepted)]] == [[[count]] for count in accepted.values()]
    for answer, words in zip(answers[len(accepted) :], refused.values(), strict=True):
        assert isinstance(answer, Refused)
        assert words in answer


@pytest.mark.exhaustive
def test_the_rows_are_grouped_inside_postgres(attaching: Attaching, postgres_store: PostgresStore) -> None:
    postgres_store.execute(PEOPLE)
    internal = "LANGUAGE internal STABLE AS 'current_query'"  # a view that asks the session by its name is refused
    postgres_store.execute(f"CREATE FUNCTION asked() RETURNS text {internal}")
    postgres_store.execute(COUNTING)
    postgres_store.execute(GROUPED)
    name = f"pg.{postgres_store.schema}.grouped"
    fetching, audit, keys, uniques, suppress = attaching.run(
        postgres_store.url,
        [
            f"SELECT count(DISTINCT a) FROM {name}",
            f"SELECT rows, classes FROM qidsql.audit('{name}', k := 2, identifiers := ['id']) WHERE finding = 'table'",
            f"SELECT columns FROM qidsql.keys('{name}', columns := ['id', 'a'])",
            f"SELECT rows FROM qidsql.uniques('{name}', columns := ['a', 'b']) WHERE finding = 'table'",
            f"SELECT cells FROM qidsql.protect_cells('{name}', columns := ['a', 'b']) WHERE finding = 'table'",
        ],
    )
    assert isinstance(fetching, Refused)  # so the view tells
    assert "division by zero" in fetching
    assert [lists(answer) for answer in (audit, keys)] == [[[300, 91]], [[["id"]]]]
    assert rows(uniques)
    assert rows(suppress)


EXACT = """
from qidsql.engines.postgres.attached import AttachedSession
session = AttachedSession(connection, "pg")
wide = "SELECT 9007199254740993::NUMERIC * 9007199254740993 AS n, 9007199254740993 AS n, NULL AS x, 'é''\\"' AS t, "
[[first, second, *others]] = session.execute(wide + "ARRAY['a', NULL] AS l, TRUE AS b, 'n'::name AS n")
[state] = session.execute("SELECT current_setting('transaction_read_only') AS r, current_setting('row_security') AS s")
print(json.dumps([first == 9007199254740993 ** 2, second == 9007199254740993, others, state, session.isolation]))
session.close()
"""


def test_answers_are_exact_and_the_transaction_is_read_only(
    attaching: Attaching, postgres_store: PostgresStore
) -> None:
    assert attaching.script(EXACT, postgres_store.url) == [
        True, True, [None, "é'\"", ["a", None], True, "n"], ["on", "off"], "repeatable read"
    ]  # fmt: skip


MOMENTS = """
from qidsql.engines.duckdb.embedded import HostEngine, engine_for
from qidsql.engines.duckdb.host import Caller, CatalogCache
from qidsql.sql.templates import Statement
import psycopg
version = {"version": [("v1.5.5", "UTC")]}
with engine_for(["pg.people"], connection.cursor(), Caller(), CatalogCache(dict(version))) as engine:
    schema = engine.describe("pg.people").name.schema
    count = Statement(f"SELECT count(*) AS n FROM {schema}.people", "count", lambda rows: rows[0][0])
    before = engine.run(count)
    with psycopg.connect(sys.argv[2], autocommit=True) as other:
        other.execute("DELETE FROM people WHERE id < 100")
    after, words = engine.run(count), engine.snapshot
with HostEngine(connection.cursor(), Caller("pg.somewhere"), CatalogCache(dict(version))) as host:
    names = [host.attached_postgres(name) for name in ("people", "s.people", "memory.people", "memory.s.people")]
print(json.dumps([before, after, words, names]))
"""


def test_all_statements_see_one_moment_and_the_search_path_counts(
    attaching: Attaching, postgres_store: PostgresStore
) -> None:
    postgres_store.execute(PEOPLE)
    assert attaching.script(MOMENTS, postgres_store.url) == [
        300,
        300,
        "one snapshot for all statements: what is committed when it starts, and nothing of an open transaction here",
        [["pg", "people"], ["pg", "s.people"], [None, "memory.people"], [None, "memory.s.people"]],
    ]


SEEN = """
import psycopg
connection.load_extension("EXTENSION")
def asked(query, name="pg.OWN.people"):
    try:
        return connection.execute(f"SELECT rows FROM ({query.format(name=name)})").fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0]
verdict = "FROM qidsql.verdict('{name}')"
def do(*statements):
    for statement in statements:
        connection.execute(statement)
answers = [asked(" UNION ALL ".join([verdict] * 3)), asked(verdict)]
do("BEGIN", "DELETE FROM pg.OWN.people WHERE id < 100")
answers.append(asked(verdict))
do("ROLLBACK", "BEGIN", "SELECT count(*) FROM pg.OWN.people")
answers.append(asked(verdict))
do("COMMIT", "BEGIN", "SELECT count(*) FROM pg.OWN.people")
with psycopg.connect(sys.argv[2], autocommit=True) as other:
    other.execute("DELETE FROM people WHERE id < 100")
answers.append(asked(verdict))
do("ROLLBACK")
answers.append(asked(verdict))
do("CREATE SCHEMA memory.pg", "CREATE TABLE memory.pg.people AS SELECT 1 AS a")
answers.append(asked(verdict, "pg.people"))
answers.append(asked(verdict))
do("USE pg.OWN", "CREATE TEMP TABLE people AS SELECT 1 AS a")
answers.append(asked(verdict, "people"))
print(json.dumps(answers))
"""


@pytest.mark.exhaustive
def test_only_what_the_session_sees_is_audited(attaching: Attaching, postgres_store: PostgresStore) -> None:
    postgres_store.execute(PEOPLE)
    program = SEEN.replace("EXTENSION", str(attaching.host.extension)).replace("OWN", postgres_store.schema)
    answers = attaching.script(program, postgres_store.url)
    three, one, changed, before, old, after, twice, whole, hidden = answers
    assert (three, one, before, after, whole) == ([[300]] * 3, [[300]], [[300]], [[200]], [[200]])
    for answer in (changed, old):
        assert "this session sees other rows than the audit" in answer
    assert "pg is both an attached database and a schema" in twice
    assert "write its name with its database" in hidden


def test_tables_of_two_places_are_linked(attaching: Attaching, postgres_store: PostgresStore) -> None:
    postgres_store.execute(PEOPLE)
    postgres_store.execute("CREATE TABLE others AS SELECT id, a, b FROM people WHERE id < 100")
    figures = "rows, matching_none, matching_one, matching_below_k, verdict"
    link = f"SELECT {figures} FROM qidsql.link('{{0}}', '{{1}}', on_ := ['a=a', 'b=b']) WHERE finding LIKE 'join%'"
    figures = "rows, people, rows_below_k, verdict"
    held = f"SELECT {figures} FROM qidsql.risk_population('{{0}}', '{{1}}', on_ := ['a=a'], k := 3)"
    others, people = (f"pg.{postgres_store.schema}.{name}" for name in ("others", "people"))
    places = (("others", "copy"), (others, people), ("others", people), (others, "copy"))
    asked = [call.format(*each) for call in (link, held) for each in places]
    made = [f"CREATE TABLE others AS FROM {others}", f"CREATE TABLE copy AS FROM {people}"]
    changed = ["BEGIN", "DELETE FROM others WHERE id > 50", link.format("others", people)]
    answers = attaching.run(postgres_store.url, [*made, *asked, *changed, "ROLLBACK", "USE pg", GRAPH])
    found = [lists(answer) for answer in answers[2:10]]
    assert found[0] and found[4]
    assert found[:4] == [found[0]] * 4
    assert found[4:8] == [found[4]] * 4
    assert "this session sees other rows" in answers[12]
    assert lists(answers[-1]) == [["separating set"]]


@pytest.mark.exhaustive
def test_a_statement_is_cancelled_inside_postgres(attaching: Attaching, postgres_store: PostgresStore) -> None:
    postgres_store.execute(PEOPLE)
    postgres_store.execute("CREATE VIEW slow AS SELECT id, CAST(pg_sleep(0.5) AS TEXT) || a AS a FROM people")
    running = "SELECT count(*) FROM pg_stat_activity WHERE state = ''active'' AND query LIKE ''%slow%'' AND pid <> "
    answer, left = attaching.run(
        postgres_store.url,
        [
            "SELECT verdict FROM qidsql.keys('pg.slow', max_seconds := 1)",
            f"SELECT * FROM postgres_query('pg', '{running} pg_backend_pid()')",
        ],
    )
    assert lists(answer) == [["inconclusive"]]
    assert lists(left) == [[0]]


def test_what_the_role_may_not_see_is_said(attaching: Attaching, postgres_store: PostgresStore, reader: str) -> None:
    schema = postgres_store.schema
    for statement in (
        PEOPLE,
        "CREATE TABLE hidden AS TABLE people",
        f"GRANT SELECT ON hidden TO {reader}",
        "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY",
        "CREATE VIEW behind WITH (security_invoker) AS TABLE hidden"
        if postgres_store.admin.info.server_version >= 150000
        else "CREATE VIEW behind AS TABLE hidden",
        f"GRANT SELECT ON behind TO {reader}",
    ):
        postgres_store.execute(statement)
    denied, hidden, behind = attaching.run(
        postgres_store.url_of(reader), [f"FROM qidsql.keys('pg.{name}')" for name in ("people", "hidden", "behind")]
    )
    for answer, words in (
        (denied, f'GRANT SELECT ON "{schema}"."people" TO {reader}'),
        (hidden, f"row-level security hides rows of {schema}.hidden"),
        (behind, "row-level security hides rows of a table behind the"),
    ):
        assert isinstance(answer, Refused)
        assert words in answer


@pytest.mark.exhaustive
def test_no_password_is_shown(attaching: Attaching) -> None:
    with PostgresServer() as server:
        server.ask_passwords_of("keeper", "s3cr3t")
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute(PEOPLE)
            admin.execute("GRANT SELECT ON people TO keeper")
            admin.execute("CREATE TABLE closed AS TABLE people")
        url = server.url.replace("postgres:@", "keeper:s3cr3t@")
        assert "s3cr3t" in url
        answers = attaching.run(
            url,
            [
                "FROM qidsql.audit('pg.people')",
                "FROM qidsql.audit('pg.people', trace := true)",
                "FROM qidsql.protect_columns('pg.people', violates := 3)",
                "FROM qidsql.keys('pg.nobody')",
                "FROM qidsql.keys('pg.closed')",
                "FROM qidsql.keys('pg.people', where_ := 'a = b')",
                "FROM qidsql.keys('people')",
            ],
        )
        assert "Refused" in {type(answer).__name__ for answer in answers}
        assert rows(answers[0])
        assert "s3cr3t" not in json.dumps(answers)

        gone = attaching.script(GONE.replace("EXTENSION", str(attaching.host.extension)), url)
    assert gone[0]
    assert "s3cr3t" not in json.dumps(gone)
    assert "the connection to Postgres was lost" in gone[1]


GONE = """
import os, signal, psycopg
connection.load_extension("EXTENSION")
[[good]] = connection.execute("SELECT count(*) FROM qidsql.keys('pg.people')").fetchall()
with psycopg.connect(sys.argv[2].replace("keeper:s3cr3t@", "postgres:@")) as admin:
    folder = admin.execute("SHOW data_directory").fetchone()[0]
os.kill(int(open(folder + "/postmaster.pid").readline()), signal.SIGINT)
try:
    import time
    while os.path.exists(folder + "/postmaster.pid"):
        time.sleep(0.05)
    connection.execute("FROM qidsql.keys('pg.people')")
except duckdb.Error as error:
    print(json.dumps([good, str(error)]))
"""
