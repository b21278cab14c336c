"""The columns on which pairs of rows differ, as bit masks: what a search for keys uses besides profiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AgreeingPairs:
    """The pairs of rows that agree on a column set.

    `pairs` counts them, ordered: sum c * (c - 1) over the classes. Each mask is the set of columns on which one of
    them differs; 0 for duplicate rows. `complete`: every pair differs on a superset of one of the masks. There is a
    mask whenever there is a pair.
    """

    pairs: int
    masks: tuple[int, ...]
    complete: bool


class RowPairs(Protocol):
    """Pairs of rows as evidence against keys: a key must contain a column of every mask.

    `agreeing` returns an item for each column set in order; complete if at most `max_pairs` pairs agree, unless those
    have too many masks to transfer. Raises Stopped.
    """

    @property
    def max_pairs(self) -> int: ...

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]: ...
