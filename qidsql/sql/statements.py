"""A statement to an engine, with what it is for and how to read the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

Answer = TypeVar("Answer")
Row: TypeAlias = tuple[object, ...]
ColumnNames: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement(Generic[Answer]):
    """A question to an engine: its text, what it is for (in words, without values), and how to read the rows.

    With `into` the engine writes the rows to that file of its exports, and there is none to read. With `out_of` it
    reads that file. `scans`: how often the table is read,
    at most.
    """

    sql: str
    purpose: str
    read: Callable[[list[Row]], Answer]
    into: Path | None = None
    out_of: Path | None = None
    scans: int = 1


def integer(cell: object) -> int:
    """Counts come as int, Decimal, str or NULL, depending on driver and function."""
    return 0 if cell is None else int(cell)  # type: ignore[call-overload]
