"""When packing the rows of a table into a few integers each pays, and the packed rows, held by the engine."""

from typing import TYPE_CHECKING

from qidsql.errors import StatementError
from qidsql.sql.classes import column_counts
from qidsql.sql.packed_rows import PackedRows, Packing

if TYPE_CHECKING:
    from qidsql.profiling.profiler import TableProfiler

ROWS = 5_000  # at least; for fewer, a statement's start is its whole cost
WORDS = 4  # at most; more are no faster to group than the columns
SCANS = 6  # of all columns, which cost as much as packing them
SHARE = 16  # of the memory limit, at most
WORD = 8  # bytes


def packed_rows(profiler: "TableProfiler") -> PackedRows | None:
    """The rows of a profiler that knows the profile of each column, packed by its engine.

    None if that does not pay, if the engine holds no rows, or if the words do not code each value as one number.
    Two statements. Raises as `TableProfiler.ask`, but StatementError.
    """
    engine, names, rows = profiler.engine, profiler.names, profiler.known_rows or 0
    packing = Packing.of(names, [profiler.known()[name].classes for name in names])
    words = tuple(packing.words)
    if rows < ROWS or len(words) > WORDS or rows * len(words) * WORD * SHARE > (engine.memory_limit or 0):
        return None
    try:
        table = engine.hold(packing.query(engine.dialect, profiler.source), "packed rows", profiler.deadline)
        if table is None:
            return None
        packed = PackedRows.at(table, packing)
        [counts] = profiler.ask([column_counts(engine.dialect, packed.relation, words)])
    except StatementError:  # such as too little memory
        return None
    return packed if counts == (rows, (0,) * len(words)) else None
