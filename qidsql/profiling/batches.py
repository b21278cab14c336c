"""The statements that profile column sets, several sets in each where that costs less."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations, groupby
from math import prod
from operator import or_
from typing import Protocol, TypeAlias, TypeVar

from qidsql.core.tables import names_of, positions
from qidsql.engines.base import Engine
from qidsql.engines.costs import Costs
from qidsql.errors import StatementError
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.classes import (
    class_profiles,
    class_profiles_by_finest,
    class_profiles_in_one_scan,
    column_counts,
    in_one_statement,
    profiles_of_sampled_classes,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.row_codes import Lanes, PackedRows
from qidsql.sql.templates import ColumnNames, Statement

# Column sets side by side: groups of them that lie in a few columns with few combinations of values.


FEWEST_SETS_OF_GROUP = 3  # sets in a group; of fewer, each for itself is no dearer


def covering(
    masks: Sequence[int], classes: Sequence[int], room: int, most: int, width: int
) -> tuple[list[list[int]], list[int]]:
    """Groups of 3 to `most` of the sets in at most `width` columns with at most `room` combinations, and the others.

    `classes` has the number of values of each column. Greedy: a set grows by the column that brings most others with
    it, as long as it brings half of those that it could; of several such columns by the one with the fewest values.
    """
    order = sorted(range(len(classes)), key=lambda place: classes[place])
    bits = {place: 1 << number for number, place in enumerate(order)}  # by the values of the columns, the fewest first
    original = {sum(bits[place] for place in positions(mask)): mask for mask in masks}
    values = [max(1, classes[place]) for place in order]
    groups: list[list[int]] = []
    others: list[int] = []
    for size, alike in groupby(sorted(original, key=int.bit_count), int.bit_count):
        for group in _groups(list(alike), size, values, room, most, width):
            sets = [original[mask] for mask in group]
            if len(group) < FEWEST_SETS_OF_GROUP:
                others += sets
            else:
                groups.append(sets)
    return groups, others


def _groups(
    masks: list[int], size: int, values: Sequence[int], room: int, most: int, width: int
) -> Iterator[list[int]]:
    """All the sets, which are of one size, in groups; some of one set. `values` ascend."""
    combined = {mask: prod(values[place] for place in positions(mask)) for mask in masks}
    missing: dict[int, int] = {}  # of a set of one column less, the columns that make it one of those left
    for mask in masks:
        for place in positions(mask):
            missing[mask ^ 1 << place] = missing.get(mask ^ 1 << place, 0) | 1 << place
    left = set(masks)
    for columns in sorted(masks, key=lambda mask: -combined[mask]):
        if columns not in left:
            continue
        together, count = combined[columns], 1
        while columns.bit_count() < width:
            rests = [rest for each in _subsets(columns, size - 1) if (rest := missing.get(each, 0) & ~columns)]
            fitting = (1 << bisect_right(values, room // together)) - 1
            gain, column = _most_common(rests, fitting)
            if not gain or 2 * gain < len(rests) or count + gain > most:
                break
            columns |= column
            together *= values[column.bit_length() - 1]
            count += gain
        group = [mask for mask in _subsets(columns, size) if mask in left]
        left.difference_update(group)
        for mask in group:
            for place in positions(mask):
                missing[mask ^ 1 << place] &= ~(1 << place)
        yield group


def _most_common(masks: Sequence[int], among: int) -> tuple[int, int]:
    """In how many of the masks the bit is that is in most of them, and the lowest such bit; (0, 0) if there is none."""
    at_least = [among] + [0] * len(masks)  # the bits that are in so many of the masks
    for number, mask in enumerate(masks, start=1):
        for times in range(number, 0, -1):
            at_least[times] |= at_least[times - 1] & mask
    times = max(times for times, bits in enumerate(at_least) if bits or not times)
    return times, at_least[times] & -at_least[times] if times else 0


def _subsets(mask: int, size: int) -> Iterator[int]:
    return map(sum, combinations([1 << place for place in positions(mask)], size))


MakeProfiles: TypeAlias = "Callable[[Dialect, Relation, Sequence[ColumnNames], int], Statement[list[ClassProfile]]]"
ProfileStatement: TypeAlias = "tuple[Sequence[int], Statement[list[ClassProfile]]]"  # with the column sets it profiles

VALUES_TOGETHER = 32_000_000  # rows x columns of the column sets in one statement
SCANS_TOGETHER = 16  # in one statement of a cluster, which takes long to plan more
FINEST = 1_000_000  # classes of all columns of a statement, where the sets together take little memory
COVERED = 40_000  # rows; of fewer, column sets from the classes of several columns are no cheaper than side by side
FORESEEN = 64  # column sets in a statement, where no search decides which are asked next
SAMPLE_SETS = 64  # column sets in one statement over a sample: drawing it costs more than profiling


@dataclass(frozen=True)
class Batches:
    """Makes the statements for column sets of a relation, whose classes are of rows and NULLs values of their own.

    `workers` statements run at a time; `latency` is the seconds of an empty one. Each method returns every statement
    with its column sets. `rows` is the number of rows, if it is known.
    """

    dialect: Dialect
    costs: Costs
    source: Relation
    names: ColumnNames
    k: int
    workers: int
    latency: float

    @property
    def scans_together(self) -> bool:
        """Whether `of_singles` costs less than `of_sets`."""
        return self.costs.grouping_pays and not self.source.is_sample

    def of_singles(self, masks: Sequence[int]) -> list[ProfileStatement]:
        """Of single columns, in one scan for each session, which keeps all of them busy; one counts rows beside them
        where calls are dear."""
        sessions = max(1, self.workers - 1) if self.latency and self.costs.calls_are_dear else self.workers
        width = min(self.dialect.grouping_arguments, -(-len(masks) // sessions))
        return [self._statement(class_profiles_in_one_scan, part) for part in _parts(masks, width)]

    def of_sets(
        self, masks: Sequence[int], rows: int | None, most_classes: Callable[[int], int]
    ) -> list[ProfileStatement]:
        """Of any column sets. `most_classes` is an upper bound of the number of a set's classes."""
        if self.source.is_sample:
            parts = _fitting_parts(masks, SAMPLE_SETS, self.can_group)
            return [self._in_one_statement(class_profiles_in_one_scan, part) for part in parts]
        finest: list[list[int]] = []
        if rows is not None and rows <= self.costs.finest_rows:
            parts = _fitting_parts(sorted(masks, key=most_classes), self.costs.finest_sets, self.can_group)
            return [self._in_one_statement(class_profiles_by_finest, part) for part in parts]
        if rows is not None and rows > COVERED and self.costs.finest_sets:
            classes = [most_classes(1 << place) for place in range(len(self.names))]
            room = min(rows // self.costs.finest_rows_per_class, FINEST)
            finest, masks = covering(masks, classes, room, self.costs.finest_sets, self.dialect.grouping_arguments)
        return [
            *(self._statement(class_profiles_by_finest, part) for part in finest),
            *(self._statement(class_profiles, part) for part in _parts(masks, self._together(masks, rows))),
        ]

    def foreseen(self, masks: Sequence[int], rows: int | None) -> list[ProfileStatement]:
        """Of many column sets of a small table, which wait for no answer; of a larger one none."""
        if not masks or rows is None or rows > self.costs.union_rows:
            return []
        widest = max(mask.bit_count() for mask in masks)
        width = min(FORESEEN, VALUES_TOGETHER // max(1, rows * widest))
        return [self._statement(class_profiles, part) for part in _parts(masks, width)]

    def in_few(self, statements: Sequence[ProfileStatement], rows: int | None) -> list[ProfileStatement]:
        """The same in a statement for each session, where a call to a cluster costs more than what it counts beside."""
        if not self.in_few_pays(rows) or len(statements) <= self.workers:
            return list(statements)
        read = [_columns_read(each) for each in statements]
        scans = sum(asked.scans for _, asked in statements)
        number = max(self.workers, -(-sum(read) * (rows or 0) // VALUES_TOGETHER), -(-scans // SCANS_TOGETHER))
        parts: list[list[ProfileStatement]] = [[] for _ in range(number)]
        before = 0
        for each, columns in zip(statements, read, strict=True):  # each part reads about as much as the others
            parts[before * number // sum(read)].append(each)
            before += columns
        return [
            (
                [*chain.from_iterable(masks for masks, _ in part)],
                in_one_statement(self.dialect, [one for _, one in part]),
            )
            for part in parts
            if part
        ]

    def in_few_pays(self, rows: int | None) -> bool:
        """Whether a call to a cluster costs more than counting a set of so many rows beside others."""
        read = (rows or 0) * len(self.names)
        return bool(self.costs.calls_are_dear and self.latency and rows is not None and read <= VALUES_TOGETHER)

    def of_packed(self, packed: PackedRows, masks: Sequence[int], rows: int | None) -> list[ProfileStatement]:
        """Of any column sets, from packed rows."""
        parts = _parts(masks, self._together(masks, rows))
        return [(part, packed.profiles(self.dialect, part, self.k)) for part in parts]

    def of_sampled_classes(self, masks: Sequence[int], share: int) -> ProfileStatement:
        """Of a sample of the classes of one column set, or of several with columns in common that can be grouped."""

        def sampled(
            dialect: Dialect, source: Relation, names: Sequence[ColumnNames], k: int
        ) -> Statement[list[ClassProfile]]:
            return profiles_of_sampled_classes(dialect, source, names, k, share)

        return self._statement(sampled, masks)

    def can_group(self, columns: int) -> bool:
        """Whether sets of these columns can be grouped in one scan."""
        return columns.bit_count() <= self.dialect.grouping_arguments

    def _together(self, masks: Sequence[int], rows: int | None) -> int:
        """The column sets in one statement: several of a small table, fewer if they are wide, as all run at once.

        If statements have latency, as many as give each session one.
        """
        if rows is None or rows > self.costs.union_rows:
            return 1
        widest = max((mask.bit_count() for mask in masks), default=1)
        share = -(-len(masks) // self.workers) if self.latency else 0
        return min(max(self.costs.union_sets, share), VALUES_TOGETHER // max(1, rows * widest))

    def _in_one_statement(self, make: MakeProfiles, masks: Sequence[int]) -> ProfileStatement:
        return self._statement(make if len(masks) > 1 else class_profiles, masks)

    def _statement(self, make: MakeProfiles, masks: Sequence[int]) -> ProfileStatement:
        return masks, make(self.dialect, self.source, [names_of(mask, self.names) for mask in masks], self.k)


def _columns_read(statement: ProfileStatement) -> int:
    masks, asked = statement
    return sum(mask.bit_count() for mask in masks) if asked.scans > 1 else reduce(or_, masks).bit_count()


def _parts(masks: Sequence[int], width: int) -> list[Sequence[int]]:
    return [masks[start : start + max(1, width)] for start in range(0, len(masks), max(1, width))]


def _fitting_parts(masks: Sequence[int], most: int, fit: Callable[[int], bool]) -> Iterator[list[int]]:
    """The sets in their order, in parts of at most so many whose columns together fit, or of one set."""
    part: list[int] = []
    columns = 0
    for mask in masks:
        if part and (len(part) == most or not fit(columns | mask)):
            yield part
            part, columns = [], 0
        part.append(mask)
        columns |= mask
    if part:
        yield part


# When packing the rows of a table into a few integers each pays, and the packed rows, held by the engine.


Answer = TypeVar("Answer")

LEAST_ROWS_TOGETHER = 5_000  # at least; for fewer, a statement's start is its whole cost
WORDS = 4  # at most; more are no faster to group than the columns
MEMORY_PART_OF_BATCHES = 16  # of the memory limit, at most
WORD = 8  # bytes


class Profiled(Protocol):
    """What of a profiler tells whether copies of its rows pay."""

    @property
    def engine(self) -> Engine: ...
    @property
    def source(self) -> Relation: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def known_rows(self) -> int | None: ...
    @property
    def deadline(self) -> float | None: ...
    @property
    def statements_left(self) -> int: ...
    def most_classes(self, mask: int) -> int: ...
    def known(self) -> Mapping[str, ClassProfile]: ...
    def ask(self, statements: Sequence[Statement[Answer]]) -> list[Answer]: ...


def can_be_packed(profiler: Profiled, statements: int) -> bool:
    """Whether the rows can be packed now, and so many statements sent afterwards: every single column is profiled."""
    affordable = profiler.statements_left > statements + 2
    every = len(profiler.known()) == len(profiler.names)
    return affordable and every and not profiler.engine.latency and not profiler.source.is_sample


def packed_rows(profiler: Profiled, guarded: bool = False) -> PackedRows | None:
    """The rows of a profiler that knows the profile of each column, packed by its engine.

    `guarded`: for comparing rows. None if packing does not pay, if the engine holds no rows, or if the words do not
    code each value as one number. Two statements. Raises as `TableProfiler.ask`, but StatementError.
    """
    engine, names, rows, known = profiler.engine, profiler.names, profiler.known_rows or 0, profiler.known()
    packing = Lanes.of(names, [known[name].classes for name in names], guarded)
    words = tuple(packing.words)
    if (
        rows < LEAST_ROWS_TOGETHER
        or len(words) > WORDS
        or rows * len(words) * WORD * MEMORY_PART_OF_BATCHES > (engine.memory_limit or 0)
    ):
        return None
    try:
        table = engine.hold(packing.query(engine.dialect, profiler.source), "packed rows", profiler.deadline)
        if table is None:
            return None
        packed = PackedRows(table, packing)
        [counts] = profiler.ask([column_counts(engine.dialect, packed.relation, words)])
    except StatementError:  # such as too little memory
        return None
    return packed if counts == (rows, (0,) * len(words)) else None
