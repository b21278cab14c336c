"""Every algorithm for every criterion on random tables, in SQL on both engines, against all column sets tried."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log
from random import Random

import pytest

from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.core.tables import positions
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, Ratio, Separation
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.samples import PairsThatAgree, TableSampler
from qidsql.protection.masking import MaskingPlan, exact_masking, greedy_masking, sampled_masking
from qidsql.search.borders import borders
from qidsql.search.greedy import greedy, greedy_minimal, naive_greedy
from qidsql.search.lattice import iterative, levelwise, pruned
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.result import Found, SearchResult
from qidsql.search.sampled import NOTHING, sampled_key, sampled_separation
from qidsql.search.smallest import minimum
from qidsql.sql.relation import relation
from tests.exhaustive import always
from tests.search.tables import K, Meets, OnceSampler, Row, class_sizes, criteria, fill, random_table
from tests.stores import ONE_OF_THREE, Store

pytestmark = ONE_OF_THREE

TABLES = {"duckdb": 4, "postgres": 2, "sqlite": 4, "spark": 2}  # in each part
PARTS = always(0, longer=range(1, 15))
SURE = Fraction(1, 10**9)  # a chance that never comes true here
DELTA = Fraction(1, 20)


@dataclass
class Case:
    """One criterion on one table, with the truth about every column set."""

    profiler: TableProfiler
    sampler: OnceSampler
    rows: Sequence[Row]
    sizes: Sequence[list[int]]  # class sizes of every column set
    criterion: Criterion
    meets: Meets
    random: Random
    weights: Sequence[int] | None
    kept: Counter[bool]  # promises of samples: kept or broken

    @property
    def width(self) -> int:
        return self.profiler.columns

    @cached_property
    def solutions(self) -> set[int]:
        return {mask for mask in range(1, 1 << self.width) if self.meets(self.sizes[mask])}

    @cached_property
    def minimal(self) -> set[int]:
        """Those without a non-empty proper subset among them."""
        return {
            mask
            for mask in self.solutions
            if not any(mask & ~(1 << place) in self.solutions for place in positions(mask))
        }

    def weight(self, mask: int) -> int:
        return sum(1 if self.weights is None else self.weights[place] for place in positions(mask))

    def lightest(self) -> int | None:
        return min((self.weight(mask) for mask in self.solutions), default=None)

    def heaviest_safe(self) -> int:
        safe = (mask for mask in range(1, 1 << self.width) if mask not in self.solutions)
        return max((self.weight(mask) for mask in safe), default=0)

    def true_profile(self, found: Found) -> bool:
        sizes, profile = self.sizes[found.mask], found.profile
        pairs = sum(size * (size - 1) for size in sizes)
        least = min(sizes, default=0)
        return (profile.rows, profile.classes, profile.smallest, profile.colliding_pairs) == (
            len(self.rows),
            len(sizes),
            least,
            pairs,
        )

    def is_all(self, result: SearchResult, proved: bool = True) -> None:
        masks = [found.mask for found in result.found]
        assert sorted(masks) == sorted(self.minimal)
        assert [mask.bit_count() for mask in masks] == sorted(mask.bit_count() for mask in masks)
        assert all(self.true_profile(found) for found in result.found)
        assert result.complete is proved
        assert result.stopped is None

    def is_one(self, result: SearchResult) -> int | None:
        """The set found, which meets the criterion; None exactly when none does."""
        assert bool(result.found) == bool(self.solutions)
        if not result.found:
            assert result.complete
            return None
        [found] = result.found
        assert found.mask in self.solutions
        assert self.true_profile(found)
        return found.mask

    def is_plan(self, plan: MaskingPlan) -> None:
        """Safe, and no better than what is possible."""
        assert plan.published | plan.withheld == (1 << self.width) - 1
        assert plan.published & plan.withheld == 0
        assert plan.published not in self.solutions
        assert plan.weight == self.weight(plan.published) <= self.heaviest_safe() <= plan.bound


def check_levelwise(case: Case) -> None:
    case.is_all(levelwise(case.profiler, case.criterion))


def check_borders(case: Case) -> None:
    case.is_all(borders(case.profiler, case.criterion))


def check_hitting_sets(case: Case) -> None:
    if isinstance(case.criterion, Key):
        for pairs, masks in ((2, 1000), (6, 2), (1000, 1000)):
            case.is_all(minimal_keys(case.profiler, PairsThatAgree(case.profiler, pairs, masks)))


def check_pruned(case: Case) -> None:
    prunable = isinstance(case.criterion, (Key, Determines, Distinct, Separation))
    of_pairs = isinstance(case.criterion, Separation)
    one, two = (300, (60, 900)) if of_pairs else (6, (2, 7))
    for search, sizes in ((pruned, one), (iterative, two)):
        if not prunable:
            with pytest.raises(UsageError, match="sub-tables cannot prune"):
                search(case.profiler, case.criterion, case.sampler, sizes, SURE)  # type: ignore[arg-type]
            continue
        smaller = of_pairs or min(two if search is iterative else (one,)) < len(case.rows)
        proved = isinstance(case.criterion, (Key, Determines)) or not smaller
        case.is_all(search(case.profiler, case.criterion, case.sampler, sizes, SURE), proved)  # type: ignore[arg-type]


def check_minimum(case: Case) -> None:
    for witnesses in (None, PairsThatAgree(case.profiler, case.random.choice([2, 20]))):
        result = minimum(case.profiler, case.criterion, witnesses, case.weights)
        found = case.is_one(result)
        assert result.cost == result.lower_bound == case.lightest()
        assert result.optimal is (found is not None)
        assert found is None or case.weight(found) == result.cost


def check_greedy(case: Case) -> None:
    found = case.is_one(greedy(case.profiler, case.criterion, case.weights))
    if found is not None and isinstance(case.criterion, Key) and len(case.rows) > 1:
        assert case.weight(found) <= (1 + 2 * log(len(case.rows))) * (case.lightest() or 0)  # Theorem 2


def check_naive_greedy(case: Case) -> None:
    case.is_one(naive_greedy(case.profiler, case.criterion, case.weights))


def check_greedy_minimal(case: Case) -> None:
    order = case.random.sample(range(case.width), case.width)
    for given in (None, order):
        found = case.is_one(greedy_minimal(case.profiler, case.criterion, given))
        assert found is None or found in case.minimal


def check_sampled(case: Case) -> None:
    criterion = case.criterion
    if not isinstance(criterion, Ratio) or criterion.beta == 1:
        return  # no sample can vouch for a key; the command line makes it 1 - epsilon
    results = [sampled_key(case.profiler, criterion, case.sampler, DELTA, case.weights)]
    if isinstance(criterion, Separation):
        results.append(sampled_separation(case.profiler, criterion, case.sampler, Fraction(1, 4), DELTA, case.weights))
    for result in results:
        assert not result.complete
        if not result.found:
            assert not case.solutions
            continue
        [found] = result.found
        assert case.true_profile(found)
        assert result.certificate is not None
        if result.certificate.promise != NOTHING:
            case.kept[result.criterion.met_by(found.profile)] += 1


def check_greedy_masking(case: Case) -> None:
    plan = greedy_masking(case.profiler, case.criterion, case.weights)
    case.is_plan(plan)
    assert all(plan.published | 1 << place in case.solutions for place in positions(plan.withheld))


def check_exact_masking(case: Case) -> None:
    plan = exact_masking(case.profiler, case.criterion, case.weights)
    case.is_plan(plan)
    assert plan.weight == case.heaviest_safe()
    assert plan.optimal


def check_sampled_masking(case: Case) -> None:
    if not case.criterion.tested_on_samples:
        with pytest.raises(UsageError, match="cannot rule out"):
            sampled_masking(case.profiler, case.criterion, case.sampler)
        return
    size = 200 if isinstance(case.criterion, Separation) else 8
    plan = sampled_masking(case.profiler, case.criterion, case.sampler, size, DELTA, case.weights)
    assert plan.safe is (plan.published not in case.solutions)
    case.kept[plan.safe is True] += 1
    if plan.safe:
        case.is_plan(plan)


CHECKS: dict[str, Callable[[Case], None]] = {
    "levelwise": check_levelwise,
    "borders": check_borders,
    "hitting-sets": check_hitting_sets,
    "pruned": check_pruned,
    "iterative": check_pruned,
    "implicit-hitting-set": check_minimum,
    "greedy": check_greedy,
    "naive-greedy": check_naive_greedy,
    "greedy-minimal": check_greedy_minimal,
    "sampled": check_sampled,
}
MASKINGS = (check_greedy_masking, check_exact_masking, check_sampled_masking)


def test_no_algorithm_is_left_out() -> None:
    assert set(CHECKS) == set(ALGORITHMS)


def strict(criterion: Criterion, rows: Sequence[Row]) -> list[tuple[Criterion, Meets]]:
    """What a masking forbids where a ratio of exactly beta may be published."""
    n = len(rows)
    if isinstance(criterion, Distinct):
        beta = criterion.beta
        above = replace(criterion, strict=True)
        return [(above, lambda sizes: (n == 0 and beta < 1) or (n > 0 and Fraction(len(sizes), n) > beta))]
    if isinstance(criterion, Separation):
        beta, pairs = criterion.beta, n * (n - 1)
        return [
            (
                replace(criterion, strict=True),
                lambda sizes: (1 - Fraction(sum(s * (s - 1) for s in sizes), pairs) if pairs else 1) > beta,
            )
        ]
    return []


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
def test_random_tables(store: Store, part: int) -> None:
    count = TABLES[store.name]
    tables = [random_table(Random(f"table {part * count + number}")) for number in range(count)]
    fill(store, tables)
    kept: Counter[bool] = Counter()
    with store.connect() as engine:
        for number, rows in enumerate(tables):
            seed = part * count + number
            hold(engine, f"t{number}", rows, seed, kept)
    assert kept[False] <= DELTA * kept.total() + 3 * float(DELTA * kept.total()) ** 0.5
    assert kept[True] > count


def hold(engine: Engine, table: str, rows: Sequence[Row], seed: int, kept: Counter[bool]) -> None:
    """Every algorithm for every criterion on one table. No column set is asked of the engine twice."""
    random, described = Random(f"criteria {seed}"), engine.describe(table)
    source = relation(engine.dialect, described, described.columns)
    profiler = profiler_for(engine, source, [column.name for column in described.columns], K, rows=len(rows))
    sampler = OnceSampler(TableSampler(profiler, described, described.columns, seed))
    sizes = [class_sizes(rows, mask) for mask in range(1 << profiler.columns)]
    for criterion, meets in criteria(random, rows, profiler.columns):
        weights = random.choice([None, [random.choice([1, 2, 3, 9]) for _ in range(profiler.columns)]])
        searches = [*dict.fromkeys(CHECKS.values()), *MASKINGS]
        for asked, definition in [(criterion, meets), *strict(criterion, rows)]:
            case = Case(profiler, sampler, rows, sizes, asked, definition, random, weights, kept)
            for check in MASKINGS if isinstance(asked, Ratio) and asked.strict else searches:
                try:
                    check(case)
                except AssertionError as wrong:
                    wrong.add_note(f"{check.__name__}, table of seed {seed}, {asked}, weights {weights}")
                    raise
