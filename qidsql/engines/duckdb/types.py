"""What kinds of values DuckDB's types hold."""

import re

from qidsql.core.value_kinds import Kind, kind_of

DIGITS, SCALE = 38, 10  # of the widest decimal number in which others are compared: `Dialect.decimal`
PATTERNS = (
    (Kind.HUGE, r"ubigint|hugeint"),
    (Kind.WHOLE, r"u?(tiny|small|big)?int(eger)?"),
    (Kind.DECIMAL, r"decimal\(.*\)"),
    (Kind.FLOAT, r"float|double"),
    (Kind.TEXT, r"varchar|enum"),
    (Kind.DATE, r"date"),
    (Kind.TIMESTAMP, r"timestamp(_s|_ms|_ns)?"),
    (Kind.ZONED, r"timestamp with time zone"),
    (Kind.TIME, r"time"),
    (Kind.UUID, r"uuid"),
)


def value_kind(type_name: str) -> Kind | None:
    """The kind of a type's values; None when they are not compared, as decimals that do not fit the widest."""
    kind = kind_of(type_name, PATTERNS)
    if kind is Kind.DECIMAL:
        digits, scale = map(int, re.findall(r"\d+", type_name))
        return kind if scale <= SCALE and digits - scale <= DIGITS - SCALE else None
    return kind
