"""Plans and bounds of the search against the definition: bound <= optimum <= plan, whatever ends the search."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent, Interrupted, StatementError, Stopped, UsageError
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.anonymization.assignment import Groups, Units, least_losses
from qidsql.protection.anonymization.bounds import Prices, bound_of
from qidsql.protection.anonymization.local_search import LocalSearch, nested, wishes
from qidsql.protection.anonymization.placements import greedy_placement, priced_placement
from qidsql.sql.templates import Statement
from tests.anonymizations import optimum
from tests.exhaustive import always, first
from tests.protection.coded import Record, coded, patterns_of, records_of

PLENTY = 1 << 30


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as found:
        yield found


def drawn(seed: int, most: int = 8) -> tuple[list[Record], int, list[int]]:
    """Few rows of few values, some of them repeated; k; and weights of the columns."""
    random = Random(seed)
    columns = random.randint(1, 4)
    values = [random.randint(1, 4) for _ in range(columns)]
    rows = [tuple(random.randint(0, each) for each in values) for _ in range(random.randint(2, most))]
    rows = [*rows, *random.choices(rows, k=random.randint(0, 3))][:most]
    k = random.randint(2, min(6, len(rows)))
    return list(rows), k, random.choice(([1] * columns, [random.choice((1, 1, 2, 5)) for _ in range(columns)]))


def least(rows: Sequence[Record], k: int, weights: Sequence[int]) -> int:
    return optimum([tuple(map(str, row)) for row in rows], k, weights)


def cost_of_shares(bench: Workbench, rows: Sequence[Record], k: int, weights: Sequence[int]) -> int:
    """The cost of the plan in the workbench, after a check that it is an anonymization of these rows."""
    asked = "SELECT shares.size, kept, patterns.* EXCLUDE (pattern, size) FROM shares JOIN patterns USING (pattern)"
    shares = [tuple(map(int, row)) for row in bench.run(Statement(asked, "shares", lambda rows: rows))]  # type: ignore[call-overload]
    placed: Counter[tuple[int, ...]] = Counter()
    published: Counter[tuple[int, ...]] = Counter()
    for size, kept, *codes in shares:
        placed[tuple(codes)] += size
        published[tuple(code if kept >> place & 1 else -1 for place, code in enumerate(codes))] += size
    assert placed == coded(rows)
    assert min(published.values()) >= k
    return sum(n * sum(w for c, w in zip(row, weights, strict=True) if c < 0) for row, n in published.items())


def checked(groups: Groups, units: Units, placed: np.ndarray) -> int:  # type: ignore[type-arg]
    """The cost of a placement, after a check that each unit is in a group of k rows that agree on what they keep."""
    common: dict[int, set[tuple[int, ...]]] = {}
    rows: Counter[int] = Counter()
    cost = 0
    for unit, group in enumerate(placed.tolist()):
        record, size = int(units.records[unit]), int(units.sizes[unit])
        place = max(s for s in range(len(groups.sets)) if groups.first[s] <= group)
        kept = groups.sets[place]
        codes = tuple(int(groups.records.codes[c][record]) for c in range(groups.records.columns) if kept >> c & 1)
        common.setdefault(group, set()).add(codes)
        rows[group] += size
        cost += size * int(groups.losses[place])
    assert all(len(found) == 1 for found in common.values())
    assert min(rows.values()) >= groups.k
    assert sum(rows.values()) == groups.records.rows
    return cost


@pytest.mark.parametrize("seed", always(*range(12), longer=range(12, 150)))
def test_groups_are_all_classes_of_k_rows(seed: int) -> None:
    rows, k, weights = drawn(seed, most=14)
    groups = Groups(records_of(rows), k, weights, range(1 << len(weights)), PLENTY)
    assert groups.complete
    order = sorted(coded(rows))
    found = set()
    for place, kept in enumerate(groups.sets):
        classes = Counter(tuple(cell or 0 for c, cell in enumerate(row) if kept >> c & 1) for row in rows)
        for record, row in enumerate(order):
            number = int(groups.numbers[place, record])
            values = tuple(cell for c, cell in enumerate(row) if kept >> c & 1)
            assert (number >= 0) == (classes[values] >= k)
            if number >= 0:
                found.add((int(groups.first[place]) + number, kept, values))
        assert groups.losses[place] == sum(w for c, w in enumerate(weights) if not kept >> c & 1)
    assert sorted(number for number, _, _ in found) == list(range(groups.count))
    assert list(groups.losses) == sorted(groups.losses)


@pytest.mark.parametrize("seed", always(*range(25), longer=range(25, 500)))
def test_bounds_and_plans_enclose_the_optimum(seed: int) -> None:
    rows, k, weights = drawn(seed)
    best, records = least(rows, k, weights), records_of(rows)
    groups = Groups(records, k, weights, range(1 << len(weights)), PLENTY)
    units, prices, random = Units(groups), Prices(groups), np.random.default_rng(seed)

    def search(placed: np.ndarray) -> int:  # type: ignore[type-arg]
        found, last = LocalSearch(groups, units, placed), None
        assert checked(groups, units, placed) >= best
        for cost in found.run():
            assert best <= cost == checked(groups, units, found.placed)
            assert last is None or cost < last
            last = cost
        assert last is not None
        return last

    search(greedy_placement(groups, units, units.unplaced(groups)))
    for _ in prices.ascend(lambda work: None, updates=12):
        assert prices.bound <= best
        assert bound_of(records, k, weights, prices.best, prices.parts) == prices.bound
    search(priced_placement(groups, units, prices))
    for parts in (1, 7):
        drawn_prices = random.integers(0, parts * (sum(weights) + 2), records.count)
        assert bound_of(records, k, weights, drawn_prices, parts) <= best


@pytest.mark.exhaustive
def test_the_ascent_proves_more_than_the_rows_alone() -> None:
    raised = sharp = 0
    for seed in range(60):
        rows, k, weights = drawn(seed)
        prices = Prices(Groups(records_of(rows), k, weights, range(1 << len(weights)), PLENTY))
        alone = prices.bound
        for _ in prices.ascend(lambda work: None):
            pass
        raised += prices.bound > alone
        sharp += prices.bound == least(rows, k, weights)
    assert raised > 10
    assert sharp > 30


ENDINGS = {
    "deadline": (BudgetSpent("the time is up"), BudgetSpent),
    "memory": (MemoryError(), BudgetSpent),
    "Ctrl-C": (KeyboardInterrupt(), Interrupted),
    "statement": (StatementError("out of memory"), StatementError),
}


class Ended(Anonymizer):
    """Ends the improvement at a step of it."""

    ending: BaseException
    wait = 0
    steps = -1

    def _improve(self, *given: Any) -> Stopped | None:
        self.steps = 0
        return super()._improve(*given)

    def _check(self, work: int) -> None:
        if self.steps == self.wait:
            raise self.ending
        self.steps += self.steps >= 0


@pytest.mark.parametrize("ending", first(ENDINGS))
def test_a_search_that_fails_keeps_its_plan(bench: Workbench, ending: str) -> None:
    """Ended at any step of the improvement: a right plan, a right bound, and why it ended."""
    failure, kind = ENDINGS[ending]
    ended = 0
    for seed in range(3):
        rows, k, weights = drawn(seed)
        best = least(rows, k, weights)
        for wait in (0, 1, 5, 40):
            anonymizer = Ended(patterns_of(bench, rows), k, weights)
            anonymizer.ending, anonymizer.wait = failure, wait
            found = anonymizer.run()
            assert found.lower_bound <= best <= found.cost == cost_of_shares(bench, rows, k, weights)
            assert not anonymizer.wrong()
            assert anonymizer.bound_holds()
            assert isinstance(found.stopped, kind) == (anonymizer.steps == wait)
            assert wait or found.algorithm == "all rows blank"
            ended += found.stopped is not None
    assert ended > 8


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", always(*range(6), longer=range(6, 100)))
def test_little_memory_gives_a_worse_plan_but_a_right_one(bench: Workbench, seed: int) -> None:
    rows, k, weights = drawn(seed)
    best = least(rows, k, weights)
    sizes = records_of(rows).sizes
    plenty, little = (Anonymizer(patterns_of(bench, rows), k, weights, memory) for memory in (PLENTY, 20))
    for anonymizer in (little, plenty):
        found = anonymizer.run()
        assert found.lower_bound <= best <= found.cost == cost_of_shares(bench, rows, k, weights)
        assert not anonymizer.wrong()
        assert found.lower_bound >= least_losses(records_of(rows), k, weights, lambda work: None) @ sizes
    assert anonymizer.run(exact=True).cost == best


@pytest.mark.exhaustive
def test_equal_codes_get_equal_plans_within_the_same_work(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    rows = [tuple(random.randint(0, 4) for _ in range(4)) for _ in range(120)]
    patterns, found = patterns_of(bench, rows), []
    for work in (0, 3_000_000, 3_000_000, 10_000_000_000, 10_000_000_000):
        monkeypatch.setattr("qidsql.protection.anonymization.anonymizer.ANONYMIZER_WORK", work)
        found.append(Anonymizer(patterns, 3, [1] * 4).run())
    greedy, *early, late, again = found
    assert early[0] == early[1]
    assert late == again
    assert greedy.cost > early[0].cost >= late.cost >= late.lower_bound >= early[0].lower_bound
    assert all(each.stopped is None for each in found)


def wide(seed: int, rows: int = 150) -> list[Record]:
    """Rows of 14 columns, where not all column sets are opened."""
    random = Random(seed)
    return [tuple(random.randint(0, 1 + place % 3) for place in range(14)) for _ in range(rows)]


def test_wished_column_sets_are_kept_by_rows_and_their_neighbours() -> None:
    records = records_of(wide(0))
    values = [int(codes.max()) for codes in records.codes]
    found = wishes(records, 3, [1] * 14, values, lambda work: None)
    assert found == wishes(records, 3, [1] * 14, values, lambda work: None)
    assert found[:14] == list(nested(values))
    assert len(set(found)) == len(found)
    alone = 0
    for kept in found[14:80]:
        codes = zip(*(records.codes[place].tolist() for place in range(14) if kept >> place & 1), strict=True)
        classes = Counter[tuple[int, ...]]()
        for record, size in zip(codes, records.sizes.tolist(), strict=True):
            classes[record] += size
        alone += max(classes.values()) < 3
    assert not alone


@pytest.mark.exhaustive
def test_tables_of_many_columns(bench: Workbench) -> None:
    """Without all column sets: a plan that beats the one by nested sets, and the bound by rows."""
    rows, k = wide(1, 60), 3
    patterns = patterns_of(bench, rows)
    found, again = (Anonymizer(patterns, k, [1] * 14, work=1_000_000).run() for _ in range(2))
    assert found == replace(again, stopped=found.stopped)
    assert found.cost == cost_of_shares(bench, rows, k, [1] * 14)
    least = [
        min(sorted(sum(a != b for a, b in zip(row, other, strict=True)) for other in rows)[k - 1 :]) for row in rows
    ]
    assert sum(least) <= found.lower_bound <= found.cost
    first = Anonymizer(patterns, k, [1] * 14)
    first._place(nested(patterns.values))
    assert found.cost < first._best.cost < 14 * len(rows)


def test_too_many_columns_are_refused(bench: Workbench) -> None:
    with pytest.raises(UsageError, match="up to 63 columns, not 64"):
        Anonymizer(patterns_of(bench, [(1,) * 64] * 2), 2, [1] * 64)
