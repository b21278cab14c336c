"""A table held against a population, in exact numbers: what more columns do, and what is no sample."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from qidsql.measures.population import MatchedClasses, PopulationMatch
from tests.definitions import Values, projected
from tests.exhaustive import always


def match_of(rows: list[Values], people: list[Values], k: int = 3) -> PopulationMatch:
    sizes = Counter((rows.count(each), people.count(each), None in each) for each in {*rows, *people})
    return PopulationMatch([MatchedClasses(*each, number) for each, number in sizes.items()], k)


@pytest.mark.parametrize("seed", always(*range(40), longer=range(40, 500)))
def test_a_column_more_never_makes_it_better(seed: int) -> None:
    draw = Random(seed)
    people: list[Values] = [tuple(draw.randrange(draw.choice((2, 4))) for _ in range(3)) for _ in range(40)]
    rows = draw.sample(people, draw.randint(1, 40))
    fewer, more = (match_of(projected(rows, places), projected(people, places)) for places in ((0, 1), (0, 1, 2)))
    assert fewer.k_map is not None and more.k_map is not None and more.k_map <= fewer.k_map
    assert more.rows_below_k >= fewer.rows_below_k and more.rows_of_one >= fewer.rows_of_one
    assert more.journalist_max >= fewer.journalist_max and more.marketer >= fewer.marketer  # type: ignore[operator]
    assert fewer.presence is not None and more.presence is not None
    assert more.presence[0] <= fewer.presence[0] and more.presence[1] >= fewer.presence[1]
    assert more.uniques_of_both >= fewer.uniques_of_both and not more.rows_absent and not more.rows_exceeding
    assert more.k_map >= (more.smallest or 0), "a sample is no safer than its population"


def test_the_sum_of_many_fractions_is_exact() -> None:
    sizes = [MatchedClasses(2, people, False, 3) for people in range(2, 400)]
    exact = sum((Fraction(6, people) for people in range(2, 400)), Fraction(0)) / (6 * 398)
    assert PopulationMatch(sizes, 5).marketer == exact


def test_the_greater_average_counts() -> None:
    """By classes, a class of few people and many rows counts as much as any; by rows more."""
    uneven = PopulationMatch([MatchedClasses(9, 10, False, 1), MatchedClasses(1, 90, False, 1)], 5)
    assert (uneven.journalist_by_classes, uneven.marketer) == (Fraction(1, 50), Fraction(82, 900))
    assert uneven.journalist_average == Fraction(82, 900)
    other = PopulationMatch([MatchedClasses(1, 10, False, 1), MatchedClasses(1000, 1000, False, 1)], 5)
    assert other.journalist_average == other.journalist_by_classes == Fraction(2, 1010)
    assert other.marketer == Fraction(1, 910)


def test_nobody_and_nothing() -> None:
    nothing = PopulationMatch([], 5)
    assert (nothing.k_map, nothing.marketer, nothing.presence, nothing.journalist_average) == (None, None, None, None)
    absent = PopulationMatch([MatchedClasses(2, 0, False, 1), MatchedClasses(1, 8, True, 1)], 5)
    assert (absent.k_map, absent.rows_absent, absent.rows_with_null, absent.rows_matched) == (0, 2, 1, 0)
    empty = PopulationMatch([MatchedClasses(0, 0, False, 4)], 5)  # of a table of counts
    assert (empty.population_classes, empty.population_classes_absent, empty.presence) == (0, 0, None)
