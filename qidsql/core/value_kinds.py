"""The kinds of column values, and how two kinds are compared: never a text with a number implicitly."""

import re
from collections.abc import Sequence
from enum import StrEnum


class ValueKind(StrEnum):
    """Kinds whose values can be compared, by their names in reports."""

    WHOLE = "whole numbers"
    HUGE = "huge whole numbers"
    DECIMAL = "decimal numbers"
    FLOAT = "numbers"  # of floating point: equal up to its precision
    TEXT = "texts"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    ZONED = "timestamps with time zone"
    TIME = "times of day"
    UUID = "UUIDs"


NUMBERS = (
    ValueKind.WHOLE,
    ValueKind.HUGE,
    ValueKind.DECIMAL,
    ValueKind.FLOAT,
)  # each can represent the earlier ones, up to its precision
WITH_DISTANCES = (*NUMBERS, ValueKind.DATE)  # kinds with distances, among which some lie close together

# Types whose order has a meaning, on any engine: numbers, truth values, dates, times, and enums, which declare theirs.
# Not texts: 100 comes before 11 there.
IN_ORDER = (
    r"u?(tiny|small|medium|big|huge|uhuge)?int(eger|\d+)?|byte|short|long|bignum|(dec(imal)?|numeric)(\(.*\))?"
    r"|double( precision)?|real|float\d*|bool(ean)?|enum|date"
    r"|(datetime|time(stamp)?)(_s|_ms|_ns|_ntz|_ltz|tz)?(\(\d\))?( with(out)? time zone)?"
)


def has_order(type_name: str) -> bool:
    """Whether the order of a type's values has a meaning."""
    return re.fullmatch(IN_ORDER, type_name.lower()) is not None


def kind_of(type_name: str, patterns: Sequence[tuple[ValueKind, str]]) -> ValueKind | None:
    """The kind of the values of a type, by an engine's patterns of its types' names; None if they are not compared.

    Nested values and documents are not compared; neither are truth values: every column of them contains every other.
    """
    return next((kind for kind, pattern in patterns if re.fullmatch(pattern, type_name.lower())), None)


def comparable_on_request(one: ValueKind, other: ValueKind) -> ValueKind | None:
    """The kind in which values of both are compared on request: also texts with numbers."""
    if ValueKind.TEXT in (one, other) and (one in NUMBERS or other in NUMBERS):
        return one if one in NUMBERS else other
    return compared_as(one, other)


def compared_as(one: ValueKind, other: ValueKind) -> ValueKind | None:
    """The kind in which values of both can be compared; None if they cannot."""
    if {one, other} == {ValueKind.HUGE, ValueKind.DECIMAL}:  # no exact type represents both
        return None
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    return one if one == other else None
