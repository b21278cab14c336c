"""What suppression did to a table, against definitions written again here, on real engines."""

import json
from collections import Counter
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from random import Random

import duckdb
import numpy
import pytest

from qidsql import impact
from qidsql.commands.impact.command import ImpactRequest
from qidsql.commands.impact.impact import impact as run
from qidsql.commands.impact.result import ImpactResult
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName, UsageError
from qidsql.formats import json as json_report
from tests import rendering
from tests.commandline import inside, refused
from tests.exhaustive import always, first, pairs
from tests.stores import ONE_ENGINE, TWO_ENGINES, PostgresStore, Store, quoted
from tests.ways import work

pytestmark = ONE_ENGINE

Cell = object
Row = tuple[Cell, ...]

# Certified by NIST's Statistical Reference Datasets (Linear Least Squares Regression, itl.nist.gov/div898/strd)
NORRIS = """0.1 0.2 338.8 337.4 118.1 118.2 888.0 884.6 9.2 10.1 228.1 226.5 668.5 666.3 998.5 996.3 449.1 448.6
778.9 777.0 559.2 558.2 0.3 0.4 0.1 0.6 778.1 775.5 668.8 666.9 339.3 338.0 448.9 447.5 10.8 11.6 557.7 556.0
228.3 228.1 998.0 995.8 888.8 887.6 119.6 120.2 0.3 0.3 0.6 0.3 557.6 556.8 339.3 339.1 888.0 887.2 998.5 999.0
778.9 779.0 10.2 11.1 117.6 118.3 228.9 229.2 668.4 669.1 449.2 448.9 0.2 0.5"""
LONGLEY = """60323 83.0 234289 2356 1590 107608 1947 61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949 61187 89.5 284599 3351 1650 110929 1950 63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952 64989 99.0 365385 1870 3547 115094 1953 63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955 67857 104.6 419180 2822 2857 118734 1956 68169 108.4 442769 2936 2798 120445
1957 66513 110.8 444546 4681 2637 121950 1958 68655 112.6 482704 3813 2552 123366 1959 69564 114.2 502601 3931 2514
125368 1960 69331 115.7 518173 4806 2572 127852 1961 70551 116.9 554894 4007 2827 130081 1962"""
CERTIFIED = {
    "norris": (
        NORRIS,
        [(-0.262323073774029, 0.232818234301152), (1.00211681802045, 0.429796848199937e-03)],
        (0.884796396144373, 0.999993745883712, 5436385.54079785),
    ),
    "longley": (
        LONGLEY,
        [
            (-3482258.63459582, 890420.383607373),
            (15.0618722713733, 84.9149257747669),
            (-0.358191792925910e-01, 0.334910077722432e-01),
            (-2.02022980381683, 0.488399681651699),
            (-1.03322686717359, 0.214274163161675),
            (-0.511041056535807e-01, 0.226073200069370),
            (1829.15146461355, 455.478499142212),
        ],
        (304.854073561965, 0.995479004577296, 330.285339234588),
    ),
}


@TWO_ENGINES
@pytest.mark.parametrize("name", first(CERTIFIED))
def test_certified_regressions(store: Store, name: str) -> None:
    text, coefficients, (error, r_squared, f) = CERTIFIED[name]
    width = len(coefficients)
    cells = [float(cell) for cell in text.split()]
    rows = [tuple(cells[start : start + width]) for start in range(0, len(cells), width)]
    names = ["y", *(f"x{place}" for place in range(1, width))]
    for table in ("full_data", "protected"):
        store.table(table, dict.fromkeys(names, "DOUBLE PRECISION"), rows)
    found = impact(store.url, "full_data", protected="protected", outcome="y", covariates=names[1:])
    assert found.regression is not None
    for model in found.regression.models:
        assert model.fit is not None
        for coefficient, (estimate, spread) in zip(model.fit.coefficients, coefficients, strict=True):
            assert coefficient.estimate == pytest.approx(estimate, rel=1e-8)
            assert coefficient.standard_error == pytest.approx(spread, rel=1e-8)
        assert model.fit.residual_standard_error == pytest.approx(error, rel=1e-8)
        assert model.fit.r_squared == pytest.approx(r_squared, rel=1e-10)
        assert model.fit.f == pytest.approx(f, rel=1e-8)


def random_pair(random: Random, rows: int, columns: int) -> tuple[list[Row], list[Row]]:
    """A table and its copy with cells suppressed: texts with NULLs, then a number as outcome and a weight."""
    original = [
        (
            *(random.choices([None, "a", "b", "c d", "'; --", ""], [1, 9, 5, 3, 2, 1])[0] for _ in range(columns)),
            round(random.gauss(100, 15), 1),
            random.choice([0, 1, 2.5, 10]),
        )
        for _ in range(rows)
    ]
    copy = [
        (
            *(None if random.random() < 0.1 * place else cell for place, cell in enumerate(row[:columns], 1)),
            *row[columns:],
        )
        for row in original
    ]
    return original, copy


def make(store: Store, original: list[Row], copy: list[Row], columns: int, names: list[str]) -> None:
    types = ["VARCHAR(9)"] * columns + ["DOUBLE PRECISION"] * 2
    for table, rows in (("full_data", original), ("protected", copy)):
        store.table(table, dict(zip(names, types, strict=True)), rows)


@pytest.mark.exhaustive
@TWO_ENGINES
@pytest.mark.parametrize(("seed", "weighted"), pairs(range(6), [False, True]))
def test_cells_and_distributions_against_the_rows(store: Store, seed: int, weighted: bool) -> None:
    random = Random(seed)
    columns = random.randint(1, 4)
    names = ['we"ird', "Select", "value", "level", "score", "w"]
    names = [*names[:columns], *names[-2:]]
    original, copy = random_pair(random, random.randint(5, 60), columns)
    make(store, original, copy, columns, names)
    found = impact(
        store.url,
        "full_data",
        protected="protected",
        weight="w" if weighted else None,
        show_values=True,
        exclude=["score"] if weighted else ["score", "w"],
    )
    assert [variable.name for variable in found.variables] == names[:columns]
    assert (found.rows_before, found.rows_after) == (len(original), len(copy))
    compared = []
    for place, variable in enumerate(found.variables):
        before, after = ([row[place] for row in rows] for rows in (original, copy))
        had, has = (Counter(cell for cell in cells if cell is not None) for cells in (before, after))
        assert variable.suppressed == after.count(None) - before.count(None)
        assert (variable.nulls_before, variable.nulls_after) == (before.count(None), after.count(None))
        assert (variable.values_before, variable.values_after) == (len(had), len(has))
        assert variable.vanished == len(had.keys() - has.keys())
        assert (variable.added, variable.gained) == (0, 0)
        lost = had - has
        if lost:
            assert variable.most_suppressed is not None
            assert variable.most_suppressed.suppressed == max(lost.values()) == lost[variable.most_suppressed.value]
        else:
            assert variable.most_suppressed is None
        assert variable.values is not None
        assert {value.value: (value.rows_before, value.rows_after) for value in variable.values} == {
            v: (had[v], has[v]) for v in had
        }
        assert [value.rank for value in variable.values] == list(range(1, len(had) + 1))
        assert [value.rows_before for value in variable.values] == sorted(had.values(), reverse=True)
        for value in variable.values:
            shares = [share(rows, place, value.value, weighted) for rows in (original, copy)]
            assert [value.percent_before, value.percent_after] == pytest.approx(shares, abs=1e-10)
            if value.kept:
                compared.append(value)
    assert found.values_overlapping == sum(v.overlap is True for v in compared)
    assert found.values_compared == sum(v.overlap is not None for v in compared)


def share(rows: list[Row], place: int, value: str | None, weighted: bool) -> float | None:
    """The (weighted) percentage of a value among the rows that have one."""
    weights = [(row[place], float(str(row[-1])) if weighted else 1.0) for row in rows if row[place] is not None]
    total = sum(weight for _, weight in weights)
    return 100 * sum(weight for cell, weight in weights if cell == value) / total if total else None


@pytest.mark.exhaustive
@TWO_ENGINES
@pytest.mark.parametrize("seed", always(0, 1, longer=range(2, 5)))
def test_regressions_against_least_squares_over_the_rows(store: Store, seed: int) -> None:
    """Texts as factors, a suppressed cell as a level of its own when filled; numbers filled with the constant."""
    random = Random(100 + seed)
    original: list[Row] = []
    for _ in range(random.randint(60, 120)):
        group, age, flag = random.choice("aaabbc"), random.choice([None, *range(18, 60)]), random.random() < 0.4
        score = 50 + 3 * (group == "b") + 0.2 * (age or 30) + 2 * flag + random.gauss(0, 2)
        original.append((round(score, 2) if random.random() < 0.95 else None, group, age, flag))
    copy: list[Row] = [(row[0], *(None if random.random() < 0.15 else cell for cell in row[1:])) for row in original]
    types = {"score": "DOUBLE PRECISION", "group": "VARCHAR(9)", "age": "INTEGER", "flag": "BOOLEAN"}
    store.table("full_data", types, original)
    store.table("protected", types, copy)
    covariates = ["age", "group", "flag"]
    found = impact(store.url, "full_data", protected="protected", outcome="score", covariates=covariates, fill=99)
    assert found.regression is not None
    assert [model.data for model in found.regression.models] == [
        "full data",
        "suppressed rows excluded",
        "suppressed cells replaced by 99",
    ]
    for model, rows, filled in zip(found.regression.models, (original, copy, copy), (False, False, True), strict=True):
        kept = [row for row in rows if row[0] is not None and (filled or None not in row)]
        assert model.fit is not None
        assert model.fit.rows == len(kept)
        outcome = numpy.array([row[0] for row in kept], dtype=float)
        blocks = {"age": [[99.0 if row[2] is None else float(str(row[2]))] for row in kept]}
        for name, place in (("group", 1), ("flag", 3)):
            levels = sorted({str(row[place]) for row in kept})
            blocks[name] = [[float(str(row[place]) == level) for level in levels[1:]] for row in kept]
        ones = numpy.ones((len(kept), 1))
        left = residual(numpy.hstack([ones, *(numpy.array(blocks[name]) for name in covariates)]), outcome)
        rest = model.fit.degrees_of_freedom[1]
        assert rest == len(kept) - 1 - sum(len(block[0]) for block in blocks.values())
        for test in model.fit.covariates:
            others = [numpy.array(blocks[name]) for name in covariates if name != test.name]
            more = residual(numpy.hstack([ones, *others]), outcome) - left
            assert test.degrees_of_freedom == len(blocks[test.name][0])
            assert isclose(test.f, more / test.degrees_of_freedom / (left / rest), rel_tol=1e-7, abs_tol=1e-9)
        age = next(c for c in model.fit.coefficients if c.term.covariate == "age")
        whole = numpy.hstack([ones, *(numpy.array(blocks[name]) for name in covariates)])
        assert age.estimate == pytest.approx(numpy.linalg.lstsq(whole, outcome, rcond=None)[0][1], rel=1e-8)


def residual(matrix: "numpy.ndarray", outcome: "numpy.ndarray") -> float:
    return float(((outcome - matrix @ numpy.linalg.lstsq(matrix, outcome, rcond=None)[0]) ** 2).sum())


WILSON = {"BYSEX": (2, 8), "BYRACE": (7, 10), "BYPLANG": (5, 3), "BYOCCUM": (17, 47), "BYSCTRL": (3, 9)}


@pytest.fixture(scope="module")
def wilson(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Some of his variables with his numbers of values and rates of suppression; rare values go first."""
    random = Random(2002)
    names, original, copy = [*WILSON, "F2BYWT", "BYTXCSTD"], [], []
    for _ in range(2000):
        values = [min(int(random.expovariate(4 / number)), number - 1) + 1 for number, _ in WILSON.values()]
        score = 50 + 2 * values[0] - 0.8 * values[1] + 3 * values[4] + random.gauss(0, 8)
        rest = [round(random.expovariate(1 / 250) + 1, 3), round(score, 2)]
        chances = [
            rate / 100 * (0.4 + 2 * value / number)
            for value, (number, rate) in zip(values, WILSON.values(), strict=True)
        ]
        original.append((*values, *rest))
        copy.append((*(None if random.random() < p else v for v, p in zip(values, chances, strict=False)), *rest))
    copy = [(*row[:3], None if row[3] == max(r[3] or 0 for r in original) else row[3], *row[4:]) for row in copy]
    path = tmp_path_factory.mktemp("wilson") / "els.duckdb"
    with duckdb.connect(str(path)) as connection:
        for table, rows in (("els", original), ("els_2_anonymous", copy)):
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} DOUBLE' for name in names)})")
            values = ", ".join("(" + ", ".join("NULL" if c is None else str(c) for c in row) + ")" for row in rows)
            connection.execute(f"INSERT INTO {table} VALUES {values}")
    yield path


def rendered(result: ImpactResult) -> str:
    return " ".join(rendering.render(result, 140).split())


@pytest.mark.exhaustive
def test_wilsons_tables(wilson: Path) -> None:
    """Tables 2 to 4 and section 4.2, said as he says them."""
    covariates = ["BYSEX", "BYRACE", "BYPLANG", "BYSCTRL"]
    found = impact(
        str(wilson), "els", protected="els_2_anonymous", weight="F2BYWT", outcome="BYTXCSTD", covariates=covariates,
        fill=99, columns=list(WILSON),
    )  # fmt: skip
    text = rendered(found)
    by_name = {variable.name: variable for variable in found.variables}
    assert list(by_name) == list(WILSON)
    assert found.regression is not None
    most = by_name["BYOCCUM"].most_suppressed
    assert most is not None
    assert f"{by_name['BYOCCUM'].suppressed} {float(100 * by_name['BYOCCUM'].share):.1f} %" in text
    assert f"{100 * most.suppressed / by_name['BYOCCUM'].lost:.1f} % ({most.suppressed})" in text
    assert by_name["BYOCCUM"].vanished > 0
    assert (
        f"BYOCCUM {by_name['BYOCCUM'].vanished} of {by_name['BYOCCUM'].values_before} values: by frequency the" in text
    )
    overlapping, judged = found.values_overlapping, found.values_compared
    assert judged == sum(variable.values_after for variable in found.variables)
    assert (
        f"95 % confidence intervals overlap for {overlapping} of {judged} values ({100 * overlapping / judged:.1f} %)"
        in text
    )
    assert "Weighted percentages of the values, before and after" in text
    assert "full data 2,000" in text
    assert "suppressed cells replaced by 99 2,000" in text
    for model in found.regression.models:
        assert model.fit is not None
        others = [name for name in covariates if name not in model.fit.significant]
        words = "all but " + " and ".join(others) if others else "all"
        if len(others) == len(covariates):
            words = "none"
        assert f"{model.fit.residual_standard_error:.4g} {words}" in text
    assert "all but BYPLANG" in text  # which the outcome was made without


def test_differences_are_full_less_protected_and_scaled_by_the_full_percentage(store: Store) -> None:
    """8 of 10 a's before, 4 of 5 after minus one: 80 % to 75 %, which is 6.25 % of 80."""
    store.table("full_data", {"x": "VARCHAR(2)"}, [("a",)] * 8 + [("b",)] * 2)
    store.table("protected", {"x": "VARCHAR(2)"}, [("a",)] * 6 + [(None,)] * 2 + [("b",)] * 2)
    found = impact(store.url, "full_data", protected="protected")
    a, b = found.to_dict()["variables"][0]["values"]  # type: ignore[index]
    assert (a["percent_before"], a["percent_after"], a["relative_difference"]) == (80, 75, 6.25)
    assert (b["percent_before"], b["percent_after"], b["relative_difference"]) == (20, 25, -25)
    assert found.to_dict()["differences"] == {"least": -5, "greatest": 5, "mean": 0, "median": 0}


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_mark_stands_for_a_suppressed_cell_in_the_copy_alone(store: Store) -> None:
    """A number that became a text for the sake of its marks is compared by its text, and a number to a regression."""
    rows = [(i % 3, "*" if i % 5 == 0 else "x", float(i * i % 7)) for i in range(30)]
    store.table("full_data", {"n": "INTEGER", "t": "VARCHAR(9)", "y": "DOUBLE PRECISION"}, rows)
    copy = [("*" if i < 6 else str(n), "*" if i < 3 else t, y) for i, (n, t, y) in enumerate(rows)]
    store.table("protected", {"n": "VARCHAR(20)", "t": "VARCHAR(9)", "y": "DOUBLE PRECISION"}, copy)
    found = impact(
        store.url, "full_data", protected="protected", mark="*", outcome="y", covariates="n", show_values=True
    )
    n, t, y = found.variables
    assert (n.suppressed, n.vanished, n.added) == (6, 0, 0)
    assert (t.suppressed, t.vanished) == (6 + 2, 1)
    assert [value.value for value in t.vanished_values] == ["*"]
    assert y.suppressed == 0
    assert found.regression is not None
    assert [model.fit and model.fit.rows for model in found.regression.models] == [30, 24]
    plain = impact(store.url, "full_data", protected="protected", exclude="y").variables
    assert [(variable.suppressed, variable.gained) for variable in plain] == [(0, 6), (0, 2)]
    assert "the copy was changed, not only suppressed" in rendered(
        impact(store.url, "full_data", protected="protected")
    )


@TWO_ENGINES
def test_types_of_every_kind(store: Store) -> None:
    columns = {
        "d": "DATE",
        "b": "BOOLEAN",
        "f": "REAL",
        "t": "TIMESTAMP",
        "m": "DECIMAL(6,2)",
        "j": "JSON",
        "u": "UUID",
    }
    rows = [
        (f"2024-01-{1 + i % 9:02}", i % 2 == 0, [0.5, float("nan"), -0.0][i % 3], f"2024-01-01 00:00:0{i % 5}",
         i % 4, f'{{"a": {i % 3}}}', f"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1{i % 3}")
        for i in range(40)
    ]  # fmt: skip
    store.table("full_data", columns, rows)
    store.table("protected", {**columns, "m": "DOUBLE PRECISION", "d": "VARCHAR(10)"}, [(None,) * 7, *rows[1:]])
    found = impact(store.url, "full_data", protected="protected", outcome="m", covariates=["b", "d"])
    assert [variable.suppressed for variable in found.variables] == [1] * 7
    assert [(each.values_before, each.values_after) for each in found.variables] == [
        (n, n) for n in (9, 2, 3, 5, 4, 3, 3)
    ]
    assert all(variable.added == variable.gained == 0 for variable in found.variables)
    assert found.regression is not None
    assert all(model.fit is not None for model in found.regression.models)


def test_texts_of_two_collations_are_compared(postgres_store: PostgresStore) -> None:
    for table, collation in (("full_data", "C"), ("protected", "POSIX")):
        postgres_store.table(table, {"t": f'TEXT COLLATE "{collation}"'}, [("a",), ("A",), (None,)])
    [found] = impact(postgres_store.url, "full_data", protected="protected").variables
    assert (found.values_before, found.values_after, found.suppressed, found.gained) == (2, 2, 0, 0)


def test_tables_that_differ_are_said(store: Store) -> None:
    store.table(
        "full_data", {"a": "INTEGER", "gone": "INTEGER", "B": "INTEGER"}, [(i % 3, i, i % 2) for i in range(10)]
    )
    store.table("protected", {"b": "INTEGER", "a": "INTEGER", "new": "INTEGER"}, [(i % 2, 7, i) for i in range(8)])
    found = impact(store.url, "full_data", protected="protected")
    assert [variable.name for variable in found.variables] == ["a", "B"]
    assert (found.missing_columns, found.extra_columns) == (("gone",), ("new",))
    assert (found.rows_before, found.rows_after) == (10, 8)
    a, b = found.variables
    assert (a.suppressed, a.lost, a.gained, a.added, a.vanished) == (2, 10, 8, 1, 3)
    assert (b.suppressed, b.gained) == (2, 0)
    text = rendered(found)
    for words in ("Missing gone: not in the copy", "Extra new: only in the copy", "the copy has 2 rows fewer"):
        assert words in text


def test_more_values_than_the_limit_are_only_counted(store: Store) -> None:
    rows = [(i // 2, i % 2) for i in range(40)]
    store.table("full_data", {"many": "INTEGER", "few": "INTEGER"}, rows)
    store.table(
        "protected", {"many": "INTEGER", "few": "INTEGER"}, [(None if i < 3 else m, f) for i, (m, f) in enumerate(rows)]
    )
    many, few = impact(store.url, "full_data", protected="protected", max_values=19).variables
    assert many.values is None
    assert (many.suppressed, many.values_before, many.values_after, many.vanished) == (3, 20, 19, 1)
    assert many.most_suppressed is not None
    assert (many.most_suppressed.suppressed, many.most_suppressed.rank) == (2, 20)
    assert few.values is not None
    assert impact(store.url, "full_data", protected="protected", max_values=20).variables[0].values is not None


def test_weights_that_cannot_be_used_are_refused(store: Store) -> None:
    columns = {"a": "INTEGER", "w": "DOUBLE PRECISION", "t": "VARCHAR(5)"}
    store.table("full_data", columns, [(1, 1, "x"), (1, 2, "x")])
    store.table("nulls", columns, [(1, None, "x"), (1, -2, "x"), (None, float("inf"), "x"), (1, float("nan"), "x")])
    store.table("zeros", columns, [(1, 0, "x")])
    store.table("negative", columns, [(1, 1, "x"), (1, -1, "x")])
    with pytest.raises(UsageError, match=r"in \S*nulls it is NULL in 1 row and negative or not finite in 3"):
        impact(store.url, "full_data", protected="nulls", weight="w")
    with pytest.raises(UsageError, match=r"in \S*negative it is NULL in 0 rows and negative or not finite in 1"):
        impact(store.url, "full_data", protected="negative", weight="w")
    with pytest.raises(UsageError, match="is 0 in every row of"):
        impact(store.url, "full_data", protected="zeros", weight="w")
    with pytest.raises(UsageError, match="weight t must be a column of numbers in both"):
        impact(store.url, "full_data", protected="zeros", weight="t")


@pytest.mark.exhaustive
def test_questions_that_cannot_be_right_are_refused(store: Store) -> None:
    store.table("full_data", {"a": "INTEGER", "t": "VARCHAR(5)", "y": "INTEGER"}, [(i, str(i), i) for i in range(300)])
    store.table("protected", {"a": "INTEGER", "t": "VARCHAR(5)"}, [(1, "x")])
    store.table("other", {"z": "INTEGER"}, [(1,)])
    for options, words in [
        ({"protected": "full_data"}, "compared with itself"),
        ({"protected": "other"}, "has no column of"),
        ({"protected": "protected", "outcome": "a"}, "give both, or none"),
        ({"protected": "protected", "covariates": "a"}, "give both, or none"),
        ({"protected": "protected", "fill": 99}, "fill is for a regression"),
        ({"protected": "protected", "outcome": "a", "covariates": "a"}, "cannot be the outcome and a covariate"),
        ({"protected": "protected", "outcome": "t", "covariates": "a"}, "outcome t must be a column of numbers"),
        ({"protected": "protected", "outcome": "a", "covariates": "t"}, "a regression takes 200 at most"),
        ({"protected": "protected", "max_values": 0}, "max_values must be at least 1"),
    ]:  # fmt: skip
        with pytest.raises(UsageError, match=words):
            impact(store.url, "full_data", **options)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="no column y in"):
        impact(store.url, "full_data", protected="protected", outcome="y", covariates="a")
    with pytest.raises(UnknownName, match="did you mean"):
        impact(store.url, "full_data", protected="protectd")


def test_what_was_measured_stands_when_the_budget_ends(store: Store) -> None:
    columns = {f"c{i}": "INTEGER" for i in range(9)}
    for table in ("full_data", "protected"):
        store.table(table, columns, [tuple(range(9))])
    found = impact(store.url, "full_data", protected="protected", max_statements=7)
    assert str(found.verdict) == "inconclusive"
    assert 0 < len(found.variables) < 9
    assert "the budget of" in rendered(found)
    assert found.account.statements <= 7


def test_ctrl_c_leaves_what_was_measured(store: Store) -> None:
    for table in ("full_data", "protected"):
        store.table(table, {"a": "INTEGER", "y": "INTEGER"}, [(i % 3, i) for i in range(20)])

    def stop_at_the_regression(stage: str) -> None:
        if "regression" in stage:
            raise KeyboardInterrupt

    request = ImpactRequest("full_data", protected="protected", outcome="y", covariates="a")
    with store.connect() as engine:
        found = run(engine, request, stop_at_the_regression)
    assert (str(found.verdict), found.account.unfinished) == ("inconclusive", ("interrupted",))
    assert len(found.variables) == 2
    assert found.regression is not None
    assert found.regression.models == ()
    assert "was not fully compared" in rendered(found)


def test_no_row_is_nothing_to_compare(store: Store) -> None:
    store.table("full_data", {"a": "INTEGER"}, [(1,)])
    store.table("empty", {"a": "INTEGER"}, [])
    for table, protected in (("full_data", "empty"), ("empty", "full_data")):
        found = impact(store.url, table, protected=protected)
        assert str(found.verdict) == "inconclusive"
        assert "has no row" in rendered(found)


def test_one_statement_per_column_and_regression(store: Store) -> None:
    for table in ("full_data", "protected"):
        store.table(table, {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, [(i, i % 3, i % 2) for i in range(20)])
    with store.connect() as engine:
        assert isinstance(engine, Engine)
        found = impact(engine, "full_data", protected="protected", outcome="a", covariates=["b", "c"], fill=0)
    assert found.account.statements == 2 + 3 + 3


CANARIES = [f"cnry{i}" for i in range(6)]


@pytest.mark.exhaustive
def test_no_value_in_any_output_unless_it_was_asked_for(store: Store) -> None:
    rows = [(CANARIES[i % 6], 770_001 + i % 5, f"2077-01-0{1 + i % 9}", float(i % 7), 1 + i % 2) for i in range(200)]
    columns = {"name": "VARCHAR(9)", "number": "INTEGER", "day": "DATE", "y": "DOUBLE PRECISION", "w": "INTEGER"}
    copy = [(None if n == "cnry5" else n, *rest) for n, *rest in rows]
    store.table("full_data", columns, rows)
    store.table("protected", columns, copy)
    options = {"protected": "protected", "weight": "w", "outcome": "y", "covariates": ["name", "number"], "fill": 5}
    with store.connect() as engine:
        asked: list[str] = []
        engine.watchers.append(lambda news: asked.append(news.sql))
        hidden = impact(engine, "full_data", **options)  # type: ignore[arg-type]
        shown = impact(engine, "full_data", **options, show_values=True)  # type: ignore[arg-type]
    for text in (json_report.render(hidden), rendering.render(hidden, 200), *asked):
        assert "cnry" not in text
        assert "7700" not in text
        assert "2077-" not in text
    assert '"value"' not in json_report.render(hidden)
    for text in (json_report.render(shown), rendering.render(shown, 200)):
        assert "cnry5" in text
        assert "cnry4" in text


def test_no_value_when_a_text_is_no_number(store: Store) -> None:
    store.table("full_data", {"n": "INTEGER", "y": "INTEGER"}, [(i, i * i) for i in range(9)])
    store.table("protected", {"n": "VARCHAR(9)", "y": "INTEGER"}, [("cnry7", i) for i in range(9)])
    result = impact(store.url, "full_data", protected="protected", outcome="y", covariates="n")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "sums of a regression over" in " ".join(result.account.unfinished)
    assert "cnry" not in json_report.render(result)


@pytest.mark.exhaustive
def test_the_command_line(wilson: Path) -> None:
    run = ["impact", wilson, "els", "--protected", "els_2_anonymous", "--weight", "F2BYWT"]
    regression = ["--outcome", "BYTXCSTD", "--covariate", "BYSEX", "--covariate", "BYSCTRL", "--fill", "99"]
    outcome = inside(*run, *regression)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("FINISHED")
    report = json.loads(inside(*run, *regression, "--format", "json").out)
    assert report["verdict"] == "finished"
    assert report["regression"]["models"][0]["data"] == "full data"
    assert "value" not in report["variables"][0]["values"][0]
    assert "value" in json.loads(inside(*run, "--show-values", "--format", "json").out)["variables"][0]["values"][0]
    assert inside(*run, "--max-statements", 3).code == 3
    assert "--protected" in refused("impact", wilson, "els")
    assert quoted("els") in inside(*run, "--show-sql").err


@pytest.mark.engines("duckdb")
def test_the_copy_may_be_a_file(store: Store, tmp_path: Path) -> None:
    store.table("full_data", {"a": "INTEGER", "b": "INTEGER"}, [(i % 3, i % 2) for i in range(9)])
    rows = "SELECT CASE WHEN i > 3 THEN i % 3 END AS a, i % 2 AS b FROM range(9) t(i)"
    store.execute(f"CREATE TABLE copy AS {rows}")
    duckdb.execute(f"COPY ({rows}) TO '{tmp_path}/copy.parquet'")
    table, file = (impact(store.url, "full_data", protected=name) for name in ("copy", f"{tmp_path}/copy.parquet"))
    assert file.protected == f"{tmp_path}/copy.parquet" and file.suppressed == table.suppressed == 4
    assert [each.values for each in file.variables] == [each.values for each in table.variables]
    with pytest.raises(UsageError, match=r"there is no file gone.csv, and no table gone.csv"):
        impact(store.url, "full_data", protected="gone.csv")


@pytest.mark.engines("postgres")
def test_a_file_beside_a_server_is_refused(store: Store, tmp_path: Path) -> None:
    store.table("full_data", {"a": "INTEGER"}, [(1,)])
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{tmp_path}/copy.parquet'")
    with pytest.raises(UsageError, match="load it into a table there"):
        impact(store.url, "full_data", protected=f"{tmp_path}/copy.parquet")


def test_people_whom_the_copy_singles_out(store: Store) -> None:
    """Counted with --k, also where a suppressed cell has a mark and rows are in another order; else said to be open."""
    random, k = Random(5), 3
    original, copy = random_pair(random, 40, 2)
    original, copy = ([row[:2] for row in rows] for rows in (original, copy))
    types = {"a": "VARCHAR(9)", "B c": "VARCHAR(9)"}
    marked = [tuple("*" if cell is None and random.random() < 0.5 else cell for cell in row) for row in copy]
    store.table("full_data", types, original)
    store.table("protected", types, random.sample(marked, len(marked)))
    found = impact(store.url, "full_data", protected="protected", k=k, mark="*")
    fitting = [
        [all(c in (None, own) for c, own in zip(row, person, strict=True)) for row in copy] for person in original
    ]
    rows_of, people_of = [sum(each) for each in fitting], [sum(each) for each in zip(*fitting, strict=True)]
    assert found.known is not None and found.known.people == 40
    assert found.known.alone == rows_of.count(1)
    assert found.known.below_k == sum(each < k for each in rows_of) > 0
    assert found.known.rows_below_k == sum(each < k for each in people_of)
    assert found.known.admissible_below_k is not None and found.known.admissible_below_k >= found.known.below_k
    text = rendering.render(found, 200)
    assert "can still be found by someone who knows them" in text and "a copy does not say whose row is whose" in text
    assert "left the engine as codes" in text
    unasked = impact(store.url, "full_data", protected="protected")
    assert unasked.known is None and "--k K counts them" in rendering.render(unasked, 200)


@pytest.mark.exhaustive
def test_a_copy_that_withstands_someone_who_knows_a_person(store: Store) -> None:
    original, _ = random_pair(Random(6), 30, 2)
    store.table("full_data", {"a": "VARCHAR(9)", "b": "VARCHAR(9)"}, [row[:2] for row in original])
    work("matching")(store.url, "full_data", k=2, against="known-person", into="protected", keep_identifiers=True)
    known = impact(store.url, "full_data", protected="protected", k=2).known
    assert known is not None and (known.below_k, known.rows_below_k, known.admissible_below_k) == (0, 0, 0)


def test_no_attack_is_withstood_by_rows_that_cannot_be_those_of_the_people(store: Store) -> None:
    """Everybody fits two rows, and each row two people, but three rows of one kind are no rows of two people."""
    types = {"a": "VARCHAR(9)", "b": "VARCHAR(9)"}
    store.table("full_data", types, [("x", "1")] * 2 + [("y", "2")] * 3)
    store.table("protected", types, [("x", None)] * 3 + [("y", "2")] * 2)
    found = impact(store.url, "full_data", protected="protected", k=2)
    assert found.known is not None
    assert (found.known.below_k, found.known.rows_below_k, found.known.admissible_below_k) == (0, 0, None)
    text = rendering.render(found, 200)
    assert "not counted: the rows that someone who knows everybody can rule out" in text
    assert "can be anyone's" not in text
