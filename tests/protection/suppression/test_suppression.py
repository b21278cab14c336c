"""The optimal suppression plan against Wilson's definition: the lightest cells that hit every unsafe combination."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import pytest

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import UsageError
from qidsql.protection.suppression.combinations import shared
from qidsql.protection.suppression.plan import SuppressionPlan, _Planner
from qidsql.protection.suppression.row_search import Difference, Levels, add_subsets, blocks, lightest_union, radius
from qidsql.protection.suppression.verification import wildcard_check
from qidsql.sql.templates import Statement
from tests.exhaustive import always, pairs
from tests.protection.coded import Record, patterns_of


def weigh(mask: int, weights: Sequence[int]) -> int:
    return sum(weight for place, weight in enumerate(weights) if mask >> place & 1)


def agree(one: Record, other: Record, columns: int, wildcard: bool) -> bool:
    return all(
        one[place] == other[place] or (wildcard and (one[place] is None or other[place] is None))
        for place in range(len(one))
        if columns >> place & 1
    )


def minimal_unsafe(rows: Sequence[Record], record: Record, k: int, wildcard: bool = False) -> list[int]:
    """The minimal column sets on which fewer than k rows agree with the record [Wilson, section 2; k > 2 likewise]."""
    found: list[int] = []
    for columns in sorted(range(1 << len(record)), key=lambda mask: (mask.bit_count(), mask)):
        if any(smaller & ~columns == 0 for smaller in found):
            continue
        if sum(agree(record, row, columns, wildcard) for row in rows) < k:
            found.append(columns)
    return found


def lightest_hitting_set(sets: Sequence[int], weights: Sequence[int]) -> int:
    """The lightest column set that hits all; the smallest number among equals. Brute force."""
    every = range(1 << len(weights))
    return min((m for m in every if all(m & each for each in sets)), key=lambda m: (weigh(m, weights), m))


def random_rows(random: Random) -> list[Record]:
    columns, rows = random.randint(1, 5), random.randint(5, 14)
    values = [random.randint(1, 4) for _ in range(columns)]
    return [tuple(None if random.random() < 0.1 else random.randint(1, each) for each in values) for _ in range(rows)]


def planned(
    bench: Workbench, rows: Sequence[Record], k: int, weights: Sequence[int] | None = None, wildcard: bool = False
) -> tuple[SuppressionPlan, list[int]]:
    """The plan, and its mask for every row."""
    plan = SuppressionPlan.of(patterns_of(bench, rows), k, weights, wildcard=wildcard)
    return plan, masks_of(bench, rows)


def masks_of(bench: Workbench, rows: Sequence[Record]) -> list[int]:
    """What the plan in the workbench suppresses in every row."""
    asked = "SELECT mask, patterns.* EXCLUDE (pattern, size) FROM plan JOIN patterns USING (pattern)"
    found = bench.run(Statement(asked, "all", lambda rows: rows))
    masks = {tuple(int(str(code)) for code in codes): int(str(mask)) for mask, *codes in found}
    return [masks[tuple(cell or 0 for cell in row)] for row in rows]


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as found:
        yield found


@pytest.fixture(params=always(6, longer=[80]))
def tables(request: pytest.FixtureRequest) -> int:
    """How many random tables a test looks at."""
    return int(request.param)


WAYS = {
    2: ["cheapest", "by column sets", "by blocks", "by all pairs"],
    3: ["cheapest", "by column sets", "by counts", "around differences", "by nearby records"],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case",
    always(*((k, way) for k in (2, 3) for way in WAYS[k]), (5, "cheapest"), longer=[(5, way) for way in WAYS[3][1:]]),
)
def test_the_plan_is_the_lightest_hitting_set_of_the_unsafe_sets(
    case: tuple[int, str], bench: Workbench, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    k, way = case
    if way != "cheapest":
        monkeypatch.setattr("qidsql.protection.suppression.plan.FEW_PAIRS", 0)
    if way == "by column sets":
        monkeypatch.setattr("qidsql.protection.suppression.plan.GROUPED", 0.0)
        monkeypatch.setattr("qidsql.protection.suppression.plan.STATEMENT", 0.0)
    elif way != "cheapest":
        monkeypatch.setattr("qidsql.protection.suppression.plan.GROUPED", 1e12)
        monkeypatch.setattr("qidsql.protection.suppression.plan.SEARCHED", 0.0)
    if way == "around differences":
        monkeypatch.setattr("qidsql.protection.suppression.row_search.COUNTS_PER_SET", 1e-9)
    if way == "by nearby records":
        monkeypatch.setattr("qidsql.protection.suppression.plan.COMPARED_COLUMNS", 0)
    if way == "by all pairs":
        monkeypatch.setattr(_Planner, "_blocks", lambda self, level: [])
    elif way == "by blocks":
        monkeypatch.setattr(_Planner, "_pairs", lambda self, block: 0.0)
    for seed in range(tables):
        random = Random(seed)
        rows = random_rows(random)
        weights = [random.choice([1, 1, 2, 3, 7]) for _ in rows[0]] if random.random() < 0.5 else [1] * len(rows[0])
        wildcard = random.random() < 0.3
        plan, masks = planned(bench, rows, k, weights, wildcard)
        wanted = [lightest_hitting_set(minimal_unsafe(rows, row, k, wildcard), weights) for row in rows]
        assert masks == wanted, (seed, rows, k, weights, wildcard, plan.methods)
        assert plan.weight == sum(weigh(mask, weights) for mask in wanted)
        assert plan.cells == sum(mask.bit_count() for mask in wanted)
        assert plan.by_column == tuple(sum(mask >> p & 1 for mask in wanted) for p in range(len(weights)))
        assert plan.by_cells == Counter(mask.bit_count() for mask in wanted)


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", always(3, longer=[2, 5]))
def test_blank_cells_protect_other_rows(k: int, bench: Workbench, tables: int) -> None:
    """Fewer cells, never others, and each row still matches k rows."""
    saved = 0
    for seed in range(2 * tables):
        random = Random(seed)
        rows = random_rows(random)
        plan, masks = planned(bench, rows, k, wildcard=random.random() < 0.3)
        fewer = shared(plan)
        after = masks_of(bench, rows)
        assert all(mask in (0, before) for mask, before in zip(after, masks, strict=True))
        assert fewer.cells == sum(mask.bit_count() for mask in after)
        left = [
            tuple(None if mask >> place & 1 else cell for place, cell in enumerate(row))
            for row, mask in zip(rows, after, strict=True)
        ]
        whole = (1 << len(rows[0])) - 1
        assert all(sum(agree(row, other, whole, wildcard=True) for other in left) >= k for row in left)
        saved += plan.cells - fewer.cells
    assert saved > 0


def test_sets_come_by_weight_then_number() -> None:
    for weights in ((1, 1, 1, 1), (3, 1, 2, 1), (5,)):
        levels = Levels(weights)
        every = sorted((weigh(mask, weights), mask) for mask in range(1 << len(weights)))
        found, weight = [], -1
        while (weight := levels.above(weight)) is not None:  # type: ignore[assignment]
            sets = list(levels.sets(weight))
            assert len(sets) == levels.counts[weight]
            found += [(weight, mask) for mask in sets]
        assert found == every


def test_records_within_the_radius_agree_on_a_block() -> None:
    random = Random(1)
    for _ in range(200):
        columns = random.randint(1, 7)
        weights = [random.randint(1, 4) for _ in range(columns)]
        for number in range(1, columns + 1):
            parts = blocks(number, weights, [random.randint(1, 9) for _ in range(columns)])
            assert len(parts) == number
            assert sum(parts) == (1 << columns) - 1  # disjoint, and all columns
            within = radius(parts, weights)
            assert within >= number - 1
            for mask in range(1 << columns):
                if weigh(mask, weights) <= within:
                    assert any(part & mask == 0 for part in parts)


def test_the_lightest_union_is_that_of_brute_force() -> None:
    random = Random(2)
    for _ in range(400):
        columns = random.randint(2, 7)
        weights = [random.choice([1, 1, 1, 2, 5]) for _ in range(columns)]
        masks = random.sample(range(1, 1 << columns), min(random.randint(2, 14), (1 << columns) - 1))
        found = [Difference(mask, weigh(mask, weights), random.randint(1, 3)) for mask in masks]
        needed = random.randint(1, sum(each.records for each in found))
        everything = (1 << columns) - 1
        wanted = min(
            (mask for mask in range(1 << columns) if sum(d.records for d in found if d.mask & ~mask == 0) >= needed),
            key=lambda mask: (weigh(mask, weights), mask),
        )
        assert lightest_union(found, needed, weights, everything) == wanted


@pytest.mark.parametrize("most", [2, 3, 10, 127, 128, 40_000])
@pytest.mark.parametrize("cached", [1, 1 << 10, 1 << 19])
@pytest.mark.parametrize(("lanes", "line"), pairs([8, 24, 40], [1, 100, 1 << 12]))
def test_counts_are_summed_over_subsets(
    most: int, cached: int, lanes: int, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly, but for those above the most, which may be anything from there on.

    Parts and lines of counts are smaller and larger than all counts, and no multiple of each other.
    """
    monkeypatch.setattr("qidsql.protection.suppression.row_search.CACHED", cached)
    monkeypatch.setattr("qidsql.protection.suppression.row_search.LINE", line)
    kind = np.uint8 if most < 128 else np.uint16 if most < 1 << 15 else np.uint64
    random = np.random.default_rng(most)
    for columns in range(1, 9):
        drawn = random.integers(0, most + 1, (1 << columns, lanes)) * (random.random((1 << columns, lanes)) < 0.2)
        counts = drawn.astype(kind)
        add_subsets(counts, most)
        for mask in range(1 << columns):
            exact = sum(drawn[other] for other in range(mask + 1) if other & ~mask == 0)
            assert (np.where(exact < most, counts[mask] == exact, counts[mask] >= most)).all()


@pytest.mark.parametrize("k", [130, 33_000])
def test_many_rows_that_are_the_same(k: int, bench: Workbench) -> None:
    """Counts beyond a byte, and beyond two."""
    rows: list[Record] = [(1, 1, 1)] * (k - 2) + [(1, 1, 2)] * 2 + [(1, 2, 1)] * 2 + [(2, 2, 2)]
    plan, masks = planned(bench, rows, k)
    by_row = dict(zip(rows, masks, strict=True))
    assert by_row == {(1, 1, 1): 0b010, (1, 1, 2): 0b100, (1, 2, 1): 0b010, (2, 2, 2): 0b111}
    assert plan.optimal


def test_fewer_rows_than_k_cannot_be_helped(bench: Workbench) -> None:
    with pytest.raises(UsageError, match="fewer than k = 3"):
        planned(bench, [(1, 2), (1, 3)], 3)


def test_wide_rows_need_several_lanes(bench: Workbench) -> None:
    random = Random(3)
    columns = 30
    rows: list[Record] = [tuple(random.randint(1, 9) for _ in range(columns)) for _ in range(40)]
    rows += [tuple(9 if random.random() < 0.1 else cell for cell in row) for row in rows]
    _, masks = planned(bench, rows, 2)
    for place, row in enumerate(rows):
        others = rows[:place] + rows[place + 1 :]
        differing = [sum(1 << c for c in range(columns) if row[c] != other[c]) for other in others]
        assert masks[place] == min(differing, key=lambda mask: (mask.bit_count(), mask))


def test_a_pair_loses_what_it_differs_in(bench: Workbench) -> None:
    """The third loses what sets it apart from the nearer of the two."""
    _, masks = planned(bench, [(1, 1, 1), (1, 1, 2), (2, 2, 2)], 2)
    assert masks == [0b100, 0b100, 0b011]


@pytest.mark.exhaustive
@pytest.mark.parametrize("pairs", [False, True])
def test_the_wildcard_check_counts_by_definition(
    bench: Workbench, tables: int, monkeypatch: pytest.MonkeyPatch, pairs: bool
) -> None:
    monkeypatch.setattr("qidsql.protection.suppression.verification.GROUPED", 1e12 if pairs else 0.0)
    for seed in range(2 * tables):
        random = Random(seed)
        rows = [tuple(None if random.random() < 0.3 else cell for cell in row) for row in random_rows(random)]
        k = random.randint(2, 5)
        whole = (1 << len(rows[0])) - 1
        counts = [sum(agree(row, other, whole, wildcard=True) for other in rows) for row in rows]
        found = wildcard_check(patterns_of(bench, rows), k)
        assert found.rows_below_k == sum(number < k for number in counts), (seed, rows, k)
        assert found.smallest == (min(counts) if min(counts) < k else None)
        assert found.passes == (min(counts) >= k)


def test_what_is_left_is_safe_on_every_column_set(bench: Workbench, tables: int) -> None:
    for seed in range(tables):
        random = Random(seed)
        rows, k = random_rows(random), random.choice([2, 3, 5])
        _, masks = planned(bench, rows, k)
        left: list[Record] = [
            tuple(None if mask >> place & 1 else cell for place, cell in enumerate(row))
            for row, mask in zip(rows, masks, strict=True)
        ]
        assert wildcard_check(patterns_of(bench, left), k).passes
        for columns in range(1, 1 << len(rows[0])):
            for row in left:
                assert sum(agree(row, other, columns, wildcard=True) for other in left) >= k
