"""The spelling of options in messages: --max-size for the command line, max_size for a policy file.

`setting` and `role` use the spelling set by the surrounding `written_as` block, so that the user can follow a message
literally.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

ROLE_OPTIONS = {"direct identifier": "--identifier", "sensitive": "--sensitive", "other": "--exclude"}


class OptionNames(Protocol):
    """The spelling of options in one place."""

    def setting(self, name: str) -> str:
        """The option with this field name, such as max_size."""

    def role(self, role: str, columns: Iterable[str]) -> str:
        """The options that give these columns this role."""


class CommandLineNames:
    """--max-size, --identifier email"""

    def setting(self, name: str) -> str:
        return f"--{name.replace('_', '-')}"

    def role(self, role: str, columns: Iterable[str]) -> str:
        return " ".join(f"{ROLE_OPTIONS[role]} {column}" for column in columns)


class PolicyFileNames:
    """max_size, email = "direct identifier" in [tables.roles]"""

    def setting(self, name: str) -> str:
        return name

    def role(self, role: str, columns: Iterable[str]) -> str:
        lines = (f'{_key(column)} = "{role}"' for column in columns)
        return f"{', '.join(lines)} in [tables.roles]"


COMMAND_LINE: OptionNames = CommandLineNames()
POLICY_FILE: OptionNames = PolicyFileNames()
_in_use: ContextVar[OptionNames] = ContextVar("option_names", default=COMMAND_LINE)


@contextmanager
def written_as(names: OptionNames) -> Iterator[None]:
    """Uses this spelling within the block."""
    token = _in_use.set(names)
    try:
        yield
    finally:
        _in_use.reset(token)


def setting(name: str) -> str:
    """The option with this field name, in the current spelling."""
    return _in_use.get().setting(name)


def role(role: str, columns: Iterable[str]) -> str:
    """The options that give these columns this role, in the current spelling."""
    return _in_use.get().role(role, columns)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
