"""Every option of --help is declared: as a field of the command's request, or as one of the command line's own."""

from importlib import import_module
from importlib.util import find_spec

import pytest

from qidsql.cli.app import COMMANDS, GROUPS, imported
from qidsql.cli.command import LineOptions, SourceArgument
from qidsql.declarations.options import parameters


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
