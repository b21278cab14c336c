"""The audited rows as a node to select from: a table, its columns in comparable form, and the user's condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

from sqlglot import exp

from qidsql.core.recodings import Recoding
from qidsql.core.tables import Column, Comparison, Table, TableName
from qidsql.sql.dialects import Dialect
from qidsql.sql.recodings import recoded

ALIAS = "relation"
Recodings = Mapping[str, Sequence[Recoding]]  # of the columns that have any, in the order in which they are applied


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows to audit. `node`, a new copy of `rows`, goes behind FROM and is aliased; `column` names one of its columns.

    Relations are equal only if they are the same object: a cheap key for caches. `is_sample` marks a sample, whose few
    rows cost a scan of the table each time the node is evaluated. `table`, instead of `rows`: all rows of a table as
    they are. `long` names columns of long values. `computed`: each scan decodes or computes the rows.
    """

    rows: exp.Expr | None = None
    is_sample: bool = False
    table: Table | None = None
    long: frozenset[str] = frozenset()
    computed: bool = False

    @property
    def node(self) -> exp.Expr:
        if self.rows is not None:
            return self.rows.copy()
        assert self.table is not None
        return exp.alias_(rows_node(self.table), ALIAS, table=True)

    def text(self, dialect: Dialect) -> str:
        """The text of `node`."""
        if self.table is None or self.table.version is not None or not dialect.quote:
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
    """The same rows with recoded columns, each then in its comparable form; NULL stays NULL."""
    if not recodings:
        return relation(dialect, table, columns)
    long = frozenset(column.name for column in columns if dialect.is_long(column))
    return Relation(_selected(dialect, table, columns, recodings), long=long, computed=True)


@lru_cache(maxsize=64)
def _relation(dialect: Dialect, table: Table, columns: tuple[Column, ...]) -> Relation:
    long = frozenset(column.name for column in columns if dialect.is_long(column))
    if table.condition is None and all(column.comparison is Comparison.VALUE for column in columns):
        return Relation(table=table, long=long, computed=table.computed)
    return Relation(_selected(dialect, table, columns), long=long, computed=True)


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


def rows_node(table: Table) -> exp.Table:
    """The table as a node to read rows from, in its version."""
    node = table_node(table.name)
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
