"""The integer program over row patterns against the definition, and the paper's own constructions.

[Chakaravarthy, Pandit & Sabharwal, 2: each row identical to at least k - 1 others; the cost is the number of cells
suppressed. Equivalently a partition of the rows into sets of k or more, of which each row pays the bad columns.]
"""

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random

import pytest

from qidsql.errors import BudgetSpent
from qidsql.protection.anonymization.assignment import Assignment, Group, Share, cheapest_assignment, cost_of
from tests.anonymizations import FIGURE_1, Cells, Edges, optimum, theorem_3_1
from tests.exhaustive import always


def program(rows: Sequence[Cells], k: int, weights: Sequence[int]) -> tuple[list[Cells], list[int], list[Group]]:
    """The row patterns, their rows, and the groups: of those with the same members the one that keeps most."""
    counts = Counter(rows)
    patterns = list(counts)
    best: dict[tuple[int, ...], int] = {}
    for kept in range(1 << len(weights)):
        classes = defaultdict(list)
        for number, row in enumerate(patterns):
            classes[tuple(cell for place, cell in enumerate(row) if kept >> place & 1)].append(number)
        for members in map(tuple, classes.values()):
            if sum(counts[patterns[member]] for member in members) >= k:
                weight = {m: sum(w for p, w in enumerate(weights) if m >> p & 1) for m in (kept, best.get(members, 0))}
                best[members] = max(weight, key=weight.__getitem__)
    return patterns, [counts[row] for row in patterns], [Group(kept, members) for members, kept in best.items()]


def check(rows: Sequence[Cells], k: int, weights: Sequence[int], found: Assignment) -> None:
    """What was found is an anonymization of all the rows, and costs what it says."""
    patterns, sizes, _ = program(rows, k, weights)
    placed: Counter[int] = Counter()
    published: Counter[Cells] = Counter()
    for share in found.shares:
        placed[share.pattern] += share.rows
        row = patterns[share.pattern]
        published[tuple(c if share.kept >> place & 1 else "*" for place, c in enumerate(row))] += share.rows
    assert [placed[number] for number in range(len(patterns))] == sizes
    assert min(published.values()) >= k
    stars = sum(n * sum(w for c, w in zip(row, weights, strict=True) if c == "*") for row, n in published.items())
    assert found.cost == stars == cost_of(found.shares, weights)


def solved(rows: Sequence[Cells], k: int, weights: Sequence[int] | None = None) -> Assignment:
    weights = weights or [1] * len(rows[0])
    _, sizes, groups = program(rows, k, weights)
    found = cheapest_assignment(sizes, groups, k, weights)
    check(rows, k, weights, found)
    return found


@pytest.mark.parametrize("seed", always(*range(50), longer=range(50, 150)))
def test_optimal_on_random_tables(seed: int) -> None:
    draw = Random(seed)
    columns = draw.randint(1, 4)
    rows = [tuple(draw.choice("abc") for _ in range(columns)) for _ in range(draw.randint(2, 8))]
    k = draw.randint(1, min(4, len(rows)))
    weights = [draw.choice((1, 1, 2, 5)) for _ in range(columns)]
    found = solved(rows, k, weights)
    assert found.optimal
    assert found.cost == optimum(rows, k, weights)


# The paper's Figure 1 and its reduction from vertex covers of 3-regular graphs (Theorem 3.1)


def test_figure_1() -> None:
    assert solved(FIGURE_1, 2).cost == 4
    assert solved(FIGURE_1, 3).cost == 12


def minimum_cover(vertices: str, edges: Edges) -> int:
    for size in range(len(vertices) + 1):
        for cover in itertools.combinations(vertices, size):
            if all(x in cover or y in cover for x, y in edges):
                return size
    raise AssertionError


def graph(vertices: str, places: Iterable[tuple[int, int]]) -> tuple[str, Edges]:
    return vertices, [(vertices[one], vertices[other]) for one, other in places]


GRAPHS: dict[str, tuple[str, Edges]] = {
    "K4": graph("ABCD", itertools.combinations(range(4), 2)),
    "K3,3": graph("ABCDEF", itertools.product((0, 1, 2), (3, 4, 5))),
    "prism": graph("ABCDEF", [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]),
    "cube": graph("ABCDEFGH", [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit]),
    "Wagner": graph("ABCDEFGH", [*((i, (i + 1) % 8) for i in range(8)), *((i, i + 4) for i in range(4))]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_theorem_3_1(name: str) -> None:
    vertices, edges = GRAPHS[name]
    assert all(sum(v in edge for edge in edges) == 3 for v in vertices), "the graph is 3-regular"
    base = 27 * len(vertices) + 2 * len(edges) + 14
    found = solved(theorem_3_1(vertices, edges), 7)
    assert found.optimal
    assert found.cost == base + minimum_cover(vertices, edges)
    if name == "K4":
        assert found.cost == 137


# Rows of one pattern may part, time may run out, something may be known before


def test_rows_of_one_pattern_may_go_different_ways() -> None:
    rows = [("a", "a")] * 3 + [("a", "b")]
    assert solved(rows, 2).cost == optimum(rows, 2, (1, 1)) == 2
    _, sizes, groups = program(rows, 2, (1, 1))
    shares = cheapest_assignment(sizes, groups, 2, (1, 1)).shares
    assert len([share for share in shares if share.pattern == 0]) > 1


def test_what_is_known_is_kept_when_there_is_no_time() -> None:
    rows = theorem_3_1(*GRAPHS["cube"])
    patterns, sizes, groups = program(rows, 7, (1, 1, 1))
    known = Assignment(tuple(Share(n, 0, size) for n, size in enumerate(sizes)), 3 * len(rows), 254)
    found = cheapest_assignment(sizes, groups, 7, (1, 1, 1), time.monotonic() - 1, known)
    assert len(patterns) == len(sizes)
    assert isinstance(found.stopped, BudgetSpent)
    assert found.lower_bound >= 254
    assert found.cost <= known.cost
    check(rows, 7, (1, 1, 1), found)
