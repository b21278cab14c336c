"""Statements that create and fill tables, and need no template."""

from collections.abc import Sequence

from sqlglot import exp


def making(target: exp.Table, query: exp.Query, kind: str = "TABLE", replace: bool = False) -> exp.Create:
    """The statement that creates a table, or another `kind`, from a query; `replace` allows replacing one."""
    return exp.Create(this=target, kind=kind, expression=query, replace=replace)


def inserting(table: str, query: exp.Query | exp.Values, columns: Sequence[str] = ()) -> exp.Insert:
    """The statement that inserts the rows of a query into a table, into these columns or all."""
    return exp.insert(query, table, columns=list(columns) or None)


def row_of_holes(columns: Sequence[str]) -> exp.Values:
    """A row with a hole for each column, named like the column."""
    return exp.Values(expressions=[exp.Tuple(expressions=[exp.Placeholder(this=column) for column in columns])])


def equal_to_holes(columns: Sequence[str]) -> list[exp.Expr]:
    """For each column, the condition that it equals the hole of its name."""
    return [exp.column(column).eq(exp.Placeholder(this=column)) for column in columns]
