"""Postgres' dialect: the leaves that differ from engine to engine."""

import re
from collections.abc import Sequence

from sqlglot import exp

from qidsql.core.tables import Column, Comparison, ValueKind
from qidsql.sql.dialects import Dialect

# Until the transaction ends, unqualified names find only Postgres' own objects. Otherwise anyone who can create objects
# in a schema of the role's path could replace count() or = (CVE-2018-1058).
# The schema of temporary tables is searched first unless it is listed.
SYSTEM_PATH = "SET LOCAL search_path = pg_catalog, pg_temp"


class PostgresDialect(Dialect):
    """Texts are what the types' output functions write. A cast could be a function of whoever made the type, who may be
    the owner of the data; and it would cut off the trailing blanks of a bpchar."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        if comparison not in (Comparison.TEXT, Comparison.PUBLISHED):
            return super().comparable(column, comparison)
        there = exp.NullSafeNEQ(this=column.copy(), expression=exp.null())  # not IS NULL: composites of NULLs are
        text = exp.Anonymous(this="CONCAT", expressions=[column])
        collation = exp.to_identifier(self.byte_collation, quoted=True)
        return exp.Collate(this=exp.Case(ifs=[exp.If(this=there, true=text)]), expression=collation)

    def as_text(self, value: exp.Expr) -> exp.Expr:
        return self.comparable(value, Comparison.TEXT)


def _row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    row = exp.func("ROW", *(value.copy() for value in values))
    text = exp.Cast(this=row, to=exp.DataType.build("TEXT", dialect="postgres"))
    return exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))


def _class_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    """By the types' own hash functions, which agree with their equality. Postgres 14 or later."""
    row = exp.func("ROW", *(value.copy() for value in values))
    return exp.func("HASH_RECORD_EXTENDED", row, exp.Literal.number(0))


TEXTS = r"text|character( varying)?(\(\d+\))?|bpchar|name"
WHOLE = r"smallint|integer|bigint"


def _column_hash(value: exp.Expr, type_name: str, seed: int) -> exp.Expr:
    """By the type's own hash function. A record's is mixed once more, as the XOR of weak ones would merge classes."""
    number = exp.Literal.number(seed)
    if re.fullmatch(TEXTS, type_name):
        hashed = exp.func("HASHTEXTEXTENDED", exp.cast(value, "TEXT"), number)
    elif re.fullmatch(WHOLE, type_name):
        hashed = exp.func("HASHINT8EXTENDED", exp.cast(value, "BIGINT"), number)
    else:
        record = exp.func("HASH_RECORD_EXTENDED", exp.func("ROW", value.copy()), number)
        there = exp.Is(this=value, expression=exp.null()).not_()
        hashed = exp.Case(ifs=[exp.If(this=there, true=exp.func("HASHINT8EXTENDED", record, number.copy()))])
    return exp.func("COALESCE", hashed, number.copy())


def _keyed_hash(values: Sequence[tuple[exp.Expr, Column]], key: int) -> exp.Expr:
    """Of the row as text, which tells all values apart, mixed with the hashes of the types' own, which tell an enum's
    places. The record's alone would add up columns, so that cells could change places. Postgres 14 or later."""
    row = exp.func("ROW", *(value for value, _ in values))
    by_type = [
        value.copy()
        if column.base == "enum" or re.fullmatch(POSTGRES.hashed_types, POSTGRES.comparable_type(column))
        else exp.cast(value.copy(), "TEXT")
        for value, column in values
    ]
    own = exp.func("HASH_RECORD_EXTENDED", exp.func("ROW", *by_type), exp.Literal.number(key))
    return exp.func("HASHTEXTEXTENDED", exp.cast(row, exp.DataType.build("TEXT", dialect="postgres")), own)


def _shuffled(number: exp.Expr, seed: int) -> exp.Expr:
    order = exp.func("HASHINT8EXTENDED", number.copy(), exp.Literal.number(seed))
    return exp.paren(exp.BitwiseAnd(this=order, expression=exp.Literal.number(2**63 - 1)))


def _keyed(number: exp.Expr, key: exp.Expr) -> exp.Expr:
    text = exp.DPipe(this=key.copy(), expression=exp.cast(number.copy(), "TEXT"), safe=True)
    return exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))  # not md5, which a server in FIPS mode refuses


def _value_hash(value: exp.Expr, number: bool) -> exp.Expr:
    if number:
        numeric = exp.cast(value.copy(), exp.DataType.build("NUMERIC", dialect="postgres"))
        order = exp.func("HASH_NUMERIC_EXTENDED", numeric, exp.Literal.number(0))
    else:
        text = exp.Collate(
            this=exp.cast(value.copy(), exp.DataType.build("TEXT", dialect="postgres")),
            expression=exp.to_identifier("C", quoted=True),
        )
        order = exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))
    return exp.paren(exp.BitwiseAnd(this=order, expression=exp.Literal.number(2**63 - 1)))


def _about_distinct(value: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[value.copy()]), big_int=True)


def _hex_number(digits: exp.Expr) -> exp.Expr:
    bits = exp.cast(
        exp.func("CONCAT", exp.Literal.string("x"), digits), exp.DataType.build("BIT(32)", dialect="postgres")
    )
    return exp.cast(bits, "BIGINT")


def _hex_digits(value: exp.Expr) -> exp.Expr:
    start = exp.Anonymous(this="SUBSTR", expressions=[value.copy(), *map(exp.Literal.number, (1, 8))])
    return exp.Anonymous(this="ENCODE", expressions=[start, exp.Literal.string("hex")])


POSTGRES = PostgresDialect(
    name="postgres",
    quote='"',
    wide="NUMERIC",
    hashed="BIGINT",
    text="TEXT",
    byte_collation="C",
    has_roles=True,
    grouping_arguments=31,
    nested_recursion=True,
    ordered_lists=True,
    row_hash=_row_hash,
    class_hash=_class_hash,
    column_hash=_column_hash,
    keyed_hash=_keyed_hash,
    hashed_types=rf"{TEXTS}|{WHOLE}|boolean|numeric(\(.*\))?|real|double precision|date|uuid"
    r"|time(stamp)?(\(\d\))? with(out)? time zone",
    shuffled=_shuffled,
    keyed=_keyed,
    bits="BIT(64)",
    decimal="NUMERIC",
    number="NUMERIC",
    value_hash=_value_hash,
    about_distinct=_about_distinct,
    hex_number=_hex_number,
    hex_digits=_hex_digits,
    lowers=True,
    recodable=(
        (ValueKind.WHOLE, r"smallint|integer|bigint"),
        (ValueKind.DECIMAL, r"numeric(\(.*\))?"),
        (ValueKind.TEXT, r"text|character( varying)?(\(\d+\))?"),
        (ValueKind.DATE, r"date"),
        (ValueKind.TIMESTAMP, r"timestamp(\(\d\))? without time zone"),
    ),
    floats=r"real|double precision",
    longest_name=63,
    timeout=True,
    bytes="all pages of a table",
    tested=("PostgreSQL 15", "PostgreSQL 16", "PostgreSQL 18"),
    opening=("BEGIN", SYSTEM_PATH),
    closing=("COMMIT",),
    materialized_views=True,
)


# The kinds of values of Postgres' types, by their names in format_type().


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
