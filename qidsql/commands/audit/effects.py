"""What remedies do to a table that fails: parts of the result of `audit`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls
from qidsql.declarations.hidden import SHOWN, Shown
from qidsql.declarations.results import FLAT
from qidsql.measures.profiles import ClassProfile
from qidsql.wording.texts import count

CODED_COLUMNS = 32  # audited columns; of more, nothing is coded
MOST_CELLS = 100_000_000  # the same: it takes as long as a few searches


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """The table without these columns."""

    columns: Shown[tuple[str, ...]]
    passes: Annotated[bool, "the policy would be met then", SHOWN]
    still: Annotated[str, "the remaining obstacles, in words", SHOWN]
    profile: Annotated[ClassProfile, FLAT, SHOWN]


@dataclass(frozen=True, kw_only=True)
class LeastWithheld:
    """The fewest columns to withhold so that the others reach k: one choice of them, and the proved minimum."""

    columns: Shown[tuple[str, ...]]
    at_least: Shown[int]


@dataclass(frozen=True, kw_only=True)
class CoarserColumns:
    """The table with these columns at coarser levels, and the others as they are."""

    columns: tuple[str, ...]
    becomes: Annotated[tuple[str, ...], "the level of each in words"]
    levels: Annotated[tuple[int, ...], "the same as a number; 0: the values as they are"]
    kept: Annotated[
        Fraction,
        "of the detail of all cells (granularity), each column counting alike; if enough, without rows below k",
    ]
    enough: Annotated[bool, "no row is below k, or so few that a copy leaves them out by default, and more were"]
    passes: Annotated[bool, "the policy would be met then"]
    still: Annotated[str, "the remaining obstacles, in words"]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True, kw_only=True)
class BlankCells:
    """The table with these columns blank in the rows in classes below k."""

    columns: tuple[str, ...]
    cells: Annotated[int, "that would be NULL then, and are not"]
    kept: Annotated[Fraction, "of the detail of all cells, each column counting alike"]
    passes: Annotated[bool, "the policy would be met then"]
    still: Annotated[str, "the remaining obstacles, in words"]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True)
class Remedy:
    """A line of the comparison of remedies."""

    way: str
    what: str
    kept: Fraction
    passes: bool
    still: str
    profile: ClassProfile


def unmeasured(policy: Policy, columns: int, rows: int) -> str:
    """Where nothing but withholding is measured, in words; empty: coarser values and blank cells are, too."""
    if policy.entity is not None:
        return "by persons"
    if policy.nulls != Nulls.EQUAL:
        return "where a NULL matches anything"
    if columns > CODED_COLUMNS:
        return f"of more than {CODED_COLUMNS} columns"
    return f"of more than {count(MOST_CELLS)} cells" if columns * rows > MOST_CELLS else ""
