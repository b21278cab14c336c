"""Both ways of each choice that an engine's costs make, in CPU seconds of the process and of the server.

    python -m tests.benchmarks costs [duckdb | postgres]

The figures are medians of three runs of both ways in turn; the last column is the way that the engine's declared costs
take (`qidsql/engines/ENGINE/costs.py`). Calls of a Spark Connect server are counted by `python -m tests.benchmarks
sail`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb

import qidsql
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.engines.costs import Costs
from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.relation import relation
from tests.benchmarks import postgres
from tests.postgres_server import PostgresServer

COLUMNS = ("sex", "marital_status", "insurance", "education")  # together 2,700 classes
SETS = [sum(each) for size in (2, 3) for each in combinations((1, 2, 4, 8), size)]
NEVER = 1 << 40  # rows that no table has
ALONE = {"finest_sets": 0, "union_rows": 0}


class Choice(NamedTuple):
    """Two ways to work on a table of so many rows, each in words, with the costs that lead to it."""

    name: str
    rows: int
    work: Callable[[Engine], object]
    one: tuple[str, dict[str, int]]
    other: tuple[str, dict[str, int]]
    takes_one: Callable[[Costs], bool]  # whether an engine with these costs takes the first way


def _profiled(names: Sequence[str], masks: Sequence[int], engine: Engine) -> None:
    table = engine.describe("t")
    columns = [column for column in table.columns if column.name in (names or {column.name})]
    source = relation(engine.dialect, table, columns)
    profiler = profiler_for(engine, source, [column.name for column in columns], 5, rows=table.estimated_rows)
    profiler.counts()
    profiler.singles()
    profiler.profiles(masks)


def _audited(engine: Engine) -> None:
    qidsql.audit(engine, "t", k=5, entity="row", roles="none")


def _choices() -> Iterator[Choice]:
    work, one, other = partial(_profiled, (), ()), ("one scan", {"grouping_pays": 1}), ("each", {"grouping_pays": 0})
    yield Choice("12 columns", 1_000_000, work, one, other, lambda costs: costs.grouping_pays)
    work, other = partial(_profiled, COLUMNS, SETS), ("each", {"finest_sets": 0, "union_rows": 0})
    one = ("16 in a statement", {**other[1], "union_sets": 16, "union_rows": NEVER})
    for rows in (20_000, 1_000_000):
        yield Choice("10 sets", rows, work, one, other, lambda costs, rows=rows: costs.union_rows >= rows)
    one = ("from the classes of all", {**other[1], "finest_sets": 32, "finest_rows_per_class": 16})
    yield Choice("10 sets", 1_000_000, work, one, other, lambda costs: costs.finest_sets > 0)
    one, other = ("by regions", {"region_rows": 1}), ("set by set", {"region_rows": NEVER})
    for rows in (100_000, 300_000):
        yield Choice("an audit", rows, _audited, one, other, lambda costs, rows=rows: costs.region_rows <= rows)


@contextmanager
def _tables(engine: str, folder: Path) -> Iterator[tuple[Callable[[int], str], Callable[[], float]]]:
    """What makes the table t of so many rows and names its source; and the CPU seconds spent so far."""
    if engine == "postgres":
        with PostgresServer() as server:
            reader = postgres.with_reader(server)

            def loaded(rows: int) -> str:
                postgres.load(server.url, postgres.visits(rows, folder), folder)
                return reader

            yield loaded, lambda: time.process_time() + postgres.spent(server)
        return

    def made(rows: int) -> str:
        file = folder / f"{rows}.duckdb"
        if not file.exists():
            with duckdb.connect(str(file)) as database:
                database.execute(f"CREATE TABLE t AS {postgres.visits(rows, folder)}")
        return str(file)

    yield made, time.process_time


def main(engines: Sequence[str] = ()) -> None:
    print("| engine | rows | work | one way | CPU s | the other | CPU s | ratio | taken |\n" + "|---" * 9 + "|")
    for name in engines or ("duckdb", "postgres"):
        with TemporaryDirectory() as folder, _tables(name, Path(folder)) as (source_of, spent):
            for choice in _choices():
                source, taken = source_of(choice.rows), ([], [])
                for way in (0, 1) * 3:
                    with connect(source) as engine:
                        declared, before = engine.costs, spent()
                        engine.costs = replace(declared, **(choice.one, choice.other)[way][1])
                        choice.work(engine)
                    time.sleep(0.2)  # until the server's sessions have ended
                    taken[way].append(spent() - before)
                one, other = map(median, taken)
                way = choice.one[0] if choice.takes_one(declared) else choice.other[0]
                print(
                    f"| {name} | {choice.rows:,} | {choice.name} | {choice.one[0]} | {one:.2f} | {choice.other[0]} "
                    f"| {other:.2f} | {one / other:.2f} | {way} |",
                    flush=True,
                )
