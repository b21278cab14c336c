"""The declaration of a command: its request, and its properties on the command line.

The command NAME is a folder `qidsql/commands/NAME/` with

    command.py   the request, which checks its values, COMMAND, a `Command`, and the result
                 (in result.py where it needs what --help should not wait for)
    NAME.py      `NAME(engine, request, on_stage)`: does the work and returns a result
                 (and `planned_statements(engine, request)`, if more than the first statement is known in advance)
    report.py    `report(console, result)`: prints the result at a terminal;
                 `opening(result)`: the sentence that its page begins with, for people who sign

and an entry in the list of commands (`qidsql.cli.app`). A command with `ways` has such a folder for each within its own
(`qidsql/commands/protect/cells/`): `protect --by cells` is the command protect.cells, with options of its own, and
`risk --population PEOPLE` is risk.population.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A request with the properties of its command. The docstring of the request is the help text.

    `formats` are the formats of its report, the first one being the default; those that no other command has are in the
    folder's `formats.py`. `documents`: its result can also be a run document, with the formats of
    `qidsql.formats`.
    """

    request: type
    examples: tuple[str, ...]
    exit_codes: str
    formats: tuple[str, ...] = ("terminal", "json", "html", "markdown")
    documents: bool = False
    opens: bool = False  # the work takes the source (`qidsql.engines.connect`) and opens it itself
    of_policy: bool = False  # without a source, what [release] of the policy file names
    source_last: bool = False  # the command's own argument comes before the source
    without: tuple[str, ...] = ()  # common options that this command does not have
    left_out: tuple[str, ...] = ()  # options of the request that only another way has
    ways: tuple[str, ...] = ()  # with a request of their own, each in a folder within this one
    chosen_by: str = "by"  # the option whose value is the way, or which chooses the way of its name by being given
    plain: Mapping[str, "Command"] = field(default_factory=dict)  # other values of it: what their --help lists
    about: str = ""  # their help text
    shown: tuple[str, ...] = ()  # the options that --help lists, 15 at most; the others are under --help-all; none: all
