"""Spark's dialect: the leaves that differ from engine to engine. Only what Spark and Sail have in common is used."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from qidsql.core.tables import Column, Comparison, ValueKind
from qidsql.engines.spark.session import TYPES
from qidsql.sql.dialects import Dialect

NOT_NEGATIVE = exp.Literal.number(2**63 - 1)


class SparkDialect(Dialect):
    """Texts are equal if their bytes are, unless a column has a collation; a cast to STRING removes that."""

    def written(self, tree: exp.Expr, **options: Any) -> str:
        """As part of another tree: of one that is none, sqlglot moves the table expressions out of its subqueries,
        where two may have one name; Spark can have them there."""
        exp.Tuple(expressions=[tree])
        return super().written(tree, **options)

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        """Sail puts NaNs of different bits into different classes."""
        if comparison is Comparison.NUMBER:
            nan = exp.cast(exp.Literal.string("NaN"), "DOUBLE")
            return exp.Case(ifs=[exp.If(this=exp.IsNan(this=column.copy()), true=nan)], default=column)
        return column if comparison is Comparison.VALUE else exp.Cast(this=column, to=self.type(self.text))

    def days(self, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return exp.DateDiff(this=end, expression=start)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        root = exp.Tuple(expressions=[tree])  # so that each node has a parent
        for node in list(root.find_all(*_FORMS)):
            _FORMS[type(node)](node)
        [tree] = root.expressions
        tree.parent = None
        return tree


def _table_expression(cte: exp.Expr) -> None:
    """Spark knows no MATERIALIZED: it may evaluate a table expression anew wherever it is named."""
    cte.set("materialized", None)


def _grouping(call: exp.Expr) -> None:
    """GROUPING of several columns as a sum, the first column highest: Spark's takes one."""
    bits: list[exp.Expr] = [
        exp.Mul(
            this=exp.cast(exp.Grouping(expressions=[column.copy()]), "BIGINT"),
            expression=exp.cast(exp.Literal.number(1 << place), "BIGINT"),
        )
        for place, column in enumerate(reversed(call.expressions))
    ]
    total = bits[0]
    for bit in bits[1:]:
        total = exp.Add(this=total, expression=bit)
    call.replace(total)


def _series(table: exp.Expr) -> None:
    """A series of numbers, as the table function that both have."""
    if isinstance(table.this, exp.GenerateSeries):
        start, end = table.this.args["start"], table.this.args["end"]
        table.set("this", exp.Anonymous(this="RANGE", expressions=[start, end + 1]))


def _generators(select: exp.Expr) -> None:
    """Several UNNEST side by side as one: a SELECT of Spark takes one generator."""
    made = [each for each in select.expressions if isinstance(each.unalias(), exp.Explode | exp.Unnest)]
    if made:
        arrays = [each.unalias().this or each.unalias().expressions[0] for each in made]
        rows = exp.Anonymous(this="INLINE", expressions=[exp.Anonymous(this="ARRAYS_ZIP", expressions=arrays)])
        names = [exp.to_identifier(each.alias) for each in made]
        select.set("expressions", [exp.Aliases(this=rows, expressions=names)])


def _function(call: exp.Expr) -> None:
    """Every date of Spark is finite."""
    if call.name == "ISFINITE":
        call.replace(exp.Not(this=exp.Is(this=call.expressions[0], expression=exp.null())))


def _list(collected: exp.Expr) -> None:
    """An ordered list of integers, which Spark sorts once they are collected."""
    if isinstance(collected.this, exp.Order):
        collected.replace(exp.Anonymous(this="SORT_ARRAY", expressions=[exp.ArrayAgg(this=collected.this.this)]))


_FORMS = {
    exp.ArrayAgg: _list,
    exp.CTE: _table_expression,
    exp.Grouping: _grouping,
    exp.Table: _series,
    exp.Select: _generators,
    exp.Anonymous: _function,
}


def _hash(*values: exp.Expr) -> exp.Expr:
    hashed = exp.Anonymous(this="XXHASH64", expressions=list(values))
    return exp.paren(exp.BitwiseAnd(this=hashed, expression=NOT_NEGATIVE.copy()))


def _row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    """XXHASH64 skips NULLs: without the flags (NULL, 1) and (1, NULL) would have one hash."""
    flags = [exp.Is(this=value.copy(), expression=exp.null()) for value in values]
    return _hash(*(each for value, flag in zip(values, flags, strict=True) for each in (value.copy(), flag)))


def _shuffled(number: exp.Expr, seed: int) -> exp.Expr:
    return _hash(number.copy(), exp.cast(exp.Literal.number(seed), "BIGINT"))


def _keyed(number: exp.Expr, key: exp.Expr) -> exp.Expr:
    return exp.MD5(this=exp.func("CONCAT", key.copy(), exp.cast(number.copy(), "TEXT")))


def _about_distinct(value: exp.Expr) -> exp.Expr:
    """Of the values' hashes, as Sail counts no floats."""
    there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return exp.ApproxDistinct(this=exp.Case(ifs=[exp.If(this=there, true=_hash(value.copy()))]))


SPARK = SparkDialect(
    name="spark",
    wide="DECIMAL(38, 0)",
    hashed="BIGINT",
    text="STRING",
    byte_collation="",
    grouping_arguments=62,
    materialized=False,
    ordered_lists=True,
    recursive=False,
    timeout=True,
    snapshot=False,
    bytes="the columns that a statement names, by the server's estimate of the rows",
    tested=("Spark 4.3", "Spark Connect server 0.7"),  # the latter is Sail
    row_hash=_row_hash,
    shuffled=_shuffled,
    hashes_values=True,
    class_hash=_row_hash,
    keyed=_keyed,
    short_types=r"BOOLEAN|(TINY|SMALL|BIG)?INT|FLOAT|DOUBLE|DECIMAL.*|DATE|TIMESTAMP.*",
    decimal="DECIMAL(38, 10)",
    number="DOUBLE",
    value_hash=lambda value, number: _hash(value.copy()),
    about_distinct=_about_distinct,
)


# The columns of a query's result as a Spark Connect server describes them.


NO_EQUALITY = ("map", "variant", "user_defined", "unparsed", "geometry", "geography")  # cannot be put into classes
PATTERNS = (
    (ValueKind.WHOLE, r"tinyint|smallint|int|bigint"),
    (ValueKind.DECIMAL, r"decimal\(.*"),
    (ValueKind.FLOAT, r"float|double"),
    (ValueKind.TEXT, r"(string|char|varchar)\b.*"),
    (ValueKind.DATE, r"date"),
    (ValueKind.TIMESTAMP, r"timestamp_ntz"),
    (ValueKind.ZONED, r"timestamp"),
)
BYTES = ("", "UTF8_BINARY")  # collations that compare bytes


WIDTHS = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "decimal": 16, "null": 1}
TEXT_WIDTH, USUAL_WIDTH = 20, 8  # bytes, as Spark itself assumes


def width(kind: Any) -> int:
    """About how many bytes a value of the type has."""
    name = next((name for name in TYPES if kind.HasField(name)), "unparsed")
    usual = TEXT_WIDTH if name in ("string", "char", "varchar", "binary") else USUAL_WIDTH
    return WIDTHS.get(name, usual)


def column(field: Any) -> Column:
    """A field of a result. It is not readable if its values cannot be put into classes."""
    kind = field.data_type
    obstacle = without_equality(kind)
    if obstacle is not None:
        obstacle = f"values of type {obstacle} cannot be compared; audit a view that makes them texts"
    return Column(field.name, type_name(kind), field.nullable, obstacle is None, _comparison(kind), obstacle or "")


def _comparison(kind: Any) -> Comparison:
    if kind.HasField("float") or kind.HasField("double"):
        return Comparison.NUMBER
    collated = kind.HasField("string") and kind.string.collation not in BYTES
    return Comparison.BYTES if collated else Comparison.VALUE


def type_name(kind: Any) -> str:
    """A type as SQL names it."""
    name = next((name for name in TYPES if kind.HasField(name)), "unparsed")
    if name == "decimal":
        return f"DECIMAL({kind.decimal.precision}, {kind.decimal.scale})"
    if name == "string" and kind.string.collation not in BYTES:
        return f"STRING COLLATE {kind.string.collation}"
    if name in ("char", "varchar"):
        return f"{name.upper()}({getattr(kind, name).length})"
    if name == "array":
        return f"ARRAY<{type_name(kind.array.element_type)}>"
    if name == "struct":
        inside = ", ".join(f"{field.name}: {type_name(field.data_type)}" for field in kind.struct.fields)
        return f"STRUCT<{inside}>"
    return name.replace("_", " ").upper() if name != "timestamp_ntz" else "TIMESTAMP_NTZ"


def without_equality(kind: Any, inside: bool = False) -> str | None:
    """The name of a type, at any depth, whose values cannot be put into classes; None if all can.

    `inside` an array or struct also those that `comparable` of the dialect casts: Spark takes texts of a collation for
    equal there, Sail tells -0.0 from 0.0.
    """
    for name in NO_EQUALITY:
        if kind.HasField(name):
            return name.upper()
    if inside and _comparison(kind) is not Comparison.VALUE:
        return f"{type_name(kind)} inside an array or struct"
    if kind.HasField("array"):
        return without_equality(kind.array.element_type, True)
    if kind.HasField("struct"):
        return next(filter(None, (without_equality(field.data_type, True) for field in kind.struct.fields)), None)
    return None
