"""The lightest sets around differences, and by counts on all sets, against the definition."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from qidsql.protection.row_patterns import Records
from qidsql.protection.suppression import row_search
from qidsql.protection.suppression.row_search import (
    SuppressionByComparison,
    SuppressionByCounts,
    SuppressionBySupersets,
)
from tests.exhaustive import always

WEIGHTS: tuple[Callable[[np.random.Generator, int], list[int]], ...] = (
    lambda draw, columns: [1] * columns,
    lambda draw, columns: [6] * columns,
    lambda draw, columns: draw.integers(1, 4, columns).tolist(),
    lambda draw, columns: draw.integers(1, 1000, columns).tolist(),
    lambda draw, columns: draw.choice([1, 50_000], columns).tolist(),
)


def lightest(differences: Sequence[int], sizes: Sequence[int], k: int, weights: Sequence[int]) -> int:
    """The lightest column set that contains the differences to k rows; the smallest number among equals."""
    enough = (
        mask
        for mask in range(1 << len(weights))
        if sum(size for each, size in zip(differences, sizes, strict=True) if not each & ~mask) >= k
    )
    return min(enough, key=lambda mask: (sum(w for place, w in enumerate(weights) if mask >> place & 1), mask))


def drawn(draw: np.random.Generator, columns: int) -> tuple[NDArray[np.uint32], NDArray[np.int64], int]:
    """Differences of a few records to a few, of which each has a 0; their sizes; k."""
    count = int(draw.integers(2, 40))
    differences = draw.integers(0, 1 << columns, (5, count)) & draw.integers(0, 1 << columns, (5, count))
    differences[np.arange(5), draw.integers(0, count, 5)] = 0
    sizes = np.where(draw.random(count) < 0.7, 1, draw.integers(1, 9, count))
    return differences.astype(np.uint32), sizes, int(draw.integers(2, 1 + min(12, sizes.sum())))


@pytest.mark.parametrize("way", ["around differences", "in small parts", "by counts"])
@pytest.mark.parametrize("seed", always(*range(6), 17, 59, longer=[*range(6, 17), *range(18, 59)]))
def test_the_set_is_that_of_brute_force(way: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "in small parts":  # many batches, and a hash in which most sets share a bucket
        monkeypatch.setattr("qidsql.protection.suppression.row_search.LISTED", 7)
        monkeypatch.setattr("qidsql.protection.suppression.row_search.BUCKET_BITS", 2)
    draw = np.random.default_rng(seed)
    for weigh in WEIGHTS:
        columns = int(draw.integers(1, 7))
        weights, (differences, sizes, k) = weigh(draw, columns), drawn(draw, columns)
        if way == "by counts":
            found = SuppressionByCounts(sizes, k, weights, lambda: None).of(differences)
        else:
            found = SuppressionBySupersets(sizes, k, weights, 1 << columns << 10, lambda: None).of(differences)
        wanted = [lightest(line, sizes, k, weights) for line in differences.tolist()]
        assert found.tolist() == wanted, (differences, sizes, k, weights)


@pytest.mark.parametrize("columns", [7, 8, 9, 12])
@pytest.mark.parametrize("records", [1, 7, 8, 9, 17, 24, 63, 65])
def test_records_are_solved_alone_as_side_by_side(records: int, columns: int) -> None:
    """Whatever their number leaves of a block, records lose what each loses by itself."""
    draw = np.random.default_rng(records)
    _, sizes, k = drawn(draw, columns)
    differences = draw.integers(0, 1 << columns, (records, len(sizes))).astype(np.uint32)
    ways = SuppressionByCounts(sizes, k, [1] * columns, lambda: None)
    assert ways.of(differences).tolist() == [int(ways.of(line[None])[0]) for line in differences]


@pytest.mark.exhaustive
@pytest.mark.parametrize("light", [0, 1, 5, 20])
@pytest.mark.parametrize("most", [0, 10, 1000])
def test_what_is_found_within_limits_is_right(light: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are left where more sets would have to be added or listed; the others lose what they should."""
    monkeypatch.setattr("qidsql.protection.suppression.row_search.LIGHT", light)
    draw, solved, left = np.random.default_rng(light), 0, 0
    for weigh in WEIGHTS * 4:
        weights, (differences, sizes, k) = weigh(draw, 6), drawn(draw, 6)
        found = SuppressionBySupersets(sizes, k, weights, most, lambda: None).of(differences)
        for line, mask in zip(differences.tolist(), found.tolist(), strict=True):
            assert mask in (-1, lightest(line, sizes, k, weights)), (differences, sizes, k, weights)
            solved, left = solved + (mask >= 0), left + (mask < 0)
    assert solved and (left or (light, most) == (20, 1000))


@pytest.mark.parametrize("columns", [12, 18, 23, 32])
def test_all_are_solved_unless_the_table_is_wide(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On tables that are too wide for brute force, both ways find the same; of still wider ones some are left."""
    draw = np.random.default_rng(columns)
    base = draw.integers(1, 4, (12, columns))
    rows = np.unique(np.where(draw.random((60, columns)) < 0.2, 0, base[draw.integers(0, 12, 60)]), axis=0)
    records, weights = Records.of(rows.T.tolist(), [1] * len(rows)), [1] * columns
    masks = {}
    for costs in (100, 1 << 62):
        monkeypatch.setattr(row_search, "COUNTS_PER_SET", costs)
        solve = SuppressionByComparison(records, 3, weights)
        for some, found in solve.of(np.arange(records.count)):
            for record, mask in zip(some.tolist(), found.tolist(), strict=True):
                assert masks.setdefault(record, mask) == mask
    assert len(masks) > (records.count - 1 if columns <= row_search.COUNTED_COLUMNS else records.count // 2)
    for record, mask in masks.items():
        inside = ((rows == rows[record]) | (mask >> np.arange(columns) & 1).astype(bool)).all(axis=1)
        assert inside.sum() >= 3
