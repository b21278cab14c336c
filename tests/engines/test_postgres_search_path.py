"""Functions, aggregates and operators that somebody puts into a schema of the auditor's search path (CVE-2018-1058).

`eve` may create in that schema and nothing else. The auditor is a superuser, whose functions could do anything.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import qidsql
from qidsql.core.results import State, Verdict
from qidsql.engines.postgres.functions import postgres_functions
from qidsql.errors import UsageError
from qidsql.operations.history.opening import open_history
from tests.exhaustive import always
from tests.older_servers import older_server
from tests.stores import PostgresStore
from tests.ways import measured_set

# What eve makes: when it is called she is told a cell that she may not read, and a program runs on the server.
CAUGHT = """
CREATE FUNCTION caught() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('{eve}', (SELECT secret FROM {clinic}.people LIMIT 1));
  EXECUTE $copy$COPY (SELECT 1) TO PROGRAM 'cat > {file}'$copy$;
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
CREATE FUNCTION counted(n bigint, x int) RETURNS bigint LANGUAGE plpgsql AS
$$ BEGIN IF n = 0 THEN PERFORM {schema}.caught(); END IF; RETURN n + 100; END $$;
CREATE AGGREGATE count(int) (SFUNC = counted, STYPE = bigint, INITCOND = '0');
CREATE FUNCTION other(varchar, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT CAST($1 AS text) <> CAST($2 AS text)';
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = other);
CREATE FUNCTION upper(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'OSLO' $$;
CREATE FUNCTION row_to_json(anyelement) RETURNS json LANGUAGE sql AS $$ SELECT NULL::json $$;
"""


class Trap:
    """A schema on the auditor's path with eve's functions, a table to audit elsewhere, and what they have done."""

    def __init__(self, store: PostgresStore, file: Path, held: ExitStack) -> None:
        self.store, self.file = store, file
        self.clinic, eve = f"clinic_{store.schema}", f"eve_{store.schema}"
        self.table = f"{self.clinic}.people"
        held.callback(file.unlink, missing_ok=True)
        held.callback(store.execute, f"DROP OWNED BY {eve} CASCADE; DROP ROLE {eve}")
        held.callback(store.execute, f"DROP SCHEMA {self.clinic} CASCADE")
        store.execute(
            f"CREATE ROLE {eve} LOGIN; GRANT USAGE, CREATE ON SCHEMA {store.schema} TO {eve};"
            f"CREATE SCHEMA {self.clinic}; CREATE TABLE {self.table} (ward int, city varchar, secret text);"
            f"INSERT INTO {self.table} SELECT i % 4, CASE WHEN i < 20 THEN 'Oslo' ELSE 'Bergen' END, 'cnry ' || i"
            " FROM generate_series(0, 99) AS i;"
            f"UPDATE {self.table} SET ward = 9 WHERE secret = 'cnry 3'"
        )
        self.auditor = held.enter_context(psycopg.connect(store.url, autocommit=True))
        self.eve = held.enter_context(psycopg.connect(store.url_of(eve), autocommit=True))
        self.told: set[str] = set()
        self.eve.add_notify_handler(lambda notice: self.told.add(notice.payload))
        self.eve.execute(f"LISTEN {eve}".encode())
        self.eve.execute(CAUGHT.format(file=file, schema=store.schema, eve=eve, clinic=self.clinic).encode())

    @property
    def sprung(self) -> list[str]:
        """What eve was told, and the file that her program has made."""
        self.eve.execute("SELECT 1")  # with its answer comes what eve was told before
        return sorted(self.told) + ([str(self.file)] if self.file.exists() else [])


@pytest.fixture(scope="module", params=always("18", longer=["15", "16"]))
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "18":
        yield request.getfixturevalue("postgres_url")
    else:
        with older_server(request.param) as url:
            yield url


@pytest.fixture
def trap(server: str) -> Iterator[Trap]:
    with PostgresStore(server) as store, ExitStack() as held:
        yield Trap(store, Path(f"/tmp/qidsql-caught-{store.schema}-{os.getpid()}"), held)


def test_the_trap_works(trap: Trap) -> None:
    """On a session of the auditor's own, with the role's own path."""
    counted = trap.auditor.execute(f"SELECT COUNT(ward), COUNT(*) FROM {trap.table}".encode()).fetchone()
    assert counted == (10_000, 100)
    others = f"SELECT COUNT(*) FROM {trap.table} WHERE city = CAST('Oslo' AS varchar)"
    assert trap.auditor.execute(others.encode()).fetchone() == (80,)
    assert trap.sprung == ["cnry 0", str(trap.file)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("snapshot", [True, False])
def test_an_audit_calls_nobody_elses_functions(trap: Trap, snapshot: bool) -> None:
    with trap.store.connect(snapshot=snapshot) as engine:
        result = qidsql.audit(engine, trap.table, columns=["ward", "city"], k=5)
        assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 100)
        for asked in (
            lambda: qidsql.keys(engine, trap.table, columns=["ward", "city"], all=True, violates=5),
            lambda: measured_set(engine, trap.table, columns=["ward", "city"], nulls="wildcard"),
            lambda: qidsql.uniques(engine, trap.table, columns=["ward", "city"], max_size=2),
            lambda: qidsql.protect(
                engine, trap.table, columns=["ward", "city"], k=5, by="cells", against="released-rows"
            ),
        ):
            asked()
    assert trap.sprung == []


def test_a_condition_means_what_postgres_says(trap: Trap) -> None:
    for where in ("city = 'Oslo'", "city = CAST('Oslo' AS varchar)", "upper(city) = 'OSLO'"):
        result = qidsql.audit(trap.store.url, trap.table, columns=["ward"], k=5, where=where)
        assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 20), where
    assert trap.sprung == []


@pytest.mark.exhaustive
def test_copies_are_made_and_scripts_run_without_them(trap: Trap) -> None:
    """The scripts in a session of the auditor's own, with the role's own path."""
    url, names = trap.store.url, {"columns": ["ward", "city"], "k": 5}
    where = {"where": "city = CAST('Oslo' AS varchar)"}
    published = qidsql.protect(
        url, trap.table, distinct=0.5, columns=["ward"], **where, view="published", by="columns"
    ).script
    views = qidsql.protect(url, trap.table, **names, sql="view", **where, by="cells", against="released-rows").script
    tables = qidsql.protect(url, trap.table, **names, sql="table", **where, by="cells").script
    for script in ([line for line in published if not line.startswith("GRANT")], views, tables):
        for statement in script:
            trap.auditor.execute(statement.encode())
    for made in ("published", "people_suppressed", "people_anonymized"):
        assert trap.auditor.execute(f"SELECT COUNT(*) FROM {trap.clinic}.{made}".encode()).fetchone() == (20,)
    assert trap.auditor.execute("SHOW search_path").fetchone() == (trap.store.schema,)
    qidsql.protect(url, trap.table, **names, into=f"{trap.clinic}.safe", by="cells")
    qidsql.uniques(url, trap.table, columns=["ward", "city"], into=f"{trap.clinic}.listed")
    for statement in qidsql.protect(
        url, trap.table, **names, sql="update", **where, by="cells", against="released-rows"
    ).script:
        trap.auditor.execute(statement.encode())
    assert trap.sprung == []


def test_the_functions_for_psql(trap: Trap) -> None:
    trap.auditor.execute(postgres_functions().encode())
    try:
        for call in (
            "SELECT rows FROM qidsql.profile('TABLE', '{ward,city}')",
            "SELECT SUM(class_size) FROM qidsql.violations('TABLE', '{ward,city}', k => 1000)",
            "SELECT MAX(rows) FROM qidsql.columns('TABLE')",
        ):
            assert trap.auditor.execute(call.replace("TABLE", trap.table).encode()).fetchone() == (100,)
    finally:
        trap.auditor.execute("DROP SCHEMA qidsql CASCADE")
    assert trap.sprung == []


def test_the_history_goes_by_no_path_either(trap: Trap) -> None:
    history = open_history(trap.store.url, trap.clinic)
    with history.writing() as store:
        assert store._line.execute(b"SHOW search_path") == [("pg_catalog, pg_temp",)]  # type: ignore[attr-defined]
    with history.exclusive():
        pass
    assert trap.sprung == []


def test_a_name_of_a_table_goes_by_the_roles_own_path(trap: Trap) -> None:
    trap.store.execute("CREATE TABLE people AS SELECT 1 AS ward")
    with trap.store.connect() as engine:
        assert str(engine.describe("people").name) == f"{trap.store.schema}.people"


def test_doctor_names_the_schema_and_the_superusers_risk(trap: Trap) -> None:
    with trap.store.connect() as engine:
        checks = engine.examine().session
    warnings = [f"{check.text} -> {check.remedy}" for check in checks if check.state is State.WARNING]
    assert any("is a superuser" in each and "server's files" in each for each in warnings)
    name = trap.store.schema
    [path] = [
        each for each in warnings if f"eve_{name} may create functions and operators in schema {name}, on" in each
    ]
    assert f'REVOKE CREATE ON SCHEMA "{name}" FROM eve_{name}' in path


PLANNED = {  # what the planner computes before it plans, where a function is IMMUTABLE and its arguments are constants
    "an index": "CREATE INDEX ON {t} ((calm(1) + a))",
    "a part of a table": "CREATE INDEX ON {t} (a) WHERE calm(1) = 1",
    "statistics": "CREATE STATISTICS s_{t} ON (calm(1) + a), b FROM {t}",
    "a child's CHECK": "CREATE TABLE c_{t} (CHECK (calm(1) = 1)) INHERITS ({t})",
    "a key of partitions": "CREATE TABLE p_{t} (a int) PARTITION BY LIST ((calm(1) + a))",
}


def test_functions_that_the_planner_may_call(postgres_store: PostgresStore) -> None:
    """They run as whoever audits: one sets a path of its own, and every count() after it is another function."""
    body = "BEGIN {} RETURN x; END"
    postgres_store.execute(
        f"CREATE FUNCTION calm(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {body.format('')} $$;"
        f"CREATE FUNCTION honest(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {body.format('')} $$;"
        "CREATE TABLE fine (a int CHECK (honest(a) = a), b text CHECK (b <> current_user), c date CHECK (c <= now()));"
        "CREATE INDEX ON fine ((honest(1) + a));"
        "INSERT INTO fine SELECT 1, 'x', '2020-01-01' FROM generate_series(1, 5);"
        "CREATE VIEW fine_view AS SELECT * FROM fine"
    )
    names = []
    for number, text in enumerate(PLANNED.values()):
        postgres_store.execute(f"CREATE TABLE t{number} AS SELECT 1 AS a, 1 AS b FROM generate_series(1, 5)")
        postgres_store.execute(text.format(t=f"t{number}") + f"; CREATE VIEW v{number} AS SELECT * FROM t{number}")
        names += [f"t{number}", f"v{number}"] if "p_" not in text else [f"p_t{number}"]
    hostile = body.format("PERFORM set_config('search_path', 'elsewhere', true);")
    postgres_store.execute(
        f"CREATE OR REPLACE FUNCTION calm(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ {hostile} $$"
    )
    for name in names:
        with pytest.raises(UsageError, match="set_config"):
            qidsql.audit(postgres_store.url, name, k=2)
    assert {table.table for table in qidsql.doctor(postgres_store.url).tables if not table.auditable} >= {
        f"{postgres_store.schema}.{name}" for name in names
    }
    for name in ("fine", "fine_view"):
        assert qidsql.audit(postgres_store.url, name, k=2).verdict == "pass"
