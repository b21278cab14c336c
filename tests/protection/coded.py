"""Coded rows on a workbench and in memory, as the protections take them."""

from collections import Counter
from collections.abc import Sequence

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.sql.templates import Statement

Record = tuple[int | None, ...]


def coded(rows: Sequence[Record]) -> Counter[tuple[int, ...]]:
    """How many rows each record has, coded by its values, which are small integers from 1 on."""
    return Counter(tuple(cell or 0 for cell in row) for row in rows)


def patterns_of(bench: Workbench, rows: Sequence[Record]) -> RowPatterns:
    sizes = coded(rows)
    columns = [f"c{place}" for place in range(len(rows[0]))]
    values = ", ".join(str((number, sizes[each], *each)) for number, each in enumerate(sorted(sizes)))
    made = (
        f"CREATE OR REPLACE TABLE patterns AS SELECT * FROM (VALUES {values}) AS v(pattern, size, {', '.join(columns)})"
    )
    bench.run(Statement(made, "patterns", lambda rows: rows))
    largest = tuple(max(each[place] for each in sizes) for place in range(len(columns)))
    return RowPatterns(bench, tuple(columns), len(rows), len(sizes), largest, "")


def records_of(rows: Sequence[Record]) -> Records:
    sizes = coded(rows)
    order = sorted(sizes)
    return Records.of(list(zip(*order, strict=True)), [sizes[each] for each in order])
