"""One column set of least weight that meets a criterion, with a proof, by implicit hitting sets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import accumulate, islice
from operator import or_

from qidsql.core.tables import positions, weight_of
from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.anchors import Anchors
from qidsql.search.failing_sets import FailingSets
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.minimum_hitting_set import light_hitting_set, minimum_hitting_set
from qidsql.search.result import ENDINGS, Found, SearchResult, stopped_by
from qidsql.search.row_pairs import RowPairs
from qidsql.search.twins import WithoutTwins

ALGORITHM = "implicit-hitting-set"
UNPROVED = "the solver could not prove its smallest hitting set"
LEAST = 16  # hitting sets tested in one round
GROWING = 8  # one failing set grows at the same time for so many of them
TRIMMED = 8  # the lightest solutions, which are tested without each of their columns
LOOKED_AT = 20  # hitting sets enumerated for one that is tested


def minimum(
    profiler: Profiler,
    criterion: Criterion,
    row_pairs: RowPairs | None = None,
    weights: Sequence[int] | None = None,
    breadth: int = 0,
) -> SearchResult:
    """One non-empty column set of least weight that meets the criterion; none if all columns together do not.

    Every solution hits every certificate: the difference mask of a pair of rows, for keys and with `row_pairs`; else
    the complement of a failing set. A least hitting set of the known certificates is tested. If it meets the criterion,
    no set can cost less; if not, it yields certificates that it does not hit. The weight of every candidate is a lower
    bound from then on, and the search also ends when a set seen on the way costs no more. For keys the first anchor and
    a hitting set of its masks give a first solution, without a further statement, or, if that anchor has too many
    pairs, the candidate and as many more columns as needed. Needs 3 to 50 statements for a key.

    Other criteria need a batch of profiles a round: of up to `breadth` (at least 16) hitting sets that are lighter than
    the best solution, of failing sets that grow, and of the best solutions without each of their columns. Before that
    the most useful column is tested, the two most useful, and so on. 2 to 20 rounds: the broader, the fewer, with about
    as many profiles.

    Twins, columns that determine each other, are searched as the lightest of them, constant columns not at all. If
    stopped, it returns the best set seen, if any, and the proved lower bound. Weights are positive integers, one per
    column (default: 1 each).

    Raises ValueError for invalid weights. [Motwani & Xu, 2: minimum key; Karp 2010: the method]
    """
    weights = [1] * profiler.columns if weights is None else list(weights)
    if len(weights) != profiler.columns or min(weights, default=1) < 1:
        raise ValueError(f"expected {profiler.columns} positive weights, got {weights}")
    breadth = max(LEAST, breadth)
    failing, reduced = FailingSets(profiler, criterion), None
    everything = (1 << profiler.columns) - 1
    certificates: Sequence[int] = ()
    bound = 0

    def tick() -> None:
        profiler.profiles([])  # raises Stopped when the time is up

    try:
        if not failing.test([everything])[0]:
            return SearchResult(criterion, ALGORITHM, (), True, profiler.columns)
        whole = failing.meeting[everything]
        searched = WithoutTwins(profiler, criterion, failing.meeting)
        costs = [weight_of(searched.lightest(1 << place, weights), weights) for place in range(searched.columns)]
        within = FailingSets(searched, criterion, at_once=True)
        within.meeting[(1 << searched.columns) - 1] = whole  # the columns left out change no class
        failing, reduced = within, searched
        singles = reduced.profiles([1 << place for place in range(reduced.columns)])
        useful = sorted(range(reduced.columns), key=lambda place: (costs[place], singles[place].colliding_pairs))
        pairs, bisected = None, False
        if criterion.pairs_decide and row_pairs is not None and whole.rows > 1:
            pairs = Anchors(reduced, reduced.row_pairs(row_pairs), whole.rows)
        else:
            failing.learn(reduced.known())
            failing.start([0] * -(-breadth // GROWING))
            failing.advance(list(accumulate((1 << place for place in useful), or_)))
        while True:
            certificates = pairs.masks if pairs else failing.complements
            least = minimum_hitting_set(certificates, costs, tick=tick, minimal=True, at_least=bound)
            bound = max(bound, least.lower_bound)
            if least.stopped is not None:
                raise least.stopped
            if pairs:  # every row is its own class
                failing.meeting.update(dict.fromkeys(_settled(pairs, least.mask, costs, tick), whole))
                if pairs.masks and not bisected and len(failing.meeting) == 1:
                    bisected = True
                    _bisect(failing, least.mask, useful)
            if weight_of(_best(failing.meeting, costs), costs) == bound:
                return _result(
                    criterion, _in_full(failing, reduced, weights), weights, bound, reduced.failing(certificates)
                )
            if pairs:
                if pairs.settles(least.mask):
                    raise BudgetSpent(UNPROVED)
                pairs.learn_of(least.mask)
            elif failing.inferred(least.mask):
                raise BudgetSpent(UNPROVED)
            else:
                _round(failing, certificates, costs, least.mask, breadth, tick)
    except ENDINGS as ending:
        if isinstance(ending, StatementError) and not failing.meeting:
            raise
        proof = reduced.failing(certificates) if reduced else ()
        return _result(criterion, _in_full(failing, reduced, weights), weights, bound, proof, stopped_by(ending))


def _round(
    failing: FailingSets,
    certificates: Sequence[int],
    costs: Sequence[int],
    least: int,
    breadth: int,
    tick: Callable[[], object],
) -> None:
    """Test candidates, growing sets and smaller solutions in one batch; candidates that fail grow from then on."""
    lightest = nsmallest(TRIMMED, failing.meeting, key=lambda mask: weight_of(mask, costs))
    candidates = [least, *_lighter(failing, certificates, costs, lightest[0], breadth, tick)]
    smaller = [mask ^ 1 << place for mask in lightest for place in positions(mask) if mask != 1 << place]
    met = failing.advance([*dict.fromkeys(candidates), *smaller])
    failed = [mask for mask, meets in zip(candidates, met, strict=False) if not meets]
    failing.start(failed[: max(0, -(-breadth // GROWING) - len(failing.growing))])


def _lighter(
    failing: FailingSets,
    certificates: Sequence[int],
    costs: Sequence[int],
    best: int,
    most: int,
    tick: Callable[[], object],
) -> list[int]:
    """Minimal hitting sets that are lighter than the best solution, those of the fewest columns first."""
    below, found = weight_of(best, costs), dict[int, None]()
    for size in range(1, len(costs) + 1):
        sets = MinimalHittingSets(certificates, size, tick=tick, minimal=True)
        for mask in islice(sets, LOOKED_AT * most):
            if weight_of(mask, costs) < below and failing.inferred(mask) is None:
                found[mask] = None
            if len(found) == most:
                return list(found)
        if not sets.cut or size * min(costs) >= below:
            break
    return list(found)


def _settled(pairs: Anchors, candidate: int, costs: Sequence[int], tick: Callable[[], object]) -> list[int]:
    """Proved keys, as they contain an anchor and hit all masks: one of each anchor, and the candidate."""
    keys = []
    for anchor in pairs.anchors:
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
