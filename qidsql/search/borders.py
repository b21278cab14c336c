"""All minimal column sets of any monotone criterion, by its two borders: minimal solutions and maximal failures."""

from itertools import islice

from qidsql.errors import BudgetSpent, Stopped
from qidsql.measures import Criterion, Profiler
from qidsql.search.failing import Failing
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.reduction import Reduced
from qidsql.search.result import Found, SearchResult

ALGORITHM = "borders"
CANDIDATES = 128  # tested in one batch
GROWN = 16  # failing candidates grown in one go
LIMIT = 100_000


def borders(
    profiler: Profiler,
    criterion: Criterion,
    max_size: int | None = None,
    hints: Profiler | None = None,
    limit: int = LIMIT,
) -> SearchResult:
    """All minimal non-empty column sets that meet the criterion, of at most `max_size` columns, smallest first.

    A solution lies in no failing set, so it hits the complement of each. The minimal hitting sets of the complements
    known so far are tested; one that fails is grown to a maximal failing set, whose complement is new; when all are
    solutions, the two borders certify each other. Constant columns, and all but one of those that determine each
    other, are put back in the end. Asks at least one profile per minimal solution and per maximal
    failing set; two to four times as many in practice, in batches. `hints`, a profiler of a sample, is asked first:
    its maximal failing sets need only be confirmed, and grown where they still fail. Stopped early it returns what was
    tested minimal. [Gunopulos et al. 2003, Dualize & Advance]
    """
    last = profiler.columns if max_size is None else min(max_size, profiler.columns)
    minimal: list[int] = []
    stopped, cut = None, True
    found: list[Found] = []
    try:
        everything = (1 << profiler.columns) - 1
        [whole] = profiler.profiles([everything])
        if not criterion.met_by(whole):
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        reduced = Reduced(profiler, criterion, {everything: whole})
        failing = Failing(reduced, criterion)
        failing.meeting[(1 << reduced.columns) - 1] = whole  # the columns left out change no class
        try:
            if hints is not None:
                sampled = Failing(reduced.over(hints), criterion)
                _dualize(sampled, hints, last, [], limit)
                confirmed = failing.test(sampled.maximal)
                failing.grow([mask for mask, met in zip(sampled.maximal, confirmed, strict=True) if not met])
            cut = _dualize(failing, profiler, last, minimal, limit)
        finally:
            found = [Found(twin, failing.meeting[mask]) for mask in minimal for twin in reduced.expanded(mask)]
    except Stopped as stop:
        stopped = stop
    size = 0 if stopped else last if cut else profiler.columns
    ordered = tuple(sorted(found, key=lambda each: each.size))
    return SearchResult(criterion, ALGORITHM, ordered, not cut and stopped is None, size, stopped)


def _dualize(failing: Failing, profiler: Profiler, last: int, minimal: list[int], limit: int) -> bool:
    """Appends every minimal solution; True: larger ones than `last` may exist. Raises Stopped."""
    while True:
        candidates = MinimalHittingSets(failing.complements, last, minimal, lambda: profiler.profiles([]))
        batch = list(islice(candidates, CANDIDATES))
        if not batch:
            return candidates.cut
        met = failing.test(batch)
        minimal += [mask for mask, meets in zip(batch, met, strict=True) if meets]
        failing.grow([mask for mask, meets in zip(batch, met, strict=True) if not meets][:GROWN])
        if len(minimal) > limit:
            raise BudgetSpent(f"there are more than {limit:,} minimal column sets")
