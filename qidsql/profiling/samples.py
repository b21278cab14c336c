"""Parts of the rows that decide: samples of them, pairs that agree, regions by hashes."""

import re
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from qidsql.core.tables import Column, Nulls, Table, positions
from qidsql.errors import UsageError
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.profiling.batches import can_be_packed, packed_rows
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.rows_in_memory import SCANS
from qidsql.search.difference_masks import AgreeingPairs
from qidsql.search.sampled import PairSample
from qidsql.sql.classes import distinct_hashes
from qidsql.sql.matching_rows import witness_rows
from qidsql.sql.regions import Region, bucket_sizes, profiles_in_regions
from qidsql.sql.relation import ALIAS, Relation, sample, table_node
from qidsql.sql.row_codes import PackedRows, coded_copy, row_patterns
from qidsql.sql.row_pairs import agreeing, agreeing_packed, pair_masks
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import plural, seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A sample of rows, drawn once: its codes are in memory, and column sets are profiled there.


KEPT_NUMBERS = 8_000_000  # class numbers of column sets, or flags of pairs, that are kept, in all


class CodedSample:
    """Column sets in, profiles of the sample out: one statement and one scan at the first, none after it.

    Each distinct row of the sample leaves the engine as codes, not values; codes of few values can be decoded. `sample`
    profiles the same rows by statements. If a NULL matches anything, all pairs of distinct rows are compared.
    """

    def __init__(self, sample: TableProfiler) -> None:
        self.columns = sample.columns
        self._sample, self._wildcard = sample, sample.nulls is Nulls.WILDCARD
        self._codes: list[NDArray[np.int64]] = []
        self._sizes: NDArray[np.int64] | None = None
        self._kept: OrderedDict[int, NDArray[Any]] = OrderedDict()

    @property
    def rows(self) -> int:
        """The rows drawn so far."""
        return 0 if self._sizes is None else int(self._sizes.sum())

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """In the order of the sets. Raises Stopped, StatementError, AccessError."""
        if self._sizes is None:
            self._draw()
        self._sample.check_time()
        return [self._profile(mask) for mask in masks]

    def _draw(self) -> None:
        import numpy as np

        sample = self._sample
        query = row_patterns(sample.engine.dialect, sample.source, sample.names)

        def read(rows: list[Row]) -> list[list[int]]:
            return [[integer(cell) for cell in row[:-1]] for row in rows]  # without the key of the shuffle

        [rows] = sample.ask([Statement(query, f"sample over {len(sample.names)} columns", read)])
        self._sizes, *self._codes = np.array(rows, dtype=np.int64).reshape(-1, self.columns + 1).T.copy()

    def _profile(self, mask: int) -> ClassProfile:
        import numpy as np

        assert self._sizes is not None
        if self._wildcard:
            return self._of_matches(self._agreement(mask) @ self._sizes)
        rows = np.bincount(self._agreement(mask), weights=self._sizes).astype(np.int64)
        sizes, numbers = np.unique(rows[rows > 0], return_counts=True)  # not every code is in the sample
        return ClassProfile.of_sizes(Counter(dict(zip(sizes.tolist(), numbers.tolist(), strict=True))), self._sample.k)

    def _of_matches(self, matching: "NDArray[np.int64]") -> ClassProfile:
        """The profile, from the number of rows that match each distinct row, itself included."""
        sizes, k = self._sizes, self._sample.k
        assert sizes is not None
        return ClassProfile(
            rows=int(sizes.sum()),
            classes=0,
            smallest=min(matching.tolist(), default=0),
            largest=max(matching.tolist(), default=0),
            k=k,
            classes_below_k=0,
            rows_below_k=int(sizes[matching < k].sum()),
            unique_rows=int(sizes[matching == 1].sum()),
            colliding_pairs=int(sizes @ (matching - 1)),
            wildcard=True,
        )

    def _agreement(self, mask: int) -> "NDArray[Any]":
        """The number of each distinct row's class; if a NULL matches anything, a line of flags of those that match it.

        Searches extend sets by a column, so what was found for the last sets is kept.
        """
        if mask in self._kept:
            self._kept.move_to_end(mask)
            return self._kept[mask]
        places = list(positions(mask))
        known = next((place for place in places if mask & ~(1 << place) in self._kept), None)
        last = places[-1] if known is None else known
        rest = mask & ~(1 << last)
        extended = self._matching if self._wildcard else self._numbered
        found = extended(self._agreement(rest) if rest else None, self._codes[last])
        self._kept[mask] = found
        while len(self._kept) > 2 and len(self._kept) * found.size > KEPT_NUMBERS:
            self._kept.popitem(last=False)
        return found

    @staticmethod
    def _numbered(classes: "NDArray[np.int64] | None", codes: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """The numbers of the classes after one more column."""
        import numpy as np

        if classes is None:
            return codes
        numbers = classes * (int(codes.max(initial=0)) + 1) + codes
        found: NDArray[np.int64] = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        return found

    @staticmethod
    def _matching(flags: "NDArray[np.bool_] | None", codes: "NDArray[np.int64]") -> "NDArray[np.bool_]":
        """The rows that match each row after one more column; code 0 is NULL."""
        same: NDArray[np.bool_] = (codes[:, None] == codes) | (codes[:, None] == 0) | (codes == 0)
        return same if flags is None else flags & same


CODED_CELLS = 4_000_000  # a sample has as many at most in memory
MATCHED_ROWS = 2_000  # and so many rows, if all pairs of them are compared since a NULL matches anything


class TableSampler:
    """Draws samples of the rows that a profiler profiles. All samples of one sampler share one seed.

    `columns` are the profiler's columns as the table describes them.
    """

    def __init__(
        self,
        profiler: TableProfiler,
        table: Table,
        columns: Sequence[Column],
        seed: int = 0,
    ) -> None:
        if profiler.entity is not None:
            raise UsageError("a sample of rows does not measure entities; omit --entity, or search exactly")
        self.seed = seed
        self._profiler, self._table, self._columns = profiler, table, tuple(columns)
        self._rows: int | None = None
        self._drawn: list[CodedSample] = []

    def rows(self) -> int:
        """Rows of the whole table. One statement, unless a profile is known. Raises as `TableProfiler.profiles`."""
        if self._rows is None:
            known = self._profiler.known_rows
            self._rows = self._profiler.counts()[0] if known is None else known
        return self._rows

    def of_rows(self, size: int) -> Profiler:
        """A profiler over `size` rows drawn without replacement. A smaller sample is part of a larger one.

        Over the whole table if it has no more rows. Sends no statement until it is used. The sample is drawn once and
        profiled by its codes in memory; if it has too many cells for that (or rows, if a NULL matches anything), each
        profile draws it again.
        """
        if size >= self.rows():
            return self._profiler
        sample = self._profiler.over(self._sample(size), size)
        if size * sample.columns > CODED_CELLS or (sample.nulls is Nulls.WILDCARD and size > MATCHED_ROWS):
            return sample
        self._drawn.append(CodedSample(sample))
        return self._drawn[-1]

    @property
    def coded(self) -> int:
        """How many rows have left the engine as codes."""
        return sum(sample.rows for sample in self._drawn)

    def of_pairs(self, size: int) -> Profiler:
        """A profiler over `size` independent random pairs of rows: one statement now, none when it is used."""
        rows = self.rows()
        if rows < 2:
            return PairSample({}, self._profiler.columns)
        profiler, source = self._profiler, self._sample(min(rows, 2 * size))
        statement = pair_masks(profiler.engine.dialect, source, profiler.names, rows, size, self.seed, profiler.nulls)
        [masks] = profiler.ask([statement])
        return PairSample(masks, profiler.columns)

    def _sample(self, size: int) -> Relation:
        dialect = self._profiler.engine.dialect
        return sample(dialect, self._table, self._columns, size, self.seed)


# A coded copy of the audited columns in the engine's own temporary space: a relation like any other.


def coded(profiler: TableProfiler) -> tuple[TableProfiler, str]:
    """A profiler of the same rows and columns, on the same budget, over a coded copy; and a note on its cost.

    A code represents one value of its column, a NULL stays NULL: profiles, difference masks and wildcards are the
    same, and cheaper if values are long. One statement, one scan. Raises as `Engine.make_working_copy`.
    """
    engine, started = profiler.engine, time.monotonic()
    names = (*profiler.names, *((profiler.entity,) if profiler.entity else ()))
    query = coded_copy(profiler.engine.dialect, profiler.source, names)
    profiler.check_time()
    table, size = engine.make_working_copy(query, f"coded copy of {plural(len(names), 'column')}", profiler.deadline)
    spent = seconds(time.monotonic() - started)
    note = f"workspace: {plural(len(names), 'column')} coded, {size / 1e6:,.1f} MB, {spent}; gone when this ends"
    copy = Relation(exp.alias_(table_node(table), ALIAS, table=True))
    return profiler.over(copy, profiler.rows), note


# Pairs of rows of a table as evidence against keys, by statements to an engine. Only bit masks leave the engine.


MASKS_OF_STATEMENT = 100_000
ALL_PAIRS = 1_000_000  # ordered pairs; if a table has no more, one statement fetches all masks
LEAST_PAIRS = 200_000  # joining so many costs about as much as the rest of a statement on a small table
FEW, LARGE = 50_000, 1_000_000  # rows; packing fewer does not pay, and packing more takes long where values are texts
PAIRS_PER_ROW = 8  # of a large table, and of packed rows; of others statements are cheaper than pairs


class PairsThatAgree:
    """The difference masks of the rows that a profiler profiles, on its budget. Read only, without temporary tables.

    One statement per column set, of one or two scans; several sets are queried in parallel. Raises ValueError for a
    profiler that counts entities, as two rows of one entity are no evidence, and for one to which a NULL matches
    anything, as rows that match a third need not match each other.
    """

    def __init__(
        self,
        profiler: TableProfiler,
        max_pairs: int | None = None,
        max_masks: int = MASKS_OF_STATEMENT,
        pairs_per_row: int | None = None,
    ) -> None:
        if profiler.entity is not None:
            raise ValueError("difference masks compare rows, not entities; search the borders instead")
        if profiler.nulls is Nulls.WILDCARD:
            raise ValueError("difference masks treat NULL as a value; search the borders instead")
        self._profiler, self._rows = profiler, profiler.rows or 0
        self._max_pairs, self._max_masks = max_pairs, max_masks
        self._pairs_per_row = PAIRS_PER_ROW if pairs_per_row is None else pairs_per_row
        self._hashed: frozenset[str] | None = None if self._rows > LARGE else frozenset()

    @cached_property
    def max_pairs(self) -> int:
        rows = self._rows
        if self._max_pairs is not None:
            return self._max_pairs
        if rows > LARGE or self._packed is not None:
            return self._pairs_per_row * rows
        return ALL_PAIRS if rows * (rows - 1) <= ALL_PAIRS else max(LEAST_PAIRS, rows)

    @cached_property
    def _packed(self) -> PackedRows | None:
        """The rows packed, if that pays and their columns were profiled. Two statements. Raises as `agreeing`."""
        pays = FEW <= self._rows <= LARGE and can_be_packed(self._profiler, SCANS)
        return packed_rows(self._profiler, guarded=True) if pays else None

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        """The pairs that agree on each set. Raises Stopped, StatementError, AccessError."""
        return [
            AgreeingPairs(pairs, tuple(masks), pairs <= self.max_pairs and len(masks) <= self._max_masks)
            for pairs, masks in self._profiler.ask([self._statement(agree) for agree in sets])
        ]

    def _statement(self, agree: int) -> Statement[tuple[int, list[int]]]:
        profiler, most, masks = self._profiler, self.max_pairs, self._max_masks + 1
        dialect = profiler.engine.dialect
        if self._packed is not None:
            return agreeing_packed(dialect, self._packed, agree, profiler.known_rows or 0, most, masks)
        if self._hashed is None:
            self._hashed = self._separated_by_hash()
        return agreeing(dialect, profiler.source, profiler.names, agree, most, masks, self._hashed)

    def _separated_by_hash(self) -> frozenset[str]:
        """The columns of long values that have as many hashes as values. One statement if there are long values."""
        profiler = self._profiler
        dialect = profiler.engine.dialect
        places = [place for place, name in enumerate(profiler.names) if name in profiler.source.long]
        if not dialect.hashes_values or not places:
            return frozenset()
        values = profiler.profiles([1 << place for place in places])
        names = [profiler.names[place] for place in places]
        [(_, hashes)] = profiler.ask([distinct_hashes(dialect, profiler.source, [(name,) for name in names])])
        return frozenset(
            name for name, value, number in zip(names, values, hashes, strict=True) if value.classes == number
        )


# Witness rows of a table, by one statement to an engine. Only counts and bit masks leave the engine.


WITNESSES = 32  # their statement costs as much as 10 to 70 profiles; twice as many prove few more sets
ROWS_PER_CLASS = 2  # of all columns, at least: the statement compares classes, a profile reads rows
MASKS = 500_000


def rarest_rows(profiler: TableProfiler, k: int) -> Sequence[Mapping[int, int]]:
    """Rows of classes below k with rare values: for each {mask: rows that differ from it in exactly these columns}.

    None if the table has almost as many classes as rows, so that measuring a few sets is cheaper, or too many masks.
    One statement of one scan, and the profile of all columns. Counts rows, and NULL as a value. Raises Stopped,
    StatementError, AccessError.
    """
    whole = profiler.profile(profiler.everything)
    if not 0 < whole.smallest < k or whole.classes * ROWS_PER_CLASS > whole.rows:
        return []
    statement = witness_rows(profiler.engine.dialect, profiler.source, profiler.names, k, WITNESSES, MASKS)
    return profiler.ask([statement])[0]


# Classes of column sets in a part of the rows, by hashes: many sets in a statement, which prove classes below k.


MOST_COLUMNS_OF_REGIONS = 20  # at most; of more, too many sets are tried
COUNTED_ROWS = 250_000  # rows in which the sizes of buckets are counted, about
IN_BUCKET = 16_000  # rows in a bucket, on average
LEAST_BUCKETS = 64  # at least
FEWEST_ROWS_OF_BUCKET = 100  # rows of a bucket; of fewer, too few classes are seen
SETS = 96  # in one statement, whose classes are in memory together


def regions_of(profiler: TableProfiler) -> "Regions | None":
    """The regions of a profiler's rows; None where sets one by one are as cheap, or the engine does not hash a type."""
    profiler = profiler.by_row or profiler
    return None if why_no_regions(profiler) else Regions(profiler)


def why_no_regions(profiler: TableProfiler) -> str:
    """Why sets one by one are as cheap, or have to do; empty where regions decide them."""
    dialect, source = profiler.engine.dialect, profiler.source
    if dialect.column_hash is None:
        return "a set costs little here"
    least = profiler.engine.costs.region_rows
    if (profiler.known_rows or 0) < least:
        return f"of fewer than {least:,} rows a set costs little"
    if not 1 < profiler.columns <= MOST_COLUMNS_OF_REGIONS:
        return f"of one column, or more than {MOST_COLUMNS_OF_REGIONS}, regions decide no faster"
    if profiler.entity is not None or profiler.nulls is not Nulls.EQUAL:
        return "by persons and wildcards no region decides"
    hashed = all(re.fullmatch(dialect.hashed_types, source.types.get(name, "")) for name in profiler.names)
    return "" if hashed else "a column has a type without a hash"


class Regions:
    """One region for each column: that of its buckets which has the fewest rows, as there small classes are likely."""

    def __init__(self, profiler: TableProfiler) -> None:
        self._profiler = profiler
        self._rows = profiler.known_rows or 0
        self._regions: list[tuple[int, Region]] | None = None  # with about how many rows, the fewest first
        self._known: dict[int, ClassProfile] = {}

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """The classes of each set in the region of one of its columns: all are classes of the table, or several in one.

        One statement for up to SETS sets, and before the first one another. Raises as `TableProfiler.ask`.
        """
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._known]
        regions = self._regions or (self._found() if new else [])
        chosen = [(mask, next(region for _, region in regions if region.columns & mask)) for mask in new]
        self._known.update(zip(new, self._asked(chosen), strict=True))
        return [self._known[mask] for mask in masks]

    def sampled(self, masks: Sequence[int], share: int) -> list[ClassProfile]:
        """The profiles of a sample of each set's classes, one in `share`, a power of two, each class with all its rows.

        One statement for a few sets. Different values with equal hashes, of which there are hardly any, count as one.
        """
        return self._asked([(mask, Region(mask, share)) for mask in masks])

    def _asked(self, sets: Sequence[tuple[int, Region]]) -> list[ClassProfile]:
        """The classes of the sets in these regions, in as few statements as memory allows."""
        profiler, width = self._profiler, -(-len(sets) // max(1, -(-len(sets) // SETS))) or 1
        dialect, source, names, k = profiler.engine.dialect, profiler.source, profiler.names, profiler.k
        parts = [sets[start : start + width] for start in range(0, len(sets), width)]
        asked = [profiles_in_regions(dialect, source, names, part, k) for part in parts]
        found: list[list[ClassProfile]] = profiler.ask(asked)
        return [*chain.from_iterable(found)]

    def _found(self) -> list[tuple[int, Region]]:
        profiler = self._profiler
        buckets = max(LEAST_BUCKETS, 1 << (self._rows // IN_BUCKET).bit_length())
        share = 1 << max(0, (self._rows // COUNTED_ROWS).bit_length() - 1)
        statement = bucket_sizes(profiler.engine.dialect, profiler.source, profiler.names, buckets, share)
        [columns] = profiler.ask([statement])
        self._regions = []
        for place, sizes in enumerate(columns):
            enough = (
                {bucket: rows for bucket, rows in sizes.items() if rows >= FEWEST_ROWS_OF_BUCKET} or sizes or {0: 0}
            )
            bucket = min(enough, key=lambda bucket: (enough[bucket], bucket))
            self._regions.append((enough[bucket], Region(1 << place, buckets, bucket)))
        self._regions.sort(key=lambda each: each[0])
        return self._regions
