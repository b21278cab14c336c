"""The audited rows as one node to select from: a table, its columns made comparable, and the user's condition."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qidsql.errors import UsageError
from qidsql.schema import Column, Comparison, Table, TableName
from qidsql.sql.dialects import Dialect

ALIAS = "relation"


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows to audit. `node` goes behind FROM and is aliased; `column` names one of its columns.

    Two relations are equal only when they are one object: a cheap key for caches. `drawn` is True for a sample, whose
    few rows cost a scan of the table each time the node is evaluated. `address` tells each row from all others, where
    one hidden column does; `long` names columns of long values.
    """

    node: exp.Expr
    drawn: bool = False
    address: exp.Expr | None = None
    long: frozenset[str] = frozenset()

    def column(self, name: str) -> exp.Expr:
        return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(ALIAS))

    def columns(self, names: Sequence[str]) -> list[exp.Expr]:
        return [self.column(name) for name in names]


def relation(dialect: Dialect, table: Table, columns: Sequence[Column], where: str | None = None) -> Relation:
    """The rows of a table that meet a condition, with these columns, each in its comparable form.

    The same one for the same arguments, so what is rendered of it serves again: a shell binds a call, then runs it.

    Raises UsageError when the condition is more than a plain condition on the table's columns, UnknownName when it
    names a column that the table does not have.
    """
    return _relation(dialect, table, tuple(columns), where)


@lru_cache(maxsize=64)
def _relation(dialect: Dialect, table: Table, columns: tuple[Column, ...], where: str | None) -> Relation:
    source = table_node(table.name)
    long = frozenset(column.name for column in columns if dialect.is_long(column))
    if where is None and all(column.comparison is Comparison.VALUE for column in columns):
        address = [exp.column(exp.to_identifier(name), table=exp.to_identifier(ALIAS)) for name in table.row_address]
        return Relation(
            exp.alias_(source, ALIAS, table=True), address=address[0] if len(address) == 1 else None, long=long
        )
    select = exp.select(*comparable_columns(dialect, columns)).from_(source)
    if where is not None:
        select = select.where(condition(dialect, table, where))
    return Relation(select.subquery(ALIAS), long=long)


def comparable_columns(dialect: Dialect, columns: Sequence[Column]) -> list[exp.Expr]:
    """Each column in its comparable form, under its name."""
    return [
        exp.alias_(
            dialect.comparable(exp.column(exp.to_identifier(column.name, quoted=True)), column.comparison),
            exp.to_identifier(column.name, quoted=True),
        )
        for column in columns
    ]


def table_node(name: TableName) -> exp.Table:
    """The table's name as a node, every part quoted."""
    parts = [exp.to_identifier(part, quoted=True) if part else None for part in (name.name, name.schema, name.catalog)]
    return exp.Table(this=parts[0], db=parts[1], catalog=parts[2])


def condition(dialect: Dialect, table: Table, text: str) -> exp.Expr:
    """The user's condition, parsed and tied to the table's columns.

    Raises UsageError, UnknownName.
    """
    try:
        tree = sqlglot.parse_one(f"SELECT 1 WHERE {text}", read=dialect.name)
    except SqlglotError:
        raise UsageError("the where condition cannot be read as SQL; expected something like: age >= 18") from None
    clause = tree.args.get("where")
    if not isinstance(tree, exp.Select) or clause is None or set(_given(tree)) != {"expressions", "where"}:
        raise UsageError("the where condition must be one condition on the table's columns, nothing behind it")
    for node in clause.walk():
        if isinstance(node, (exp.Query, exp.Subquery, exp.Exists, exp.Window, exp.AggFunc)):
            raise UsageError(
                "the where condition must be a plain condition on the table's columns, without a query inside"
            )
        if isinstance(node, (exp.Star, exp.Rand, exp.Randn, exp.Uuid)):
            raise UsageError(
                "the where condition must say the same of a row each time, and name its columns: no * and no random()"
            )
        if isinstance(node, (exp.Anonymous, exp.Command, exp.Placeholder, exp.Parameter, exp.SessionParameter)):
            raise UsageError(
                f"the where condition uses {node.name or 'a parameter'}, which qidsql does not know as a plain function"
            )
    found = list(clause.find_all(exp.Column))
    resolved = table.resolve([column.name for column in found])
    by_name = {column.name.lower(): column.name for column in resolved} | {c.name: c.name for c in resolved}
    for column in found:
        name = by_name.get(column.name, by_name.get(column.name.lower(), column.name))
        column.replace(exp.column(exp.to_identifier(name, quoted=True)))
    condition_node: exp.Expr = clause.this
    return condition_node


def _given(node: exp.Expr) -> list[str]:
    return [key for key, value in node.args.items() if value]
