"""Statements that carry out a masking plan. They are printed, never run."""

from collections.abc import Sequence
from types import MappingProxyType

from sqlglot import exp

from qidsql.core.tables import Table, TableName
from qidsql.errors import UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Recodings, condition, recoded_column, table_node
from qidsql.sql.templates import fill


def publishing_view(
    dialect: Dialect,
    table: Table,
    published: Sequence[str],
    view: TableName,
    role: str | None = None,
) -> list[str]:
    """The statements that create a view of the published columns and, if the engine has roles, let a role read it.

    The view has the audited rows. The role needs no right on the table, and should have none. Raises UsageError,
    UnknownName.
    """
    trees = [_view(table, published, view, MappingProxyType({}))]
    if role is not None and dialect.has_roles:
        trees.append(granting("SELECT", table_node(view), role))
    return [dialect.render(tree) for tree in trees]


def published_rows(table: Table, published: Sequence[str], recodings: Recodings) -> exp.Select:
    """The query for the audited rows, with the published columns as recoded. Raises UsageError, UnknownName."""
    return next(_view(table, published, table.name, recodings).find_all(exp.Select))


def _view(table: Table, published: Sequence[str], view: TableName, recodings: Recodings) -> exp.Expr:
    tree = fill(
        "publication/publish_view",
        view=table_node(view),
        columns=_columns(table, published, recodings),
        table=table_node(table.name),
        condition=condition(table),
    )
    if table.condition is None:
        next(tree.find_all(exp.Select)).set("where", None)
    return tree


def granting_columns(dialect: Dialect, table: Table, published: Sequence[str], role: str) -> list[str]:
    """The statements that restrict a role to the published columns of the table.

    Privileges from other roles, or from PUBLIC, remain. Raises UsageError if the engine has no roles, UnknownName.
    """
    if not dialect.has_roles:
        raise UsageError(f"{dialect.name} has no roles to grant columns to; publish a view in a database of its own")
    trees = [
        exp.Revoke(
            privileges=[exp.GrantPrivilege(this=exp.var("SELECT"))],
            securable=table_node(table.name),
            principals=[exp.GrantPrincipal(this=_role(role))],
        ),
        granting("SELECT", table_node(table.name), role, columns=_columns(table, published)),
    ]
    return [dialect.render(tree) for tree in trees]


def granting(
    right: str, on: exp.Expr, role: str, kind: str | None = None, columns: Sequence[exp.Expr] = ()
) -> exp.Grant:
    """The statement that grants a role a privilege on an object (a table unless `kind` is given), or on columns."""
    return exp.Grant(
        privileges=[exp.GrantPrivilege(this=exp.var(right), expressions=list(columns))],
        kind=kind,
        securable=on,
        principals=[exp.GrantPrincipal(this=_role(role))],
    )


def _columns(table: Table, names: Sequence[str], recodings: Recodings = MappingProxyType({})) -> list[exp.Expr]:
    if not names:
        raise UsageError(f"no column of {table.name} can be published, so there is no script")
    found = []
    for name in (column.name for column in table.resolve(names)):
        value = recoded_column(name, recodings.get(name, ()))
        found.append(exp.alias_(value, exp.to_identifier(name, quoted=True)) if name in recodings else value)
    return found


def _role(name: str) -> exp.Expr:
    return exp.to_identifier(name, quoted=True)
