"""What kind of values a column holds, and as what two kinds are compared: never a text with a number in silence."""

import re
from enum import StrEnum

from qidsql.core.catalog import CatalogColumn


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

DIGITS, SCALE = 38, 10  # of the widest decimal number in which DuckDB compares others

# By the engines' names of types. What is not here, nested values and documents among them, is not compared; neither
# are truth values, of which every column contains every other.
PATTERNS = (
    (Kind.HUGE, r"ubigint|hugeint"),
    (Kind.WHOLE, r"u?(tiny|small|big)?int(eger)?"),
    (Kind.DECIMAL, r"numeric|decimal\((\d+),\s*(\d+)\)"),
    (Kind.FLOAT, r"float|double( precision)?|real"),
    (Kind.TEXT, r"varchar|text|character varying|character|bpchar|name|(\w+\.)?citext|enum"),
    (Kind.DATE, r"date"),
    (Kind.TIMESTAMP, r"timestamp(_s|_ms|_ns)?|timestamp without time zone"),
    (Kind.ZONED, r"timestamp with time zone"),
    (Kind.TIME, r"time|time without time zone"),
    (Kind.UUID, r"uuid"),
)


def kind_of(column: CatalogColumn) -> Kind | None:
    """The kind of a column's values; None when they are not compared."""
    base = (column.base or column.type).lower()
    for kind, pattern in PATTERNS:
        found = re.fullmatch(pattern, base)
        if found and kind is Kind.DECIMAL and found[1] is not None:
            digits, scale = int(found[1]), int(found[2])
            return kind if scale <= SCALE and digits - scale <= DIGITS - SCALE else None
        if found:
            return kind
    return None


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
