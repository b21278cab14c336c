"""Column sets side by side: groups of them that lie in a few columns with few combinations of values."""

from bisect import bisect_right
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
    it, as long as it brings half of those that it could; of several such columns by the one with the fewest values.
    """
    order = sorted(range(len(classes)), key=lambda place: classes[place])
    bits = {place: 1 << number for number, place in enumerate(order)}  # by the values of the columns, the fewest first
    original = {sum(bits[place] for place in positions(mask)): mask for mask in masks}
    values = [max(1, classes[place]) for place in order]
    groups: list[list[int]] = []
    others: list[int] = []
    for size, alike in groupby(sorted(original, key=int.bit_count), int.bit_count):
        for group in _groups(list(alike), size, values, room, most, width):
            sets = [original[mask] for mask in group]
            if len(group) < FEWEST:
                others += sets
            else:
                groups.append(sets)
    return groups, others


def _groups(
    masks: list[int], size: int, values: Sequence[int], room: int, most: int, width: int
) -> Iterator[list[int]]:
    """All the sets, which are of one size, in groups; some of one set. `values` ascend."""
    combined = {mask: prod(values[place] for place in positions(mask)) for mask in masks}
    missing: dict[int, int] = {}  # of a set of one column less, the columns that make it one of those left
    for mask in masks:
        for place in positions(mask):
            missing[mask ^ 1 << place] = missing.get(mask ^ 1 << place, 0) | 1 << place
    left = set(masks)
    for columns in sorted(masks, key=lambda mask: -combined[mask]):
        if columns not in left:
            continue
        together, count = combined[columns], 1
        while columns.bit_count() < width:
            rests = [rest for each in _subsets(columns, size - 1) if (rest := missing.get(each, 0) & ~columns)]
            fitting = (1 << bisect_right(values, room // together)) - 1
            gain, column = _most_common(rests, fitting)
            if not gain or 2 * gain < len(rests) or count + gain > most:
                break
            columns |= column
            together *= values[column.bit_length() - 1]
            count += gain
        group = [mask for mask in _subsets(columns, size) if mask in left]
        left.difference_update(group)
        for mask in group:
            for place in positions(mask):
                missing[mask ^ 1 << place] &= ~(1 << place)
        yield group


def _most_common(masks: Sequence[int], among: int) -> tuple[int, int]:
    """In how many of the masks the bit is that is in most of them, and the lowest such bit; (0, 0) if there is none."""
    at_least = [among] + [0] * len(masks)  # the bits that are in so many of the masks
    for number, mask in enumerate(masks, start=1):
        for times in range(number, 0, -1):
            at_least[times] |= at_least[times - 1] & mask
    times = max(times for times, bits in enumerate(at_least) if bits or not times)
    return times, at_least[times] & -at_least[times] if times else 0


def _subsets(mask: int, size: int) -> Iterator[int]:
    return map(sum, combinations([1 << place for place in positions(mask)], size))
