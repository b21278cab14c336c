"""Class profiles, ratios, criteria: exact at every border."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.disclosure_limits import FewValues
from qidsql.measures.profiles import ClassProfile, ClassSizes, MatchSizes, SizeBin, bin_starts, size_bins
from qidsql.wording.texts import decimal
from tests.definitions import entity_profile_of, entity_sizes_of, frequencies, matching_profile_of, profile_of, sizes_of

FACTS = ("pairs_decide", "covers_pairs", "few_columns", "tested_on_samples", "sure_on_samples")
FACTS += ("counts_classes", "measures_rows")
small_rows = st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=14)


def sized(*sizes: int, k: int = 2) -> ClassProfile:
    """The profile of classes of these sizes."""
    return ClassProfile.of_sizes(Counter(sizes), k)


@given(small_rows, st.integers(2, 6))
def test_of_sizes_is_the_definition(rows: list[tuple[int, ...]], k: int) -> None:
    assert ClassProfile.of_sizes(Counter(Counter(rows).values()), k) == profile_of(rows, k)


@given(small_rows, st.integers(2, 6))
def test_a_profile_of_sizes_is_the_definition(rows: list[tuple[int, ...]], k: int) -> None:
    people = [row[0] for row in rows]
    assert sizes_of(rows).profile(k) == profile_of(rows, k)
    assert entity_sizes_of(rows, people).profile(k) == entity_profile_of(rows, people, k)


@given(small_rows)
def test_ratios_are_the_definitions(rows: list[tuple[int, ...]]) -> None:
    profile = profile_of(rows, 3)
    pairs = [(one, other) for place, one in enumerate(rows) for other in rows[:place]]
    if rows:
        assert profile.distinct_ratio == Fraction(len(set(rows)), len(rows))
        assert profile.share_below_k == Fraction(sum(rows.count(row) < 3 for row in rows), len(rows))
    if pairs:
        assert profile.separation_ratio == Fraction(sum(one != other for one, other in pairs), len(pairs))
    assert profile.duplicate_rows == len(rows) - len(set(rows))


@pytest.mark.parametrize(
    ("criterion", "facts"),
    [
        (Key(), {"pairs_decide", "covers_pairs", "tested_on_samples", "sure_on_samples"}),
        (Separation(Fraction(1, 2)), {"covers_pairs", "tested_on_samples", "measures_rows"}),
        (Distinct(Fraction(1, 2)), {"tested_on_samples", "counts_classes", "measures_rows"}),
        (Determines(), {"tested_on_samples", "sure_on_samples", "counts_classes", "measures_rows"}),
        (Violates(5), {"few_columns"}),
        (RowsBelowK(5, Fraction(1, 2)), set()),
        (FewValues("diagnosis", Fraction(2)), {"counts_classes"}),
    ],
    ids=lambda each: each.name if isinstance(each, Criterion) else "",
)
def test_what_searches_may_take_for_granted(criterion: Criterion, facts: set[str]) -> None:
    """A fact too many makes a search that rests on it wrong, one too few a slow one."""
    assert criterion.proved_below == (5 if criterion == Violates(5) else None)
    assert {name for name in FACTS if getattr(criterion, name)} == facts
    for profile in (sized(1, 1, 1), sized(1, 2), sized(3, 4)):
        if criterion.pairs_decide:
            assert criterion.met_by(profile) == (profile.colliding_pairs == 0)


def test_ratios_of_nothing_and_of_one_row() -> None:
    nothing, one = sized(), sized(1)
    assert (nothing.rows, nothing.smallest, nothing.largest) == (0, 0, 0)
    assert (nothing.distinct_ratio, nothing.separation_ratio, nothing.share_below_k) == (1, 1, 0)
    assert (one.distinct_ratio, one.separation_ratio, one.share_below_k) == (1, 1, 1)


def test_class_sizes_take_their_rows_from_the_entities() -> None:
    sizes = ClassSizes({1: 2, 3: 1}, {1: 1, 3: 2}, entities=True)  # three people in a class, one of them twice alone
    assert sizes.profile(2) == ClassProfile(
        rows=3,
        classes=3,
        smallest=1,
        largest=3,
        k=2,
        classes_below_k=2,
        rows_below_k=1,
        unique_rows=1,
        colliding_pairs=6,
        entities=True,
    )
    assert sizes.profile(4).rows_below_k == 3
    assert ClassSizes({2: 1}, {2: 2}).profile(2).unique_rows == 0


def test_distinct_is_exact_where_floats_are_not() -> None:
    profile = sized(*[1] * 6, 19)  # 7 classes of 25 rows; as floats 0.28 * 25 > 7
    assert Distinct(Fraction("0.28")).met_by(profile)
    assert not Distinct(Fraction("0.28") + Fraction(1, 10**30)).met_by(profile)


def test_one_pair_in_two_hundred_million_rows_is_no_key() -> None:
    profile = ClassProfile.of_sizes({1: 2 * 10**8 - 2, 2: 1}, 2)
    assert float(profile.separation_ratio) == 1.0  # why floats must not decide
    assert not Key().met_by(profile)
    assert not Separation(Fraction(1)).met_by(profile)
    assert not Distinct(Fraction(1)).met_by(profile)


def test_key_means_no_two_rows_agree() -> None:
    assert Key().met_by(sized(1, 1, 1))
    assert Key().met_by(sized())
    assert not Key().met_by(sized(1, 2))


def test_key_with_an_entity_lets_its_own_rows_agree() -> None:
    values = [("x",), ("x",), ("y",)]
    assert Key().met_by(entity_profile_of(values, ["ann", "ann", "bob"], 2))
    assert not Key().met_by(entity_profile_of(values, ["ann", "bob", "bob"], 2))


def test_separation_is_met_at_its_border() -> None:
    profile = sized(3, 1, 1)  # 7 of 10 pairs
    assert Separation(Fraction(7, 10)).met_by(profile)
    assert not Separation(Fraction(7, 10) + Fraction(1, 10**30)).met_by(profile)


def test_violates_begins_below_k() -> None:
    assert Violates(3).met_by(sized(2, 5))
    assert not Violates(3).met_by(sized(3, 5))
    assert not Violates(3).met_by(sized())  # no row, nobody to single out


def test_rows_below_k_is_met_at_its_border() -> None:
    profile = sized(1, 1, 2, 5, 11, k=3)  # 4 of 20 rows
    assert RowsBelowK(3, Fraction(1, 5)).met_by(profile)
    assert not RowsBelowK(3, Fraction(1, 5) + Fraction(1, 10**30)).met_by(profile)
    assert RowsBelowK(3, Fraction(1)).met_by(sized(1, k=3))
    assert not RowsBelowK(3, Fraction(0)).met_by(sized(k=3))  # no row, none at risk


def test_rows_below_k_refuses_the_profile_of_another_k() -> None:
    with pytest.raises(ValueError, match="k = 2, not 3"):
        RowsBelowK(3, Fraction(1, 5)).met_by(sized(1, k=2))


def test_determines_means_as_many_classes_as_the_goal() -> None:
    assert Determines(3).met_by(sized(2, 2, 9))
    assert not Determines(3).met_by(sized(2, 2))


criteria = st.one_of(
    st.just(Key()),
    st.builds(Violates, st.integers(2, 6)),
    st.builds(Distinct, st.fractions(0, 1, max_denominator=14)),
    st.builds(Separation, st.fractions(0, 1, max_denominator=91)),
    st.builds(RowsBelowK, st.just(3), st.fractions(0, 1, max_denominator=14)),
)


@pytest.mark.exhaustive
@given(small_rows, criteria)
def test_every_criterion_is_monotone(rows: list[tuple[int, ...]], criterion: Criterion) -> None:
    """Once a column set meets it, so does every superset."""
    for few in ((0,), (1,), (0, 1), (1, 2)):
        some, whole = profile_of([tuple(row[p] for p in few) for row in rows], 3), profile_of(rows, 3)
        assert criterion.met_by(whole) or not criterion.met_by(some)


@given(small_rows)
def test_determines_is_monotone(rows: list[tuple[int, ...]]) -> None:
    criterion = Determines(len(set(rows)))
    assert criterion.met_by(profile_of(rows, 2))
    for few, more in (((0,), (0, 1)), ((1,), (1, 2)), ((2,), (0, 2))):
        some, many = (profile_of([tuple(row[p] for p in places) for row in rows], 2) for places in (few, more))
        assert criterion.met_by(many) or not criterion.met_by(some)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12).filter(lambda sizes: sum(sizes) > 1))
def test_motwani_xu_1_1_exact_bounds(sizes: list[int]) -> None:
    """With d classes on n rows, one big class separates fewest pairs and equal classes separate most.

    The paper prints the forms for large n; these are exact.
    """
    n, d = sum(sizes), len(sizes)
    low = 1 - Fraction(comb(n - d + 1, 2), comb(n, 2))
    high = 1 - Fraction((d - n % d) * comb(n // d, 2) + n % d * comb(n // d + 1, 2), comb(n, 2))
    profile = sized(*sizes)
    assert low <= profile.separation_ratio <= high
    assert sized(*[1] * (d - 1), n - d + 1).separation_ratio == low
    assert sized(*[n // d + (place < n % d) for place in range(d)]).separation_ratio == high


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(9, 10), "0.9"),
        (Fraction(1), "1"),
        (Fraction("0.999"), "0.999"),
        (Fraction("0.05"), "0.05"),
        (Fraction(1, 8), "0.125"),
        (Fraction(1, 3), "1/3"),
        (Fraction("0.000000000001"), "0.000000000001"),
        (Fraction(1, 10**13), "1/10000000000000"),
    ],
)
def test_decimal(value: Fraction, text: str) -> None:
    assert decimal(value) == text


@given(st.fractions(0, 1))
@example(Fraction(1, 10) + Fraction(1, 10**30))
def test_decimal_loses_nothing(value: Fraction) -> None:
    assert Fraction(decimal(value)) == value


def test_size_bins() -> None:
    sizes = ClassSizes({1: 4, 2: 1, 4: 2, 5: 1, 60: 1}, {1: 4, 2: 2, 4: 8, 5: 5, 60: 60})
    assert size_bins(sizes, bin_starts(5)) == (
        SizeBin(1, 1, 4, 4),
        SizeBin(2, 4, 3, 10),
        SizeBin(5, 9, 1, 5),
        SizeBin(10, 49, 0, 0),
        SizeBin(50, 499, 1, 60),
    )


def test_size_bins_of_nothing() -> None:
    assert size_bins(ClassSizes({}, {}), bin_starts(5)) == ()


def test_bin_starts_name_a_border_once() -> None:
    assert bin_starts(2) == [1, 2, 4, 20, 200]
    assert bin_starts(5) == [1, 2, 5, 10, 50, 500]


@given(st.dictionaries(st.integers(1, 700), st.integers(1, 9)), st.integers(2, 9))
def test_size_bins_lose_no_class_and_no_row(classes: dict[int, int], k: int) -> None:
    bins = size_bins(ClassSizes(classes, {size: size * count for size, count in classes.items()}), bin_starts(k))
    assert sum(each.classes for each in bins) == sum(classes.values())
    assert sum(each.rows for each in bins) == sum(size * count for size, count in classes.items())
    assert all(low.low < high.low for low, high in pairwise(bins))


# where a NULL matches anything

rows_with_null = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 2), max_size=12)


@given(rows_with_null, st.integers(2, 6))
def test_match_sizes_are_the_definition(rows: list[tuple[int | None, ...]], k: int) -> None:
    crowds = frequencies(rows)
    together = Counter(min(crowd, 6) for crowd in crowds)
    pairs = sum(crowds) - len(crowds)
    sizes = MatchSizes({}, together, False, min(crowds, default=0), max(crowds, default=0), pairs, 6)
    profile = sizes.profile(k)
    assert profile == matching_profile_of(rows, k)
    assert profile.duplicate_rows == sum(crowd > 1 for crowd in crowds)
    assert profile.divides is any(crowd < len(rows) for crowd in crowds)


@given(small_rows, st.integers(2, 4))
def test_without_a_null_the_rows_that_match_are_those_of_the_class(rows: list[tuple[int, ...]], k: int) -> None:
    sizes = MatchSizes.of_classes(sizes_of(rows), 4)
    assert sizes.profile(k) == matching_profile_of(rows, k) == profile_of(rows, k).of_matches()
    assert sum(sizes.rows.values()) == len(rows)
    assert max(sizes.rows, default=0) <= 4
    assert MatchSizes({}, {2: 2}, smallest=2, largest=2, matching_pairs=2, most=2).profile(2).unique_rows == 0
    together = MatchSizes.of_classes(ClassSizes({3: 1, 5: 1, 9: 1}, {3: 3, 5: 5, 9: 9}), 4)
    assert (together.rows, together.smallest, together.largest) == ({3: 3, 4: 14}, 3, 9)
    assert MatchSizes({}, {}).profile(1) == ClassProfile.of_sizes({}, 1).of_matches()
    with pytest.raises(ValueError, match="below 2"):
        MatchSizes({}, {}).profile(2)
    with pytest.raises(ValueError, match="from 4 on are counted together, so those below 5 are not known"):
        sizes.profile(5)


@given(small_rows, st.integers(2, 6))
def test_the_profile_of_no_column_is_one_class(rows: list[tuple[int, ...]], k: int) -> None:
    profile, nothing = profile_of(rows, k), profile_of([() for _ in rows], k)
    assert profile.undivided == nothing
    assert profile.of_matches().undivided == nothing.of_matches()
    assert profile.divides is (profile != nothing)
    assert not nothing.divides and not nothing.of_matches().divides
    entities = entity_profile_of(rows, list(range(len(rows))), k)
    assert entities.undivided == entity_profile_of([() for _ in rows], list(range(len(rows))), k)


def test_where_there_are_no_classes_none_are_counted() -> None:
    with pytest.raises(ValueError, match="no classes"):
        _ = sized(1).of_matches().distinct_ratio
    assert sized(1, 2).of_matches().separation_ratio == Fraction(2, 3)


def test_a_profile_is_written_with_what_has_a_meaning() -> None:
    counts = {"smallest": 1, "largest": 2, "k": 2, "rows_below_k": 1, "unique_rows": 1, "colliding_pairs": 2}
    ratios = {"distinct_ratio": 2 / 3, "separation_ratio": 2 / 3, "share_below_k": 1 / 3}
    classes = {"classes": 2, "classes_below_k": 1}
    none = {"classes": None, "classes_below_k": None}
    plain = sized(1, 2)
    assert plain.to_plain() == {"rows": 3, **counts, **ratios, **classes}
    assert plain.of_matches().to_plain() == {"rows": 3, **counts, **ratios, **none, "distinct_ratio": None}
    entities = entity_profile_of([("x",), ("y",), ("y",)], ["ann", "bob", "eve"], 2)
    unknown = {"distinct_ratio": None, "separation_ratio": None}
    assert entities.to_plain() == {"entities": 3, **counts, **ratios, **classes, **unknown}
    one = sized(1).to_plain()
    assert (one["distinct_ratio"], one["separation_ratio"], one["share_below_k"]) == (1, 1, 1)
    empty = sized().to_plain()
    assert [empty[name] for name in ("rows", *ratios)] == [0, None, None, 0.0]
    assert not (plain.entities or plain.wildcard or ClassSizes({}, {}).profile(2).entities)
    for profile in (plain, plain.of_matches(), entities, sized()):
        assert ClassProfile.of_plain(profile.to_plain()) == profile


def test_above_is_not_met_at_its_border() -> None:
    profile = sized(3, 1, 1)  # 3 classes of 5 rows; 7 of 10 pairs
    less = Fraction(1, 10**30)
    for kind, ratio in ((Distinct, Fraction(3, 5)), (Separation, Fraction(7, 10))):
        assert kind(ratio).met_by(profile) and not kind(ratio, strict=True).met_by(profile)
        assert kind(ratio - less, strict=True).met_by(profile)


def test_criteria_are_named_by_what_they_ask() -> None:
    half = Fraction(1, 2)
    named = (Key(), Distinct(half), Separation(half), Violates(3), RowsBelowK(3, half), Determines(7))
    assert [criterion.name for criterion in named] == [
        "key",
        "0.5-distinct quasi-identifier",
        "0.5-separation quasi-identifier",
        "column set below k = 3",
        "column set that puts at least 50 % of the rows below k = 3",
        "column set with all 7 classes",
    ]
    assert Distinct(half, strict=True).name == "quasi-identifier with a distinct ratio above 0.5"
    assert Separation(half, strict=True).name == "quasi-identifier with a separation ratio above 0.5"
