"""docker/Dockerfile, as far as it can be tried where no Docker engine runs: lint, what it copies, what it installs."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.docker.image import (
    CONSTRAINTS,
    DOCKERFILE,
    FOLDER,
    HOUSE,
    Instruction,
    context,
    copied,
    installed,
    instructions,
    versions,
)

HADOLINT = Path(sys.executable).parent / "hadolint"
BEFORE, BUILD, FINAL = instructions()


def one(stage: list[Instruction], name: str) -> list[str]:
    [found] = [each.words for each in stage if each.name == name]
    return found


def test_hadolint_finds_nothing() -> None:
    """hadolint from PyPI is its own binary: the real linter of Dockerfiles, which lints the shell inside too."""
    done = subprocess.run([HADOLINT, DOCKERFILE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python:latest\nRUN pip install qidsql\n")
    done = subprocess.run([HADOLINT, tmp_path / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "DL3007" in done.stdout


def test_the_base_is_pinned_and_both_stages_stand_on_it() -> None:
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", BEFORE[0].text)
    assert [BUILD[0].words[0], FINAL[0].words] == ["${BASE}", ["${BASE}"]]


def test_it_runs_as_nobody_in_particular() -> None:
    [uid] = one(FINAL, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", uid)
    names = [each.name for each in FINAL]
    assert max(n for n, name in enumerate(names) if name in ("RUN", "COPY")) < names.index("USER"), (
        "root's work is done"
    )
    assert (one(FINAL, "ENTRYPOINT"), one(FINAL, "CMD")) == (["qidsql"], ["--help"])


def test_nothing_secret_and_nothing_from_the_network_but_packages() -> None:
    everything = [each for stage in (BEFORE, BUILD, FINAL) for each in stage]
    assert not [each for each in everything if each.name == "ADD"]
    settings = " ".join(each.text for each in everything if each.name in ("ENV", "ARG"))
    assert not re.search(r"(?i)passw|secret|token|key", settings)
    assert not re.search(r"curl|wget|apt", " ".join(each.text for each in everything if each.name == "RUN"))


def test_the_build_sees_the_package_and_nothing_else() -> None:
    seen = context()
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "docker/constraints.txt",
        "qidsql/cli/app.py",
    } <= seen
    assert {"sql_templates/classes/class_sizes.sql"} <= seen
    assert {Path(file).parts[0] for file in seen} == {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "docker",
        "qidsql",
        "sql_templates",
    }
    assert [file for file in seen if file.startswith("docker/")] == ["docker/constraints.txt"]


def test_every_copy_finds_its_files(tmp_path: Path) -> None:
    copied(tmp_path)
    assert (tmp_path / "qidsql" / "cli" / "app.py").is_file()
    assert (tmp_path / "constraints.txt").read_bytes() == CONSTRAINTS.read_bytes()
    assert not list(tmp_path.rglob("__pycache__"))


def test_constraints_name_one_version_of_each() -> None:
    head, *lines = CONSTRAINTS.read_text().splitlines()
    assert head.startswith("#")
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(names) == len(set(names))


def test_constraints_name_all_that_is_depended_on() -> None:
    """What is missing here is written by: python -m tests.docker.image"""
    wanted = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[\[<>=; ]", line)[0].lower() for line in wanted if ";" not in line}
    named = {line.partition("==")[0].lower() for line in CONSTRAINTS.read_text().splitlines()}
    assert names <= named


@pytest.mark.exhaustive
def test_its_steps_install_what_it_says(tmp_path: Path) -> None:
    environment = installed(tmp_path)
    assert set(versions(environment)) <= set(CONSTRAINTS.read_text().splitlines()), "python -m tests.docker.image"
    path = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    command = one(FINAL, "ENTRYPOINT") + one(FINAL, "CMD")
    done = subprocess.run(command, env=path, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: qidsql" in done.stdout
    demo = subprocess.run(["qidsql", "demo"], env=path, cwd=tmp_path, capture_output=True, text=True)
    assert demo.stdout.startswith("VIOLATION")


def test_the_health_check_looks_at_the_heartbeat(tmp_path: Path) -> None:
    [text] = [each.text for each in FINAL if each.name == "HEALTHCHECK"]
    heartbeat = tmp_path / "qidsql.heartbeat"
    written = text.partition("CMD ")[2].replace("/tmp/qidsql.heartbeat", str(heartbeat))

    def health() -> int:
        return subprocess.run(json.loads(written)).returncode

    assert health() == 0, "nobody asked for a heartbeat"
    heartbeat.touch()
    assert health() == 0
    long_ago = time.time() - 300
    os.utime(heartbeat, (long_ago, long_ago))
    assert health() == 1


def test_the_readme_shows_how_to_renew_the_tags_that_are_pinned() -> None:
    pinned = [BEFORE[0].text, (FOLDER / "compose.yaml").read_text()]
    tags = re.findall(r"([\w./-]+:[\w.-]+)@sha256:[0-9a-f]{64}\b", "\n".join(pinned))
    assert len(tags) == 3
    readme = (FOLDER / "README.md").read_text()
    assert re.findall(r"imagetools inspect (\S+)", readme) == tags


def test_no_env_file_gets_into_the_repository() -> None:
    assert ".env" in (HOUSE / ".gitignore").read_text().splitlines()
