"""Statements that change whole tables and need no template: what makes, fills and removes one."""

from collections.abc import Sequence

from sqlglot import exp


def making(target: exp.Table, query: exp.Query, kind: str = "TABLE", replace: bool = False) -> exp.Create:
    """The statement that makes a table, or another `kind`, of a query's rows; with `replace` in place of another."""
    return exp.Create(this=target, kind=kind, expression=query, replace=replace)


def inserting(table: str, query: exp.Query | exp.Values, columns: Sequence[str] = ()) -> exp.Insert:
    """The statement that adds the rows of a query to a table, to these columns or to all."""
    return exp.insert(query, table, columns=list(columns) or None)


def row_of_holes(columns: Sequence[str]) -> exp.Values:
    """A row with a hole for each column, by its name."""
    return exp.Values(expressions=[exp.Tuple(expressions=[exp.Placeholder(this=column) for column in columns])])


def equal_to_holes(columns: Sequence[str]) -> list[exp.Expr]:
    """For each of the columns the condition that it has the value in the hole of its name."""
    return [exp.column(column).eq(exp.Placeholder(this=column)) for column in columns]
