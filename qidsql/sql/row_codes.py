"""Statements that turn rows into codes and counts, without values."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Filling, fill, fill_query


def row_patterns(dialect: Dialect, source: Relation, names: Sequence[str], shuffle_key: str | None = None) -> str:
    """The text of the query for the row patterns: size, c0, c1, ..., shuffle_key. One scan of the relation.

    A code is the position of a value, from 1, in a shuffled order of its column's values; NULL for a NULL cell. One row
    has the key of the shuffle, which every other statement on the same codes needs. With the key of other rows, equal
    columns of values have equal codes.
    """
    own = exp.select("shuffle_key").from_("shuffle").subquery()
    key: exp.Expr = own if shuffle_key is None else exp.Literal.string(shuffle_key)
    query = _coded(
        source,
        names,
        "row_codes/row_patterns",
        [dictionary(dialect, place, key.copy()) for place in _places(names)],
        columns=source.columns(names),
        row_hash=dialect.row_hash([exp.column(f"v{place}") for place in _places(names)]),
        shuffle_key=_in_one_row(dialect, key.copy()),
    )
    return dialect.render(query)


def _in_one_row(dialect: Dialect, value: exp.Expr) -> exp.Expr:
    """The value, in the first of the rows if the engine can number them as they come."""
    if not dialect.materialized:
        return value
    first = exp.EQ(this=dialect.numbering(), expression=exp.Literal.number(1))
    return exp.Case(ifs=[exp.If(this=first, true=value)])


def dictionary(dialect: Dialect, place: int, shuffle_key: exp.Expr | str, alias: str | None = None) -> exp.Query:
    """The query for the values of a column of `classes` with their codes: value, place.

    `place` is the column's position in the row patterns; its name is v0, v1, ... unless there is an `alias`.
    """
    key = exp.Literal.string(shuffle_key) if isinstance(shuffle_key, str) else shuffle_key
    own = exp.DPipe(this=key, expression=exp.Literal.string(f" {place} "), safe=True)  # an order for each column
    shuffled = dialect.keyed(exp.column("value_rank"), own)
    return fill_query("row_codes/dictionary", column=exp.column(alias or f"v{place}"), shuffled=shuffled)


def coded_rows(dialect: Dialect, source: Relation, names: Sequence[str], key: str, shuffle_key: str) -> str:
    """The text of the query for every row's key, as text, and codes: key_text, c0, c1, ... Two scans at most."""
    dictionaries = [dictionary(dialect, place, shuffle_key) for place in _places(names)]
    return dialect.render(
        _coded(source, names, "row_codes/coded_rows", dictionaries, key=exp.cast(source.column(key), "VARCHAR"))
    )


def coded_copy(dialect: Dialect, source: Relation, names: Sequence[str]) -> exp.Query:
    """The query for all rows with codes in place of values, under the names of the columns. One scan.

    A code stands for one value of its column, in no order; NULL for a NULL cell.
    """
    dictionaries = [
        fill_query("row_codes/codes", column=exp.column(f"v{place}"), place=dialect.numbering(exp.column("value")))
        for place in _places(names)
    ]
    return _coded(source, names, "row_codes/coded_copy", dictionaries, names)


def column_values(dialect: Dialect, source: Relation, names: Sequence[str], shuffle_key: str) -> str:
    """The text of the query for the columns' values with their codes: place, code, value_text. A scan per column."""
    parts = [
        exp.select("*").from_(
            fill_query(
                "row_codes/column_values",
                number=place,
                column=source.column(name),
                relation=source.node,
                dictionary=dictionary(dialect, place, shuffle_key, "v0").subquery("dictionary"),
            ).subquery(f"values_of_{place}")
        )
        for place, name in enumerate(names)
    ]
    return "\nUNION ALL\n".join(dialect.render(part) for part in parts)


def values_at(dialect: Dialect, source: Relation, name: str, place: int, codes: Sequence[int], shuffle_key: str) -> str:
    """The text of the query for some values of one column as text, by their codes: place, value. One scan.

    `place` is the column's position in the row patterns.
    """
    query = fill(
        "row_codes/values_at",
        column=source.column(name),
        relation=source.node,
        dictionary=dictionary(dialect, place, shuffle_key, "v0").subquery("dictionary"),
        text=exp.Cast(this=exp.column("value"), to=dialect.type(dialect.text)),
        places=[exp.Literal.number(code) for code in codes],
    )
    return dialect.render(query)


def _coded(
    source: Relation,
    names: Sequence[str],
    template: str,
    dictionaries: Sequence[exp.Query],
    aliases: Sequence[str] | None = None,
    **holes: Filling,
) -> exp.Select:
    """The template's query, its codes taken from the dictionaries of the columns; by default they are c0, c1, ..."""
    values = [exp.column(f"v{place}") for place in _places(names)]
    query: exp.Expr = fill(
        template,
        relation=source.node,
        aliased=[exp.alias_(column, v.name) for column, v in zip(source.columns(names), values, strict=True)],
        places=[
            exp.alias_(exp.cast(exp.column("place", table=f"d{place}"), "INT"), alias, quoted=aliases is not None)
            for place, alias in enumerate(aliases or [f"c{place}" for place in _places(names)])
        ],
        **holes,
    )
    assert isinstance(query, exp.Select)
    for place, (value, domain) in enumerate(zip(values, dictionaries, strict=True)):
        query = query.join(
            domain.subquery(f"d{place}"),
            on=exp.column(value.name, table="classes").eq(exp.column("value", table=f"d{place}")),
            join_type="left",
            copy=False,
        )
    return query


def _places(names: Sequence[str]) -> range:
    return range(len(names))
