"""The source in suggested commands: as the user wrote it, if that is a name of it or a URL without a secret.

A report names the source without its password and settings; a command with that text might not connect, or without
the encryption that was asked for.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from qidsql.errors import names_a_secret

PLAIN_URL = r"\w+://([\w.~%-]+@)?[\w.~%:\[\]-]*(/[\w.~%/-]*)?(\?[\w.~%/=&-]*)?"  # no password can be in it
_typed: ContextVar[str | None] = ContextVar("typed_source", default=None)


@contextmanager
def typed_as(source: str | None) -> Iterator[None]:
    """Within the block the source is suggested as typed, unless that can hold a secret; or as `env:QIDSQL_URL`."""
    if source is None:
        token = _typed.set("env:QIDSQL_URL" if os.environ.get("QIDSQL_URL") else None)
    else:
        plain = re.fullmatch(PLAIN_URL, source) is not None and not names_a_secret(source)
        token = _typed.set(source if plain or source.startswith("env:") else None)
    try:
        yield
    finally:
        _typed.reset(token)


def typed_source(shown: str) -> str:
    """The text for a command, given that of reports."""
    return _typed.get() or shown
