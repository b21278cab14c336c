"""Columns of different tables whose values contain one another, measured in the engine.

Most pairs are ruled out by type and by a first pass (a statement for each kind of values): ranges that do not overlap,
too many values to be contained. If many are left, a sample of each column's values is searched in all other columns,
which decides nearly all of them. The remaining pairs are counted exactly, many pairs in a statement, until every
column is joined with the columns it belongs to. NULL is no value. Numbers are compared as numbers, texts as texts byte
by byte; texts are compared with numbers if they are nearly all digits, as the numbers they represent (a csv file reads
them as numbers, a database stores texts). `joinable` has the rule for which columns are joinable.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import islice
from math import ceil, comb
from typing import TypeVar

from sqlglot import exp

from qidsql.core.tables import NUMBERS, WITH_DISTANCES, Attribute, CatalogTable, ValueKind, compared_as
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, BudgetSpent, StatementError, Stopped
from qidsql.linkage.joinable import (
    CONTAINED,
    VALUES_OF_JOINS,
    Components,
    Containment,
    joinable,
    names_agree,
    names_in_joins,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import Statement
from qidsql.sql.values_in_common import (
    ColumnFacts,
    ComparedColumn,
    GroupMember,
    Overlap,
    SampleCounts,
    column_ranges,
    sampled_in_common,
    values_in_common,
)
from qidsql.wording.texts import plural

Answer = TypeVar("Answer")
Pair = tuple[int, int]  # two columns by their numbers; if the order counts, contained and container

ABOUT = Fraction(5, 4)  # the largest error of distinct counts in the first pass, in either direction
# distinct values in the first pass: columns of fewer have fewer than VALUES_OF_JOINS
SURELY_FEW = ceil(VALUES_OF_JOINS / ABOUT)
SAMPLE_FROM = 200  # pairs; fewer are counted exactly at once
LEAST_SAMPLE = 128  # least size of a column's sample, if it has as many values
SAMPLE_COLUMNS = 8192  # in one statement, as samples and again as columns that may contain them
DOUBT = 10**5  # a sample of contained values misleads once in so many times
VALUES_PER_STATEMENT = 20_000_000  # values read and looked up in one statement of exact counts
COLUMNS_AT_ONCE = 128  # in one statement of exact counts; all of them take memory at the same time


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column whose values can be compared. `digits`: only its texts that are all digits, as whole numbers."""

    attribute: Attribute
    kind: ValueKind
    digits: bool = False


@dataclass(slots=True)
class Containments:
    """The findings, and the parts that are not done."""

    containments: list[Containment] = field(default_factory=list)
    valued: set[tuple[Attribute, ValueKind]] = field(default_factory=set)  # columns that have a value, with its kind
    empty: list[Attribute] = field(default_factory=list)  # columns without any value
    by_names: list[Attribute] = field(
        default_factory=list
    )  # compared only with columns of matching names: see `joinable`
    counted: int = 0  # pairs counted exactly
    unfinished: list[str] = field(default_factory=list)


class ContainmentSearch:
    """One search for containment between the columns of tables, under a budget.

    `everything`: also measure pairs contained by accident, pairs with only their names in common, and pairs joined
    through others. `known`: pairs that are the same already. `apart`: pairs that need no measuring.
    """

    def __init__(
        self,
        engine: Engine,
        tables: Sequence[CatalogTable],
        *,
        known: Iterable[frozenset[Attribute]] = (),
        apart: Iterable[frozenset[Attribute]] = (),
        everything: bool = False,
        max_statements: int | None = None,
        deadline: float | None = None,
        on_stage: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self._engine = engine
        self._everything = everything
        self._left = max_statements
        self._deadline = deadline
        self._on_stage = on_stage
        self._facts: dict[int, ColumnFacts] = {}
        self._estimates: dict[Pair, float] = {}  # of containment, from samples; they only order the work
        self._versions = {table.name: table.version for table in tables}
        own = list(candidates(tables))
        self._columns = [*own, *_with_digits(own)]
        self._joined = Components()
        self._apart = {frozenset(pair) for pair in apart}
        places: dict[Attribute, int] = {column.attribute: number for number, column in enumerate(own)}
        self._read = {places[column.attribute]: len(own) + n for n, column in enumerate(self._columns[len(own) :])}
        self._texts = {digits: texts for texts, digits in self._read.items()}
        for texts, digits in self._read.items():
            self._joined.join(texts, digits)
        for pair in known:
            self._apart.add(pair)
            self._joined.join(*(places.setdefault(each, len(self._read) + len(places)) for each in sorted(pair)))
        self.found = Containments()

    def run(self) -> Containments:
        """Run the whole search, as far as the budget allows; a stop is reported in `unfinished` and not raised."""
        try:
            self._look()
            pairs = {self._ordered(*pair) for pair in islice(self._possible_pairs(), 2 * SAMPLE_FROM)}
            self._count(pairs if len(pairs) < SAMPLE_FROM else self._sampled())
        except (Stopped, StatementError, AccessError) as stop:
            self.found.unfinished.append(str(stop))
        except KeyboardInterrupt:
            self.found.unfinished.append("interrupted")
        self.found.containments.sort(key=lambda each: (not each.joinable, -each.strength, each.left, each.right))
        return self.found

    # First pass: minimum, maximum and distinct count.

    def _look(self) -> None:
        own = [number for number, column in enumerate(self._columns) if not column.digits]
        self._on_stage(f"first pass over {plural(len(own), 'column')}")
        numbers = [number for number in own if self._columns[number].kind in NUMBERS]
        looked = self._ranges([number for number in own if self._columns[number].kind not in NUMBERS])
        digits = [extra for text, extra in self._read.items() if text in self._facts and self._facts[text].digits]
        looked |= self._ranges([*numbers, *digits])
        for text, extra in self._read.items():
            if extra in self._facts and not self._nearly_all(extra, text):
                del self._facts[extra]
        self.found.valued = {(self._columns[n].attribute, self._columns[n].kind) for n in self._facts}
        self.found.empty = [self._columns[n].attribute for n in own if n in looked and n not in self._facts]
        if not self._everything:
            chance = {self._columns[n].attribute for n in self._facts if self._at_hand(n) or self._few(n)}
            self.found.by_names = sorted(chance)

    def _ranges(self, numbers: Iterable[int]) -> set[int]:
        """Fetch facts of the columns whose values others could share; return these columns.

        All of an order in one statement, however many: its ranks are among the columns of the statement.
        """
        groups: dict[ValueKind, dict[object, list[int]]] = {}
        for number in numbers:
            groups.setdefault(self._order(number), {}).setdefault(self._columns[number].attribute.table, []).append(
                number
            )
        shared = {
            order: tables
            for order, tables in groups.items()
            if len(tables) > 1 or any(number in self._read for table in tables.values() for number in table)
        }
        statements = [
            column_ranges(
                self._engine.dialect,
                [[(number, self._compared(number, order), None) for number in table] for table in tables.values()],
            )
            for order, tables in shared.items()
        ]
        self._ask(statements, lambda place, facts: self._facts.update(facts))
        return {number for tables in shared.values() for table in tables.values() for number in table}

    def _nearly_all(self, digits: int, texts: int) -> bool:
        """Whether nearly all texts of a column are digits, judging by the first pass."""
        return self._facts[digits].distinct * ABOUT**2 >= CONTAINED * self._facts[texts].distinct

    def _order(self, number: int) -> ValueKind:
        """The kind in which a column's range and samples are compared with those of others: all numbers as one."""
        kind = self._columns[number].kind
        return ValueKind.FLOAT if kind in NUMBERS else kind

    def _at_hand(self, number: int) -> bool:
        """Whether the column has nearly every number from about zero on: others are contained in it by accident."""
        return self._facts[number].crowded and not self._facts[number].far

    def _few(self, number: int) -> bool:
        """Whether the column has so few values that others contain them by accident."""
        return self._facts[number].distinct < SURELY_FEW

    # Pairs that may be contained, judging by the first pass.

    def _possible(self, small: int, big: int) -> bool:
        """Whether one column may be contained in another: another table, overlapping range, enough values."""
        one, other = self._columns[small], self._columns[big]
        few, many = self._facts[small], self._facts[big]
        return (
            few.distinct <= most_contained(many.distinct)
            and few.low <= many.high
            and many.low <= few.high
            and one.attribute.table != other.attribute.table
            and not (one.digits and other.digits)
            and (one.kind is other.kind or compared_as(one.kind, other.kind) is not None)
            and not (self._apart and frozenset((one.attribute, other.attribute)) in self._apart)
        )

    def _groups(self) -> Iterator[list[tuple[list[int], list[int]]]]:
        """For each form of comparison: groups of columns that may be contained, and of columns that may contain them.

        In the first group containment is evidence; in the others the names may match as well.
        """
        by_order: dict[ValueKind, list[int]] = {}
        for number in sorted(self._facts):
            by_order.setdefault(self._order(number), []).append(number)
        for numbers in by_order.values():
            smalls = [number for number in numbers if self._everything or not self._few(number)]
            bigs = [number for number in smalls if self._everything or not self._at_hand(number)]
            groups = [(smalls, bigs)]
            if not self._everything:
                by_name: dict[tuple[str, ...], list[int]] = {}
                for number in numbers:
                    for name in names_in_joins(self._columns[number].attribute):
                        by_name.setdefault(name, []).append(number)
                groups += map(self._by_name_alone, by_name.values())
            yield groups

    def _by_name_alone(self, same: list[int]) -> tuple[list[int], list[int]]:
        """The columns of possibly matching names that may be contained, and may contain, if values are no evidence."""
        few, at_hand = [n for n in same if self._few(n)], [n for n in same if self._at_hand(n)]
        return same if at_hand else few, same if few else at_hand

    def _possible_pairs(self) -> Iterator[Pair]:
        """All (contained, container) pairs that would be evidence, some of them several times."""
        for groups in self._groups():
            for place, (smalls, bigs) in enumerate(groups):
                for small in smalls:
                    for big in bigs:
                        if self._possible(small, big) and (not place or self._agree(small, big)):
                            yield small, big

    def _agree(self, one: int, other: int) -> bool:
        return names_agree(self._columns[one].attribute, self._columns[other].attribute)

    def _ordered(self, one: int, other: int) -> Pair:
        """The pair, with the column that seems to have fewer values first."""
        return min((one, other), (other, one), key=lambda pair: (self._facts[pair[0]].distinct, pair))

    # Samples of the values.

    def _sampled(self) -> set[Pair]:
        """The pairs that would be evidence and that samples do not rule out."""
        self._on_stage(f"samples of the values of {plural(len(self._facts), 'column')}")
        statements = []
        for groups in self._groups():
            smalls = [self._in_group(number, place) for place, (some, _) in enumerate(groups) for number in some]
            bigs = [self._in_group(number, place) for place, (_, some) in enumerate(groups) for number in some]
            for some_smalls in _blocks(smalls):
                for some_bigs in _blocks(bigs):
                    statements.append(sampled_in_common(self._engine.dialect, some_smalls, some_bigs))
        left: set[Pair] = set()

        def keep(place: int, answer: SampleCounts) -> None:
            for (small, big), held in answer.found_in.items():
                size, whole = answer.sizes[small], self._share(small) == 1
                if held >= enough(size, whole) and self._possible(small, big) and self._meant(small, big):
                    pair = self._ordered(small, big)
                    self._estimates[pair] = max(held / size, self._estimates.get(pair, 0))
                    left.add(pair)

        self._ask(statements, keep)
        return left

    def _meant(self, small: int, big: int) -> bool:
        """Whether containment of one column in another is evidence."""
        return self._everything or not (self._few(small) or self._at_hand(big)) or self._agree(small, big)

    def _in_group(self, number: int, group: int) -> GroupMember:
        return GroupMember(number, group, self._compared(number, self._order(number)), self._share(number))

    def _share(self, number: int) -> int:
        """A power of 2: one value in so many makes a sample of at least LEAST_SAMPLE of a column's values."""
        return 1 << max(0, (self._facts[number].distinct // LEAST_SAMPLE).bit_length() - 1)

    # Exact counts.

    def _count(self, pairs: Iterable[Pair]) -> None:
        """Count the pairs, best first; without `everything`, skip those whose columns are joined by others already."""
        best_first = sorted(pairs, key=lambda pair: (not self._agree(*pair), -self._estimates.get(pair, 0), pair))
        still_open = dict.fromkeys(best_first)
        chosen = list(still_open) if self._everything else self._joined.forest(still_open)
        try:
            while chosen:
                self._on_stage(f"counting values in common: {plural(len(self._wanted(still_open)), 'pair')} left")
                self._count_some(chosen, still_open)
                chosen = self._wanted(still_open)
                if sum(map(self._work, chosen)) > VALUES_PER_STATEMENT:
                    chosen = self._joined.forest(chosen)
        finally:
            left = self._wanted(still_open)
            if left:
                self.found.unfinished.append(f"{plural(len(left), 'pair')} of columns were not counted")

    def _wanted(self, still_open: Iterable[Pair]) -> list[Pair]:
        return [pair for pair in still_open if self._everything or not self._joined.same(*pair)]

    def _work(self, pair: Pair) -> int:
        """The number of values looked up for a pair."""
        return self._facts[pair[0]].distinct

    def _count_some(self, chosen: Sequence[Pair], still_open: dict[Pair, None]) -> None:
        blocks = [
            (kind, block) for kind, of_kind in self._by_kind(chosen).items() for block in self._statements(of_kind)
        ]
        statements = []
        for kind, block in blocks:
            places = {number: place for place, number in enumerate(dict.fromkeys(n for pair in block for n in pair))}
            columns = [self._compared(number, kind) for number in places]
            wanted = [(places[one], places[other]) for one, other in block]
            statements.append(values_in_common(self._engine.dialect, columns, wanted))

        def keep(place: int, answer: dict[Pair, Overlap]) -> None:
            kind, block = blocks[place]
            for pair, found in zip(block, answer.values(), strict=True):
                del still_open[pair]
                self.found.counted += 1
                left, right = sorted(pair, key=self._place)
                found = found if pair == (left, right) else found.reversed()
                one, other = self._columns[left], self._columns[right]
                read = next((str(each.attribute) for each in (one, other) if each.digits), None)
                containment = joinable(one.attribute, other.attribute, kind, found, read)
                if containment.joinable or self._everything:
                    self.found.containments.append(containment)
                if containment.joinable:
                    self._joined.join(left, right)

        self._ask(statements, keep)

    def _statements(self, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
        """The pairs in blocks, one for a statement; pairs that share a column are kept together."""
        block: list[Pair] = []
        columns: set[int] = set()
        work = 0
        for pair in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
            new = [number for number in pair if number not in columns]
            more = self._work(pair) + sum(self._facts[number].distinct for number in new)
            if block and (len(columns) + len(new) > COLUMNS_AT_ONCE or work + more > VALUES_PER_STATEMENT):
                yield block
                block, columns, work = [], set(), 0
                more = self._work(pair) + sum(self._facts[number].distinct for number in pair)
            block.append(pair)
            columns.update(pair)
            work += more
        if block:
            yield block

    def _by_kind(self, pairs: Iterable[Pair]) -> dict[ValueKind, list[Pair]]:
        """The pairs by the kind in which they are compared."""
        found: dict[ValueKind, list[Pair]] = {}
        for one, other in pairs:
            kind = compared_as(self._columns[one].kind, self._columns[other].kind)
            assert kind is not None
            found.setdefault(kind, []).append((one, other))
        return found

    # Statements.

    def _ask(self, statements: Sequence[Statement[Answer]], keep: Callable[[int, Answer], None]) -> None:
        """Run the statements in order, within the budget. `keep` is called with place and answer.

        Raises BudgetSpent if it is not enough, and as `Engine.run_many`.
        """
        allowed = len(statements) if self._left is None else min(self._left, len(statements))
        several = 4 * self._engine.workers
        with self._engine.one_round():
            for start in range(0, allowed, several):
                block = statements[start : min(start + several, allowed)]
                self._engine.run_many(block, self._deadline, _shifted(keep, start))
                if self._left is not None:
                    self._left -= len(block)
        if allowed < len(statements):
            raise BudgetSpent("the budget of statements (--max-statements) is used up")

    def _place(self, number: int) -> int:
        """The place of a column among all; for texts read as digits, that of the text column."""
        return self._texts.get(number, number)

    def _compared(self, number: int, kind: ValueKind) -> ComparedColumn:
        column = self._columns[number]
        found = compared_column(column.attribute, kind, self._engine.dialect, column.digits)
        return replace(found, version=self._versions[column.attribute.table])


def _shifted(keep: Callable[[int, Answer], None], start: int) -> Callable[[int, Answer], None]:
    return lambda place, answer: keep(start + place, answer)


def _blocks(columns: Sequence[GroupMember]) -> Iterator[Sequence[GroupMember]]:
    for start in range(0, len(columns), SAMPLE_COLUMNS):
        yield columns[start : start + SAMPLE_COLUMNS]


def candidates(tables: Iterable[CatalogTable]) -> Iterator[Candidate]:
    """The columns of tables whose values can be compared and that this user can read."""
    for table in tables:
        if table.obstacle is None:
            for column in table.columns:
                kind = column.kind if column.readable else None
                if kind is not None:
                    yield Candidate(Attribute(table.name, column.name), kind)


def _with_digits(columns: Sequence[Candidate]) -> Iterator[Candidate]:
    """The text columns that might contain the numbers of other tables."""
    numbers = {column.attribute.table for column in columns if column.kind in NUMBERS}
    for column in columns:
        if column.kind is ValueKind.TEXT and numbers - {column.attribute.table}:
            yield Candidate(column.attribute, ValueKind.WHOLE, digits=True)


def compared_column(attribute: Attribute, kind: ValueKind, dialect: Dialect, digits: bool = False) -> ComparedColumn:
    """A column in the form in which values of a kind are compared; `digits`: only its texts of digits, as numbers."""
    form = form_of(kind, dialect)
    return ComparedColumn(attribute.table, attribute.column, form, kind in NUMBERS, kind in WITH_DISTANCES, digits)


@cache
def form_of(kind: ValueKind, dialect: Dialect) -> exp.DataType | None:
    """The type in which values of a kind are compared; None: as texts, byte by byte."""
    forms = {
        ValueKind.WHOLE: exp.DataType.build("BIGINT"),
        ValueKind.HUGE: dialect.type(dialect.wide),
        ValueKind.DECIMAL: dialect.type(dialect.decimal),
        ValueKind.FLOAT: dialect.type(dialect.number),
        ValueKind.DATE: exp.DataType.build("DATE"),
        ValueKind.TIMESTAMP: exp.DataType.build("TIMESTAMP"),
        ValueKind.ZONED: exp.DataType.build("TIMESTAMPTZ"),
        ValueKind.TIME: exp.DataType.build("TIME"),
    }
    return forms.get(kind)  # a UUID has only one text


@cache
def most_contained(distinct: int) -> int:
    """The most distinct values of a column, by the first pass, that a column of so many may contain."""
    return int((distinct * ABOUT**2 + 1) / CONTAINED)


@cache
def enough(size: int, whole: bool) -> int:
    """The least number of sampled values found in a column that may contain 90 % of the values sampled.

    Of the whole, 90 %. Else a number that is missed less than once in 100,000 times if 90 % are contained, by the
    binomial distribution, which is wider than that of a sample of distinct values.
    """
    if whole:
        return -(-CONTAINED.numerator * size // CONTAINED.denominator)
    likely, found = 0, 0
    while True:
        ways = comb(size, found) * CONTAINED.numerator**found
        likely += ways * (CONTAINED.denominator - CONTAINED.numerator) ** (size - found)
        if likely * DOUBT >= CONTAINED.denominator**size:
            return found
        found += 1
