"""Rows that each scan decodes or computes again, as those of a parquet file or a view, read once and held."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.pieces import in_pieces, mark_of_table, marks, put_together
from qidsql.sql.relation import Relation
from qidsql.sql.templates import fill


def rows_to_hold(dialect: Dialect, source: Relation, names: Sequence[str]) -> str:
    """The text of the query for these columns of all rows. One scan."""
    columns = ", ".join(source.column_text(dialect, name) for name in names)
    return put_together(_frame(dialect), {"columns": columns, "relation": source.text(dialect)})


@in_pieces
def _frame(_: Dialect) -> exp.Expr:
    return fill("held_rows/held_rows", relation=mark_of_table("relation"), **marks("columns"))
