"""Row patterns on the workbench: what the protections of single cells work on, instead of on the table.

Two rows with the same values are one pattern, so that nothing is done twice; a value is its place in its column's
order. The engine makes the codes, they are streamed to the workbench's file, and no value leaves the engine.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlglot import exp

from qidsql.engines.duckdb_workbench import Workbench, exported
from qidsql.profiler import TableProfiler
from qidsql.sql.row_patterns import row_patterns
from qidsql.sql.statements import Statement, integer

if TYPE_CHECKING:
    from qidsql.protect.records import Records


@dataclass(frozen=True, slots=True)
class RowPatterns:
    """The distinct rows of a relation, coded, as the table `patterns` of a workbench: pattern, size, c0, c1, ...

    `pattern` numbers them from 0, `size` is the number of rows, code 0 stands for NULL and 1 to `values` for the
    values of the column. Close it, or use it in a `with` block.
    """

    bench: Workbench
    names: tuple[str, ...]
    rows: int
    patterns: int
    values: tuple[int, ...]

    @classmethod
    def of(cls, profiler: TableProfiler) -> "RowPatterns":
        """The row patterns over the profiler's columns. One statement, one scan, on the profiler's budget.

        Raises Stopped, StatementError, AccessError.
        """
        engine, names = profiler.engine, profiler.names
        columns = [f"c{place}" for place in range(len(names))]
        codes = [exp.column(column) for column in columns]
        path = engine.exports() / f"row_patterns.{engine.export_format}"
        query = row_patterns(engine.dialect, profiler.source, names)
        try:
            profiler.ask([Statement(query, f"row patterns over {len(names)} columns", lambda rows: None, path)])
            bench = Workbench()
            try:
                bench.ask(
                    "load_row_patterns",
                    "loading of row patterns",
                    profiler.deadline,
                    exported=exported(path, [("size", "BIGINT"), *((column, "INTEGER") for column in columns)]),
                    codes=[exp.alias_(exp.func("COALESCE", code, exp.Literal.number(0)), code.name) for code in codes],
                    columns=codes,
                )
                [(patterns, rows, *values)] = bench.ask(
                    "pattern_counts", "counting of row patterns", largest=[exp.Max(this=code) for code in codes]
                )
            except BaseException:
                bench.close()
                raise
        finally:
            path.unlink(missing_ok=True)
        return cls(bench, names, integer(rows), integer(patterns), tuple(integer(each) for each in values))

    def records(self) -> "Records":
        """The codes and sizes as arrays, column by column. Raises StatementError, Interrupted."""
        from qidsql.protect.records import Records, narrow

        columns = ["size", *(f"c{place}" for place in range(len(self.names)))]
        sizes, *codes = (
            self.bench.numbers("pattern_codes", "reading of codes", column=exp.alias_(exp.column(column), "code"))[
                "code"
            ]
            for column in columns
        )
        return Records(tuple(narrow(each) for each in codes), sizes)

    def close(self) -> None:
        self.bench.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
