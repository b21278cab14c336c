"""Row patterns on the workbench: cell-level protection works on these instead of the table.

Two rows with the same values are one pattern, so that nothing is computed twice. The engine makes the codes, in a
random order, and they pass through memory: no value leaves the engine. Still, the codes of a column with few values can
be turned back by anyone who knows how frequent each value is.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.memory import memory_left
from qidsql.core.tables import Nulls
from qidsql.engines.duckdb.workbench import Workbench, exported
from qidsql.errors import OutOfRoom, StatementFailed
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.row_codes import row_patterns
from qidsql.sql.templates import Statement, fill, integer
from qidsql.wording.texts import plural, setting, size

# Coded records: the input of cell-level protection. They contain no value and no name.


DENSE = 8  # classes are counted in an array if it has at most so many places per record, else by sorting


@dataclass(frozen=True, slots=True)
class Records:
    """The distinct rows of a table: per column the code of each, 0 for NULL; and the number of rows of each.

    Memory: 1, 2 or 4 bytes a cell, as many as the column's largest code needs.
    """

    codes: tuple[NDArray[np.unsignedinteger], ...]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[Sequence[int]], sizes: Sequence[int]) -> "Records":
        """From codes column by column."""
        return cls(tuple(narrow(np.asarray(column)) for column in columns), np.asarray(sizes, dtype=np.int64))

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def columns(self) -> int:
        return len(self.codes)

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def has_null(self) -> bool:
        return any(bool((codes == 0).any()) for codes in self.codes)

    def refined(self, records: NDArray[np.integer], classes: NDArray[np.int64], column: int) -> NDArray[np.int64]:
        """The number of each record's class after one more column, from the numbers of `classes` before it.

        The numbers are small enough to count the classes in an array: at most about DENSE times the records.
        """
        codes = self.codes[column][records].astype(np.int64)
        end = int(codes.max(initial=0)) + 1
        numbers: NDArray[np.int64] = classes * end + codes
        if (int(classes.max(initial=0)) + 1) * end > DENSE * len(records) + 1024:
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        return numbers


def narrow(codes: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
    """The codes in the smallest sufficient type."""
    largest = int(codes.max(initial=0))
    kind = np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32
    return np.ascontiguousarray(codes, dtype=kind)


# Bytes that a different row takes, and each of its codes, from the export to the search; and those of the search alone.
CODED, SEARCHED = (250, 25), (100, 4)
BENCH = 50_000_000  # bytes of an empty workbench
ROOMY = 4_000_000_000  # bytes left, above which rows are not counted before they are coded
LEAST_MEMORY = 256_000_000  # bytes: a dozen groupings in one statement do not fit into much less


@dataclass(frozen=True, slots=True)
class RowPatterns:
    """The distinct rows of a relation, coded, as the table `patterns` of a workbench: pattern, size, c0, c1, ...

    `pattern` numbers them from 0, `size` is the number of rows, code 0 is NULL and 1 to `values` are the values of
    the column, which the engine has shuffled by `shuffle_key`. Close it, or use it in a `with` block.
    """

    bench: Workbench
    names: tuple[str, ...]
    rows: int
    patterns: int
    values: tuple[int, ...]
    shuffle_key: str

    @classmethod
    def of(cls, profiler: TableProfiler, shuffle_key: str | None = None) -> "RowPatterns":
        """The row patterns over the profiler's columns. One statement, one scan, on the profiler's budget.

        With the `shuffle_key` of other rows, columns with the same values as theirs get the same codes.

        The workbench may use half as much memory as DuckDB as the source, at least 256 MB; else 1 GB.

        Raises Stopped, StatementError, AccessError, and OutOfRoom before the memory of this process is short: where all
        rows may not fit, or nothing tells how many there are and little is left, a statement counts them first.
        """
        check_room(profiler)
        engine, names = profiler.engine, profiler.names
        columns = [f"c{place}" for place in range(len(names))]
        codes = [exp.column(column) for column in columns]
        types = [("size", "BIGINT"), *((column, "INTEGER") for column in columns), ("shuffle_key", "VARCHAR")]
        query = row_patterns(engine.dialect, profiler.source, names, shuffle_key)
        with engine.temporary_export("row_patterns") as path:
            profiler.ask([Statement(query, f"row patterns over {len(names)} columns", lambda rows: None, path)])
            limit = engine.memory_limit
            bench = Workbench(max(LEAST_MEMORY, limit // 2)) if limit else Workbench()
            try:
                source = exported(path, types)
                load = fill(
                    "workbench/row_patterns/load_row_patterns",
                    exported=source,
                    codes=[exp.alias_(exp.func("COALESCE", code, exp.Literal.number(0)), code.name) for code in codes],
                    columns=codes,
                )
                bench.query(load, "loading of row patterns", profiler.deadline)
                largest = [exp.Max(this=code) for code in codes]  # how many values each column has
                totals = exp.select("COUNT(*)", "COALESCE(SUM(size), 0)", *largest).from_("patterns")
                [(patterns, rows, *values)] = bench.query(totals, "counting of row patterns")
                _refuse_without_room(SEARCHED, integer(patterns), len(names), memory_left())
                [[key]] = bench.query(exp.select("MAX(shuffle_key)").from_(source), "key of the codes")
            except BaseException:
                bench.close()
                raise
        found = tuple(integer(each) for each in values)
        return cls(bench, names, integer(rows), integer(patterns), found, str(key))

    def records(self) -> "Records":
        """The codes and sizes as arrays, column by column. Raises StatementError, Interrupted."""

        columns = ["size", *(f"c{place}" for place in range(len(self.names)))]
        in_order = (
            exp.select(exp.alias_(each, "code")).from_("patterns").order_by(exp.column("pattern")) for each in columns
        )
        sizes, *codes = (self.bench.numbers(query, "reading of codes")["code"] for query in in_order)
        return Records(tuple(narrow(each) for each in codes), sizes)

    def close(self) -> None:
        self.bench.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_room(profiler: TableProfiler) -> None:
    """Raises OutOfRoom if the codes of a profiler's rows would not fit. No statement where there is much room, else one
    or two."""
    room = memory_left()
    if room is None or (profiler.rows is None and room > ROOMY):
        return
    rows = profiler.rows if profiler.rows is not None else profiler.counts()[0]
    if _needed(CODED, rows, profiler.columns) > room:
        by_row = profiler.by_value if profiler.nulls is Nulls.WILDCARD else profiler
        with suppress(OutOfRoom, StatementFailed, MemoryError):  # then all rows may be different
            rows = by_row.profile(by_row.everything).classes
        _refuse_without_room(CODED, rows, profiler.columns, room)


def _refuse_without_room(bytes_each: tuple[int, int], rows: int, columns: int, room: int | None) -> None:
    """Raises OutOfRoom unless the codes of so many different rows fit into so many bytes."""
    needed = _needed(bytes_each, rows, columns)
    if room is not None and needed > room:
        raise OutOfRoom(
            f"the codes of {plural(rows, 'different row')} in {plural(columns, 'column')} take about {size(needed)}, "
            f"and this process may use {size(room)} more: take fewer columns ({setting('columns')}) or rows "
            f"({setting('where')}), or give it more memory"
        )


def _needed(bytes_each: tuple[int, int], rows: int, columns: int) -> int:
    row, cell = bytes_each
    return BENCH + rows * (row + cell * columns)
