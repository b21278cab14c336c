"""How an option is written where it was given, so that what is advised can be followed to the letter.

On the command line it is --max-size, in a policy file max_size. `setting` and `role` write it the one way or the
other, for as long as a block under `written_as` lasts.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

ROLE_OPTIONS = {"direct identifier": "--identifier", "sensitive": "--sensitive", "other": "--exclude"}


class OptionNames(Protocol):
    """The words of one place where options are given."""

    def setting(self, name: str) -> str:
        """An option by the name of its field: max_size."""

    def role(self, role: str, columns: Iterable[str]) -> str:
        """What gives these columns that role."""


class CommandLine:
    """--max-size, --identifier email"""

    def setting(self, name: str) -> str:
        return f"--{name.replace('_', '-')}"

    def role(self, role: str, columns: Iterable[str]) -> str:
        return " ".join(f"{ROLE_OPTIONS[role]} {column}" for column in columns)


class PolicyFile:
    """max_size, email = "direct identifier" in [tables.roles]"""

    def setting(self, name: str) -> str:
        return name

    def role(self, role: str, columns: Iterable[str]) -> str:
        lines = (f'{_key(column)} = "{role}"' for column in columns)
        return f"{', '.join(lines)} in [tables.roles]"


COMMAND_LINE: OptionNames = CommandLine()
POLICY_FILE: OptionNames = PolicyFile()
_in_use: ContextVar[OptionNames] = ContextVar("option_names", default=COMMAND_LINE)


@contextmanager
def written_as(names: OptionNames) -> Iterator[None]:
    """Options are written in these words within the block."""
    token = _in_use.set(names)
    try:
        yield
    finally:
        _in_use.reset(token)


def setting(name: str) -> str:
    """An option by the name of its field, as it was given."""
    return _in_use.get().setting(name)


def role(role: str, columns: Iterable[str]) -> str:
    """What gives these columns that role, where options are given."""
    return _in_use.get().role(role, columns)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
