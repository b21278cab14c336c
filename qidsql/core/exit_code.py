"""The exit code that scripts read. Imports nothing of the house: `--version` and `--help` must not wait for it."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Of each verdict, by its name."""

    PASS = 0
    FINISHED = 0
    VIOLATION = 1
    ERROR = 2
    INCONCLUSIVE = 3
