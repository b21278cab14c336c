"""The source in suggested commands: as the user wrote it, if that is a name of it.

A report names the source without its password; a command with that text might not connect, but env:NAME does.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_typed: ContextVar[str | None] = ContextVar("typed_source", default=None)


@contextmanager
def typed_as(source: str | None) -> Iterator[None]:
    """Within the block the source is suggested as `env:NAME`, if it was typed so or taken from QIDSQL_URL."""
    default = "env:QIDSQL_URL" if os.environ.get("QIDSQL_URL") else None
    token = _typed.set(default if source is None else source if source.startswith("env:") else None)
    try:
        yield
    finally:
        _typed.reset(token)


def typed_source(shown: str) -> str:
    """The text for a command, given that of reports."""
    return _typed.get() or shown
