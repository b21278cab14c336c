"""The cheapest levels that reach k: a search of the lattice of level vectors, proved.

A node is a level for each column. Coarser levels only merge classes, so the rows in classes below k only get fewer: a
node below an unsafe one is unsafe. (By a rule that joined rows can break, only as far as rows are `sure`.) To prove
that a safe node is the cheapest, every cheaper node has to be asked, or to lie below a node that was asked and is
unsafe. The search asks nodes in batches, those first that promise to prove most: a regression of what was asked
predicts which are unsafe. The prediction only orders; what counts was asked.

What a node costs is at least the cost of its levels, which is known; with the rows that it leaves out charged, it costs
more, so safe nodes are asked until no other can be cheaper.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from qidsql.generalization.measures import Measure, Shape

if TYPE_CHECKING:
    import numpy as np

Levels: TypeAlias = tuple[int, ...]

MOST_NODES = 2_000_000  # nodes of a lattice, of which one can be proved the cheapest
# nodes; a larger lattice is descended first, and batches are small: choosing takes longer than asking
NODES_OF_DESCENT = 200_000
BATCH = 48
PROMISING = 3  # nodes of a batch that may be the cheapest
KNOWN_SAFE = 32  # nodes of a batch that are safe for certain, but not yet priced
TIES = 64  # nodes that cost the same, at most, among which the best one is chosen
EQUAL = 1e-9  # costs that differ by less are compared exactly


@dataclass(frozen=True)
class PricedNode:
    """A safe node: its levels, the rows below k, which are left out, and its exact cost by the measure."""

    levels: Levels
    below: int
    cost: Fraction

    @property
    def rank(self) -> tuple[Fraction, int, Levels]:
        return self.cost, self.below, self.levels


@dataclass
class FoundLevels:
    """What a search found: the best safe node, a bound that no node undercuts, and what was asked."""

    best: PricedNode | None = None
    lower_bound: Fraction | None = None
    proved: bool = False
    asked: dict[Levels, int] = field(default_factory=dict)  # the rows below k; of an unsafe node perhaps more
    likely: dict[Levels, int] = field(default_factory=dict)  # how many it has
    sure: dict[Levels, int] = field(default_factory=dict)  # how many each finer node has as well
    rounds: int = 0


@dataclass(frozen=True)
class Below:
    """The rows in classes below k: so many were `counted`, of all or of some classes; `likely` so many there are; so
    many are `sure` at each finer node, too."""

    counted: int
    likely: int
    sure: int


AskBelow: TypeAlias = Callable[[Sequence[Levels], int], list[Below]]
Guess: TypeAlias = Callable[[], Sequence[Levels]]
Price: TypeAlias = Callable[[Sequence[Levels], Sequence[int]], list[Fraction]]


class Search:
    """What searches share. `below` asks the rows in classes below k of nodes, `price` the exact cost of safe ones with
    these rows left out; at most `limit` rows may be. What is known stays in `found`, if the work stops."""

    def __init__(self, shape: Shape, limit: int, below: AskBelow, price: Price) -> None:
        self._shape, self._limit, self._below, self._price = shape, limit, below, price
        self.found = FoundLevels()

    def run(self, deadline: float | None = None) -> FoundLevels:
        """Search until the end, or until the time is up. Raises as the functions that ask."""
        batch = self._first()
        while batch and (deadline is None or time.monotonic() < deadline or not self.found.rounds):
            self.found.rounds += 1
            self._ask(batch)
            batch = self._next()
        if not batch:
            self._end()
        return self.found

    def begin_at(self, node: Levels) -> None:
        """Start with a node that no row is below k at, which needs no statement: there is a plan at any moment."""
        self.found.asked[node] = self.found.likely[node] = self.found.sure[node] = 0
        self._priced([node])

    def _first(self) -> list[Levels]:
        raise NotImplementedError

    def _next(self) -> list[Levels]:
        raise NotImplementedError

    def _end(self) -> None:
        """Say what is proved."""

    def _ask(self, batch: Sequence[Levels]) -> list[Levels]:
        """Ask nodes; returns those that are safe."""
        found = self.found
        new = [node for node in batch if node not in found.asked]
        if new:
            for node, below in zip(new, self._below(new, self._limit), strict=True):
                found.asked[node], found.likely[node], found.sure[node] = below.counted, below.likely, below.sure
        return [node for node in batch if found.asked[node] <= self._limit]

    def _priced(self, safe: Sequence[Levels]) -> list[PricedNode]:
        """The costs of safe nodes; the best one is kept."""
        below = [self.found.asked[node] for node in safe]
        priced = [PricedNode(*each) for each in zip(safe, below, self._price(safe, below), strict=True)]
        self.found.best = min(filter(None, (self.found.best, *priced)), key=lambda each: each.rank, default=None)
        return priced


class Descent(Search):
    """For lattices too large to prove anything: from the coarsest node down, each time to the cheapest safe one of the
    nodes with one column a level finer, until none is safe."""

    def _first(self) -> list[Levels]:
        return [self._shape.heights]

    def _ask(self, batch: Sequence[Levels]) -> list[Levels]:
        safe = super()._ask(batch)
        self._priced(safe)
        return safe

    def _next(self) -> list[Levels]:
        best = self.found.best
        if best is None:
            return []
        at = best.levels
        finer = [(*at[:place], at[place] - 1, *at[place + 1 :]) for place in range(len(at)) if at[place]]
        return finer if any(node not in self.found.asked for node in finer) else []


def search_of(shape: Shape, measure: Measure, limit: int, below: AskBelow, price: Price, guess: Guess = list) -> Search:
    """The search for a lattice of this size. `guess`: the nodes to ask first, instead of random ones."""
    if shape.nodes > MOST_NODES:
        return Descent(shape, limit, below, price)
    return LevelSearch(shape, measure, limit, below, price, guess)


class LevelSearch(Search):
    """The search that proves. Keeps an array with a cell for each node."""

    def __init__(
        self, shape: Shape, measure: Measure, limit: int, below: AskBelow, price: Price, guess: Guess = list
    ) -> None:
        import numpy as np

        self._guess = guess
        super().__init__(shape, limit, below, price)
        self._dimensions = shape.dimensions
        self._shares = shape.shares(measure)
        self._bound = shape.sum_of(self._shares)
        self._unsafe = np.zeros(self._dimensions, dtype=bool)
        self._safe = np.zeros(self._dimensions, dtype=bool)
        self._done = np.zeros(self._dimensions, dtype=bool)  # asked; if safe, priced
        self._random = np.random.default_rng(1)

    def begin_at(self, node: Levels) -> None:
        super().begin_at(node)
        self._mark([node])
        self._done[node] = True

    def run(self, deadline: float | None = None) -> FoundLevels:
        if self._shape.nodes > NODES_OF_DESCENT:  # a good node first: the proof takes longer than some have time for
            descent = Descent(self._shape, self._limit, self._below, self._price)
            descent.found = self.found
            descent.run(deadline)
            self._mark(list(self.found.asked))
            for node in self.found.asked:
                self._done[node] = True
        return super().run(deadline)

    def _end(self) -> None:
        self.found.proved = True
        if self.found.best is not None:
            self.found.lower_bound = self.found.best.cost

    def _first(self) -> list[Levels]:
        """Those of the guess, or random nodes, or all of a small lattice, and the coarsest."""
        size = self._shape.nodes
        if size > BATCH and (guessed := self._guess()):
            return [self._shape.heights, *guessed]
        chosen = range(size) if size <= BATCH else self._random.choice(size, BATCH - 1, replace=False)
        return list(dict.fromkeys([self._shape.heights, *map(self._node, chosen)]))

    def _node(self, number: Any) -> Levels:
        import numpy as np

        return tuple(int(level) for level in np.unravel_index(int(number), self._dimensions))

    def _ask(self, batch: Sequence[Levels]) -> list[Levels]:
        """Ask nodes, and price the safe ones that may be the cheapest."""
        safe = super()._ask(batch)
        self._mark(batch)
        best = float(self.found.best.cost) if self.found.best else float("inf")
        for each in self._priced([node for node in safe if self._bound[node] <= best + EQUAL]):
            self._done[each.levels] = True
        return safe

    def _mark(self, asked: Sequence[Levels]) -> None:
        """Mark what follows for other nodes."""
        for node in asked:
            if self.found.sure[node] > self._limit:
                self._unsafe[tuple(slice(0, level + 1) for level in node)] = True
            elif self.found.asked[node] > self._limit:
                self._done[node] = True
            else:  # coarser ones, too, or likely so: each that may be the cheapest is asked
                self._safe[tuple(slice(level, None) for level in node)] = True

    def _next(self) -> list[Levels]:
        """The next nodes to ask; none if nothing cheaper than the best node can be safe."""
        import numpy as np

        best = float(self.found.best.cost) if self.found.best else float("inf")
        if self.found.best is None and self._unsafe[self._shape.heights]:
            return []
        undecided = ~self._unsafe & ~self._done
        opened = undecided & (self._bound < best - EQUAL)
        if not opened.any():
            ties = np.flatnonzero(undecided & (self._bound <= best + EQUAL))
            return [self._node(each) for each in ties] if 0 < len(ties) <= TIES else []
        least = np.flatnonzero(opened)[np.argmin(self._bound[opened])]
        self.found.lower_bound = self._exact(self._node(least))
        priceless = np.flatnonzero(opened & self._safe)
        cheap = priceless[np.argsort(self._bound.flat[priceless], kind="stable")][:KNOWN_SAFE]
        chosen = [self._node(each) for each in cheap]
        opened &= ~self._safe
        if opened.any():
            chosen += self._promising(opened)
        return list(dict.fromkeys(chosen))

    def _exact(self, node: Levels) -> Fraction:
        return sum((self._shares[place][level] for place, level in enumerate(node)), Fraction(0))

    def _promising(self, opened: "np.ndarray[Any, Any]") -> list[Levels]:
        """Nodes that are likely safe and cheap; then those that, being unsafe, prove most open ones unsafe."""
        import numpy as np

        unsafe = self._likelihood()
        likely_safe = np.flatnonzero(opened & (unsafe < 0.5))
        cheapest = likely_safe[np.argsort(self._bound.flat[likely_safe], kind="stable")][:PROMISING]
        chosen = [self._node(each) for each in cheapest]
        unknown = ~(self._unsafe | self._safe | self._done)
        below = opened.astype(np.int32)
        for axis in range(below.ndim):
            np.cumsum(below, axis=axis, out=below)
        weight = np.where(unknown, unsafe, 0.0).astype(np.float32)
        size = BATCH if self._shape.nodes <= NODES_OF_DESCENT else BATCH // 3
        while len(chosen) < size:
            node = self._node(np.argmax(weight * below))
            if not below[node] or not weight[node]:
                break
            chosen.append(node)
            below -= self._capped(below, node)
        return chosen or [self._node(np.flatnonzero(opened)[0])]

    def _capped(self, below: "np.ndarray[Any, Any]", node: Levels) -> "np.ndarray[Any, Any]":
        """Of each node, the figure of the greatest node that lies below it and below this one."""
        import numpy as np

        found = below[tuple(slice(0, level + 1) for level in node)]
        for axis in reversed(range(found.ndim)):
            if node[axis] + 1 < self._dimensions[axis]:
                found = found.take(np.minimum(np.arange(self._dimensions[axis]), node[axis]), axis=axis)
        return found

    def _likelihood(self) -> "np.ndarray[Any, Any]":
        """How likely each node is unsafe, by a regression of the logarithm of the rows below k on the levels."""
        import numpy as np

        nodes = np.array(list(self.found.asked))
        known = np.log(np.array(list(self.found.likely.values())) + 0.5)
        limit = np.log(self._limit + 0.5)
        starts = np.cumsum([0, *self._dimensions[:-1]])
        design = np.zeros((len(nodes), sum(self._dimensions)))
        for place, start in enumerate(starts):
            design[np.arange(len(nodes)), start + nodes[:, place]] = 1
        near = 1 / (1 + np.abs(known - limit))
        weighted = design * near[:, None]
        ridge = weighted.T @ design + 0.05 * np.eye(design.shape[1])
        mean = float((near * known).sum() / near.sum())
        effects = np.linalg.solve(ridge, weighted.T @ (known - mean))
        spread = max(0.3, float(np.sqrt((near * (known - mean - design @ effects) ** 2).sum() / near.sum())))
        own = [effects[start : start + levels] for start, levels in zip(starts, self._dimensions, strict=True)]
        odds = (self._shape.sum_of([each.tolist() for each in own]) + mean - limit) / spread
        likely: np.ndarray[Any, Any] = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        return likely
