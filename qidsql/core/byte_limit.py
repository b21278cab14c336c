"""A limit on the bytes that statements of a block read, at any depth: engines charge statements before they run."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from qidsql.errors import BudgetSpent
from qidsql.wording.numbers import size
from qidsql.wording.option_names import setting


@dataclass
class _Bytes:
    """So many at most, and those used."""

    most: int
    used: int = 0


_LIMITS: ContextVar[tuple[_Bytes, ...]] = ContextVar("limits of bytes", default=())


@contextmanager
def within_bytes(most: int | None) -> Iterator[None]:
    """Limit the block to so many bytes; None: no limit of its own. Those of the blocks around it hold too."""
    token = _LIMITS.set((*_LIMITS.get(), *(() if most is None else (_Bytes(most),))))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def bytes_limited() -> bool:
    """Whether any limit holds."""
    return bool(_LIMITS.get())


def charge_bytes(wanted: int) -> None:
    """Count what is about to be read. Raises BudgetSpent if it exceeds a limit: then nothing is counted."""
    for each in _LIMITS.get():
        if each.used + wanted > each.most:
            raise BudgetSpent(
                f"the budget of {size(each.most)} ({setting('max_bytes')}) does not allow the next {size(wanted)}: "
                f"{size(each.used)} are used"
            )
    for each in _LIMITS.get():
        each.used += wanted
