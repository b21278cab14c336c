"""A profiler that knows random pairs of rows only, by the columns in which they differ. Asks nothing of an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from qidsql.measures import ClassProfile


@dataclass(frozen=True, slots=True)
class PairProfile(ClassProfile):
    """What a column set does to sampled pairs: `colliding_pairs` of `pairs` are left together.

    Pairs know nothing of classes: the other counts are 0, and only `Key` and `Separation` can be tested on it.
    """

    pairs: int = 0

    @property
    def separation_ratio(self) -> Fraction:
        return 1 - Fraction(self.colliding_pairs, self.pairs) if self.pairs else Fraction(1)

    @property
    def divides(self) -> bool:
        return self.colliding_pairs < self.pairs

    @property
    def undivided(self) -> "PairProfile":
        return replace(self, colliding_pairs=self.pairs)

    @property
    def distinct_ratio(self) -> Fraction:
        raise ValueError("a sample of pairs does not know the distinct ratio")

    @property
    def share_at_risk(self) -> Fraction:
        raise ValueError("a sample of pairs does not know rows at risk")


class PairSample:
    """Column sets in, separated pairs out: {mask of differing columns: number of pairs} is all it holds.

    This is the set cover instance of Motwani & Xu, 2.3: a pair is an element, a column the set of pairs it separates.
    """

    def __init__(self, masks: Mapping[int, int], columns: int) -> None:
        self.columns = columns
        self._masks = list(masks.items())
        self._pairs = sum(masks.values())

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """A PairProfile for each column set. Costs a look at each different mask, no statement."""
        return [self._profile(mask) for mask in masks]

    def _profile(self, mask: int) -> PairProfile:
        together = sum(count for differing, count in self._masks if not differing & mask)
        return PairProfile(0, 0, 0, 0, 0, 0, 0, 0, together, pairs=self._pairs)
