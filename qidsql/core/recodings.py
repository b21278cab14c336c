"""Recodings of a column: a coarser value for each value, and NULL for NULL. Independent of SQL."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from io import StringIO
from pathlib import Path

from qidsql.core.files import refuse_pipe
from qidsql.core.tables import Column, ValueKind, kind_of
from qidsql.errors import UsageError, near_misses
from qidsql.wording.texts import setting


class RecodingKind(StrEnum):
    """What a recoding keeps of a value."""

    MONTH = "month"  # with its year
    YEAR = "year"
    DECADE = "decade"
    PREFIX = "prefix"  # the first N characters
    WIDTH = "width"  # the lower end of its interval of width N, from 0


DATES = (ValueKind.DATE, ValueKind.TIMESTAMP)
TAKES = {
    RecodingKind.MONTH: DATES,
    RecodingKind.YEAR: DATES,
    RecodingKind.DECADE: DATES,
    RecodingKind.PREFIX: (ValueKind.TEXT,),
    RecodingKind.WIDTH: (ValueKind.WHOLE, ValueKind.DECIMAL),
}
WITH_NUMBER = (RecodingKind.PREFIX, RecodingKind.WIDTH)
LARGEST_NUMBER = 1_000_000_000  # of the number
FORMS = "month, year or decade (dates), prefix:N (texts), width:N (numbers)"


@dataclass(frozen=True, slots=True)
class Recoding:
    """One recoding; `number` is the N of prefix:N and width:N, else 0."""

    kind: RecodingKind
    number: int = 0

    @classmethod
    def read(cls, text: str) -> "Recoding":
        """The recoding of this text: month, year, decade, prefix:N or width:N. Raises UsageError."""
        name, colon, number = text.partition(":")
        if name not in set(RecodingKind):
            near = near_misses(name, RecodingKind)
            meant = f" (did you mean {' or '.join(near)}?)" if near else ""
            raise UsageError(f"no recoding {text}{meant}; there are {FORMS}")
        kind = RecodingKind(name)
        if kind not in WITH_NUMBER:
            if colon:
                raise UsageError(f"{kind} takes no number, got {text}")
            return cls(kind)
        if not (number.isascii() and number.isdigit() and 0 < int(number) <= LARGEST_NUMBER):
            raise UsageError(f"{kind} needs a whole number from 1 to {LARGEST_NUMBER}, such as {kind}:3; got {text}")
        return cls(kind, int(number))

    def check(self, column: Column, kinds: Sequence[tuple[ValueKind, str]]) -> None:
        """Raise UsageError if it does not apply to the column's type. `kinds` are the types that the engine recodes."""
        found = kind_of(column.type, kinds)
        if found not in TAKES[self.kind]:
            fitting = [str(kind) for kind, taken in TAKES.items() if found in taken]
            can = f"it can be recoded by {' or '.join(fitting)}" if fitting else "it can only be dropped here"
            raise UsageError(
                f"{self} recodes {' and '.join(TAKES[self.kind])}, and {column.name} is {column.type}: {can}"
            )

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}" if self.number else str(self.kind)


# Hierarchies of values, read from files in ARX's form: a line per value, `value;parent;grandparent;...;*`.


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The nodes above each value, as numbers, level by level; the value itself is a node of level 0."""

    height: int  # levels above the values
    nodes: tuple[tuple[str, tuple[int, ...]], ...]  # the value's text, and its node at each level, 0 first

    @property
    def edges(self) -> list[tuple[str, int, int, int]]:
        """For each value and level from 1 on: its text, the level, its node one level below, its node there."""
        return [(text, n, path[n - 1], path[n]) for text, path in self.nodes for n in range(1, self.height + 1)]


def read_hierarchy(path: str) -> Hierarchy:
    """The hierarchy in a file. Raises UsageError, which names lines and no values."""
    name = f"{setting('hierarchy')} {Path(path).name}"
    refuse_pipe(Path(path), name)
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            return _hierarchy(name, file.read())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{name} cannot be read ({type(error).__name__}); expected a text file") from None


@lru_cache(maxsize=16)
def _hierarchy(name: str, text: str) -> Hierarchy:
    reader = csv.reader(StringIO(text, newline=""), delimiter=";")
    lines = [(number, row) for number, row in enumerate(reader, start=1) if row]
    if not lines or len(lines[0][1]) < 2:
        raise UsageError(f"{name}: expected lines such as value;parent;*, with a ; between the levels")
    height = len(lines[0][1]) - 1
    numbers: dict[tuple[int, str], int] = {}
    parents: dict[int, int] = {}
    nodes: dict[str, tuple[int, ...]] = {}
    for line, row in lines:
        if len(row) != height + 1:
            raise UsageError(f"{name}:{line}: {len(row)} levels, where the first line has {height + 1}")
        if row[0] in nodes:
            raise UsageError(f"{name}:{line}: the value of this line has a line before; each needs one")
        path_up = tuple(numbers.setdefault((level, text), len(numbers)) for level, text in enumerate(row))
        for level in range(height):
            if parents.setdefault(path_up[level], path_up[level + 1]) != path_up[level + 1]:
                raise UsageError(
                    f"--hierarchy {name}:{line}: what stands at level {level} has another parent in a line before"
                )
        nodes[row[0]] = path_up
    if len({path_up[-1] for path_up in nodes.values()}) > 1:
        raise UsageError(
            f"--hierarchy {name}: the last level differs between lines; end every line with the same, as *"
        )
    return Hierarchy(height, tuple(nodes.items()))
