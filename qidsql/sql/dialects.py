"""What engines cannot share: the leaves that no transpiler gets right, declared as data, one entry per engine."""

from dataclasses import dataclass

from sqlglot import exp

from qidsql.schema import Comparison


@dataclass(frozen=True, slots=True)
class Dialect:
    """An engine's way of saying things.

    `wide` holds the square of any row count. `grouping_arguments` is the most columns GROUPING() takes, 0 where one
    scan for many sets does not pay. `union_sets` column sets go into one statement when the table has at most
    `union_rows` rows: there the cost of a statement outweighs the work in it. `joins_null_safe`: a join on IS NOT
    DISTINCT FROM is hashed, not a nested loop. `bits`: what an integer is cast to before its bits are counted.
    """

    name: str
    wide: exp.DataType
    text: exp.DataType
    byte_collation: str
    grouping_arguments: int
    union_sets: int
    union_rows: int
    joins_null_safe: bool
    bits: exp.DataType | None

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        """The expression whose equality decides whether two rows agree on a column."""
        if comparison is Comparison.TEXT:
            return exp.Cast(this=column, to=self.text.copy())
        if comparison is Comparison.BYTES:
            collation = exp.to_identifier(self.byte_collation, quoted=True)
            return exp.Collate(this=exp.Cast(this=column, to=self.text.copy()), expression=collation)
        return column

    def bit_count(self, number: exp.Expr) -> exp.Expr:
        """How many bits of a 64-bit integer are set."""
        return exp.Anonymous(this="BIT_COUNT", expressions=[exp.cast(number, self.bits) if self.bits else number])

    def render(self, tree: exp.Expr) -> str:
        """The statement's text for this engine."""
        for cast in list(tree.find_all(exp.Cast)):
            if cast.to.args.get("kind") == "WIDE":
                cast.set("to", self.wide.copy())
        return tree.sql(dialect=self.name, comments=False)


DUCKDB = Dialect(
    name="duckdb",
    wide=exp.DataType.build("HUGEINT", dialect="duckdb"),
    text=exp.DataType.build("VARCHAR", dialect="duckdb"),
    byte_collation="binary",
    grouping_arguments=0,  # a column store reads each column once anyway; grouping sets cost 1.0 - 1.9 times as much
    union_sets=16,
    union_rows=200_000,
    joins_null_safe=True,
    bits=None,
)

POSTGRES = Dialect(
    name="postgres",
    wide=exp.DataType.build("NUMERIC", dialect="postgres"),
    text=exp.DataType.build("TEXT", dialect="postgres"),
    byte_collation="C",
    grouping_arguments=31,
    union_sets=1,
    union_rows=0,
    joins_null_safe=False,
    bits=exp.DataType.build("BIT(64)", dialect="postgres"),
)
