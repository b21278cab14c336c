"""One column set of least weight that meets a criterion, with a proof, by implicit hitting sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import accumulate, islice
from operator import or_

from qidsql.core.tables import positions, weight_of
from qidsql.errors import BudgetSpent, StatementError, Stopped
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.borders import FailingSets
from qidsql.search.difference_masks import Anchors, RowPairs
from qidsql.search.hitting_sets import LeastHittingSets, MinimalHittingSets, light_hitting_set, transposed
from qidsql.search.redundant_columns import WithoutTwins
from qidsql.search.result import ENDINGS, Found, OnBounds, SearchResult, ignore_bounds, stopped_by

# One lightest set that meets a monotone criterion, by implicit hitting sets: many sets are tested in each round.


UNPROVED = "the solver could not prove its smallest hitting set"
LEAST_BREADTH = 16  # hitting sets tested in one round
BREADTH_PER_GROWING_SET = 8  # one failing set grows at the same time for so many of them
TRIMMED = 2  # the lightest solutions, which are tested without each of their columns
LOOKED_AT = 20  # hitting sets enumerated for one that is tested


class Lightest:
    """Searches with the facts in `failing`, made with `at_once`; the set of all columns is known to meet the criterion.

    Each set that meets it hits the complement of every failing set, the certificates. A round tests, in one batch, a
    lightest hitting set of these, up to `breadth` (at least 16) others that are lighter than the best solution, failing
    sets that grow, and the best solutions without each of their columns. The weight of a lightest hitting set is a
    lower bound, `bound`; the search ends when the best solution weighs no more. 2 to 20 rounds: the broader, the fewer,
    with about as many profiles. [Karp 2010]
    """

    def __init__(
        self,
        failing: FailingSets,
        costs: Sequence[int],
        breadth: int,
        tick: Callable[[], object],
        on_bounds: OnBounds = ignore_bounds,
    ) -> None:
        self.bound = 0
        self._on_bounds = on_bounds
        self.certificates: Sequence[int] = ()
        self._failing, self._costs, self._tick = failing, costs, tick
        self._hitting_sets = LeastHittingSets(costs, tick=tick)
        self._breadth = max(LEAST_BREADTH, breadth)
        self._growing = -(-self._breadth // BREADTH_PER_GROWING_SET)

    @property
    def best(self) -> int:
        """The lightest set known to meet the criterion."""
        return min(self._failing.meeting, key=self._cost)

    def run(self, first: Sequence[int]) -> None:
        """Find a lightest set; `first` are tested before all others. Raises Stopped: `best` and `bound` are valid."""
        self._failing.start([0] * self._growing)
        self._failing.advance(first)
        while True:
            self.certificates = self._failing.complements
            least = self._hitting_sets.least(self.certificates, minimal=True)
            self.bound = least.lower_bound
            self._on_bounds(self._cost(self.best), self.bound)
            if least.stopped is not None:
                raise least.stopped
            if self._cost(self.best) == self.bound:
                return
            if self._failing.inferred(least.mask):
                raise BudgetSpent(UNPROVED)
            self._round(least.mask)

    def _round(self, least: int) -> None:
        lightest = nsmallest(TRIMMED, self._failing.meeting, key=self._cost)
        candidates = list(dict.fromkeys([least, *self._lighter(lightest[0])]))
        smaller = [mask ^ 1 << place for mask in lightest for place in positions(mask) if mask != 1 << place]
        met = self._failing.advance([*candidates, *smaller])
        failed = [mask for mask, meets in zip(candidates, met, strict=False) if not meets]
        self._failing.start(failed[: max(0, self._growing - len(self._failing.growing))])

    def _lighter(self, best: int) -> list[int]:
        """Minimal hitting sets that are lighter than the best solution, those of the fewest columns first."""
        below, found = self._cost(best), dict[int, None]()
        for size in range(1, len(self._costs) + 1):
            sets = MinimalHittingSets(self.certificates, size, tick=self._tick, minimal=True)
            for mask in islice(sets, LOOKED_AT * self._breadth):
                if self._cost(mask) < below and self._failing.inferred(mask) is None:
                    found[mask] = None
                if len(found) == self._breadth:
                    return list(found)
            if not sets.cut or size * min(self._costs) >= below:
                break
        return list(found)

    def _cost(self, mask: int) -> int:
        return weight_of(mask, self._costs)


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

    >>> from qidsql.measures.criteria import Distinct
    >>> result = minimum(people, Distinct(Fraction(3, 4)))
    >>> [found.mask for found in result.found], result.optimal
    ([6], True)
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
    """A lightest key, with pairs of rows as certificates: see `Anchors`."""

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


# Profiles of sets that later steps of a search may need, in the round of those that it needs now.


class Foresight:
    """A profiler that asks for up to `breadth` further sets with those that are needed, and keeps their profiles.

    A guess costs profiles and never a round: further sets are asked for only with a set that is not known.
    """

    def __init__(self, profiler: Profiler, breadth: int) -> None:
        self.columns = profiler.columns
        self._profiler, self._breadth = profiler, breadth
        self._known: dict[int, ClassProfile] = {}

    def profiles(self, masks: Sequence[int], further: Iterable[int] = ()) -> list[ClassProfile]:
        """The profiles of the sets. At most one batch. Raises as the profiler.

        If the budget does not allow the guesses too, the sets alone are asked for.
        """
        needed = {mask: None for mask in masks if mask not in self._known}
        if needed and self._breadth:
            guesses = (mask for mask in islice(further, self._breadth) if mask not in self._known)
            with suppress(BudgetSpent):
                self._ask(list(dict.fromkeys((*needed, *guesses))))
        self._ask([mask for mask in needed if mask not in self._known])
        return [self._known[mask] for mask in masks]

    def _ask(self, masks: Sequence[int]) -> None:
        self._known.update(zip(masks, self._profiler.profiles(masks), strict=True))


def later_steps(chosen: int, guessed: Sequence[int], steps: int | None = None) -> Iterator[int]:
    """The sets that a search compares which adds one column after the other, if it adds them in this order.

    Those with one column more than `chosen` are not among them: they are the present step's. `steps`: later ones.

    >>> [bin(mask) for mask in later_steps(0b001, [1, 2, 3], steps=1)]
    ['0b111', '0b1011']
    """
    for number, place in enumerate(guessed[:steps]):
        chosen |= 1 << place
        yield from (chosen | 1 << later for later in guessed[number + 1 :])


# Witness rows: rows of small classes that prove of many column sets that they have a class below k.


SETS_BEFORE_WITNESSES = 64  # sets measured before the witnesses are queried: a search of so few does not gain from them


class Witnesses:
    """Rows whose class sizes are known in every column set. They prove a class below k, and never the opposite.

    `query` returns them: for each row {mask: rows that differ from it in exactly these columns}, the rows that differ
    in none included. It is called once, after `patience` questions, so that short searches cost no more.
    """

    def __init__(
        self,
        query: Callable[[], Sequence[Mapping[int, int]]],
        columns: int,
        k: int,
        patience: int = SETS_BEFORE_WITNESSES,
    ) -> None:
        self._proved: list[int] = []
        self._query, self._columns, self._k, self._left = query, columns, k, patience
        self._rows: list[_Witness] | None = None

    @property
    def sets(self) -> int:
        """The number of sets proved, without those that contain another one."""
        return len(self._proved)

    @property
    def rows(self) -> int:
        """The number of witness rows queried so far."""
        return len(self._rows or ())

    def prove(self, mask: int) -> bool:
        """True if some witness is in a class of fewer than k rows in this column set. Raises as `query`."""
        if self._left:
            self._left -= 1
            return False
        if self._rows is None:
            self._rows = [_witness(differing, self._columns) for differing in self._query()]
        if any(proved & ~mask == 0 for proved in self._proved):
            return True
        proves = any(witness.below(self._k, mask) for witness in self._rows)
        if proves:
            self._proved.append(mask)
        return proves


@dataclass(frozen=True, slots=True)
class _Witness:
    """A row, with the numbers of rows that differ from it in the same columns: `differing[c]` has bit i set if those of
    `rows[i]` differ in column c."""

    rows: Sequence[int]
    differing: Sequence[int]

    def below(self, k: int, mask: int) -> bool:
        """Whether its class in the column set has fewer than k rows. Adds up at most k numbers."""
        apart = 0
        for place in positions(mask):
            apart |= self.differing[place]
        together, size = ~apart & (1 << len(self.rows)) - 1, 0
        while together and size < k:
            lowest = together & -together
            size += self.rows[lowest.bit_length() - 1]
            together ^= lowest
        return size < k


def _witness(differing: Mapping[int, int], columns: int) -> _Witness:
    return _Witness(list(differing.values()), transposed(list(differing), columns))
