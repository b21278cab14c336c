"""doctor: what stands in the way of an audit, on both engines, with rights missing and servers gone."""

import json
import re
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import sqlglot

import qidsql as package
from qidsql.commands.doctor import doctor as installation
from qidsql.commands.doctor.command import DoctorResult
from qidsql.core.results import State
from qidsql.engines.postgres import engine as postgres_engine
from qidsql.errors import UnknownName, UsageError
from tests.commandline import inside, several
from tests.postgres_server import PostgresServer
from tests.stores import PostgresStore, Store, quoted

SECRET = "s3cr3t%40x"


def examined(store: Store, **question: Any) -> DoctorResult:
    schema = store.schema if isinstance(store, PostgresStore) else None
    return package.doctor(store.url, schema=schema, **question)


def examined_as(store: PostgresStore, role: str, **question: Any) -> DoctorResult:
    with store.connect_as(role) as engine:
        return package.doctor(engine, schema=store.schema, **question)


def said(result: DoctorResult, table: str, state: State) -> list[str]:
    """What is said of a table, with the remedies."""
    [found] = [each for each in result.tables if each.table.rpartition(".")[2] == table]
    return [f"{check.text} -> {check.remedy}" for check in found.checks if check.state is state]


def of_session(result: DoctorResult, state: State) -> str:
    return "\n".join(f"{check.text} -> {check.remedy}" for check in result.session if check.state is state)


def test_a_source_in_order_is_ready(store: Store) -> None:
    store.table("people", {"age": "INTEGER"}, [(1,)])
    result = examined(store)
    assert result.verdict == "pass"
    assert result.reason == "the table can be audited"
    assert "read only" in of_session(result, State.OK)
    assert f"{result.engine} ran in our tests" in of_session(result, State.OK)
    assert not result.grants
    assert not [check for check in result.session if check.state is State.PROBLEM]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("none.duckdb", "none.duckdb"),
        ("postgresql://ann:s3cr3t@127.0.0.1:1/clinic", "postgresql://ann@127.0.0.1:1/clinic"),
        ("host=127.0.0.1 port=1 user=ann password=s3cr3t dbname=clinic", "postgresql://ann@127.0.0.1:1/clinic"),
        ("service=nowhere", "service=nowhere"),
        ("postgresql://ann:s3c/r3t@127.0.0.1:1/clinic", "a Postgres URL that cannot be read"),
        ("mysql://ann:s3cr3t@127.0.0.1/clinic", "a URL that is not shown"),
        ("env:NOWHERE", "env:NOWHERE"),
    ],
)
def test_a_source_that_cannot_be_opened_is_named_without_its_password(source: str, shown: str) -> None:
    outcome = inside("doctor", source)
    assert outcome.code == 2
    assert f"Source       {shown}\n" in outcome.out
    assert "s3c" not in outcome.out + outcome.err


def test_an_engine_that_no_test_ran_on_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("people", {"age": "INTEGER"}, [(1,)])
    with store.connect() as engine:
        monkeypatch.setattr(engine, "version", "PostgreSQL 180.1")
        result = package.doctor(engine)
    assert result.verdict == "pass"
    [warning] = [check for check in result.session if "rendered only" in check.text]
    assert warning.state is State.WARNING
    assert warning.text.startswith("PostgreSQL 180.1: rendered only; our tests ran on ")


def test_no_statement_reads_a_table(store: Store) -> None:
    store.table("people", {"age": "INTEGER"}, [(1,)])
    with store.connect() as engine:
        before = engine.statements
        package.doctor(engine)
        assert engine.statements == before


def test_missing_rights_are_named_with_the_grants_that_mend_them(postgres_store: PostgresStore, reader: str) -> None:
    for name in ("open", "closed", 'ho"st.ile'):
        postgres_store.table(name, {"age": "INTEGER", "ssn": "INTEGER"}, [(1, 2)])
    postgres_store.execute(f"GRANT SELECT (age) ON open TO {reader}")
    result = examined_as(postgres_store, reader)
    assert result.verdict == "inconclusive"
    assert result.reason == "1 of 3 tables can be audited"
    assert "may not read ssn" in said(result, "open", State.NOTE)[0]
    assert "GRANT SELECT ON" in said(result, "closed", State.PROBLEM)[0]
    schema = quoted(postgres_store.schema)
    assert set(result.grants) == {
        f'GRANT SELECT ON {schema}."closed" TO {quoted(reader)}',
        f'GRANT SELECT ON {schema}."ho""st.ile" TO {quoted(reader)}',
    }
    for grant in result.grants:  # what is printed is what helps
        postgres_store.execute(grant)
    assert examined_as(postgres_store, reader).verdict == "pass"


def test_a_closed_schema_takes_two_grants(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    postgres_store.execute(f"REVOKE USAGE ON SCHEMA {postgres_store.schema} FROM {reader}")
    result = examined_as(postgres_store, reader)
    assert "lacks USAGE on schema" in said(result, "people", State.PROBLEM)[0]
    assert [grant.split(" ON ")[0] for grant in result.grants] == ["GRANT USAGE", "GRANT SELECT"]
    for grant in result.grants:
        postgres_store.execute(grant)
    assert examined_as(postgres_store, reader).verdict == "pass"


def test_all_that_a_role_needs(postgres_store: PostgresStore) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    postgres_store.execute("CREATE VIEW shown AS SELECT age FROM people")
    role = f'new"{postgres_store.schema}'
    grants = examined(postgres_store, role=role).grants
    assert all(sqlglot.parse_one(grant, read="postgres").sql("postgres") == grant for grant in grants)
    postgres_store.execute(f"CREATE ROLE {quoted(role)} LOGIN NOSUPERUSER")
    for grant in grants:
        postgres_store.execute(grant)
    try:
        with psycopg.connect(postgres_store.url, autocommit=True) as admin:
            admin.execute(f"SET ROLE {quoted(role)}".encode())
            assert admin.execute("SELECT COUNT(*) FROM people").fetchone() == (1,)
            assert admin.execute("SELECT COUNT(*) FROM shown").fetchone() == (1,)
    finally:
        postgres_store.execute(f"DROP OWNED BY {quoted(role)}")
        postgres_store.execute(f"DROP ROLE {quoted(role)}")
    assert {grant.split(" ON ")[0] for grant in grants} == {"GRANT CONNECT", "GRANT USAGE", "GRANT SELECT"}


def test_row_level_security_is_a_problem_for_those_it_hides_rows_from(
    postgres_store: PostgresStore, reader: str
) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    postgres_store.execute("ALTER TABLE people ENABLE ROW LEVEL SECURITY")
    postgres_store.execute(f"GRANT SELECT ON people TO {reader}")
    result = examined_as(postgres_store, reader)
    assert result.verdict == "inconclusive"
    assert "BYPASSRLS" in said(result, "people", State.PROBLEM)[0]
    assert not result.grants  # none would help
    result = examined(postgres_store)
    assert result.verdict == "pass"
    assert any("row-level security is on" in text for text in said(result, "people", State.NOTE))


def test_rights_to_write_and_being_superuser_are_said(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    assert "is a superuser" in of_session(examined(postgres_store), State.WARNING)
    postgres_store.execute(f"GRANT SELECT ON people TO {reader}")
    assert "may write" not in of_session(examined_as(postgres_store, reader), State.WARNING)
    postgres_store.execute(f"GRANT DELETE ON people TO {reader}")
    assert "may write to 1 table" in of_session(examined_as(postgres_store, reader), State.WARNING)


def test_limits_of_the_server_are_said(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    postgres_store.execute(f"GRANT SELECT ON people TO {reader}")
    quiet = examined_as(postgres_store, reader)
    assert "2 sessions at once; one snapshot" in of_session(quiet, State.OK)
    assert "statements after" not in of_session(quiet, State.NOTE)
    postgres_store.execute(f"ALTER ROLE {reader} SET statement_timeout = '90s'")
    postgres_store.execute(f"ALTER ROLE {reader} CONNECTION LIMIT 1")
    left = f"SELECT FROM pg_stat_activity WHERE usename = '{reader}'".encode()
    while postgres_store.admin.execute(left).fetchall():  # a session that was closed ends a moment later
        time.sleep(0.05)
    result = examined_as(postgres_store, reader)
    assert "after 90 s" in of_session(result, State.NOTE)
    assert "only one session" in of_session(result, State.WARNING)
    assert result.verdict == "pass"


def test_stale_statistics_are_a_note(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE people AS SELECT i AS age FROM generate_series(1, 9) AS i")
    assert "ANALYZE" in said(examined(postgres_store), "people", State.NOTE)[0]
    postgres_store.execute("ANALYZE people")
    assert not said(examined(postgres_store), "people", State.NOTE)


def test_how_columns_are_compared_is_said(store: Store) -> None:
    if store.name == "duckdb":
        store.execute("CREATE TABLE people (a VARCHAR COLLATE NOCASE, b INTERVAL, c INTEGER)")
    else:
        store.execute("CREATE TABLE people (a JSON, b INTERVAL, c INTEGER)")
    notes = said(examined(store), "people", State.NOTE)
    assert all(not note.startswith("c") for note in notes)
    if store.name == "duckdb":
        assert notes[0].startswith("b: compared by their text")
        assert notes[1].startswith("a: compared byte by byte")
    else:
        assert notes[0].startswith("a: compared by their text, since the type has no equality")
        assert notes[1].startswith("b: compared by their text, since the type's equality merges")


def test_a_view_that_cannot_be_read_is_a_problem_of_its_own(duckdb_store: Store, tmp_path: Path) -> None:
    (tmp_path / "c4n4ry.csv").write_text("a\n1\n")
    duckdb_store.table("people", {"age": "INTEGER"}, [])
    duckdb_store.execute(f"CREATE VIEW outside AS SELECT * FROM read_csv('{tmp_path}/c4n4ry.csv')")
    result = examined(duckdb_store)
    assert result.reason == "1 of 2 tables can be audited"
    assert "has access to neither" in said(result, "outside", State.PROBLEM)[0]
    assert "c4n4ry" not in json.dumps(result.to_dict())


def test_an_empty_source_is_not_ready(duckdb_store: Store) -> None:
    result = examined(duckdb_store)
    assert (result.verdict, result.reason) == ("inconclusive", "connected, but there is no table")


def test_bad_questions(store: Store) -> None:
    store.table("people", {"age": "INTEGER"}, [])
    with pytest.raises(UnknownName, match="no schema nowhere"):
        package.doctor(store.url, schema="nowhere")
    if store.name == "duckdb":
        with pytest.raises(UsageError, match="has no roles"):
            package.doctor(store.url, role="someone")


# the command line


def test_data_files_and_the_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,name\n4,cnry1\n5,cnry2\n")
    (tmp_path / "folder").mkdir()
    with duckdb.connect(str(tmp_path / "store.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'cnry' AS name")
        connection.execute(f"CREATE VIEW outside AS SELECT * FROM read_csv('{tmp_path}/people.csv')")
    (tmp_path / "closed.duckdb").write_bytes(b"no database, cnry")
    runs = {
        ("people.csv",): (0, "READY"),
        ("store.duckdb",): (3, "NOT ALL"),
        ("missing.duckdb",): (2, "NO CONNECTION  there is no file missing.duckdb"),
        ("nowhere/missing.duckdb",): (2, "NO CONNECTION"),
        ("folder",): (2, "NO CONNECTION  folder is a folder"),
        ("closed.duckdb",): (2, "NO CONNECTION"),
        ("env:NOTHING",): (2, "the environment variable NOTHING is not set"),
    }
    outcome = several([["doctor", *arguments] for arguments in runs], tmp_path)
    reports = re.split(r"exit code (\d)\n", outcome.out)
    assert [int(code) for code in reports[1::2]] == [code for code, _ in runs.values()]
    for report, (_, begin) in zip(reports[::2], runs.values(), strict=False):
        assert begin in report
        assert "Installation" in report
    assert outcome.err == ""
    assert "cnry" not in outcome.out


def test_json_holds_the_same(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n4\n")
    document = json.loads(inside("doctor", "people.csv", "--format", "json", cwd=tmp_path).out)
    assert (document["kind"], document["verdict"], document["grants"]) == ("doctor", "pass", [])
    assert document["tables"][0]["auditable"] is True
    assert {check["state"] for check in document["session"]} <= set(State)


@pytest.mark.exhaustive
def test_no_secret_of_a_server_that_refuses_or_is_gone(spare_server: PostgresServer, tmp_path: Path) -> None:
    role = "auditor_of_doctor"
    spare_server.ask_passwords_of(role, "right")
    separator = "&" if "?" in spare_server.url else "?"
    wrong = f"{spare_server.url}{separator}user={role}&password={SECRET}"
    gone = f"postgresql://{role}:{SECRET}@127.0.0.1:9/clinic"
    other = f"mysql://{role}:{SECRET}@db/clinic"
    runs = [["doctor", wrong], ["doctor", gone, "--format", "json"], ["doctor", other], ["doctor", "env:CLINIC"]]
    outcome = several(runs, tmp_path, CLINIC=wrong)
    assert re.findall(r"exit code (\d)", outcome.out) == ["2"] * 4
    assert outcome.out.count("refused the password") == 2
    assert '"reason": "no Postgres server answers at 127.0.0.1 port 9' in outcome.out
    assert "s3cr3t" not in outcome.out + outcome.err
    assert "Source       env:CLINIC" in outcome.out


# the installation


def test_a_missing_or_old_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [check for check in installation.installation() if check.state is State.PROBLEM]
    lines = ["no-such[binary]>=1", "duckdb>=999", "rich>=1", "pytest>=8; extra == 'test'"]
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    good, missing, old = installation.installation()
    assert "1 other package" in good.text
    assert (missing.state, missing.remedy) == (State.PROBLEM, "pip install 'no-such>=1'")
    assert old.state is State.WARNING
    assert ">=999" in old.text


@pytest.mark.parametrize(
    ("version", "bounds", "kept"),
    [("30.30.0", ">=30.30,<31", True), ("31.0", ">=30.30,<31", False), ("30.4", ">=30.30", False), ("3", "", True)],
)
def test_bounds_of_versions(version: str, bounds: str, kept: bool) -> None:
    assert installation._within(version, bounds) is kept


def test_the_same_from_python(duckdb_store: Store) -> None:
    duckdb_store.table("people", {"age": "INTEGER"}, [(1,)])
    assert package.doctor(duckdb_store.url).verdict == "pass"
    with package.connect(duckdb_store.url) as engine:
        assert package.doctor(engine).verdict == "pass"
        assert not engine.closed
        assert package.init(engine).roles["quasi-identifier"] == 1


def test_a_file_whose_pages_cannot_be_read(tmp_path: Path) -> None:
    """Its footer is whole, so that a catalog shows nothing; a whole file beside it is none the worse."""
    for name, zeros in (("good", 0), ("damaged", 200)):
        path = tmp_path / f"{name}.parquet"
        duckdb.sql("SELECT i AS a, i % 2 AS b FROM RANGE(1000) AS t(i)").write_parquet(str(path))
        content = path.read_bytes()
        path.write_bytes(content[:4] + bytes(zeros) + content[4 + zeros :])
        assert package.doctor(str(path)).verdict == ("inconclusive" if zeros else "pass")
    found = package.doctor(str(tmp_path))
    assert [(str(table.table), table.auditable) for table in found.tables] == [
        ("main.damaged", False),
        ("main.good", True),
    ]


def test_an_old_server_is_told_what_a_newer_one_saves(
    postgres_store: PostgresStore,
) -> None:
    def remedies() -> list[str]:
        return [each.remedy or "" for each in package.doctor(engine).session]

    with postgres_store.connect() as engine:
        assert not any("from version 14 on" in each for each in remedies())
        engine.version = "PostgreSQL 13.22"
        assert any("from version 14 on" in each for each in remedies())


def test_a_slow_audit_of_a_view_is_told_of_a_copy(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table a copy takes longer than its scans."""
    postgres_store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(n % 7, n % 11) for n in range(60)])
    postgres_store.execute("CREATE VIEW v AS SELECT a, b FROM t")
    monkeypatch.setattr(postgres_engine, "SECONDS_OF_SLOW_AUDIT", 0)
    monkeypatch.setattr(postgres_engine, "MANY_SCANS", 1)
    hints = {}
    for name, workspace in (("t", False), ("v", False), ("v", True)):
        with postgres_store.connect(workspace=workspace) as engine:
            notes = package.audit(engine, name, workspace=workspace).account.notes
            hints[name, workspace] = [each for each in notes if "scans of a view took" in each]
    assert [len(each) for each in hints.values()] == [0, 1, 0]
    assert "workspace (audit, keys) reads it once" in hints["v", False][0]
