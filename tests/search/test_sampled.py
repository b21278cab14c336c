"""(epsilon, delta) searches: on tables in memory, on adult, and how pairs are drawn inside the engines."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from qidsql.core.tables import Nulls
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, UsageError
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, Separation, Violates
from qidsql.measures.profiles import Profiler
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.knowledge import Budget
from qidsql.profiling.samples import CodedSample, TableSampler
from qidsql.protection.masking import sampled_masking
from qidsql.search.sampled import NOTHING, PairSample, sampled_key, sampled_separation
from qidsql.sql.relation import relation
from tests.adult import Adult
from tests.exhaustive import always, first
from tests.search.small_tables import RowsProfiler, RowsSampler
from tests.stores import EVERY_ENGINE, TWO_ENGINES, TWO_OF_THREE, Store

pytestmark = EVERY_ENGINE

DELTA = Fraction(1, 100)
WIDE = [(n, n // 2, n // 40, n % 7, n % 2, 0) for n in range(2_000)]


def test_a_sampled_key_is_almost_one_and_carries_its_certificate() -> None:
    full, criterion = RowsProfiler(WIDE), Separation(Fraction(99, 100))
    result = sampled_key(full, criterion, RowsSampler(WIDE, seed=3))
    [found] = result.found
    assert criterion.met_by(found.profile)
    assert found.profile.rows == 2_000
    assert len(full.asked) == 1
    certificate = result.certificate
    assert certificate is not None
    assert (certificate.unit, certificate.seed, certificate.delta) == ("pairs of rows", 3, DELTA)
    assert certificate.epsilon == Fraction(1, 100)
    assert certificate.sizes == (757,)  # ln(20 * 100) / -ln(0.99)
    assert certificate.promise == "0.99-separation quasi-identifier"
    assert certificate.verified
    assert not result.complete


def test_a_sampled_distinct_key() -> None:
    full, criterion = RowsProfiler(WIDE), Distinct(Fraction(9, 10))
    result = sampled_key(full, criterion, RowsSampler(WIDE))
    assert criterion.met_by(result.found[0].profile)
    assert result.certificate is not None
    assert result.certificate.unit == "rows"
    assert result.certificate.sizes[0] < 2_000


def test_without_verification_the_profile_is_the_samples() -> None:
    full = RowsProfiler(WIDE)
    result = sampled_key(full, Distinct(Fraction(9, 10)), RowsSampler(WIDE), verify=False)
    assert full.asked == []
    assert result.certificate is not None
    assert not result.certificate.verified
    assert result.found[0].profile.rows == result.certificate.sizes[0]


@pytest.mark.parametrize("criterion", [Separation(Fraction(99, 100)), Distinct(Fraction(1, 2))])
def test_duplicates_leave_nothing_to_promise(criterion: Separation | Distinct) -> None:
    rows = [(n % 9, n % 5) for n in range(450)]
    result = sampled_key(RowsProfiler(rows), criterion, RowsSampler(rows))
    assert [found.mask for found in result.found] == [0b11]
    assert result.certificate is not None
    assert result.certificate.promise == NOTHING


def test_beta_separation_stays_small_where_a_key_would_be_large() -> None:
    full, beta, epsilon = RowsProfiler(WIDE), Fraction(4, 5), Fraction(1, 20)
    result = sampled_separation(full, Separation(beta), RowsSampler(WIDE), epsilon)
    [found] = result.found
    assert found.size == 1
    assert found.profile.separation_ratio >= (1 - epsilon) * beta
    assert result.criterion == Separation((1 - epsilon) * beta)


def test_beta_separation_asks_for_enough_pairs() -> None:
    """A cheap column that separates 0.75 of the pairs, a hair below (1 - epsilon) beta, is not enough."""
    rows = [(n % 4, n % 7) for n in range(1_400)]
    result = sampled_separation(
        RowsProfiler(rows), Separation(Fraction(4, 5)), RowsSampler(rows), Fraction(1, 20), weights=[1, 9]
    )
    assert [found.mask for found in result.found] == [0b11]


def test_sampled_answers_keep_their_promise_as_often_as_they_say() -> None:
    rows = [(n % 30, n % 31, n % 37, n % 2) for n in range(500)]
    criterion, delta, failed = Separation(Fraction(97, 100)), Fraction(1, 4), 0
    for seed in range(200):
        result = sampled_key(RowsProfiler(rows), criterion, RowsSampler(rows, seed), delta)
        failed += not criterion.met_by(result.found[0].profile)
    assert failed <= 50


@pytest.mark.parametrize("criterion", [Violates(5), Determines(3)])
def test_a_sample_cannot_vouch_for_small_classes(criterion: Criterion) -> None:
    with pytest.raises(UsageError, match="cannot guarantee a"):
        criterion.almost(DELTA)


def test_what_keys_of_a_sample_come_to() -> None:
    assert Key().almost(DELTA) == Separation(1 - DELTA)
    assert Separation(Fraction(1)).almost(DELTA) == Separation(1 - DELTA)
    assert Distinct(Fraction(1)).almost(DELTA) == Distinct(1 - DELTA)
    with pytest.raises(UsageError, match="--distinct must be 1"):
        Distinct(Fraction(9, 10)).almost(DELTA)


def test_a_budget_spent_before_verification_leaves_the_samples_answer() -> None:
    result = sampled_key(RowsProfiler(WIDE, most=0), Separation(Fraction(9, 10)), RowsSampler(WIDE))
    assert isinstance(result.stopped, BudgetSpent)
    assert result.found
    assert result.certificate is not None
    assert not result.certificate.verified


def test_pairs_know_separation_and_nothing_else() -> None:
    [one, other, both] = PairSample({0b01: 5, 0b10: 3, 0b11: 1, 0: 1}, 2).profiles([0b01, 0b10, 0b11])
    assert [p.separation_ratio for p in (one, other, both)] == [Fraction(6, 10), Fraction(4, 10), Fraction(9, 10)]
    assert one.undivided.separation_ratio == 0
    for ratio in ("distinct_ratio", "share_below_k"):
        with pytest.raises(ValueError, match="a sample of pairs has no"):
            getattr(one, ratio)


def pairs(sample: Profiler) -> dict[int, int]:
    """How often each mask of differing columns was drawn."""
    assert isinstance(sample, PairSample)
    return dict(sample.masks)


def sampler(engine: Engine, name: str, seed: int, where: str | None = None, nulls: Nulls = Nulls.EQUAL) -> TableSampler:
    table = engine.narrowed(engine.describe(name), where)
    source = relation(engine.dialect, table, table.columns)
    profiler = profiler_for(engine, source, [column.name for column in table.columns], 5, nulls=nulls)
    return TableSampler(profiler, table, table.columns, seed)


@TWO_OF_THREE
@pytest.mark.parametrize("name", first(["t", "v"]))
def test_pairs_are_independent_and_uniform(store: Store, name: str) -> None:
    """Each of the 15 pairs of 6 rows equally often, also when one statement draws far more pairs than there are."""
    rows = [tuple(int(row == other) for other in range(6)) for row in range(6)]
    store.table("t", {f"c{place}": "INTEGER" for place in range(6)}, rows)
    store.execute("CREATE VIEW v AS SELECT DISTINCT * FROM t")
    expected = {1 << one | 1 << other for one, other in combinations(range(6), 2)}
    counts: Counter[int] = Counter()
    with store.connect() as engine:
        for seed in range(5):
            counts.update(pairs(sampler(engine, name, seed).of_pairs(600)))
        again = [pairs(sampler(engine, name, 3).of_pairs(600)) for _ in range(3)]
        assert again[0] == again[1] == again[2]
        assert again[0] != pairs(sampler(engine, name, 4).of_pairs(600))
    assert set(counts) == expected
    assert counts.total() == 3_000
    assert sum((counts[mask] - 200) ** 2 / 200 for mask in expected) < 42.6  # 14 degrees of freedom: once in 10,000


@pytest.mark.exhaustive
@TWO_OF_THREE
@pytest.mark.parametrize("rows", always(400, longer=[4_000]))
def test_few_pairs_of_many_rows(store: Store, rows: int) -> None:
    """Two classes of 30 % and 70 %: pairs within a class are as many as they should be, seed by seed."""
    store.execute(f"CREATE TABLE t AS SELECT id % 10 < 3 AS c, 1 AS d FROM generate_series(1, {rows}) AS g(id)")
    together = []
    with store.connect() as engine:
        for seed in range(30):
            masks = pairs(sampler(engine, "t", seed).of_pairs(200))
            assert sum(masks.values()) == 200
            assert set(masks) <= {0b00, 0b01}
            together.append(masks[0])
    mean = sum(together) / 30
    spread = sum((count - mean) ** 2 for count in together) / 29
    assert abs(mean - 116) < 5  # 0.58 * 200
    assert 20 < spread < 110  # 49 for independent pairs


@TWO_ENGINES
def test_null_agrees_with_null_and_a_condition_is_kept(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(None, 1), (None, 1), (1, 1), (None, 2)])
    with store.connect() as engine:
        assert pairs(sampler(engine, "t", 1, "b = 2 OR a = 1").of_pairs(9)) == {0b11: 9}
        assert set(pairs(sampler(engine, "t", 1).of_pairs(99))) == {0b00, 0b01, 0b10, 0b11}


def test_masks_of_more_columns_than_an_integer_has_bits(store: Store) -> None:
    names = {f"c{place}": "INTEGER" for place in range(70)}
    store.table("t", names, [(0,) * 70, tuple(int(place in (3, 61, 62, 69)) for place in range(70))])
    with store.connect() as engine:
        masks = pairs(sampler(engine, "t", 0).of_pairs(5))
    assert masks == {1 << 3 | 1 << 61 | 1 << 62 | 1 << 69: 5}


def test_one_row_has_no_pairs(store: Store) -> None:
    store.table("t", {"a": "INTEGER"}, [(1,)])
    with store.connect() as engine:
        assert sampler(engine, "t", 0).of_pairs(9).profiles([1])[0].separation_ratio == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(0, longer=range(1, 12)))
@pytest.mark.parametrize("nulls", Nulls)
def test_a_sample_drawn_once_has_the_profiles_of_the_same_rows_by_statements(
    store: Store, seed: int, nulls: Nulls
) -> None:
    draw = Random(seed)
    rows = [tuple(draw.choice([*range(most), *[None] * (most % 2)]) for most in (1, 2, 3, 6, 40)) for _ in range(150)]
    store.table("t", dict.fromkeys("abcde", "INTEGER"), [*rows, *rows[:40]])
    masks = draw.sample(range(1, 32), 31)
    with store.connect() as engine:
        drawn = sampler(engine, "t", seed, nulls=nulls)
        once, by_statements = drawn.of_rows(80), drawn._profiler.over(drawn._sample(80), 80)
        asked = engine.statements
        assert isinstance(once, CodedSample)
        assert not drawn.coded
        found = [profile for start in range(0, 31, 5) for profile in once.profiles(masks[start : start + 5])]
        assert engine.statements == asked + 1
        assert drawn.coded == 80
        assert found == by_statements.profiles(masks)
        assert not isinstance(drawn.of_rows(190), CodedSample)  # the table


def test_a_sample_of_many_cells_is_drawn_by_each_statement(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(n, n % 5) for n in range(50)])
    monkeypatch.setattr("qidsql.profiling.samples.CODED_CELLS", 59)
    with store.connect() as engine:
        drawn = sampler(engine, "t", 1)
        assert not isinstance(drawn.of_rows(30), CodedSample)
        assert drawn.of_rows(30).profiles([1])[0].classes == 30
        assert isinstance(drawn.of_rows(29), CodedSample)


def test_a_sampled_distinct_key_and_masking_draw_once(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, [(n, n % 50, n % 3) for n in range(4_000)])
    with store.connect() as engine:
        drawn = sampler(engine, "t", 1)
        asked = engine.statements
        assert sampled_key(drawn._profiler, Distinct(Fraction(1, 2)), drawn).found[0].mask == 0b001
        assert engine.statements - asked == 3  # rows of the table, the sample, and the verification
        other = sampler(engine, "t", 1)
        asked = engine.statements
        plan = sampled_masking(other._profiler, Distinct(Fraction(1, 2), strict=True), other, 900)
        assert plan.published == 0b110
        assert engine.statements - asked == 3


def test_statements_and_budget_of_a_sampled_key(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER", "c": "INTEGER"}, [(n, n % 50, n % 3) for n in range(400)])
    with store.connect() as engine:
        drawn = sampler(engine, "t", 1)
        asked = engine.statements
        result = sampled_key(drawn._profiler, Separation(Fraction(99, 100)), drawn)
        assert result.found[0].mask == 0b001
        assert engine.statements - asked == 3  # rows of the table, the pairs, and the verification
        table = engine.describe("t")
        poor = profiler_for(engine, drawn._profiler.source, "abc", 5, budget=Budget(max_statements=1))
        result = sampled_key(poor, Separation(Fraction(99, 100)), TableSampler(poor, table, table.columns, 1))
        assert isinstance(result.stopped, BudgetSpent)
        entity = profiler_for(engine, drawn._profiler.source, "ab", 5, entity="c")
        with pytest.raises(UsageError, match="does not measure entities"):
            TableSampler(entity, table, table.columns)


@pytest.mark.parametrize("seed", first(range(4)))
def test_adult_separation_as_in_table_4(adult: Adult, seed: int) -> None:
    figure = adult.figures["(0.001,0.01)-separation greedy: size / ratio"]
    result = sampled_key(adult.profiler, Separation(1 - Fraction(1, 1000)), adult.sampler(seed))
    [found] = result.found
    assert abs(found.size - figure["published"][0]) <= 1
    assert found.profile.separation_ratio >= Fraction(999, 1000)
    assert result.certificate is not None
    assert result.certificate.sizes[0] <= 14_303


@pytest.mark.parametrize("seed", range(2))
def test_adult_distinct_as_in_table_4(adult: Adult, seed: int) -> None:
    figure = adult.figures["(0.1,0.01)-distinct greedy: size / ratio"]
    result = sampled_key(adult.profiler, Distinct(Fraction(9, 10)), adult.sampler(seed))
    [found] = result.found
    # Which rows are drawn decides the size: 11 to 13 were seen, the paper prints 13. The ratio is what is promised.
    assert abs(found.size - figure["published"][0]) <= 2
    assert found.profile.distinct_ratio >= Fraction(9, 10)
    assert result.certificate is not None
    assert result.certificate.sizes[0] <= 2_738
