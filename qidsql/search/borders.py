"""All minimal column sets of any monotone criterion, by its two borders: minimal solutions and maximal failures."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from operator import or_
from random import Random
from types import MappingProxyType
from typing import Protocol, TypeAlias

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.redundant_columns import WithoutTwins
from qidsql.search.result import ENDINGS, Found, OnFound, SearchResult, ignore_found, stopped_by

# Failing column sets: each proves that every solution contains a column outside it, a maximal one most.


class FailingSets:
    """Facts known about a monotone test on profiles: sets that meet it, with their profiles, and sets that do not.

    No set is profiled whose result follows from earlier ones. The empty set counts as failing and is never profiled.
    `hints`, a profiler of a sample to which the criterion applies too, only decides which sets are tested first.

    `maximal` are the failing sets that are grown. With `at_once` they are all known failing sets that no other
    contains: each is a proof, so that nothing waits for the end of a growth.
    """

    def __init__(
        self,
        profiler: Profiler,
        met_by: Callable[[ClassProfile], bool],
        hints: Profiler | None = None,
        seed: int = 0,
        at_once: bool = False,
    ) -> None:
        self.meeting: dict[int, ClassProfile] = {}  # every set seen to meet the criterion
        self.growing: list[_Growth] = []
        self._met: list[int] = []  # those that contain no other
        self._failed = [0]  # the known failing sets that no other contains
        self._grown: list[int] = []
        self._profiler, self._met_by, self._hints = profiler, met_by, hints
        self._at_once = at_once
        self._everything = (1 << profiler.columns) - 1
        self._random = Random(seed)  # only decides the order in which columns are tried

    @property
    def maximal(self) -> list[int]:
        return self._failed if self._at_once else self._grown

    @property
    def complements(self) -> list[int]:
        """The sets that solutions must hit, the smallest first: each solution shares a column with every one of these.

        None of them contains another.
        """
        return sorted((self._everything ^ failing for failing in self.maximal), key=int.bit_count)

    def test(self, masks: Sequence[int]) -> list[bool]:
        """Whether each set meets the criterion. One batch of profiles. Raises Stopped."""
        new = [mask for mask in dict.fromkeys(masks) if self.inferred(mask) is None]
        self.learn(dict(zip(new, self._profiler.profiles(new), strict=True)))
        return [bool(self.inferred(mask)) for mask in masks]

    def learn(self, profiles: Mapping[int, ClassProfile]) -> None:
        """Note the profiles of these sets."""
        for mask, profile in profiles.items():
            if self._met_by(profile):
                self.meeting[mask] = profile
                if not _contains(mask, self._met):
                    self._met = [*(met for met in self._met if mask & ~met), mask]
            elif not _within(mask, self._failed):
                self._failed = [*(failing for failing in self._failed if failing & ~mask), mask]

    def start(self, masks: Sequence[int]) -> None:
        """Let failing sets grow from the next `advance` on."""
        self.growing += [self._growth(mask) for mask in masks]

    def grow(self, masks: Sequence[int]) -> None:
        """Grow those of the sets that are known to fail and that no other known one contains. Raises Stopped."""
        self.start([mask for mask in self._failed if mask in masks and not self._at_once])
        while self.growing:
            self.advance()

    def advance(self, candidates: Sequence[int] = ()) -> list[bool]:
        """Test the candidates, as `test`, and in the same batch the next sets of those that grow. Raises Stopped."""
        met = self.test([*candidates, *(step for growth in self.growing for step in growth.steps())])
        for growth in self.growing:
            growth.follow(self.inferred)
            if not growth.left and not _within(growth.mask, self._grown):
                self._grown.append(growth.mask)
        self.growing = [growth for growth in self.growing if growth.left]
        return met[: len(candidates)]

    def inferred(self, mask: int) -> bool | None:
        """Whether the set meets the criterion, if that follows from what is known."""
        if _within(mask, self._failed):
            return False
        return True if mask in self.meeting or _contains(mask, self._met) else None

    def _growth(self, mask: int) -> "_Growth":
        order = [1 << place for place in positions(self._everything & ~mask)]
        self._random.shuffle(order)
        likely: list[int] = []
        if self._hints is not None:
            grown = mask
            for column in order:
                if not self._met_by(self._hints.profiles([grown | column])[0]):
                    likely.append(column)
                    grown |= column
            order = [*likely, *(column for column in order if column not in likely)]
        return _AtOnce(mask, order) if self._at_once else _ByStrides(mask, order, max(1, len(likely)))


def _within(mask: int, sets: Sequence[int]) -> bool:
    """Whether one of the sets contains it."""
    for each in sets:  # noqa: SIM110 - called millions of times, and a generator takes twice as long
        if mask & each == mask:
            return True
    return False


def _contains(mask: int, sets: Sequence[int]) -> bool:
    """Whether it contains one of the sets."""
    for each in sets:  # noqa: SIM110 - as in `_within`
        if mask & each == each:
            return True
    return False


Known: TypeAlias = Callable[[int], bool | None]  # whether a set meets the criterion; None: not known


class _Growth(Protocol):
    """One failing set while it grows to a maximal one. `left` are the columns that may still be added."""

    mask: int
    left: list[int]

    def steps(self) -> list[int]:
        """The sets to test next."""

    def follow(self, known: Known) -> None:
        """Grow by what is known after that."""


class _ByStrides:
    """Tests one set at a time: with twice as many columns after a success, half as many after a failure.

    At first with `stride` columns. About (columns that meet the criterion with the set) * log(columns) tests.
    """

    def __init__(self, mask: int, left: list[int], stride: int) -> None:
        self.mask, self.left, self._stride = mask, left, stride

    def steps(self) -> list[int]:
        return [self.mask | sum(self.left[: self._stride])]

    def follow(self, known: Known) -> None:
        if not known(self.steps()[0]):
            self.mask |= sum(self.left[: self._stride])
            del self.left[: self._stride]
            self._stride *= 2
        elif self._stride == 1:
            del self.left[0]
        else:
            self._stride = max(1, self._stride // 2)


class _AtOnce:
    """Tests the set with the first column, the first 2, 4, 8 and so on, all at once."""

    def __init__(self, mask: int, left: list[int]) -> None:
        self.mask, self.left = mask, left

    def steps(self) -> list[int]:
        return [mask for number, mask in enumerate(accumulate(self.left, or_, initial=self.mask)) if _power(number)]

    def follow(self, known: Known) -> None:
        unsure = []
        for column in self.left:
            meets = known(self.mask | column)
            if meets is None:
                unsure.append(column)
            elif not meets:
                self.mask |= column
        self.left = unsure


def _power(number: int) -> bool:
    """Whether it is a power of two."""
    return number.bit_count() == 1


ALGORITHM = "borders"
BATCH_OF_CANDIDATES = 128  # tested in one batch
CANDIDATES_PER_BATCH = 16  # failing candidates grown in one batch
CANDIDATES_PER_GROWING_SET = 8  # with a breadth, one failing set in so many candidates grows at the same time
MOST_BORDER_SETS = 100_000
HINTED = 5_000  # minimal solutions of a sample to search; more are no help for the table


def borders(
    profiler: Profiler,
    criterion: Criterion,
    max_size: int | None = None,
    hints: Profiler | None = None,
    limit: int = MOST_BORDER_SETS,
    on_found: OnFound = ignore_found,
    breadth: int = 0,
    known: Mapping[int, ClassProfile] = MappingProxyType({}),
) -> SearchResult:
    """All minimal non-empty column sets that meet the criterion, of at most `max_size` columns, smallest first.

    A solution is contained in no failing set, so it hits the complement of each. The minimal hitting sets of the known
    complements are tested, size by size; one that fails is grown to a maximal failing set, whose complement is new;
    when all are solutions, the two borders certify each other. Constant columns, and all but one of those that
    determine each other, are restored at the end. Needs at least one profile per minimal solution and per maximal
    failing set; two to four times as many in practice, in batches, and 1.2 to 1.5 times with `hints`: a profiler of a
    sample, whose two borders are tested first and in one batch. Chance only decides which sets are tested. If stopped,
    it returns the sets proved minimal, and the size up to which none is missing. [Gunopulos et al. 2003, Dualize &
    Advance]

    With a `breadth`, so many candidates of any size are tested in one round, and failing sets grow beside them: every
    failing set, grown or not, excludes candidates. A tenth of the rounds, with up to twice the profiles. `known`
    profiles are not asked again, and the sets of them that fail are grown first.

    >>> from qidsql.measures.criteria import Key
    >>> [found.mask for found in borders(people, Key()).found]
    [7]
    """
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    search: _Search | None = None
    stopped: Stopped | StatementError | None = None
    try:
        everything = (1 << profiler.columns) - 1
        [whole] = profiler.profiles([everything])
        if not criterion.met_by(whole):
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        reduced = WithoutTwins(profiler, criterion, {**known, everything: whole})
        sample = None if hints is None else reduced.over(hints)
        border = FailingSets(reduced, criterion.met_by, sample, at_once=bool(breadth))
        search = _Search(profiler, border, limit, lambda masks: on_found(_found(masks, border, reduced)), breadth)
        search.failing.meeting[(1 << reduced.columns) - 1] = whole  # the columns left out change no class
        border.learn(reduced.known())
        border.grow([reduced.kept(mask) for mask in known])
        if sample is not None:
            search.follow(_hinted(sample, criterion, last))
        search.run(last)
    except ENDINGS as ending:
        if isinstance(ending, StatementError) and not (search and search.minimal):
            raise
        stopped = stopped_by(ending)
    if search is None:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stopped)
    found = _found(search.minimal, search.failing, reduced)
    complete = stopped is None and not search.cut
    size = profiler.columns if complete else search.settled
    failing = reduced.failing(search.failing.complements)
    return SearchResult(criterion, ALGORITHM, tuple(sorted(found, key=_size)), complete, size, stopped, failing=failing)


class _Search:
    """The state of a search: the minimal solutions found, all of those of at most `settled` columns.

    `cut`: there may be larger ones than were searched.
    """

    def __init__(
        self,
        profiler: Profiler,
        failing: FailingSets,
        limit: int,
        on_found: Callable[[Sequence[int]], None] = lambda masks: None,
        breadth: int = 0,
    ) -> None:
        self.failing = failing
        self.minimal: list[int] = []
        self.settled, self.cut = 0, True
        self._profiler, self._limit, self._on_found = profiler, limit, on_found
        self._at_once = breadth > 0
        self._candidates, self._growing = (
            (breadth, -(-breadth // CANDIDATES_PER_GROWING_SET))
            if breadth
            else (BATCH_OF_CANDIDATES, CANDIDATES_PER_BATCH)
        )

    def run(self, last: int) -> None:
        """Find every minimal solution of at most `last` columns. Raises Stopped."""
        if self._at_once:
            self.failing.start([0] * self._growing)
            self.failing.advance()
        while candidates := self._open(last):
            met = self.failing.advance(candidates)
            self._note([mask for mask, meets in zip(candidates, met, strict=True) if meets])
            failed = [mask for mask, meets in zip(candidates, met, strict=True) if not meets]
            self.failing.start(failed[: max(0, self._growing - len(self.failing.growing))])
            while self.failing.growing and not self._at_once:
                self.failing.advance()

    def follow(self, hints: "_Search") -> None:
        """Test the borders of a sample, all at once. Raises Stopped."""
        self.failing.test([*hints.minimal, *hints.failing.maximal])
        met = self.failing.test(hints.failing.maximal)
        self.failing.start([mask for mask, meets in zip(hints.failing.maximal, met, strict=True) if not meets])
        while self.failing.growing and not self._at_once:
            self.failing.advance()

    def _open(self, last: int) -> list[int]:
        """The next candidates, smallest first; none at the end. Of the size to settle, with a breadth larger ones too.

        A candidate known to meet the criterion is a solution: each smaller set is contained in a failing one.
        """
        found: list[int] = []
        size = self.settled
        while size < last and self.cut and len(found) < self._candidates:
            wanted = self._candidates - len(found)
            sets = MinimalHittingSets(self.failing.complements, size + 1, [*self.minimal, *found], self._tick, True)
            new = list(islice(sets, wanted))
            known = [mask for mask in new if self.failing.inferred(mask)]
            self._note(known)
            found += [mask for mask in new if mask not in known]
            if len(new) < wanted:
                size += 1
                if not found:
                    self.settled, self.cut = size, sets.cut
                elif not (self._at_once and sets.cut):
                    break
        return found

    def _note(self, solutions: Sequence[int]) -> None:
        self.minimal += solutions
        self._on_found(solutions)
        if len(self.minimal) > self._limit:
            raise BudgetSpent(f"there are more than {self._limit:,} minimal column sets")

    def _tick(self) -> None:
        self._profiler.profiles([])  # raises Stopped when the time is up


def _hinted(sample: Profiler, criterion: Criterion, last: int) -> _Search:
    """The borders of a sample, up to a limited number of solutions."""
    search = _Search(sample, FailingSets(sample, criterion.met_by), HINTED)
    with suppress(BudgetSpent):  # a spent budget shows again at the next profile
        search.run(last)
    return search


def _found(masks: Sequence[int], failing: FailingSets, reduced: WithoutTwins) -> list[Found]:
    """The sets of the whole table that these solutions represent."""
    return [Found(twin, failing.meeting[mask]) for mask in masks for twin in reduced.expanded(mask)]


def _size(found: Found) -> int:
    return found.size
