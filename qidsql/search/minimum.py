"""One column set of least weight that meets a criterion, with a proof, by implicit hitting sets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import or_

from qidsql.core.tables import weight_of
from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.anchors import Anchors
from qidsql.search.failing_sets import FailingSets
from qidsql.search.lightest import UNPROVED, Lightest
from qidsql.search.minimum_hitting_set import LeastHittingSets, light_hitting_set
from qidsql.search.result import ENDINGS, Found, OnBounds, SearchResult, ignore_bounds, stopped_by
from qidsql.search.row_pairs import RowPairs
from qidsql.search.twins import WithoutTwins

ALGORITHM = "implicit-hitting-set"


def minimum(
    profiler: Profiler,
    criterion: Criterion,
    row_pairs: RowPairs | None = None,
    weights: Sequence[int] | None = None,
    breadth: int = 0,
    on_bounds: OnBounds = ignore_bounds,
) -> SearchResult:
    """One non-empty column set of least weight that meets the criterion; none if all columns together do not.

    Every solution hits every certificate: the difference mask of a pair of rows, for keys and with `row_pairs`; else
    the complement of a failing set. A least hitting set of the known certificates is tested. If it meets the criterion,
    no set can cost less; if not, it yields certificates that it does not hit. The weight of every candidate is a lower
    bound from then on, and the search also ends when a set seen on the way costs no more. For keys the first anchor and
    a hitting set of its masks give a first solution, without a further statement, or, if that anchor has too many
    pairs, the candidate and as many more columns as needed. Needs 3 to 50 statements for a key.

    Other criteria need a batch of profiles a round (see `Lightest`), before the first one that of the most useful
    column, the two most useful, and so on.

    Twins, columns that determine each other, are searched as the lightest of them, constant columns not at all. If
    stopped, it returns the best set seen, if any, and the proved lower bound; `on_bounds` is told both on the way.
    Weights are positive integers, one per column (default: 1 each).

    Raises ValueError for invalid weights. [Motwani & Xu, 2: minimum key; Karp 2010: the method]
    """
    weights = [1] * profiler.columns if weights is None else list(weights)
    if len(weights) != profiler.columns or min(weights, default=1) < 1:
        raise ValueError(f"expected {profiler.columns} positive weights, got {weights}")
    failing, reduced = FailingSets(profiler, criterion.met_by), None
    everything = (1 << profiler.columns) - 1
    search: _ByPairs | Lightest | None = None

    def tick() -> None:
        profiler.profiles([])  # raises Stopped when the time is up

    try:
        if not failing.test([everything])[0]:
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        whole = failing.meeting[everything]
        searched = WithoutTwins(profiler, criterion, failing.meeting)
        costs = [weight_of(searched.lightest(1 << place, weights), weights) for place in range(searched.columns)]
        within = FailingSets(searched, criterion.met_by, at_once=True)
        within.meeting[(1 << searched.columns) - 1] = whole  # the columns left out change no class
        failing, reduced = within, searched
        singles = reduced.profiles([1 << place for place in range(reduced.columns)])
        useful = sorted(range(reduced.columns), key=lambda place: (costs[place], singles[place].colliding_pairs))
        if criterion.pairs_decide and row_pairs is not None and whole.rows > 1:
            pairs = Anchors(reduced, reduced.row_pairs(row_pairs), whole.rows)
            search = _ByPairs(failing, pairs, costs, whole, tick, on_bounds)
            search.run(useful)
        else:
            failing.learn(reduced.known())
            search = Lightest(failing, costs, breadth, tick, on_bounds)
            search.run(list(accumulate((1 << place for place in useful), or_)))
        stopped = None
    except ENDINGS as ending:
        if isinstance(ending, StatementError) and not failing.meeting:
            raise
        stopped = stopped_by(ending)
    proof = reduced.failing(search.certificates) if reduced and search else ()
    bound = search.bound if search else 0
    return _result(criterion, _in_full(failing, reduced, weights), weights, bound, proof, stopped)


class _ByPairs:
    """The same as `Lightest` for keys, with pairs of rows as certificates: see `Anchors`."""

    def __init__(
        self,
        failing: FailingSets,
        pairs: Anchors,
        costs: Sequence[int],
        whole: ClassProfile,
        tick: Callable[[], object],
        on_bounds: OnBounds,
    ) -> None:
        self.bound = 0
        self.certificates: Sequence[int] = ()
        self._on_bounds, self._told = on_bounds, (0, 0)
        self._cost = sum(costs)  # of the best key seen
        self._hitting_sets = LeastHittingSets(costs, tick=self._look_up)
        self._failing, self._pairs, self._costs, self._whole, self._tick = failing, pairs, costs, whole, tick

    def _look_up(self) -> None:
        """Tell the bounds, if they are better than those told before, and check the time. Raises Stopped."""
        bounds = self._cost, self._hitting_sets.bound
        if bounds != self._told:
            self._told = bounds
            self._on_bounds(*bounds)
        self._tick()

    def run(self, useful: Sequence[int]) -> None:
        """Find a lightest key. Raises Stopped."""
        pairs, meeting, bisected = self._pairs, self._failing.meeting, False
        settled = 0  # anchors whose keys are known
        while True:
            self.certificates = pairs.masks
            least = self._hitting_sets.least(self.certificates, minimal=True)
            self.bound = least.lower_bound
            if least.stopped is not None:
                raise least.stopped
            keys = _settled(pairs, pairs.anchors[settled:], least.mask, self._costs, self._tick)
            meeting.update(dict.fromkeys(keys, self._whole))
            settled = len(pairs.anchors)
            if pairs.masks and not bisected and len(meeting) == 1:
                bisected = True
                _bisect(self._failing, least.mask, useful)
            self._cost = weight_of(_best(meeting, self._costs), self._costs)
            self._look_up()
            if self._cost == self.bound:
                return
            if pairs.settles(least.mask):
                raise BudgetSpent(UNPROVED)
            pairs.learn_of(least.mask)


def _settled(
    pairs: Anchors, anchors: Sequence[int], candidate: int, costs: Sequence[int], tick: Callable[[], object]
) -> list[int]:
    """Proved keys, as they contain an anchor and hit all masks: one of each of these anchors, and the candidate."""
    keys = []
    for anchor in anchors:
        keys.append(anchor | light_hitting_set([mask for mask in pairs.masks if not mask & anchor], costs))
        tick()
    return [*keys, candidate] if pairs.settles(candidate) else keys


def _bisect(failing: FailingSets, candidate: int, useful: Sequence[int]) -> None:
    """Find how many columns, the most useful first, make a candidate a solution. About log2(columns) profiles."""
    few, enough = 0, len(useful)
    while few < enough:
        middle = (few + enough) // 2
        if failing.test([candidate | sum(1 << place for place in useful[:middle])])[0]:
            enough = middle
        else:
            few = middle + 1


def _in_full(failing: FailingSets, reduced: WithoutTwins | None, weights: Sequence[int]) -> dict[int, ClassProfile]:
    """The sets seen to meet the criterion, in the columns of the table: the lightest of each twins."""
    if reduced is None:
        return failing.meeting
    return {reduced.lightest(mask, weights): profile for mask, profile in failing.meeting.items()}


def _best(meeting: Iterable[int], costs: Sequence[int]) -> int:
    return min(meeting, key=lambda mask: weight_of(mask, costs))


def _result(
    criterion: Criterion,
    meeting: Mapping[int, ClassProfile],
    costs: Sequence[int],
    bound: int,
    failing: tuple[int, ...],
    stopped: Stopped | StatementError | None = None,
) -> SearchResult:
    """The best set seen, as a result; it need not be minimal if the search was stopped."""
    if not meeting:
        return SearchResult(criterion, ALGORITHM, (), False, 0, stopped, lower_bound=bound, failing=failing)
    best = _best(meeting, costs)
    cost = weight_of(best, costs)
    return SearchResult(
        criterion,
        ALGORITHM,
        (Found(best, meeting[best]),),
        False,
        0,
        stopped,
        minimal=stopped is None,
        cost=cost,
        lower_bound=bound,
        failing=failing,
    )
