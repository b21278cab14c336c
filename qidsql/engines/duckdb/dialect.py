"""DuckDB's dialect: the leaves that differ from engine to engine."""

import re
from collections.abc import Sequence

from sqlglot import exp

from qidsql.core.tables import Column, Comparison, ValueKind, kind_of
from qidsql.sql.dialects import Dialect


class DuckDBDialect(Dialect):
    """Texts alone would merge the values 1 and '1' of a VARIANT, values alone 1 month and 30 days: both count."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        if comparison not in (Comparison.TEXT, Comparison.PUBLISHED):
            return super().comparable(column, comparison)
        text = super().comparable(column.copy(), comparison)
        null = exp.Is(this=column.copy(), expression=exp.null())
        both = exp.Anonymous(this="ROW", expressions=[column, text])
        return exp.Case(ifs=[exp.If(this=null, true=exp.null())], default=both)


def _row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.func("HASH", *(value.copy() for value in values))


def _shuffled(number: exp.Expr, seed: int) -> exp.Expr:
    # DuckDB only adds the hash of the seed to the hash of the number; without a second round, two seeds would give
    # orders that are the same but for a constant.
    return exp.func("HASH", exp.func("HASH", number.copy(), exp.Literal.number(seed)))


def _keyed(number: exp.Expr, key: exp.Expr) -> exp.Expr:
    # Not HASH, which differs between versions: a printed script may run in another one.
    return exp.MD5(this=exp.DPipe(this=key.copy(), expression=exp.cast(number.copy(), "VARCHAR"), safe=True))


def _value_hash(value: exp.Expr, number: bool) -> exp.Expr:
    return exp.cast(
        exp.BitwiseRightShift(this=exp.func("HASH", value.copy()), expression=exp.Literal.number(1)), "BIGINT"
    )


def _column_hash(value: exp.Expr, type_name: str, seed: int) -> exp.Expr:
    return _shuffled(value, seed)


def _keyed_hash(values: Sequence[tuple[exp.Expr, Column]], key: int) -> exp.Expr:
    """MD5 of the key and the row as text: DuckDB's own hash has no key, so that anybody can make texts which share one.
    It is in the text as it tells an enum's places apart, and NULLs."""
    nodes = [value for value, _ in values]
    own = exp.cast(exp.func("HASH", *(node.copy() for node in nodes)), "VARCHAR")
    row = exp.cast(exp.func("ROW", *(node.copy() for node in nodes)), "VARCHAR")
    return exp.func("HASH", exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key:x} "), own, row)))


def _about_distinct(value: exp.Expr) -> exp.Expr:
    return exp.ApproxDistinct(this=value.copy())


def _hex_number(digits: exp.Expr) -> exp.Expr:
    return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")


def _hex_digits(value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[exp.func("HEX", value.copy()), *map(exp.Literal.number, (1, 16))])


DUCKDB = DuckDBDialect(
    name="duckdb",
    quote='"',
    wide="HUGEINT",
    hashed="UBIGINT",
    text="TEXT",
    byte_collation="binary",
    grouping_arguments=63,
    nested_recursion=True,
    ordered_lists=True,
    joins_nulls=True,
    row_hash=_row_hash,
    shuffled=_shuffled,
    hashes_values=True,
    class_hash=_row_hash,
    column_hash=_column_hash,
    hashed_types=".+",
    keyed_hash=_keyed_hash,
    keyed=_keyed,
    short_types=r"BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*|DATE|TIME.*|ENUM.*",
    decimal="DECIMAL(38, 10)",
    number="DOUBLE",
    value_hash=_value_hash,
    about_distinct=_about_distinct,
    hex_number=_hex_number,
    hex_digits=_hex_digits,
    caseless=True,
    bytes="the columns that a statement names: exactly in parquet files, about in tables",
    tested=("DuckDB 1.4", "DuckDB 1.5", "DuckDB 2.0"),
    recodable=(
        (ValueKind.WHOLE, r"u?(tiny|small|big)?int(eger)?"),
        (ValueKind.DECIMAL, r"decimal\((1?\d|2[0-8]),\d+\)"),  # with more digits a remainder would be a float
        (ValueKind.TEXT, r"varchar"),
        (ValueKind.DATE, r"date"),
        (ValueKind.TIMESTAMP, r"timestamp(_s|_ms)?"),
    ),
    floats=r"float|double",
)


# The kinds of values of DuckDB's types.


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
