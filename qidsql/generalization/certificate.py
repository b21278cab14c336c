"""What proves that no choice of levels costs less: unsafe nodes, at or below which every cheaper node lies.

A node below an unsafe one is unsafe, as coarser levels only merge classes. Whoever measures these nodes again, and the
cheaper ones that none of them covers, needs nothing of the search that found them.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from qidsql.generalization.levels import EQUAL, Levels
from qidsql.generalization.measures import Measure, Shape


class CheaperNodes:
    """The nodes whose levels cost less than `cost`, before any row is left out."""

    def __init__(self, shape: Shape, measure: Measure, cost: Fraction) -> None:
        import numpy as np

        self._dimensions, shares = shape.dimensions, shape.shares(measure)
        costs = shape.sum_of(shares)
        self._cheaper = costs < float(cost) - EQUAL
        for number in np.flatnonzero(np.abs(costs - float(cost)) <= EQUAL):  # as floats can tell
            node = self._node(number)
            exact = sum((shares[place][level] for place, level in enumerate(node)), Fraction(0))
            self._cheaper[node] = exact < cost

    def _node(self, number: Any) -> Levels:
        import numpy as np

        return tuple(int(level) for level in np.unravel_index(int(number), self._dimensions))

    def needed(self, unsafe: Iterable[Levels]) -> list[Levels]:
        """Of these nodes those without which some cheaper node would be covered by none."""
        import numpy as np

        often = np.zeros(self._dimensions, dtype=np.int32)
        nodes = sorted(unsafe)
        for node in nodes:
            often[_below(node)] += 1
        found = []
        for node in nodes:
            below = _below(node)
            if (self._cheaper[below] & (often[below] == 1)).any():
                found.append(node)
            else:
                often[below] -= 1
        return found

    def uncovered(self, unsafe: Iterable[Levels], most: int) -> list[Levels]:
        """The cheaper nodes at or below none of these; of more than `most` so many and one."""
        import numpy as np

        left = self._cheaper.copy()
        for node in unsafe:
            left[_below(node)] = False
        return [self._node(number) for number in np.flatnonzero(left)[: most + 1]]


def _below(node: Levels) -> tuple[slice, ...]:
    return tuple(slice(0, level + 1) for level in node)
