"""The statements that compare two releases of a table: rows added and removed, and the classes of both together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from qidsql.core.tables import Column, Table
from qidsql.sql.contents import told_apart
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import rows_node
from qidsql.sql.templates import Row, Statement, fill, fill_query, integer, union_all


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
class KeyedRelease:
    """A copy of a release with a key of its persons, and the columns by which its classes are made."""

    table: Table
    key: str
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class JointValues:
    """Persons in the last release and in others: all, those left with too few values, with one."""

    persons: int
    few: int
    certain: int


@dataclass(frozen=True, slots=True)
class JointClasses:
    """Persons by what all releases together say of them; those in classes below k, those alone in one."""

    persons: int
    smallest: int
    below: int
    alone: int


@dataclass(frozen=True, slots=True)
class Alike:
    """Two files line by line, or person by person. `chance`: as many as would be alike in a random order."""

    rows: int
    alike: int
    chance: Fraction

    @property
    def by_chance(self) -> bool:
        """Whether no more are alike than in a random order, by three deviations."""
        more = self.alike - self.chance
        return more <= 1 or more * more <= 9 * self.chance


def same_places(dialect: Dialect, earlier: Table, later: Table, columns: Sequence[str]) -> Statement[Alike]:
    """Compares two files or tables line by line in the columns of these names. One scan of each."""
    holes: dict[str, exp.Expr] = {}
    for side, table in (("earlier", earlier), ("later", later)):
        holes[side] = rows_node(table)
        holes[f"{side}_text"] = told_apart(_values(dialect, table, columns))
        holes[f"{side}_place"] = _place(table)
    tree = fill("releases/same_places", **holes)

    def read(found: list[Row]) -> Alike:
        lines, alike, before, now, pairs = (integer(each or 0) for each in found[0])
        return Alike(lines, alike, Fraction(pairs * lines, max(1, before * now)))

    return Statement(dialect.render(tree), "the order of the rows of two releases", read, scans=2)


def _place(table: Table) -> exp.Expr:
    """The number of a row, as it lies there."""
    own_order = [exp.Ordered(this=exp.column(exp.to_identifier(each))) for each in table.row_address]
    order = exp.Order(expressions=own_order) if own_order else None  # else as the file is read
    return exp.Window(this=exp.RowNumber(), order=order)


def alike_neighbours(dialect: Dialect, table: Table, column: Column) -> Statement[Alike]:
    """Compares each row with the one before it, in one column. Two scans."""
    text = told_apart(_values(dialect, table, [column.name]))
    tree = fill("releases/neighbours", relation=rows_node(table), place=_place(table), text=text)

    def read(found: list[Row]) -> Alike:
        rows, alike, pairs = (integer(each or 0) for each in found[0])
        return Alike(rows, alike, Fraction(pairs, max(1, rows)))

    return Statement(dialect.render(tree), "the order of the released rows", read, scans=2)


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


def tells_apart(dialect: Dialect, table: Table, key: str) -> Statement[bool]:
    """Whether each row has a value of its own in this column. One scan."""
    text = dialect.as_text(_column(table.column(key)))
    sql = dialect.render(fill("releases/keys", key=text, relation=rows_node(table)))
    return Statement(sql, "whether the key tells rows apart", lambda rows: integer(rows[0][0]) == integer(rows[0][1]))


def same_values(dialect: Dialect, earlier: Table, later: Table, key: str, column: str) -> Statement[Alike]:
    """Compares the persons of two releases, by a key, in a column that both have. One scan of each."""
    holes: dict[str, exp.Expr] = {}
    for side, table in (("earlier", earlier), ("later", later)):
        holes[side] = rows_node(table)
        holes[f"{side}_key"] = dialect.as_text(_column(table.column(key)))
        holes[f"{side}_text"] = told_apart(_values(dialect, table, [column]))
    tree = fill("releases/same_values", **holes)

    def read(found: list[Row]) -> Alike:
        persons, alike, pairs = (integer(each or 0) for each in found[0])
        return Alike(persons, alike, Fraction(pairs, max(1, persons)))

    return Statement(dialect.render(tree), "values of the persons of two releases", read, scans=2)


def joint_classes(dialect: Dialect, releases: Sequence[KeyedRelease], k: int) -> Statement[Mapping[str, JointClasses]]:
    """The persons of all releases, the last one first, by their class in each: who is in `both`, `came`, `left`. One
    scan of each."""
    tree = fill("releases/joint_classes", rows=_keyed(dialect, releases), k=k, **_classes(len(releases)))

    def read(found: list[Row]) -> Mapping[str, JointClasses]:
        nobody = dict.fromkeys(("both", "came", "left"), JointClasses(0, 0, 0, 0))
        return nobody | {str(kind): JointClasses(*map(integer, row)) for kind, *row in found}

    return Statement(dialect.render(tree), "the classes of releases together", read, scans=len(releases))


def joint_values(
    dialect: Dialect, releases: Sequence[KeyedRelease], sensitive: str, least: int
) -> Statement[JointValues]:
    """The persons in the last release, which is the first here, and in others, by the sensitive values that they leave
    them. Scans each twice."""
    rows = _keyed(dialect, releases, sensitive)
    tree = fill("releases/joint_values", rows=rows, least=least, **_classes(len(releases)))

    def read(found: list[Row]) -> JointValues:
        return JointValues(*map(integer, found[0]))

    sql = dialect.render(tree)
    return Statement(sql, "the sensitive values that releases leave", read, scans=2 * len(releases))


def _keyed(dialect: Dialect, releases: Sequence[KeyedRelease], sensitive: str | None = None) -> exp.Subquery:
    """The rows of all: key, number of the release, class, and the value of a sensitive column."""
    queries = []
    for number, each in enumerate(releases):
        texts = {"class_text": each.columns} | ({} if sensitive is None else {"sensitive_text": (sensitive,)})
        own = [told_apart(_values(dialect, each.table, names)).as_(name) for name, names in texts.items()]
        key = dialect.as_text(_column(each.table.column(each.key))).as_("key_value")
        place = exp.Literal.number(number).as_("release_number")
        queries.append(exp.select(key, place, *own).from_(rows_node(each.table)))
    return union_all(queries).subquery("keyed_rows")


def _classes(releases: int) -> dict[str, list[exp.Expr]]:
    """The class of a person in each release, and their names."""
    names: list[exp.Expr] = [exp.column(f"r{number}") for number in range(releases)]
    own: list[exp.Expr] = []
    for number in range(releases):
        is_its = exp.EQ(this=exp.column("release_number"), expression=exp.Literal.number(number))
        own.append(exp.Max(this=exp.Case().when(is_its, exp.column("class_text"))).as_(f"r{number}"))
    return {"classes": own, "names": names}


def _column(column: Column) -> exp.Expr:
    return exp.column(exp.to_identifier(column.name, quoted=True))


def _values(dialect: Dialect, table: Table, columns: Sequence[str]) -> list[exp.Expr]:
    """As texts: the same values of two files can have different types."""
    return [dialect.as_text(_column(table.column(name))) for name in columns]


def _aliased(dialect: Dialect, table: Table, columns: Sequence[str]) -> list[exp.Expr]:
    return [each.as_(f"c{place}") for place, each in enumerate(_values(dialect, table, columns))]
