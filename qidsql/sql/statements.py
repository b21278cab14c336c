"""A statement for an engine, with its purpose and a function that reads its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

Answer = TypeVar("Answer")
Row: TypeAlias = tuple[object, ...]
ColumnNames: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement(Generic[Answer]):
    """A statement: its text, its purpose for messages (without values), and a function that reads its rows.

    With `into` the engine writes the rows to that file of its exports and returns none. With `out_of` it loads that
    file. `scans`: how often the table is read, at most.
    """

    sql: str
    purpose: str
    read: Callable[[list[Row]], Answer]
    into: Path | None = None
    out_of: Path | None = None
    scans: int = 1


def integer(cell: object) -> int:
    """A count as int. Drivers return int, Decimal, str or NULL."""
    return 0 if cell is None else int(cell)  # type: ignore[call-overload]


def whole_count(cell: object) -> int:
    """A count. Raises ValueError if it is below 0, which no honest server says."""
    if (number := integer(cell)) < 0:
        raise ValueError
    return number
