"""The audited rows as a node to select from: a table, its columns in comparable form, and the user's condition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

from sqlglot import exp

from qidsql.core.options import MAX_SEED
from qidsql.core.recodings import Recoding, RecodingKind
from qidsql.core.tables import Column, Comparison, Table, TableName
from qidsql.errors import UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import (
    Row,
    Statement,
    fill,
    fill_query,
    in_pieces,
    integer,
    mark_of_table,
    marks,
    put_together,
)

# Recoded columns as nodes. Each form is one that all engines which recode evaluate alike, and exactly.


def recoded(column: exp.Expr, recoding: Recoding) -> exp.Expr:
    """The coarser value of a column, of a type that the same recoding applies to again; NULL for NULL."""
    return _FORMS[recoding.kind](column, exp.Literal.number(recoding.number))


def _start_of(unit: str) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    """The start of the value's month, year or decade: unlike EXTRACT, it keeps infinite dates apart from NULL."""

    def start(column: exp.Expr, _: exp.Expr) -> exp.Expr:
        return exp.Anonymous(
            this="DATE_TRUNC", expressions=[exp.Literal.string(unit), exp.cast(column, exp.DataType.Type.TIMESTAMP)]
        )

    return start


def _prefix(column: exp.Expr, length: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[column, exp.Literal.number(1), length])


def _interval(column: exp.Expr, width: exp.Expr) -> exp.Expr:
    """floor(x / N) * N by remainders: a quotient of decimals would be rounded. A remainder has the sign of x."""
    exact = exp.paren(exp.Add(this=column, expression=exp.cast(exp.Literal.number(0), "DECIMAL(1, 0)")))
    rest = exp.paren(exp.Mod(this=exact, expression=width))
    below = exp.Case(ifs=[exp.If(this=rest.copy() < 0, true=width.copy())], default=exp.Literal.number(0))
    return exp.paren(exact.copy() - rest - below)


_FORMS: dict[RecodingKind, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    RecodingKind.MONTH: _start_of("month"),
    RecodingKind.YEAR: _start_of("year"),
    RecodingKind.DECADE: _start_of("decade"),
    RecodingKind.PREFIX: _prefix,
    RecodingKind.WIDTH: _interval,
}


ALIAS = "relation"
Recodings = Mapping[str, Sequence[Recoding]]  # of the columns that have any, in the order in which they are applied


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows to audit. `node`, a new copy of `rows`, goes behind FROM and is aliased; `column` names one of its columns.

    Relations are equal only if they are the same object: a cheap key for caches. `is_sample` marks a sample, whose few
    rows cost a scan of the table each time the node is evaluated. `table`, instead of `rows`: all rows of a table as
    they are. `long` names columns of long values. `computed`: each scan decodes or computes the rows. `types`: those of
    the columns in their comparable form, where they are known and not recoded.
    """

    rows: exp.Expr | None = None
    is_sample: bool = False
    table: Table | None = None
    long: frozenset[str] = frozenset()
    computed: bool = False
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def node(self) -> exp.Expr:
        if self.rows is not None:
            return self.rows.copy()
        assert self.table is not None
        return exp.alias_(rows_node(self.table), ALIAS, table=True)

    def text(self, dialect: Dialect) -> str:
        """The text of `node`."""
        if self.table is None or self.table.version is not None or self.table.fenced or not dialect.quote:
            return dialect.render(self.node)
        return f"{name_text(dialect, self.table.name)} AS {ALIAS}"

    @property
    def address(self) -> str | None:
        """A hidden column that identifies each row, if there is one, as text."""
        address = self.table.row_address if self.table is not None else ()
        return f"{ALIAS}.{address[0]}" if len(address) == 1 else None

    def column_text(self, dialect: Dialect, name: str) -> str:
        """The text of `column`."""
        return f"{ALIAS}.{dialect.identifier(name)}"

    def column(self, name: str) -> exp.Expr:
        return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(ALIAS))

    def columns(self, names: Sequence[str]) -> list[exp.Expr]:
        return [self.column(name) for name in names]


def relation(dialect: Dialect, table: Table, columns: Sequence[Column]) -> Relation:
    """The rows of a table that meet its condition, with these columns, each in its comparable form.

    Cached, so that rendered text is reused: a shell binds a call, then runs it.
    """
    return _relation(dialect, table, tuple(columns))


def recoded_relation(dialect: Dialect, table: Table, columns: Sequence[Column], recodings: Recodings) -> Relation:
    """The table's rows with recoded columns, each then in its comparable form; NULL stays NULL."""
    if not recodings:
        return relation(dialect, table, columns)
    long = frozenset(column.name for column in columns if dialect.is_long(column))
    return Relation(_selected(dialect, table, columns, recodings), long=long, computed=True)


@lru_cache(maxsize=64)
def _relation(dialect: Dialect, table: Table, columns: tuple[Column, ...]) -> Relation:
    long = frozenset(column.name for column in columns if dialect.is_long(column))
    types = {column.name: dialect.comparable_type(column) for column in columns}
    if table.condition is None and all(column.comparison is Comparison.VALUE for column in columns):
        return Relation(table=table, long=long, computed=table.computed, types=types)
    return Relation(_selected(dialect, table, columns), long=long, computed=True, types=types)


def distinct_rows(source: Relation, names: Sequence[str]) -> Relation:
    """The different rows among these columns."""
    rows = exp.select(*source.columns(names)).distinct().from_(source.node)
    return replace(source, rows=rows.subquery(ALIAS), table=None, computed=True)


def rows_with_a_value(source: Relation, names: Sequence[str], column: str) -> Relation:
    """The rows in which the column is not NULL, with these columns."""
    rows = exp.select(*source.columns(names)).from_(source.node).where(source.column(column).is_(exp.null()).not_())
    return replace(source, rows=rows.subquery(ALIAS), table=None, computed=True)


def _selected(
    dialect: Dialect, table: Table, columns: Sequence[Column], recodings: Recodings = MappingProxyType({})
) -> exp.Expr:
    select = exp.select(*comparable_columns(dialect, columns, recodings)).from_(rows_node(table))
    if table.condition is not None:
        select = select.where(condition(table))
    return select.subquery(ALIAS)


def comparable_columns(
    dialect: Dialect, columns: Sequence[Column], recodings: Recodings = MappingProxyType({})
) -> list[exp.Expr]:
    """Each column, recoded if it has recodings, in its comparable form, under its name."""
    return [
        exp.alias_(
            dialect.comparable(recoded_column(column.name, recodings.get(column.name, ())), column.comparison),
            exp.to_identifier(column.name, quoted=True),
        )
        for column in columns
    ]


def recoded_column(name: str, recodings: Sequence[Recoding]) -> exp.Expr:
    """The column, after these recodings in their order."""
    value: exp.Expr = exp.column(exp.to_identifier(name, quoted=True))
    for recoding in recodings:
        value = recoded(value, recoding)
    return value


def name_text(dialect: Dialect, name: TableName) -> str:
    """The text of `table_node`."""
    return ".".join(dialect.identifier(part) for part in (name.catalog, name.schema, name.name) if part)


def table_node(name: TableName) -> exp.Table:
    """The table's name as a node, every part quoted."""
    parts = [exp.to_identifier(part, quoted=True) if part else None for part in (name.name, name.schema, name.catalog)]
    return exp.Table(this=parts[0], db=parts[1], catalog=parts[2])


def rows_node(table: Table) -> exp.Table | exp.Subquery:
    """The table as a node to read rows from, in its version.

    The OFFSET of a fenced one keeps the planner from comparing a condition outside with what it was told of the rows.
    """
    node = table_node(table.name)
    if table.fenced:
        columns = [exp.column(exp.to_identifier(each.name, quoted=True)) for each in table.columns if each.readable]
        return exp.select(*columns).from_(node).offset(0).subquery(exp.to_identifier(table.name.name, quoted=True))
    if isinstance(table.version, datetime):
        moment = exp.Literal.string(table.version.isoformat(" "))
        node.set("version", exp.Version(this="TIMESTAMP", kind="AS OF", expression=moment))
    elif table.version is not None:
        node.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(table.version)))
    return node


def condition(table: Table) -> exp.Expr:
    """The condition on the audited rows: TRUE, or the user's own text in the engine's dialect.

    Use it in a SELECT from the table alone, without an alias, since the text may also name the table. The text is on
    separate lines, since it may end in a comment.
    """
    return exp.true() if table.condition is None else exp.paren(verbatim(table.condition.text), copy=False)


def verbatim(text: str) -> exp.Expr:
    """SQL text that is inserted unparsed into a statement: `Engine.narrowed` must have checked it."""
    return exp.Var(this=f"\n{text}\n")


# Random samples of the audited rows, as relations that can replace the whole table.


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
        "relation/sample_rows",
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
        "relation/sample_values",
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


# Rows that each scan decodes or computes again, as those of a parquet file or a view, read once and held.


def rows_to_hold(dialect: Dialect, source: Relation, names: Sequence[str]) -> str:
    """The text of the query for these columns of all rows. One scan."""
    columns = ", ".join(source.column_text(dialect, name) for name in names)
    return put_together(_frame(dialect), {"columns": columns, "relation": source.text(dialect)})


@in_pieces
def _frame(_: Dialect) -> exp.Expr:
    return fill("relation/held_rows", relation=mark_of_table("relation"), **marks("columns"))


# Whether rows are the same as they were, without an order and without a copy of them.


def fingerprint(
    dialect: Dialect, source: Relation, columns: Sequence[Column], key: int
) -> Statement[tuple[int | None, ...]]:
    """The rows, the sum and the XOR of their hashes with a key. One scan. The dialect must have `keyed_hash`."""
    assert dialect.keyed_hash is not None
    hashed = dialect.keyed_hash([(source.column(each.name), each) for each in columns], key)
    tree = fill("relation/fingerprint", row_hash=hashed, relation=source.node)

    def read(rows: list[Row]) -> tuple[int | None, ...]:
        return tuple(None if cell is None else integer(cell) for cell in rows[0])

    return Statement(dialect.render(tree), f"fingerprint of {len(columns)} columns", read)


# Statements that create and fill tables, and need no template.


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
