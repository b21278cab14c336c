"""One minimal column set inside a given one, by removing blocks of columns."""

from collections.abc import Callable, Iterable


def minimal_inside(columns: Iterable[int], meets: Callable[[int], bool]) -> int:
    """A minimal set of some of the columns (places, tried in order) that meets a monotone test, which all of them meet.

    Blocks of columns are removed, halved when they are needed and doubled when they are not. Tests about
    size * log2(columns / size) sets, never the empty one. Raises what `meets` raises.
    """
    open_ = list(columns)
    needed, block = 0, max(1, len(open_) // 2)
    while open_:
        rest = needed | sum(1 << place for place in open_[block:])
        if rest and meets(rest):
            del open_[:block]
            block = min(2 * block, max(1, len(open_) - 1))
        elif block == 1:
            needed |= 1 << open_.pop(0)
        else:
            block = max(1, block // 2)
    return needed
