"""What coarser values and missing rows cost: exact shares, by the measures of the field.

Loss is the share of the detail that is lost: a cell loses (leaves under its label - 1) / (leaves in all - 1), a missing
row all of it; what is kept is also called granularity. Precision counts levels: a cell loses level / height.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


SUPPRESS = "1%"  # of the rows may be left out by default


class Measure(StrEnum):
    """By which the best levels are chosen."""

    LOSS = "loss"  # missing rows charged
    PRECISION = "precision"  # missing rows not charged


@dataclass(frozen=True)
class Shape:
    """The lattice of levels of some columns: their heights, weights, and for each level how many leaves the labels of
    all rows have in sum, less 1 each, of `leaves` of the column."""

    rows: int
    heights: tuple[int, ...]
    weights: tuple[int, ...]
    leaves: tuple[int, ...]
    sums: tuple[tuple[int, ...], ...]  # by column, then level

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(height + 1 for height in self.heights)

    @property
    def nodes(self) -> int:
        found = 1
        for levels in self.dimensions:
            found *= levels
        return found

    def shares(self, measure: Measure) -> list[list[Fraction]]:
        """What each level of each column costs, if no row is missing; in all at most 1."""
        total = sum(self.weights)
        found = []
        for place, height in enumerate(self.heights):
            weight = Fraction(self.weights[place], total)
            if measure is Measure.PRECISION:
                found.append([weight * level / max(height, 1) for level in range(height + 1)])
            else:
                whole = max(self.leaves[place] - 1, 1) * self.rows
                found.append([weight * Fraction(self.sums[place][level], whole) for level in range(height + 1)])
        return found

    def sum_of(self, effects: Sequence[Sequence[Any]]) -> "np.ndarray[Any, Any]":
        """An array with a cell for each node: the sum of an effect for each column's level, in floats."""
        import numpy as np

        total = np.zeros(self.dimensions)
        for place, own in enumerate(effects):
            along = [1] * len(self.heights)
            along[place] = len(own)
            total += np.array([float(each) for each in own]).reshape(along)
        return total

    def loss(self, levels: Sequence[int], missing: int, missing_leaves: Sequence[int]) -> Fraction:
        """The loss at these levels. `missing_leaves`: of the missing rows, as `sums`, by column."""
        lost = Fraction(0)
        for place, level in enumerate(levels):
            kept = self.sums[place][level] - missing_leaves[place]
            lost += self.weights[place] * (Fraction(kept, max(self.leaves[place] - 1, 1)) + missing)
        return lost / (sum(self.weights) * self.rows)

    def precision(self, levels: Sequence[int], missing: int = 0) -> Fraction:
        """The precision at these levels; missing rows are charged as if they were on the highest."""
        shares = self.shares(Measure.PRECISION)
        lost = sum((shares[place][level] for place, level in enumerate(levels)), Fraction(0))
        return (1 - lost) * (self.rows - missing) / self.rows
