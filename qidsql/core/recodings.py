"""Recodings of a column: a coarser value for each value, and NULL for NULL. Independent of SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from qidsql.core.tables import Column
from qidsql.core.value_kinds import ValueKind, kind_of
from qidsql.errors import UsageError, near_misses


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
MOST = 1_000_000_000  # of the number
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
        if not (number.isascii() and number.isdigit() and 0 < int(number) <= MOST):
            raise UsageError(f"{kind} needs a whole number from 1 to {MOST}, such as {kind}:3; got {text}")
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
