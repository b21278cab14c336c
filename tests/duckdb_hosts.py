"""DuckDBs to load the extension into, each a process of its own: the shell 1.5.6, and the modules 1.4.5, 1.5.6 and of
this environment. All but the last come from PyPI.
"""

import json
import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

import pytest

from qidsql.duckdb_extension.hosts import build_extension
from qidsql.duckdb_extension.install import SUFFIX, Settings
from tests.commandline import HOUSE, environment
from tests.exhaustive import always

OLDER = "1.5.6"  # the newest of which PyPI has a shell
OLDEST = "1.4.5"
SECONDS = 600  # after which a process is taken for one that hangs


class Refused(str):
    """The first line of an error."""


Answer: TypeAlias = "list[dict[str, Any]] | Refused"

MODULE = """
import decimal, json, sys
import duckdb

given = json.loads(sys.stdin.read())
config = {"allow_unsigned_extensions": "true"}
connection = duckdb.connect(given["database"], read_only=given["read_only"], config=config)
answers = []
for statement in given["statements"]:
    try:
        cursor = connection.execute(statement)
        names = [each[0] for each in cursor.description or []]
        answers.append([dict(zip(names, row)) for row in cursor.fetchall()])
    except BaseException as error:
        answers.append(str(error).splitlines()[0])
print("ANSWERS" + json.dumps(answers, default=str))
"""


@dataclass(frozen=True)
class Host(ABC):
    """`extension` is the file to load."""

    name: str
    extension: Path

    @property
    def load(self) -> str:
        return f"LOAD '{self.extension}'"

    @abstractmethod
    def run(self, statements: Sequence[str], database: str = "", read_only: bool = False, **extra: str) -> list[Answer]:
        """The answers to the statements in one process, which must end well. `extra` are environment variables."""

    def ask(self, *statements: str, **options: Any) -> Answer:
        """The answer to the last of the statements, the extension loaded before the first."""
        return self.run([self.load, *statements], **options)[-1]


@dataclass(frozen=True)
class Module(Host):
    """Python with a `duckdb` package of its own."""

    packages: Path | None

    def environment(self, **extra: str) -> dict[str, str]:
        """In which this host's module is the one that is imported."""
        path = os.pathsep.join(str(each) for each in (self.packages, HOUSE) if each)
        return {**environment(), "PYTHONPATH": path, **extra}

    def run(self, statements: Sequence[str], database: str = "", read_only: bool = False, **extra: str) -> list[Answer]:
        given = {"database": database or ":memory:", "read_only": read_only, "statements": statements}
        done = subprocess.run(
            [sys.executable, "-c", MODULE],
            input=json.dumps(given),
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        answers = json.loads(done.stdout.rpartition("ANSWERS")[2])
        return [Refused(answer) if isinstance(answer, str) else answer for answer in answers]


@dataclass(frozen=True)
class Shell(Host):
    """The real command line."""

    program: Path

    def run(self, statements: Sequence[str], database: str = "", read_only: bool = False, **extra: str) -> list[Answer]:
        """A statement's answer, rows or an error, stands behind a mark."""
        script = [".mode json"]
        for statement in statements:
            script += [".print MARK", statement if statement.startswith(".") else f"{statement};"]
        output = self.feed("\n".join(script), database, read_only, **extra)
        parts = [part.strip() for part in output.split("MARK\n")[1:]]
        assert len(parts) == len(statements), output
        return [self._answer(part) for part in parts]

    def feed(self, script: str, database: str = "", read_only: bool = False, **extra: str) -> str:
        """What the shell prints when a script is typed into it, errors included."""
        done = subprocess.run(
            [self.program, "-unsigned", *(["-readonly"] if read_only else []), *([database] if database else [])],
            input=script + "\n",
            env=environment(extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode in (0, 1), (done.returncode, done.stdout)  # 1: the last statement failed
        return done.stdout

    @staticmethod
    def _answer(text: str) -> Answer:
        if " Error: " in text.partition("\n")[0]:
            return Refused(text.partition("\n")[0])
        return json.loads(text) if text.startswith("[{") else []


def build(folder: Path) -> Path:
    """The extension for the DuckDBs of this machine, and beside it which Python to start. Skips without a compiler."""
    import duckdb

    if not any(which(name) for name in (os.environ.get("CC", ""), "cc", "gcc", "clang")):
        pytest.skip("no C compiler (cc, gcc, clang), which builds the extension")
    [(platform,)] = duckdb.execute("PRAGMA platform").fetchall()
    path = build_extension(folder, platform)
    Settings.of_this_python().write(path.with_name(path.name + SUFFIX))
    return path


def fetched(package: str, folder: Path) -> Path:
    """A package of PyPI, without what it depends on, in a folder of its own. Skips where it cannot be had."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    try:
        subprocess.run([*command, "--target", str(folder), package], capture_output=True, timeout=300, check=True)
    except subprocess.SubprocessError:
        pytest.skip(f"{package} cannot be had from the package index")
    return folder


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("extension"))


@pytest.fixture(scope="session")
def shell(extension: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    if not Settings.of_this_python().libpython:
        pytest.skip("this Python has no shared library, so no shell can start it")
    folder = fetched(f"duckdb-cli=={OLDER}", tmp_path_factory.mktemp("shell"))
    return Shell("shell", extension, folder / "duckdb_cli" / "duckdb")


OLDER_MODULES = {f"module {version}": version for version in (OLDEST, OLDER)}
HOSTS = always("module", longer=["shell", *OLDER_MODULES])  # the shell is of the older version


@pytest.fixture(scope="session", params=HOSTS)
def host(request: pytest.FixtureRequest, extension: Path, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """Each DuckDB in turn."""
    if request.param == "shell":
        found = request.getfixturevalue("shell")
        assert isinstance(found, Shell)
        return found
    packages = None
    if request.param in OLDER_MODULES:
        packages = fetched(f"duckdb=={OLDER_MODULES[request.param]}", tmp_path_factory.mktemp("module"))
    return Module(request.param, extension, packages)
