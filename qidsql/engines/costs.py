"""What statements cost on an engine: numbers that choose between ways to the same answer, and decide nothing else.

Each engine declares its own in `qidsql/engines/ENGINE/costs.py`. `python -m tests.benchmarks costs` prints both
ways of each choice side by side.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """An engine's costs, by default of one where each column set is best counted by itself."""

    # One scan with GROUPING SETS for many sets costs less than a scan for each.
    grouping_pays: bool = False
    # Column sets side by side in one statement on a small table, where its start outweighs its work, and how many rows
    # such a table has at most.
    union_sets: int = 1
    union_rows: int = 0
    # Column sets in a statement that counts the classes of all their columns first, and those of each set from these
    # counts; 0 where that never pays. It pays if those classes are at most one in so many rows; always in tables of at
    # most `finest_rows` rows.
    finest_sets: int = 0
    finest_rows_per_class: int = 4
    finest_rows: int = 0
    # A statement may count many sets of a large table: a cluster divides its work, and each statement costs calls.
    calls_are_dear: bool = False
    # Rows of a table from which hash buckets decide more cheaply than column sets one by one.
    region_rows: int = 50_000
    # Seconds that a cancelled statement gets to end before its session is given up.
    cancel_seconds: float = 3.0
