"""The composite action: its steps are run as GitHub runs them, each script by bash with its environment."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.environments import REPOSITORY
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore

FOLDER = REPOSITORY / ".github" / "actions" / "qidsql"
ACTION: Mapping[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS: Mapping[str, Mapping[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}


class Runner:
    """A job's folders and variables."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temp = folder / "work", folder / "temp"
        self.work.mkdir()
        self.temp.mkdir()
        self.summary = folder / "summary.md"

    def step(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        inputs = {key: each["default"] for key, each in ACTION["inputs"].items()} | {
            key.replace("_", "-"): value for key, value in given.items()
        }
        env = {
            key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
            for key, text in STEPS[name]["env"].items()
        }
        env |= {"RUNNER_TEMP": str(self.temp), "GITHUB_ACTION_PATH": str(FOLDER)}
        env |= {"GITHUB_STEP_SUMMARY": str(self.summary), "PATH": os.environ["PATH"], "HOME": str(self.temp)}
        script = self.temp / "script.sh"
        script.write_text(STEPS[name]["run"])
        bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]  # as `shell: bash` does
        return subprocess.run(bash, cwd=self.work, env=env, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """The program of this environment stands where the action installs it."""
    made = Runner(tmp_path)
    (made.temp / "qidsql" / "bin").mkdir(parents=True)
    (made.temp / "qidsql" / "bin" / "qidsql").symlink_to(Path(sys.executable).parent / "qidsql")
    return made


def test_scripts_have_no_expression_in_them() -> None:
    """An input with a quote must not become a command."""
    assert list(STEPS) == ["Install", "Audit"]
    assert not any("${{" in step["run"] for step in STEPS.values())
    assert all(step["shell"] == "bash" for step in STEPS.values())


@pytest.mark.exhaustive
def test_it_annotates_summarises_and_fails(runner: Runner, duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store, one=RISKY, two=SAFE)
    policy_file(runner.work, duckdb_store.url, entries("one", "two"))
    done = runner.step("Audit", report="page.html")
    assert done.returncode == 1, done.stderr
    assert re.search(r"^::error file=qidsql.toml,line=\d+,title=qidsql violation", done.stdout, flags=re.MULTILINE)
    assert "1 violates the policy" in runner.summary.read_text()
    assert (runner.work / "page.html").read_text().startswith("<!doctype html>")
    assert {path.name for path in runner.work.iterdir()} == {"qidsql.toml", "page.html"}


@pytest.mark.exhaustive
def test_known_findings_pass(runner: Runner, duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store, one=RISKY)
    policy_file(runner.work, duckdb_store.url, entries("one"))
    assert runner.step("Audit", report="known.baseline").returncode == 1
    assert runner.step("Audit", baseline="known.baseline", fail_on="new").returncode == 0
    assert runner.step("Audit", check="true").returncode == 0
    assert runner.step("Audit", config="$(touch hacked); none.toml").returncode == 2
    assert not (runner.work / "hacked").exists()


@pytest.mark.exhaustive
def test_it_installs_its_own_tag(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    done = runner.step("Install", python=sys.executable)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([runner.temp / "qidsql/bin/qidsql", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("qidsql ")
