"""When holding a copy of the rows pays: each scan of a parquet file decodes them, each scan of a view computes them."""

from collections.abc import Sequence

from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import StatementError
from qidsql.sql.held_rows import rows_to_hold
from qidsql.sql.relation import Relation

SHARE = 16  # of the memory limit, at most
WIDTH = 8  # bytes of a value that is not long, of nearly all types at most


def held_rows(
    engine: Engine, source: Relation, names: Sequence[str], rows: int, deadline: float | None
) -> Relation | None:
    """These columns of the rows, none of them long, held by the engine until its answer ends.

    None if the engine holds no rows, or lacks the memory. One statement, one scan. Raises as `Engine.hold`, but
    StatementError.
    """
    if rows * len(names) * WIDTH * SHARE > (engine.memory_limit or 0):
        return None
    try:
        table = engine.hold(rows_to_hold(engine.dialect, source, names), "rows held in memory", deadline)
    except StatementError:  # such as too little memory
        return None
    return None if table is None else Relation(table=Table(table, "table", ()))
