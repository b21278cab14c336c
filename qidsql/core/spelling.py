"""How a setting is written where it was given, so that what is advised can be followed to the letter."""

import json
import re
from collections.abc import Iterable
from typing import Protocol

ROLE_OPTIONS = {"direct identifier": "--identifier", "sensitive": "--sensitive", "other": "--exclude"}


class Spelling(Protocol):
    """The words of one place where settings are given; names are those of `Policy` and of roles in qidsql.toml."""

    def setting(self, name: str) -> str:
        """A setting by its name: max_size."""

    def role(self, role: str, columns: Iterable[str]) -> str:
        """What gives these columns that role."""


class Options:
    """Settings as options of the command line: --max-size, --identifier email."""

    def setting(self, name: str) -> str:
        return f"--{name.replace('_', '-')}"

    def role(self, role: str, columns: Iterable[str]) -> str:
        return " ".join(f"{ROLE_OPTIONS[role]} {column}" for column in columns)


class Keys:
    """Settings as keys of qidsql.toml: max_size, email = "direct identifier"."""

    def setting(self, name: str) -> str:
        return name

    def role(self, role: str, columns: Iterable[str]) -> str:
        lines = (f'{_key(column)} = "{role}"' for column in columns)
        return f"{', '.join(lines)} in [tables.roles]"


OPTIONS: Spelling = Options()
KEYS: Spelling = Keys()


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
