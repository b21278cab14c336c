"""Anonymization by its definition, and the tables of Chakaravarthy, Pandit & Sabharwal. Knows nothing of qidsql.

[2: each row identical to at least k - 1 others; the cost is the number of cells suppressed. Equivalently a partition
of the rows into sets of k or more, of which each row pays the bad columns.]
"""

import itertools
from collections.abc import Iterator, Sequence

Cells = tuple[str | None, ...]
Edges = list[tuple[str, str]]

FIGURE_1: list[Cells] = [("x", "a", "b"), ("z", "c", "d"), ("y", "a", "b"), ("z", "c", "e")]


def partitions(rows: Sequence[Cells], k: int) -> Iterator[list[list[Cells]]]:
    """All partitions into sets of k rows or more."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, len(rest) + 1):
        for company in itertools.combinations(range(len(rest)), size):
            others = [row for place, row in enumerate(rest) if place not in company]
            for others_parted in partitions(others, k):
                yield [[first, *(rest[place] for place in company)], *others_parted]


def optimum(rows: Sequence[Cells], k: int, weights: Sequence[int]) -> int:
    """The least weight of suppressed cells, by trying every partition."""

    def price(part: list[Cells]) -> int:
        bad = (weight for place, weight in enumerate(weights) if len({row[place] for row in part}) > 1)
        return len(part) * sum(bad)

    return min(sum(map(price, parts)) for parts in partitions(rows, k))


def theorem_3_1(vertices: str, edges: Edges) -> list[Cells]:
    """The table whose cheapest 7-anonymization has the base cost and one more for each vertex of a minimum cover."""
    special = (f"s{number}" for number in itertools.count(1))  # `?` in the paper: occurs once in the table
    rows: list[Cells] = []
    for u in vertices:
        rows += [("0", u, u)] * 6  # 1a
        rows += [(next(special), u, u)]  # 1b, the critical row
        rows += [(next(special), u, next(special)) for _ in range(7)]  # 1c
        rows += [("0", u, "Z")] * 3 + [("0", "Z", u)] * 3  # 1d, 1e
    for x, y in edges:
        rows += [("0", x, y), ("0", y, x)]  # 2
    rows += [("0", next(special), "Z") for _ in range(7)]  # 3a
    rows += [("0", "Z", next(special)) for _ in range(7)]  # 3b
    return rows
