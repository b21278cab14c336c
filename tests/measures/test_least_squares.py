"""Regression from sums alone: certified figures, closed forms, and least squares over the rows themselves."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import atan, comb, pi, sqrt
from random import Random

import numpy
import pytest

from qidsql.measures.least_squares import SUPPRESSED, Covariate, Fit, Sums, Term, f_tail, incomplete_beta, least_squares

Row = tuple[list[float], list[int]]  # numbers, the outcome first; levels of the factors


def sums_of(rows: list[Row], beside: float = 0) -> Sums:
    """The sums over the rows themselves, shifted by the means as they round, or by constants beside them."""
    shifts = tuple(sum(column) / len(rows) + beside for column in zip(*(numbers for numbers, _ in rows), strict=True))
    centred = [([n - s for n, s in zip(numbers, shifts, strict=True)], levels) for numbers, levels in rows]
    places, factors = range(len(shifts)), range(len(rows[0][1]))
    keys = {(f, levels[f]) for _, levels in rows for f in factors}
    pairs = {((f, levels[f]), (g, levels[g])) for _, levels in rows for f in factors for g in factors if f < g}
    within = {key: [numbers for numbers, levels in centred if levels[key[0]] == key[1]] for key in keys}
    return Sums(
        rows=len(rows),
        shifts=shifts,
        numbers=tuple(sum(numbers[i] for numbers, _ in centred) for i in places),
        products={
            (i, j): sum(numbers[i] * numbers[j] for numbers, _ in centred)
            for i, j in combinations_with_replacement(places, 2)
        },
        level_rows={key: len(found) for key, found in within.items()},
        level_numbers={
            key: tuple(sum(numbers[i] for numbers in found) for i in places) for key, found in within.items()
        },
        pair_rows={
            (one, other): sum(levels[one[0]] == one[1] and levels[other[0]] == other[1] for _, levels in rows)
            for one, other in pairs
        },
    )


def design(rows: list[Row], terms: list[Term], covariates: dict[str, Covariate]) -> "numpy.ndarray":
    """The model's matrix row by row: an intercept, then the terms."""

    def cell(row: Row, term: Term) -> float:
        covariate = covariates[term.covariate]
        return row[0][covariate.place] if term.level is None else float(row[1][covariate.place] == term.level)

    return numpy.array([[1.0, *(cell(row, term) for term in terms)] for row in rows])


def residual(matrix: "numpy.ndarray", outcome: "numpy.ndarray") -> float:
    slopes = numpy.linalg.lstsq(matrix, outcome, rcond=None)[0]
    return float(((outcome - matrix @ slopes) ** 2).sum())


@pytest.mark.parametrize("seed", range(60))
def test_against_least_squares_over_the_rows(seed: int) -> None:
    """numpy's lstsq on the rows; F tests by their definition, from the residuals with and without a covariate."""
    random = Random(seed)
    numbers, factors = random.randint(0, 3), random.randint(0, 2)
    numbers = numbers or (not factors)
    shape = [random.randint(2, 5) for _ in range(factors)]
    rows: list[Row] = []
    for _ in range(random.randint(40, 80)):
        levels = [random.choice([SUPPRESSED, *range(1, most)]) for most in shape]
        cells = [random.gauss(1e4 * place, 10.0**place) for place in range(numbers)]
        noise = random.gauss(0, 1)
        rows.append(([3 + noise + sum(levels) * 0.3 + sum(cells) * 0.01, *cells], levels))
    covariates = [Covariate(f"n{i}", True, i + 1) for i in range(numbers)]
    covariates += [Covariate(f"f{i}", False, i) for i in range(factors)]
    random.shuffle(covariates)
    fit = least_squares(sums_of(rows, beside=random.choice([0, 0.5])), covariates)
    assert isinstance(fit, Fit)
    assert fit.collinear == ()
    by_name = {covariate.name: covariate for covariate in covariates}
    terms = [c.term for c in fit.coefficients if c.term is not None]
    matrix, outcome = design(rows, terms, by_name), numpy.array([row[0][0] for row in rows])
    slopes = numpy.linalg.lstsq(matrix, outcome, rcond=None)[0]
    rest = len(rows) - matrix.shape[1]
    left = residual(matrix, outcome)
    triangle = numpy.linalg.inv(numpy.linalg.qr(matrix, mode="r"))  # X'X itself would lose half of the digits
    covariance = triangle @ triangle.T * left / rest
    assert [c.estimate for c in fit.coefficients] == pytest.approx(list(slopes), rel=1e-6, abs=1e-8)
    assert [c.error for c in fit.coefficients] == pytest.approx(list(numpy.sqrt(numpy.diag(covariance))), rel=1e-4)
    assert fit.degrees == (len(terms), rest)
    assert fit.residual_error == pytest.approx(sqrt(left / rest), rel=1e-8)
    total = float(((outcome - outcome.mean()) ** 2).sum())
    assert fit.r_squared == pytest.approx(1 - left / total, rel=1e-8)
    assert [test.covariate for test in fit.tests] == [covariate.name for covariate in covariates]
    for test in fit.tests:
        others = design(rows, [term for term in terms if term.covariate != test.covariate], by_name)
        more = residual(others, outcome) - left
        assert test.degrees == matrix.shape[1] - others.shape[1]
        assert test.f == pytest.approx(more / test.degrees / (left / rest), rel=1e-5, abs=1e-8)
        assert test.p == f_tail(test.f, test.degrees, rest)


def test_indicators_are_relative_to_the_first_level_and_never_to_suppressed_cells() -> None:
    rows: list[Row] = [([float(level * 10 + i % 3)], [level]) for i in range(12) for level in (SUPPRESSED, 3, 2)]
    fit = least_squares(sums_of(rows), [Covariate("f", False, 0)])
    assert isinstance(fit, Fit)
    assert fit.references == {"f": 2}
    assert {c.term and c.term.level: round(c.estimate, 9) for c in fit.coefficients} == {None: 21, 3: 10, 0: -20}


def test_collinear_terms_are_found_and_left_out() -> None:
    random = Random(1)
    rows: list[Row] = []
    for _ in range(50):
        x, level = random.gauss(0, 1), random.randint(1, 3)
        rows.append(([x + random.gauss(0, 1), x, 1000 - 2 * x, 5.0], [level, 4 - level]))
    covariates = [
        Covariate("x", True, 1),
        Covariate("mirror", True, 2),
        Covariate("same", True, 3),
        Covariate("f", False, 0),
        Covariate("renamed", False, 1),
    ]
    fit = least_squares(sums_of(rows), covariates)
    assert isinstance(fit, Fit)
    assert fit.collinear == (Term("mirror", None), Term("same", None), Term("renamed", 2), Term("renamed", 3))
    assert [test.covariate for test in fit.tests] == ["x", "f"]
    alone = least_squares(sums_of(rows), [covariates[0], covariates[3]])
    assert isinstance(alone, Fit)
    assert [c.estimate for c in alone.coefficients] == pytest.approx([c.estimate for c in fit.coefficients])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([([1.0, 2.0], []), ([2.0, 3.0], [])], "2 rows are too few for 1 terms and an intercept"),
        ([([7.0, float(i)], []) for i in range(9)], "the outcome has one value only"),
        ([([float(i), 0.1], []) for i in range(9)], "every covariate has one value only"),
        ([([2.0 * i, float(i)], []) for i in range(9)], "the covariates determine the outcome exactly"),
        ([([float("inf"), float(i)], []) for i in range(9)], "the numbers are too large"),
    ],
)
def test_what_cannot_be_fitted_is_said(rows: list[Row], words: str) -> None:
    assert words in str(least_squares(sums_of(rows), [Covariate("x", True, 1)]))


def test_no_row_is_no_fit() -> None:
    nothing = Sums(0, (0.0, 0.0), (0.0, 0.0), {(0, 0): 0.0, (0, 1): 0.0, (1, 1): 0.0}, {}, {}, {})
    assert least_squares(nothing, [Covariate("x", True, 1)]) == "no row has the outcome and all covariates"


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("rest", [1, 2, 5, 30, 1000, 100_000])
def test_tails_in_closed_form(degrees: int, rest: int) -> None:
    """t with 1 degree of freedom is Cauchy's distribution, F with 2 degrees a power."""
    for f in (1e-6, 0.1, 1.0, 1.7, 4.0, 30.0):
        if (degrees, rest) == (1, 1):
            assert f_tail(f, 1, 1) == pytest.approx(1 - 2 / pi * atan(sqrt(f)), rel=1e-12)
        if degrees == 2:
            assert f_tail(f, 2, rest) == pytest.approx((1 + 2 * f / rest) ** (-rest / 2), rel=1e-8)
        assert f_tail(f, degrees, rest) == pytest.approx(1 - f_tail(1 / f, rest, degrees), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 7), (15, 3), (40, 60), (500, 20)])
def test_the_beta_function_is_the_tail_of_a_binomial(a: int, b: int) -> None:
    """For whole numbers I_x(a, b) is the chance of at least a successes in a + b - 1 trials, exactly."""
    for x in (Fraction(1, 50), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)):
        n = a + b - 1
        exact = sum(comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))
        assert incomplete_beta(a, b, float(x), float(1 - x)) == pytest.approx(float(exact), rel=1e-11)


def test_tails_at_the_ends() -> None:
    assert f_tail(0.0, 3, 10) == 1
    assert f_tail(-1e-12, 3, 10) == 1
    assert f_tail(1e4, 15, 30_000) == 0
    assert f_tail(1e9, 1, 10**6) == 0
    assert 0 < f_tail(100.0, 15, 29_999) < 1e-300
