"""What docker/Dockerfile does, done without Docker: its COPYs into a folder, its pip install into an environment.

python -m tests.docker.image      writes docker/constraints.txt anew, from the newest versions that pyproject allows
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
FOLDER = HOUSE / "docker"
DOCKERFILE = FOLDER / "Dockerfile"
CONSTRAINTS = HOUSE / "docker" / "constraints.txt"


@dataclass(frozen=True, slots=True)
class Instruction:
    """FROM python:..., RUN ..., with its lines joined."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a shell command, or those of a JSON list."""
        return [*map(str, json.loads(self.text))] if self.text.startswith("[") else shlex.split(self.text)


def instructions() -> list[list[Instruction]]:
    """The instructions of the Dockerfile by stage: what stands before the first FROM, then each stage."""
    text = re.sub(r"(?m)^\s*#.*\n", "", DOCKERFILE.read_text()).replace("\\\n", " ")
    stages: list[list[Instruction]] = [[]]
    for line in filter(str.strip, text.splitlines()):
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append(
            Instruction(name, " ".join(rest.split()) if not rest.strip().startswith("[") else rest.strip())
        )
    return stages


def context() -> set[str]:
    """The files that the build sees: those of the repository that Dockerfile.dockerignore lets through."""
    rules = [
        line for line in (HOUSE / "docker" / "Dockerfile.dockerignore").read_text().split("\n") if line[:1] not in "#"
    ]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=HOUSE, capture_output=True, text=True)
    tracked = listed.stdout.split("\n") if listed.returncode == 0 else []
    seen = set()
    for file in filter(None, tracked):
        inside = True
        for rule in filter(None, rules):
            pattern = rule.lstrip("!").rstrip("/").removeprefix("**/")
            parts = (
                [file, *map(str, Path(file).parents), *Path(file).parts]
                if "**/" in rule
                else [file, *map(str, Path(file).parents)]
            )
            if pattern == "*" or any(fnmatchcase(part, pattern) for part in parts):
                inside = rule.startswith("!")
        if inside:
            seen.add(file)
    return seen


def copied(folder: Path) -> None:
    """Does the COPYs of the build stage, from what the build sees, into the folder."""
    seen = context()
    for copy in (each for each in instructions()[1] if each.name == "COPY"):
        *sources, target = copy.words
        for source in sources:
            files = [file for file in seen if file == source or file.startswith(source.rstrip("/") + "/")]
            assert files, f"COPY {source}: the build does not see it"
            for file in files:
                inside = Path(target) / (Path(file).relative_to(source) if source.endswith("/") else Path(file).name)
                (folder / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(HOUSE / file, folder / inside)


def installed(folder: Path) -> Path:
    """Runs the RUN of the build stage with /opt/qidsql inside the folder; returns the environment's folder."""
    source, environment = folder / "source", folder / "opt-qidsql"
    source.mkdir()
    copied(source)
    [run] = [each.text for each in instructions()[1] if each.name == "RUN"]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = run.replace("/opt/qidsql", str(environment)).replace("python -m venv", f"{sys.executable} -m venv")
    done = subprocess.run(["sh", "-euc", command], cwd=source, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return environment


def versions(environment: Path) -> list[str]:
    """name==version of all that the environment holds besides qidsql, pip and setuptools."""
    frozen = subprocess.run([environment / "bin" / "pip", "freeze"], capture_output=True, text=True, check=True).stdout
    return sorted((line for line in frozen.splitlines() if not line.startswith("qidsql")), key=str.lower)


def main() -> None:
    head = CONSTRAINTS.read_text().splitlines()[0]
    CONSTRAINTS.write_text(head + "\n")  # no constraint: the newest
    with tempfile.TemporaryDirectory() as folder:
        CONSTRAINTS.write_text("\n".join([head, *versions(installed(Path(folder)))]) + "\n")


if __name__ == "__main__":
    main()
