"""Columns of different tables whose values are found in one another, measured in the engine.

Most pairs fall away by type and by a first look (one statement for all tables): ranges that do not meet, too many
values to be contained. Where many are left, samples of the values decide most of them, which hold a value in every
column or in none (coordinated samples); what is left then is counted exactly, many columns in a statement, until
every column is joined with those that it belongs to. NULL is no value. Numbers are compared as numbers, texts as texts
byte by byte, and never a text with a number.

That one column's values stand in another says little where they would by accident: a handful of codes, or whole numbers
1, 2, 3, ... that any other numbers fall among. There the names have to agree, too. `judged` is the rule.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from sqlglot import exp

from qidsql.catalog import Attribute, CatalogTable
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, BudgetSpent, StatementError, Stopped
from qidsql.figures import percent, plural
from qidsql.findings.link import Containment
from qidsql.linkage.kinds import MEASURED, NUMBERS, Kind, compared_as, kind_of
from qidsql.linkage.names import names_agree, names_of
from qidsql.sql.containment import (
    Compared,
    Facts,
    InCommon,
    Sampled,
    column_ranges,
    sampled_in_common,
    values_in_common,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.statements import Statement

Answer = TypeVar("Answer")

CONTAINED = Fraction(9, 10)  # of a column's values; the rest may be errors, or persons that only one table knows
FEW = 20  # distinct values: fewer are codes, which fit into many columns
ABOUT = Fraction(5, 4)  # how far a first look may be off, in either direction, when it counts distinct values
SAMPLE_FROM = 200  # pairs; fewer are counted exactly at once
SAMPLE = 64  # values of a column at least, as far as it has them
SAMPLE_COLUMNS = 4096  # in one statement
TOLD_BY = 16  # values of a sample: with 90 % of them contained, fewer than half are found once in 100,000 times
WORK = 50_000_000  # values times columns in one statement of exact counts
COLUMNS = 64  # in one statement of exact counts


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column whose values can be compared."""

    attribute: Attribute
    kind: Kind


@dataclass(slots=True)
class Measured:
    """What was found out, and what is left undone."""

    containments: list[Containment] = field(default_factory=list)
    by_names: int = 0  # columns compared with those of agreeing names alone: the rest would contain them by accident
    counted: int = 0  # pairs counted exactly
    unfinished: list[str] = field(default_factory=list)


class Measuring:
    """One search for containment between the columns of tables, under a budget.

    `everything`: pairs are measured too that stand in one another by accident, or have only their names in common.
    `known`: pairs that need no measuring.
    """

    def __init__(
        self,
        engine: Engine,
        tables: Sequence[CatalogTable],
        *,
        known: Iterable[frozenset[Attribute]] = (),
        everything: bool = False,
        max_statements: int | None = None,
        deadline: float | None = None,
        on_stage: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self._engine = engine
        self._known = set(known)
        self._everything = everything
        self._left = max_statements
        self._deadline = deadline
        self._on_stage = on_stage
        self._facts: dict[int, Facts] = {}
        self._estimates: dict[tuple[int, int], float] = {}  # of containment, from samples; they only order the work
        self._columns = list(candidates(tables))
        self.found = Measured()

    def run(self) -> Measured:
        """All of it, as far as the budget goes; a stop is told in `unfinished` and does not raise."""
        try:
            self._look()
            pairs = self._possible()
            if len(pairs) > SAMPLE_FROM:
                pairs = self._sampled(pairs)
            self._count(pairs)
        except (Stopped, StatementError, AccessError) as stop:
            self.found.unfinished.append(str(stop))
        except KeyboardInterrupt:
            self.found.unfinished.append("interrupted")
        self.found.containments.sort(key=lambda each: (not each.joinable, -each.strength, each.left, each.right))
        return self.found

    # The first look: ends and numbers of values.

    def _look(self) -> None:
        self._on_stage(f"a first look at {plural(len(self._columns), 'column')}")
        groups: dict[Kind, dict[object, list[int]]] = {}
        for number, column in enumerate(self._columns):
            order = Kind.FLOAT if column.kind in NUMBERS else column.kind
            groups.setdefault(order, {}).setdefault(column.attribute.table, []).append(number)
        statements = [
            column_ranges(
                self._engine.dialect,
                [[(number, self._compared(number, order), None) for number in table] for table in tables.values()],
            )
            for order, tables in groups.items()
            if len(tables) > 1
        ]
        self._ask(statements, lambda place, facts: self._facts.update(facts))

    def _possible(self) -> list[tuple[int, int]]:
        """Pairs that may be joinable as far as the first look tells, lower number first."""
        by_order: dict[Kind, list[int]] = {}
        for number in sorted(self._facts):
            kind = self._columns[number].kind
            by_order.setdefault(Kind.FLOAT if kind in NUMBERS else kind, []).append(number)
        found: set[tuple[int, int]] = set()
        for numbers in by_order.values():
            containers, contained = numbers, numbers
            if not self._everything:
                containers = [number for number in numbers if not self._at_hand(number)]
                contained = [number for number in numbers if not self._few(number)]
                found.update(pair for pair in self._of_agreeing_names(numbers) if self._ways(*pair))
            for big in containers:
                facts, table, most = self._facts[big], self._columns[big].attribute.table, self._most(big)
                for small in contained:
                    other = self._facts[small]
                    if (
                        other.distinct <= most
                        and other.low <= facts.high
                        and facts.low <= other.high
                        and self._columns[small].attribute.table != table
                    ):
                        found.add((small, big) if small < big else (big, small))
        self.found.by_names = sum(self._at_hand(number) or self._few(number) for number in self._facts)
        return sorted(pair for pair in found if self._comparable(*pair))

    def _comparable(self, one: int, other: int) -> bool:
        left, right = self._columns[one], self._columns[other]
        if left.kind is not right.kind and compared_as(left.kind, right.kind) is None:
            return False
        return not self._known or frozenset((left.attribute, right.attribute)) not in self._known

    def _at_hand(self, number: int) -> bool:
        """Whether the column holds nearly every number from about zero on: others fall among them by accident."""
        return self._facts[number].crowded and not self._facts[number].far

    def _few(self, number: int) -> bool:
        """Whether the column has so few values that they stand in others by accident."""
        return self._facts[number].distinct * ABOUT < FEW

    def _most(self, number: int) -> int:
        """How many values a column can have that may be contained in this one."""
        return int(self._facts[number].distinct * ABOUT**2 / CONTAINED) + 1

    def _ways(self, one: int, other: int) -> list[tuple[int, int]]:
        """The directions, contained and container, in which one may be contained in the other."""
        a, b = self._facts[one], self._facts[other]
        if (
            a.high < b.low
            or b.high < a.low
            or self._columns[one].attribute.table == self._columns[other].attribute.table
        ):
            return []
        return [
            (small, big)
            for small, big in ((one, other), (other, one))
            if self._facts[small].distinct <= self._most(big)
        ]

    def _of_agreeing_names(self, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs whose names agree, found by the names without a look at every pair."""
        by_name: dict[tuple[str, ...], list[int]] = {}
        for number in numbers:
            for name in names_of(self._columns[number].attribute):
                by_name.setdefault(name, []).append(number)
        for same in by_name.values():
            for place, one in enumerate(same):
                for other in same[place + 1 :]:
                    if names_agree(self._columns[one].attribute, self._columns[other].attribute):
                        yield one, other

    # Samples of the values.

    def _sampled(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs that samples do not rule out."""
        self._on_stage(f"samples of the values of {plural(len({n for pair in pairs for n in pair}), 'column')}")
        statements, questions = [], []
        left: list[tuple[int, int]] = []
        for kind, of_kind in self._by_kind(pairs, sampling=True).items():
            for block in _blocks(of_kind, SAMPLE_COLUMNS // 2):
                numbers = sorted({number for pair in block for number in pair})
                columns = [(self._compared(number, kind), _share(self._facts[number].distinct)) for number in numbers]
                statements.append(sampled_in_common(self._engine.dialect, columns))
                questions.append((numbers, block))

        def keep(place: int, answer: Sampled) -> None:
            numbers, block = questions[place]
            places = {number: place for place, number in enumerate(numbers)}
            for one, other in block:
                in_one, in_other, common = answer.of(places[one], places[other])
                sizes = {one: in_one, other: in_other}
                agree = self._agree(one, other)
                rarer = max(min(in_one, in_other), 1)
                self._estimates[one, other] = common / rarer
                if any(
                    (sizes[small] < TOLD_BY or 2 * common >= sizes[small])
                    and (agree or self._everything or not (self._at_hand(big) or self._few(small)))
                    for small, big in self._ways(one, other)
                ):
                    left.append((one, other))

        self._ask(statements, keep)
        return left

    # Exact counts.

    def _count(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Counts the pairs, best first; not those whose columns are joined by others already, unless all are wanted."""
        pairs = sorted(pairs, key=lambda pair: (not self._agree(*pair), -self._estimates.get(pair, 0)))
        still_open = dict.fromkeys(pairs)
        joined = Components()
        try:
            while wanted := [pair for pair in still_open if self._everything or not joined.same(*pair)]:
                self._on_stage(f"counting values in common: {plural(len(wanted), 'pair')} of columns left")
                self._count_some(wanted if self._everything else joined.forest(wanted), still_open, joined)
        finally:
            left = [pair for pair in still_open if self._everything or not joined.same(*pair)]
            if left:
                self.found.unfinished.append(f"{plural(len(left), 'pair')} of columns were not counted")

    def _count_some(
        self, chosen: Sequence[tuple[int, int]], still_open: dict[tuple[int, int], None], joined: "Components"
    ) -> None:
        """Counts these pairs, and all that are open between the columns of one statement."""
        questions = [
            (kind, numbers) for kind, of_kind in self._by_kind(chosen).items() for numbers in self._groups(of_kind)
        ]
        statements = [
            values_in_common(self._engine.dialect, [self._compared(number, kind) for number in numbers])
            for kind, numbers in questions
        ]

        def keep(place: int, answer: dict[tuple[int, int], InCommon]) -> None:
            kind, numbers = questions[place]
            for (one, other), found in answer.items():
                pair = numbers[one], numbers[other]
                left, right = self._columns[pair[0]], self._columns[pair[1]]
                if pair in still_open and compared_as(left.kind, right.kind) is kind:
                    del still_open[pair]
                    self.found.counted += 1
                    judgement = judged(left.attribute, right.attribute, kind, found)
                    if judgement.joinable or self._everything:
                        self.found.containments.append(judgement)
                    if judgement.joinable:
                        joined.join(*pair)

        self._ask(statements, keep)

    def _agree(self, one: int, other: int) -> bool:
        return names_agree(self._columns[one].attribute, self._columns[other].attribute)

    def _groups(self, pairs: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
        """Groups of columns that together hold every pair.

        A group grows by the column that has most pairs with it, until its statement would be too much work.
        """
        open_to: dict[int, set[int]] = {}
        for one, other in pairs:
            open_to.setdefault(one, set()).add(other)
            open_to.setdefault(other, set()).add(one)
        while open_to:
            start = max(open_to, key=lambda number: len(open_to[number]))
            group = {start}
            gain = dict.fromkeys(open_to[start], 1)
            values = self._facts[start].distinct
            while gain:
                best = max(gain, key=lambda number: (gain[number], -self._facts[number].distinct))
                more = values + self._facts[best].distinct
                if len(group) > 1 and (len(group) >= COLUMNS or more * (len(group) + 1) > WORK):
                    break
                del gain[best]
                group.add(best)
                values = more
                for number in open_to.get(best, ()):
                    if number not in group:
                        gain[number] = gain.get(number, 0) + 1
            yield sorted(group)
            for one in group:
                open_to[one] -= group
                if not open_to[one]:
                    del open_to[one]

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

    def _by_kind(self, pairs: Iterable[tuple[int, int]], sampling: bool = False) -> dict[Kind, list[tuple[int, int]]]:
        """The pairs by what they are compared as."""
        found: dict[Kind, list[tuple[int, int]]] = {}
        for one, other in pairs:
            kind = compared_as(self._columns[one].kind, self._columns[other].kind)
            assert kind is not None
            found.setdefault(Kind.FLOAT if sampling and kind in NUMBERS else kind, []).append((one, other))
        return found

    def _compared(self, number: int, kind: Kind) -> Compared:
        attribute = self._columns[number].attribute
        form = form_of(kind, self._engine.dialect)
        return Compared(attribute.table, attribute.column, form, kind in NUMBERS, kind in MEASURED)


class Components:
    """Which columns are joined with each other, through others too."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def same(self, one: int, other: int) -> bool:
        return self._top(one) == self._top(other)

    def join(self, one: int, other: int) -> None:
        self._above[self._top(one)] = self._top(other)

    def forest(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The first pairs that would join all that all of them would join (Kruskal)."""
        grown = Components()
        grown._above = dict(self._above)
        found = []
        for one, other in pairs:
            if not grown.same(one, other):
                grown.join(one, other)
                found.append((one, other))
        return found

    def _top(self, number: int) -> int:
        while (above := self._above.get(number, number)) != number:
            self._above[number] = self._above.get(above, above)
            number = above
        return number


def _shifted(keep: Callable[[int, Answer], None], start: int) -> Callable[[int, Answer], None]:
    return lambda place, answer: keep(start + place, answer)


def candidates(tables: Iterable[CatalogTable]) -> Iterator[Candidate]:
    """The columns of tables whose values can be compared, of those that this user can read."""
    for table in tables:
        if table.obstacle is None:
            for column in table.columns:
                kind = kind_of(column) if column.readable else None
                if kind is not None:
                    yield Candidate(Attribute(table.name, column.name), kind)


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


def judged(left: Attribute, right: Attribute, kind: Kind, found: InCommon) -> Containment:
    """Whether two columns are joinable, and why, in words.

    They are when at least 90 % of the distinct values of one stand in the other and that is no accident: the names
    agree, or it has at least 20 values, and the other's are texts and the like, or numbers that lie apart, or days and
    numbers far from zero over about the same range.
    """
    sides = (
        (left, found.left, right, found.right, found.crowded_right, found.far_right),
        (right, found.right, left, found.left, found.crowded_left, found.far_left),
    )
    agree = names_agree(left, right)
    contained = [side for side in sides if side[1] and found.common >= CONTAINED * side[1]]
    small, values, big, others, *_ = max(contained or sides, key=lambda side: _share_of(found.common, side[1]))
    shares = (
        f"{percent(_share_of(found.common, values))} of the {plural(values, 'value')} of {small} stand in {big}, "
        f"{percent(_share_of(found.common, others))} the other way, compared as {kind}"
    )
    joinable, why = False, "too few for a join"
    if contained:
        reasons = [_accident(kind, found, *side) for side in contained]
        joinable, why = agree or None in reasons, next((reason for reason in reasons if reason), "")
    if joinable:
        ground = shares + (", and the names agree" if agree else "")
    else:
        ground = f"{shares}: {why}" + (", though the names agree" if agree else "")
    return Containment(left, right, str(kind), found.left, found.right, found.common, joinable, ground)


def _accident(
    kind: Kind, found: InCommon, small: Attribute, values: int, big: Attribute, others: int, crowded: bool, far: bool
) -> str | None:
    """Why the values of one column stand in another whether or not they mean the same; None: they do not."""
    if values < FEW:
        return "codes as few as these fit by accident"
    if crowded and not far:
        return f"{big} holds nearly every number from about zero on, so that other numbers fall among them by accident"
    if crowded and not found.aligned:
        what = "day" if kind is Kind.DATE else "number"
        return f"{big} holds nearly every {what} of a range of which {small} covers only a part"
    return None


def _share_of(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def _share(distinct: int) -> int:
    """One value of how many makes a sample of at least SAMPLE of them: a power of 2."""
    return 1 << max(0, (distinct // SAMPLE).bit_length() - 1)


def _blocks(pairs: Sequence[tuple[int, int]], most: int) -> Iterator[list[tuple[int, int]]]:
    """The pairs in blocks of at most twice so many columns."""
    numbers = {number: place for place, number in enumerate(sorted({number for pair in pairs for number in pair}))}
    blocks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    if len(numbers) <= 2 * most:
        most = max(len(numbers), 1)
    for one, other in pairs:
        blocks.setdefault((numbers[one] // most, numbers[other] // most), []).append((one, other))
    yield from blocks.values()
