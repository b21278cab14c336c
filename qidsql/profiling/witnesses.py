"""Witness rows of a table, by one statement to an engine. Only counts and bit masks leave the engine."""

from collections.abc import Mapping, Sequence

from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.witnesses import witness_rows

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
