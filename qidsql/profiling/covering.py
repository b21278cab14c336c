"""Column sets side by side: groups of them that lie in a few columns with few combinations of values."""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from math import prod

from qidsql.core.tables import positions

FEWEST = 3  # sets in a group; of fewer, each for itself is no dearer


def covering(
    masks: Sequence[int], classes: Sequence[int], room: int, most: int, width: int
) -> tuple[list[list[int]], list[int]]:
    """Groups of 3 to `most` of the sets in at most `width` columns with at most `room` combinations, and the others.

    `classes` has the number of values of each column. Greedy: a set grows by the column that brings most others with
    it, as long as it brings half of those that it could.
    """
    groups: list[list[int]] = []
    others: list[int] = []
    for size, alike in groupby(sorted(masks, key=int.bit_count), int.bit_count):
        for group in _groups(list(alike), size, classes, room, most, width):
            if len(group) < FEWEST:
                others += group
            else:
                groups.append(group)
    return groups, others


def _groups(
    masks: list[int], size: int, classes: Sequence[int], room: int, most: int, width: int
) -> Iterator[list[int]]:
    """All the sets, which are of one size, in groups; some of one set."""
    combined = {mask: prod(classes[place] for place in positions(mask)) for mask in masks}
    missing: dict[int, int] = {}  # of a set of one column less, the columns that make it one of those left
    for mask in masks:
        for place in positions(mask):
            missing[mask ^ 1 << place] = missing.get(mask ^ 1 << place, 0) | 1 << place
    order = sorted(range(len(classes)), key=lambda place: classes[place])
    left = dict.fromkeys(sorted(masks, key=lambda mask: -combined[mask]))
    while left:
        columns = next(iter(left))
        values, count, gain = combined[columns], 0, 1
        while gain and columns.bit_count() < width:
            count += gain
            rests = [rest for each in _subsets(columns, size - 1) if (rest := missing.get(each, 0) & ~columns)]
            gain, column = 0, 0
            for place in order:
                if values * classes[place] > room:
                    break
                brought = sum(rest >> place & 1 for rest in rests)
                if brought > gain:
                    gain, column = brought, place
            if 2 * gain >= len(rests) and gain and count + gain <= most:
                columns |= 1 << column
                values *= classes[column]
            else:
                gain = 0
        group = [mask for mask in _subsets(columns, size) if mask in left]
        for mask in group:
            del left[mask]
            for place in positions(mask):
                missing[mask ^ 1 << place] &= ~(1 << place)
        yield group


def _subsets(mask: int, size: int) -> Iterator[int]:
    return map(sum, combinations([1 << place for place in positions(mask)], size))
