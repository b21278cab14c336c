"""What kinds of values Postgres' types hold, by the names that format_type() gives them."""

from qidsql.core.value_kinds import Kind

PATTERNS = (
    (Kind.WHOLE, r"smallint|integer|bigint"),
    (Kind.DECIMAL, r"numeric"),
    (Kind.FLOAT, r"real|double precision"),
    (Kind.TEXT, r"text|character( varying)?|bpchar|name|(\w+\.)?citext|enum"),
    (Kind.DATE, r"date"),
    (Kind.TIMESTAMP, r"timestamp without time zone"),
    (Kind.ZONED, r"timestamp with time zone"),
    (Kind.TIME, r"time without time zone"),
    (Kind.UUID, r"uuid"),
)
