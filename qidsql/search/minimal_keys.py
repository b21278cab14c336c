"""All minimal keys from a handful of statements: difference masks, anchors and hitting sets."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from time import monotonic

from qidsql.errors import BudgetSpent, StatementError
from qidsql.measures.criteria import Key
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.anchors import Anchors
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.key_trials import SomeKeys
from qidsql.search.result import ENDINGS, Found, SearchResult, Tell, stopped_by, unheard
from qidsql.search.row_pairs import Witnesses
from qidsql.search.twins import Reduced

ALGORITHM = "hitting-sets"
OPEN = 5_000  # candidates looked at before the next questions
TOGETHER = 2  # questions asked at a time, in parallel
LARGE = 1_000_000  # rows; above, a question keeps all cores busy, and what it teaches is worth more than company
LIMIT = 200_000
EFFORT = 16_000  # looks at the clock on the way through candidates, before trials look for some keys meanwhile
PATIENCE = 1.0  # seconds of looking through candidates for proved keys once the search was stopped


def minimal_keys(
    profiler: Profiler,
    witnesses: Witnesses,
    max_size: int | None = None,
    limit: int = LIMIT,
    tell: Tell = unheard,
) -> SearchResult:
    """All minimal keys of at most `max_size` columns, smallest first, the first `limit` of them.

    Two rows that differ exactly on the columns D prove that every key holds a column of D: the minimal keys are the
    minimal hitting sets of all such difference masks. Those of the masks known so far are candidates. Each round
    chooses an anchor, a set inside many candidates, and asks for all pairs of rows that agree on it, which settles
    every candidate above it (see `Anchors`); size by size, until no candidate is open. No probability. Asks the
    profiles of all columns together and one by one, then one statement per anchor: 3 to 80 for thousands of keys.

    Where the candidates are very many, trials look for some small keys meanwhile (see `SomeKeys`). Stopped early, also
    by Ctrl-C or by a statement that fails, it returns the proved keys that it finds at once, and the size to which it
    knows all; memory stays flat. Twins, columns that determine each other, are searched as one. Duplicate rows:
    there is no key; the first profile tells. [Birnick et al. 2020, HPIValid; Murakami & Uno 2014]
    """
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    everything = (1 << profiler.columns) - 1
    progress: _Progress | None = None
    try:
        [whole] = profiler.profiles([everything])
        if not Key().met_by(whole):
            return SearchResult(Key(), ALGORITHM, (), True, profiler.columns)
        if whole.rows < 2:  # even the empty set is a key: each column is a smallest one that is not empty
            columns = [1 << place for place in range(profiler.columns)]
            return SearchResult(Key(), ALGORITHM, _found(columns, whole), True, profiler.columns)
        reduced = Reduced(profiler, Key(), {everything: whole})
        anchors = Anchors(reduced, reduced.witnesses(witnesses), whole.rows)
        if last < anchors.least_columns:
            return SearchResult(Key(), ALGORITHM, (), False, last)
        progress = _Progress(anchors, reduced, anchors.least_columns - 1)
        while progress.settled < last:
            larger = progress.settle(1 if whole.rows > LARGE else TOGETHER)
            progress.settled = progress.settled + 1 if larger else last
            if tell is not unheard:  # one more walk through the candidates
                _tell(tell, anchors.masks, progress.settled, limit, reduced, whole)
        settled = progress.settled
        listing = MinimalHittingSets(anchors.masks, settled, tick=lambda: profiler.profiles([]), minimal=True)
        keys = list(islice(_expanded(listing, reduced), limit + 1))
        if len(keys) > limit:
            many = BudgetSpent(f"there are more than {limit:,} minimal keys")
            keys, settled = _smallest(anchors.masks, settled, limit, reduced)
            return SearchResult(Key(), ALGORITHM, _found(keys, whole), False, settled, many, failing=progress.failing)
        size = settled if listing.cut else profiler.columns
        return SearchResult(Key(), ALGORITHM, _found(keys, whole), not listing.cut, size, failing=progress.failing)
    except ENDINGS as ending:
        keys, settled = progress.proved(limit) if progress else ([], 0)
        if isinstance(ending, StatementError) and not keys:
            raise
        found = _found(keys, whole) if keys else ()
        failing = progress.failing if progress else ()
        return SearchResult(Key(), ALGORITHM, found, False, settled, stopped_by(ending), failing=failing)


class _Progress:
    """How far the search has come: `settled` is the size up to which all candidates are known to be keys or not."""

    def __init__(self, anchors: Anchors, reduced: Reduced, settled: int) -> None:
        self.settled = settled
        self._anchors, self._reduced = anchors, reduced
        self._some = SomeKeys(anchors, reduced)
        self._effort = 0

    @property
    def failing(self) -> tuple[int, ...]:
        """The sets on which two rows agree, as far as these are known."""
        return self._reduced.failing(self._anchors.masks)

    def settle(self, together: int) -> bool:
        """Asks until all candidates with a column more are known to be keys or not; True: there may be larger ones."""
        anchors, size = self._anchors, self.settled + 1
        while True:
            candidates = MinimalHittingSets(anchors.masks, size, anchors.anchors, self._tick, True)
            still_open = list(islice(candidates, OPEN))
            if not still_open:
                return candidates.cut
            anchors.learn(still_open, together)
            if anchors.crowded and not self._some.keys:
                self._some.look()

    def proved(self, limit: int) -> tuple[list[int], int]:
        """Proved keys that need no long search, smallest first, and the size up to which they are all."""
        keys, settled = _proved(self._anchors, self.settled, limit)
        ordered = sorted({*keys, *self._some.keys}, key=int.bit_count)
        keys = list(islice(_expanded(ordered, self._reduced), limit + 1))
        if len(keys) > limit:
            settled = min(settled, keys[limit].bit_count() - 1)
        return keys[:limit], settled

    def _tick(self) -> None:
        """Now and then on a long way through the candidates: looks at the clock, and for some keys meanwhile."""
        self._reduced.profiles([])
        self._effort += 1
        if self._effort > EFFORT:
            self._effort = 0
            self._some.look()


def _expanded(keys: Iterable[int], reduced: Reduced) -> Iterator[int]:
    """The keys in the columns of the table: a column's twins take its place in turn."""
    return (twin for key in keys for twin in reduced.expanded(key))


def _tell(tell: Tell, masks: Sequence[int], size: int, limit: int, reduced: Reduced, whole: ClassProfile) -> None:
    """Tells the keys of at most so many columns, which are all settled; some were told before."""
    sets = MinimalHittingSets(masks, size, tick=lambda: reduced.profiles([]), minimal=True)
    keys = islice(_expanded(sets, reduced), limit)
    while batch := list(islice(keys, OPEN)):
        tell(_found(batch, whole))


def _smallest(masks: Sequence[int], last: int, limit: int, reduced: Reduced) -> tuple[list[int], int]:
    """The `limit` smallest keys, which are minimal hitting sets, and the size up to which they are all."""
    keys: list[int] = []
    for size in range(1, last + 1):
        sets = MinimalHittingSets(masks, size, tick=lambda: reduced.profiles([]), minimal=True)
        of_size = (key for key in sets if key.bit_count() == size)
        keys += islice(_expanded(of_size, reduced), limit + 1 - len(keys))
        if len(keys) > limit:
            return keys[:limit], size - 1
    return keys, last


def _proved(anchors: Anchors, settled: int, limit: int) -> tuple[list[int], int]:
    """Proved keys that need no long search, smallest first, and the size up to which they are all."""
    end = monotonic() + PATIENCE
    keys: list[int] = []
    for size in dict.fromkeys((settled, None)):  # of the settled sizes; any where there is none
        sets = MinimalHittingSets(anchors.masks, size, minimal=True)
        keys = [key for key in takewhile(lambda _: monotonic() < end, sets) if anchors.settles(key)]
        if keys:
            break
    if monotonic() >= end:
        settled = min(settled, anchors.least_columns - 1)
    keys.sort(key=int.bit_count)
    if len(keys) > limit:
        settled = min(settled, keys[limit].bit_count() - 1)
    return keys[:limit], settled


def _found(keys: Sequence[int], whole: ClassProfile) -> tuple[Found, ...]:
    """Every key has the profile of all columns together: each row is a class of its own."""
    return tuple(Found(key, whole) for key in sorted(keys, key=int.bit_count))
