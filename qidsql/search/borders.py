"""All minimal column sets of any monotone criterion, by its two borders: minimal solutions and maximal failures."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import Profiler
from qidsql.search.failing_sets import FailingSets
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.result import ENDINGS, Found, OnFound, SearchResult, ignore_found, stopped_by
from qidsql.search.twins import WithoutTwins

ALGORITHM = "borders"
CANDIDATES = 128  # tested in one batch
GROWN = 16  # failing candidates grown in one batch
GROWING = 8  # with a breadth, one failing set in so many candidates grows at the same time
LIMIT = 100_000
HINTED = 5_000  # minimal solutions of a sample to search; more are no help for the table


def borders(
    profiler: Profiler,
    criterion: Criterion,
    max_size: int | None = None,
    hints: Profiler | None = None,
    limit: int = LIMIT,
    on_found: OnFound = ignore_found,
    breadth: int = 0,
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
    failing set, grown or not, excludes candidates. A tenth of the rounds, with up to twice the profiles.
    """
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    search: _Search | None = None
    stopped: Stopped | StatementError | None = None
    try:
        everything = (1 << profiler.columns) - 1
        [whole] = profiler.profiles([everything])
        if not criterion.met_by(whole):
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        reduced = WithoutTwins(profiler, criterion, {everything: whole})
        sample = None if hints is None else reduced.over(hints)
        border = FailingSets(reduced, criterion.met_by, sample, at_once=bool(breadth))
        search = _Search(profiler, border, limit, lambda masks: on_found(_found(masks, border, reduced)), breadth)
        search.failing.meeting[(1 << reduced.columns) - 1] = whole  # the columns left out change no class
        border.learn(reduced.known())
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
        self._candidates, self._growing = (breadth, -(-breadth // GROWING)) if breadth else (CANDIDATES, GROWN)

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
