"""What a search for keys sees besides profiles: on which columns pairs of rows differ, as bit masks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Agreeing:
    """What is known of the pairs of rows that agree on a column set.

    `pairs` counts them, ordered: sum c * (c - 1) over the classes. Each mask is the set of columns on which one of
    them differs; 0 where rows are duplicates. `complete`: every pair differs on a superset of one of the masks. There
    is a mask whenever there is a pair.
    """

    pairs: int
    masks: tuple[int, ...]
    complete: bool


class Witnesses(Protocol):
    """Pairs of rows as witnesses against keys: a key must hold a column of every mask.

    `agreeing` answers for each of the column sets in their order; complete where at most `max_pairs` pairs agree,
    unless those have too many masks to hand over. Raises Stopped.
    """

    @property
    def max_pairs(self) -> int: ...

    def agreeing(self, sets: Sequence[int]) -> list[Agreeing]: ...
