"""The statement that turns rows into row patterns: codes and counts, no values."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import fill


def row_patterns(dialect: Dialect, source: Relation, names: Sequence[str]) -> str:
    """The text of the query for the row patterns over the columns: size, c0, c1, ... One scan of the relation.

    A code is the place of a value in the order of its column's values, from 1; NULL where the cell is NULL.
    """
    values = [exp.column(f"v{place}") for place in range(len(names))]
    columns = source.columns(names)
    query = fill(
        "row_patterns",
        relation=source.node,
        columns=columns,
        aliased=[exp.alias_(column, value.name) for column, value in zip(columns, values, strict=True)],
        places=[
            exp.alias_(exp.cast(exp.column("place", table=f"d{place}"), "INT"), f"c{place}")
            for place in range(len(names))
        ],
    )
    assert isinstance(query, exp.Select)
    for place, value in enumerate(values):
        dictionary = fill("dictionary", column=value)
        assert isinstance(dictionary, exp.Query)
        query = query.join(
            dictionary.subquery(f"d{place}"),
            on=exp.column(value.name, table="classes").eq(exp.column("value", table=f"d{place}")),
            join_type="left",
        )
    return dialect.render(query)
