"""Which columns of a data frame or an Arrow table DuckDB does not keep as they are: it merges some of their values."""

import re
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Number
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.workers import next_wait
from qidsql.errors import UsageError

# Types as which DuckDB reads durations and times that have nanoseconds, which it cuts off, and types that hold those.
CUT = re.compile(r"INTERVAL|TIME|\[|STRUCT|MAP")
NANOSECONDS = re.compile(r"\[ns\]|nano|time_unit='ns'")


def merged_columns(connection: duckdb.DuckDBPyConnection, frame: Any, table: str) -> list[str]:
    """The columns of the frame of which the table, its copy, has fewer different values."""
    columns = [(name, kind) for name, kind, *_ in connection.execute(f"DESCRIBE {table}").fetchall()]
    if hasattr(frame, "iloc"):
        each = ((name, kind, frame.iloc[:, place]) for place, (name, kind) in enumerate(columns))
        suspects = ((name, column) for name, kind, column in each if CUT.search(kind) or _of_objects(kind, column))
        return [name for name, column in suspects if _kept(connection, table, name) < _different(column)]
    schema: Any = frame.collect_schema() if hasattr(frame, "collect_schema") else getattr(frame, "schema", None)
    types = getattr(schema, "types", None) or (schema.dtypes() if hasattr(schema, "dtypes") else ())
    in_nanoseconds = [NANOSECONDS.search(str(kind)) is not None for kind in types]
    return [name for (name, kind), cut in zip(columns, in_nanoseconds, strict=False) if cut and "INTERVAL" in kind]


def _of_objects(kind: str, column: Any) -> bool:
    """Whether a type was found for objects, which can be equal in it and look different: 1 and 1.0."""
    return kind != "VARCHAR" and column.dtype == object


def _kept(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> int:
    [[count]] = connection.execute(f"SELECT COUNT(DISTINCT {DUCKDB.identifier(column)}) FROM {table}").fetchall()
    return int(count)


def _different(column: Any) -> int:
    """The number of different values of a column of pandas: of times by value, of objects by their texts."""
    return int((column if column.dtype.kind in "mM" else column.dropna().map(str)).nunique())


def frame_from(path: Path | None, like: Any) -> Any:
    """See `EngineKind.frame_from`."""
    kind = type(like)
    form = {("pandas", "DataFrame"): "df", ("polars", "DataFrame"): "pl", ("pyarrow", "Table"): "to_arrow_table"}.get(
        (kind.__module__.partition(".")[0], kind.__name__)
    )
    if form is None:
        raise UsageError(
            "expected a pandas or polars DataFrame or an Arrow table; of other sources, protect writes a copy"
        )
    return None if path is None else getattr(duckdb.connect().read_parquet(str(path)), form)()


# Objects in a pandas frame as texts.
#
# DuckDB would call their `__str__` inside a statement, which then cannot be stopped, and which aborts a Python that
# ends.


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
