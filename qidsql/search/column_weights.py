"""Column weights: validation, and the gain of a column per weight."""

from collections.abc import Sequence
from fractions import Fraction

from qidsql.errors import UsageError
from qidsql.measures.criteria import Progress


def gain(before: Progress, after: Progress, weight: int) -> tuple[Fraction, Fraction]:
    """The progress that a column of that weight adds, per weight."""
    return Fraction(after[0] - before[0], weight), Fraction(after[1] - before[1], weight)


def checked_weights(weights: Sequence[int] | None, columns: int) -> tuple[int, ...]:
    """The weights, 1 each if none are given. Raises UsageError."""
    if weights is None:
        return (1,) * columns
    if len(weights) != columns or any(weight < 1 for weight in weights):
        raise UsageError(f"expected one positive whole weight for each of the {columns} columns, got {list(weights)}")
    return tuple(weights)
