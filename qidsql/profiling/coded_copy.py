"""A coded copy of the audited columns in the engine's own temporary space: a relation like any other."""

import time

from sqlglot import exp

from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.relation import ALIAS, Relation, table_node
from qidsql.sql.row_codes import coded_copy
from qidsql.wording.numbers import plural, seconds


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
