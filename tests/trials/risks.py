"""Risks of random tables on three engines, against brute force: in the table, by person, by weight, in a population."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import isclose
from random import Random
from typing import Any

import qidsql
from qidsql.commands.risk.command import RiskResult
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from qidsql.measures.population import individual_risk, population_uniques
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store
from tests.trials import Ground, Trials

TOGETHER = 20  # tables in one catalog
COLUMNS = {"a": "INTEGER", "b": "VARCHAR(3)", "person": "INTEGER", "weight": "DOUBLE PRECISION"}
Row = tuple[int | None, str | None, int | None, float | None]


def risks(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one risk report of one table on one engine."""
    with ground.stores(DuckDBStore, PostgresStore, SQLiteStore) as stores:
        yield from islice(_all(stores, seed), number)


def _all(stores: Sequence[Store], seed: int) -> Iterator[str | None]:
    first = seed * 1_000_000
    while True:
        for store in stores:
            tables = {f"t{each}": _rows(Random(each)) for each in range(first, first + TOGETHER)}
            for name, rows in tables.items():
                store.table(name, COLUMNS, rows)
            with store.connect() as engine:
                for name, rows in tables.items():
                    try:
                        wrong = _wrong(engine, name, rows, Random(name))
                    except QidsqlError as error:
                        wrong = f"{type(error).__name__}: {error}"
                    yield wrong and f"{store.name} table {name}: {wrong}"
            for name in tables:
                store.execute(f"DROP TABLE {name}")
        first += TOGETHER


def _rows(draw: Random) -> list[Row]:
    """NULLs anywhere, classes of several sizes, persons with several rows; at times weights that cannot be used."""
    values, people = draw.randint(1, 60), draw.randint(1, 80)
    persons = (*draw.choice(((), (), (None,))), *range(people))
    weights: list[float | None] = [1.0, 2.0, 8.5, 400.0, 60_000.0]
    weights += draw.choice(([], [], [None], [0.0], [-1.0]))
    return [
        (
            draw.choice((None, *range(values))),
            draw.choice((None, "x", "y")),
            draw.choice(persons),
            draw.choice(weights),
        )
        for _ in range(draw.choice((0, 1, 2, draw.randint(3, 30), draw.randint(30, 120))))
    ]


def _wrong(engine: Engine, table: str, rows: Sequence[Row], draw: Random) -> str | None:
    """What a report says that the definitions do not; None if all is right."""
    k, options = draw.randint(2, 6), draw.choice(("rows", "person", "weight", "population"))
    given: dict[str, Any] = {"columns": ["a", "b"], "k": k}
    if options == "person":
        return _wrong_prosecutor(qidsql.risk(engine, table, **given, entity="person"), _persons(rows), k)
    if options == "weight":
        return _wrong_weighted(engine, table, rows, given)
    if options == "population":
        given["sampling_fraction"] = draw.choice(("0.01", "0.2", "0.5", "0.9", "1"))
    result = qidsql.risk(engine, table, **given)
    if options == "population":
        if result.population != qidsql.risk(engine, table, **given).population:
            return "another backtest the second time"
        if wrong := _wrong_population(result, rows):
            return wrong
    return _wrong_prosecutor(result, _crowds(rows), k)


def _crowds(rows: Sequence[Row]) -> list[int]:
    """Of each row, the rows of its class."""
    return [sum(other[:2] == row[:2] for other in rows) for row in rows]


def _persons(rows: Sequence[Row]) -> list[int]:
    """Of each person, the persons of the smallest class; nothing if a row is nobody's, as it may be anybody's."""
    if any(row[2] is None for row in rows):
        return []
    own: dict[Hashable, list[int]] = {}
    for row in rows:
        own.setdefault(row[2], []).append(len({other[2] for other in rows if other[:2] == row[:2]}))
    return [min(sizes) for sizes in own.values()]


def _wrong_prosecutor(result: RiskResult, crowds: Sequence[int], k: int) -> str | None:
    found = result.prosecutor
    if not crowds or found is None:
        return None if not crowds and found is None and result.verdict == "inconclusive" else "no rows, or no figures"
    single = [Fraction(1, crowd) for crowd in crowds]
    figures = (found.rows, found.unique_rows, found.rows_below_k, found.highest, found.expected)
    true = (len(single), single.count(Fraction(1)), sum(r > Fraction(1, k) for r in single), max(single), sum(single))
    return None if figures == true else f"in the table {figures}, not {true}"


def _wrong_weighted(engine: Engine, table: str, rows: Sequence[Row], given: dict[str, Any]) -> str | None:
    unusable = any(row[3] is None or row[3] <= 0 for row in rows)
    try:
        found = qidsql.risk(engine, table, **given, weight="weight").weighted
    except QidsqlError as error:
        return None if unusable and "cannot be used" in str(error) else str(error)
    if unusable or not rows or found is None:
        return None if found is None and not rows else "no rows, or weights that cannot be used, or no figures"
    true = []
    for row, crowd in zip(rows, _crowds(rows), strict=True):
        total = sum(other[3] or 0 for other in rows if other[:2] == row[:2])
        true.append(individual_risk(crowd, min(1.0, crowd / total)))
    above = sum(risk > 1 / given["k"] + 1e-9 for risk in true)
    if found.rows_above != above or not isclose(found.expected, sum(true), rel_tol=1e-5):
        return f"by weight {found.rows_above} above, {found.expected} expected, not {above}, {sum(true)}"
    return None if sum(each.records for each in found.bins) == len(rows) else "rows missing in the histogram"


def _wrong_population(result: RiskResult, rows: Sequence[Row]) -> str | None:
    found = result.population
    if found is None:
        return None if not rows else "no population"
    sizes = Counter(Counter(row[:2] for row in rows).values())
    if found.size == len(rows) or not sizes[1]:
        return None if not found.estimates and found.obstacle else "estimates without anything to estimate"
    true = [(each.method, each.uniques) for each in population_uniques(sizes, found.size)]
    if [(each.method, each.uniques) for each in found.estimates] != true:
        return f"estimates {found.estimates}, not {true}"
    if any(each.uniques is None and not each.failure for each in found.estimates):
        return "a method that did not converge without a reason"
    return None


TRIALS = Trials("risks of random tables: in the table, by person, by weight, in a population", 2_000, 30, risks)
