"""Random samples of the audited rows, as relations that can replace the whole table."""

from collections.abc import Sequence

from sqlglot import exp

from qidsql.core.sampling import MAX_SEED
from qidsql.core.tables import Column, Table
from qidsql.errors import UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import ALIAS, Relation, comparable_columns, condition, relation, rows_node
from qidsql.sql.templates import fill_query


def sample(dialect: Dialect, table: Table, columns: Sequence[Column], size: int, seed: int) -> Relation:
    """`size` of the audited rows, drawn at random without replacement; all rows if there are fewer.

    Every statement sees the same sample while the data is unchanged: it does not depend on threads, plans, or the
    columns that a statement reads. Different seeds are independent; a smaller sample is part of a larger one. One scan
    of a table; a view, which has no row addresses, is also sorted by its contents.
    The engines' own sampling clauses are not used: DuckDB's reservoir favours positions in a filtered table and differs
    between runs on a view, and Postgres has none of an exact size. Raises UsageError.
    """
    _check(size, seed)
    if not table.row_address:
        return _of_values(dialect, relation(dialect, table, columns), columns, size, seed)
    address = [exp.column(exp.to_identifier(name)) for name in table.row_address]
    rows = fill_query(
        "sample/sample_rows",
        columns=comparable_columns(dialect, columns),
        table=rows_node(table),
        condition=condition(table),
        place=dialect.shuffled(dialect.row_hash(address), seed),
        size=size,
    )
    return Relation(rows.subquery(ALIAS), is_sample=True)


def sample_of_entities(
    dialect: Dialect, table: Table, columns: Sequence[Column], entity: Column, size: int, seed: int
) -> Relation:
    """`size` of the entities of the audited rows, each as one row, drawn like the rows of a view.

    For a table in which all rows of an entity agree on the columns. Raises UsageError.
    """
    _check(size, seed)
    source, members = relation(dialect, table, (*columns, entity)), (*columns, entity)
    distinct = exp.select(*source.columns([column.name for column in members])).distinct().from_(source.node)
    return _of_values(dialect, Relation(distinct.subquery(ALIAS)), members, size, seed)


def _check(size: int, seed: int) -> None:
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"the seed must lie between 0 and {MAX_SEED - 1}, not at {seed}")
    if size < 1:
        raise UsageError(f"a sample must have at least one row, not {size}")


def _of_values(dialect: Dialect, source: Relation, columns: Sequence[Column], size: int, seed: int) -> Relation:
    nodes = source.columns([column.name for column in columns])
    aliases = [f"c{place}" for place in range(len(columns))]
    key = [exp.column("row_hash", table="numbered"), exp.column("copy", table="numbered")]
    decided = dialect.decided([exp.column(alias) for alias in aliases])
    rows = fill_query(
        "sample/sample_values",
        relation=source.node,
        aliased=[exp.alias_(node, alias) for node, alias in zip(nodes, aliases, strict=True)],
        row_hash=dialect.row_hash(nodes),
        renamed=[
            exp.alias_(exp.column(alias), exp.to_identifier(column.name, quoted=True))
            for alias, column in zip(aliases, columns, strict=True)
        ],
        order=[exp.column("row_hash"), *decided],
        places=[dialect.shuffled(dialect.row_hash(key), seed), *decided],
        size=size,
    )
    return Relation(rows.subquery(ALIAS), is_sample=True)
