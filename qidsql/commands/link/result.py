"""What `link` finds out, as frozen values: which columns of two tables are joinable, and whom the join singles out."""

from dataclasses import dataclass
from fractions import Fraction

from qidsql.commands.audit.result import Verdict
from qidsql.core.catalog import Attribute
from qidsql.core.results import Work, head
from qidsql.measures.profiles import decimal


@dataclass(frozen=True, slots=True)
class Containment:
    """Two columns of different tables, their distinct values (NULL is none) and those in common, counted exactly.

    `joinable`: taken for one column; `ground` says in words why, or why not.
    """

    left: Attribute
    right: Attribute
    compared_as: str
    left_values: int
    right_values: int
    common: int
    joinable: bool
    ground: str

    @property
    def left_in_right(self) -> Fraction:
        """The share of the left column's values that stand in the right one; 0 without a value."""
        return Fraction(self.common, self.left_values) if self.left_values else Fraction(0)

    @property
    def right_in_left(self) -> Fraction:
        return Fraction(self.common, self.right_values) if self.right_values else Fraction(0)

    @property
    def strength(self) -> Fraction:
        """The greater of the two containments."""
        return max(self.left_in_right, self.right_in_left)

    def to_dict(self) -> dict[str, object]:
        return {
            "left": str(self.left),
            "right": str(self.right),
            "compared_as": self.compared_as,
            "left_values": self.left_values,
            "right_values": self.right_values,
            "common": self.common,
            "left_in_right": decimal(self.left_in_right),
            "right_in_left": decimal(self.right_in_left),
            "joinable": self.joinable,
            "ground": self.ground,
        }


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of one table by how many rows of the other they match: agree with on all shared columns."""

    rows: int
    incomplete: int  # with a NULL in a shared column, which matches nothing
    none: int  # those among them
    one: int
    below_k: int  # at least one and fewer than k

    @property
    def several(self) -> int:
        return self.rows - self.none - self.one

    @property
    def share_below_k(self) -> Fraction:
        return Fraction(self.below_k, self.rows) if self.rows else Fraction(0)

    def to_dict(self) -> dict[str, object]:
        return {
            "rows": self.rows,
            "with_null": self.incomplete,
            "matching_none": self.none,
            "matching_one": self.one,
            "matching_several": self.several,
            "matching_below_k": self.below_k,
            "share_below_k": decimal(self.share_below_k),
        }


@dataclass(frozen=True, slots=True)
class Linked:
    """What a join of two tables on their shared columns does to the rows of both.

    `singled_out`: rows that are alone in their table and match exactly one row, which is alone in the other: whoever
    holds both tables knows that these two are one.
    """

    columns: tuple[tuple[str, str], ...]  # left and right, joined pair by pair
    left: Matches
    right: Matches
    singled_out: int

    def to_dict(self) -> dict[str, object]:
        return {
            "columns": [{"left": left, "right": right} for left, right in self.columns],
            "left": self.left.to_dict(),
            "right": self.right.to_dict(),
            "singled_out": self.singled_out,
        }


@dataclass(frozen=True, slots=True)
class LinkResult:
    """Which columns of two tables are joinable, by what ground, and whom a join on them singles out.

    `given`: the shared columns were named by the user. `linked` is None where none are shared, or time ran out.
    """

    verdict: Verdict
    reason: str
    left: str
    right: str
    k: int
    containments: tuple[Containment, ...]
    given: bool
    linked: Linked | None
    work: Work

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            **head(self.verdict, self.reason, self.work),
            "left": self.left,
            "right": self.right,
            "k": self.k,
            "columns_compared": [each.to_dict() for each in self.containments],
            "columns_given": self.given,
            "link": self.linked and self.linked.to_dict(),
        }
