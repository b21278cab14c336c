"""qidsql release: check what is to leave, and record what left."""

from collections.abc import Callable
from typing import Any

from qidsql.commands.release.command import COMMAND
from qidsql.declarations.commands import Command

ABOUT = """Check a file or table before it leaves, and record what left: one verdict, on one page that can be signed.

Without the name of a part the release is checked: qidsql release FILE --policy qidsql.toml. A part's options: qidsql
release PART --help
"""


def subcommands() -> "dict[str, tuple[str, Command, Callable[[Any], None] | None]]":
    """The parts of the command: summary, declaration, work; None: as the commands that open a source."""
    return {"check": ("One verdict on the bytes that are to leave", COMMAND, None)}
