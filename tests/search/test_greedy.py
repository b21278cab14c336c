"""Greedy and naive greedy: guarantees against brute force, the paper's example and its printed key of adult."""

import re
from fractions import Fraction
from math import log
from random import Random

import pytest

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, UsageError
from qidsql.measures.criteria import Criterion, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.search.greedy import greedy, naive_greedy
from tests.adult import Adult
from tests.search.small_tables import (
    CRITERIA,
    MOTWANI_XU_TABLE_1,
    Definition,
    RowsProfiler,
    class_sizes,
    minimal_sets,
    random_rows,
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("criterion", "definition"), CRITERIA, ids=[criterion.name for criterion, _ in CRITERIA])
@pytest.mark.parametrize("search", [greedy, naive_greedy])
def test_what_is_found_meets_the_definition(
    search: type[greedy],
    criterion: Criterion,
    definition: Definition,  # type: ignore[valid-type]
) -> None:
    draw = Random(7)
    for _ in range(150):
        rows = random_rows(draw)
        weights = draw.choice([None, [draw.randint(1, 5) for _ in rows[0]]])
        result = search(RowsProfiler(rows), criterion, weights)  # type: ignore[operator]
        everything = (1 << len(rows[0])) - 1
        if not definition(rows, everything):
            assert result.found == ()
            assert result.complete
            continue
        [found] = result.found
        assert definition(rows, found.mask)
        assert found.profile.classes == len(class_sizes(rows, found.mask))
        assert not result.complete


def test_a_greedy_key_weighs_no_more_than_theorem_2_allows() -> None:
    draw = Random(8)
    for _ in range(300):
        rows = random_rows(draw)
        weights = [draw.randint(1, 9) for _ in rows[0]]
        keys = minimal_sets(rows, CRITERIA[0][1])
        if not keys:
            continue
        lightest = min(sum(weights[place] for place in positions(key)) for key in keys)
        result = greedy(RowsProfiler(rows), Key(), weights)
        [found] = result.found
        assert sum(weights[place] for place in positions(found.mask)) <= (1 + 2 * log(len(rows))) * lightest
        [factor] = re.findall(r"^at most ([\d.]+) times the weight of the lightest key \[", result.guarantee)
        assert 0 <= float(factor) - (1 + 2 * log(len(rows))) < 0.02


def test_only_what_covers_pairs_of_rows_is_guaranteed() -> None:
    rows = [(1, 1), (1, 2), (2, 2)]
    for criterion in (Key(), Separation(Fraction(1, 2))):
        assert greedy(RowsProfiler(rows), criterion).guarantee
    for other in (Distinct(Fraction(1, 2)), Violates(2), RowsBelowK(2, Fraction(1, 2))):
        assert greedy(RowsProfiler(rows), other).guarantee == ""


def test_motwani_xu_table_1() -> None:
    [key] = greedy(RowsProfiler(MOTWANI_XU_TABLE_1), Key()).found
    assert key.mask == 0b011  # age and sex; the first of two equals is taken
    [separated] = greedy(RowsProfiler(MOTWANI_XU_TABLE_1), Separation(Fraction(4, 5))).found
    assert separated.mask == 0b001
    [distinct] = greedy(RowsProfiler(MOTWANI_XU_TABLE_1), Distinct(Fraction(3, 5))).found
    assert distinct.mask == 0b001


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        (Key(), (-6, 0)),
        (Separation(Fraction(1, 2)), (-6, 0)),
        (Distinct(Fraction(1, 2)), (3, 0)),
        (Distinct(Fraction(1, 2)).forbidden, (3, 0)),
        (RowsBelowK(2, Fraction(1, 2)), (2, -6)),
        (Violates(2), (-1, -6)),
    ],
)
def test_the_level_is_the_figure_that_a_criterion_is_about(criterion: Criterion, expected: tuple[int, int]) -> None:
    [profile] = RowsProfiler([("a",), ("b",), ("c",), ("c",), ("c",)]).profiles([1])
    assert criterion.progress(profile) == expected


def test_weights_are_the_price_of_a_column() -> None:
    rows = [(number, number // 2, number % 2) for number in range(8)]
    assert greedy(RowsProfiler(rows), Key()).found[0].mask == 0b001
    assert greedy(RowsProfiler(rows), Key(), [5, 1, 1]).found[0].mask == 0b110
    assert naive_greedy(RowsProfiler(rows), Key(), [5, 1, 1]).found[0].mask == 0b110


def test_naive_greedy_takes_correlated_columns_together() -> None:
    rows = [(number // 2, number // 2, number // 2, number % 2) for number in range(12)]
    assert greedy(RowsProfiler(rows), Key()).found[0].mask == 0b1001
    assert naive_greedy(RowsProfiler(rows), Key()).found[0].mask == 0b1111


def test_greedy_asks_each_column_left_once_per_step() -> None:
    rows = [(a, b, c, 0) for a in range(4) for b in range(3) for c in range(2)]
    profiler = RowsProfiler(rows)
    assert greedy(profiler, Key()).found[0].mask == 0b0111
    assert len(profiler.asked) == 1 + 4 + 2 + 1  # all columns, then the steps; the constant column is asked once


def test_naive_greedy_bisects() -> None:
    rows = [tuple(number >> bit & 1 for bit in range(4)) + (0,) * 12 for number in range(16)]
    profiler = RowsProfiler(rows)
    assert naive_greedy(profiler, Key()).found[0].mask == 0b1111
    assert len(profiler.asked) == 16 + 1 + 4 + 1


@pytest.mark.parametrize("search", [greedy, naive_greedy])
def test_a_spent_budget_is_said(search: type[greedy]) -> None:  # type: ignore[valid-type]
    result = search(RowsProfiler(MOTWANI_XU_TABLE_1, most=3), Key())  # type: ignore[operator]
    assert isinstance(result.stopped, BudgetSpent)
    assert result.found == ()
    assert not result.complete


@pytest.mark.parametrize("weights", [[1, 2], [1, 0, 1], [1, -1, 1]])
def test_wrong_weights_are_refused(weights: list[int]) -> None:
    with pytest.raises(UsageError, match="one positive whole weight for each of the 3 columns"):
        greedy(RowsProfiler(MOTWANI_XU_TABLE_1), Key(), weights)


def test_the_greedy_key_of_adult_as_printed(adult: Adult) -> None:
    figure = adult.figures["Greedy Minimum Key size"]
    order, together = re.findall(r"order (.*); unseparated pairs after each step (.*)", figure["detail"])[0]
    steps: list[tuple[str, int]] = []
    present: set[str] = set()
    profiler = adult.profiler
    ask = profiler.profiles

    def watch(masks):  # type: ignore[no-untyped-def]
        answer = ask(masks)
        if list(masks) != [profiler.everything]:
            best = min(range(len(masks)), key=lambda place: (answer[place].colliding_pairs, place))
            [name] = adult.names(masks[best]) - present
            present.add(name)
            steps.append((name, answer[best].colliding_pairs // 2))
        return answer

    profiler.profiles = watch  # type: ignore[method-assign]
    [key] = greedy(profiler, Key()).found
    assert key.size == figure["published"] == figure["computed"]
    assert [name for name, _ in steps] == order.split(", ")
    assert [pairs for _, pairs in steps] == [int(pairs) for pairs in together.split(", ")]
    assert adult.names(key.mask) == present
    assert key.profile.colliding_pairs == 0
