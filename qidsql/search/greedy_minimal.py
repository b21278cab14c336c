"""One minimal column set by removing columns in an order."""

from collections.abc import Sequence
from itertools import accumulate

from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import Profiler
from qidsql.search.foresight import Foresight
from qidsql.search.result import Found, SearchResult

ALGORITHM = "greedy-minimal"
MANY = 32  # columns left to try, of which several are removed at once


def greedy_minimal(
    profiler: Profiler, criterion: Criterion, order: Sequence[int] | None = None, breadth: int = 0
) -> SearchResult:
    """One minimal column set that meets the criterion; none if the whole column set does not meet it.

    Columns are tried in `order` (positions; default: last column first, as in the paper), and each is removed if the
    rest still meets the criterion. One pass is enough: a column that could not be removed once never can be later,
    since the criterion is monotone. Needs columns + 1 profiles, where the paper's loop starts again after each success.
    While many columns are left to try, the next one that cannot be removed is found by removing 1, 2, 4, ... at once,
    and by halving: about 2 log(columns) profiles for each column of the set. With a `breadth` some profiles are asked
    ahead, as if every column could be removed. Minimal, not minimum: another order may give a smaller set. If stopped,
    it returns none.

    [Yuan & Wang, Algorithm 5.1]
    """
    kept = (1 << profiler.columns) - 1
    failing: list[int] = []
    try:
        [profile] = profiler.profiles([kept])
        if not criterion.met_by(profile):
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        left = list(order if order is not None else reversed(range(profiler.columns)))
        foresight = Foresight(profiler, breadth)
        while left:
            rests = list(accumulate(left, lambda rest, place: rest & ~(1 << place), initial=kept))
            removed, step = 0, 1  # so many columns can be removed
            needed = len(rests) if rests[-1] else len(left)  # and so many not
            while needed - removed > 1:
                tried = removed + step if removed + step < needed else (removed + needed) // 2
                [without] = foresight.profiles([rests[tried]], filter(None, rests[tried + 1 : needed]))
                if criterion.met_by(without):
                    kept, profile, removed = rests[tried], without, tried
                    step = 2 * step if len(left) > MANY else 1
                else:
                    failing.append(rests[tried])
                    needed = tried
            del left[:needed]
    except Stopped as stop:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stop)
    return SearchResult(criterion, ALGORITHM, (Found(kept, profile),), False, 0, failing=tuple(failing))
