"""Keys, borders and minimum against brute force over all column sets, on thousands of small tables."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from qidsql.errors import BudgetSpent, Interrupted, StatementError
from qidsql.measures.criteria import Distinct, Key, Separation
from qidsql.measures.profiles import ClassProfile
from qidsql.search.borders import borders
from qidsql.search.difference_masks import AgreeingPairs
from qidsql.search.hitting_sets import minimal_masks
from qidsql.search.lattice import levelwise
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.result import SearchResult
from qidsql.search.sampled import PairSample
from qidsql.search.smallest import minimum
from tests.exhaustive import always, first, pairs
from tests.search.tables import (
    Meets,
    MemoryProfiler,
    MemoryWitnesses,
    Row,
    brute_force,
    class_sizes,
    criteria,
    random_table,
)


def found(result: SearchResult) -> set[int]:
    masks = [each.mask for each in result.found]
    assert len(masks) == len(set(masks))
    assert masks == sorted(masks, key=int.bit_count)
    return set(masks)


def is_key(sizes: Sequence[int]) -> bool:
    return all(size == 1 for size in sizes)


def width_of(rows: Sequence[Sequence[object]]) -> int:
    return len(rows[0]) if rows else 3


@pytest.fixture(params=always(25, longer=[150]))
def tables(request: pytest.FixtureRequest) -> int:
    """How many random tables a test looks at."""
    return int(request.param)


@pytest.mark.parametrize("max_pairs", first([2, 6, 40, 1000]))
def test_keys_are_those_of_brute_force(max_pairs: int, tables: int) -> None:
    random = Random(max_pairs)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        witnesses = MemoryWitnesses(rows, max_pairs, max_masks=random.choice([1, 3, 1000]))
        result = minimal_keys(MemoryProfiler(rows, width), witnesses)
        assert result.complete
        assert result.stopped is None
        assert found(result) == brute_force(rows, width, is_key)
        assert len(set(witnesses.asked)) == len(witnesses.asked)
        for each in result.found:
            assert each.profile.classes == len(rows)


def test_known_profiles_change_no_key_and_spare_queries(tables: int) -> None:
    random = Random(7)
    asked = spared = 0
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        profiler, witnesses, informed = MemoryProfiler(rows, width), MemoryWitnesses(rows, 6), MemoryWitnesses(rows, 6)
        masks = [mask for mask in range(1, 1 << width) if random.random() < 0.5]
        known = dict(zip(masks, profiler.profiles(masks), strict=True))
        plain = minimal_keys(MemoryProfiler(rows, width), witnesses)
        result = minimal_keys(MemoryProfiler(rows, width), informed, known=known)
        assert found(result) == found(plain) == brute_force(rows, width, is_key)
        assert result.complete
        asked, spared = asked + len(witnesses.asked), spared + len(witnesses.asked) - len(informed.asked)
    assert spared * 10 > asked


def test_what_known_profiles_decide_is_not_queried(tables: int) -> None:
    """Of however many pairs a known set has: here more than a query may compare."""
    random = Random(8)
    decided = 0
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        profiler, witnesses = MemoryProfiler(rows, width), MemoryWitnesses(rows, 2)
        masks = [mask for mask in range(1, 1 << width) if mask.bit_count() <= 2]
        known = dict(zip(masks, profiler.profiles(masks), strict=True))
        result = minimal_keys(profiler, witnesses, max_size=2, known=known)
        every = brute_force(rows, width, is_key)
        assert found(result) == {key for key in every if key.bit_count() <= 2}
        if not any(is_key(class_sizes(rows, mask)) for mask in masks):
            assert not witnesses.asked
            decided += 1
    assert decided


def test_keys_up_to_a_size(tables: int) -> None:
    random = Random(9)
    for _ in range(tables):
        rows = random_table(random)
        width, size = width_of(rows), random.randint(1, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 6), max_size=size)
        every = brute_force(rows, width, is_key)
        assert found(result) == {key for key in every if key.bit_count() <= size}
        assert not result.complete or found(result) == every
        assert result.complete_to_size >= min(size, width)


def test_keys_that_are_too_many_come_smallest_first(tables: int) -> None:
    random = Random(10)
    for _ in range(tables):
        rows = random_table(random)
        width, limit = width_of(rows), random.randint(1, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 40), limit=limit)
        every = brute_force(rows, width, is_key)
        if len(every) <= limit or len(rows) < 2:
            assert result.complete
            continue
        sizes = sorted(key.bit_count() for key in every)
        assert not result.complete
        assert result.stopped is not None
        assert found(result) <= every
        assert [each.size for each in result.found] == sizes[:limit]
        assert {key for key in every if key.bit_count() <= result.complete_to_size} <= found(result)


def test_a_key_search_that_is_stopped_says_only_what_is_proved(tables: int) -> None:
    random = Random(11)
    stopped = 0
    for _ in range(tables):
        rows = random_table(random)
        width, budget = width_of(rows), random.randint(0, 4)
        result = minimal_keys(MemoryProfiler(rows, width), MemoryWitnesses(rows, 6, budget=budget))
        every = brute_force(rows, width, is_key)
        assert found(result) <= every
        assert {key for key in every if key.bit_count() <= result.complete_to_size} <= found(result)
        assert result.complete == (result.stopped is None)
        stopped += not result.complete
    assert stopped > tables // 4


class Failing(MemoryWitnesses):
    """Witnesses that end in another way than by a budget."""

    def __init__(self, rows: Sequence[Row], error: BaseException, answers: int) -> None:
        super().__init__(rows, 6)
        self.error, self.answers = error, answers

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        if len(self.asked) >= self.answers:
            raise self.error
        return super().agreeing(sets)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StatementError("no")], ids=["ctrl-c", "statement"])
def test_what_is_proved_by_then_survives_ctrl_c_and_a_failed_statement(error: BaseException, tables: int) -> None:
    random = Random(17)
    kept = 0
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        every = brute_force(rows, width, is_key)
        try:
            result = minimal_keys(MemoryProfiler(rows, width), Failing(rows, error, random.randint(0, 4)))
        except StatementError:
            assert isinstance(error, StatementError)  # nothing was proved by then: the error itself is the answer
            continue
        assert found(result) <= every
        assert {key for key in every if key.bit_count() <= result.complete_to_size} <= found(result)
        assert result.complete == (result.stopped is None)
        if isinstance(error, KeyboardInterrupt) and result.stopped:
            assert isinstance(result.stopped, Interrupted)
        kept += result.stopped is not None and bool(result.found)
        least = minimum(MemoryProfiler(rows, width), Key(), Failing(rows, error, random.randint(0, 2)))
        assert all(is_key(class_sizes(rows, each.mask)) for each in least.found)
        assert least.lower_bound is None or not every or least.lower_bound <= min(map(int.bit_count, every))
    assert kept > tables // 15


def test_keys_of_fewer_columns_than_values_allow_are_not_looked_for() -> None:
    """With 2 values a column, 8 rows need 3 columns: no pair of columns is asked about."""
    rows = [tuple(row >> bit & 1 for bit in range(3)) for row in range(8)]
    witnesses = MemoryWitnesses(rows, 2)
    assert minimal_keys(MemoryProfiler(rows, 3), witnesses, max_size=2).complete_to_size == 2
    assert witnesses.asked == []
    assert found(minimal_keys(MemoryProfiler(rows, 3), witnesses)) == {0b111}


def test_twins_and_constants_cost_no_question_and_are_put_back() -> None:
    rows = [(i % 4, i // 4 % 4, i // 16, i % 5) for i in range(64)]
    wide = [(a, -a, b, 7, c, d, 9 - b, None, 2 * a) for a, b, c, d in rows]
    plain, twins = MemoryWitnesses(rows, 100), MemoryWitnesses(wide, 100)
    few = found(minimal_keys(MemoryProfiler(rows, 4), plain))
    many = found(minimal_keys(MemoryProfiler(wide, 9), twins))
    assert few == brute_force(rows, 4, is_key)
    assert many == brute_force(wide, 9, is_key)
    assert len(many) > len(few)
    assert len(twins.asked) == len(plain.asked)


def test_duplicate_rows_rule_out_every_key_with_one_profile() -> None:
    rows = [(1, 2), (1, 2), (2, 2)]
    profiler, witnesses = MemoryProfiler(rows, 2), MemoryWitnesses(rows, 100)
    result = minimal_keys(profiler, witnesses)
    assert result.complete
    assert result.found == ()
    assert (len(profiler.asked), witnesses.asked) == (1, [])


@pytest.mark.parametrize("breadth", first([0, 1, 12, 256]))
def test_borders_are_those_of_brute_force_for_every_criterion(breadth: int, tables: int) -> None:
    random = Random(12)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            profiler = MemoryProfiler(rows, width)
            hints = MemoryProfiler(rows[::2], width) if random.random() < 0.3 else None
            result = borders(profiler, criterion, hints=hints, breadth=breadth)
            expected = brute_force(rows, width, meets)
            assert result.complete, criterion
            assert found(result) == expected, criterion
            assert found(levelwise(MemoryProfiler(rows, width), criterion)) == expected, criterion
            assert len(set(profiler.asked)) == len(profiler.asked), "asked twice"


@pytest.mark.exhaustive
def test_borders_ask_both_borders_and_no_more_than_theory_allows(tables: int) -> None:
    """Whoever asks column sets only must ask every minimal solution and every maximal failing set. Dualize and advance
    asks at most |maximal| * (|minimal| + rank * columns) sets [Gunopulos et al. 2003], where the rank, the
    size of a maximal failing set, is below the number of columns; and finding twins asks columns and pairs of them."""
    random = Random(13)
    tight = 0
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            profiler = MemoryProfiler(rows, width)
            minimal = found(borders(profiler, criterion))
            failing = {mask for mask in range(1 << width) if mask == 0 or not meets(class_sizes(rows, mask))}
            maximal = {
                mask for mask in failing if not any(mask | 1 << i in failing for i in range(width) if not mask >> i & 1)
            }
            whole, pairs = 1, width * (width - 1) // 2
            assert len(profiler.asked) <= whole + width + pairs + len(maximal) * (len(minimal) + width * (width - 1))
            twins = any(
                len({(row[i], row[j]) for row in rows})
                == len({row[i] for row in rows})
                == len({row[j] for row in rows})
                for i in range(width)
                for j in range(i)
            )
            constant = any(len({row[i] for row in rows}) < 2 for i in range(width))
            if not twins and not constant:
                assert minimal | maximal - {0} <= set(profiler.asked), criterion
                tight += len(profiler.asked) <= whole + width + pairs + len(minimal) + len(maximal) * 2
    assert tight > tables // 4


class Inferring(MemoryProfiler):
    """Refuses a set whose result follows from earlier batches; columns and pairs are profiled to compare them."""

    def __init__(self, rows: Sequence[Row], columns: int, meets: Meets) -> None:
        super().__init__(rows, columns)
        self.meets = meets
        self.known: dict[int, bool] = {}

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        for mask in masks:
            above = any(met and each & ~mask == 0 for each, met in self.known.items())
            below = any(not met and mask & ~each == 0 for each, met in self.known.items())
            assert (not above and not below) or mask.bit_count() <= 2
        self.known.update({mask: self.meets(class_sizes(self.rows, mask)) for mask in masks})
        return super().profiles(masks)


@pytest.mark.parametrize("breadth", first([0, 4, 256]))
def test_what_follows_from_earlier_rounds_is_not_asked(breadth: int, tables: int) -> None:
    random = Random(26)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            borders(Inferring(rows, width, meets), criterion, breadth=breadth)
            minimum(Inferring(rows, width, meets), criterion, breadth=breadth)


@pytest.mark.exhaustive
def test_the_broader_the_fewer_rounds() -> None:
    random = Random(27)
    rows = [tuple(random.randrange(values) for values in (2, 2, 3, 3, 4, 4, 5, 6, 9, 20)) for _ in range(300)]
    for search in (borders, minimum):
        rounds, found = [], set[tuple[int, ...]]()
        for breadth in (0, 24, 256):
            profiler = MemoryProfiler(rows, 10)
            result = search(profiler, Distinct(Fraction(9, 10)), breadth=breadth)
            rounds.append(profiler.batches)
            found.add(tuple(sorted(each.mask for each in result.found)) if search is borders else (result.cost or 0,))
        assert len(found) == 1
        assert sorted(rounds, reverse=True) == rounds
        assert rounds[-1] <= 10


@pytest.mark.parametrize("breadth", first([0, 3, 256]))
def test_borders_stopped_say_only_what_is_proved(breadth: int, tables: int) -> None:
    random = Random(14)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            profiler = MemoryProfiler(rows, width, budget=random.randint(0, 20))
            result = borders(profiler, criterion, breadth=breadth)
            every = brute_force(rows, width, meets)
            assert found(result) <= every
            assert not result.complete or found(result) == every
            assert {mask for mask in every if mask.bit_count() <= result.complete_to_size} <= found(result)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("breadth", "weighted"), pairs([0, 256], [False, True]))
def test_the_minimum_is_that_of_brute_force(weighted: bool, breadth: int, tables: int) -> None:
    random = Random(15)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        weights = [random.choice([1, 2, 3, 9]) for _ in range(width)] if weighted else None
        for criterion, meets in criteria(random, rows, width):
            for witnesses in (None, MemoryWitnesses(rows, 6)):
                profiler = MemoryProfiler(rows, width)
                told: list[tuple[int, int]] = []
                result = minimum(
                    profiler,
                    criterion,
                    witnesses,
                    weights,
                    breadth,
                    lambda *bounds: told.append(bounds),  # noqa: B023
                )
                assert len(set(profiler.asked)) == len(profiler.asked), "asked twice"
                costs = [
                    sum((weights or [1] * width)[i] for i in range(width) if mask >> i & 1)
                    for mask in brute_force(rows, width, meets)
                ]
                assert result.cost == min(costs, default=None), criterion
                assert result.optimal == bool(costs)
                assert result.lower_bound == result.cost
                assert all(best >= min(costs) >= bound for best, bound in told)
                assert told[-1:] == [(result.cost, result.cost)] * bool(costs)
                assert all(meets(class_sizes(rows, each.mask)) for each in result.found)


def test_twins_and_constant_columns_cost_a_minimum_search_no_questions_and_the_lightest_twin_is_taken() -> None:
    random = Random(25)
    rows = list(dict.fromkeys(tuple(random.randrange(4) for _ in range(8)) for _ in range(80)))
    doubled = [(*row, *(f"twin {cell}" for cell in row), "constant") for row in rows]
    for criterion in (Key(), Distinct(Fraction(9, 10)), Separation(Fraction(99, 100))):
        asked = []
        for table, weights in ((rows, [2] * 8), (doubled, [2] * 4 + [5] * 4 + [3] * 4 + [2] * 4 + [1])):
            width = len(table[0])
            profiler, witnesses = MemoryProfiler(table, width), MemoryWitnesses(table, 200)
            result = minimum(profiler, criterion, witnesses, weights)
            assert result.optimal
            asked.append((result.cost, len(witnesses.asked), len(profiler.asked)))
            heavy = sum(1 << place for place in (4, 5, 6, 7, 8, 9, 10, 11, 16))
            assert width == 8 or result.found[0].mask & heavy == 0
        (cost, questions, profiles), (cost_of_twins, questions_of_twins, profiles_of_twins) = asked
        assert (cost, questions) == (cost_of_twins, questions_of_twins)
        assert profiles_of_twins == profiles + 9 + 8  # the further columns alone, and each beside its twin


@pytest.mark.exhaustive
@pytest.mark.parametrize("breadth", [0, 256])
def test_a_minimum_search_that_is_stopped_keeps_true_bounds(breadth: int, tables: int) -> None:
    random = Random(16)
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        for criterion, meets in criteria(random, rows, width):
            witnesses = MemoryWitnesses(rows, 6, budget=random.randint(0, 3))
            profiler = MemoryProfiler(rows, width, budget=random.randint(1, 12))
            result = minimum(profiler, criterion, witnesses, breadth=breadth)
            sizes = [mask.bit_count() for mask in brute_force(rows, width, meets)]
            assert all(meets(class_sizes(rows, each.mask)) for each in result.found)
            if sizes and result.lower_bound is not None:
                assert result.lower_bound <= min(sizes)
            if result.optimal:
                assert result.cost == min(sizes)


def test_weights_must_be_one_positive_integer_per_column() -> None:
    for weights in ([1], [1, 0], [1, -2]):
        with pytest.raises(ValueError, match="positive weights"):
            minimum(MemoryProfiler([(1, 2)], 2), Key(), weights=weights)


def test_hints_of_any_kind_change_no_answer_and_spare_questions(tables: int) -> None:
    """Pairs of rows, few, many or of another table altogether: they only decide what is asked first."""
    random = Random(17)
    asked: Counter[str] = Counter()
    for _ in range(tables):
        rows = random_table(random)
        width = width_of(rows)
        if len(rows) < 3:
            continue
        criterion, meets = separation(rows, Fraction(random.randint(1, 40), 40))
        expected = brute_force(rows, width, meets)
        every_pair = Counter(difference(a, b) for a, b in combinations(rows, 2))
        few = Counter(difference(*random.sample(rows, 2)) for _ in range(9))
        nonsense = Counter(random.randrange(1 << width) for _ in range(20))
        hints = {"none": None, "all": every_pair, "few": few, "nonsense": nonsense}
        for name, hint in hints.items():
            profiler = MemoryProfiler(rows, width)
            sample = None if hint is None else PairSample(hint, width)
            result = borders(profiler, criterion, hints=sample)
            assert found(result) == expected, name
            assert result.complete
            asked[name] += len(profiler.asked)
    assert asked["all"] < asked["none"]


def test_hints_spare_questions_on_a_wide_table() -> None:
    random = Random(23)
    rows = [tuple(random.randrange(values) for values in (2, 2, 2, 3, 3, 4, 4, 5, 6, 9)) for _ in range(60)]
    criterion = Separation(Fraction(98, 100))
    plain, helped = MemoryProfiler(rows, 10), MemoryProfiler(rows, 10)
    sample = PairSample(Counter(difference(a, b) for a, b in combinations(rows, 2)), 10)
    assert found(borders(helped, criterion, hints=sample)) == found(borders(plain, criterion))
    assert len(helped.asked) < len(plain.asked) * 3 / 4


def test_a_sample_of_pairs_counts_them_as_one_by_one(tables: int) -> None:
    random = Random(18)
    for _ in range(tables):
        width = random.randint(1, 70)
        pairs = {random.getrandbits(width): random.randint(1, 1000) for _ in range(random.randint(0, 30))}
        sets = [random.getrandbits(width) for _ in range(10)]
        for chosen, profile in zip(sets, PairSample(pairs, width).profiles(sets), strict=True):
            assert profile.colliding_pairs == sum(count for mask, count in pairs.items() if not mask & chosen)


def test_borders_stopped_know_the_size_they_have_settled() -> None:
    random = Random(19)
    rows = [tuple(random.randrange(values) for values in (2, 2, 2, 3, 4, 9, 40, 99)) for _ in range(40)]
    every = brute_force(rows, 8, is_key)
    assert len({mask.bit_count() for mask in every}) > 2
    sizes, found_early = set(), 0
    for budget in range(0, 100, 3):
        result = borders(MemoryProfiler(rows, 8, budget=budget), Key())
        sizes.add(result.complete_to_size)
        found_early += bool(result.found) and not result.complete
        assert found(result) <= every
        assert {mask for mask in every if mask.bit_count() <= result.complete_to_size} <= found(result)
    assert {0, 8} <= sizes
    assert len(sizes) > 3
    assert found_early


def test_a_key_search_stopped_after_its_first_anchor_has_a_key_of_few_columns() -> None:
    rows = [tuple(random.randrange(4) for _ in range(12)) for random in [Random(20)] for _ in range(60)]
    rows = list(dict.fromkeys(rows))
    for budget in (1, 2, 3):
        witnesses = MemoryWitnesses(rows, 60, budget=budget)
        result = minimum(MemoryProfiler(rows, 12), Key(), witnesses)
        assert is_key(class_sizes(rows, result.found[0].mask))
        assert result.found[0].profile.classes == len(rows)
        if result.stopped is not None:
            assert result.cost is not None
            assert result.lower_bound is not None
            assert result.lower_bound <= result.cost < 12


def test_a_key_search_without_a_complete_anchor_has_a_key_of_few_columns_too() -> None:
    random = Random(24)
    rows = list(dict.fromkeys(tuple(random.randrange(9) for _ in range(12)) for _ in range(60)))
    result = minimum(MemoryProfiler(rows, 12), Key(), MemoryWitnesses(rows, 0, max_masks=1, budget=2))
    assert result.stopped is not None
    assert is_key(class_sizes(rows, result.found[0].mask))
    assert result.cost is not None
    assert result.cost < 12


@pytest.mark.parametrize("criterion", [Separation(Fraction(9, 10)), Distinct(Fraction(9, 10))])
def test_a_minimum_search_stopped_after_its_descent_has_a_minimal_set(criterion: Separation | Distinct) -> None:
    rows = [tuple(random.randrange(3) for _ in range(12)) for random in [Random(21)] for _ in range(60)]
    result = minimum(MemoryProfiler(rows, 12, budget=60), criterion)
    assert isinstance(result.stopped, BudgetSpent)
    mask = result.found[0].mask
    assert criterion.met_by(result.found[0].profile)
    assert mask.bit_count() < 12


@pytest.mark.parametrize("search", [borders, minimum])
def test_ctrl_c_between_two_statements_is_a_stop_like_any_other(search: Callable[..., SearchResult]) -> None:
    class Interrupting(MemoryProfiler):
        def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
            if len(self.asked) > 30:
                raise KeyboardInterrupt
            return super().profiles(masks)

    rows = [tuple(random.randrange(3) for _ in range(9)) for random in [Random(22)] for _ in range(40)]
    result = search(Interrupting(rows, 9), Separation(Fraction(19, 20)))
    assert isinstance(result.stopped, Interrupted)
    assert not result.complete


def separation(rows: Sequence[Row], beta: Fraction) -> tuple[Separation, Callable[[list[int]], bool]]:
    """The criterion, and its definition on class sizes."""
    pairs = len(rows) * (len(rows) - 1)
    return Separation(beta), lambda sizes: 1 - Fraction(sum(size * (size - 1) for size in sizes), pairs) >= beta


def difference(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(1 << place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


def test_the_masks_of_all_pairs_hit_by_every_key() -> None:
    """The witnesses of the tests themselves: minimal keys are the minimal hitting sets of all difference masks."""
    rows = [(1, 1, None), (1, 2, None), (2, 2, 3)]
    [answer] = MemoryWitnesses(rows, 100).agreeing([0])
    assert minimal_masks(answer.masks) == [0b010, 0b101]
