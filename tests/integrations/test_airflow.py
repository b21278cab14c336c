"""The example for Airflow, run by Airflow: its task succeeds where the tables pass, and has the connection's URL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import REPOSITORY, environment_with
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import PostgresStore

pytestmark = pytest.mark.exhaustive


def test_the_task_succeeds_where_the_table_passes(tmp_path: Path, postgres_store: PostgresStore) -> None:
    airflow = environment_with(tmp_path / "environment", "apache-airflow>=3").parent / "airflow"
    example = (REPOSITORY / "docker" / "examples" / "airflow_dag.py").read_text()
    here = {
        "/opt/qidsql/bin/qidsql": str(Path(sys.executable).parent / "qidsql"),
        "/etc/qidsql/qidsql.toml": str(tmp_path / "qidsql.toml"),
    }
    for there, instead in here.items():
        assert there in example
        example = example.replace(there, instead)
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "qidsql_dag.py").write_text(example)
    policy_file(tmp_path, "env:CLINIC_URL", entries("patients"))
    settings = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_CLINIC": postgres_store.url,
    }

    def told(*command: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **settings}
        return subprocess.run([airflow, *command], env=given, capture_output=True, text=True, timeout=600, check=False)

    assert told("db", "migrate").returncode == 0
    for rows, passes in ((SAFE, True), (RISKY, False)):
        postgres_store.execute("DROP TABLE IF EXISTS patients")
        fill(postgres_store, patients=rows)
        done = told("dags", "test", "qidsql")
        assert (done.returncode == 0) is passes, done.stdout[-2_000:] + done.stderr[-2_000:]
        assert passes or "returned a non-zero exit code 1." in done.stdout + done.stderr
