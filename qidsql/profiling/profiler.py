"""The table profiler: column sets in, class profiles out, by statements to an engine.

It sends statements in batches, profiles no set twice, and keeps the budget. Sets are profiled by the values of their
columns (`by_value`), by distinct entities (`by_entity`), or where a NULL matches anything (`by_match`).
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from itertools import chain
from operator import or_
from types import MappingProxyType
from typing import Any, TypeVar

from qidsql.core.tables import Nulls, TableName, names_of
from qidsql.engines.base import Engine
from qidsql.errors import OutOfRoom
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.measures.sampling import ClassEstimate
from qidsql.profiling.batches import Batches, ProfileStatement
from qidsql.profiling.knowledge import Budget, Knowledge, Meter
from qidsql.profiling.rows_in_memory import held_rows
from qidsql.sql.classes import TableOverview, column_counts, table_overview
from qidsql.sql.relation import Relation, distinct_rows
from qidsql.sql.templates import ColumnNames, Statement

Answer = TypeVar("Answer")

VALUES_PER_SECOND = 50_000_000  # that a session groups, roughly
BROAD = 256  # column sets in one round of a search; more shorten none


class TableProfiler(ABC):
    """Profiles column sets of one relation. The same set is never profiled twice.

    `sets` counts the column sets profiled. `by_value` treats NULL as one more value: the profiler itself, or one of the
    same rows and budget if a NULL matches anything. The budget may be that of another profiler (`meter`).
    """

    entity: str | None = None  # classes are counted in distinct ones
    nulls = Nulls.EQUAL
    by_row: "TableProfiler | None" = None  # counts rows, where each entity is known to have one

    def __init__(
        self,
        engine: Engine,
        source: Relation,
        names: Sequence[str],
        k: int,
        rows: int | None = None,
        budget: Budget | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.engine = engine
        self.source = source
        self.names = tuple(names)
        self.k = k
        self.rows = rows  # approximate; decides how many sets go into one statement
        self.meter = meter or Meter(engine, budget or Budget())
        self._known = Knowledge(len(self.names))
        self._batches = Batches(engine.dialect, engine.costs, source, self.names, k, engine.workers, engine.latency)
        self._counts: tuple[int, tuple[int, ...]] | None = None
        self._sizes: dict[ColumnNames, ClassSizes] = {}  # asked for before they are needed

    # what each kind of profiler decides

    @abstractmethod
    def _like(self, source: Relation, names: Sequence[str], rows: int | None) -> "TableProfiler":
        """A profiler of the same kind, on the same budget."""

    @abstractmethod
    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """The statements that profile the column sets, each with its sets."""

    @abstractmethod
    def _sizes_statement(self, mask: int) -> Statement[ClassSizes]:
        """The statement that counts all class sizes of a set."""

    @property
    def by_value(self) -> "TableProfiler":
        return self

    def compare_entities(self) -> None:  # noqa: B027 - most have none
        """Where each entity of a large table has one row, from now on count rows, which costs less. One statement, or
        none. Raises as `ask`."""

    def affords(self, masks: Sequence[int]) -> bool:
        """Whether the budget of values is enough to profile all these sets. No statement."""
        return self.meter.affords(self._values(masks))

    def foresee(self, sets: Sequence[ColumnNames]) -> None:  # noqa: B027 - most do not
        """Profile sets that are likely to be asked for, and the single columns, of a small table: many in a statement.
        Of a larger one nothing. Raises as `profiles`."""

    def foresee_sizes(self, names: Sequence[str], others: Sequence[str]) -> None:  # noqa: B027 - most do not
        """Where calls are dear: ask in one round for the `sizes` of some columns and the profile of others, which
        profilers narrowed to these columns know then. Raises as `ask`."""

    def samples_classes(self) -> bool:
        """Whether `sampled` is possible: the engine hashes equal values alike, and classes are of rows."""
        return False

    def sampled(self, masks: Sequence[int], share: int) -> list[ClassProfile]:
        """The profiles of a sample of each set's classes, about one in `share`, each class with all its rows. Only
        where `samples_classes`. Raises as `profiles`."""
        raise NotImplementedError("classes are sampled by their values")

    @property
    def _divisible(self) -> bool:
        """Whether classes can be counted in parts."""
        return False

    def _single_statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        return self._statements(masks)

    def _profile(self, masks: Sequence[int]) -> None:
        """Profile sets that are not known."""
        alone = len(masks) > 1 and all(mask.bit_count() == 1 for mask in masks)
        self._run_profiles(self._single_statements(masks) if alone else self._statements(masks))

    def _counted_sizes(self, mask: int, failures: int) -> ClassSizes:
        return self._run([self._sizes_statement(mask)], values=self._values([mask]))[0]

    # the same for all

    @property
    def sets(self) -> int:
        return self.meter.sets

    @property
    def spent(self) -> bool:
        """True if no further statement can be sent."""
        return self.engine.closed or self.engine.stopped_by is not None or self.meter.statements_left <= 0

    @property
    def statements_left(self) -> int:
        """How many statements the budget has left."""
        return self.meter.statements_left

    @property
    def deadline(self) -> float | None:
        """The end of the time budget, of `time.monotonic`."""
        return self.meter.deadline

    def check_time(self) -> None:
        """Raise BudgetSpent if the time is up."""
        self.meter.check_time()

    def allow(self, statements: int, values: int) -> None:
        """Allow at most so many statements from now on, and values that they read: rows x columns of each scan."""
        self.meter.allow(statements, values)

    def leaving(self, seconds: float, statements: int) -> AbstractContextManager[None]:
        """A part of the work, which leaves so much of the budget for what follows."""
        return self.meter.leaving(seconds, statements)

    def stop_at_failures(self) -> None:
        """From now on a failed statement ends the work like a spent budget, if another one succeeded before."""
        self.meter.failures_stop = True

    def narrowed(self, names: Sequence[str]) -> "TableProfiler":
        """A profiler over some of the columns, on the same budget, with the profiles known of them."""
        places = {name: place for place, name in enumerate(names)}
        other = self._like(self.source, names, self.rows)
        other._sizes = self._sizes
        for mask, profile in self._known.items():
            columns = self._names(mask)
            if all(name in places for name in columns):
                other._known[sum(1 << places[name] for name in columns)] = profile
        return other

    def over(self, source: Relation, rows: int | None, names: Sequence[str] = ()) -> "TableProfiler":
        """A profiler of these columns, or the same, over other rows, about so many, on the same budget."""
        return self._like(source, names or self.names, rows)

    def of_different_rows(self, rows: int) -> "TableProfiler":
        """A profiler of the different rows in these columns, of which there are so many, on the same budget. One
        statement where the engine holds them, else none. Raises as `Engine.hold`, but StatementError."""
        source = distinct_rows(self.source, self.names)
        held = None if source.long else held_rows(self, source, self.names, rows)
        return self.over(held or source, rows)

    @property
    def columns(self) -> int:
        return len(self.names)

    @property
    def everything(self) -> int:
        """The set of all columns."""
        return self._known.everything

    @property
    def breadth(self) -> int:
        """How many column sets a search may profile in one round beside those that it needs: as many as the sessions
        profile in the latency of a statement. 0 where statements have none, where one set takes longer, and as long as
        the number of rows is not known.
        """
        rows = self.known_rows if self.rows is None else self.rows
        if rows is None:
            return 0
        seconds = max(1, rows * self.columns) / VALUES_PER_SECOND
        return min(BROAD, int(self.engine.workers * self.engine.latency / seconds))

    def whole(self) -> ClassProfile:
        """The profile of all columns together. Raises as `profiles`.

        At most one statement; where statements have latency, also the profile of each column alone, in the same round:
        searches begin with these.
        """
        singles = self._known.singles if self.engine.latency else ()
        return self.profiles([self.everything, *singles])[0]

    def profile(self, mask: int) -> ClassProfile:
        """The class profile of one column set. At most one statement. Raises as `profiles`."""
        return self.profiles([mask])[0]

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """The class profiles of the column sets, in their order.

        One statement per new set, or fewer if the engine gains from batches; with a wildcard, the first time also the
        counts, and the profile of each column with NULLs by its values. None for a set that contains a key, or another
        set known to have as many classes as all columns. Without any set it only checks the time. Raises Stopped,
        StatementError, AccessError.
        """
        self.meter.check_time()
        self._known.infer(masks)
        self._profile([mask for mask in dict.fromkeys(masks) if mask not in self._known])
        return [self._known[mask] for mask in masks]

    def settles(self, mask: int) -> bool:
        """Whether the profile of the set is known, or follows from others. No statement."""
        self._known.infer([mask])
        return mask in self._known

    def learn_keys(self, keys: Sequence[int]) -> None:
        """Note column sets that pairs of rows proved to be keys: each has the profile of all columns together."""
        whole = self._known[self.everything]
        assert not whole.colliding_pairs and not whole.entities, "no set of these columns is a key of rows"
        self._known.update({key: whole for key in keys if key not in self._known})

    def singles(self) -> list[ClassProfile]:
        """The profile of every single column, in as few scans as the engine allows. Raises as `profiles`."""
        masks = self._known.singles
        self._run_profiles(self._single_statements([mask for mask in masks if mask not in self._known]))
        return [self._known[mask] for mask in masks]

    def sizes(self, mask: int, failures: int = 0) -> ClassSizes:
        """All class sizes of one column set; its profile is known from then on. One statement; first as `profiles`.

        `failures`: how often there was no room for its classes.
        """
        if self._names(mask) in self._sizes:
            return self._sizes[self._names(mask)]
        sizes = self._counted_sizes(mask, failures)
        self._known[mask] = sizes.profile(self.k)
        self.meter.sets += 1
        self._same_rows(self._known[mask].rows)
        return sizes

    def overview(self, valued: Sequence[str]) -> TableOverview:
        """Rows, of each column those with a value, of some about how many values. One statement, one scan."""
        [found] = self.ask([table_overview(self.engine.dialect, self.source, self.names, tuple(valued))])
        self._same_rows(found.rows)
        self.rows = found.rows
        return found

    def estimate(self, share: int, rows: int) -> ClassEstimate:
        """The classes of all columns of so many rows from a sample, about one in `share`. One statement, one scan.

        Only if the dialect has `class_hash`, of rows, and if NULL is a value. Raises as `profiles`.
        """
        [sample] = self.sampled([self.everything], share)
        return ClassEstimate.of(sample, share, rows)

    def known(self) -> dict[str, ClassProfile]:
        """The profiles of single columns known so far, by the column's name. No statement."""
        return {name: self._known[1 << place] for place, name in enumerate(self.names) if 1 << place in self._known}

    @property
    def measured(self) -> Mapping[int, ClassProfile]:
        """The profiles of all sets known so far. No statement."""
        return MappingProxyType(self._known)

    @property
    def known_rows(self) -> int | None:
        """The number of rows (with an entity: entities), if some profile is known. No statement."""
        return next((profile.rows for profile in self._known.values()), None)

    def counts(self) -> tuple[int, tuple[int, ...]]:
        """Rows, and the NULLs of each column. One statement, one scan."""
        if self._counts is None:
            [self._counts] = self.ask([self._counts_statement()])
            self._same_rows(self._counts[0])
            self.rows = self._counts[0]
        return self._counts

    def begin(self) -> None:
        """Where statements have latency: ask in one round what `counts` and `singles` will ask, and `sizes` of all
        columns, if that takes less than a round. Nothing if the budget is too small or a NULL matches anything. Raises
        as `ask`.
        """
        if not self.engine.latency:
            return
        singles = self._single_statements(self._known.singles)
        statements: list[Statement[Any]] = [self._counts_statement(), *(statement for _, statement in singles)]
        statements += [self._sizes_statement(self.everything)] if self.breadth else []
        if self.meter.statements_left < len(statements):
            return

        def keep(place: int, answer: Any) -> None:
            if place == 0:
                self._counts, self.rows = answer, answer[0]
            elif place <= len(singles):
                self._keep(singles[place - 1][0], answer)
            else:
                self._sizes[self.names] = answer
                self._keep([self.everything], [answer.profile(self.k)])

        self._run(statements, keep)
        self._same_rows(self.counts()[0])
        for profile in self._known.values():
            self._same_rows(profile.rows)

    def ask(self, statements: Sequence[Statement[Answer]]) -> list[Answer]:
        """Run statements of any kind on the same rows, in order, within the budget; return their results.

        Raises Stopped, StatementError, AccessError.
        """
        return self._run(statements)

    def hold(self, query: str, purpose: str) -> TableName | None:
        """As `Engine.hold`, within the budget. Raises Stopped, StatementError, AccessError."""
        self.meter.check(1, 0)
        return self.engine.hold(query, purpose, self.deadline)

    def planned_first(self) -> list[Statement[Any]]:
        """The statements that `counts`, `singles` and `sizes` of all columns would send.

        With a wildcard only those whose results decide which others follow.
        """
        singles = self.by_value._single_statements(self._known.singles)
        return [
            self._counts_statement(),
            *(statement for _, statement in singles),
            self._sizes_statement(self.everything),
        ]

    def most_classes(self, mask: int) -> int:
        """At most so many classes does the set have, by what is known of its columns and of all columns."""
        return self._known.most_classes(mask, sys.maxsize if self.rows is None else self.rows)

    def _counts_statement(self) -> Statement[tuple[int, tuple[int, ...]]]:
        return column_counts(self.engine.dialect, self.source, self.names)

    def _names(self, mask: int) -> tuple[str, ...]:
        return names_of(mask, self.names)

    def _values(self, masks: Sequence[int]) -> int:
        """The values that a scan of each set reads."""
        return (self.rows or 0) * sum(mask.bit_count() for mask in masks)

    def _values_read(self, masks: Sequence[int], statement: Statement[Any]) -> int:
        """The values that a statement about these sets reads: all their columns once, or of one set after the other."""
        return self._values([reduce(or_, masks)] if statement.scans == 1 else masks)

    def _keep(self, masks: Sequence[int], profiles: Sequence[ClassProfile]) -> None:
        self._known.update(zip(masks, profiles, strict=True))
        self.meter.sets += len(profiles)

    def _same_rows(self, rows: int) -> None:
        """Raise SnapshotLost if another statement counted other rows."""
        if self.entity is None and not self.source.is_sample:
            self.meter.same_rows(self.source, rows)

    def _run_profiles(self, statements: Sequence[ProfileStatement]) -> None:
        """Run the statements, a few at a time; results that come before the work has to end are kept."""
        todo = self._batches.in_few(statements, self.rows)

        def keep(place: int, profiles: list[ClassProfile]) -> None:
            self._keep(todo[place][0], profiles)

        with self.engine.one_round():
            while todo:
                step = min(4 * self.engine.workers, max(1, self.meter.statements_left))
                values = sum(self._values_read(part, statement) for part, statement in todo[:step])
                try:
                    done = self._run([statement for _, statement in todo[:step]], keep, values, divisible=True)
                except OutOfRoom:  # one set after the other has more room
                    done, sets = [], [*chain.from_iterable(part for part, _ in todo[:step])]
                    for mask in (mask for mask in sets if mask not in self._known):
                        self.sizes(mask, failures=int(len(sets) == 1))
                for profile in chain.from_iterable(done):
                    self._same_rows(profile.rows)
                del todo[:step]

    def _run(
        self,
        statements: Sequence[Statement[Answer]],
        keep: Callable[[int, Answer], None] = lambda place, answer: None,
        values: int | None = None,
        divisible: bool = False,
    ) -> list[Answer]:
        """Run the statements within the budget. They read so many values; by default, all columns in each scan.

        `divisible`: raises OutOfRoom, if it is possible to count their classes in parts.
        """
        if values is None:
            values = self._values([self.everything]) * sum(statement.scans for statement in statements)
        return self.meter.run(statements, keep, values, divisible and self._divisible)
