"""What a shell completes: commands, values of options, and the tables and columns of the source typed before."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from qidsql.cli.completion import join_words
from tests.commandline import environment, inside
from tests.ways import words


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two tables, one of which needs its schema, and a file."""
    folder = tmp_path_factory.mktemp("completion")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients AS SELECT 1 AS age, 'secret' AS \"zip code\"")
        connection.execute("CREATE TABLE visits AS SELECT 1 AS ward")
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.visits AS SELECT 1 AS room")
    (folder / "people.csv").write_text("age,sex\n1,f\n")
    return folder


def completed(folder: Path, *words: str, **extra: str) -> list[str]:
    """What bash gets to complete the last word."""
    variables = {"_QIDSQL_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words), **extra}
    outcome = inside(cwd=folder, COMP_CWORD=str(len(words) - 1), **variables)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.split("\n")[:-1] if outcome.out.strip() else []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["au"], ["audit"]),
        (["audit", "clinic.duckdb", "pat"], ["patients"]),
        (["audit", "clinic.duckdb", "main."], ["main.patients", "main.visits"]),
        (["audit", "clinic.duckdb", ""], ["patients", "main.visits", "old.visits"]),
        (["audit", "clinic.duckdb", "patients", "-c", ""], ["age", "'zip code'"]),
        (["audit", "clinic.duckdb", "old.visits", "--k", "5", "--sensitive", ""], ["room"]),
        (["audit", "people.csv", "--entity", "s"], ["sex"]),
        (["risk", "clinic.duckdb", "main.visits", "--population", "pat"], ["patients"]),
        (["risk", "clinic.duckdb", "main.visits", "--population", "patients", "--counts", ""], ["ward"]),
        (["graph", "clinic.duckdb", "--sensitive", "patients.a"], ["patients.age"]),
        (["impact", "clinic.duckdb", "patients", "--protected", "old"], ["old.visits"]),
        (["audit", "clinic.duckdb", "patients", "--format", "j"], ["json", "junit"]),
        (["keys", "clinic.duckdb", "patients", "--algorithm", "b"], ["borders"]),
        (["audit", "clinic.duckdb", "patients", "--nulls", ""], ["equal", "wildcard"]),
        (
            [
                *words("matching"),
                "--k",
                "2",
                "clinic.duckdb",
                "patients",
                "--ver",
                "",
            ],
            [],
        ),
        (["shell", "ma"], ["macros"]),
        (["help", "pol"], ["policy"]),
        (["report", "--schema", "po"], ["policy"]),
        (["audit", "none.duckdb", ""], []),
        (["audit", "postgresql", ":", "//nobody@127.0.0.1", ":", "1/x", "t", "-c", ""], []),
        (["audit", ""], []),  # which the shell completes with files
    ],
    ids=str,
)
def test_a_shell_completes(words: list[str], expected: list[str], sources: Path) -> None:
    assert sorted(completed(sources, "qidsql", *words)) == sorted(expected)


def test_the_default_source_is_completed_too(sources: Path) -> None:
    assert completed(sources, "qidsql", "audit", "p", QIDSQL_URL="clinic.duckdb") == ["patients"]
    assert completed(sources, "qidsql", "audit", "patients", "-c", "a", QIDSQL_URL="clinic.duckdb") == ["age"]


@pytest.mark.parametrize(
    ("words", "current", "joined", "place"),
    [
        (["qidsql", "audit", "sc", ":", "//h", ":", "1", "t"], 7, ["qidsql", "audit", "sc://h:1", "t"], 3),
        (["qidsql", "audit", "sc", ":", "//h"], 4, ["qidsql", "audit", "sc://h"], 2),
        (["qidsql", "audit", "s", "--format", "=", "js"], 5, ["qidsql", "audit", "s", "--format=js"], 3),
        (["qidsql", "audit", "s", ""], 3, ["qidsql", "audit", "s", ""], 3),
        (["qidsql", "audit"], 2, ["qidsql", "audit"], 2),
        (["qidsql", "audit", "s", "t"], 2, ["qidsql", "audit", "s", "t"], 2),
    ],
)
def test_words_that_bash_splits_are_joined(words: list[str], current: int, joined: list[str], place: int) -> None:
    variables = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(current)}
    join_words(variables)
    assert variables == {"COMP_WORDS": "\n".join(joined), "COMP_CWORD": str(place)}


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_the_script_completes_in_bash(sources: Path, tmp_path: Path) -> None:
    program = tmp_path / "qidsql"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    typed = "COMP_WORDS=(qidsql audit clinic.duckdb patients -c a) COMP_CWORD=5"
    script = (
        f'eval "$(_QIDSQL_COMPLETE=source_bash qidsql)"; {typed}; _qidsql_completion qidsql; echo "${{COMPREPLY[@]}}"'
    )
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=sources, env=environment(path), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("age\n", "")


PROGRAM = "import sys; sys.argv[0] = 'qidsql'; from qidsql.cli.app import main; main()"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_quote_what_they_insert(shell: str, sources: Path) -> None:
    """They compare what is typed with the name itself, so that a name with a blank is found by its first letter."""
    variables = {"_QIDSQL_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    typed = "qidsql audit clinic.duckdb patients -c z"
    outcome = inside(cwd=sources, _TYPER_COMPLETE_ARGS=typed, **variables)
    assert (outcome.code, outcome.err) == (0, "")
    assert "zip code" in outcome.out
    assert "'zip code'" not in outcome.out
