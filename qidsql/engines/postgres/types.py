"""The kinds of values of Postgres' types, by their names in format_type()."""

from qidsql.core.tables import ValueKind

PATTERNS = (
    (ValueKind.WHOLE, r"smallint|integer|bigint"),
    (ValueKind.DECIMAL, r"numeric"),
    (ValueKind.FLOAT, r"real|double precision"),
    (ValueKind.TEXT, r"text|character( varying)?|bpchar|name|(\w+\.)?citext|enum"),
    (ValueKind.DATE, r"date"),
    (ValueKind.TIMESTAMP, r"timestamp without time zone"),
    (ValueKind.ZONED, r"timestamp with time zone"),
    (ValueKind.TIME, r"time without time zone"),
    (ValueKind.UUID, r"uuid"),
)
