"""All minimal keys from few statements: difference masks, anchors and hitting sets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice, takewhile
from random import Random
from time import monotonic
from types import MappingProxyType

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, StatementError
from qidsql.measures.criteria import Key
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.difference_masks import Anchors, RowPairs
from qidsql.search.hitting_sets import MinimalHittingSets, transposed
from qidsql.search.redundant_columns import WithoutTwins
from qidsql.search.result import ENDINGS, Found, OnFound, SearchResult, ignore_found, stopped_by

# Some small minimal keys, by greedy trials: an answer where there are too many keys to list.


KEPT_KEYS = 1_000  # keys, the smallest
SHORT = 2_000  # masks that trials begin with: those with the fewest columns are the hardest to hit
LEARNED = 20_000  # masks kept from earlier trials, the latest
TRIALS = 8  # in one batch of statements


class KeyTrials:
    """Minimal keys found and proved in trials, at most KEPT_KEYS, the smallest: memory stays constant.

    A trial hits the hardest known masks, taking the column that hits most first, and removes columns that are not
    needed. The engine then returns the difference masks of the rows that agree on the set; with columns that separate
    those too it is a key. Columns that are not needed are removed again, by the profiles of the rest. The first trial
    always takes the best column, later ones the best of a random half. `failing` are the sets that prove the keys
    minimal: each key without one of its columns.
    """

    def __init__(self, anchors: Anchors, profiler: Profiler, seed: int = 0) -> None:
        self.keys: set[int] = set()
        self.failing: set[int] = set()
        self._anchors, self._profiler = anchors, profiler
        self._learned: list[int] = []
        self._random: Random | None = None
        self._seed = seed

    def run(self) -> None:
        """Run a batch of trials (at first one): a statement per trial, some batches of profiles. Raises Stopped."""
        masks = self._anchors.masks[:SHORT] + self._learned  # smallest first
        trials = {_hitting(masks, self._random) for _ in range(TRIALS if self._random else 1)}
        self._random = self._random or Random(self._seed)
        larger = []
        for trial, answer in zip(trials, self._anchors.agreeing(list(trials)), strict=True):
            self._learned = (self._learned + list(answer.masks[:SHORT]))[-LEARNED:]
            if answer.complete and 0 not in answer.masks:
                larger.append(trial | (_hitting(answer.masks, None) if answer.masks else 0))
        for key in larger:
            self.keys.add(self._shrunk(key))
        if len(self.keys) > KEPT_KEYS:
            self.keys = set(nsmallest(KEPT_KEYS, self.keys, key=int.bit_count))
        self.failing = {key ^ 1 << place for key in self.keys for place in positions(key)} - {0}

    def _shrunk(self, key: int) -> int:
        """A minimal key inside the key: a column needed now is needed in every smaller one too."""
        unsure = list(positions(key))
        while unsure:
            profiles = self._profiler.profiles([key ^ 1 << place for place in unsure if key != 1 << place])
            unsure = [place for place, profile in zip(unsure, profiles, strict=False) if not profile.colliding_pairs]
            if unsure:
                key ^= 1 << unsure.pop()
        return key


def _hitting(masks: Sequence[int], random: Random | None) -> int:
    """A minimal hitting set of the masks, none of them empty; greedy, with a random choice of columns to look at."""
    columns = max(mask.bit_length() for mask in masks)
    hit = transposed(masks, columns)
    left = (1 << len(masks)) - 1
    chosen: list[int] = []
    while left:
        useful = [place for place in range(columns) if hit[place] & left]
        some = useful if random is None else random.sample(useful, -(-len(useful) // 2))
        place = max(some, key=lambda place: (hit[place] & left).bit_count())
        chosen.append(place)
        left &= ~hit[place]
    for place in list(chosen):  # the earlier a column was chosen, the likelier it is that later ones replaced it
        others = 0
        for other in chosen:
            others |= hit[other] if other != place else 0
        if others.bit_count() == len(masks):
            chosen.remove(place)
    return sum(1 << place for place in chosen)


ALGORITHM = "hitting-sets"
OPEN = 5_000  # candidates examined before the next queries
QUERIES_TOGETHER = 2  # queries at a time, in parallel
# rows; above, one query keeps all cores busy, and its result improves the choice of the next
ROWS_OF_PARALLEL_QUERY = 1_000_000
MOST_CANDIDATE_KEYS = 200_000
EFFORT = 16_000  # clock checks during the enumeration of candidates before trials search some keys in between
PROVING_SECONDS = 1.0  # seconds spent on candidates to find proved keys after the search was stopped


def minimal_keys(
    profiler: Profiler,
    row_pairs: RowPairs,
    max_size: int | None = None,
    limit: int = MOST_CANDIDATE_KEYS,
    on_found: OnFound = ignore_found,
    known: Mapping[int, ClassProfile] = MappingProxyType({}),
    together: int = QUERIES_TOGETHER,
) -> SearchResult:
    """All minimal keys of at most `max_size` columns, smallest first, the first `limit` of them.

    Two rows that differ exactly on the columns D prove that every key contains a column of D: the minimal keys are the
    minimal hitting sets of all such difference masks. Those of the known masks are candidates. Each round chooses an
    anchor, a set inside many candidates, and queries all pairs of rows that agree on it, which decides every candidate
    above it (see `Anchors`); size by size, until no candidate is open. The result is exact. Needs the profiles of all
    columns together and one by one, then one statement per anchor: 3 to 80 for thousands of keys.

    If the candidates are very many, trials search some small keys in between (see `KeyTrials`). If stopped, also by
    Ctrl-C or by a statement that fails, it returns the proved keys that it finds at once, and the size up to which it
    knows all; memory stays constant. Twins, columns that determine each other, are searched as one. With duplicate
    rows there is no key; the first profile shows it. `known` profiles are not asked again. So many anchors are queried
    `together`, in parallel; the answer on one may settle what the next would be asked for.
    [Birnick et al. 2020, HPIValid; Murakami & Uno 2014]

    >>> [found.mask for found in minimal_keys(people, pairs).found]
    [7]
    """
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    everything = (1 << profiler.columns) - 1
    progress: _Progress | None = None
    try:
        [whole] = profiler.profiles([everything])
        if not Key().met_by(whole):
            return SearchResult(Key(), ALGORITHM, (), True, profiler.columns)
        if whole.rows < 2:  # even the empty set is a key: each column is a smallest nonempty one
            columns = [1 << place for place in range(profiler.columns)]
            return SearchResult(Key(), ALGORITHM, _found(columns, whole), True, profiler.columns)
        reduced = WithoutTwins(profiler, Key(), {**known, everything: whole})
        anchors = Anchors(reduced, reduced.row_pairs(row_pairs), whole.rows, reduced.known())
        if last < anchors.least_columns:
            return SearchResult(Key(), ALGORITHM, (), False, last)
        progress = _Progress(anchors, reduced, anchors.least_columns - 1)
        while progress.settled < last:
            larger = progress.settle(1 if whole.rows > ROWS_OF_PARALLEL_QUERY else together)
            progress.settled = progress.settled + 1 if larger else last
            if on_found is not ignore_found:  # one more enumeration of the candidates
                _report_found(on_found, anchors.masks, progress.settled, limit, reduced, whole)
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
    """The progress of the search: `settled` is the size up to which all candidates are decided."""

    def __init__(self, anchors: Anchors, reduced: WithoutTwins, settled: int) -> None:
        self.settled = settled
        self._anchors, self._reduced = anchors, reduced
        self._trials = KeyTrials(anchors, reduced)
        self._effort = 0

    @property
    def failing(self) -> tuple[int, ...]:
        """The known sets on which two rows agree."""
        everything = (1 << self._reduced.columns) - 1
        tried = [everything ^ failing for failing in self._trials.failing]
        return self._reduced.failing([*self._anchors.masks, *tried])

    def settle(self, together: int) -> bool:
        """Query until all candidates of one more column are decided; True if there may be larger ones."""
        anchors, size = self._anchors, self.settled + 1
        while True:
            candidates = MinimalHittingSets(anchors.masks, size, anchors.anchors, self._tick, True)
            still_open = list(islice(candidates, OPEN))
            if not still_open:
                return candidates.cut
            anchors.learn(still_open, together)
            if anchors.crowded and not self._trials.keys:
                self._trials.run()

    def proved(self, limit: int) -> tuple[list[int], int]:
        """Proved keys that need no long search, smallest first, and the size up to which the list is complete."""
        keys, settled = _proved(self._anchors, self.settled, limit)
        ordered = sorted({*keys, *self._trials.keys}, key=int.bit_count)
        keys = list(islice(_expanded(ordered, self._reduced), limit + 1))
        if len(keys) > limit:
            settled = min(settled, keys[limit].bit_count() - 1)
        return keys[:limit], settled

    def _tick(self) -> None:
        """Called during a long enumeration of candidates: checks the clock, and runs trials from time to time."""
        self._reduced.profiles([])
        self._effort += 1
        if self._effort > EFFORT:
            self._effort = 0
            self._trials.run()


def _expanded(keys: Iterable[int], reduced: WithoutTwins) -> Iterator[int]:
    """The keys in the columns of the table: each of a column's twins takes its place."""
    return (twin for key in keys for twin in reduced.expanded(key))


def _report_found(
    on_found: OnFound, masks: Sequence[int], size: int, limit: int, reduced: WithoutTwins, whole: ClassProfile
) -> None:
    """Report the keys of at most so many columns, which are all decided; some were reported before."""
    sets = MinimalHittingSets(masks, size, tick=lambda: reduced.profiles([]), minimal=True)
    keys = islice(_expanded(sets, reduced), limit)
    while batch := list(islice(keys, OPEN)):
        on_found(_found(batch, whole))


def _smallest(masks: Sequence[int], last: int, limit: int, reduced: WithoutTwins) -> tuple[list[int], int]:
    """The `limit` smallest keys, which are minimal hitting sets, and the size up to which the list is complete."""
    keys: list[int] = []
    for size in range(1, last + 1):
        sets = MinimalHittingSets(masks, size, tick=lambda: reduced.profiles([]), minimal=True)
        of_size = (key for key in sets if key.bit_count() == size)
        keys += islice(_expanded(of_size, reduced), limit + 1 - len(keys))
        if len(keys) > limit:
            return keys[:limit], size - 1
    return keys, last


def _proved(anchors: Anchors, settled: int, limit: int) -> tuple[list[int], int]:
    """Proved keys that need no long search, smallest first, and the size up to which the list is complete."""
    end = monotonic() + PROVING_SECONDS
    keys: list[int] = []
    for size in dict.fromkeys((settled, None)):  # first of the settled sizes, then of any
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
    """Every key has the profile of all columns together: each row is its own class."""
    return tuple(Found(key, whole) for key in sorted(keys, key=int.bit_count))
