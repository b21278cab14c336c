"""What statements cost in DuckDB: `python -m tests.benchmarks costs duckdb` measures the choices again."""

import duckdb

from qidsql.engines.costs import Costs

COSTS = Costs(
    grouping_pays=False,  # a column store reads each column once anyway; grouping sets cost 1.0 to 1.9 times as much
    union_sets=16,
    union_rows=200_000,
    finest_sets=32,
    finest_rows_per_class=16,  # of a million rows 10 sets of 6,000 classes then take a quarter, of 180,000 no less
    region_rows=200_000,  # audits of 100,000 rows then take 1.1, of 300,000 0.65 times what they took
)
SESSIONS = 2  # one statement runs on all cores; a second one uses what small statements leave idle

# Memory: hash tables of many classes spill to the temporary folder (`python -m tests.benchmarks scale --large`).

BYTES_PER_CLASS_AND_COLUMN = 16  # at the worst, while hash tables grow
CLASS_BYTES_PER_FILE_BYTE = 16  # that the classes of a parquet file take at most, about
BYTES_OF_LARGE_DATABASE = 1_000_000_000  # of a database of which a table may be a small part
MEMORY_LIMITS_THAT_SPILL = 10  # of 11 times the limit DuckDB could spill, of 16 times not
SPILLED_BYTES_PER_CLASS_AND_COLUMN = 8  # 5 to 6 of tables of 20 and 100 million rows and 10 columns

# Grouping in an array with a place for each combination of values, which DuckDB prefers to a hash table where it is
# small: for a million rows grouped by three small integers it takes half the time. How small is a setting of a session.

ARRAY_SETTING = "perfect_ht_threshold"  # bits of a place at most; a column of integers takes those of its range
USUAL_BITS = 12  # DuckDB's own
MOST_BITS_OF_ARRAY = 24
BYTES_PER_PLACE = 9
MEMORY_PART_OF_ARRAYS = 4  # of the memory limit, for the arrays of all threads
CAN_BE_SET = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 5)  # in a sealed connection (`allowed_configs`)


def bits_for(rows: int, threads: int, memory: int | None) -> int:
    """The setting for statements on so many rows, run by so many threads, each with an array of its own.

    An array with no more places than a thread has rows is filled faster than a hash table. A larger one is slow,
    however few the rows: its empty places are read too.
    """
    places = rows // threads
    if memory is not None:
        places = min(places, memory // (MEMORY_PART_OF_ARRAYS * BYTES_PER_PLACE * threads))
    return max(USUAL_BITS, min(MOST_BITS_OF_ARRAY, places.bit_length() - 1))
