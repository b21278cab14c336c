"""The command line: all commands in one app, and exit codes for errors.

Imports nothing heavy, so that `--help` is fast.
"""

import os
import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from qidsql.cli.command import Perform, epilog, perform, request_function, typer_function
from qidsql.cli.exit_codes import ExitCode
from qidsql.cli.memory import bounded_memory
from qidsql.cli.streams import say
from qidsql.core.signals import Ending, ending
from qidsql.errors import QidsqlError, Stopped
from qidsql.version import __version__

TYPER_INTERRUPTED = 130  # the exit code of typer after Ctrl-C

COMMANDS = (
    "audit",
    "profile",
    "keys",
    "mask",
    "uniques",
    "suppress",
    "anonymize",
    "impact",
    "graph",
    "link",
    "report",
    "schema",
    "init",
    "run",
    "history",
    "diff",
    "alerts",
    "tables",
    "doctor",
    "demo",
    "shell",
    "duckdb",
    "postgres",
)  # in the order of --help
GROUPS = ("duckdb", "postgres")
OWN_FLOW = ("init", "demo")  # their modules in this folder have their own `perform`


class Commands(TyperGroup):
    """Imports a command when it is called, so that its help is fast."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = imported(cmd_name)
        return self.commands.get(cmd_name)


def imported(name: str) -> Any:
    """The command of this name, built from its request."""
    if find_spec(f"qidsql.commands.{name}"):
        declared = import_module(f"qidsql.commands.{name}.request").COMMAND
        function = typer_function(name, declared, _perform_of(name) if name in OWN_FLOW else perform)
    else:
        module = import_module(f"qidsql.cli.{name}")
        if name in GROUPS:
            return typer.main.get_command(module.app)
        declared, function = module.COMMAND, request_function(module.COMMAND.request, module.run)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name, epilog=epilog(declared))(function)
    return typer.main.get_command(alone)


def _perform_of(name: str) -> Perform:
    return import_module(f"qidsql.cli.{name}").perform  # type: ignore[no-any-return]


app = typer.Typer(
    name="qidsql",
    cls=Commands,
    help="Audit tables for k-anonymity, keys and quasi-identifiers, by SQL that runs inside the database.",
    epilog=(
        "Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive (interrupted, budget spent, no rows). "
        "Start with: qidsql demo"
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qidsql {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line. An error becomes one line on stderr and exit code 2, a signal exit code 3."""
    with ending() as signals:
        try:
            code = _run(signals)
            signals.over = True
        except KeyboardInterrupt:
            say("interrupted")
            code = ExitCode.INCONCLUSIVE
        if signals.interrupted and code in (ExitCode.VIOLATION, ExitCode.ERROR):  # which the signal may have caused
            code = ExitCode.INCONCLUSIVE
    sys.exit(code)


def _run(signals: Ending) -> int:
    """Runs the command in sys.argv and returns its exit code. Raises KeyboardInterrupt."""
    if sys.argv[1:] in ([], *([group] for group in GROUPS)):
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with bounded_memory():
            code = app(standalone_mode=False)
        if code == TYPER_INTERRUPTED:
            raise KeyboardInterrupt
    except Stopped as stop:
        say(str(stop))
        code = ExitCode.INCONCLUSIVE
    except QidsqlError as error:
        for problem in getattr(error, "problems", [str(error)]):
            say(problem)
        code = ExitCode.ERROR
    except typer.Exit as exit:
        code = exit.exit_code
    except MemoryError:
        say("out of memory; audit fewer columns or rows, or use a machine with more memory")
        code = ExitCode.ERROR
    except Exception as error:  # noqa: BLE001 - the last place to report it as one line
        if signals.interrupted:  # an interrupted import, for example, can fail in any way
            raise KeyboardInterrupt from None
        say(_usage(error) if hasattr(error, "format_message") else _internal(error))
        code = ExitCode.ERROR
    return int(code or 0)


def _usage(error: Any) -> str:
    """The text of a usage error of typer; names the environment variable if that set the option."""
    option, context = getattr(error, "param", None), error.ctx
    if option is not None and context is not None:
        given = context.get_parameter_source(option.name)
        if given is not None and given.name == "ENVIRONMENT":
            return f"{option.envvar} (for {option.opts[0]}): {error.message}"
    return str(error.format_message())


def _internal(error: Exception) -> str:
    """Reports an unexpected error by type and place only: text and traceback can contain cell values."""
    if os.environ.get("QIDSQL_DEBUG"):
        raise error
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal error ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}); please report it. "
        f"QIDSQL_DEBUG=1 shows the traceback, which can contain cell values"
    )
