"""A command is declared by its request. Where the rest of it is follows from its name.

The command NAME is a folder `qidsql/commands/NAME/` with

    request.py   the request, checked, and COMMAND, what is said below
    NAME.py      `NAME(engine, request, on_stage)`: the work, which returns a result
                 (and `planned_statements(engine, request)` where a dry run knows more than the first one)
    result.py    the result
    report.py    `report(console, result)`: for people at a terminal

and an entry in the list of commands (`qidsql.cli.app`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A request with what the command line says besides. The request's docstring is the help.

    `formats` are the formats of its report, the first of them where neither option nor file name says otherwise; the
    folder's `formats.py` writes those that are neither for a terminal nor JSON. `documents`: its result is also a run
    document, so that it has the formats of these besides (`qidsql.formats`).
    """

    request: type
    examples: tuple[str, ...]
    exit_codes: str
    formats: tuple[str, ...] = ("terminal", "json")
    documents: bool = False
    opens: bool = False  # the work is given the source (`qidsql.engines.source`) and opens it itself
    without: tuple[str, ...] = ()  # options of every command line that this one does not have
