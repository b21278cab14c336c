"""One lightest set that meets a monotone criterion, by implicit hitting sets: many sets are tested in each round."""

from collections.abc import Callable, Sequence
from heapq import nsmallest
from itertools import islice

from qidsql.core.tables import positions, weight_of
from qidsql.errors import BudgetSpent
from qidsql.search.failing_sets import FailingSets
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.minimum_hitting_set import LeastHittingSets
from qidsql.search.result import OnBounds, ignore_bounds

UNPROVED = "the solver could not prove its smallest hitting set"
LEAST = 16  # hitting sets tested in one round
GROWING = 8  # one failing set grows at the same time for so many of them
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
        self._breadth = max(LEAST, breadth)
        self._growing = -(-self._breadth // GROWING)

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
