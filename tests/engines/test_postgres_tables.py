"""What a Postgres database can hold, under any name and with any rights: audited, or refused in one clear line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.core.results import Verdict
from qidsql.errors import AccessError, QidsqlError, StatementError, UnknownName, UsageError
from qidsql.sql.relation import rows_node
from tests.exhaustive import always
from tests.older_servers import older_server, open_to_servers
from tests.stores import PostgresStore, quoted

NAMES = [
    "Mixed Case",
    "select",
    "a.b",
    ".",
    'with "quotes"',
    "back\\slash",
    "per%cent %s %(x)s",
    "colon :columns",
    "{brace} $1 ?",
    "line\nbreak",
    "naïve Straße 表",
    "🙂",
    " space ",
    "x" * 63,
    "é" * 31,
    "relation",
    "class_size",
    "set_number",
    "-- comment",
    "'; DROP TABLE t; --",
]


def audited(store: PostgresStore, table: str | None = "t", role: str | None = None, **options: Any) -> AuditResult:
    with store.connect() if role is None else store.connect_as(role) as engine:
        return audit(engine, AuditRequest(table, **{"k": 2, **options}))


def refusal(store: PostgresStore, table: str | None, role: str | None = None, **options: Any) -> QidsqlError:
    """The error that an audit ends with: one line."""
    with pytest.raises(QidsqlError) as caught:
        audited(store, table, role, **options)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.fixture
def people(postgres_store: PostgresStore) -> PostgresStore:
    """A table t of ten rows, 5-anonymous."""
    postgres_store.execute("CREATE TABLE t AS SELECT i % 2 AS a, 'x' AS b, i / 5 AS c FROM generate_series(0, 9) AS i")
    return postgres_store


# names


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", always(*NAMES[4::4], longer=[n for n in NAMES if n not in NAMES[4::4]]))
def test_any_name_of_a_table_and_its_columns(postgres_store: PostgresStore, name: str) -> None:
    postgres_store.execute(
        f"CREATE TABLE {quoted(name)} AS SELECT i % 2 AS {quoted(name)}, 'x' AS other FROM generate_series(1, 10) AS i"
    )
    with postgres_store.connect() as engine:
        for typed in (name, f"{postgres_store.schema}.{name}", quoted(name), f"{postgres_store.schema}.{quoted(name)}"):
            result = audit(engine, AuditRequest(typed, k=2, where=f"{quoted(name)} >= 0", entity="other"))
            assert result.account.table == f"{postgres_store.schema}.{name}"
            assert [finding.name for finding in result.columns] == [name, "other"]
            assert result.profile is not None
            assert result.profile.classes == 2


def test_rows_that_are_gone_without_a_change(postgres_store: PostgresStore) -> None:
    """Lost pages: fewer rows than at the last ANALYZE, without deletions. One never analyzed says nothing."""
    names = ("lost", "written", "deleted", "new")
    for name in names:
        postgres_store.execute(f"CREATE TABLE {name} AS SELECT i % 3 AS a FROM generate_series(1, 4000) AS i")
        postgres_store.execute("SELECT pg_stat_force_next_flush()")
        if name != "new":
            postgres_store.execute(f"ANALYZE {name}")
    postgres_store.execute("DELETE FROM deleted WHERE a < 2")
    postgres_store.execute("UPDATE written SET a = a")
    postgres_store.execute("SELECT pg_stat_force_next_flush()")
    postgres_store.execute("UPDATE pg_class SET reltuples = 9000 WHERE relname IN ('lost', 'written', 'new')")
    for name in names:
        found = qidsql.audit(postgres_store.url, name, k=2)
        said = "4,000 rows were counted where the last ANALYZE found about 9,000" in " ".join(found.account.notes)
        assert said == (name in ("lost", "written")), name
        assert found.verdict == "pass"


def test_a_name_in_two_schemas_is_the_search_paths_first(people: PostgresStore) -> None:
    people.execute("CREATE SCHEMA other_place; CREATE TABLE other_place.t (x int); CREATE TABLE other_place.u (x int)")
    try:
        assert audited(people, "t").account.table == f"{people.schema}.t"
        assert audited(people, "other_place.t").account.table == "other_place.t"
        assert audited(people, "u").account.table == "other_place.u"  # in no schema of the path, yet there is only one
        people.execute("CREATE SCHEMA third_place; CREATE TABLE third_place.u (x int)")
        assert str(refusal(people, "u")).startswith("u could be any of other_place.u, third_place.u")
    finally:
        people.execute("DROP SCHEMA other_place CASCADE; DROP SCHEMA IF EXISTS third_place CASCADE")


def test_a_name_with_a_dot_that_could_be_two_tables_is_asked_back(people: PostgresStore) -> None:
    people.table(f"{people.schema}.t", {"x": "int"}, [])
    assert "could be any of" in str(refusal(people, f"{people.schema}.t"))
    assert audited(people, quoted(f"{people.schema}.t")).columns[0].name == "x"
    assert audited(people, f'"{people.schema}"."t"').columns[0].name == "a"


def test_a_wrong_name_gets_near_misses(people: PostgresStore) -> None:
    people.execute("CREATE TABLE patients (x int)")
    error = refusal(people, "patient")
    assert isinstance(error, UnknownName)
    assert ".patients?)" in str(error)


def test_a_url_in_the_tables_place_is_not_echoed(people: PostgresStore) -> None:
    assert "canary" not in str(refusal(people, "postgresql://me:canary@host/db"))


# kinds


def test_views_and_materialized_views(people: PostgresStore) -> None:
    people.execute("CREATE VIEW v AS SELECT a, upper(b) AS b FROM t; CREATE MATERIALIZED VIEW m AS SELECT * FROM t")
    assert (audited(people, "v").account.kind, audited(people, "v").verdict) == ("view", Verdict.PASS)
    result = audited(people, "m")
    assert (result.account.kind, result.verdict) == ("materialized view", Verdict.PASS)
    assert "last refresh" in result.account.notes[0]


def test_a_materialized_view_that_was_never_filled_is_refused(people: PostgresStore) -> None:
    people.execute("CREATE MATERIALIZED VIEW m AS SELECT * FROM t WITH NO DATA; CREATE VIEW v AS SELECT * FROM m")
    assert "REFRESH MATERIALIZED VIEW" in str(refusal(people, "m"))
    assert "materialized view behind it not filled" in str(refusal(people, "v"))


def test_partitioned_tables_and_single_partitions(postgres_store: PostgresStore) -> None:
    postgres_store.execute(
        "CREATE TABLE p (a int, b int) PARTITION BY LIST (a);"
        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1); CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);"
        "INSERT INTO p SELECT 1 + i % 2, 1 FROM generate_series(1, 10) AS i; ANALYZE p"
    )
    with postgres_store.connect() as engine:
        assert engine.describe("p").estimated_rows == 10
        whole, part = audit(engine, AuditRequest("p")), audit(engine, AuditRequest("p1"))
    assert (whole.account.kind, whole.account.rows) == ("partitioned table", 10)
    assert (part.account.kind, part.account.rows) == ("table", 5)


def test_a_parents_rows_include_its_childrens(people: PostgresStore) -> None:
    people.execute("CREATE TABLE child () INHERITS (t); INSERT INTO child SELECT * FROM t")
    assert audited(people, "t").account.rows == 20


def test_a_big_table_that_was_never_analysed_counts_as_big(postgres_store: PostgresStore) -> None:
    postgres_store.execute(
        "CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT repeat('x', 90) FROM generate_series(1, 9000)"
    )
    with postgres_store.connect() as engine:
        estimate = engine.describe("t").estimated_rows
    assert estimate is not None
    assert 3000 < estimate < 30000


def test_foreign_tables(postgres_store: PostgresStore, tmp_path: Path) -> None:
    name = f"wrapper_{postgres_store.schema}"
    postgres_store.execute(
        f"CREATE FOREIGN DATA WRAPPER {name}; CREATE SERVER {name} FOREIGN DATA WRAPPER {name};"
        f"CREATE FOREIGN TABLE dead (a int) SERVER {name}"
    )
    try:
        assert isinstance(refusal(postgres_store, "dead"), StatementError)
    finally:
        postgres_store.execute(f"DROP FOREIGN DATA WRAPPER {name} CASCADE")
    if postgres_store.admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'file_fdw'").fetchone():
        file = tmp_path / "rows.csv"
        file.write_text("1\n1\n")
        open_to_servers(tmp_path)
        postgres_store.execute(
            "CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;"
            f"CREATE FOREIGN TABLE f (a int) SERVER files OPTIONS (filename '{file}', format 'csv')"
        )
        result = audited(postgres_store, "f")
        assert (result.account.kind, result.account.rows, result.verdict) == ("foreign table", 2, Verdict.PASS)
        assert "no snapshot covers them" in result.account.notes[0]
        file.unlink()
        assert isinstance(refusal(postgres_store, "f"), StatementError)


FALSE_FACTS = {  # what is said of rows in a file, which all have a = 1 or NULL, and a condition that it would answer
    "a bound": ("p", "a = 1", 30),
    "a bound behind a view": ("v", "a = 1", 30),
    "a CHECK of a child": ("parent", "parent.a = 1", 30),
    "a CHECK": ("checked", "a = 1", 10),
    "NOT NULL": ("full_", "a IS NULL", 10),
}


@pytest.mark.exhaustive
def test_what_a_foreign_table_says_of_its_rows_is_not_believed(tmp_path: Path) -> None:
    """The planner would skip the file, in which each row is alone, and pass the twenty equal rows beside it."""
    for name, a in (("ones", "1"), ("nulls", "")):
        (tmp_path / name).write_text("".join(f"{a},{i}\n" for i in range(10)))
    open_to_servers(tmp_path)
    ones, nulls = (f"SERVER files OPTIONS (filename '{tmp_path / each}', format 'csv')" for each in ("ones", "nulls"))
    with older_server("15") as url, PostgresStore(url) as store:
        store.execute(
            "CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;"
            "CREATE TABLE p (a int, b int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);"
            f"CREATE FOREIGN TABLE p2 PARTITION OF p FOR VALUES IN (2) {ones}; CREATE VIEW v AS SELECT * FROM p;"
            "CREATE TABLE parent (a int, b int);"
            f"CREATE FOREIGN TABLE child (CHECK (a = 2)) INHERITS (parent) {ones};"
            f"CREATE FOREIGN TABLE checked (a int CHECK (a = 2), b int) {ones};"
            f"CREATE FOREIGN TABLE full_ (a int NOT NULL, b int) {nulls};"
            "INSERT INTO p1 SELECT 1, 1 FROM generate_series(1, 20); INSERT INTO parent SELECT * FROM p1"
        )
        store.execute("ALTER ROLE postgres IN DATABASE postgres SET constraint_exclusion = on")
        found = {
            fact: (result.verdict, result.account.rows)
            for fact, (table, where, _) in FALSE_FACTS.items()
            for result in [audited(store, table, where=where)]
        }
        assert audited(store, "p1", where="p1.a = 1").verdict is Verdict.PASS
    assert found == {fact: (Verdict.VIOLATION, rows) for fact, (_, _, rows) in FALSE_FACTS.items()}


def test_which_tables_have_rows_elsewhere(postgres_store: PostgresStore) -> None:
    name = f"wrapper_{postgres_store.schema}"
    postgres_store.execute(f"CREATE FOREIGN DATA WRAPPER {name}; CREATE SERVER {name} FOREIGN DATA WRAPPER {name}")
    try:
        postgres_store.execute(
            "CREATE TABLE here (a int); CREATE TABLE above (a int); CREATE TABLE parent () INHERITS (above);"
            f"CREATE FOREIGN TABLE child () INHERITS (parent) SERVER {name}; CREATE VIEW v AS SELECT * FROM here;"
            "CREATE MATERIALIZED VIEW m AS SELECT * FROM here"
        )
        with postgres_store.connect() as engine:
            fenced = {table.name.name for table in engine.catalog().tables if table.fenced}
            text = engine.dialect.render(rows_node(replace(engine.describe("here"), fenced=True)))
    finally:
        postgres_store.execute(f"DROP FOREIGN DATA WRAPPER {name} CASCADE")
    assert fenced == {"above", "parent", "child", "v"}
    assert text == f'(SELECT "a" FROM "{postgres_store.schema}"."here" OFFSET 0) AS "here"'


def test_a_temporary_table_is_its_sessions_own(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TEMP TABLE scratch (a int)")
    assert "temporary table of another session" in str(refusal(postgres_store, "scratch"))
    postgres_store.execute("CREATE TABLE scratch (a int)")
    assert audited(postgres_store, "scratch").account.rows == 0  # the temporary one is not in the way
    postgres_store.execute("DROP TABLE pg_temp.scratch")


# sizes


def test_an_empty_table_cannot_pass(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t (a int, b json)")
    assert audited(postgres_store).verdict is Verdict.INCONCLUSIVE


def test_no_columns_at_all(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t ()")
    assert "has no columns" in str(refusal(postgres_store, "t"))


def test_one_row_and_one_column(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t AS SELECT 1 AS a")
    result = audited(postgres_store)
    assert (result.verdict, result.account.rows) == (Verdict.VIOLATION, 1)


def test_three_hundred_columns(postgres_store: PostgresStore) -> None:
    columns = ", ".join(f"{i % 3} AS c{i}" for i in range(300))
    postgres_store.execute(f"CREATE TABLE t AS SELECT {columns} FROM generate_series(1, 10)")
    result = audited(postgres_store)
    assert (result.verdict, len(result.columns)) == (Verdict.PASS, 300)


# rights


def test_a_role_with_nothing_but_select(people: PostgresStore, reader: str) -> None:
    people.execute(f"GRANT SELECT ON t TO {reader}")
    assert audited(people, None, role=reader).verdict is Verdict.PASS  # the only table it may read


def test_a_column_without_select_keeps_the_audit_from_passing(people: PostgresStore, reader: str) -> None:
    people.execute(f"GRANT SELECT (a, b) ON t TO {reader}")
    result = audited(people, role=reader)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "c could not be read" in result.reason
    assert audited(people, role=reader, exclude=("c",)).verdict is Verdict.PASS
    error = refusal(people, "t", reader, columns=("a", "c"))
    assert isinstance(error, UsageError)
    assert "no right to read column c" in str(error)


def test_a_condition_on_a_column_without_select_is_refused(people: PostgresStore, reader: str) -> None:
    people.execute(f"GRANT SELECT (a, b) ON t TO {reader}")
    assert isinstance(refusal(people, "t", reader, where="c > 0"), AccessError)


def test_a_table_without_select_is_refused_with_the_grant_to_run(people: PostgresStore, reader: str) -> None:
    people.execute('ALTER TABLE t RENAME TO "T of all"; REVOKE ALL ON "T of all" FROM PUBLIC')
    error = refusal(people, "T of all", reader)
    assert isinstance(error, AccessError)
    people.execute(str(error).partition("run: ")[2])  # the remedy is a statement that works
    assert audited(people, "T of all", role=reader).verdict is Verdict.PASS


def test_a_schema_without_usage_is_refused_with_the_grant_to_run(people: PostgresStore, reader: str) -> None:
    people.execute(f"GRANT SELECT ON t TO {reader}; REVOKE USAGE ON SCHEMA {people.schema} FROM {reader}")
    error = refusal(people, f"{people.schema}.t", reader)
    assert isinstance(error, AccessError)
    people.execute(str(error).partition("run: ")[2])
    assert audited(people, role=reader).verdict is Verdict.PASS


def test_a_view_whose_owner_may_not_read_the_table_is_refused(people: PostgresStore, reader: str) -> None:
    people.execute(
        f"GRANT CREATE ON SCHEMA {people.schema} TO {reader}; GRANT SELECT ON t TO {reader}; SET ROLE {reader};"
        "CREATE VIEW v AS SELECT * FROM t; RESET ROLE; REVOKE SELECT ON t FROM " + reader
    )
    assert "behind the view" in str(refusal(people, "v", reader))


def test_a_view_gives_its_readers_what_its_owner_may_read(people: PostgresStore, reader: str) -> None:
    people.execute(f"CREATE VIEW v AS SELECT a FROM t; GRANT SELECT ON v TO {reader}")
    assert audited(people, "v", role=reader).verdict is Verdict.PASS


def test_row_level_security_is_refused_up_front(people: PostgresStore, reader: str) -> None:
    people.execute(
        f"ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON t USING (a = 0); GRANT SELECT ON t TO {reader}"
    )
    error = refusal(people, "t", reader)
    assert isinstance(error, AccessError)
    assert "row-level security hides rows" in str(error)
    assert audited(people, "t").verdict is Verdict.PASS  # not for the superuser


def test_row_level_security_behind_a_view_is_refused_up_front(people: PostgresStore, reader: str) -> None:
    people.execute(
        f"ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON t USING (a = 0);"
        f"GRANT SELECT ON t TO {reader}; GRANT CREATE ON SCHEMA {people.schema} TO {reader}; SET ROLE {reader};"
        "CREATE VIEW v AS SELECT a, CAST('{}' AS json) AS b FROM t; RESET ROLE"
    )
    for role in (reader, None):  # the owner of the view counts, not who reads it
        with people.connect() if role is None else people.connect_as(role) as engine:
            with pytest.raises(AccessError, match="row-level security hides rows"):
                engine.describe("v")
            assert engine.statements == 0


# what a condition or a view can break


CANARY = "canary-4711"


@pytest.mark.parametrize(
    "where", ["b::int > 0", "a / (a - a) = 1", "b > 3", "a + b = 1", "a", "b::date > now()", "a = 'canary-4711'"]
)
def test_a_condition_that_fails_shows_no_value(postgres_store: PostgresStore, where: str) -> None:
    postgres_store.execute(f"CREATE TABLE t AS SELECT 1 AS a, '{CANARY}' AS b")
    error = refusal(postgres_store, "t", where=where)
    assert "the where condition" in str(error)
    assert CANARY not in repr(error) + repr(error.__cause__)


def test_a_view_that_fails_shows_no_value(postgres_store: PostgresStore) -> None:
    postgres_store.execute(
        f"CREATE TABLE t AS SELECT '{CANARY}' AS b; CREATE VIEW v AS SELECT b::int AS b FROM t;"
        "CREATE FUNCTION loud(text) RETURNS text LANGUAGE plpgsql STABLE AS "
        "$$ BEGIN RAISE EXCEPTION 'no %', $1; END $$; CREATE VIEW w AS SELECT loud(b) AS b FROM t"
    )
    for view, cause in ("v", "could not compute or convert a value"), ("w", "a function behind the view"):
        error = refusal(postgres_store, view)
        assert isinstance(error, StatementError)
        assert cause in str(error)
        assert CANARY not in repr(error)


def test_a_view_that_wants_to_write_is_refused(postgres_store: PostgresStore) -> None:
    postgres_store.execute(
        "CREATE TABLE t AS SELECT 1 AS b; CREATE FUNCTION write(int) RETURNS int LANGUAGE sql "
        f"SET search_path = {postgres_store.schema} AS 'INSERT INTO t VALUES (2) RETURNING b'; "
        "CREATE FUNCTION hidden(x int) RETURNS int LANGUAGE plpgsql STABLE "
        f"SET search_path = {postgres_store.schema} AS $$ BEGIN RETURN write(x); END $$; "
        "CREATE VIEW v AS SELECT hidden(b) AS b FROM t; CREATE VIEW w AS SELECT write(b) AS b FROM t"
    )
    assert "uses write" in str(refusal(postgres_store, "w"))
    assert "only reads" in str(refusal(postgres_store, "v"))
    assert audited(postgres_store, "t").account.rows == 1
