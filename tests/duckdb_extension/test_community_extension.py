"""The extension for DuckDB's community repository, built from source, with its own sqllogictests in real DuckDBs."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import yaml

from qidsql.duckdb_extension.hosts import NAME, footer
from tests.duckdb_hosts import Answer, Host, Refused

pytestmark = pytest.mark.exhaustive

HOUSE = Path(__file__).parents[2]
FOLDER = HOUSE / "qidsql" / "duckdb_extension" / "community"
TESTS = sorted((FOLDER / "test" / "sql").glob("*.test"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that LOAD takes."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("community")
    for command in (["-S", FOLDER, "-B", folder, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"], ["--build", folder]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    [(platform,)] = duckdb.execute("PRAGMA platform").fetchall()
    path = folder / NAME
    path.write_bytes((folder / "qidsql.so").read_bytes() + footer(platform))
    return path


def test_nothing_in_it_loads_a_library(built: Path) -> None:
    names = built.read_bytes()
    assert b"qidsql_init_c_api" in names
    for name in (b"dlopen", b"dlsym", b"Py_"):
        assert name not in names


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_its_own_tests_pass(host: Host, built: Path, path: Path) -> None:
    blocks = [block.split("\n") for block in path.read_text().strip().split("\n\n")]
    blocks = [[line for line in block if not line.startswith("#")] for block in blocks]
    asked = [(block[0], *"\n".join(block[1:]).partition("\n----\n")[::2]) for block in blocks if block]
    asked = [each for each in asked if each[0] != "require qidsql"]
    assert len(asked) > 10
    here = replace(host, extension=built)
    answers = here.run([here.load, *(statement for _, statement, _ in asked)])[1:]
    wrong = [each for each, answer in zip(asked, answers, strict=True) if not _fits(*each, answer)]
    assert wrong == []


def _fits(kind: str, statement: str, expected: str, answer: Answer) -> bool:
    if kind == "statement error":
        return isinstance(answer, Refused) and expected in answer
    if isinstance(answer, Refused):
        return False
    shown = "\n".join("\t".join(_cell(cell) for cell in row.values()) for row in answer)
    return kind == "statement ok" or shown == expected


def _cell(cell: object) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def test_its_descriptor_has_what_the_repository_asks_for() -> None:
    told = yaml.safe_load((FOLDER / "description.yml").read_text())
    assert told["extension"].keys() >= {"name", "description", "version", "language", "build", "license", "maintainers"}
    assert told["repo"].keys() >= {"github", "ref"}
    with duckdb.connect() as connection:
        connection.execute((HOUSE / "sql_templates" / "duckdb" / "shell_macros.sql").read_text())
        connection.execute((HOUSE / "sql_templates" / "duckdb" / "shell_measures.sql").read_text())
        for statement in told["docs"]["hello_world"].strip().split("\n")[:-1]:
            assert connection.execute(statement).description
