"""The kinds of column values, and how two kinds are compared: never a text with a number implicitly."""

import re
from enum import StrEnum

from qidsql.core.catalog import CatalogColumn


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

DIGITS, SCALE = 38, 10  # of the widest decimal number in which DuckDB compares others

# By the engines' names of types. Types not listed, such as nested values and documents, are not compared; neither are
# truth values, since every column of them contains every other.
PATTERNS = (
    (ValueKind.HUGE, r"ubigint|hugeint"),
    (ValueKind.WHOLE, r"u?(tiny|small|big)?int(eger)?"),
    (ValueKind.DECIMAL, r"numeric|decimal\((\d+),\s*(\d+)\)"),
    (ValueKind.FLOAT, r"float|double( precision)?|real"),
    (ValueKind.TEXT, r"varchar|text|character varying|character|bpchar|name|(\w+\.)?citext|enum"),
    (ValueKind.DATE, r"date"),
    (ValueKind.TIMESTAMP, r"timestamp(_s|_ms|_ns)?|timestamp without time zone"),
    (ValueKind.ZONED, r"timestamp with time zone"),
    (ValueKind.TIME, r"time|time without time zone"),
    (ValueKind.UUID, r"uuid"),
)


def kind_of(column: CatalogColumn) -> ValueKind | None:
    """The kind of a column's values; None if they are not compared."""
    base = (column.base or column.type).lower()
    for kind, pattern in PATTERNS:
        found = re.fullmatch(pattern, base)
        if found and kind is ValueKind.DECIMAL and found[1] is not None:
            digits, scale = int(found[1]), int(found[2])
            return kind if scale <= SCALE and digits - scale <= DIGITS - SCALE else None
        if found:
            return kind
    return None


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
