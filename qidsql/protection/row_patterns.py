"""Row patterns on the workbench: cell-level protection works on these instead of the table.

Two rows with the same values are one pattern, so that nothing is computed twice. The engine makes the codes, in a
random order, and they pass through memory: no value leaves the engine. Still, the codes of a column with few values can
be turned back by anyone who knows how frequent each value is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from qidsql.engines.duckdb.workbench import Workbench, exported
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.row_codes import row_patterns
from qidsql.sql.statements import Statement, integer
from qidsql.sql.templates import fill

if TYPE_CHECKING:
    from qidsql.protection.records import Records

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

        Raises Stopped, StatementError, AccessError.
        """
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
                [[key]] = bench.query(exp.select("MAX(shuffle_key)").from_(source), "key of the codes")
            except BaseException:
                bench.close()
                raise
        found = tuple(integer(each) for each in values)
        return cls(bench, names, integer(rows), integer(patterns), found, str(key))

    def records(self) -> "Records":
        """The codes and sizes as arrays, column by column. Raises StatementError, Interrupted."""
        from qidsql.protection.records import Records, narrow

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
