"""The statements of `qidsql impact` for the tests of mutants: questions about the table there and a copy of it."""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.measures.least_squares import Covariate
from qidsql.sql.dialects import Dialect
from qidsql.sql.distributions import Cases, SharedColumn, WeighedRows, regression_sums, value_distribution, weighed_rows
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Row, Statement

Question = Callable[[Engine, Relation], Statement[Any]]
Rows: TypeAlias = "list[tuple[str | None, int | None, str | None]]"


def impact_of(ask: Callable[..., Statement[Any]]) -> Question:
    """A question about the table people and its copy, in which values of b and who are suppressed."""
    return lambda e, _: ask(e.dialect, e.describe("people"), e.describe("people_copy"))


def shared(original: Table, protected: Table, name: str) -> SharedColumn:
    return SharedColumn(original.column(name), protected.column(name))


def distribution(dialect: Dialect, original: Table, protected: Table) -> Statement[Any]:
    weights = ("id", "id")
    asked = value_distribution(dialect, original, protected, shared(original, protected, "who"), weights, 4, True)

    def read(rows: list[Row]) -> Any:
        found = asked.read(rows)
        totals = (found.nulls, found.distinct, found.vanished, found.added, found.gained)
        return totals, [(v.level, v.shown, v.rows, v.weights, v.squares) for v in found.values]

    return Statement(asked.sql, asked.purpose, read)


def regression(dialect: Dialect, original: Table, protected: Table) -> Statement[Any]:
    """The number id on the levels of a and who, in the copy."""
    outcome, *columns = (shared(original, protected, name) for name in ("id", "a", "who"))
    covariates = [Covariate("a", False, 0), Covariate("who", False, 1)]
    asked = regression_sums(dialect, original, protected, outcome, columns, covariates, Cases(protected, True))

    def read(rows: list[Row]) -> Any:
        found = asked.read(rows)
        sums = {level: round(numbers[0], 6) + 0.0 for level, numbers in found.level_numbers.items()}
        mean, left, squares = (
            round(number, 6) + 0.0 for number in (*found.shifts, *found.numbers, found.products[0, 0])
        )
        return found.rows, found.level_rows, found.pair_rows, sums, mean, left, squares

    return Statement(asked.sql, asked.purpose, read)


def copied(rows: Rows) -> list[tuple[str | None, int | None, str | None, int]]:
    """The copy: eve is nobody there, and bob became gus once and NULL dan; b has a 0 and a -1."""
    names = {"eve": None}
    copy = [(a, b, names.get(str(who), who), number) for number, (a, b, who) in enumerate(rows)]
    copy[0], copy[3] = ("x", -1, "ann", 0), ("y", 0, "ann", 3)
    copy[6], copy[9] = (None, 2, "gus", 6), (None, 2, "dan", 9)
    return copy


def expected_distribution(original: Rows) -> object:
    """By rows before, then rows after, then the value; NULL apart."""
    before, after = [(row[2], n) for n, row in enumerate(original)], [(row[2], row[3]) for row in copied(original)]
    count = [Counter(who for who, _ in rows) for rows in (before, after)]
    names = sorted({who for who, _ in before + after if who}, key=lambda who: (-count[0][who], -count[1][who], who))
    values = [
        (
            level,
            who,
            (count[0][who], count[1][who]),
            *(tuple(float(sum(n**power for w, n in rows if w == who)) for rows in (before, after)) for power in (1, 2)),
        )
        for level, who in enumerate(names, 1)
    ]
    lost = sorted(values, key=lambda value: (value[2][1] - value[2][0], value[0]))
    return ((count[0][None], count[1][None]), (4, 4), 1, 1, 2), lost[:4]


def expected_sums(original: Rows) -> object:
    """Over the rows of the copy that have all three; levels by rows in the original."""
    a_levels, who_levels = {"x": 1, "y": 2, "z": 3}, {"ann": 1, "bob": 2, "dan": 4, "gus": 5}
    rows = [(n, ((0, a_levels[a]), (1, who_levels[who]))) for a, _, who, n in copied(original) if a and who]
    mean = sum(n for n, _ in rows) / len(rows)
    level_rows = Counter(level for _, pair in rows for level in pair)
    sums = {level: round(sum(n - mean for n, pair in rows if level in pair), 6) + 0.0 for level in level_rows}
    squares = sum((n - mean) ** 2 for n, _ in rows)
    return len(rows), level_rows, Counter(pair for _, pair in rows), sums, round(mean, 6), 0.0, round(squares, 6)


def questions(rows: Rows) -> dict[str, tuple[Question, object]]:
    """Each question with the answer that the definitions give."""
    weighed = WeighedRows(len(rows), 2, 1, 9)  # of b in the copy: 2 NULL, 1 negative, 9 above 0
    return {
        "weighed rows": (impact_of(lambda dialect, _, protected: weighed_rows(dialect, protected, "b")), weighed),
        "distribution": (impact_of(distribution), expected_distribution(rows)),
        "regression": (impact_of(regression), expected_sums(rows)),
    }


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "distributions/weighed_rows": (
        "weighed rows",
        [
            ("COUNT(*) AS row_count", "COUNT(:weight) AS row_count"),
            (":weight IS NULL THEN 1", ":weight IS NULL THEN 2"),
            (":weight < 0", ":weight <= 0"),
            (":weight > 0", ":weight >= 0"),
        ],
    ),
    "distributions/values_of_both": (
        "distribution",
        [
            ("rows_before DESC, rows_after", "rows_before, rows_after"),
            ("rows_after DESC, value", "value DESC"),
            ("CASE WHEN value IS NULL THEN 1 ELSE 0 END", "0"),
            ("SUM(rows_before)", "MIN(rows_before)"),
            ("SUM(rows_after)", "MIN(rows_after)"),
            ("SUM(weight_before)", "MIN(weight_before)"),
            ("SUM(weight_after)", "MIN(weight_after)"),
            ("SUM(squares_before)", "MIN(squares_before)"),
            ("SUM(squares_after)", "MIN(squares_after)"),
            ("COUNT(*) AS rows_before", "COUNT(DISTINCT 1) AS rows_before"),
            ("COUNT(*) AS rows_after", "COUNT(DISTINCT 1) AS rows_after"),
            ("SUM(:original_weight)", "COUNT(:original_weight)"),
            ("SUM(:protected_weight)", "COUNT(:protected_weight)"),
            ("SUM(:original_weight * :original_weight)", "SUM(:original_weight)"),
            ("SUM(:protected_weight * :protected_weight)", "SUM(:protected_weight)"),
        ],
    ),
    "distributions/value_distribution": (
        "distribution",
        [
            ("  level,\n  :shown", "  level + 1 AS level,\n  :shown"),
            (":shown AS shown", "(:shown) || 'x' AS shown"),
            ("value IS NULL THEN 1 ELSE 0 END AS missing", "value IS NULL THEN 0 ELSE 0 END AS missing"),
            ("rows_before > 0", "rows_before >= 0"),
            ("rows_after > 0", "rows_after >= 0"),
            ("value IS NOT NULL AND rows_after = 0", "rows_after >= 0"),
            ("value IS NOT NULL AND rows_before = 0", "rows_before >= 0"),
            ("value IS NOT NULL AND rows_after > rows_before", "rows_after > rows_before"),
            ("THEN rows_after - rows_before ELSE", "THEN rows_after ELSE"),
            ("ELSE 0 END DESC", "ELSE 0 END"),
            ("rows_before - rows_after DESC", "rows_before - rows_after"),
            ("LIMIT :most", "LIMIT (:most - 1)"),
        ],
    ),
    "distributions/regression_sums": (
        "regression",
        [
            ("COUNT(*) AS row_count", "COUNT(DISTINCT 1) AS row_count"),
            ("SELECT :means FROM cases", "SELECT :means FROM (SELECT * FROM cases WHERE k0 < 3) AS cases"),
            ("GROUPING SETS (:sets)", "GROUPING SETS (:sets, ()) HAVING COUNT(*) > 1"),
            ("SELECT * FROM :cases", "SELECT DISTINCT * FROM (SELECT * FROM :cases) AS cases WHERE k0 > 1"),
        ],
    ),
}
