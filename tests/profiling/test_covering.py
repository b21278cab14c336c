"""Column sets side by side in a few columns: none is lost, and no group is larger than it may be."""

from itertools import combinations
from math import prod
from random import Random

from qidsql.profiling.batches import covering


def test_groups_and_others_are_all_the_sets_within_their_limits() -> None:
    draw = Random(1)
    grouped = 0
    for _ in range(300):
        columns = draw.randint(1, 7)
        classes = [draw.choice((1, 2, 3, 9, 40)) for _ in range(columns)]
        masks = draw.sample(range(1, 1 << columns), draw.randint(0, (1 << columns) - 1))
        room, most, width = draw.choice((0, 10, 60, 1000)), draw.choice((1, 4, 32)), draw.choice((3, 9))
        groups, others = covering(masks, classes, room, most, width)
        assert sorted([*others, *(mask for group in groups for mask in group)]) == sorted(masks)
        for group in groups:
            assert 3 <= len(group) <= most
            inside = [place for place in range(columns) if any(mask >> place & 1 for mask in group)]
            assert prod(classes[place] for place in inside) <= room
            assert len(inside) <= width
        grouped += len(groups)
    assert grouped


def test_all_sets_of_a_size_take_a_few_groups() -> None:
    triples = [1 << a | 1 << b | 1 << c for a, b, c in combinations(range(12), 3)]
    groups, others = covering(triples, [2] * 12, 64, 32, 63)
    assert len(groups) + len(others) < len(triples) / 5  # 6 columns hold 20 of them
