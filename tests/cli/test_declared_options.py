"""Every option of --help is declared: as a field of the command's request, or as one of the command line's own."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from qidsql.cli.app import COMMANDS, GROUPS, imported
from qidsql.cli.command import LineOptions, SourceArgument
from qidsql.cli.parameters import LazyConversion
from qidsql.declarations.options import parameters
from tests.commandline import environment
from tests.stores import DuckDBStore

OTHERS = ("qidsql.protection.suppression.plan", "qidsql.protection.anonymization.anonymizer", "qidsql.formats.html")
IMPORTED = """
import sys
from qidsql.cli.app import main
try:
    main()
finally:
    sys.stderr.write("\\n".join(sys.modules))
"""


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {*GROUPS}))
def test_options_come_from_the_request(name: str) -> None:
    own = find_spec(f"qidsql.commands.{name}")
    declared = import_module(f"qidsql.commands.{name}.request" if own else f"qidsql.cli.{name}").COMMAND
    of_the_line = (*parameters(LineOptions), *parameters(SourceArgument)) if own else ()
    fields = {each.name: each for each in (*of_the_line, *parameters(declared.request))}
    shown = {each.name: each for each in imported(name).params if each.name != "help"}
    assert set(shown) <= set(fields)
    assert {each.name for each in parameters(declared.request)} <= set(shown)
    for option in shown:
        if option != "format":  # which lists the formats of the command
            assert shown[option].help == fields[option].option.help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each_help(name: str) -> None:
    text = " ".join((imported(name).help or "").split())
    assert re.match(r".*?[.?](?= |$)", text).group() == COMMANDS[name]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        ("--version", ("qidsql.cli.command", "pydantic", "rich", "sqlglot", "duckdb")),
        ("--help", ("qidsql.cli.command", "pydantic", "rich", "sqlglot", "duckdb")),
        ("audit {} t", ("pydantic", "numpy", "networkx", "highspy", "jinja2", "psycopg", "tomlkit", "yaml", *OTHERS)),
        ("keys {} t --all --exclude b", ("pydantic", "networkx", "jinja2", "psycopg", "tomlkit", "yaml", *OTHERS)),
    ],
)
def test_nothing_is_imported_without_need(tmp_path: Path, arguments: str, unneeded: tuple[str, ...]) -> None:
    path = tmp_path / "t.duckdb"
    with DuckDBStore(path) as store:
        store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(i, i % 2) for i in range(5)])
    started = [sys.executable, "-c", IMPORTED, *arguments.format(path).split()]
    process = subprocess.run(started, env=environment(), capture_output=True, text=True, check=False)
    assert process.returncode in (0, 1), process.stderr
    imported_modules = process.stderr.split()
    assert "typer" in imported_modules
    assert [each for each in imported_modules if each in unneeded] == []


@pytest.mark.parametrize(
    ("typed", "name"), [(["--k", "7"], "k"), (["-c", "7", "-c", "8"], "columns"), (["--where", "7"], "where")]
)
def test_defaults_and_texts_are_what_typer_makes_of_them(
    typed: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same parameters with typer's own conversion of every value."""
    arguments = ["s.duckdb", "t", *typed]
    ours = imported("audit").make_context("audit", list(arguments)).params
    monkeypatch.delattr(LazyConversion, "get_params")
    theirs = imported("audit").make_context("audit", list(arguments)).params
    assert {key: value or None for key, value in ours.items()} == {k: value or None for k, value in theirs.items()}
    assert ours[name] == (7 if name == "k" else typed[1] if name == "where" else typed[1::2])
