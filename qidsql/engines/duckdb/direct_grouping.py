"""Grouping in an array with a place for each combination of values, which DuckDB prefers to a hash table where it is
small: for a million rows grouped by three small integers it takes half the time. How small is a setting of a session.
"""

import duckdb

SETTING = "perfect_ht_threshold"  # the most bits of a place; a column of integers or dates takes those of its range
USUAL = 12  # DuckDB's own
MOST = 24
PLACE = 9  # bytes
PART = 4  # of the memory limit, for the arrays of all threads
CAN_BE_SET = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 5)  # in a sealed connection (`allowed_configs`)


def bits_for(rows: int, threads: int, memory: int | None) -> int:
    """The setting for statements on so many rows, run by so many threads, each with an array of its own.

    An array with no more places than a thread has rows is filled faster than a hash table. A larger one is slow,
    however few the rows: its empty places are read too.
    """
    places = rows // threads
    if memory is not None:
        places = min(places, memory // (PART * PLACE * threads))
    return max(USUAL, min(MOST, places.bit_length() - 1))
