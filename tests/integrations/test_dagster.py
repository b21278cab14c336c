"""The example for Dagster, run by Dagster: its schedule's job, whose check passes where qidsql does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import REPOSITORY, environment_with
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore

pytestmark = pytest.mark.exhaustive

RUN = """
import importlib.util, json, sys
import dagster as dg
spec = importlib.util.spec_from_file_location("dagster_job", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
[schedule] = module.definitions.schedules
job = module.definitions.get_repository_def().get_job(schedule.job_name)
done = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), raise_on_error=False)
checks = [each.passed for each in done.get_asset_check_evaluations()]
print(json.dumps([schedule.cron_schedule, done.success, checks]))
"""


def test_the_asset_check_passes_where_the_table_does(tmp_path: Path, duckdb_store: DuckDBStore) -> None:
    python = environment_with(tmp_path / "environment", "dagster>=1.11")
    example = (REPOSITORY / "docker" / "examples" / "dagster_job.py").read_text()
    here = {
        "/opt/qidsql/bin/qidsql": str(Path(sys.executable).parent / "qidsql"),
        "/etc/qidsql/qidsql.toml": str(tmp_path / "qidsql.toml"),
        "/tmp/qidsql.md": str(tmp_path / "qidsql.md"),
    }
    for there, instead in here.items():
        assert there in example
        example = example.replace(there, instead)
    (tmp_path / "job.py").write_text(example)
    for rows, passes in ((SAFE, True), (RISKY, False)):
        duckdb_store.execute("DROP TABLE IF EXISTS patients")
        fill(duckdb_store, patients=rows)
        policy_file(tmp_path, duckdb_store.url, entries("patients"))
        done = subprocess.run(
            [python, "-c", RUN, tmp_path / "job.py"], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.strip().splitlines()[-1]) == ["0 3 * * *", passes, [passes]]
        assert (tmp_path / "qidsql.md").exists()
