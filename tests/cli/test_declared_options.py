"""Every option of --help is declared: as a field of the command's request, or as one of the command line's own."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from qidsql.cli import app
from qidsql.cli.app import COMMANDS, QUESTIONS, imported, with_way
from qidsql.cli.command import LineOptions
from qidsql.cli.options import SourceArgument
from qidsql.commands.protect.way import Way
from qidsql.declarations.options import parameters
from tests.commandline import environment, inside
from tests.stores import DuckDBStore

PACKAGE = Path(app.__file__).parents[1]
FOLDERS = [each.parent for each in (PACKAGE / "commands").glob("*/command.py")]
MODULES = [each for each in (PACKAGE / "cli").glob("*.py") if re.search(r"^(COMMAND|app) = ", each.read_text(), re.M)]
MODULES = [each for each in MODULES if each.stem != "app"]
OTHERS = ("qidsql.protection.suppression.plan", "qidsql.protection.anonymization.anonymizer", "qidsql.formats.html")
IMPORTED = """
import sys
from qidsql.cli.app import main
try:
    main()
finally:
    sys.stderr.write("\\n".join(sys.modules))
"""


def test_the_version_waits_for_nothing_that_commands_need() -> None:
    """Every command waits for what the command line itself imports."""
    command = [sys.executable, "-c", IMPORTED, "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    needless = {"qidsql.core.results", "qidsql.core.policy", "sqlglot", "duckdb", "rich.console"}
    assert needless.isdisjoint(shown.stderr.split())


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"history", "release", "shell"}))
def test_options_come_from_the_request(name: str) -> None:
    own = find_spec(f"qidsql.commands.{name}")
    declared = import_module(f"qidsql.commands.{name}.command" if own else f"qidsql.cli.{name}").COMMAND
    of_the_line = (*parameters(LineOptions), *parameters(SourceArgument)) if own else ()
    fields = {each.name: each for each in (*of_the_line, *parameters(declared.request))}
    shown = {each.name: each for each in imported(name).params if each.name not in ("help", "help_all")}
    by_require = {each.name for each in parameters(declared.request) if each.option.by_require}
    assert set(shown) <= {*fields, *(["require"] if by_require else [])}
    assert {each.name for each in parameters(declared.request)} - by_require <= set(shown)
    for option in shown:
        if option != "format" and option in fields:  # format lists the formats of the command
            assert shown[option].help == fields[option].option.help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_lists_15_options_at_most(name: str) -> None:
    command = imported(name)
    for each in getattr(command, "commands", {name: command}).values():
        options = [option for option in each.params if option.param_type_name == "option"]
        listed = {option.name for option in options if not option.hidden} - {"help_all"}
        assert len(listed) <= 15
        assert ("help_all" in {option.name for option in options}) == any(option.hidden for option in options)
        own = find_spec(f"qidsql.commands.{name}") and each.name not in (
            "list",
            "record",
        )  # parts of release with no such list
        shown = import_module(f"qidsql.commands.{name}.command").COMMAND.listed if own else ()
        assert set(shown) in (listed, set())


def test_the_help_of_a_way_is_about_it_and_what_it_takes_alone() -> None:
    """Each way of protect refuses what only others take, and names them; two ways are none."""
    firsts = set()
    for way in Way:
        command = imported(with_way("protect", ["--by", way]))
        said = inside("protect", "--by", way, "--help").out
        firsts.add(said.partition("\n\n")[2].partition("\n\n")[0])
        listed = [option for option in command.params if option.param_type_name == "option" and not option.hidden]
        assert len({option.name for option in listed} - {"help_all"}) <= 15
    assert len(firsts) == len(Way)
    for way, option, others in (("values", "--suppress", "levels"), ("values", "--t", "columns and --by levels")):
        refused = inside("protect", "--by", way, "t.duckdb", option, "2")
        assert refused.code == 2 and f"it is an option of --by {others}" in refused.err
    for ways in (["--by", "values", "--by=cells"], ["--by", "levels", "--by", "levels"]):
        refused = inside("protect", *ways, "t.duckdb")
        assert refused.code == 2 and "--by is given 2 times" in refused.err


def test_a_population_has_options_of_its_own() -> None:
    assert {"--on", "--counts"} <= {flag for each in imported("risk.population").params for flag in each.opts}
    assert with_way("risk", ["t.csv", "--population=p.csv"]) == "risk.population"
    assert with_way("risk", ["t.csv", "--population-size", "9"]) == "risk"
    assert with_way("run", ["--population", "p"]) == "run"
    for given, said in (
        (["--on", "a=b"], "it is an option of --population"),
        (["--population", "p", "--weight", "w"], "it is an option of risk without --population"),
    ):
        refused = inside("risk", "t.csv", *given)
        assert refused.code == 2 and said in refused.err


def test_the_first_screen_leads_from_questions_to_every_command() -> None:
    lines = inside("--help").out.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) < 80
    for question, commands in QUESTIONS.items():
        [answer] = [line.removeprefix(question) for line in lines if line.startswith(question)]
        assert answer.split(", ") == [answer[: len(answer) - len(answer.lstrip())] + commands[0], *commands[1:]]
    assert sorted(each for commands in QUESTIONS.values() for each in commands) == sorted(COMMANDS)
    assert {*COMMANDS} == {path.name for path in FOLDERS} | {path.stem for path in MODULES}
    assert max(map(len, COMMANDS.values())) < 50
    for name, first in (("history", "list"), ("release", "check"), ("shell", "open")):
        parts = inside(name, "--help").out.partition("Commands:\n")[2].split("\n\n")[0]
        assert parts.split()[0] == first and "..." not in parts


@pytest.mark.parametrize(
    "name", [path.name for path in FOLDERS if path.name not in ("demo", "doctor", "init", "release", "tables")]
)
def test_commands_that_read_tables_share_options(name: str) -> None:
    options = {each.name: each.opts for each in imported(name).params}
    assert options["output"] == ["-o", "--output"]
    assert options["quiet"] == ["-q", "--quiet"]
    assert options.get("columns", ["-c", "--column"]) == ["-c", "--column"]
    assert {"format", "max_seconds", "dry_run", "show_sql", "gentle"} <= set(options)


@pytest.mark.parametrize("name", ["audit", "keys", "protect"])
def test_options_are_under_headings_and_all_of_them_on_request(name: str) -> None:
    declared = {each.name: each for each in imported(name).params}
    short, whole = inside(name, "--help").out, inside(name, "--help-all").out
    for each in declared.values():
        if each.param_type_name == "option":
            assert f"\n{each.rich_help_panel or 'Options'}:\n" in whole
            listed = rf"^  (-\w, )?{re.escape(each.opts[-1])}\b|^  {re.escape(each.opts[0])}\b"
            assert re.search(listed, whole, flags=re.MULTILINE)
            assert bool(re.search(listed, short, flags=re.MULTILINE)) is not each.hidden
    assert "--help-all" in short


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        ("--version", ("qidsql.cli.help", "qidsql.cli.command", "pydantic", "rich", "sqlglot", "duckdb")),
        ("--help", ("qidsql.cli.help", "qidsql.cli.command", "pydantic", "rich", "sqlglot", "duckdb")),
        ("audit {} t --format json", ("qidsql.operations.document",)),
        (
            "audit {} t",
            ("numpy", "networkx", "highspy", "jinja2", "psycopg", "tomlkit", "yaml", *OTHERS),
        ),
        (
            "keys {} t --all --exclude b",
            ("networkx", "jinja2", "psycopg", "tomlkit", "yaml", *OTHERS),
        ),
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


@pytest.mark.parametrize("command", ["release", "tables"])
def test_a_report_that_shows_every_count_says_which_hide_small_ones(command: str) -> None:
    outcome = inside(command, "x.parquet", "--min-count", "11")
    assert outcome.code == 2 and "Small counts are hidden by audit, run, report, mcp" in outcome.line
