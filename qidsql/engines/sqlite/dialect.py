"""SQLite's dialect. Functions missing in its SQL are Python functions: a hash, a bit count, a sum beyond 64 bits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from qidsql.core.tables import Comparison
from qidsql.core.value_kinds import ValueKind
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill
from qidsql.sql.trees import exp

SERIES = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {}) SELECT n AS {} FROM s"


class SQLiteDialect(Dialect):
    """SQLite has typed values in untyped columns: a cast would merge 1 and '1'."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        binary = exp.to_identifier(self.byte_collation, quoted=True)
        return column if comparison is Comparison.VALUE else exp.Collate(this=column, expression=binary)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        """A sum that may exceed 64 bits becomes WIDE_SUM, since SQLite would return a float; a
        series of numbers becomes a recursive query."""
        for total in list(tree.find_all(exp.Sum)):
            if any(cast.to.args.get("kind") == "WIDE" for cast in total.find_all(exp.Cast)):
                factors = list(total.this.args.values())[:2] if isinstance(total.this, exp.Mul) else [total.this]
                total.replace(exp.Anonymous(this="WIDE_SUM", expressions=factors))
        for series in list(tree.find_all(exp.GenerateSeries)):
            table = series.find_ancestor(exp.Table)
            assert table is not None
            text = SERIES.format(series.args["end"].sql("sqlite"), table.args["alias"].columns[0].name)
            table.replace(exp.maybe_parse(text, dialect="sqlite", into=exp.Select).subquery(table.alias))
        return tree


def _hash(*values: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="HASH_63", expressions=[value.copy() for value in values])


def _row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return _hash(*(exp.cast(value.copy(), "BLOB") for value in values))  # a text can be invalid UTF-8


SQLITE = SQLiteDialect(
    name="sqlite",
    quote='"',
    wide="INTEGER",
    hashed="INTEGER",
    text="TEXT",
    byte_collation="BINARY",
    row_hash=_row_hash,
    shuffled=lambda number, seed: _hash(number, exp.Literal.number(seed)),
    keyed=_hash,
    decimal="REAL",
    number="REAL",
    value_hash=lambda value, number: _row_hash([value]),
    about_distinct=lambda value: exp.Count(this=exp.Distinct(expressions=[value.copy()]), big_int=True),
    caseless=True,
    bytes="the whole file",
    tested=("SQLite 3",),
    own_hashes=True,
    texts_among=lambda rows, column: fill("sqlite/texts_among", relation=rows, sensitive=column),
    recodable=((ValueKind.TEXT, r"text|clob|n?(var)?char(acter)?(\(\d+\))?"),),  # no dates, and no exact remainders
)


def hash_63(*values: object) -> int:
    """A non-negative 63-bit integer."""
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=8).digest(), "big") >> 1


class WideSum:
    """The exact sum of integers, or of products of two; returned as text if it exceeds 64 bits."""

    total: int | None = None

    def step(self, value: int | None, times: int = 1) -> None:
        self.total = (self.total or 0) + (value or 0) * times

    def finalize(self) -> int | str | None:
        return self.total if self.total is None or self.total.bit_length() < 64 else str(self.total)
