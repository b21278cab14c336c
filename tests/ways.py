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
    """The Python function of a command or a way; `only` is that of audit."""
    if name == "only":
        return measured_set
    return partial(qidsql.protect, **WAYS[name]) if name in WAYS else getattr(qidsql, name)  # type: ignore[no-any-return]


def measured_set(source: Any = None, table: str | None = None, columns: Any = (), **options: Any) -> Any:
    """What an audit of one column set measures, by default of all columns together."""
    return qidsql.audit(source, table, only=columns, **options)


def against(name: str) -> Callable[..., Any]:
    """A Python function of a source and two tables, whose rows it matches: `link`, or `risk` with a population."""
    if name == "link":
        return qidsql.link
    return lambda source, table, other, **options: qidsql.risk(source, table, population=other, **options)


def words(name: str) -> tuple[str, ...]:
    """A command or a way on the command line; `only` without its columns."""
    given = (word for option, value in WAYS.get(name, {}).items() for word in (f"--{option}", str(value)))
    return ("protect", *given) if name in WAYS else ("audit" if name == "only" else name,)
