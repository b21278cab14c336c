"""A profiler of random pairs of rows, by the columns in which they differ. Sends no statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from qidsql.core.tables import positions
from qidsql.measures.profiles import ClassProfile
from qidsql.search.hitting_sets import transposed


@dataclass(frozen=True, slots=True)
class PairProfile(ClassProfile):
    """The effect of a column set on sampled pairs: `colliding_pairs` of `pairs` agree on it.

    Pairs do not show classes: the other counts are 0, and only `Key` and `Separation` can be tested on it.
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
        raise ValueError("a sample of pairs has no distinct ratio")

    @property
    def share_below_k(self) -> Fraction:
        raise ValueError("a sample of pairs has no rows below k")


class PairSample:
    """Column sets in, separated pairs out. Stores only {mask of differing columns: number of pairs}.

    This is the set cover instance of Motwani & Xu, 2.3: a pair is an element, a column the set of pairs it separates.
    """

    def __init__(self, masks: Mapping[int, int], columns: int) -> None:
        self.columns = columns
        self.masks = masks
        self._pairs = sum(masks.values())
        self._separating = transposed(list(masks), columns)  # by column the masks that contain it, as bits
        # The counts in binary, digit by digit: the masks that have the digit. A sum is then a few bit counts.
        self._digits = transposed(list(masks.values()), max(masks.values(), default=0).bit_length())

    def profiles(self, masks: Sequence[int]) -> list[ClassProfile]:
        """A PairProfile for each column set. Costs a few operations on long integers, no statement."""
        return [self._profile(mask) for mask in masks]

    def _profile(self, mask: int) -> PairProfile:
        together = (1 << len(self.masks)) - 1
        for place in positions(mask):
            together &= ~self._separating[place]
        count = sum((together & digit).bit_count() << place for place, digit in enumerate(self._digits))
        return PairProfile(0, 0, 0, 0, 0, 0, 0, 0, count, pairs=self._pairs)
