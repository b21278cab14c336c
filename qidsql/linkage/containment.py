"""Columns of different tables whose values are found in one another, measured in the engine.

Most pairs fall away by type and by a first look (a statement for each kind of values): ranges that do not meet, too
many values to be contained. Where many are left, a sample of each column's values is looked for in all other columns,
which decides nearly all of them. What is left then is counted exactly, many pairs in a statement, until every column
is joined with those that it belongs to. NULL is no value. Numbers are compared as numbers, texts as texts byte by byte;
with numbers, texts are compared where they are nearly all digits, as the numbers that they are then (a csv file has
them as numbers, a database as texts). `judgement` has the rule for what is joinable.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import islice
from math import comb
from typing import TypeVar

from sqlglot import exp

from qidsql.core.catalog import Attribute, CatalogTable
from qidsql.core.value_kinds import MEASURED, NUMBERS, Kind, compared_as
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, BudgetSpent, StatementError, Stopped
from qidsql.linkage.components import Components
from qidsql.linkage.joinable import CONTAINED, FEW, Containment, judged
from qidsql.linkage.names import names_agree, names_of
from qidsql.sql.dialects import Dialect
from qidsql.sql.statements import Statement
from qidsql.sql.values_in_common import (
    Compared,
    Facts,
    InCommon,
    InGroup,
    Sampled,
    column_ranges,
    sampled_in_common,
    values_in_common,
)
from qidsql.wording.numbers import plural

Answer = TypeVar("Answer")
Pair = tuple[int, int]  # two columns by their numbers; where the order counts, contained and container

ABOUT = Fraction(5, 4)  # how far a first look may be off, in either direction, when it counts distinct values
SAMPLE_FROM = 200  # pairs; fewer are counted exactly at once
SAMPLE = 128  # values of a column at least, as far as it has them
SAMPLE_COLUMNS = 8192  # in one statement, as samples and again as columns that may hold them
DOUBT = 10**5  # a sample of contained values misleads once in so many times
WORK = 20_000_000  # values looked at and looked up in one statement of exact counts
COLUMNS = 512  # in one statement of exact counts


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column whose values can be compared. `digits`: of its texts those of digits alone, as whole numbers."""

    attribute: Attribute
    kind: Kind
    digits: bool = False


@dataclass(slots=True)
class Measured:
    """What was found out, and what is left undone."""

    containments: list[Containment] = field(default_factory=list)
    valued: set[tuple[Attribute, Kind]] = field(default_factory=set)  # columns that have a value, and of which kind
    empty: list[Attribute] = field(default_factory=list)  # columns without any value
    by_names: list[Attribute] = field(
        default_factory=list
    )  # compared with those of agreeing names alone: see judgement
    counted: int = 0  # pairs counted exactly
    unfinished: list[str] = field(default_factory=list)


class Measuring:
    """One search for containment between the columns of tables, under a budget.

    `everything`: pairs are measured too that stand in one another by accident, or have only their names in common, or
    are joined through others. `known`: pairs that are one already. `apart`: pairs that need no measuring.
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
        self._facts: dict[int, Facts] = {}
        self._estimates: dict[Pair, float] = {}  # of containment, from samples; they only order the work
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
        self.found = Measured()

    def run(self) -> Measured:
        """All of it, as far as the budget goes; a stop is told in `unfinished` and does not raise."""
        try:
            self._look()
            pairs = {self._ordered(*way) for way in islice(self._ways(), 2 * SAMPLE_FROM)}
            self._count(pairs if len(pairs) < SAMPLE_FROM else self._sampled())
        except (Stopped, StatementError, AccessError) as stop:
            self.found.unfinished.append(str(stop))
        except KeyboardInterrupt:
            self.found.unfinished.append("interrupted")
        self.found.containments.sort(key=lambda each: (not each.joinable, -each.strength, each.left, each.right))
        return self.found

    # The first look: ends and numbers of values.

    def _look(self) -> None:
        own = [number for number, column in enumerate(self._columns) if not column.digits]
        self._on_stage(f"a first look at {plural(len(own), 'column')}")
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
        """Fetches facts of the columns whose values others could share; returns which these are."""
        groups: dict[Kind, dict[object, list[int]]] = {}
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
        """Whether a column's texts are digits but for errors, as far as a first look tells."""
        return self._facts[digits].distinct * ABOUT**2 >= CONTAINED * self._facts[texts].distinct

    def _order(self, number: int) -> Kind:
        """The kind in which a column's ends and samples are compared with those of others: all numbers as one."""
        kind = self._columns[number].kind
        return Kind.FLOAT if kind in NUMBERS else kind

    def _at_hand(self, number: int) -> bool:
        """Whether the column holds nearly every number from about zero on: others fall among them by accident."""
        return self._facts[number].crowded and not self._facts[number].far

    def _few(self, number: int) -> bool:
        """Whether the column has so few values that they stand in others by accident."""
        return self._facts[number].distinct * ABOUT < FEW

    # What may be contained in what, as far as the first look tells.

    def _possible(self, small: int, big: int) -> bool:
        """Whether one column may be contained in another: of another table, in its range, with enough values."""
        one, other = self._columns[small], self._columns[big]
        few, many = self._facts[small], self._facts[big]
        return (
            few.distinct * CONTAINED <= many.distinct * ABOUT**2 + 1
            and few.low <= many.high
            and many.low <= few.high
            and one.attribute.table != other.attribute.table
            and not (one.digits and other.digits)
            and (one.kind is other.kind or compared_as(one.kind, other.kind) is not None)
            and not (self._apart and frozenset((one.attribute, other.attribute)) in self._apart)
        )

    def _groups(self) -> Iterator[list[tuple[list[int], list[int]]]]:
        """By what they are compared as: groups of columns that may be contained, and of those that may contain them.

        The first group is of values that stand in others for a reason, the others are of names that may agree.
        """
        by_order: dict[Kind, list[int]] = {}
        for number in sorted(self._facts):
            by_order.setdefault(self._order(number), []).append(number)
        for numbers in by_order.values():
            smalls = [number for number in numbers if self._everything or not self._few(number)]
            bigs = [number for number in smalls if self._everything or not self._at_hand(number)]
            groups = [(smalls, bigs)]
            if not self._everything:
                by_name: dict[tuple[str, ...], list[int]] = {}
                for number in numbers:
                    for name in names_of(self._columns[number].attribute):
                        by_name.setdefault(name, []).append(number)
                groups += map(self._by_name_alone, by_name.values())
            yield groups

    def _by_name_alone(self, same: list[int]) -> tuple[list[int], list[int]]:
        """Of columns whose names may agree those that may be contained, and may contain, where values tell nothing."""
        few, at_hand = [n for n in same if self._few(n)], [n for n in same if self._at_hand(n)]
        return same if at_hand else few, same if few else at_hand

    def _ways(self) -> Iterator[Pair]:
        """All (contained, container) that would mean something, some of them several times."""
        for groups in self._groups():
            for place, (smalls, bigs) in enumerate(groups):
                for small in smalls:
                    for big in bigs:
                        if self._possible(small, big) and (not place or self._agree(small, big)):
                            yield small, big

    def _agree(self, one: int, other: int) -> bool:
        return names_agree(self._columns[one].attribute, self._columns[other].attribute)

    def _ordered(self, one: int, other: int) -> Pair:
        """The pair with the column first that seems to have fewer values."""
        return min((one, other), (other, one), key=lambda pair: (self._facts[pair[0]].distinct, pair))

    # Samples of the values.

    def _sampled(self) -> set[Pair]:
        """The pairs that would mean something and that samples do not rule out."""
        self._on_stage(f"samples of the values of {plural(len(self._facts), 'column')}")
        statements = []
        for groups in self._groups():
            smalls = [self._in_group(number, place) for place, (some, _) in enumerate(groups) for number in some]
            bigs = [self._in_group(number, place) for place, (_, some) in enumerate(groups) for number in some]
            for some_smalls in _blocks(smalls):
                for some_bigs in _blocks(bigs):
                    statements.append(sampled_in_common(self._engine.dialect, some_smalls, some_bigs))
        left: set[Pair] = set()

        def keep(place: int, answer: Sampled) -> None:
            for (small, big), held in answer.held.items():
                size, whole = answer.sizes[small], self._share(small) == 1
                if held >= enough(size, whole) and self._possible(small, big) and self._meant(small, big):
                    pair = self._ordered(small, big)
                    self._estimates[pair] = max(held / size, self._estimates.get(pair, 0))
                    left.add(pair)

        self._ask(statements, keep)
        return left

    def _meant(self, small: int, big: int) -> bool:
        """Whether it means anything that one column's values stand in another."""
        return self._everything or not (self._few(small) or self._at_hand(big)) or self._agree(small, big)

    def _in_group(self, number: int, group: int) -> InGroup:
        return InGroup(number, group, self._compared(number, self._order(number)), self._share(number))

    def _share(self, number: int) -> int:
        """One value of how many makes a sample of at least SAMPLE of a column's: a power of 2."""
        return 1 << max(0, (self._facts[number].distinct // SAMPLE).bit_length() - 1)

    # Exact counts.

    def _count(self, pairs: Iterable[Pair]) -> None:
        """Counts the pairs, best first; not those whose columns are joined by others already, unless all are wanted."""
        best_first = sorted(pairs, key=lambda pair: (not self._agree(*pair), -self._estimates.get(pair, 0), pair))
        still_open = dict.fromkeys(best_first)
        chosen = list(still_open) if self._everything else self._joined.forest(still_open)
        try:
            while chosen:
                self._on_stage(f"counting values in common: {plural(len(self._wanted(still_open)), 'pair')} left")
                self._count_some(chosen, still_open)
                chosen = self._wanted(still_open)
                if sum(map(self._work, chosen)) > WORK:
                    chosen = self._joined.forest(chosen)
        finally:
            left = self._wanted(still_open)
            if left:
                self.found.unfinished.append(f"{plural(len(left), 'pair')} of columns were not counted")

    def _wanted(self, still_open: Iterable[Pair]) -> list[Pair]:
        return [pair for pair in still_open if self._everything or not self._joined.same(*pair)]

    def _work(self, pair: Pair) -> int:
        """How many values are looked up for a pair."""
        return self._facts[pair[0]].distinct

    def _count_some(self, chosen: Sequence[Pair], still_open: dict[Pair, None]) -> None:
        questions = [
            (kind, block) for kind, of_kind in self._by_kind(chosen).items() for block in self._statements(of_kind)
        ]
        statements = []
        for kind, block in questions:
            places = {number: place for place, number in enumerate(dict.fromkeys(n for pair in block for n in pair))}
            columns = [self._compared(number, kind) for number in places]
            wanted = [(places[one], places[other]) for one, other in block]
            statements.append(values_in_common(self._engine.dialect, columns, wanted))

        def keep(place: int, answer: dict[Pair, InCommon]) -> None:
            kind, block = questions[place]
            for pair, found in zip(block, answer.values(), strict=True):
                del still_open[pair]
                self.found.counted += 1
                left, right = sorted(pair, key=self._place)
                found = found if pair == (left, right) else found.reversed()
                one, other = self._columns[left], self._columns[right]
                read = next((str(each.attribute) for each in (one, other) if each.digits), None)
                judgement = judged(one.attribute, other.attribute, kind, found, read)
                if judgement.joinable or self._everything:
                    self.found.containments.append(judgement)
                if judgement.joinable:
                    self._joined.join(left, right)

        self._ask(statements, keep)

    def _statements(self, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
        """The pairs in blocks, one for a statement; pairs with a column in common stand together."""
        block: list[Pair] = []
        columns: set[int] = set()
        work = 0
        for pair in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
            new = [number for number in pair if number not in columns]
            more = self._work(pair) + sum(self._facts[number].distinct for number in new)
            if block and (len(columns) + len(new) > COLUMNS or work + more > WORK):
                yield block
                block, columns, work = [], set(), 0
                more = self._work(pair) + sum(self._facts[number].distinct for number in pair)
            block.append(pair)
            columns.update(pair)
            work += more
        if block:
            yield block

    def _by_kind(self, pairs: Iterable[Pair]) -> dict[Kind, list[Pair]]:
        """The pairs by what they are compared as."""
        found: dict[Kind, list[Pair]] = {}
        for one, other in pairs:
            kind = compared_as(self._columns[one].kind, self._columns[other].kind)
            assert kind is not None
            found.setdefault(kind, []).append((one, other))
        return found

    # Asking.

    def _ask(self, statements: Sequence[Statement[Answer]], keep: Callable[[int, Answer], None]) -> None:
        """Puts the statements to the engine, in order, as far as the budget goes. `keep` gets place and answer.

        Raises BudgetSpent when it does not reach, and as `Engine.run_many`.
        """
        allowed = len(statements) if self._left is None else min(self._left, len(statements))
        several = 4 * self._engine.workers
        for start in range(0, allowed, several):
            asked = statements[start : min(start + several, allowed)]
            self._engine.run_many(asked, self._deadline, _shifted(keep, start))
            if self._left is not None:
                self._left -= len(asked)
        if allowed < len(statements):
            raise BudgetSpent("the budget of statements (--max-statements) is used up")

    def _place(self, number: int) -> int:
        """The place of a column among all: of its texts of digits, that of the texts."""
        return self._texts.get(number, number)

    def _compared(self, number: int, kind: Kind) -> Compared:
        column = self._columns[number]
        return compared(column.attribute, kind, self._engine.dialect, column.digits)


def _shifted(keep: Callable[[int, Answer], None], start: int) -> Callable[[int, Answer], None]:
    return lambda place, answer: keep(start + place, answer)


def _blocks(columns: Sequence[InGroup]) -> Iterator[Sequence[InGroup]]:
    for start in range(0, len(columns), SAMPLE_COLUMNS):
        yield columns[start : start + SAMPLE_COLUMNS]


def candidates(tables: Iterable[CatalogTable]) -> Iterator[Candidate]:
    """The columns of tables whose values can be compared, of those that this user can read."""
    for table in tables:
        if table.obstacle is None:
            for column in table.columns:
                kind = column.kind if column.readable else None
                if kind is not None:
                    yield Candidate(Attribute(table.name, column.name), kind)


def _with_digits(columns: Sequence[Candidate]) -> Iterator[Candidate]:
    """The columns of texts that might be the numbers of other tables."""
    numbers = {column.attribute.table for column in columns if column.kind in NUMBERS}
    for column in columns:
        if column.kind is Kind.TEXT and numbers - {column.attribute.table}:
            yield Candidate(column.attribute, Kind.WHOLE, digits=True)


def compared(attribute: Attribute, kind: Kind, dialect: Dialect, digits: bool = False) -> Compared:
    """A column in the form in which values of a kind are compared; `digits`: its texts of digits, as numbers."""
    form = form_of(kind, dialect)
    return Compared(attribute.table, attribute.column, form, kind in NUMBERS, kind in MEASURED, digits)


@cache
def form_of(kind: Kind, dialect: Dialect) -> exp.DataType | None:
    """The type in which values of a kind are compared; None: as texts, byte by byte."""
    forms = {
        Kind.WHOLE: exp.DataType.build("BIGINT"),
        Kind.HUGE: dialect.wide,
        Kind.DECIMAL: dialect.decimal,
        Kind.FLOAT: dialect.number,
        Kind.DATE: exp.DataType.build("DATE"),
        Kind.TIMESTAMP: exp.DataType.build("TIMESTAMP"),
        Kind.ZONED: exp.DataType.build("TIMESTAMPTZ"),
        Kind.TIME: exp.DataType.build("TIME"),
    }
    return forms.get(kind)  # the text of a UUID is one and the same


@cache
def enough(size: int, whole: bool) -> int:
    """How many values of a sample must stand in a column that may contain 90 % of the values sampled.

    Of the whole, 90 %. Else so many that fewer are found less than once in 100,000 times where 90 % are contained: the
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
