"""The statements that compare two releases of a table: rows added and removed, and the classes of both together."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from qidsql.core.tables import Column, Table
from qidsql.sql.contents import told_apart
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import rows_node
from qidsql.sql.templates import Row, Statement, fill, fill_query, integer


@dataclass(frozen=True, slots=True)
class ChangedClasses:
    """How two releases differ. `below`: rows in classes of fewer than k rows of the kind."""

    added: int
    removed: int
    added_below: int
    removed_below: int
    stayed: int
    stayed_below: int


@dataclass(frozen=True, slots=True)
class ChangedValues:
    """Rows in classes where what was added, removed, or said by both shows fewer than so many sensitive values."""

    added: int
    removed: int
    stayed: int


@dataclass(frozen=True, slots=True)
class JointValues:
    """Rows of persons in two releases: all, those left with too few values, with one."""

    rows: int
    few: int
    certain: int


@dataclass(frozen=True, slots=True)
class JointClasses:
    """The classes of the persons in two releases, by what both say of them."""

    classes: int
    rows: int
    smallest: int
    below: int
    alone: int


@dataclass(frozen=True, slots=True)
class SamePlaces:
    """Two files line by line. `chance`: of the lines, as many as would be alike in a random order."""

    lines: int
    alike: int
    chance: Fraction


def same_places(dialect: Dialect, earlier: Table, later: Table, columns: Sequence[str]) -> Statement[SamePlaces]:
    """Compares two files or tables line by line in the columns of these names. One scan of each."""
    holes: dict[str, exp.Expr] = {}
    for side, table in (("earlier", earlier), ("later", later)):
        holes[side] = rows_node(table)
        holes[f"{side}_text"] = told_apart(_values(dialect, table, columns))
        own_order = [exp.Ordered(this=exp.column(exp.to_identifier(each))) for each in table.row_address]
        order = exp.Order(expressions=own_order) if own_order else None  # else as the file is read
        holes[f"{side}_place"] = exp.Window(this=exp.RowNumber(), order=order)
    tree = fill("releases/same_places", **holes)

    def read(found: list[Row]) -> SamePlaces:
        lines, alike, before, now, pairs = (integer(each or 0) for each in found[0])
        return SamePlaces(lines, alike, Fraction(pairs * lines, max(1, before * now)))

    return Statement(dialect.render(tree), "the order of the rows of two releases", read, scans=2)


def changed_classes(
    dialect: Dialect, earlier: Table, later: Table, classes: Sequence[str], others: Sequence[str], k: int
) -> Statement[ChangedClasses]:
    """Compares the rows of two releases in the columns of these names. One scan of each."""
    counted, names = _cells(dialect, earlier, later, (*classes, *others))
    tree = fill("releases/changed_classes", counted=counted, classes=names[: len(classes)], k=k)

    def read(found: list[Row]) -> ChangedClasses:
        return ChangedClasses(*map(integer, found[0]))

    return Statement(dialect.render(tree), "rows added and removed since an earlier release", read, scans=2)


def values_in_one(dialect: Dialect, earlier: Table, later: Table, column: str) -> Statement[int]:
    """The values of a column that only one of two releases has. One scan of each."""
    counted, _ = _cells(dialect, earlier, later, (column,))
    tree = fill("releases/values_in_one", counted=counted)
    text = dialect.render(tree)
    return Statement(text, "values that only one of two releases has", lambda rows: integer(rows[0][0] or 0), scans=2)


def gone_by_key(
    dialect: Dialect, own: tuple[Table, Sequence[str]], other: Table, key: str, k: int
) -> Statement[tuple[int, int]]:
    """The rows of a table whose key another one does not have, and those in classes of which fewer than k are gone.
    One scan of each."""
    table, columns = own
    tree = fill(
        "releases/gone_by_key",
        own=rows_node(table),
        other=rows_node(other),
        own_key=_column(table.column(key)),
        other_key=_column(other.column(key)),
        aliased=_aliased(dialect, table, columns),
        classes=[exp.column(f"c{place}") for place in range(len(columns))],
        k=k,
    )

    def read(found: list[Row]) -> tuple[int, int]:
        gone, below = map(integer, found[0])
        return gone, below

    return Statement(dialect.render(tree), "rows of one release that another does not have", read, scans=2)


def changed_values(
    dialect: Dialect, earlier: Table, later: Table, classes: Sequence[str], others: Sequence[str], least: int
) -> Statement[ChangedValues]:
    """As `changed_classes`, by the values of the first of the others. One scan of each."""
    counted, names = _cells(dialect, earlier, later, (*classes, *others))
    own, value = names[: len(classes)], names[len(classes)]
    tree = fill("releases/changed_values", counted=counted, classes=own, value=value, least=least)

    def read(found: list[Row]) -> ChangedValues:
        return ChangedValues(*map(integer, found[0]))

    return Statement(dialect.render(tree), "sensitive values of rows added and removed", read, scans=2)


def _cells(
    dialect: Dialect, earlier: Table, later: Table, columns: Sequence[str]
) -> tuple[exp.Subquery, list[exp.Column]]:
    """The rows of both by these columns, and their names there."""
    names = [exp.column(f"c{place}") for place in range(len(columns))]
    counted = fill_query(
        "releases/changed_cells",
        earlier=rows_node(earlier),
        later=rows_node(later),
        earlier_values=_aliased(dialect, earlier, columns),
        later_values=_aliased(dialect, later, columns),
        cells=names,
    )
    return counted.subquery("counted"), names


def joint_classes(
    dialect: Dialect,
    earlier: tuple[Table, Sequence[str]],
    later: tuple[Table, Sequence[str]],
    key: str,
    k: int,
) -> Statement[JointClasses]:
    """The classes of the persons in both tables, joined by the key, on these columns of each. One scan of each."""
    sides = {"earlier": earlier, "later": later}
    rows = {}
    for side, (table, columns) in sides.items():
        own = [each.as_(f"{side}_{place}") for place, each in enumerate(_values(dialect, table, columns))]
        keyed = dialect.as_text(_column(table.column(key))).as_("key_value")
        rows[side] = exp.select(*own, keyed).from_(rows_node(table)).subquery(side)
    names = [exp.column(f"{side}_{place}") for side, (_, given) in sides.items() for place in range(len(given))]
    tree = fill("releases/joint_classes", names=names, k=k, **rows)

    def read(found: list[Row]) -> JointClasses:
        return JointClasses(*map(integer, found[0]))

    return Statement(dialect.render(tree), "the classes of two releases together", read, scans=2)


def joint_values(
    dialect: Dialect,
    earlier: tuple[Table, Sequence[str]],
    later: tuple[Table, Sequence[str]],
    key: str,
    sensitive: str,
    least: int,
) -> Statement[JointValues]:
    """The persons in both tables, joined by the key, by the sensitive values that both leave them."""
    rows = {}
    for side, (table, columns) in {"earlier": earlier, "later": later}.items():
        names = {"class_text": columns, "sensitive_text": (sensitive,)}
        own = [told_apart(_values(dialect, table, given)).as_(name) for name, given in names.items()]
        keyed = dialect.as_text(_column(table.column(key))).as_("key_value")
        rows[side] = exp.select(*own, keyed).from_(rows_node(table)).subquery(side)
    tree = fill("releases/joint_values", least=least, **rows)

    def read(found: list[Row]) -> JointValues:
        return JointValues(*map(integer, found[0]))

    return Statement(dialect.render(tree), "the sensitive values that two releases leave", read, scans=4)


def _column(column: Column) -> exp.Expr:
    return exp.column(exp.to_identifier(column.name, quoted=True))


def _values(dialect: Dialect, table: Table, columns: Sequence[str]) -> list[exp.Expr]:
    """As texts: the same values of two files can have different types."""
    return [dialect.as_text(_column(table.column(name))) for name in columns]


def _aliased(dialect: Dialect, table: Table, columns: Sequence[str]) -> list[exp.Expr]:
    return [each.as_(f"c{place}") for place, each in enumerate(_values(dialect, table, columns))]
