"""Persons with many rows: what whoever knows some of a person's rows, or all, finds, as far as it is affordable."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, UsageError
from qidsql.measures.histories import (
    Certain,
    Choices,
    Histories,
    KnownRows,
    NumbersOfRows,
    Resolution,
    Unicity,
    histories_of,
    numbers_of_rows,
    unicity_of_choices,
    unicity_of_draws,
    unicity_of_histories,
)
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_entity import ByEntity
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.histories import (
    certain_persons,
    choices,
    compared_values,
    drawn_rows,
    tried_pairs,
    varying_columns,
    whole_histories,
)
from qidsql.sql.relation import Relation
from qidsql.wording.texts import count, few, setting

LINKED_PAIRS = 30_000_000  # of rows of a person, that are compared: about 8 CPU seconds
TRIED, RAREST = 10, 100  # persons, and rows of each, where all are too many
POINTS = 5  # known rows of the curve, besides all
DRAWN_PERSONS = 1_000  # persons of a sample
CANDIDATES, ALWAYS = 1, 1_000_000  # that are looked at: for each row of the table, and where it has few rows
COMPARED, FEWEST = 200_000_000, 30  # comparisons that number the copies of rows; persons of a sample, at least


class RowsOfPersons:
    """Asks each thing once, on the rows that have a person."""

    def __init__(self, audited: TableProfiler, every: Relation, entity: str, k: int) -> None:
        """`every`: the audited rows with all columns that are asked for, sensitive ones too."""
        self._audited, self._every, self._entity, self._k = audited, every, entity, k
        self._about = audited.engine.dialect, audited.source, audited.names, k, entity

    @cached_property
    def ones(self) -> list[Choices]:
        """The persons by their number of rows, and the rows that few have. One statement."""
        return self._audited.ask([choices(*self._about, KnownRows.ONE)])[0]

    @property
    def numbers(self) -> NumbersOfRows:
        return numbers_of_rows(self.ones, self._k)

    @cached_property
    def varying(self) -> dict[str, int]:
        """Of each column the persons who have several values of it. One statement."""
        [found] = self._audited.ask(
            [varying_columns(self._about[0], self._audited.source, self._audited.names, self._entity)]
        )
        return found

    @property
    def most_rows(self) -> int:
        """Of a person."""
        return max(each.own_rows for each in self.ones)

    @property
    def _most_copies(self) -> int:
        return max(each.most_copies for each in self.ones)

    @cached_property
    def twos(self) -> list[Choices] | None:
        """The same of any two rows; None if there are too many pairs of them. One statement more."""
        if sum(each.pairs for each in self.ones) > 2 * LINKED_PAIRS:
            return None
        return self._audited.ask([choices(*self._about, KnownRows.TWO)])[0]

    @cached_property
    def whole(self) -> Histories | None:
        """Persons by all their rows; None if the engine cannot compare them. One statement."""
        if not self._audited.engine.dialect.ordered_lists:
            return None
        return self._audited.ask([whole_histories(*self._about, self._most_copies)])[0]

    def histories(self, known: KnownRows) -> Histories | None:
        """The persons below k; of two rows, if there are too many pairs, some persons of whom a choice is below k, or
        None if none of those who were tried is. Raises Stopped, StatementError."""
        if known is KnownRows.ALL:
            return self.whole
        if known is KnownRows.ONE:
            return histories_of(known, self.ones)
        if self.twos is not None:
            return histories_of(known, self.twos)
        [tried] = self._audited.ask([tried_pairs(*self._about, TRIED, RAREST)])
        if not tried.below_k:
            return None
        return Histories(
            known_rows=known,
            persons=sum(each.persons for each in self.ones),
            smallest=tried.smallest,
            persons_below_k=tried.below_k,
            tried=tried.persons,
        )

    def certain(self, known: KnownRows, sensitive: str) -> Certain | None:
        """The persons of whom known rows tell a value; None if too many are compared, or the engine cannot. Two
        statements. Raises Stopped, StatementError."""
        dialect, entity = self._audited.engine.dialect, self._entity
        about = dialect, self._every, self._audited.names, entity, sensitive
        if known is KnownRows.ALL and not dialect.ordered_lists:
            return None
        if known is KnownRows.TWO and self._audited.ask([compared_values(*about)])[0] > 2 * LINKED_PAIRS:
            return None
        [persons] = self._audited.ask([certain_persons(*about, known, self._most_copies)])
        return Certain(sensitive, persons)

    def curve(self) -> Iterator[Unicity]:
        """The unicity of one known row, of two, ... and of all: what is exact first. Raises Stopped, StatementError."""
        yield unicity_of_choices(KnownRows.ONE, self.ones)
        most = self.most_rows
        if most > 1 and self.twos is not None:
            yield unicity_of_choices(KnownRows.TWO, self.ones, self.twos)
        first = 2 if self.twos is None else 3
        if first <= most:
            yield from self._drawn(first, min(most, POINTS), self._most_copies)
        if self.whole is not None:
            yield unicity_of_histories(self.whole)

    def resolutions(self, column: str, units: Sequence[str]) -> Iterator[Resolution]:
        """The unicity with a column by these units of time, estimated. A statement for each. Raises as `curve`."""
        last = min(self.most_rows, POINTS)
        for unit in units:
            if found := self._drawn(1, last, self.most_rows, (column, unit)):
                yield Resolution(column, unit, tuple(found))

    def _drawn(self, first: int, last: int, copies: int, coarser: tuple[str, str] | None = None) -> list[Unicity]:
        """Of so many known rows, by a sample; nothing if even a small one would cost too much. One statement."""
        rows = sum(each.own_rows * each.persons for each in self.ones)
        persons = sum(each.persons for each in self.ones)
        drawn = min(DRAWN_PERSONS, persons, COMPARED // (copies * ceil(rows / persons)))
        if drawn < min(FEWEST, persons):
            return []
        statement = drawn_rows(
            *self._about,
            persons=drawn,
            first=first,
            candidates=max(CANDIDATES * rows, ALWAYS),
            most_copies=copies,
            coarser=coarser,
        )
        [found] = self._audited.ask([statement])
        return [unicity_of_draws(number, found) for number in range(first, last + 1)]


def refuse_unlisted(engine: Engine, known: KnownRows) -> None:
    """Raise UsageError if the engine cannot compare all rows of a person with those of others."""
    if known is KnownRows.ALL and not engine.dialect.ordered_lists:
        raise UsageError(f"this engine does not compare all rows of persons: leave out {setting('known_rows')} all")


def linking(profiler: TableProfiler, known: KnownRows, of_all: Histories | None = None) -> TableProfiler:
    """The profiler itself, or one that also measures what so many known rows of a person leave.

    `of_all`: what they leave by all columns, where that is known. Raises UsageError, and as `profiles`.
    """
    if known is KnownRows.ONE:
        return profiler
    linked = ProfilerOfLinkedRows(profiler, known)
    if of_all is not None:
        everything = profiler.profile(profiler.everything)
        linked._known[profiler.everything] = replace(everything, histories=replace(of_all, certain=None))
    return linked


class ProfilerOfLinkedRows(ByEntity):
    """Profiles the same columns over the same rows, on the same budget; each profile that reaches k by one known row of
    a person also says what several leave. Up to three statements more for each of these sets."""

    def __init__(self, profiler: TableProfiler, known: KnownRows) -> None:
        """Raises UsageError."""
        refuse_unlisted(profiler.engine, known)
        assert profiler.entity is not None
        about = profiler.engine, profiler.source, profiler.names, profiler.k
        super().__init__(*about, profiler.entity, profiler.rows, meter=profiler.meter)
        self._by_one, self._linked = profiler, known

    @property
    def breadth(self) -> int:
        """No set is profiled before it is needed: each may take pairs of rows, or have too many."""
        return 0

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """The same; raises BudgetSpent if there are too many pairs of rows, and no violation was found among some."""
        self._known.infer(masks)
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._known]
        for mask, profile in zip(new, self._by_one.profiles(new), strict=True):
            safe = profile.smallest >= self.k
            self._known[mask] = replace(profile, histories=self._histories(self._names(mask))) if safe else profile
        return [self._known[mask] for mask in masks]

    def singles(self) -> list[ClassProfile]:
        return self.profiles(self._known.singles)

    def _histories(self, names: Sequence[str]) -> Histories:
        found = RowsOfPersons(self.narrowed(names), self.source, self.entity, self.k).histories(self._linked)
        if found is None:
            raise BudgetSpent(
                f"persons have more pairs of rows by {few(names)} than the {count(LINKED_PAIRS)} that are compared: "
                f"leave a column out ({setting('exclude')})"
            )
        return found
