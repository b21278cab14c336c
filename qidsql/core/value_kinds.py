"""What kind of values a column holds, and as what two kinds are compared: never a text with a number in silence."""

import re
from collections.abc import Sequence
from enum import StrEnum


class Kind(StrEnum):
    """Kinds whose values can be compared, as people call them."""

    WHOLE = "whole numbers"
    HUGE = "huge whole numbers"
    DECIMAL = "decimal numbers"
    FLOAT = "numbers"  # of floating point: equal as far as those tell numbers apart
    TEXT = "texts"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    ZONED = "timestamps with time zone"
    TIME = "times of day"
    UUID = "UUIDs"


NUMBERS = (
    Kind.WHOLE,
    Kind.HUGE,
    Kind.DECIMAL,
    Kind.FLOAT,
)  # the later can hold the earlier, as far as they can hold it
MEASURED = (*NUMBERS, Kind.DATE)  # kinds with distances, among which some lie close together


def kind_of(type_name: str, patterns: Sequence[tuple[Kind, str]]) -> Kind | None:
    """The kind of the values of a type, by an engine's patterns of its types' names; None when they are not compared.

    Nested values and documents are not compared; neither are truth values, of which every column contains every other.
    """
    return next((kind for kind, pattern in patterns if re.fullmatch(pattern, type_name.lower())), None)


def asked_as(one: Kind, other: Kind) -> Kind | None:
    """The kind in which values of both are compared where a person asks for it: texts with numbers, too."""
    if Kind.TEXT in (one, other) and (one in NUMBERS or other in NUMBERS):
        return one if one in NUMBERS else other
    return compared_as(one, other)


def compared_as(one: Kind, other: Kind) -> Kind | None:
    """The kind in which values of both can be compared; None when they cannot."""
    if {one, other} == {Kind.HUGE, Kind.DECIMAL}:  # no exact type holds both
        return None
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    return one if one == other else None
