"""Roots of functions of one variable by bisection: slow, but certain to converge."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

Function: TypeAlias = Callable[[float], float]

STEPS = 200


def root(function: Function, low: float, high: float) -> float:
    """A root between two ends at which the function has different signs.

    Converged when no float is left between the ends, or after 200 halvings.
    """
    rising = function(high) > 0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if (function(middle) > 0) is rising else (middle, high)
    return (low + high) / 2


def sign_changes(function: Callable[[float], float | None], places: Sequence[float]) -> Iterator[tuple[float, float]]:
    """The pairs of successive places between which the function changes its sign; None: it has no value there."""
    values = [(place, function(place)) for place in places]
    for (one, before), (other, after) in pairwise(values):
        if before is not None and after is not None and (before > 0) is not (after > 0):
            yield one, other
