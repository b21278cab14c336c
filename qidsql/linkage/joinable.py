"""Whether the values of one column are contained in another for a reason, or by accident.

Containment is no evidence where it is expected anyway: a handful of codes, or whole numbers 1, 2, 3, ... among which
any other numbers fall. There the names have to match as well.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.core.catalog import Attribute
from qidsql.core.value_kinds import ValueKind
from qidsql.declarations.results import reported
from qidsql.linkage.names import names_agree
from qidsql.sql.values_in_common import Overlap
from qidsql.wording.numbers import percent, plural

CONTAINED = Fraction(9, 10)  # of a column's values; the rest may be errors, or persons only one table has
FEW = 20  # distinct values: fewer are codes, which are contained in many columns


@dataclass(frozen=True, slots=True)
class Containment:
    """Two columns of different tables, their distinct values (without NULL) and the common ones, counted exactly."""

    left: Attribute
    right: Attribute
    compared_as: str
    left_values: int
    right_values: int
    common: int
    joinable: Annotated[bool, "taken for one column"]
    ground: Annotated[str, "why it is, or why not"]

    @reported
    def left_in_right(self) -> Annotated[Fraction, "the share of the left column's values that are in the right one"]:
        return contained_share(self.common, self.left_values)

    @reported
    def right_in_left(self) -> Fraction:
        return contained_share(self.common, self.right_values)

    @property
    def strength(self) -> Fraction:
        """The greater of the two shares."""
        return max(contained_share(self.common, self.left_values), contained_share(self.common, self.right_values))


def joinable(
    left: Attribute, right: Attribute, kind: ValueKind, found: Overlap, digits: str | None = None
) -> Containment:
    """Whether two columns are joinable, and why, in words. `digits`: the column whose texts were read as numbers.

    They are if at least 90 % of the distinct values of one are in the other and that is no accident: the names match,
    or it has at least 20 values, and the other's are texts and the like, or numbers that lie apart, or days and
    numbers far from zero over about the same range.
    """
    sides = (
        (left, found.left, right, found.right, found.crowded_right, found.far_right),
        (right, found.right, left, found.left, found.crowded_left, found.far_left),
    )
    agree = names_agree(left, right)
    contained = [side for side in sides if side[1] and found.common >= CONTAINED * side[1]]
    small, values, big, others, *_ = max(contained or sides, key=lambda side: contained_share(found.common, side[1]))
    shares = (
        f"{percent(contained_share(found.common, values))} of the {plural(values, 'value')} of {small} are in {big}, "
        f"{percent(contained_share(found.common, others))} in the other direction, compared as {kind}"
    )
    if digits is not None:
        shares += f" (of the texts of {digits} only those of digits)"
    joinable, why = False, "too few for a join"
    if contained:
        reasons = [_accident(kind, found, *side) for side in contained]
        joinable, why = agree or None in reasons, next((reason for reason in reasons if reason), "")
    if joinable:
        ground = shares + (", and the names agree" if agree else "")
    else:
        ground = f"{shares}: {why}" + (", though the names agree" if agree else "")
    return Containment(left, right, str(kind), found.left, found.right, found.common, joinable, ground)


def _accident(
    kind: ValueKind,
    found: Overlap,
    small: Attribute,
    values: int,
    big: Attribute,
    others: int,
    crowded: bool,
    far: bool,
) -> str | None:
    """Why one column would contain the values of the other even if they mean different things; None: it would not."""
    if values < FEW:
        return "codes as few as these fit by accident"
    if crowded and not far:
        return (
            f"{big} contains nearly every number from about zero on, so that other numbers fall among them by accident"
        )
    if crowded and not found.aligned:
        unit = "day" if kind is ValueKind.DATE else "number"
        return f"{big} contains nearly every {unit} of a range of which {small} covers only a part"
    return None


def contained_share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)
