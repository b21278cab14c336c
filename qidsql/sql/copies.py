"""Queries for a copy of a table with some cells blank, by a plan or by counting, and statements that create it."""

from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType

from sqlglot import exp

from qidsql.core.tables import Column, Table, TableName
from qidsql.errors import UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import Side, big, people_and_rows
from qidsql.sql.relation import Recodings, comparable_columns, condition, making, recoded_column, rows_node, table_node
from qidsql.sql.row_codes import dictionary
from qidsql.sql.templates import Statement, fill, fill_query, integer, union_all


def suppressed_by_plan(
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    copied: Sequence[Column],
    plan: exp.Expr,
    shuffle_key: str,
    parting: bool = False,
) -> exp.Query:
    """The rows with the columns `copied`, with the cells of the plan blank.

    `columns` form the row patterns; bit i of a mask is the i-th column. `plan` has a mask and the codes c0, c1, ...
    under the key of the row patterns; rows that are not in it stay whole. With `parting` a mask applies to the rows
    first_row to last_row of its pattern, numbered in any order. One scan.
    """
    comparable = [_comparable(dialect, column) for column in columns]
    values = [exp.alias_(value, f"v{place}") for place, value in enumerate(comparable)]
    query = fill(
        "copies/suppressed_rows",
        originals=_originals(copied),
        aliased=[*values, *_row_in_pattern(comparable, parting)],
        table=rows_node(table),
        condition=condition(table),
        published=_published(columns, copied, "classes", exp.column("mask", table="plan")),
    )
    assert isinstance(query, exp.Select)
    same: list[exp.Expr] = []
    for place in range(len(columns)):
        value = exp.column(f"v{place}", table="classes")
        query = query.join(
            dictionary(dialect, place, shuffle_key).subquery(f"d{place}"),
            on=value.eq(exp.column("value", table=f"d{place}")),
            join_type="left",
        )
        code = exp.func("COALESCE", exp.column("place", table=f"d{place}"), exp.Literal.number(0))
        same.append(code.eq(exp.column(f"c{place}", table="plan")))
    if parting:
        first, last = exp.column("first_row", table="plan"), exp.column("last_row", table="plan")
        same.append(exp.column("row_in_pattern", table="classes").between(first, last))
    return query.join(exp.select("*").from_(plan).subquery("plan"), on=exp.and_(*same), join_type="left")


def suppressed_by_counts(
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    copied: Sequence[Column],
    masks: Sequence[int],
    k: int,
) -> exp.Query:
    """The rows with the columns `copied`, each blanked by the first mask that leaves at least k equal rows.

    All columns are blank if no mask does. One window function per mask.
    """
    return fill_query(
        "copies/suppressed_by_counts",
        originals=_originals(copied),
        mask=_mask(dialect, columns, masks, k),
        table=rows_node(table),
        condition=condition(table),
        published=_published(columns, copied, "planned", exp.column("mask", table="planned")),
    )


def suppression_in_place(
    dialect: Dialect, table: Table, columns: Sequence[Column], masks: Sequence[int], k: int
) -> str:
    """The statement that blanks the same cells in the table itself. Needs row addresses."""
    source = table_node(table.name)
    lost = [place for place in range(len(columns)) if any(mask >> place & 1 for mask in masks)]
    blank = {columns[place].name: _bit(exp.column("mask", table="planned"), place) for place in lost}
    name = exp.to_identifier(table.name.name, quoted=True)
    address = [exp.to_identifier(each) for each in table.row_address]
    tree = fill(
        "copies/suppress_in_place",
        table=source,
        assignments=[
            exp.EQ(
                this=exp.column(exp.to_identifier(each, quoted=True)),
                expression=exp.case()
                .when(condition_, exp.null())
                .else_(exp.column(exp.to_identifier(each, quoted=True), table=name)),
            )
            for each, condition_ in blank.items()
        ],
        address=[exp.alias_(exp.column(each), f"a{place}") for place, each in enumerate(address)],
        mask=_mask(dialect, columns, masks, k),
        condition=condition(table),
        same=exp.and_(
            *(
                exp.column(each, table=name).eq(exp.column(f"a{place}", table="planned"))
                for place, each in enumerate(address)
            )
        ),
    )
    return dialect.render(tree)


def in_own_order(dialect: Dialect, query: exp.Query) -> exp.Select:
    """The rows of a query in an order that tells nothing but their cells, not the order of the source: by a hash.

    Rows with the same hash are the same. A script for an engine without a hash sorts by the cells themselves.
    """
    cells: list[exp.Expr] = [exp.column(exp.to_identifier(name, quoted=True)) for name in query.named_selects]
    order = cells if dialect.own_hashes else [dialect.row_hash(cells)]
    return exp.select("*").from_(query.subquery("copied")).order_by(*order)


def create_table(dialect: Dialect, target: TableName, query: exp.Query) -> str:
    """The statement that creates a table from the rows of a query, in their own order."""
    return created(dialect, "TABLE", target, query)


def create_view(dialect: Dialect, target: TableName, query: exp.Query) -> str:
    """The statement that creates a view of the rows of a query, in their own order."""
    return created(dialect, "VIEW", target, query)


def dbt_model(dialect: Dialect, query: exp.Query) -> str:
    """A model of dbt, a table with the rows of a query, in their own order. Raises UsageError."""
    text = dialect.render(in_own_order(dialect, query))
    if "endraw" in text:
        raise UsageError("a name or a condition contains endraw, which ends a text in dbt: use --sql table")
    hooks = [each for each in dialect.opening if each != "BEGIN"]  # dbt begins a transaction itself
    config = f"materialized='table'{f', pre_hook={hooks}' if hooks else ''}"
    return f"{{{{ config({config}) }}}}\n{{% raw %}}\n{text}\n{{% endraw %}}"


def drop_table(dialect: Dialect, target: TableName) -> str:
    """The statement that drops a table."""
    return dialect.render(exp.Drop(tables=[table_node(target)], kind="TABLE"))


def created(dialect: Dialect, kind: str, target: TableName, query: exp.Query) -> str:
    """The statement that creates an object of this kind with the rows of a query, in their own order."""
    return dialect.render(making(table_node(target), in_own_order(dialect, query), kind))


def _row_in_pattern(values: Sequence[exp.Expr], parting: bool) -> list[exp.Expr]:
    """Numbers the rows within each row pattern, if `parting`."""
    if not parting:
        return []
    number = exp.Window(this=exp.RowNumber(), partition_by=[value.copy() for value in values])
    return [exp.alias_(number, "row_in_pattern")]


def _comparable(dialect: Dialect, column: Column) -> exp.Expr:
    return dialect.comparable(exp.column(exp.to_identifier(column.name, quoted=True)), column.comparison)


def _originals(copied: Sequence[Column]) -> list[exp.Expr]:
    """The columns under safe aliases, since a table's own names could clash."""
    return [
        exp.alias_(exp.column(exp.to_identifier(column.name, quoted=True)), f"o{place}")
        for place, column in enumerate(copied)
    ]


def _published(columns: Sequence[Column], copied: Sequence[Column], rows: str, mask: exp.Expr) -> list[exp.Expr]:
    places: Mapping[str, int] = {column.name: place for place, column in enumerate(columns)}
    found: list[exp.Expr] = []
    for number, column in enumerate(copied):
        value: exp.Expr = exp.column(f"o{number}", table=rows)
        if column.name in places:
            value = exp.case().when(_bit(mask, places[column.name]), exp.null()).else_(value)
        found.append(exp.alias_(value, exp.to_identifier(column.name, quoted=True)))
    return found


def _bit(mask: exp.Expr, place: int) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=mask.copy(), expression=big(1 << place))).neq(0)


def _mask(dialect: Dialect, columns: Sequence[Column], masks: Sequence[int], k: int) -> exp.Expr:
    """The first mask such that at least k rows agree on the other columns."""
    everything = (1 << len(columns)) - 1
    chosen = exp.case()
    for mask in masks:
        kept = [_comparable(dialect, column) for place, column in enumerate(columns) if not mask >> place & 1]
        number = exp.Window(this=exp.Count(this=exp.Star(), big_int=True), partition_by=kept)
        chosen = chosen.when(number >= k, big(mask))
    return chosen.else_(big(everything))


# Statements that carry out a masking plan. They are printed, never run.


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
        "copies/publish_view",
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


# The query for the blank cells of a copy that its unprotected columns give back.


BOTH = "both_sides"


def cells_given_back(table: Side, copy: Side, protected: int) -> exp.Query:
    """A row for each pair of one of the first `protected` columns and one of the others, last of several all of them
    together, numbered in that order.

    The columns of the table and of the copy are the same, comparable with each other.
    """
    both, [*names, _] = people_and_rows(table, copy)
    columns = [exp.column(name, table=BOTH) for name in names]
    others = columns[protected:]
    sets = [(each,) for each in others] + [tuple(others)] * (len(others) > 1)
    pairs = [
        fill_query(
            "copies/given_back",
            pair=number,
            given=[*given],
            hidden=hidden,
            cells=exp.to_table(BOTH),
        )
        for number, (hidden, given) in enumerate(product(columns[:protected], sets))
    ]
    assert both.rows is not None
    found = union_all(pairs)
    return found.with_(BOTH, as_=exp.select("*").from_(both.node), copy=False)


def rows_not_in_both(
    dialect: Dialect, planned: exp.Query, written: exp.Expr, columns: Sequence[Column]
) -> Statement[int]:
    """How many different rows a planned copy and a written one do not have equally often. `columns` are those of the
    written copy."""
    text = dialect.render(_compared(dialect, planned, written, columns))
    return Statement(text, "rows of the plan and the copy", lambda rows: integer(rows[0][0]), scans=2)


def _compared(dialect: Dialect, planned: exp.Query, written: exp.Expr, columns: Sequence[Column]) -> exp.Query:
    cells = comparable_columns(dialect, columns)
    rows = exp.select(*cells).from_(planned.subquery("planned"))
    return fill_query(
        "copies/compared",
        cells=[exp.column(exp.to_identifier(column.name, quoted=True)) for column in columns],
        planned=rows.subquery("planned"),
        written=exp.select(*(cell.copy() for cell in cells)).from_(written).subquery("written"),
    )
