"""All minimal column sets of a table that has changed, by the list of an earlier search: measured before any search."""

from collections.abc import Iterable, Sequence
from itertools import islice

from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.hitting_sets import MinimalHittingSets, minimal_masks
from qidsql.search.result import Found, SearchResult

ALGORITHM = "the last list, measured again"
MENDED = "the last list, mended"
MOST_FAILING_SETS = 2_000  # sets that fail; of more, a search is better
MOST_OF_PAIRS = 64  # sets of a certificate where pairs of rows decide; of more, they take fewer statements
MOST_MORE = 1  # sets measured to mend a list, for each that was measured at first; of more, a search is better


def certified(profiler: Profiler, criterion: Criterion, earlier: Sequence[int]) -> SearchResult | None:
    """All minimal sets that meet the criterion, if these are about all of them; else None, and what was measured is
    known to the profiler.

    A list and the largest sets that contain none of it certify each other: if each of the former meets the criterion
    and none of the latter does, then a set meets it only if it contains one of the list, and each of these less any
    column is contained in a set that fails. One batch of profiles where the list still holds. Where it does not, it is
    mended: a set that fails now is tried with each column more, one that meets the criterion with each column less,
    and what is listed then has to be certified too. Raises Stopped, StatementError.

    >>> from qidsql.measures.criteria import Violates
    >>> [found.mask for found in certified(people, Violates(2), [2, 4]).found]
    [2, 4]
    >>> [found.mask for found in certified(people, Violates(2), [2]).found]
    [2, 4]
    """
    if not earlier:
        return None
    search = _Mending(profiler, criterion, earlier)
    missing = [*earlier, *search.largest()]
    most = (1 + MOST_MORE) * len(missing)
    while missing and not search.too_many:
        if len(search.known) + len(missing) > most:
            return None
        search.measure(missing)
        missing = search.missing()
    if search.too_many:
        return None
    order = sorted(search.met, key=lambda mask: (mask.bit_count(), tuple(positions(mask))))
    found = tuple(Found(mask, search.known[mask]) for mask in order)
    algorithm = ALGORITHM if set(search.met) == set(earlier) else MENDED
    return SearchResult(criterion, algorithm, found, True, profiler.columns, failing=tuple(search.failing))


def largest_without(met: Sequence[int], columns: int) -> list[int]:
    """The largest sets of so many columns that contain none of these, of too many only some.

    >>> largest_without([0b011], 3)
    [6, 5]
    """
    everything = (1 << columns) - 1
    return [everything ^ mask for mask in islice(MinimalHittingSets(met), MOST_FAILING_SETS) if mask != everything]


class _Mending:
    """`met` are the sets known to meet the criterion that contain no other, `failing` the largest known to fail; before
    anything is measured, what is expected."""

    def __init__(self, profiler: Profiler, criterion: Criterion, earlier: Sequence[int]) -> None:
        self._profiler, self._criterion, self._earlier = profiler, criterion, earlier
        self._columns = [1 << place for place in range(profiler.columns)]
        self._everything = sum(self._columns)
        self.met, self.failing, self.known = list(earlier), list[int](), dict[int, ClassProfile]()

    def measure(self, masks: Sequence[int]) -> None:
        self.known.update(zip(masks, self._profiler.profiles(masks), strict=True))
        meet = {mask for mask, profile in self.known.items() if self._criterion.met_by(profile)}
        self.met = minimal_masks(meet)
        self.failing = [
            self._everything ^ mask for mask in minimal_masks(self._everything ^ m for m in {*self.known} - meet)
        ]

    def largest(self) -> list[int]:
        return largest_without(self.met, len(self._columns))

    @property
    def too_many(self) -> bool:
        """Whether not all of the largest sets are looked at, of which one could meet the criterion."""
        return len(self.largest()) == MOST_FAILING_SETS

    def missing(self) -> list[int]:
        """The sets to measure next; none if the list is certified."""
        less = [mask ^ column for mask in self.met for column in self._columns if mask & column]
        lost = [mask for mask in self._earlier if not self._criterion.met_by(self.known[mask])]
        more = [mask | column for mask in lost for column in self._columns]
        return self._undecided([*less, *more]) or self._undecided(self.largest())

    def _undecided(self, masks: Iterable[int]) -> list[int]:
        """Those that neither contain a set that meets the criterion nor are part of one that fails."""
        return [
            mask
            for mask in dict.fromkeys(masks)
            if mask
            and not any(mask & met == met for met in self.met)
            and not any(mask & fails == mask for fails in self.failing)
        ]
