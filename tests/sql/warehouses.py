"""Warehouses that qidsql does not open: which statements carry over once a dialect has their leaves.

ClickHouse's run in chdb (`test_warehouses.py`), those of the others are rendered only.

`python -m tests.sql.warehouses` writes the texts of `warehouses/` anew.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sqlglot import exp

from qidsql.core.tables import Comparison
from qidsql.sql.dialects import Dialect
from tests.sql.golden_statements import statements

FOLDER = Path(__file__).parent / "warehouses"
# What an audit asks, and a search for keys.
ASKED = (
    "column_counts",
    "class_sizes",
    "class_profile",
    "class_profile_batch",
    "class_profile_by_finest",
    "class_profile_one_scan",
    "compared",
    "entity_profile",
    "entity_sizes",
    "agreeing",
    "sample_values",
)
POSITIVE = 2**63 - 1
Hash = Callable[[Sequence[exp.Expr]], exp.Expr]


class Warehouse(Dialect):
    """No table expression is sure to be evaluated once, and texts are compared by their bytes."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        return column if comparison is Comparison.VALUE else exp.Cast(this=column, to=self.type(self.text))

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        for table_expression in tree.find_all(exp.CTE):
            table_expression.set("materialized", None)
        return tree


class ClickHouse(Warehouse):
    """Bits have functions, no operators. 0.0 and -0.0 are of two classes, as are NaNs of different bits."""

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        if comparison is Comparison.NUMBER:
            nan = exp.cast(exp.Literal.string("NaN"), "DOUBLE")
            return call("if", call("isNaN", column), nan, column.copy() + 0)
        return super().comparable(column, comparison)

    def bit_count(self, number: exp.Expr) -> exp.Expr:
        return call("bitCount", number)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        root = exp.Tuple(expressions=[super().adapted(tree)])  # so that each node has a parent
        names = {exp.BitwiseAnd: "bitAnd", exp.BitwiseRightShift: "bitShiftRight"}
        for bits in reversed(list(root.find_all(*names))):
            bits.replace(call(names[type(bits)], bits.this, bits.expression))
        [tree] = root.expressions
        tree.parent = None
        return tree


def warehouse(
    kind: type[Warehouse], name: str, wide: str, text: str, about_distinct: str, row_hash: Hash, opening: str = ""
) -> Warehouse:
    """`wide`: a type for the square of any row count. `text`: one that a NULL can be cast to. `about_distinct`: its
    function. `row_hash`: of some values, equal for equal ones and NULLs; negative hashes become positive.
    """

    def hashed(values: Sequence[exp.Expr]) -> exp.Expr:
        values = [value.copy() for value in values]
        return exp.paren(exp.BitwiseAnd(this=row_hash(values), expression=exp.Literal.number(POSITIVE)))

    return kind(
        name=name,
        wide=wide,
        hashed="Nullable(Int64)" if name == "clickhouse" else "BIGINT",
        text=text,
        decimal=wide,
        number=wide,
        byte_collation="",
        row_hash=hashed,
        class_hash=hashed,
        hashes_values=True,
        shuffled=lambda place, seed: hashed([place, exp.Literal.number(seed)]),
        keyed=lambda place, key: exp.MD5(this=exp.func("CONCAT", key.copy(), exp.cast(place.copy(), "TEXT"))),
        value_hash=lambda value, _: hashed([value]),
        about_distinct=lambda value: call(about_distinct, value.copy()),
        grouping_arguments=31,
        materialized=False,
        snapshot=False,
        opening=(opening,) if opening else (),
    )


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


CLICKHOUSE = warehouse(
    ClickHouse,
    "clickhouse",
    "Int128",
    "Nullable(String)",
    "uniq",
    lambda values: call("cityHash64", call("tuple", *values)),  # the hash of a NULL alone is NULL
    "SET join_use_nulls = 1",  # else a row without a partner has 0 for NULL
)
WAREHOUSES = (
    CLICKHOUSE,
    warehouse(
        Warehouse,
        "snowflake",
        "DECIMAL(38, 0)",
        "VARCHAR",
        "APPROX_COUNT_DISTINCT",
        lambda values: call("HASH", *values),
    ),
    warehouse(
        Warehouse,
        "bigquery",
        "BIGNUMERIC",
        "STRING",
        "APPROX_COUNT_DISTINCT",
        lambda values: call("FARM_FINGERPRINT", call("TO_JSON_STRING", call("STRUCT", *values))),
    ),
    warehouse(
        Warehouse,
        "trino",
        "DECIMAL(38, 0)",
        "VARCHAR",
        "approx_distinct",
        lambda values: call("from_big_endian_64", call("xxhash64", call("to_utf8", _json(values)))),
    ),
)


def _json(values: Sequence[exp.Expr]) -> exp.Expr:
    return call("json_format", exp.cast(call("ROW", *values), "JSON"))


def rendered() -> Iterator[tuple[str, str]]:
    """File name and text of the statements of each warehouse."""
    for each in WAREHOUSES:
        texts = dict(statements(each))
        yield f"{each.name}.sql", "\n\n".join(f"-- {name}\n{texts[name].sql};" for name in ASKED) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in rendered():
        (FOLDER / name).write_text(text, encoding="utf-8")
