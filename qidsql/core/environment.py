"""Texts that name an environment variable instead of a value: env:NAME."""

import os
import re

from qidsql.errors import UsageError

PREFIX = "env:"


def variable(text: str) -> str | None:
    """The NAME of env:NAME; None for another text."""
    return text.removeprefix(PREFIX) if text.startswith(PREFIX) else None


def resolved(text: str, contents: str) -> str:
    """The value of the variable that env:NAME names; another text as it is.

    `contents` says what the variable should contain. Raises UsageError if it is empty or not set.
    """
    name = variable(text)
    if name is None:
        return text
    value = os.environ.get(name, "")
    if not value:
        shown = name if re.fullmatch(r"\w+", name) else f"behind {PREFIX}"  # else it can be a URL with a secret
        raise UsageError(f"the environment variable {shown} is not set; it should contain {contents}")
    return value
