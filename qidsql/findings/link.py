"""What `link` finds out, as frozen values: which columns of two tables are joinable, and whom the join singles out."""

from dataclasses import dataclass
from fractions import Fraction

from qidsql.catalog import Attribute
from qidsql.measures import decimal


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
