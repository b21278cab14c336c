"""What README says is what the tool does."""

import re
from pathlib import Path

import pytest

from tests.commandline import qidsql

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def without_seconds(text: str) -> str:
    """The report without what differs from run to run and from DuckDB to DuckDB."""
    return re.sub(r"\d+(\.\d+)? s,|DuckDB [\d.]+", "", text).strip()


def test_the_report_in_readme_is_the_demos() -> None:
    [block] = re.findall(r"```text\n\$ qidsql audit clinic.*?\n\n(.*?)```", README, flags=re.DOTALL)
    assert without_seconds(block) == without_seconds(qidsql("demo", "--quiet").out)


COMMANDS = re.findall(r"^  (\w+) ", qidsql("--help").out.split("Commands:")[1].split("\n\n")[0], flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_an_example_and_a_place_in_readme(command: str) -> None:
    text = qidsql(command, "--help").out
    assert re.search(r"Examples?:\s", text)
    assert f"qidsql {command}" in README


def test_every_option_in_readme_exists() -> None:
    known = {option for command in COMMANDS for option in re.findall(r"--[a-z-]+", qidsql(command, "--help").out)}
    named = set(re.findall(r"(?<!\w)--[a-z][a-z-]+", README.split("## Development")[0]))
    assert named - known <= {"--version"}
