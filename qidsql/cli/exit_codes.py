"""Exit codes of the command line."""

from enum import IntEnum

import typer

from qidsql.core.budget import settled


class ExitCode(IntEnum):
    """The exit code that scripts read."""

    PASS = 0
    VIOLATION = 1
    ERROR = 2
    INCONCLUSIVE = 3


EXIT_CODES = {
    "pass": ExitCode.PASS,
    "finished": ExitCode.PASS,
    "violation": ExitCode.VIOLATION,
    "error": ExitCode.ERROR,
}  # any other: inconclusive


def exit_with(verdict: str) -> None:
    """Ends a command, whose report is already written, with the exit code of the verdict."""
    settled()
    raise typer.Exit(EXIT_CODES.get(verdict, ExitCode.INCONCLUSIVE))
