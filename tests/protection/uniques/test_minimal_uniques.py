"""Minimal unsafe combinations against their definition, tried on every row and column set, in both ways."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import factorial
from random import Random

import pytest

from qidsql.errors import BudgetSpent, UsageError
from qidsql.protection.row_patterns import Records
from qidsql.protection.uniques.minimal_uniques import (
    MinimalUniques,
    UniqueCounts,
    contributions,
    dis_scores,
    suda_scores,
)
from tests.exhaustive import always

Rows = Sequence[tuple[int, ...]]  # 0 is NULL


def agree(one: tuple[int, ...], other: tuple[int, ...], mask: int, wildcard: bool) -> bool:
    return all(
        a == b or (wildcard and 0 in (a, b))
        for place, (a, b) in enumerate(zip(one, other, strict=True))
        if mask >> place & 1
    )


def minimal_unsafe(rows: Rows, k: int, wildcard: bool = False, most: int = 99) -> Counter[tuple[tuple[int, ...], int]]:
    """Wilson, section 2: combinations of fewer than k rows of which no proper part is one; per distinct row and set."""
    columns = len(rows[0]) if rows else 0
    found: Counter[tuple[tuple[int, ...], int]] = Counter()
    for row in set(rows):
        unsafe = [sum(agree(row, other, mask, wildcard) for other in rows) < k for mask in range(1 << columns)]
        for mask in range(1 << columns):
            proper = [part for part in range(mask) if part & mask == part]
            if unsafe[mask] and mask.bit_count() <= most and not any(unsafe[part] for part in proper):
                found[row, mask] += 1
    return found


def records_of(rows: Rows, columns: int) -> tuple[list[tuple[int, ...]], Records]:
    sizes = Counter(rows)
    distinct = sorted(sizes)
    return distinct, Records.of(
        [[row[c] for row in distinct] for c in range(columns)], [sizes[row] for row in distinct]
    )


def search(rows: Rows, columns: int, k: int, **options: object) -> Counter[tuple[tuple[int, ...], int]]:
    distinct, records = records_of(rows, columns)
    found: Counter[tuple[tuple[int, ...], int]] = Counter()
    for numbers, masks in MinimalUniques(records, k, **options):  # type: ignore[arg-type]
        each = [masks] * len(numbers) if isinstance(masks, int) else masks.tolist()
        found.update((distinct[number], mask) for number, mask in zip(numbers.tolist(), each, strict=True))
    return found


def random_rows(draw: Random) -> tuple[list[tuple[int, ...]], int]:
    columns = draw.choice([1, 2, 3, 4, 4, 5, 5, 6, 7])
    widths = [draw.choice([1, 2, 3, 5, 40]) for _ in range(columns)]
    lowest = draw.choice([0, 1])
    return [tuple(draw.randint(lowest, w) for w in widths) for _ in range(draw.randint(0, 24))], columns


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("way", "wildcard"), [("pairs", False), ("pairs", True), ("sets", False)])
@pytest.mark.parametrize("tables", always(8, longer=[80]))
def test_random_tables(k: int, way: str, wildcard: bool, tables: int) -> None:
    draw = Random(f"{k} {way} {wildcard}")
    for _ in range(tables):
        rows, columns = random_rows(draw)
        most = draw.choice([None, None, 1, 2, 3])
        expected = minimal_unsafe(rows, k, wildcard, most or 99)
        assert search(rows, columns, k, method=way, wildcard=wildcard, max_size=most) == expected, (rows, most)


def test_the_two_ways_agree_on_a_larger_table() -> None:
    """More words to the lattice than one, values both rare and frequent, rows that stand for several."""
    draw = Random(1)
    for k in (2, 3, 200):
        rows = [
            tuple(min(draw.randint(1, w), draw.randint(1, w)) for w in (2, 2, 3, 3, 9, 300, 4, 2, 5))
            for _ in range(900)
        ]
        rows += rows[:150]
        assert search(rows, 9, k, method="pairs") == search(rows, 9, k, method="sets")


@pytest.mark.exhaustive
def test_with_partitions_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is short, the classes of a set are counted from its columns."""
    monkeypatch.setattr("qidsql.protection.uniques.algorithms.KEPT_BYTES", 0)
    draw = Random(2)
    for _ in range(50):
        rows, columns = random_rows(draw)
        assert search(rows, columns, 2, method="sets") == minimal_unsafe(rows, 2)


@pytest.mark.exhaustive
def test_with_values_that_are_lists_of_their_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qidsql.protection.uniques.column_lattice.BYTES_OF_FLAGS", 40)
    draw = Random(3)
    for _ in range(50):
        rows, columns = random_rows(draw)
        assert search(rows, columns, 2, method="pairs", wildcard=True) == minimal_unsafe(rows, 2, wildcard=True)


@pytest.mark.parametrize("way", ["pairs", "sets"])
def test_fewer_rows_than_k_leave_nothing_safe(way: str) -> None:
    assert search([(1, 2)], 2, 2, method=way) == {((1, 2), 0): 1}
    assert search([(1, 2), (1, 2), (1, 3)], 2, 5, method=way) == {((1, 2), 0): 1, ((1, 3), 0): 1}
    assert search([], 2, 2, method=way) == {}


def test_sixty_four_columns_and_more() -> None:
    draw = Random(4)
    rows = [tuple(draw.randint(1, 4) for _ in range(70)) for _ in range(40)]
    found = search(rows, 70, 2, max_size=2)
    narrow = [row[64:] for row in rows]
    inside = {(row, mask >> 64) for row, mask in found if mask & (1 << 64) - 1 == 0}
    distinct = {row[64:]: row for row in rows}
    assert inside == {(distinct[row], mask) for row, mask in minimal_unsafe(narrow, 2, most=2)}
    _, records = records_of(rows, 70)
    with pytest.raises(UsageError, match="--max-size 3"):
        MinimalUniques(records, 2)


def test_a_null_agrees_with_everything_only_as_a_wildcard() -> None:
    rows = [(1, 0), (1, 2), (2, 2)]
    assert search(rows, 2, 2) == {((1, 0), 2): 1, ((1, 2), 3): 1, ((2, 2), 1): 1}
    assert search(rows, 2, 2, wildcard=True) == {((2, 2), 1): 1}


def test_the_search_stops_when_it_is_told_to() -> None:
    draw = Random(5)
    rows = [tuple(draw.randint(1, 3) for _ in range(8)) for _ in range(900)]
    _, records = records_of(rows, 8)

    def stop() -> None:
        raise BudgetSpent("enough")

    for way in ("pairs", "sets"):
        with pytest.raises(BudgetSpent):
            list(MinimalUniques(records, 2, check=stop, method=way))


def test_a_stopped_search_knows_the_sizes_it_has_done() -> None:
    """Five columns: the sixth set is the first of size 2, the sixteenth the first of size 3."""
    _, records = records_of([tuple(row >> place & 1 for place in range(5)) for row in range(32)], 5)
    for asked, size in ((5, 0), (6, 1), (15, 1), (16, 2), (25, 2)):
        left = iter(range(asked - 1))

        def check(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise BudgetSpent("enough")

        found = MinimalUniques(records, 2, check=check, method="sets")
        with pytest.raises(BudgetSpent):
            list(found)
        assert (found.progress.size, found.progress.rows) == (size, 0)


def counts_of(rows: Rows, columns: int, k: int, way: str) -> UniqueCounts:
    _, records = records_of(rows, columns)
    found = MinimalUniques(records, k, method=way)
    counts = UniqueCounts(records, found.largest)
    for numbers, masks in found:
        counts.add(numbers, masks)
    return counts


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["pairs", "sets"])
def test_counts_and_scores_against_their_definitions(way: str) -> None:
    draw = Random(6)
    for _ in range(30):
        rows, columns = random_rows(draw)
        k = draw.choice([2, 3])
        if len(rows) < k:
            continue
        counts, weights = counts_of(rows, columns, k, way), Counter(rows)
        each = [(row, mask, weights[row]) for row, mask in minimal_unsafe(rows, k)]
        sizes: Counter[int] = Counter()
        sets: Counter[int] = Counter()
        smallest: dict[tuple[int, ...], int] = {}
        score: Counter[tuple[int, ...]] = Counter()
        for row, mask, weight in each:
            sizes[mask.bit_count()] += weight
            sets[mask] += weight
            smallest[row] = min(smallest.get(row, 99), mask.bit_count())
            score[row] += factorial(columns - mask.bit_count())
        assert counts.by_size == dict(sizes)
        assert dict(counts.sets()) == dict(sets)
        assert counts.top_sets(99) == (
            len(sets),
            sorted(sets.items(), key=lambda one: (-one[1], one[0].bit_count(), one[0])),
        )
        assert counts.by_smallest == dict(Counter(smallest[row] for row in rows if row in smallest))
        assert suda_scores(counts).tolist() == [score[row] for row in sorted(weights)]
        total = sum(score[row] * weights[row] for row in weights)
        for place, (share, by_size) in enumerate(zip(contributions(counts), counts.by_column(), strict=True)):
            own = [(factorial(columns - m.bit_count()), w) for _, m, w in each if m >> place & 1]
            assert sum(by_size.values()) == sum(weight for _, weight in own)
            assert share == Fraction(sum(f * w for f, w in own), total or 1)


def test_scores_of_many_columns_stay_exact() -> None:
    """25! is more than 64 bits hold."""
    rows = [(1,) * 25, (2,) * 25, (2,) * 25]
    _, records = records_of(rows, 25)
    found = MinimalUniques(records, 2, max_size=2)
    counts = UniqueCounts(records, found.largest)
    for numbers, masks in found:
        counts.add(numbers, masks)
    assert suda_scores(counts).tolist() == [25 * factorial(24), 0]


def test_dis_scores_by_hand() -> None:
    """Three unique rows of 2 columns, scores 1, 2 and 1, one pair, f = 1/10: by the formula, on paper."""
    rows = [(1, 1), (1, 1), (2, 2), (1, 2), (2, 1)]
    _, records = records_of(rows, 2)
    counts = counts_of(rows, 2, 2, "pairs")
    suda = suda_scores(counts)
    q = 1 + 6 / 20
    dis = 3 * 0.1 / (3 * 0.1 + 2 * 0.9)
    spread = sum(float(s) ** -q for s in suda if s)
    expected = [1 / (1 + (3 / dis - 3) / (float(s) ** q * spread)) if s else 0 for s in suda]
    assert dis_scores(suda, records, Fraction(1, 10)).tolist() == pytest.approx(expected)
    assert suda.tolist() == [0, 1, 1, 1]
