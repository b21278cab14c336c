"""The statements behind `qidsql risk --household` for the tests of mutants: who stands for the household."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from qidsql.engines.base import Engine
from qidsql.measures.population import individual_risk
from qidsql.sql.population import household_risks
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Row, Statement

Question = Callable[[Engine, Relation], Statement[Any]]
Rows: TypeAlias = "Sequence[tuple[str | None, int | None, str | None]]"
DIGITS = 9


def households(household: str, weight: str | None = None) -> Question:
    """The risks of households on a and b, without what the last digits of a float add."""

    def ask(engine: Engine, source: Relation) -> Statement[Any]:
        asked = household_risks(engine.dialect, source, ("a", "b"), household, weight)

        def read(rows: list[Row]) -> tuple[float, ...]:
            found = asked.read(rows)
            counts = (found.households, found.rows, found.without, found.certain)
            return (*counts, *(round(each, DIGITS) for each in (found.highest, found.expected, found.expected_rows)))

        return Statement(asked.sql, asked.purpose, read)

    return ask


def by_definition(rows: Rows, weights: Sequence[int] | None) -> tuple[float, ...]:
    """1 - the product of (1 - risk) over the members of each household; a row without one is one of its own."""
    sizes = Counter(row[:2] for row in rows)
    summed: Counter[tuple[str | None, int | None]] = Counter()
    for row, weight in zip(rows, weights or [0] * len(rows), strict=True):
        summed[row[:2]] += weight
    homes: dict[object, list[float]] = defaultdict(list)
    for place, (*_, who) in enumerate(rows):
        size, weight = sizes[rows[place][:2]], summed[rows[place][:2]]
        risk = 1 / size if weights is None else individual_risk(size, min(1, size / weight) if weight else 1)
        homes[place if who is None else who].append(1 - risk)
    risks = {home: 1 - prod(safe) for home, safe in homes.items()}
    without = sum(row[-1] is None for row in rows)
    counts = (len(homes) - without, len(rows), without, sum(each == 1 for each in risks.values()))
    expected_rows = sum(len(homes[home]) * each for home, each in risks.items())
    floats = (max(risks.values()), sum(risks.values()), expected_rows)
    return (*counts, *(round(each, DIGITS) for each in floats))


def questions(rows: Rows) -> dict[str, tuple[Question, object]]:
    alone = [(a, b, f"row {number}") for number, (a, b, _) in enumerate(rows)]  # so that no member hides another
    return {
        "households": (households("who"), by_definition(rows, None)),
        "households by weights": (households("id", "id"), by_definition(alone, range(len(rows)))),
    }


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "population/household_risk": (
        "households",
        [
            ("1 - EXP(SUM(LN(1 - CASE", "EXP(SUM(LN(1 - CASE"),
            ("WHEN MAX(risk) >= 1 THEN CAST(1 AS DOUBLE)", "WHEN MAX(risk) >= 1 THEN CAST(0 AS DOUBLE)"),
            ("COUNT(*) AS members", "COUNT(DISTINCT 1) AS members"),
            ("WHERE NOT household IS NULL", "WHERE household IS NULL"),
            ("SELECT household, 1 AS members", "SELECT household, 2 AS members"),
            ("FROM people WHERE household IS NULL", "FROM people WHERE FALSE"),
            ("COUNT(household) AS households", "COUNT(*) AS households"),
            ("SUM(CASE WHEN household IS NULL THEN 1", "SUM(CASE WHEN household IS NULL THEN 0"),
            ("SUM(CASE WHEN risk >= 1 THEN 1", "SUM(CASE WHEN risk > 0 THEN 1"),
            ("MAX(risk) AS VARCHAR) AS highest", "MIN(risk) AS VARCHAR) AS highest"),
            ("SUM(risk) AS VARCHAR) AS expected,", "AVG(risk) AS VARCHAR) AS expected,"),
            ("SUM(members * risk)", "SUM(risk)"),
        ],
    ),
    "population/risk_by_class": (
        "households",
        [
            ("COUNT(*) OVER (PARTITION BY :columns)", "COUNT(*) OVER ()"),
            ("CAST(1 AS DOUBLE) /", "CAST(2 AS DOUBLE) /"),
        ],
    ),
    "population/risk_by_weight": (
        "households by weights",
        [
            ("COUNT(*) OVER (PARTITION BY :columns)", "1 + COUNT(*) OVER (PARTITION BY :columns)"),
            ("SUM(:weight) OVER (PARTITION BY :columns)", "MAX(:weight) OVER (PARTITION BY :columns)"),
            (
                "WHEN class_weight <= class_size THEN CAST(1 AS DOUBLE)",
                "WHEN class_weight <= class_size THEN CAST(0.5 AS DOUBLE)",
            ),
            ("p / (1 - p) * LN(1 / p)", "p * LN(1 / p)"),
            ("(CAST(1 AS DOUBLE) / climbed - risk)", "(CAST(1 AS DOUBLE) / climbed + risk)"),
            ("WHERE climbed < class_size\n", "WHERE climbed < class_size - 1\n"),
            ("step + 1,\n    term * (step + 1)", "step + 1,\n    term * (step + 2)"),
            ("total + term * (step + 1)", "total + term * (step + 2)"),
            ("WHERE term > :negligible * total", "WHERE term > total"),
            ("WHERE climbed = class_size", "WHERE climbed = 1"),
            ("MAX(p) / class_size * MAX(total)", "MAX(p) / class_size * MIN(total)"),
        ],
    ),
}
