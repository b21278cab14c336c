"""One minimal column set by removing one column after the other."""

from collections.abc import Sequence
from itertools import accumulate

from qidsql.errors import Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import Profiler
from qidsql.search.foresight import Foresight
from qidsql.search.result import Found, SearchResult

ALGORITHM = "greedy-minimal"


def greedy_minimal(
    profiler: Profiler, criterion: Criterion, order: Sequence[int] | None = None, breadth: int = 0
) -> SearchResult:
    """One minimal column set that meets the criterion; none if the whole column set does not meet it.

    Columns are tried in `order` (positions; default: last column first, as in the paper), and each is removed if the
    rest still meets the criterion. One pass is enough: a column that could not be removed once never can be later,
    since the criterion is monotone. Needs columns + 1 profiles, where the paper's loop starts again after each
    success; with a `breadth` some of them ahead, as if every column could be removed. Minimal, not minimum: another
    order may give a smaller set. If stopped, it returns none.

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
            _, rest, *smaller = accumulate(left, lambda rest, place: rest & ~(1 << place), initial=kept)
            del left[0]
            if not rest:
                continue
            [without] = foresight.profiles([rest], filter(None, smaller))
            if criterion.met_by(without):
                kept, profile = rest, without
            else:
                failing.append(rest)
    except Stopped as stop:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stop)
    return SearchResult(criterion, ALGORITHM, (Found(kept, profile),), False, 0, failing=tuple(failing))
