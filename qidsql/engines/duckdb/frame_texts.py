"""Objects in a pandas frame as texts.

DuckDB would call their `__str__` inside a statement, which then cannot be stopped, and which aborts a Python that ends.
"""

from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Number
from typing import Any
from uuid import UUID

from qidsql.engines.workers import next_wait

OWN = {"string", "bytes", "floating", "integer", "decimal", "boolean", "datetime", "date", "time", "empty"}  # of pandas
KNOWN = (str, bytes, bytearray, memoryview, Number, Decimal, date, time, timedelta, UUID, list, tuple, dict, type(None))
LIBRARIES = {"numpy", "pandas", "duckdb", "builtins"}  # whose scalars DuckDB converts


def with_texts(frame: Any, deadline: float | None) -> Any:
    """The frame, or a shallow copy with texts for objects that DuckDB has no type for. Raises BudgetSpent."""
    from pandas.api.types import infer_dtype, is_object_dtype  # type: ignore[import-untyped]

    copy = None
    for name in getattr(frame, "columns", ()):
        column = frame[name]
        if is_object_dtype(column.dtype) and infer_dtype(column, skipna=True) not in OWN:
            copy = frame.copy(deep=False) if copy is None else copy
            copy[name] = column.map(lambda value: _known(value, deadline)).astype(object)
    return frame if copy is None else copy


def _known(value: Any, deadline: float | None) -> Any:
    if isinstance(value, KNOWN) or type(value).__module__.partition(".")[0] in LIBRARIES:
        return value
    next_wait(deadline)
    return str(value)
