"""Whether the values of one column are contained in another for a reason, or by accident.

Containment is no evidence where it is expected anyway: a handful of codes, or whole numbers 1, 2, 3, ... among which
any other numbers fall. There the names have to match as well.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated

from qidsql.core.tables import Attribute, ValueKind
from qidsql.declarations.results import reported
from qidsql.sql.values_in_common import Overlap
from qidsql.wording.texts import percent, plural

# Whether the names of two columns suggest that they contain the same thing.


def names_agree(one: Attribute, other: Attribute) -> bool:
    """True for equal names with a meaningful word, and for a table's column under that table's name:
    customers.id and orders.customer_id, or orders.customer.

    Letter case, underscores and a plural s do not count.
    """
    own, others = name_words(one.column), name_words(other.column)
    if own == others:
        return not GENERIC.issuperset(own)
    return _named_after(own, other) or _named_after(others, one)


def names_in_joins(attribute: Attribute) -> list[tuple[str, ...]]:
    """The names under which an attribute can appear elsewhere: two whose names agree have one in common."""
    own, table = name_words(attribute.column), name_words(attribute.table.name)
    return [own, table + own, table] if GENERIC.issuperset(own) else [own]


def _named_after(name: tuple[str, ...], referenced: Attribute) -> bool:
    """True for customer_id or customer as a name for customers.id."""
    table, column = name_words(referenced.table.name), name_words(referenced.column)
    if not GENERIC.issuperset(column):
        return False
    return name == table + column or (name == table and column in (("id",), ("key",), ("code",), ("number",)))


@cache
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name: birthDate, BIRTH_DATE and "birth dates" are all (birth, date)."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(_singular(word) for word in re.split(r"[\W_]+", parts.lower()) if word) or (name,)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


# Words that do not describe the content of a column.
GENERIC = frozenset(
    _singular(word)
    for word in re.findall(
        r"\w+",
        """id key code number no nr num name type kind status state value date time day text note comment description
        title flag level order position rank count total amount created updated modified deleted at by on is has active
        version source data info""",
    )
)


CONTAINED = Fraction(9, 10)  # of a column's values; the rest may be errors, or persons only one table has
VALUES_OF_JOINS = 20  # distinct values: fewer are codes, which are contained in many columns


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
    if values < VALUES_OF_JOINS:
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


# Connected components of pairs: union-find, and spanning forests.


class Components:
    """The groups of columns that are joined with each other, directly or through others."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def same(self, one: int, other: int) -> bool:
        return self._top(one) == self._top(other)

    def join(self, one: int, other: int) -> None:
        self._above[self._top(one)] = self._top(other)

    def forest(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """A spanning forest: the first pairs that join everything that all pairs would join (Kruskal)."""
        grown = Components()
        grown._above = dict(self._above)
        found = []
        for one, other in pairs:
            if not grown.same(one, other):
                grown.join(one, other)
                found.append((one, other))
        return found

    def _top(self, number: int) -> int:
        while (above := self._above.get(number, number)) != number:
            self._above[number] = self._above.get(above, above)
            number = above
        return number
