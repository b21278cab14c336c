"""A time limit on everything in a block, at any depth: connecting, reading the catalog, statements."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite

from qidsql.errors import BudgetSpent, UsageError

_END: ContextVar[float | None] = ContextVar("end of the time limit", default=None)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Limit the block to so many seconds; None: no limit of its own. The earlier of nested limits applies.

    It interrupts nothing by itself: code that waits has to check the `limit`. Raises UsageError for NaN and infinity.
    """
    if seconds is not None and not isfinite(seconds):
        raise UsageError("--max-seconds must be a number of seconds; without it the time is not limited")
    token = _END.set(earlier(_END.get(), None if seconds is None else time.monotonic() + seconds))
    try:
        yield
    finally:
        _END.reset(token)


def limit() -> float | None:
    """When the time is up, of `time.monotonic`; None: never."""
    return _END.get()


def earlier(one: float | None, other: float | None) -> float | None:
    """The earlier of two times; None is never."""
    return other if one is None else one if other is None else min(one, other)


def check_time(deadline: float | None) -> None:
    """Raise BudgetSpent if the time, of `time.monotonic`, is past; None is never."""
    if deadline is not None and time.monotonic() > deadline:
        raise BudgetSpent("the time budget is used up")
