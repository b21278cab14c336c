"""The statements that turn rows into codes and counts: no values."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Filling, fill


def row_patterns(dialect: Dialect, source: Relation, names: Sequence[str]) -> str:
    """The text of the query for the row patterns over the columns: size, c0, c1, ... One scan of the relation.

    A code is the place of a value in the order of its column's values, from 1; NULL where the cell is NULL.
    """
    return dialect.render(_coded(source, names, "row_patterns", columns=source.columns(names)))


def coded_rows(dialect: Dialect, source: Relation, names: Sequence[str], key: str) -> str:
    """The text of the query for every row's key, as text, and codes: key_text, c0, c1, ... Two scans at most."""
    return dialect.render(_coded(source, names, "coded_rows", key=exp.cast(source.column(key), "VARCHAR")))


def coded_copy(source: Relation, names: Sequence[str]) -> exp.Query:
    """The query for every row by codes, under the names of the columns. One scan.

    A code stands for one value of its column, in no order; NULL where the cell is NULL.
    """
    return _coded(source, names, "coded_copy", "codes", names)


def column_values(dialect: Dialect, source: Relation, names: Sequence[str]) -> str:
    """The text of the query for the columns' values with their codes: place, code, value_text. A scan per column."""
    parts = [
        fill("column_values", number=place, column=source.column(name), relation=source.node)
        for place, name in enumerate(names)
    ]
    return "\nUNION ALL\n".join(dialect.render(part) for part in parts)


def _coded(
    source: Relation,
    names: Sequence[str],
    template: str,
    dictionary: str = "dictionary",
    aliases: Sequence[str] | None = None,
    **holes: Filling,
) -> exp.Select:
    """The template's query, its codes taken from the dictionaries of the columns; by default they are c0, c1, ..."""
    values = [exp.column(f"v{place}") for place in range(len(names))]
    query = fill(
        template,
        relation=source.node,
        aliased=[exp.alias_(column, v.name) for column, v in zip(source.columns(names), values, strict=True)],
        places=[
            exp.alias_(exp.cast(exp.column("place", table=f"d{place}"), "INT"), alias, quoted=aliases is not None)
            for place, alias in enumerate(aliases or [f"c{place}" for place in range(len(names))])
        ],
        **holes,
    )
    assert isinstance(query, exp.Select)
    for place, value in enumerate(values):
        domain = fill(dictionary, column=value)
        assert isinstance(domain, exp.Query)
        query = query.join(
            domain.subquery(f"d{place}"),
            on=exp.column(value.name, table="classes").eq(exp.column("value", table=f"d{place}")),
            join_type="left",
        )
    return query
