"""What README says is what the tool does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from qidsql.cli.app import app
from qidsql.core.options import STATEMENTS
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from tests.commandline import inside

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def without_seconds(text: str) -> str:
    """The report without what differs from run to run and from DuckDB to DuckDB."""
    return re.sub(r"\d+(\.\d+)? s,|DuckDB [\d.]+", "", text).strip()


def without_work(text: str) -> str:
    """The report without what it took: a search may learn to ask less."""
    return re.sub(r"^\d+ statements?(,| in) .*$", "", without_seconds(text), flags=re.MULTILINE)


def test_the_reports_in_readme_are_those_of_its_commands(tmp_path: Path) -> None:
    demo = inside("demo", "--keep", "clinic.duckdb", "--quiet", cwd=tmp_path)
    [(arguments, block)] = re.findall(r"```text\n\$ qidsql (audit .*?)\n\n(.*?)```", README, flags=re.DOTALL)
    assert without_seconds(block) == without_seconds(inside(*arguments.split(), cwd=tmp_path).out)
    assert without_seconds(block) == without_seconds(demo.out)
    blocks = re.findall(r"```text\n\$ qidsql ((?:keys|mask) .*?)\n\n(.*?)```", README, flags=re.DOTALL)
    assert [arguments.split()[0] for arguments, _ in blocks] == ["keys", "keys", "mask"]
    for arguments, block in blocks:
        assert without_work(block) == without_work(inside(*arguments.split(), cwd=tmp_path).out)


def without_errors(text: str) -> str:
    """The report without the errors on samples: other versions of DuckDB draw others."""
    return " ".join(re.sub(r"[+-][\d,]+ %", "", without_work(text)).split())


def test_the_risk_in_readme_is_that_of_its_command(tmp_path: Path) -> None:
    inside("demo", "--keep", "clinic.duckdb", "--quiet", cwd=tmp_path)
    [(arguments, block)] = re.findall(r"```text\n\$ qidsql (risk .*?)\n\n(.*?)```", README, flags=re.DOTALL)
    assert without_errors(block) == without_errors(inside(*arguments.split(), cwd=tmp_path).out)


def test_the_graph_in_readme_is_that_of_its_command(tmp_path: Path) -> None:
    inside("demo", "--keep", tmp_path / "clinic.duckdb")
    [file] = re.findall(r"`outside.toml`\n\n```toml\n(.*?)```", README, flags=re.DOTALL)
    (tmp_path / "outside.toml").write_text(file)
    [(arguments, block)] = re.findall(r"```text\n\$ qidsql (graph .*?)\n\n(.*?)```", README, flags=re.DOTALL)
    assert without_work(block) == without_work(inside(*arguments.split(), cwd=tmp_path).out)


def test_what_one_statement_can_do_is_said_as_it_is() -> None:
    assert (POSTGRES.union_sets, POSTGRES.union_rows) == (DUCKDB.union_sets, DUCKDB.union_rows)
    assert f"up to {DUCKDB.union_sets} column sets of a small table" in STATEMENTS
    assert f"up to {DUCKDB.union_sets} column sets of a table of at most {DUCKDB.union_rows:,} rows" in README


def commands(group: TyperGroup, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands of the program or of a group, and below each group its own."""
    for name, command in group.commands.items():
        yield (*above, name)
        if isinstance(command, TyperGroup):
            yield from commands(command, (*above, name))


PROGRAM = typer.main.get_command(app)
assert isinstance(PROGRAM, TyperGroup)
COMMANDS = list(commands(PROGRAM))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_an_example_and_a_place_in_readme(command: tuple[str, ...]) -> None:
    text = inside(*command, "--help").out
    assert re.search(r"Examples?:\s", text)
    assert f"qidsql {' '.join(command)}" in README


def test_every_option_in_readme_exists() -> None:
    texts = [inside(*command, "--help").out for command in COMMANDS]
    texts += [inside(*c, "--help-all").out for c, text in zip(COMMANDS, texts, strict=True) if "--help-all" in text]
    known = {option for text in texts for option in re.findall(r"--[a-z-]+", text)}
    named = set(re.findall(r"(?<!\w)--[a-z][a-z-]+", README.split("## Development")[0]))
    assert named - known <= {"--version"}
