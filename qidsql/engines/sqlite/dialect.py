"""SQLite's dialect. Functions missing in its SQL are Python functions: a hash, a bit count, numbers beyond 64 bits."""

import hashlib
from collections.abc import Sequence

from sqlglot import exp

from qidsql.core.tables import Comparison, ValueKind
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import fill

COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ)
SERIES = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {}) SELECT n AS {} FROM s"


class SQLiteDialect(Dialect):
    """SQLite has typed values in untyped columns: a cast would merge 1 and '1', and its equality merges 1 and 1.0."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        binary = exp.to_identifier(self.byte_collation, quoted=True)
        if comparison is Comparison.PUBLISHED:
            column = _in_its_form(column)
        return column if comparison is Comparison.VALUE else exp.Collate(this=column, expression=binary)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        """What may exceed 64 bits becomes a Python function, since SQLite would go on in floats: sums, and both sides
        of comparisons. A series of numbers becomes a recursive query."""
        for compared in list(tree.find_all(*COMPARISONS)):
            if _wide(compared):
                _compare_exactly(compared)
        for total in list(tree.find_all(exp.Sum)):
            if _wide(total):
                factors = list(total.this.args.values())[:2] if isinstance(total.this, exp.Mul) else [total.this]
                total.replace(exp.Anonymous(this="WIDE_SUM", expressions=factors))
        for series in list(tree.find_all(exp.GenerateSeries)):
            table = series.find_ancestor(exp.Table)
            assert table is not None
            text = SERIES.format(series.args["end"].sql("sqlite"), table.args["alias"].columns[0].name)
            table.replace(exp.maybe_parse(text, dialect="sqlite", into=exp.Select).subquery(table.alias))
        for cast in _wide(tree):  # SQLite has no wider type: a cast would cut the text of a wide number to 64 bits
            cast.replace(cast.this)
        return tree


def _in_its_form(value: exp.Expr) -> exp.Expr:
    """The value; floats and blobs as blobs of all their digits, which differ from each other and from all else."""
    digits, octets = exp.Literal.string("real %!.17g"), exp.Literal.string("blob %s")
    written = {
        "real": exp.Anonymous(this="PRINTF", expressions=[digits, value.copy()]),
        "blob": exp.Anonymous(
            this="PRINTF", expressions=[octets, exp.Anonymous(this="HEX", expressions=[value.copy()])]
        ),
    }
    forms = [exp.If(this=exp.Literal.string(kind), true=exp.cast(text, "BLOB")) for kind, text in written.items()]
    return exp.Case(this=exp.Anonymous(this="TYPEOF", expressions=[value.copy()]), ifs=forms, default=value)


def _wide(tree: exp.Expr) -> list[exp.Cast]:
    return [cast for cast in tree.find_all(exp.Cast) if cast.to.args.get("kind") == "WIDE"]


def _compare_exactly(compared: exp.Expr) -> None:
    """Calculates both sides in Python, where a literal beyond 64 bits comes as text: SQLite would read a float."""
    for node in list(compared.find_all(exp.Mul, exp.Add, exp.Literal)):
        if isinstance(node, exp.Literal):
            node.replace(exp.Literal.string(node.name))
        else:
            name = "WIDE_PRODUCT" if isinstance(node, exp.Mul) else "WIDE_TOTAL"
            node.replace(exp.Anonymous(this=name, expressions=[node.this, node.expression]))
    sides = [compared.this, compared.expression]
    compared.set("this", exp.Anonymous(this="WIDE_DIFFERENCE", expressions=sides))
    compared.set("expression", exp.Literal.number(0))


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


def exact(value: int | str) -> int:
    """A number, or the text of one beyond 64 bits. A float is what SQLite makes of an overflow."""
    if isinstance(value, float):
        raise OverflowError
    return int(value)


def _fitting(value: int) -> int | str:
    return value if value.bit_length() < 64 else str(value)


def wide_product(one: int | str, other: int | str) -> int | str:
    return _fitting(exact(one) * exact(other))


def wide_total(one: int | str, other: int | str) -> int | str:
    return _fitting(exact(one) + exact(other))


def wide_difference(one: int | str, other: int | str) -> int:
    """The sign of the difference."""
    return (exact(one) > exact(other)) - (exact(one) < exact(other))


class WideSum:
    """The exact sum of integers, or of products of two; returned as text if it exceeds 64 bits."""

    total: int | None = None

    def step(self, value: int | str | None, times: int | str = 1) -> None:
        self.total = (self.total or 0) + exact(value or 0) * exact(times)

    def finalize(self) -> int | str | None:
        return None if self.total is None else _fitting(self.total)
