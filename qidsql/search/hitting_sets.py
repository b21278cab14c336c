"""Minimal hitting sets (minimal transversals) of a family of sets, as bit masks. Independent of tables and engines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from qidsql.core.tables import positions

TICK = 4096  # steps between two checks of the clock, if masks are few


def minimal_masks(masks: Iterable[int], tick: Callable[[], object] = lambda: None) -> list[int]:
    """The masks that contain no other mask, smallest first: a set that hits these hits all.

    Costs up to columns * kept / 64 word operations per mask instead of a comparison with every kept mask. `tick` is
    called from time to time and may raise.
    """
    ordered = sorted(set(masks), key=int.bit_count)
    if 0 in ordered[:1]:
        return [0]
    columns = max((mask.bit_length() for mask in ordered), default=0)
    kept: list[int] = []
    without = [0] * columns  # for each column the kept masks (bit i: kept[i]) that lack it
    for _, group in groupby(ordered, key=int.bit_count):  # masks of one size do not contain each other
        everyone = (1 << len(kept)) - 1
        commonest = sorted((free.bit_count(), 1 << place, free) for place, free in enumerate(without))
        new = []
        for number, mask in enumerate(group):
            if number % 64 == 0:
                tick()
            inside = everyone  # the kept masks that may still be contained in this one
            for _, bit, free in commonest:
                if not mask & bit:
                    inside &= free
                    if not inside:
                        break
            if not inside:
                new.append(mask)
        all_new = (1 << len(new)) - 1
        for place, having in enumerate(transposed(new, columns)):
            without[place] |= (all_new ^ having) << len(kept)
        kept += new
    return kept


def transposed(masks: Sequence[int], columns: int) -> list[int]:
    """For each column the masks that contain it, as a bit mask over their numbers."""
    if not masks:
        return [0] * columns
    digits = "".join(format(mask, f"0{columns}b") for mask in reversed(masks))
    return [int(digits[place::columns], 2) for place in reversed(range(columns))]


def hits_all(chosen: int, masks: Iterable[int]) -> bool:
    """True if the set shares an element with every mask."""
    return all(chosen & mask for mask in masks)


class MinimalHittingSets(Iterator[int]):
    """Every minimal hitting set of the masks once, lazily: memory stays constant however many there are.

    Depth first; a branch is cut as soon as a chosen element is no longer the only one to hit some mask. With
    `max_size`, only those of at most so many elements; after the last one `cut` is True if larger ones may exist.
    Sets that contain one of `avoiding` are skipped together with the whole branch. `tick` is called from time to time
    and may raise to end the search. `minimal`: the masks come from `minimal_masks` and need no further check.

    [Murakami & Uno 2014, algorithm MMCS]
    """

    def __init__(
        self,
        masks: Iterable[int],
        max_size: int | None = None,
        avoiding: Sequence[int] = (),
        tick: Callable[[], object] = lambda: None,
        minimal: bool = False,
    ) -> None:
        self.cut = False
        self._tick = tick
        self._masks = list(masks) if minimal else minimal_masks(masks, tick)
        self._max_size = max_size
        self._avoiding = avoiding
        self._found = self._search()

    def __next__(self) -> int:
        return next(self._found)

    def _search(self) -> Iterator[int]:
        masks, avoiding = self._masks, self._avoiding
        if 0 in masks or 0 in avoiding:
            return
        if not masks:
            yield 0
            return
        limit = len(masks) if self._max_size is None else self._max_size
        if limit <= 0:
            self.cut = True
            return
        columns = max(mask.bit_length() for mask in masks)
        everything = (1 << len(masks)) - 1
        hit = transposed(masks, columns)
        missed = [everything ^ masks_hit for masks_hit in hit]
        avoided: dict[int, list[int]] = {}
        for avoid in avoiding:
            for place in positions(avoid):
                avoided.setdefault(place, []).append(avoid)
        # chosen elements, masks not hit yet, elements that may be chosen, per chosen element the masks it alone hits
        stack: list[tuple[int, int, int, list[int]]] = [(0, everything, (1 << columns) - 1, [])]
        steps, pause = 0, max(1, TICK * 64 // (64 + len(masks)))  # the time of a step grows with the masks
        while stack:
            steps += 1
            if steps % pause == 0:
                self._tick()
            chosen, left, free, alone = stack.pop()
            smallest = masks[(left & -left).bit_length() - 1]  # masks are in order of size: the fewest branches
            branches = free & smallest
            free ^= branches
            last = len(alone) + 1 >= limit
            while branches:
                bit = branches & -branches
                branches ^= bit
                place = bit.bit_length() - 1
                miss = missed[place]
                still = left & miss
                if still and last:
                    self.cut = True
                    continue
                kept = [own & miss for own in alone]
                if 0 in kept:
                    continue  # an element became superfluous, and stays so in every larger set
                free |= bit
                grown = chosen | bit
                if avoiding and place in avoided and any(grown & avoid == avoid for avoid in avoided[place]):
                    continue
                if still:
                    kept.append(left & hit[place])
                    stack.append((grown, still, free, kept))
                else:
                    yield grown
