"""The command line: all commands in one app, and exit codes for errors.

Imports nothing heavy, so that `--help` is fast.
"""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from qidsql.cli.memory import bounded_memory
from qidsql.cli.options import HeadedCommand, number_expected
from qidsql.cli.streams import say
from qidsql.core.budget import Ending, ending
from qidsql.errors import ExitCode, QidsqlError, Stopped, UsageError, internal
from qidsql.version import __version__
from qidsql.wording.texts import BY_REQUIRE

if TYPE_CHECKING:
    from qidsql.cli.command import Perform

LEVELS = ("info", "debug")  # of QIDSQL_LOG
HELP = {"help_option_names": ["-h", "--help"]}
TYPER_INTERRUPTED = 130  # the exit code of typer after Ctrl-C

COMMANDS = {
    "demo": "Make a sample database and audit it",
    "tables": "The tables and columns of a source",
    "doctor": "Whether a source can be audited, what is missing",
    "audit": "Is a table k-anonymous, and which columns are why",
    "keys": "Column sets that are keys or quasi-identifiers",
    "uniques": "Value combinations that single out rows",
    "risk": "Re-identification risk, in table and population",
    "link": "Joinable columns, rows that a join singles out",
    "graph": "Which attributes link a person to a secret",
    "protect": "Coarser, blank or withheld: each row equals k - 1",
    "impact": "What suppression does to cells and statistics",
    "verify": "Check a result by what proves it",
    "release": "One verdict on what is to leave, to sign",
    "init": "Write qidsql.toml, with a role for every column",
    "run": "Audit all tables of a policy file, and compare",
    "history": "The recorded runs, what changed, what alerts sent",
    "report": "A recorded run or audit in another format",
    "shell": "Audits in the shells of DuckDB and Postgres",
    "mcp": "What an assistant may ask about tables",
    "help": "The pages and the terms of the manual",
}  # each with a summary that fits on a line
QUESTIONS = {
    "What is there, can it be audited?": ("tables", "doctor", "demo"),
    "Which columns are personal?": ("init",),
    "Is it k-anonymous, what is to blame?": ("audit",),
    "Which columns identify each row?": ("keys", "uniques"),
    "How likely is re-identification?": ("risk",),
    "What can others join or look up?": ("link", "graph"),
    "What may be published?": ("protect",),
    "What did it cost, is it proved?": ("impact", "verify"),
    "May this file leave?": ("release",),
    "Does every table still pass?": ("run", "history"),
    "A page to sign, JSON, schemas?": ("report",),
    "Inside DuckDB, psql, an assistant?": ("shell", "mcp"),
    "What does a word mean?": ("help",),
}  # of people, and the commands that answer them
FIRST_SCREEN = """\
Usage: qidsql COMMAND [SOURCE] [TABLE] [OPTIONS]
Finds the columns that identify people, by SQL that runs inside the database.

Try    qidsql demo
File   qidsql audit people.csv
Table  qidsql audit postgresql://you@host/db public.patients

{questions}

Exit codes: 0 pass, 1 policy violated, 2 error, 3 inconclusive
Options: qidsql COMMAND --help. Words: qidsql help WORD (k-anonymity, HIPAA)
--version, --install-completion, --show-completion
"""
OWN_FLOW = ("init", "demo")  # their modules in this folder have their own `perform`


class Commands(TyperGroup):
    """Imports a command when it is called, and none for --help."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        questions = (f"{question:<38}{', '.join(commands)}" for question, commands in QUESTIONS.items())
        formatter.write(FIRST_SCREEN.format(questions="\n".join(questions)))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and imported(with_way(args[0], rest)), rest


def with_way(name: str, args: list[str]) -> str:
    """The name of the command, with the way that an option chooses: protect.cells, risk.population.

    Raises UsageError for several.
    """
    option, ways = _ways(name)
    given = [after for before, after in pairwise(args) if before == option] + [
        each.partition("=")[2] for each in args if each.startswith(f"{option}=")
    ]
    if ways and len(given) > 1 and option.removeprefix("--") not in ways:
        raise UsageError(f"{option} is given {len(given)} times ({', '.join(given)}); choose one")
    way = next((each for each in (option.removeprefix("--"), *given) if given and each in ways), None)
    return f"{name}.{way}" if way else name


def _ways(name: str) -> tuple[str, tuple[str, ...]]:
    """The ways of a command that have options of their own, and the option that chooses one."""
    if not find_spec(f"qidsql.commands.{name}"):
        return "", ()
    declared = import_module(f"qidsql.commands.{name}.command").COMMAND
    return f"--{declared.chosen_by}", (*declared.ways, *declared.plain)


def imported(name: str) -> Any:
    """The command of this name, or of a way of it (protect.cells), built from its request."""
    from qidsql.cli.command import epilog, perform, request_function, typer_function

    own = f"qidsql.cli.{name.partition('.')[0]}"
    module = import_module(own) if name not in OWN_FLOW and find_spec(own) else None
    if hasattr(module, "subcommands"):
        return _in_parts(name, module)
    verb, _, way = name.partition(".")
    plain = import_module(f"qidsql.commands.{verb}.command").COMMAND.plain if way else {}
    if way in plain:
        declared, function = plain[way], typer_function(verb, plain[way], perform)
    elif find_spec(f"qidsql.commands.{name}"):
        declared = import_module(f"qidsql.commands.{name}.command").COMMAND
        function = typer_function(name, declared, _perform_of(name) if name in OWN_FLOW else perform)
    else:
        assert module is not None, "a command has a module of its own"
        declared, function = module.COMMAND, request_function(module.COMMAND, module.run)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False, context_settings=HELP)
    alone.command(verb, cls=HeadedCommand, epilog=epilog(verb, declared))(function)
    return typer.main.get_command(alone)


def _in_parts(name: str, module: Any) -> Any:
    """A command with parts; those without work of their own open a source."""
    from qidsql.cli.command import epilog, perform, request_function, typer_function

    listed = module.subcommands()
    group = typer.Typer(
        name=name, cls=CommandWithParts, rich_markup_mode=None, add_completion=False, context_settings=HELP
    )
    group.callback(help=module.ABOUT, epilog=epilog(name, module.COMMAND))(lambda: None)
    for part, (summary, declared, run) in listed.items():
        words = {"short_help": summary, "epilog": epilog(name, declared)}
        function = request_function(declared, run) if run else typer_function(name, declared, perform)
        group.command(part, cls=HeadedCommand, **words)(function)
    return typer.main.get_command(group)


class CommandWithParts(TyperGroup):
    """A command with parts. What does not begin with the name of a part is for the first one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completing = ctx.resilient_parsing and not args
        if not completing and (not args or args[0] not in (*self.commands, *ctx.help_option_names)):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands]


def _perform_of(name: str) -> "Perform":
    return import_module(f"qidsql.cli.{name}").perform  # type: ignore[no-any-return]


app = typer.Typer(
    name="qidsql",
    cls=Commands,
    rich_markup_mode=None,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
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
    """Runs the command line. An error becomes one line on stderr and exit code 2. A signal: exit code 3, or 1 if a
    violation was proved before it.
    """
    with ending() as signals:
        try:
            code = _run(signals)
            signals.over = True
        except KeyboardInterrupt:
            say("interrupted")
            code = ExitCode.INCONCLUSIVE
        if signals.interrupted and code == ExitCode.ERROR:  # which the signal may have caused; a violation is proved
            code = ExitCode.INCONCLUSIVE
    sys.exit(code)


def _run(signals: Ending) -> int:
    """Runs the command in sys.argv and returns its exit code. Raises KeyboardInterrupt."""
    if not sys.argv[1:]:
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if os.environ.get("_QIDSQL_COMPLETE") == "complete_bash":
        from qidsql.cli.completion import join_words

        join_words(os.environ)
    try:
        _log_to_stderr(os.environ.get("QIDSQL_LOG", ""))
        with bounded_memory():
            code = app(prog_name="qidsql", standalone_mode=False)
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


def _log_to_stderr(level: str) -> None:
    """Writes stages, statements by their purpose and searches to stderr, if QIDSQL_LOG asks for it; never a value.

    Raises UsageError.
    """
    if not level:
        return
    import logging

    if level.lower() not in LEVELS:
        raise UsageError(f"QIDSQL_LOG must be {' or '.join(LEVELS)}, got {level}")
    lines = logging.StreamHandler()
    lines.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    ours = logging.getLogger("qidsql")
    ours.addHandler(lines)
    ours.setLevel(level.upper())


def _usage(error: Any) -> str:
    """The text of a usage error of typer; names the environment variable if that set the option."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if expected := number_expected(option):
        error.message = expected
    if option is not None and context is not None:
        given = context.get_parameter_source(option.name)
        if given is not None and given.name == "ENVIRONMENT":
            return f"{option.envvar} (for {option.opts[-1]}): {error.message}"
    unknown = getattr(error, "option_name", "")
    hint = _policy_hint(unknown, context) or _way_hint(unknown, context) or _counts_hint(unknown)
    if unknown.removeprefix("--").replace("-", "_") in BY_REQUIRE:
        return f"{unknown} is --require {unknown.removeprefix('--')}=LIMIT"
    return str(error.format_message()) + hint


def _policy_hint(unknown: str, context: Any) -> str:
    """How the command takes the policy file, if an unknown option looks like that."""
    if context is None or unknown not in ("--config", "--policy", "--policy-file"):
        return ""
    if any("--policy" in each.opts for each in context.command.params):
        return "; the policy file is --policy FILE"
    if any(each.name == "config" for each in context.command.params):
        return f"; the policy file is an argument: {context.command_path} FILE"
    return ""


def _way_hint(unknown: str, context: Any) -> str:
    """The ways of the command that have an option which this one has not."""
    verb = str(getattr(context, "info_name", ""))
    option, ways = _ways(verb) if verb in COMMANDS else ("", ())
    named = {f"{verb}.{way}": option if option == f"--{way}" else f"{option} {way}" for way in ways}
    named |= {verb: f"{verb} without {option}"} if ways else {}
    having = [words for name, words in named.items() if any(unknown in each.opts for each in imported(name).params)]
    return f"; it is an option of {' and '.join(having)}" if having else ""


def _counts_hint(unknown: str) -> str:
    """Which reports can hide small counts, if one that shows them all was asked to."""
    if unknown != "--min-count":
        return ""
    having = [name for name in COMMANDS if any(unknown in each.opts for each in getattr(imported(name), "params", ()))]
    return f"; this report shows exact counts, for whoever may see them. Small counts are hidden by {', '.join(having)}"


def _internal(error: Exception) -> str:
    """Reports an unexpected error by type and place only: text and traceback can contain cell values."""
    if os.environ.get("QIDSQL_DEBUG"):
        raise error
    return f"{internal(error)}. QIDSQL_DEBUG=1 shows the traceback, which can contain cell values"
