"""The columns on which two tables are joined: named by the user, or all that are joinable by their values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from qidsql.core.tables import (
    NUMBERS,
    Attribute,
    CatalogColumn,
    CatalogTable,
    Comparison,
    Table,
    ValueKind,
    comparable_on_request,
    compared_as,
)
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName, UsageError, redacted
from qidsql.linkage.containment import ContainmentSearch, compared_column
from qidsql.linkage.joinable import CONTAINED, Containment, names_agree
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import condition, rows_node
from qidsql.sql.values_in_common import TABLE
from qidsql.wording.texts import few, plural

Sides = tuple[CatalogTable, CatalogTable]


@dataclass(frozen=True, slots=True)
class JoinedColumns:
    """Two columns that are joined with each other."""

    left: str
    right: str

    def __str__(self) -> str:
        return self.left if self.left == self.right else f"{self.left} = {self.right}"


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """A column of each table, and the kind in which their values are compared; None: both have one type without."""

    left: CatalogColumn
    right: CatalogColumn
    kind: ValueKind | None

    @property
    def names(self) -> JoinedColumns:
        return JoinedColumns(self.left.name, self.right.name)

    def values(self, dialect: Dialect, sides: Sides) -> tuple[exp.Expr, exp.Expr]:
        """Both columns in the form in which they are compared. Values of one type are not converted."""
        one, other = ((table, column) for table, column in zip(sides, (self.left, self.right), strict=True))
        if self.kind is not ValueKind.TEXT and _one_type(self.left, self.right):
            own = (each.comparison for each in (self.left, self.right))
            numbers = self.kind in NUMBERS  # who joins these takes 70 and 70.00 for equal
            equal = (Comparison.VALUE, Comparison.PUBLISHED if numbers else Comparison.VALUE)
            strictest = next((each for each in own if each not in equal), Comparison.VALUE)
            left, right = (dialect.comparable(joined_column(each), strictest) for each in (self.left, self.right))
            return left, right
        assert self.kind is not None
        return _converted(dialect, *one, self.kind), _converted(dialect, *other, self.kind)


def _converted(dialect: Dialect, table: CatalogTable, column: CatalogColumn, kind: ValueKind) -> exp.Expr:
    digits = kind in NUMBERS and column.kind is ValueKind.TEXT
    return compared_column(Attribute(table.name, column.name), kind, dialect, digits).value(dialect)


@dataclass(slots=True)
class JoinColumns:
    """The pairs of columns to join, and what is open about them.

    `compared`: all pairs measured. `unseen`: columns that could not be compared. `nothing`: why no values were
    compared at all, if so. `unfinished`: the parts of the search that are not done.
    """

    sides: Sides | None = None
    pairs: list[ColumnPair] = field(default_factory=list)
    compared: list[Containment] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    nothing: str = ""
    unfinished: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[JoinedColumns, ...]:
        return tuple(pair.names for pair in self.pairs)

    @property
    def near(self) -> int:
        """The number of pairs of columns outside the join that are contained, if only by accident."""
        if self.sides is None:
            return 0
        left, right = (side.name for side in self.sides)
        used = {Attribute(left, pair.left.name) for pair in self.pairs}
        used |= {Attribute(right, pair.right.name) for pair in self.pairs}
        return sum(
            not each.joinable and each.strength >= CONTAINED and not {each.left, each.right} & used
            for each in self.compared
        )

    @property
    def doubts(self) -> str:
        """Other columns that might be joined, in words; empty if the user named the columns."""
        parts = [f"{plural(self.near, 'pair')} of columns not taken (see below)"] if self.near else []
        if self.unseen:
            parts.append(f"{plural(len(self.unseen), 'column')} not compared ({few(self.unseen, 6)})")
        return " and ".join(parts)


def listed_sides(engine: Engine, left: Table, right: Table) -> Sides:
    """The two tables as listed in the catalog. Raises UsageError if they are one, and as `Engine.catalog`."""
    if left.name == right.name:
        raise UsageError(f"{left.name} is named twice; name two tables")
    in_catalog = {table.name: table for table in engine.catalog().tables}
    listed, other = (in_catalog.get(each.name) or engine.listed(each.name) for each in (left, right))
    return _compared_as_described(listed, left), _compared_as_described(other, right)


def without_withheld(sides: Sides, withheld: Sequence[str]) -> Sides:
    """The two tables; the first without columns that are not published. Raises UnknownName."""
    published, other = sides
    gone = {column_named(name, published) for name in withheld}
    return replace(published, columns=tuple(each for each in published.columns if each not in gone)), other


def _compared_as_described(listed: CatalogTable, table: Table) -> CatalogTable:
    """The table of the catalog; the description of a single table knows more of how its columns are compared."""
    described = {column.name: column.comparison for column in table.columns}
    columns = (replace(each, comparison=described.get(each.name, each.comparison)) for each in listed.columns)
    return replace(listed, columns=tuple(columns))


def named_columns(given: Iterable[str], sides: Sides) -> JoinColumns:
    """The pairs named by --on a=b. No statement. Raises UsageError, UnknownName."""
    return JoinColumns(sides, list(dict.fromkeys(_named(typed, *sides) for typed in given)))


def columns_to_join(
    engine: Engine,
    sides: Sides,
    given: Iterable[str],
    max_statements: int | None,
    deadline: float | None,
    on_stage: Callable[[str], None],
) -> JoinColumns:
    """The pairs of columns that the user named; if none, all joinable ones.

    To find them takes about one statement per kind of columns, and one for each pair whose values are counted; one of
    `max_statements` is left for the join. A stop is reported in `unfinished` and not raised. Raises UnknownName.
    """
    if given:
        return named_columns(given, sides)
    if max_statements is not None:
        max_statements -= 1
    measured = ContainmentSearch(
        engine, sides, everything=True, max_statements=max_statements, deadline=deadline, on_stage=on_stage
    ).run()
    unseen = [
        str(Attribute(table.name, column.name))
        for table in sides
        for column in table.columns
        if not column.readable or column.kind is None
    ]
    nothing = _nothing_compared(sides, measured.valued)
    pairs = list(_shared(measured.containments, sides))
    return JoinColumns(sides, pairs, measured.containments, unseen, nothing, measured.unfinished)


def joined_source(table: Table) -> exp.Expr:
    """The rows of a table as a node to select from, under the alias that the columns of a pair refer to."""
    if table.condition is None:
        return exp.alias_(rows_node(table), TABLE, table=True)
    columns = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in table.columns if column.readable]
    rows = exp.select(*columns).from_(rows_node(table)).where(condition(table))
    return rows.subquery(TABLE)


def joined_column(column: CatalogColumn) -> exp.Expr:
    """A column of such a source as a node."""
    return exp.column(exp.to_identifier(column.name, quoted=True), table=exp.to_identifier(TABLE))


def columns_left_out(sides: Sides, joined: Iterable[ColumnPair]) -> tuple[str, ...]:
    """Columns left out of the comparison, with the reason."""
    notes = []
    named = [column for pair in joined if pair.kind is None for column in (pair.left, pair.right)]
    for table in sides:
        closed = [column.name for column in table.columns if not column.readable]
        rest = [column for column in table.columns if column.readable and column not in named]
        others = [column.name for column in rest if column.kind is None]
        if closed:
            notes.append(f"not readable in {table.name}: {', '.join(closed)}")
        if others:
            notes.append(f"not compared in {table.name}, by their types: {', '.join(others)}")
    return tuple(notes)


def column_named(typed: str, table: CatalogTable) -> CatalogColumn:
    """The column of that name; surrounding spaces and letter case count only where they distinguish two columns.

    Raises UnknownName.
    """
    for same in (str, str.strip, lambda name: name.strip().casefold()):
        found = [column for column in table.columns if same(column.name) == same(typed)]
        if len(found) == 1:
            return found[0]
    raise UnknownName("column", [typed], str(table.name), [column.name for column in table.columns])


def _named(typed: str, left: CatalogTable, right: CatalogTable) -> ColumnPair:
    """The pair of columns named by --on a=b. Raises UsageError, UnknownName."""
    parts = typed.split("=")
    if len(parts) < 2:
        raise UsageError(f"--on must be a pair of columns such as zip=postcode, got {typed}")
    wrong: UnknownName | None = None
    for place in range(1, len(parts)):  # a name may contain the sign itself
        try:
            one, other = column_named("=".join(parts[:place]), left), column_named("=".join(parts[place:]), right)
        except UnknownName as error:
            wrong = wrong or error
            continue
        kinds = [column.kind for column in (one, other)]
        kind = None if kinds[0] is None or kinds[1] is None else comparable_on_request(kinds[0], kinds[1])
        if kind is None and not _one_type(one, other):
            raise UsageError(
                f"--on {typed}: {one.type} and {other.type} cannot be compared; convert them to one type in a view"
            )
        return ColumnPair(one, other, kind)
    assert wrong is not None
    if redacted(typed) != typed:  # half of it alone would not be recognised as a secret
        raise UnknownName("pair of columns", [typed], f"{left.name} and {right.name}", ())
    raise wrong


def _one_type(one: CatalogColumn, other: CatalogColumn) -> bool:
    """Whether both columns have one type, whose own equality decides: a conversion could merge two values of it."""
    return one.type == other.type


def _shared(found: Sequence[Containment], sides: Sides) -> Iterator[ColumnPair]:
    """The joinable pairs of columns, each column in at most one pair: equal names first, then the strongest."""
    left, right = sides
    used: set[Attribute] = set()
    order = sorted(found, key=lambda each: (not names_agree(each.left, each.right), -each.strength))
    for each in order:
        if each.joinable and not used & {each.left, each.right}:
            used |= {each.left, each.right}
            one, other = (each.left, each.right) if each.left.table == left.name else (each.right, each.left)
            yield ColumnPair(
                column_named(one.column, left), column_named(other.column, right), ValueKind(each.compared_as)
            )


def _nothing_compared(sides: Sides, valued: Iterable[tuple[Attribute, ValueKind]]) -> str:
    """Why no value of one table could be compared with one of the other; empty if some were.

    Only kinds that both tables have columns of are considered: a table without a value in these is named.
    """
    kinds = [{kind for each, kind in valued if each.table == table.name} for table in sides]
    if any(compared_as(one, other) for one in kinds[0] for other in kinds[1]):
        return ""
    declared = [{column.kind for column in table.columns if column.readable} - {None} for table in sides]
    if not any(compared_as(one, other) for one in declared[0] for other in declared[1] if one and other):
        return "they have no columns of one kind"
    empty = [str(table.name) for table, found in zip(sides, kinds, strict=True) if not found]
    return f"{' and '.join(empty) or 'one of them'} has no value in the columns that both could share"
