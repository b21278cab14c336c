"""Masking plans against brute force, the paper's example and its figures for adult."""

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, UsageError
from qidsql.measures.criteria import Criterion, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.protection.masking import exact_masking, greedy_masking, sampled_masking
from tests.adult import Adult
from tests.search.small_tables import (
    CRITERIA,
    MOTWANI_XU_TABLE_1,
    Definition,
    Rows,
    RowsProfiler,
    RowsSampler,
    class_sizes,
    distinct_ratio,
    random_rows,
    separation_ratio,
)

HALF, FOUR_FIFTHS = Fraction(1, 2), Fraction(4, 5)
ABOVE: list[tuple[Criterion, Definition]] = [
    (Distinct(HALF).forbidden, lambda rows, mask: distinct_ratio(rows, mask) > HALF),
    (Separation(FOUR_FIFTHS).forbidden, lambda rows, mask: separation_ratio(rows, mask) > FOUR_FIFTHS),
]
CASES = CRITERIA + ABOVE
NAMES = [criterion.name for criterion, _ in CASES]


def weight(mask: int, weights: list[int] | None) -> int:
    return sum(1 if weights is None else weights[place] for place in positions(mask))


def optimum(rows: Rows, definition: Definition, weights: list[int] | None) -> int:
    safe = [mask for mask in range(1, 1 << len(rows[0])) if not definition(rows, mask)]
    return max((weight(mask, weights) for mask in safe), default=0)


@pytest.mark.exhaustive
def test_the_exact_search_profiles_no_part_of_a_set_that_was_safe() -> None:
    draw = Random(23)
    for _ in range(20):
        rows = [[int(draw.random() ** 4 * 3) for _ in range(9)] for _ in range(60)]
        greedy, exact = RowsProfiler(rows), RowsProfiler(rows)
        greedy_masking(greedy, Violates(2))
        exact_masking(exact, Violates(2))
        asked = exact.asked[len(greedy.asked) + len(rows[0]) :]  # after the single columns
        safe = [mask for mask in asked if min(class_sizes(rows, mask)) >= 2]
        assert not any(later & ~earlier == 0 for earlier, later in combinations(safe, 2))


@pytest.mark.exhaustive
@pytest.mark.parametrize("criterion", [criterion for criterion, _ in CASES], ids=NAMES)
def test_the_greedy_plan_is_the_same_with_steps_ahead(criterion: Criterion) -> None:
    draw = Random(29)
    for _ in range(60):
        rows = random_rows(draw)
        weights = [draw.randint(1, 4) for _ in rows[0]] if draw.random() < 0.5 else None
        plain = greedy_masking(RowsProfiler(rows), criterion, weights)
        for breadth in (9, 256):
            profiler = RowsProfiler(rows)
            assert greedy_masking(profiler, criterion, weights, breadth) == plain
            assert len(set(profiler.asked)) == len(profiler.asked)
            early = greedy_masking(RowsProfiler(rows, most=draw.randint(0, 12)), criterion, weights, breadth)
            assert early.weight <= plain.weight
            assert early.weight == plain.weight or early.stopped is not None
            assert early.profile is None or not criterion.met_by(early.profile)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("criterion", "definition"), CASES, ids=NAMES)
def test_plans_are_safe_and_the_exact_one_is_optimal(criterion: Criterion, definition: Definition) -> None:
    draw = Random(17)
    for _ in range(150):
        rows = random_rows(draw)
        everything = (1 << len(rows[0])) - 1
        weights = draw.choice([None, [draw.randint(1, 6) for _ in rows[0]]])
        best = optimum(rows, definition, weights)
        greedy = greedy_masking(RowsProfiler(rows), criterion, weights)
        exact = exact_masking(RowsProfiler(rows), criterion, weights)
        in_rounds = exact_masking(RowsProfiler(rows), criterion, weights, breadth=draw.choice([1, 50]))
        for plan in (greedy, exact, in_rounds):
            assert plan.published | plan.withheld == everything
            assert plan.published & plan.withheld == 0
            assert not plan.published or not definition(rows, plan.published)
            assert plan.safe is True
            assert plan.weight == weight(plan.published, weights) <= best <= plan.bound
            assert plan.optimal == (plan.gap == 0)
        assert exact.weight == in_rounds.weight == best
        assert exact.optimal
        assert in_rounds.optimal
        assert all(definition(rows, met) for met in in_rounds.met)
        for place in positions(greedy.withheld):
            assert definition(rows, greedy.published | 1 << place)


def test_motwani_xu_table_1() -> None:
    def published(criterion: Criterion) -> int:
        plan = exact_masking(RowsProfiler(MOTWANI_XU_TABLE_1), criterion.forbidden)
        assert plan.optimal
        return plan.published

    assert published(Distinct(FOUR_FIFTHS)) == 0b110  # "the optimal solution ... is {sex, state}", of ratio 0.8
    assert published(Separation(FOUR_FIFTHS)).bit_count() == 1  # "{age}, {sex} or {state}, all of size 1"
    strict = exact_masking(RowsProfiler(MOTWANI_XU_TABLE_1), Distinct(FOUR_FIFTHS))
    assert strict.published.bit_count() == 1


def test_a_ratio_of_exactly_beta_may_be_published_or_not() -> None:
    [profile] = RowsProfiler(MOTWANI_XU_TABLE_1).profiles([0b001])
    assert profile.distinct_ratio == Fraction(3, 5)
    assert Distinct(Fraction(3, 5)).met_by(profile)
    assert not Distinct(Fraction(3, 5)).forbidden.met_by(profile)
    assert Distinct(Fraction(3, 5) - Fraction(1, 10**9)).forbidden.met_by(profile)
    assert profile.separation_ratio == FOUR_FIFTHS
    assert not Separation(FOUR_FIFTHS).forbidden.met_by(profile)
    assert Violates(5).forbidden == Violates(5)
    assert Key().forbidden == Key()


def test_nothing_can_be_published_where_every_column_is_a_quasi_identifier() -> None:
    rows = [(number, -number) for number in range(9)]
    for plan in (greedy_masking(RowsProfiler(rows), Key()), exact_masking(RowsProfiler(rows), Key())):
        assert (plan.published, plan.weight, plan.bound, plan.profile) == (0, 0, 0, None)
        assert plan.optimal


def test_the_steps_of_greedy_ask_the_columns_left() -> None:
    rows = [(0, number % 2, number % 3, number) for number in range(12)]
    profiler = RowsProfiler(rows)
    plan = greedy_masking(profiler, Key())
    assert plan.published == 0b0111
    assert plan.bound == 3
    assert len(profiler.asked) == 4 + 2 + 1  # the key alone is tried once


@pytest.mark.parametrize("breadth", [0, 40])
@pytest.mark.parametrize("most", range(0, 60, 3))
def test_a_budget_ends_with_a_safe_plan_and_a_true_bound(most: int, breadth: int) -> None:
    rows = [(n % 2, n % 3, n % 5, n % 7, n // 2, n % 4) for n in range(40)]
    criterion, definition = CRITERIA[1]
    best = optimum(rows, definition, None)
    plan = exact_masking(RowsProfiler(rows, most=most), criterion, breadth=breadth)
    assert not plan.published or not definition(rows, plan.published)
    assert plan.weight <= best <= plan.bound
    if plan.stopped:
        assert isinstance(plan.stopped, BudgetSpent)
    else:
        assert plan.optimal


WIDE = [(n, n // 2, n // 40, n % 7, n % 2, 0) for n in range(2_000)]


@pytest.mark.parametrize("criterion", [Separation(FOUR_FIFTHS), Distinct(HALF), Distinct(HALF).forbidden])
def test_a_sampled_plan_is_measured_on_the_full_table(criterion: Criterion) -> None:
    full = RowsProfiler(WIDE)
    plan = sampled_masking(full, criterion, RowsSampler(WIDE, 5), 1_000)
    assert plan.safe is True
    assert plan.published
    assert plan.profile is not None
    assert plan.profile.rows == 2_000
    assert full.asked == [plan.published]
    assert plan.certificate is not None
    assert plan.certificate.sizes == (1_000,)
    assert plan.certificate.verified
    assert not plan.optimal
    assert plan.weight <= exact_masking(RowsProfiler(WIDE), criterion).weight
    blind = sampled_masking(RowsProfiler(WIDE), criterion, RowsSampler(WIDE, 5), 1_000, verify=False)
    assert blind.safe is None
    assert blind.published == plan.published


def test_a_sampled_plan_stays_below_the_smaller_ratio() -> None:
    """0.97 on the full table would allow the column, whose rows come in twos; the few rows sampled cannot tell."""
    rows = [(n // 2,) for n in range(2_000)]
    plan = sampled_masking(RowsProfiler(rows), Distinct(Fraction(97, 100)), RowsSampler(rows), 200)
    assert plan.published == 0
    assert plan.safe is True


@pytest.mark.exhaustive
def test_sampled_plans_break_their_promise_no_more_often_than_they_say() -> None:
    rows = [(n % 3, n % 4, n % 5, n % 11) for n in range(600)]
    criterion, delta, broken = Separation(Fraction(9, 10)), Fraction(1, 4), 0
    for seed in range(200):
        broken += sampled_masking(RowsProfiler(rows), criterion, RowsSampler(rows, seed), 200, delta).safe is False
    assert broken <= 50


def test_a_sample_as_large_as_the_table_is_the_table() -> None:
    plan = sampled_masking(RowsProfiler(WIDE), Distinct(HALF), RowsSampler(WIDE))
    assert plan.published == greedy_masking(RowsProfiler(WIDE), Distinct(HALF)).published


@pytest.mark.parametrize("criterion", [Violates(5), RowsBelowK(5, HALF)])
def test_a_sample_cannot_rule_out_small_classes(criterion: Criterion) -> None:
    with pytest.raises(UsageError, match="cannot rule out"):
        sampled_masking(RowsProfiler(WIDE), criterion, RowsSampler(WIDE))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("criterion", "figure"),
    [
        (Distinct(HALF), "0.5-distinct masking, greedy utility"),
        (Separation(FOUR_FIFTHS), "0.8-separation masking, greedy utility"),
    ],
)
def test_adult_masks_as_printed(adult: Adult, criterion: Criterion, figure: str) -> None:
    printed = adult.figures[figure]
    greedy = greedy_masking(adult.profiler, criterion.forbidden)
    exact = exact_masking(adult.profiler, criterion.forbidden)
    assert greedy.weight == exact.weight == printed["published"] == printed["computed"]
    assert exact.optimal
    names = adult.names(greedy.published)
    assert greedy.profile is not None
    if isinstance(criterion, Distinct):
        assert adult.names(greedy.withheld) == {"age", "hours_per_week"}
        assert f"{float(greedy.profile.distinct_ratio):.6f}" == "0.414146"
    else:
        assert names == {"capital_loss", "capital_gain", "native_country", "race", "income"}
        assert f"{float(greedy.profile.separation_ratio):.6f}" == "0.716705"


def test_adult_sampled_mask_as_in_table_3(adult: Adult) -> None:
    plan = sampled_masking(adult.profiler, Separation(FOUR_FIFTHS).forbidden, adult.sampler(2))
    assert plan.weight == 5
    assert plan.safe is True
