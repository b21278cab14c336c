"""The ways of `protect` under short names, for tests that take several commands in turn."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import qidsql

WAYS: Mapping[str, Mapping[str, Any]] = {
    "values": {"by": "values"},
    "turns": {"by": "turns"},
    "identical": {"by": "cells"},
    "matching": {"by": "cells", "against": "released-rows"},
    "columns": {"by": "columns"},
}


def work(name: str) -> Callable[..., Any]:
    """The Python function of a command or a way."""
    return partial(qidsql.protect, **WAYS[name]) if name in WAYS else getattr(qidsql, name)  # type: ignore[no-any-return]


def against(name: str) -> Callable[..., Any]:
    """A Python function of a source and two tables, whose rows it matches: `link`, or `risk` with a population."""
    if name == "link":
        return qidsql.link
    return lambda source, table, other, **options: qidsql.risk(source, table, population=other, **options)


def words(name: str) -> tuple[str, ...]:
    """A command or a way on the command line."""
    given = (word for option, value in WAYS.get(name, {}).items() for word in (f"--{option}", str(value)))
    return ("protect", *given) if name in WAYS else (name,)
