"""The risk of a record with a survey weight: the definition summed, exact digits, thresholds."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qidsql.measures.population import WeightedClasses, individual_risk, record_risks

FIFTH = Fraction(1, 5)


def summed(records: int, p: float) -> float:
    """The expected 1 / F: F is the draw on which the record number `records` turns up, each with the probability p."""
    last = records + int(60 * records / p) + 200
    terms, chance = [], p**records
    for size in range(records, last):
        terms.append(chance / size)
        chance *= size / (size + 1 - records) * (1 - p)
    return fsum(terms)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.3, 0.499, 0.5, 0.501, 0.9, 0.999, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("records", [1, 2, 3, 7, 29, 30, 31, 60])
def test_it_is_the_sum_of_its_definition(records: int, p: float) -> None:
    assert individual_risk(records, p) == pytest.approx(summed(records, p), rel=1e-12)


def test_the_terms_of_the_sum_are_negative_binomial() -> None:
    whole = fsum(comb(size - 1, 2) * 0.3**3 * 0.7 ** (size - 3) / size for size in range(3, 400))
    assert summed(3, 0.3) == pytest.approx(whole)


def exact(records: int, p: Decimal) -> Decimal:
    """The recursion of the integral p y^(f-1) / (p + (1-p) y), with 250 digits."""
    with localcontext(prec=250):
        odds = p / (1 - p)
        found = odds * (1 / p).ln()
        for size in range(1, records):
            found = odds * (1 / Decimal(size) - found)
        return +found


@given(st.integers(1, 80), st.floats(1e-9, 0.99))
def test_no_digits_are_lost_for_any_weight(records: int, p: float) -> None:
    assert individual_risk(records, p) == pytest.approx(float(exact(records, Decimal(p))), rel=1e-12)


def test_closed_forms() -> None:
    """f = 1 and f = 2, as the papers have them, and a printed value: three records that represent 30 people."""
    assert individual_risk(1, 0.1) == pytest.approx(0.25584278811044955)
    assert individual_risk(2, 0.1) == pytest.approx(0.08268413465439450)
    assert individual_risk(3, 0.1) == pytest.approx(0.04636842948284506)


@given(st.integers(1, 10**7), st.floats(1e-6, 1.0))
def test_bounds(records: int, p: float) -> None:
    """Jensen from below; at most as in the sample itself."""
    assert p / records * (1 - 1e-12) <= individual_risk(records, p) <= (1 + 1e-12) / records


def test_a_class_of_the_population_has_no_fewer_records_than_the_sample() -> None:
    assert WeightedClasses(4, 2.0, 1).risk == WeightedClasses(4, 4.0, 1).risk == 0.25


def test_all_records_together() -> None:
    found = record_risks([WeightedClasses(1, 1.0, 2), WeightedClasses(5, 5.0, 3), WeightedClasses(2, 2000.0, 7)], FIFTH)
    rare = individual_risk(2, 0.001)
    assert found.highest == 1.0
    assert found.expected == pytest.approx(2 + 15 / 5 + 14 * rare)
    assert found.average == pytest.approx(found.expected / 31)
    assert found.above == 2, "a risk of 1/5 is not above 1/5"
    by_edges = {(float(each.low), float(each.high)): each.records for each in found.bins if each.records}
    assert by_edges == {(0.5, 1.0): 2, (0.1, 0.2): 15, (0.001, 0.005) if rare > 0.001 else (0.0, 0.001): 14}


@given(
    st.lists(st.tuples(st.integers(1, 40), st.floats(0.001, 1.0), st.integers(1, 5)), min_size=1, max_size=20),
    st.integers(2, 60),
)
def test_bins_hold_every_record_once_and_the_threshold_divides_them(
    drawn: list[tuple[int, float, int]], k: int
) -> None:
    classes = [WeightedClasses(records, records / p, number) for records, p, number in drawn]
    found = record_risks(classes, Fraction(1, k))
    assert sum(each.records for each in found.bins) == sum(each.rows for each in classes)
    assert sum(each.records for each in found.bins if each.low >= Fraction(1, k)) == found.above
    assert [each.low for each in found.bins[1:]] == [each.high for each in found.bins[:-1]]
    assert found.average <= found.highest * (1 + 1e-12)
