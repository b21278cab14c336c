"""The table profiler: column sets in, class profiles out, by statements to an engine.

It sends statements in batches, profiles no set twice, and keeps the budget. If a NULL matches anything, it first counts
the NULLs of each column: column sets without any are profiled as usual.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import reduce
from itertools import chain, combinations
from math import prod
from operator import and_, or_
from types import MappingProxyType
from typing import Any, TypeVar

from qidsql.core.tables import Nulls, TableName, names_of, positions
from qidsql.engines.base import Engine
from qidsql.errors import OutOfRoom, SnapshotLost, StatementError, StatementFailed
from qidsql.measures.profiles import ClassProfile, ClassSizes, MatchSizes, bin_starts
from qidsql.measures.sampling import ClassEstimate
from qidsql.profiling.batches import Batches, ProfileStatement
from qidsql.profiling.budget import Budget, Meter
from qidsql.profiling.rows_in_memory import RowsInMemory, held_rows
from qidsql.sql.classes import (
    TableOverview,
    class_profiles,
    class_sizes,
    class_sizes_in_part,
    column_counts,
    distinct_hashes,
    entity_profile,
    table_overview,
)
from qidsql.sql.matching_rows import Domain, matching_profile, matching_sizes
from qidsql.sql.relation import Relation, distinct_rows
from qidsql.sql.templates import ColumnNames, Statement
from qidsql.wording.texts import count

Answer = TypeVar("Answer")

ROWS_OF_LARGE_TABLE = 1_000_000  # rows; above, an extra scan that may avoid grouping whole rows pays
SETS_OF_MANY = 256  # column sets in one call; above, finding columns with the same classes pays
WIDE, WIDE_ROWS = 1_000, 100_000  # columns that take long to name, 6 ms for each table of 10,000 in a statement; rows
VALUES_PER_SECOND = 50_000_000  # that a session groups, roughly
ENTITIES = 50_000  # rows; of fewer, it hardly matters whether entities or rows are counted
MOST_FAILURES = 4  # statements that had no room, before the set is given up
CLASS_SAMPLES = 3  # of classes; fewer have larger classes in common, more take longer
MANY_CLASSES = 2_000  # of what several sets have in common; a sample of fewer is not accurate
BROAD = 256  # column sets in one round of a search; more shorten none


class TableProfiler:
    """Profiles column sets of one relation. The same set is never profiled twice.

    With an entity, classes are counted in distinct entities. `sets` counts the column sets profiled. `by_value` treats
    NULL as one more value: the profiler itself, or one of the same rows and budget if `nulls` is a wildcard.
    """

    def __init__(
        self,
        engine: Engine,
        source: Relation,
        names: Sequence[str],
        k: int,
        entity: str | None = None,
        rows: int | None = None,
        budget: Budget | None = None,
        nulls: Nulls = Nulls.EQUAL,
    ) -> None:
        if entity is not None and nulls is Nulls.WILDCARD:
            raise ValueError("entities cannot be counted where a NULL matches anything")
        self.engine = engine
        self.source = source
        self.names = tuple(names)
        self.k = k
        self.entity = entity
        self.rows = rows  # approximate; decides how many sets go into one statement
        self.nulls = nulls
        self._known: dict[int, ClassProfile] = {}
        self._fine: list[int] = []  # known sets that separate the same rows as all columns
        self._compared = 0  # known sets compared with all columns
        self._meter = Meter(engine, budget or Budget())
        self._batches = Batches(engine.dialect, source, self.names, k, engine.workers, engine.latency)
        self._domain: Domain | None = None  # facts that wildcard statements need
        self._counts: tuple[int, tuple[int, ...]] | None = None
        self._sizes: dict[ColumnNames, ClassSizes] = {}  # asked for before they are needed
        self._counted: dict[tuple[int, int], list[ClassSizes]] = {}  # of the first parts of a set, by their number
        self._by_value: TableProfiler | None = None
        self.by_row: TableProfiler | None = None  # counts rows, where each entity is known to have one
        self._in_memory = RowsInMemory(self, self._batches)

    @property
    def by_value(self) -> "TableProfiler":
        if self.nulls is Nulls.EQUAL:
            return self
        if self._by_value is None:
            self._by_value = self._of_rows()
        return self._by_value

    def _of_rows(self) -> "TableProfiler":
        """A profiler of the same rows, by value, on the same budget."""
        other = TableProfiler(self.engine, self.source, self.names, self.k, None, self.rows)
        other._meter = self._meter
        return other

    def compare_entities(self) -> None:
        """Where each entity of a large table has one row, from now on count rows, which costs less. One statement, or
        none. Raises as `ask`."""
        if self.entity is not None and (self.rows or 0) >= ENTITIES:
            [[entities]] = self.ask([class_profiles(self.engine.dialect, self.source, [(self.entity,)], self.k)])
            self.by_row = self._of_rows() if entities.largest == 1 else None

    @property
    def sets(self) -> int:
        return self._meter.sets

    @property
    def spent(self) -> bool:
        """True if no further statement can be sent."""
        return self.engine.closed or self.engine.stopped_by is not None or self._meter.statements_left <= 0

    @property
    def statements_left(self) -> int:
        """How many statements the budget has left."""
        return self._meter.statements_left

    @property
    def deadline(self) -> float | None:
        """The end of the time budget, of `time.monotonic`."""
        return self._meter.deadline

    def check_time(self) -> None:
        """Raise BudgetSpent if the time is up."""
        self._meter.check_time()

    def allow(self, statements: int, values: int) -> None:
        """Allow at most so many statements from now on, and values that they read: rows x columns of each scan."""
        self._meter.allow(statements, values)

    def affords(self, masks: Sequence[int]) -> bool:
        """Whether the budget of values is enough to profile all these sets. No statement."""
        if self._meter.affords(self._values(masks)):
            return True
        if self.by_row is not None:
            return self.by_row.affords(masks)
        if self.nulls is not Nulls.EQUAL or self.entity is not None:
            return False
        planned = self._batches.of_sets(masks, self.rows, self.most_classes)  # several sets in one scan read less
        return self._meter.affords(sum(self._values_read(part, statement) for part, statement in planned))

    def leaving(self, seconds: float, statements: int) -> AbstractContextManager[None]:
        """A part of the work, which leaves so much of the budget for what follows."""
        return self._meter.leaving(seconds, statements)

    def stop_at_failures(self) -> None:
        """From now on a failed statement ends the work like a spent budget, if another one succeeded before."""
        self._meter.failures_stop = True

    def narrowed(self, names: Sequence[str]) -> "TableProfiler":
        """A profiler over some of the columns, on the same budget, with the profiles known of them."""
        places = {name: place for place, name in enumerate(names)}
        other = TableProfiler(self.engine, self.source, names, self.k, self.entity, self.rows, nulls=self.nulls)
        other._meter, other._domain = self._meter, self._domain
        if self._by_value is not None:
            other._by_value = self._by_value.narrowed(names)
        other.by_row = self.by_row and self.by_row.narrowed(names)
        other._sizes = self._sizes
        other._in_memory = self._in_memory.narrowed(other, other._batches)
        for mask, profile in self._known.items():
            columns = self._names(mask)
            if all(name in places for name in columns):
                other._known[sum(1 << places[name] for name in columns)] = profile
        return other

    def over(
        self, source: Relation, rows: int | None, names: Sequence[str] = (), entity: str | None = None
    ) -> "TableProfiler":
        """A profiler of these columns, or the same, over other rows, about so many, on the same budget."""
        counted = entity or self.entity
        other = TableProfiler(self.engine, source, names or self.names, self.k, counted, rows, nulls=self.nulls)
        other._meter = self._meter
        if self.nulls is Nulls.WILDCARD and source.is_sample:
            other._domain = self._domain_facts()  # a part of the rows has no more values and no other NULLs
        return other

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
        return (1 << len(self.names)) - 1

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
        return self.profiles([self.everything, *(self._singles if self.engine.latency else ())])[0]

    @property
    def _singles(self) -> list[int]:
        return [1 << place for place in range(self.columns)]

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
        self._meter.check_time()
        self._infer(masks)
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._known]
        if self.by_row is not None:
            self._profiled_by_row(self.by_row, new)
            return [self._known[mask] for mask in masks]
        new = self._but_large(new)
        if self.nulls is Nulls.WILDCARD and new:
            new = self._profiled_by_value(new)
        elif new == [self.everything] and self._has_a_hash_per_row():
            return [self._known[mask] for mask in masks]
        many = len(new) > SETS_OF_MANY and not self.engine.latency  # as it takes a second round
        if many and self.nulls is Nulls.EQUAL and self.entity is None:
            self._profile_many(new)
        else:
            alone = len(new) > 1 and all(mask.bit_count() == 1 for mask in new)
            self._run_profiles(self._single_statements(new) if alone else self._statements(new))
        return [self._known[mask] for mask in masks]

    def foresee(self, sets: Sequence[ColumnNames]) -> None:
        """Profile sets that are likely to be asked for, and the single columns, of a small table: many in a statement.
        Of a larger one nothing. Raises as `profiles`."""
        places = {name: 1 << place for place, name in enumerate(self.names)}
        masks = [sum(places[name] for name in names) for names in sets if all(name in places for name in names)]
        if masks and self.nulls is Nulls.EQUAL and self.entity is None:
            new = [mask for mask in dict.fromkeys([*self._singles, *masks]) if mask not in self._known]
            self._run_profiles(self._batches.foreseen(new, self.rows))

    def settles(self, mask: int) -> bool:
        """Whether the profile of the set is known, or follows from others. No statement."""
        self._infer([mask])
        return mask in self._known

    def learn_keys(self, keys: Sequence[int]) -> None:
        """Note column sets that pairs of rows proved to be keys: each has the profile of all columns together."""
        whole = self._known[self.everything]
        assert not whole.colliding_pairs and not whole.entities, "no set of these columns is a key of rows"
        self._known.update({key: whole for key in keys if key not in self._known})

    def _infer(self, masks: Sequence[int]) -> None:
        """Note the profiles of those sets that contain one which separates the same rows as all columns together.

        A column more only divides classes: a set with as many classes as all columns has the same classes, and so has
        every set in between. With wildcards, the pairs of rows that match take the place of the classes.
        """
        whole = self._known.get(self.everything)
        if whole is None:
            return
        for mask in list(self._known)[self._compared :]:
            known = self._known[mask]
            same = known.colliding_pairs == whole.colliding_pairs if whole.wildcard else known.classes == whole.classes
            if same and not any(mask & fine == fine for fine in self._fine):
                self._fine.append(mask)
        self._compared = len(self._known)
        self._known.update({m: whole for m in masks if m not in self._known and any(m & f == f for f in self._fine)})

    def _profile_many(self, masks: Sequence[int]) -> None:
        """Profile the sets, pairs first: of columns with the same classes one then represents the others."""
        self._run_profiles(self._statements([mask for mask in masks if mask.bit_count() <= 2]))
        twins = self._twins()
        kept = {mask: _without(twins, mask) for mask in masks if mask not in self._known}
        try:
            self._run_profiles(
                self._statements([mask for mask in dict.fromkeys(kept.values()) if mask not in self._known])
            )
        finally:  # keep the results that came before the work had to end
            self._known.update({mask: self._known[other] for mask, other in kept.items() if other in self._known})

    def _twins(self) -> dict[int, int]:
        """Each column known to have the same classes as an earlier one, with the earliest of these."""
        alike: dict[ClassProfile, list[int]] = {}
        for place, mask in enumerate(self._singles):
            if mask in self._known:
                alike.setdefault(self._known[mask], []).append(place)
        twins: dict[int, int] = {}
        for profile, places in alike.items():
            for first, other in combinations(places, 2):
                if self._known.get(1 << first | 1 << other) == profile:
                    twins.setdefault(other, first)
        return twins

    def _has_a_hash_per_row(self) -> bool:
        """True if the rows of a large table differ by their hashes alone, which is a fast check."""
        dialect = self.engine.dialect
        if (
            not dialect.hashes_values
            or self.entity is not None
            or (self.rows or 0) <= ROWS_OF_LARGE_TABLE
            or self.source.is_sample
        ):
            return False
        [(rows, [hashes])] = self.ask([distinct_hashes(dialect, self.source, [self.names])])
        if hashes < rows:
            return False
        self._known[self.everything] = ClassProfile.of_sizes({1: rows}, self.k)
        self._meter.sets += 1
        return True

    def samples_classes(self) -> bool:
        """Whether `sampled` is possible: the engine hashes equal values alike, and classes are of rows."""
        if self.by_row is not None:
            return self.by_row.samples_classes()
        return self.engine.dialect.hashes_values and self.entity is None and self.nulls is Nulls.EQUAL

    def sampled(self, masks: Sequence[int], share: int) -> list[ClassProfile]:
        """The profiles of a sample of each set's classes, about one in `share`, each class with all its rows.

        Several sets together, by the classes of the columns that they have in common if these are many: one statement
        for a third of the sets, else one for each, all much cheaper than a profile, in two rounds (in one where calls
        are dear). Only where `samples_classes`. Raises as `profiles`.
        """
        self._meter.check_time()
        groups = [masks[first::CLASS_SAMPLES] for first in range(CLASS_SAMPLES)]
        groups = [each for each in groups if len(each) > 1 and self._batches.can_group(reduce(or_, each))]
        shared = [[*dict.fromkeys([common, *each])] for each in groups if (common := reduce(and_, each))]
        shared = [] if self._batches.in_few_pays(self.rows) else shared
        found: dict[int, ClassProfile] = {}
        for together in self._samples_of(shared, share):
            found |= together if next(iter(together.values())).classes >= MANY_CLASSES else {}
        for alone in self._samples_of([[mask] for mask in masks if mask not in found], share):
            found |= alone
        return [found[mask] for mask in masks]

    def _samples_of(self, groups: Sequence[Sequence[int]], share: int) -> list[dict[int, ClassProfile]]:
        """A statement for each group, or for many. The profiles by set, in the order of the group."""
        asked = [self._in_memory.of_sampled_classes(masks, share) for masks in groups]
        asked = self._batches.in_few(asked, self.rows)
        values = self._values([reduce(or_, masks) for masks in groups])
        answers = self._run([statement for _, statement in asked], values=values) if asked else []
        return [dict(zip(masks, profiles, strict=True)) for (masks, _), profiles in zip(asked, answers, strict=True)]

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

    def singles(self) -> list[ClassProfile]:
        """The profile of every single column, in as few scans as the engine allows. Raises as `profiles`."""
        masks = self._singles
        if self.nulls is Nulls.WILDCARD or self.by_row is not None:
            return self.profiles(masks)
        new = self._but_large([mask for mask in masks if mask not in self._known])
        self._run_profiles(self._single_statements(new))
        return [self._known[mask] for mask in masks]

    def sizes(self, mask: int, failures: int = 0) -> ClassSizes:
        """All class sizes of one column set; its profile is known from then on. One statement; first as `profiles`.

        `failures`: how often there was no room for its classes.
        """
        if self._names(mask) in self._sizes:
            return self._sizes[self._names(mask)]
        if self.nulls is Nulls.WILDCARD and not self._holds_null(mask):
            by_class = self.by_value.sizes(mask)
            self._known[mask] = by_class.profile(self.k).of_matches()
            return MatchSizes.of_classes(by_class, bin_starts(self.k)[-1])
        if self.by_row is not None:
            sizes = replace(self.by_row.sizes(mask, failures), entities=True)
            self._known[mask] = sizes.profile(self.k)
            return sizes
        sizes = self._counted_sizes(mask, failures)
        self._known[mask] = sizes.profile(self.k)
        self._meter.sets += 1
        self._same_rows(self._known[mask].rows)
        return sizes

    @property
    def _divisible(self) -> bool:
        """Whether classes can be counted in parts."""
        return self.samples_classes() and not self.source.is_sample

    def _parts(self, mask: int, failures: int = 0) -> int:
        """Into how many parts the classes of a set have to be divided to fit where the engine counts them.

        If there is little room, the first question is how many rows there are.
        """
        if not self._divisible:
            return 1
        if self.rows is None and (failures or self.engine.little_room):
            [(self.rows, _)] = self.ask([column_counts(self.engine.dialect, self.source, ())])
        return 1 if self.rows is None else self.engine.parts(self.most_classes(mask), mask.bit_count(), failures)

    def _counted_sizes(self, mask: int, failures: int) -> ClassSizes:
        """In one statement, or in parts, the more the less room there is."""
        parts = self._parts(mask, failures)
        last = failures == MOST_FAILURES
        try:
            if parts > 1:
                return self._sizes_in(parts, mask, divisible=not last)
            return self._run([self._sizes_statement(mask)], values=self._values([mask]), divisible=not last)[0]
        except OutOfRoom:
            if last:
                raise
        return self._counted_sizes(mask, failures + 1)

    def _but_large(self, masks: Sequence[int]) -> list[int]:
        """Profile the sets whose classes have to be divided; return the others."""
        if not masks or self._parts(self.everything) == 1:  # which has at least as many classes as any
            return list(masks)
        for mask in (mask for mask in masks if self._parts(mask) > 1):
            self.sizes(mask)
        return [mask for mask in masks if mask not in self._known]

    def _sizes_in(self, parts: int, mask: int, divisible: bool) -> ClassSizes:
        """The class sizes of a set, part by part. Those counted before a stop are not counted again."""
        counted = self._counted.setdefault((mask, parts), [])
        with self.engine.one_round():
            for part in range(len(counted), parts):
                statement = class_sizes_in_part(self.engine.dialect, self.source, self._names(mask), part, parts)
                counted += self._run([statement], values=self._values([mask]), divisible=divisible)
        together: Counter[int] = Counter()
        for sizes in self._counted.pop((mask, parts)):
            together.update(sizes.classes)
        return ClassSizes.counted(together)

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
        if not self.engine.latency or self.nulls is Nulls.WILDCARD:
            return
        singles = self._single_statements(self._singles)
        statements: list[Statement[Any]] = [self._counts_statement(), *(statement for _, statement in singles)]
        statements += [self._sizes_statement(self.everything)] if self.breadth else []
        if self._meter.statements_left < len(statements):
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

    def foresee_sizes(self, names: Sequence[str], others: Sequence[str]) -> None:
        """Where calls are dear: ask in one round for the `sizes` of some columns and the profile of others, which
        profilers narrowed to these columns know then. Raises as `ask`."""
        one, two = (
            sum(1 << place for place, name in enumerate(self.names) if name in each) for each in (names, others)
        )
        by_class = self.entity is None and self.nulls is Nulls.EQUAL
        if one == two or not by_class or not self._batches.in_few_pays(self.rows) or self._meter.statements_left < 2:
            return
        asked: list[Statement[Any]] = [self._sizes_statement(one), self._statements([two])[0][1]]
        sizes, [profile] = self._run(asked)
        self._sizes[self._names(one)] = sizes
        self._keep([one, two], [sizes.profile(self.k), profile])
        for each in (one, two):
            self._same_rows(self._known[each].rows)

    def _same_rows(self, rows: int) -> None:
        """Raise SnapshotLost if another statement counted other rows: then no two figures belong together."""
        if self.entity is not None or self.source.is_sample:
            return
        first = self._meter.rows.setdefault(self.source, rows)
        self.engine.expect(rows)
        if first != rows:
            raise SnapshotLost(
                f"two statements counted {count(first)} and {count(rows)} rows: the source changes from statement to "
                f"statement, as a view with random() or the time does; audit a copy of it"
            )

    def _keep(self, masks: Sequence[int], profiles: Sequence[ClassProfile]) -> None:
        self._known.update(zip(masks, profiles, strict=True))
        self._meter.sets += len(profiles)

    def ask(self, statements: Sequence[Statement[Answer]]) -> list[Answer]:
        """Run statements of any kind on the same rows, in order, within the budget; return their results.

        Raises Stopped, StatementError, AccessError.
        """
        return self._run(statements)

    def hold(self, query: str, purpose: str) -> TableName | None:
        """As `Engine.hold`, within the budget. Raises Stopped, StatementError, AccessError."""
        self._meter.check(1, 0)
        return self.engine.hold(query, purpose, self.deadline)

    def planned_first(self) -> list[Statement[Any]]:
        """The statements that `counts`, `singles` and `sizes` of all columns would send.

        With a wildcard only those whose results decide which others follow.
        """
        singles = self.by_value._single_statements(self._singles)
        if self.nulls is Nulls.WILDCARD:
            return [self._counts_statement(), *(statement for _, statement in singles)]
        return [
            self._counts_statement(),
            *(statement for _, statement in singles),
            self._sizes_statement(self.everything),
        ]

    def _domain_facts(self) -> Domain:
        """The facts that wildcard statements need: the counts, and the values of the columns with NULLs."""
        if self._domain is None:
            rows, nulls = self.counts()
            self.by_value.rows = rows
            wild = [place for place, number in enumerate(nulls) if number]
            profiles = self.by_value.profiles([1 << place for place in wild])
            values = {self.names[p]: profile.classes - 1 for p, profile in zip(wild, profiles, strict=True)}
            self._domain = Domain(rows, dict(zip(self.names, nulls, strict=True)), values)
        return self._domain

    def _holds_null(self, mask: int) -> bool:
        nulls = self._domain_facts().nulls
        return any(nulls[self.names[place]] for place in positions(mask))

    def _profiled_by_value(self, masks: Sequence[int]) -> list[int]:
        """Profile the sets without NULLs, for which a wildcard changes nothing; return the others."""
        plain = [mask for mask in masks if not self._holds_null(mask)]
        try:
            self.by_value.profiles(plain)
        finally:  # keep the results that came before the work had to end
            known = self.by_value._known
            self._known.update({mask: known[mask].of_matches() for mask in plain if mask in known})
        done = set(plain)
        return [mask for mask in masks if mask not in done]

    def _profiled_by_row(self, by_row: "TableProfiler", masks: Sequence[int]) -> None:
        try:
            by_row.singles() if masks == self._singles else by_row.profiles(masks)
        finally:  # keep the results that came before the work had to end
            known = by_row.measured
            self._known.update({mask: replace(known[mask], entities=True) for mask in masks if mask in known})

    def _names(self, mask: int) -> tuple[str, ...]:
        return names_of(mask, self.names)

    def _counts_statement(self) -> Statement[tuple[int, tuple[int, ...]]]:
        return column_counts(self.engine.dialect, self.source, self.names)

    def _sizes_statement(self, mask: int) -> Statement[ClassSizes]:
        if self.nulls is Nulls.WILDCARD:
            most = bin_starts(self.k)[-1]
            return matching_sizes(self.engine.dialect, self.source, self._names(mask), self._domain_facts(), most)
        return class_sizes(self.engine.dialect, self.source, self._names(mask), self.entity)

    def _single_statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        by_class = self.entity is None and self.nulls is Nulls.EQUAL  # what one scan for many sets can count
        wide = self.columns >= WIDE and (self.rows or 0) <= WIDE_ROWS and bool(self.engine.dialect.grouping_arguments)
        together = by_class and (self._batches.scans_together or (wide and not self.source.is_sample))
        return self._batches.of_singles(masks) if together else self._statements(masks)

    def _statements(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """The statements that profile the column sets, each with its sets."""
        dialect, source = self.engine.dialect, self.source
        if self.nulls is Nulls.WILDCARD:
            domain = self._domain_facts()
            return [([m], matching_profile(dialect, source, self._names(m), self.k, domain)) for m in masks]
        if self.entity is not None:
            return [([m], entity_profile(dialect, source, self._names(m), self.k, self.entity)) for m in masks]
        return self._in_memory.statements(masks)

    def _values(self, masks: Sequence[int]) -> int:
        """The values that a scan of each set reads."""
        return (self.rows or 0) * sum(mask.bit_count() for mask in masks)

    def _values_read(self, masks: Sequence[int], statement: Statement[Any]) -> int:
        """The values that a statement about these sets reads: all their columns once, or of one set after the other."""
        return self._values([reduce(or_, masks)] if statement.scans == 1 else masks)

    def most_classes(self, mask: int) -> int:
        """At most so many classes does the set have, by what is known of its columns and of all columns."""
        rows = sys.maxsize if self.rows is None else self.rows
        whole = self._known.get(self.everything)
        columns = [self._known.get(1 << place) for place in positions(mask)]
        together = prod(column.classes for column in columns if column is not None) if all(columns) else rows
        return min(together, rows if whole is None else whole.classes)

    def _run_profiles(self, statements: Sequence[ProfileStatement]) -> None:
        """Run the statements, a few at a time; results that come before the work has to end are kept."""
        todo = self._batches.in_few(statements, self.rows)

        def keep(place: int, profiles: list[ClassProfile]) -> None:
            self._keep(todo[place][0], profiles)

        with self.engine.one_round():
            while todo:
                step = min(4 * self.engine.workers, max(1, self._meter.statements_left))
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
        scans = sum(statement.scans for statement in statements)
        everything = self._values([self.everything])
        self._meter.check(len(statements), everything * scans if values is None else values)
        try:
            return self.engine.run_many(statements, self._meter.deadline, keep)
        except StatementError as error:
            if divisible and self._divisible and isinstance(error, OutOfRoom):
                raise
            if self._meter.failures_stop and self._meter.answered:
                raise StatementFailed(str(error)) from None
            raise


def _without(twins: Mapping[int, int], mask: int) -> int:
    """The set with the earliest column of the same classes in place of each column."""
    for twin, first in twins.items():
        if mask >> twin & 1:
            mask = mask & ~(1 << twin) | 1 << first
    return mask
