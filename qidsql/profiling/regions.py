"""Classes of column sets in a part of the rows, by hashes: many sets in a statement, which prove classes below k."""

import re
from collections.abc import Sequence
from itertools import chain

from qidsql.core.tables import Nulls
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.regions import Region, bucket_sizes, profiles_in_regions

LEAST_ROWS_OF_REGIONS = 50_000  # at least; of fewer, column sets one by one are as cheap
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
    least = LEAST_ROWS_OF_REGIONS * dialect.region_factor
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
