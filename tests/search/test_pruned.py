"""Pruning by sub-tables against brute force, and the paper's experiment on adult."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from qidsql.errors import BudgetSpent, UsageError
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.search.borders import borders
from qidsql.search.lattice import above, iterative, pruned
from qidsql.search.sampled import PairSample
from tests.adult import Adult
from tests.search.small_tables import (
    CRITERIA,
    MOTWANI_XU_TABLE_1,
    Definition,
    RowsProfiler,
    RowsSampler,
    class_sizes,
    minimal_sets,
    random_rows,
)

PRUNABLE = [case for case in CRITERIA if isinstance(case[0], (Key, Distinct, Separation))]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("criterion", "definition"), PRUNABLE, ids=[criterion.name for criterion, _ in PRUNABLE])
@pytest.mark.parametrize("sizes", [(), (2,), (3, 6), (1, 2, 3)])
def test_the_sets_are_those_of_brute_force(
    criterion: Criterion, definition: Definition, sizes: tuple[int, ...]
) -> None:
    draw = Random(11)
    for seed in range(60):
        rows = random_rows(draw)
        if len(rows) < 2:
            continue
        result = iterative(RowsProfiler(rows), criterion, RowsSampler(rows, seed), sizes, Fraction(1, 1000))
        assert {found.mask for found in result.found} == minimal_sets(rows, definition)
        asked = sizes if isinstance(criterion, Separation) else [size for size in sizes if size < len(rows)]
        assert result.complete == (isinstance(criterion, Key) or not asked)
        assert (result.certificate is None) == result.complete
        for found in result.found:
            assert found.profile.classes == len(class_sizes(rows, found.mask))


def test_what_determines_the_whole_row_is_found_despite_duplicates() -> None:
    draw = Random(12)
    for seed in range(100):
        rows = random_rows(draw)
        goal = len(class_sizes(rows, (1 << len(rows[0])) - 1))
        result = iterative(RowsProfiler(rows), Determines(goal), RowsSampler(rows, seed), (2, 5))
        assert {f.mask for f in result.found} == minimal_sets(rows, lambda r, m, g=goal: len(class_sizes(r, m)) == g)
        assert result.complete


@pytest.mark.parametrize("search", [pruned, iterative])
def test_motwani_xu_table_1(search: type[pruned]) -> None:  # type: ignore[valid-type]
    rows = MOTWANI_XU_TABLE_1
    result = search(RowsProfiler(rows), Key(), RowsSampler(rows))  # type: ignore[operator]
    assert {found.mask for found in result.found} == {0b011, 0b101}
    assert result.complete
    assert result.complete_to_size == 3


def test_the_full_table_is_asked_only_above_the_border() -> None:
    rows = [tuple(number >> bit & 1 for bit in range(8)) for number in range(256)]
    full = RowsProfiler(rows)
    assert [found.mask for found in pruned(full, Key(), RowsSampler(rows), 200).found] == [0b11111111]
    assert len(full.asked) == 1
    full = RowsProfiler(rows)
    assert [found.mask for found in pruned(full, Key(), RowsSampler(rows), 256).found] == [0b11111111]
    assert len(full.asked) == 255


def test_max_size_and_too_many_candidates() -> None:
    rows = [tuple(number >> bit & 1 for bit in range(6)) for number in range(64)]
    result = iterative(RowsProfiler(rows), Key(), RowsSampler(rows), (), max_size=3)
    assert (result.found, result.complete, result.complete_to_size) == ((), False, 3)
    result = iterative(RowsProfiler(rows), Key(), RowsSampler(rows), (), max_candidates=14)
    assert isinstance(result.stopped, BudgetSpent)
    assert result.complete_to_size == 1


def test_what_was_found_before_the_budget_ended_is_kept() -> None:
    rows = [(number, number // 2, number % 2, number % 3) for number in range(12)]
    result = iterative(RowsProfiler(rows, most=4), Key(), RowsSampler(rows), ())
    assert [found.mask for found in result.found] == [0b0001]
    assert isinstance(result.stopped, BudgetSpent)
    assert not result.complete


def test_a_border_is_climbed_from_every_size() -> None:
    rows = [(a, b, c, d) for a in range(2) for b in range(2) for c in range(2) for d in (0,)]
    result = above(RowsProfiler(rows), Key(), [0b0001, 0b1110], 4, 100)
    assert [found.mask for found in result.found] == [0b0111]


@pytest.mark.parametrize("criterion", [Violates(5), RowsBelowK(5, Fraction(1, 10))])
def test_small_classes_cannot_be_told_from_a_sub_table(criterion: Criterion) -> None:
    with pytest.raises(UsageError, match="sub-tables cannot prune"):
        iterative(RowsProfiler([(1,)]), criterion, RowsSampler([(1,)]))


@pytest.mark.exhaustive
def test_adult_minimal_quasi_identifiers_of_few_columns(adult: Adult) -> None:
    result = iterative(adult.profiler, Separation(Fraction(999, 1000)), adult.sampler(1), max_size=4)
    expected = adult.figures["quasi_0_999_separation"]["by_size"]
    assert Counter(str(found.size) for found in result.found) == {"3": expected["3"], "4": expected["4"]}
    assert result.certificate is not None
    assert result.certificate.delta == Fraction(1, 100)
    assert not result.complete


def test_columns_that_separate_equally_many_pairs_are_not_one() -> None:
    """Each of two columns separates three of six sampled pairs, and both together all of them."""
    sample = PairSample({0b01: 3, 0b10: 3}, 2)
    assert [found.mask for found in borders(sample, Separation(Fraction(1))).found] == [0b11]
