"""The query for the blank cells of a copy that its unprotected columns give back."""

from itertools import product

from sqlglot import exp

from qidsql.sql.people_and_rows import Side, people_and_rows
from qidsql.sql.templates import fill_query, union_all

BOTH = "both_sides"


def cells_given_back(table: Side, copy: Side, protected: int) -> exp.Query:
    """A row for each pair of one of the first `protected` columns and one of the others, numbered in that order.

    The columns of the table and of the copy are the same, comparable with each other.
    """
    both, [*names, _] = people_and_rows(table, copy)
    columns = [exp.column(name, table=BOTH) for name in names]
    pairs = [
        fill_query(
            "given_back/given_back",
            pair=number,
            given=given,
            hidden=hidden,
            cells=exp.to_table(BOTH),
        )
        for number, (hidden, given) in enumerate(product(columns[:protected], columns[protected:]))
    ]
    assert both.rows is not None
    found = union_all(pairs)
    return found.with_(BOTH, as_=exp.select("*").from_(both.node), copy=False)
