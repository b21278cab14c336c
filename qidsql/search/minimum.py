"""One column set of least weight that meets a criterion, with a proof, by implicit hitting sets."""

from collections.abc import Sequence

from qidsql.errors import BudgetSpent, Stopped
from qidsql.measures import Criterion, Key, Profiler
from qidsql.search.anchors import Anchors
from qidsql.search.failing import Failing
from qidsql.search.minimum_hitting_set import minimum_hitting_set, weight_of
from qidsql.search.result import Found, SearchResult
from qidsql.search.witness import Witnesses

ALGORITHM = "implicit-hitting-set"
GROWN = 8  # failing sets grown from one failed candidate, in different orders


def minimum(
    profiler: Profiler,
    criterion: Criterion,
    witnesses: Witnesses | None = None,
    weights: Sequence[int] | None = None,
) -> SearchResult:
    """One non-empty column set of least weight that meets the criterion; none when all columns together do not.

    Every solution hits every certificate: the difference mask of a pair of rows, for keys and with `witnesses`; else
    the complement of a failing set. A least hitting set of the certificates known so far is tested. When it meets the
    criterion, no set can cost less; when not, it yields certificates that it does not hit. The weight of every
    candidate is a lower bound from then on. Asks 3 to 50 statements for a key. Stopped early it returns the best set
    seen, if any, and the lower bound proved. Weights are positive integers, one per column (default: 1 each).

    Raises ValueError for weights that cannot be right. [Motwani & Xu, 2: minimum key; Karp 2010: the method]
    """
    costs = [1] * profiler.columns if weights is None else list(weights)
    if len(costs) != profiler.columns or min(costs, default=1) < 1:
        raise ValueError(f"expected {profiler.columns} positive weights, got {costs}")
    failing = Failing(profiler, criterion)
    everything = (1 << profiler.columns) - 1
    bound = 0
    try:
        if not failing.test([everything])[0]:
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        rows = failing.meeting[everything].rows
        pairs = None
        if isinstance(criterion, Key) and witnesses is not None and rows > 1:
            pairs = Anchors(profiler, witnesses, rows)
        else:
            failing.grow([0] * GROWN)
        while True:
            certificates = pairs.masks if pairs else failing.complements
            least = minimum_hitting_set(certificates, costs, tick=lambda: profiler.profiles([]))
            bound = max(bound, least.lower_bound)
            if pairs and not pairs.settles(least.mask):
                pairs.learn([least.mask], 1)
            elif failing.test([least.mask])[0]:
                if least.optimal:
                    return _result(criterion, failing, costs, bound)
                raise BudgetSpent("the smallest hitting set could not be proved; install highspy for a stronger solver")
            elif not pairs:
                failing.grow([least.mask] * GROWN)
    except Stopped as stop:
        return _result(criterion, failing, costs, bound, stop)


def _result(
    criterion: Criterion, failing: Failing, costs: Sequence[int], bound: int, stopped: Stopped | None = None
) -> SearchResult:
    """The best set seen, as a result; it need not be minimal when the search was stopped."""
    if not failing.meeting:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stopped, lower_bound=bound)
    best = min(failing.meeting, key=lambda mask: weight_of(mask, costs))
    cost = weight_of(best, costs)
    found = (Found(best, failing.meeting[best]),)
    return SearchResult(
        criterion,
        ALGORITHM,
        found,
        False,
        0,
        stopped,
        minimal=stopped is None,
        cost=cost,
        optimal=cost == bound,
        lower_bound=bound,
    )
