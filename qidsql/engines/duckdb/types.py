"""The kinds of values of DuckDB's types."""

import re

from qidsql.core.tables import ValueKind, kind_of

DIGITS, SCALE = 38, 10  # of the decimal type used for comparisons: `Dialect.decimal`
PATTERNS = (
    (ValueKind.HUGE, r"ubigint|hugeint"),
    (ValueKind.WHOLE, r"u?(tiny|small|big)?int(eger)?"),
    (ValueKind.DECIMAL, r"decimal\(.*\)"),
    (ValueKind.FLOAT, r"float|double"),
    (ValueKind.TEXT, r"varchar|enum"),
    (ValueKind.DATE, r"date"),
    (ValueKind.TIMESTAMP, r"timestamp(_s|_ms|_ns)?"),
    (ValueKind.ZONED, r"timestamp with time zone"),
    (ValueKind.TIME, r"time"),
    (ValueKind.UUID, r"uuid"),
)


def value_kind(type_name: str) -> ValueKind | None:
    """The kind of a type's values; None if they cannot be compared, such as decimals with too many digits."""
    kind = kind_of(type_name, PATTERNS)
    if kind is ValueKind.DECIMAL:
        digits, scale = map(int, re.findall(r"\d+", type_name))
        return kind if scale <= SCALE and digits - scale <= DIGITS - SCALE else None
    return kind
