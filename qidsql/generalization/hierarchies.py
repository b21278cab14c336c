"""Hierarchies of the values of columns: proposed from types and contents, or declared; checked in the engine.

    hierarchies = hierarchies_of(ask, dialect, table, columns, declared)   # a few statements, only counts come back
    codes = Codes(dialect, table, hierarchies)                                # sends nothing

A level coarsens the one below. Level 0 is the value, level `height` of a column is `*`, one label for all values (there
is none where a column has one value). NULL is a value of its own on every level but `*`; its code is 0.

The code of a value is its path from the root: the place of its label among its siblings on each level, a few bits a
level, the coarsest highest. So two values have the same label on a level if their codes agree on the bits of a mask:

    codes.words            names of the integers that a row's codes are packed into: w0, or w0, w1, ... beyond 63 bits
    codes.mask(levels)     for a level of each column, the bits of each word that decide its class (a tuple)
    codes.classes(sums)    query: w0, ..., n: the rows of each class of equal codes (finest), and sums of leaf figures
    codes.rows(...)        query: w0, ... of every row, beside what else is asked of it
    codes.values(place)    query of one column: l0 (the value in comparable form), l1, l2, ... its labels as text,
                           leaves1, leaves2, ... how many values have that label, code (at its place in the word)
    codes.columns[place]   CodedColumn: name, word, start, widths (bits of each level), mask(level), leaves (values in
                           all, for the Loss measure), height
    codes.published(place, level)   the cell at that level as a node, over codes.rows (o0, ... and d0, ...): the value
                           itself in its own type at level 0, its label as text, or '*' ('*' for NULL as well)
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sqlglot import exp

from qidsql.core.tables import Column, Table, TableName, ValueKind, kind_of
from qidsql.errors import UsageError
from qidsql.sql import hierarchies as sql
from qidsql.sql.dialects import Dialect
from qidsql.sql.judged_classes import ClassRule
from qidsql.sql.row_codes import BITS
from qidsql.sql.templates import Row, Statement, integer, union_all
from qidsql.sql.text_dates import FORMATS, TextFormat, text_month, text_quarter, text_years
from qidsql.wording.texts import count, plural

Ask: TypeAlias = Callable[[Sequence[Statement[Any]]], list[Any]]
Hold: TypeAlias = Callable[[str, str], TableName | None]  # the rows of a query, and what for; as Engine.hold

TOP = "*"
WITHHELD = "withheld"  # the level of `*` by name
IN_A_FILE = "has levels of a file, which a printed statement does not contain; --into writes a copy"
FEW_NUMBERS = 8  # whole numbers; fewer are all or nothing
EXACT = ValueKind.WHOLE, ValueKind.DECIMAL  # numbers whose text tells how many digits they have
CODES = 10  # texts of equal length; fewer are all or nothing
SHORTEST, LONGEST = 3, 12  # of such a text
BINS = 128  # of a grid, at most
AGES = 3  # bins of 50 years, at most


@dataclass(frozen=True)
class Level:
    """A level between the values and `*`: its name, and the label of a value; None: lines list it."""

    name: str
    label: sql.Label | None = None
    width: int = 0  # of an interval of numbers
    key: sql.Label | None = None  # tells the labels apart as well, and is planned faster


@dataclass(frozen=True)
class ColumnHierarchy:
    """The levels of a column above its values and below `*`, finest first, with their figures, level 0 first."""

    column: Column
    levels: tuple[Level, ...]
    why: str
    source: str = ""  # what declares it, in words
    lines: tuple[tuple[str, ...], ...] = ()  # of a declared list, without its last level `*`
    table: Table | None = None  # whose columns `names` have such lines
    names: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()  # how many each level has, without NULL
    largest: tuple[int, ...] = ()  # how many of them have the same parent, at most
    null: bool = False  # some cells are NULL

    @property
    def listed(self) -> bool:
        """Whether lines list its values."""
        return bool(self.lines or self.names)

    @property
    def leaves(self) -> int:
        """The values in all, NULL being one."""
        return (self.labels[0] if self.labels else 0) + self.null

    @property
    def height(self) -> int:
        """The level of `*`; 0 if the column has one value."""
        return len(self.levels) + 1 if self.leaves > 1 else 0

    def name(self, level: int) -> str:
        """What stands in the column at this level."""
        if level == self.height and level:
            return WITHHELD
        return self.levels[level - 1].name if level else "as it is"

    def values(self, dialect: Dialect, table: Table) -> exp.Query:
        """The query for the values with their labels: l0, l1, ..."""
        if self.table is not None:
            return sql.values_of_table(dialect, self.table, self.names)
        if self.lines:
            return sql.listed_values(self.lines)
        return sql.labelled_values(dialect, table, self.column, [each.label for each in self.levels if each.label])

    def told_apart(self, dialect: Dialect, table: Table, levels: Iterable[int]) -> str:
        """The text of the query for the values with what tells the labels of these levels apart: l0, l1, ..."""
        if self.listed:
            return dialect.render(self.values(dialect, table))
        keys = {level: self.levels[level - 1].key or self.levels[level - 1].label for level in levels}
        given = {level: (key, bool(self.levels[level - 1].key)) for level, key in keys.items() if key}
        return sql.values_told_apart(dialect, table, self.column, given)

    def at(self, levels: Sequence[int]) -> "ColumnHierarchy":
        """This hierarchy with some of its levels between the values and `*`, by number; figures are to be counted."""
        return replace(self, levels=tuple(self.levels[level - 1] for level in levels))


# Proposals: candidates by type, of which those stay that merge something.


def kind_of_values(column: Column, dialect: Dialect) -> ValueKind | None:
    """The kind that decides which levels a column can have."""
    floats = ((ValueKind.FLOAT, dialect.floats),) if dialect.floats else ()
    return kind_of(column.type, (*dialect.recodable, *floats))


def dates_among(columns: Sequence[Column], dialect: Dialect) -> tuple[str, ...]:
    """The columns of dates: nearly every row can have a birthday of its own, and years are shared."""
    kinds = (ValueKind.DATE, ValueKind.TIMESTAMP)
    return tuple(column.name for column in columns if kind_of_values(column, dialect) in kinds)


def _dates(column: Column, timestamps: bool) -> list[Level]:
    day = [Level("day", sql.by_day)] if timestamps else []
    years = [Level(f"steps of {years} years", sql.by_years(years)) for years in (5, 10)]
    return [
        *day,
        Level("month", sql.by_month),
        Level("quarter", sql.by_quarter),
        Level("year", sql.by_years(1)),
        *years,
    ]


def _numbers(kind: ValueKind, longest: int) -> list[Level]:
    """`longest`: the characters of the longest number, so that all have less digits; 0 if that is not known."""
    whole, floating = kind is ValueKind.WHOLE, kind is ValueKind.FLOAT
    widths = [] if whole else [1]
    widths += [5, 10, 20, 50]
    widths += [first * 10**power for power in range(2, 8) for first in (1, 5)]
    widths = [width for width in widths if not longest or width <= max(50, 10**longest)]
    keys = {width: sql.steps_of(width) if whole else None for width in widths}
    return [Level(f"steps of {count(w)}", sql.by_width(w, whole, floating), w, keys[w]) for w in widths]


def _prefixes(length: int) -> list[Level]:
    return [Level(f"first {plural(n, 'character')}", sql.by_prefix(n, length)) for n in range(length - 1, 0, -1)]


def _text_dates(formats: Sequence[TextFormat]) -> list[Level]:
    """The levels of texts that are dates in these formats; of two, nobody can tell a month from a day."""
    written = formats[0]
    months = [Level("month", text_month(written)), Level("quarter", text_quarter(written))]
    years = [Level("year" if n == 1 else f"steps of {n} years", text_years(written, n)) for n in (1, 5, 10)]
    return years if len(formats) > 1 else [*months, *years]


def _candidates(hierarchy: ColumnHierarchy, dialect: Dialect, lengths: tuple[int, ...]) -> ColumnHierarchy:
    """The hierarchy with every level that its column could have."""
    column, kind = hierarchy.column, kind_of_values(hierarchy.column, dialect)
    if kind in (ValueKind.DATE, ValueKind.TIMESTAMP):
        return replace(hierarchy, levels=tuple(_dates(column, kind is ValueKind.TIMESTAMP)), why="dates")
    values, shortest, longest, *dates = lengths
    formats = [each for each, found in zip(FORMATS, dates, strict=False) if found == values]
    if formats and values >= CODES:
        why = f"texts that are dates ({' or '.join(each.name for each in formats)})"
        return replace(hierarchy, levels=tuple(_text_dates(formats)), why=why)
    if kind in (*EXACT, ValueKind.FLOAT):
        return replace(hierarchy, levels=tuple(_numbers(kind, longest)), why="numbers")
    if kind is ValueKind.TEXT and values >= CODES and shortest == longest and SHORTEST <= longest <= LONGEST:
        why = f"codes of {plural(longest, 'character')}"
        return replace(hierarchy, levels=tuple(_prefixes(longest)), why=why)
    return hierarchy


def _grid(hierarchy: ColumnHierarchy, labels: Sequence[int]) -> list[int]:
    """The levels of a grid that numbers are put on: nested, of 2 to BINS intervals, but none for few whole numbers."""
    by_width = {level.width: number for number, level in enumerate(hierarchy.levels, start=1)}
    ages = labels[by_width[50]] <= AGES and labels[by_width[20]] > 1
    widths = [width for width in by_width if width != (50 if ages else 20) and not (ages and width > 20)]
    if 1 not in by_width and labels[0] <= FEW_NUMBERS:
        return []
    return [by_width[width] for width in widths if 1 < labels[by_width[width]] <= BINS]


def _merging(hierarchy: ColumnHierarchy, labels: Sequence[int]) -> list[int]:
    """The levels that merge something (of a grid, a third), and leave more than one label."""
    levels = _grid(hierarchy, labels) if hierarchy.why == "numbers" else range(1, len(hierarchy.levels) + 1)
    found: list[int] = []
    for level in levels:
        before = labels[found[-1] if found else 0]
        if 1 < labels[level] < before and (hierarchy.why != "numbers" or 3 * labels[level] <= 2 * before):
            found.append(level)
    return found


def hierarchies_of(
    ask: Ask,
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    declared: Mapping[str, ColumnHierarchy] | None = None,
    proposed: Collection[str] | None = None,
) -> tuple[ColumnHierarchy, ...]:
    """A hierarchy for each column: the declared one, or by its type and contents. Three statements at most.

    `proposed`: the columns that get levels by their type and contents, by name; by default all. Raises UsageError (a
    declared one that does not fit its column: names the column and counts, no value), Stopped, StatementError.
    """
    names = [column.name for column in columns] if proposed is None else proposed
    return surveyed(ask, dialect, table, levels_of(ask, dialect, table, columns, declared or {}, names))


def levels_of(
    ask: Ask,
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    declared: Mapping[str, ColumnHierarchy],
    proposed: Collection[str],
) -> tuple[ColumnHierarchy, ...]:
    """The same without their figures, and so without a check of the declared ones. Two statements at most."""
    found = [declared.get(column.name, ColumnHierarchy(column, (), "all or nothing")) for column in columns]
    open_ = [place for place, each in enumerate(found) if not each.source and each.column.name in proposed]
    kinds = {place: kind_of_values(found[place].column, dialect) for place in open_}
    long = [(place, found[place], kind) for place, kind in kinds.items() if kind in (*EXACT, ValueKind.TEXT)]
    lengths = ask([_lengths(dialect, table, long)])[0] if long else {}
    for place in open_:
        found[place] = _candidates(found[place], dialect, lengths.get(place, (0, 0, 0)))
    leveled = [(place, found[place]) for place in open_ if found[place].levels]
    labels = ask([_labels(dialect, table, leveled)])[0] if leveled else {}
    for place, each in leveled:
        found[place] = each.at(_merging(each, labels[place]))
    return tuple(found)


def surveyed(
    ask: Ask, dialect: Dialect, table: Table, hierarchies: Sequence[ColumnHierarchy]
) -> tuple[ColumnHierarchy, ...]:
    """The hierarchies with their figures, checked. One statement. Raises as `hierarchies_of`."""
    [counted] = ask([_survey(dialect, table, hierarchies)])
    return tuple(_figured(each, place, counted) for place, each in enumerate(hierarchies))


def can_have_levels(column: Column, values: int, dialect: Dialect) -> bool:
    """Whether a column of so many values, or one less, can have levels by its type."""
    kind = kind_of_values(column, dialect)
    few = {ValueKind.WHOLE: FEW_NUMBERS, ValueKind.TEXT: CODES - 1}
    return kind is not None and values > few.get(kind, 1)


def _figured(
    hierarchy: ColumnHierarchy, place: int, counted: Mapping[tuple[int, int], Mapping[str, int]]
) -> ColumnHierarchy:
    """The hierarchy with its figures. Raises UsageError if it is none."""
    name, source = hierarchy.column.name, hierarchy.source or f"the levels of {hierarchy.column.name}"
    if missing := counted[place, MISSING]["labels"]:
        raise UsageError(f"{source} lacks {plural(missing, 'value')} of {name}; add each of them, or leave {name} out")
    figures = [counted[place, level] for level in range(len(hierarchy.levels) + 1)]
    for level, figure in enumerate(figures):
        if two := figure["with_two_parents"]:
            has = "label has" if two == 1 else "labels have"
            below = hierarchy.name(level) if level else "the values"
            raise UsageError(f"{source}: {count(two)} {has} two parents (of {below} of {name}); each needs one")
        if figure["without"]:
            raise UsageError(
                f"{source}: {plural(figure['without'], 'value')} of {name} without a label; each needs one"
            )
    return replace(
        hierarchy,
        labels=tuple(figure["labels"] for figure in figures),
        largest=tuple(figure["largest"] for figure in figures),
        null=counted[place, NULLS]["labels"] > 0,
    )


NULLS, MISSING = -1, -2  # in place of a level, in the survey
FIGURES = ("labels", "largest", "with_two_parents", "without")


def _survey(
    dialect: Dialect, table: Table, hierarchies: Sequence[ColumnHierarchy]
) -> Statement[dict[tuple[int, int], dict[str, int]]]:
    """The figures of every level, by place and level; as `labels` of NULLS and MISSING, the NULLs of a column and the
    values that its lines lack."""
    parts: list[exp.Query] = []
    for place, each in enumerate(hierarchies):
        own = f"values{place}"
        for level in range(len(each.levels) + 1):
            parts.append(sql.level_figures(place, level, level == len(each.levels), own))
        zeros = [exp.Literal.number(0)] * 3
        null = exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=sql.original(each.column)))
        nulls = sql.audited(table, exp.Literal.number(place), exp.Literal.number(NULLS), null, *zeros)
        parts.append(nulls)
        outside: exp.Query = exp.select(exp.Literal.number(place).as_("place"), exp.Literal.number(0).as_("missing"))
        if each.listed:
            outside = sql.values_outside_file(dialect, table, each.column, place, own)
        subquery = outside.subquery("missed")
        parts.append(exp.select("place", exp.Literal.number(MISSING), "missing", *zeros).from_(subquery))
    query = union_all(parts)
    for place, each in enumerate(hierarchies):
        query = query.with_(f"values{place}", as_=each.values(dialect, table), copy=False)

    def read(rows: list[Row]) -> dict[tuple[int, int], dict[str, int]]:
        cells = [tuple(map(integer, row)) for row in rows]
        return {(place, level): dict(zip(FIGURES, figures, strict=True)) for place, level, *figures in cells}

    return Statement(dialect.render(query), "levels of values", read, scans=2 * len(hierarchies))


def _labels(
    dialect: Dialect, table: Table, hierarchies: Sequence[tuple[int, ColumnHierarchy]]
) -> Statement[dict[int, list[int]]]:
    """How many labels each level of these columns has."""
    most = max(len(each.levels) for _, each in hierarchies)
    parts = [
        (place, len(each.levels), each.told_apart(dialect, table, range(1, len(each.levels) + 1)))
        for place, each in hierarchies
    ]

    def read(rows: list[Row]) -> dict[int, list[int]]:
        return {integer(place): list(map(integer, figures)) for place, *figures in rows}

    return Statement(sql.labels_of_values(parts, most), "labels of values", read, scans=len(parts))


def _lengths(
    dialect: Dialect, table: Table, columns: Sequence[tuple[int, ColumnHierarchy, ValueKind]]
) -> Statement[dict[int, tuple[int, ...]]]:
    """For each of these columns how many values it has if they are texts, the characters of the shortest and longest
    one, and how many of the texts are dates in each format, where the engine knows dates."""
    parts: list[exp.Query] = []
    texts = any(kind is ValueKind.TEXT for *_, kind in columns)
    formats = FORMATS if texts and any(kind is ValueKind.DATE for kind, _ in dialect.recodable) else ()
    for place, each, kind in columns:
        own, text, number = sql.original(each.column), kind is ValueKind.TEXT, exp.Literal.number(place)
        value = own if text else exp.Cast(this=own, to=dialect.type(dialect.text))
        length, zero = exp.Length(this=value), exp.Literal.number(0)
        figures: list[exp.Expr] = [exp.Count(this=own.copy()) if text else zero.copy()]
        figures += [exp.Min(this=length), exp.Max(this=length.copy())]
        figures += [_those(written.of(own)) if text else zero.copy() for written in formats]
        if not text:
            parts.append(sql.audited(table, number, *figures))
            continue
        values = sql.audited(table, own.copy()).distinct()
        parts.append(exp.select(number, *figures).from_(values.subquery("found")))

    def read(rows: list[Row]) -> dict[int, tuple[int, ...]]:
        return {integer(place): tuple(map(integer, figures)) for place, *figures in rows}

    return Statement(dialect.render(union_all(parts)), "lengths of values", read, scans=len(columns))


def _those(condition: exp.Expr) -> exp.Expr:
    """How many rows meet a condition."""
    return exp.Count(this=exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))]))


# Codes.


@dataclass(frozen=True)
class CodedColumn:
    """Where the codes of a column are: in this word, from bit `start` on; `widths` are the bits of each level."""

    hierarchy: ColumnHierarchy
    widths: tuple[int, ...]
    word: int
    start: int

    @property
    def name(self) -> str:
        return self.hierarchy.column.name

    @property
    def height(self) -> int:
        return self.hierarchy.height

    @property
    def leaves(self) -> int:
        return self.hierarchy.leaves

    @property
    def shifts(self) -> list[int]:
        """The lowest bit of each level."""
        return [self.start + sum(self.widths[:level]) for level in range(len(self.widths))]

    def mask(self, level: int) -> int:
        """The bits of its word that tell apart the labels of a level; none for `*`."""
        below, all_bits = sum(self.widths[:level]), sum(self.widths)
        return ((1 << all_bits) - 1) >> below << below + self.start


def _widths(hierarchy: ColumnHierarchy) -> tuple[int, ...]:
    *below, top = hierarchy.largest
    return (*((most - 1).bit_length() if most else 0 for most in below), top.bit_length())


class Codes:
    """The packed codes of a table's columns. See the docstring of the module. Raises UsageError (too many bits)."""

    def __init__(self, dialect: Dialect, table: Table, hierarchies: Sequence[ColumnHierarchy]) -> None:
        self._dialect, self._table = dialect, table
        used: list[int] = []
        columns: dict[int, CodedColumn] = {}
        bits = [sum(_widths(each)) for each in hierarchies]
        for place in sorted(range(len(bits)), key=lambda place: -bits[place]):
            if bits[place] > BITS:
                name = hierarchies[place].column.name
                raise UsageError(
                    f"the codes of {name} take {bits[place]} bits, {BITS} at most fit; give it fewer levels"
                )
            word = next((word for word, taken in enumerate(used) if taken + bits[place] <= BITS), len(used))
            if word == len(used):
                used.append(0)
            columns[place] = CodedColumn(hierarchies[place], _widths(hierarchies[place]), word, used[word])
            used[word] += bits[place]
        self.columns = tuple(columns[place] for place in range(len(hierarchies)))
        self.words = tuple(f"w{word}" for word in range(len(used)))

    def mask(self, levels: Sequence[int]) -> tuple[int, ...]:
        """The bits of each word that decide the class of a row at these levels."""
        masks = [0] * len(self.words)
        for column, level in zip(self.columns, levels, strict=True):
            masks[column.word] |= column.mask(level)
        return tuple(masks)

    def values(self, place: int) -> exp.Query:
        """The query for the coded values of a column."""
        column = self.columns[place]
        return sql.coded_values(column.hierarchy.values(self._dialect, self._table), column.shifts)

    def rows(self, others: Sequence[exp.Expr] = (), copied: Sequence[Column] = ()) -> exp.Query:
        """The query for the words of every row, beside other expressions of o0, o1, ... (the columns, then `copied`)
        and d0, d1, ... (`values` of each column; NULL where the cell is)."""
        places: list[list[int]] = [[] for _ in self.words]
        for place, column in enumerate(self.columns):
            places[column.word].append(place)
        return sql.rows_with_codes(
            self._dialect,
            self._table,
            [each.hierarchy.column for each in self.columns],
            [each.hierarchy.listed for each in self.columns],
            [self.values(place) for place in range(len(self.columns))],
            places,
            others,
            copied,
        )

    def classes(self, sums: Sequence[tuple[int, int]] = (), carried: Sequence[tuple[str, Column]] = ()) -> exp.Query:
        """The query for the classes of equal codes. For each (place, level) of `sums`: `g_PLACE_LEVEL`, the sum over
        the rows of the leaves under the label of that level, less 1. `carried`: further columns, under these names, on
        which a class agrees as well."""
        first = len(self.columns)
        own: list[exp.Expr] = [
            exp.alias_(
                self._dialect.comparable(exp.column(f"o{first + place}", table="originals"), column.comparison), name
            )
            for place, (name, column) in enumerate(carried)
        ]
        others = []
        for place, level in sums:
            leaves = exp.func("COALESCE", exp.column(f"leaves{level}", table=f"d{place}"), exp.Literal.number(1))
            others.append(exp.alias_(exp.Sub(this=leaves, expression=exp.Literal.number(1)), f"g_{place}_{level}"))
        rows = self.rows([*own, *others], [column for _, column in carried])
        return sql.coded_classes(rows, [*self.words, *(name for name, _ in carried)], [each.alias for each in others])

    def published(self, place: int, level: int) -> exp.Expr:
        """The cell of a column at a level, in `rows`."""
        if not level:
            return exp.column(f"o{place}", table="originals")
        if level == self.columns[place].height:
            return exp.Literal.string(TOP)
        return exp.column(f"l{level}", table=f"d{place}")

    def copy(
        self,
        levels: Sequence[int],
        rule: ClassRule,
        copied: Sequence[Column],
        carried: Sequence[tuple[str, Column]] = (),
    ) -> exp.Query:
        """The query for a copy with its columns at these levels and other columns as they are, without the rows in
        classes that miss a rule by their own rows. `carried`: what the rule is about."""
        places = {column.name: place for place, column in enumerate(self.columns)}
        others = [column for column in copied if column.name not in places]
        cells = []
        for number, column in enumerate(copied):
            if column.name in places:
                cell = self.published(places[column.name], levels[places[column.name]])
            else:
                cell = exp.column(f"o{len(self.columns) + others.index(column)}", table="originals")
            cells.append(exp.alias_(cell, f"c{number}"))
        names, rows = [each.name for each in copied], self.rows(cells, others)
        classes = None if rule.plain else self.classes(carried=carried)
        return sql.rows_at_levels(rows, self.mask(levels), names, rule, classes)

    def labelled_copy(self, levels: Sequence[int], k: int, copied: Sequence[Column]) -> exp.Query:
        """The query for the same rows by the labels, without codes: those of values that come later have no place
        among the codes. Raises UsageError for levels of a file."""
        names = [column.name for column in copied]
        cells: list[exp.Expr] = [sql.original(column) for column in copied]
        deciding: list[exp.Expr] = []
        for column, level in zip(self.columns, levels, strict=True):
            own, place = column.hierarchy.column, names.index(column.name)
            if level:
                cells[place] = self._label(column, level)
                deciding.append(exp.column(f"c{place}"))
            else:
                deciding.append(self._dialect.comparable(exp.column(f"c{place}"), own.comparison))
        return sql.rows_with_labels(self._table, cells, deciding, names, k)

    def _label(self, column: CodedColumn, level: int) -> exp.Expr:
        if level == column.height:
            return exp.Literal.string(TOP)
        label = column.hierarchy.levels[level - 1].label
        if label is None:
            raise UsageError(f"{column.name} {IN_A_FILE}")
        return sql.labelled(self._dialect, sql.value_to_label(self._dialect, column.hierarchy.column), label)
