"""How far a column set has come towards a criterion: what greedy searches climb, and column weights."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from qidsql.errors import UsageError
from qidsql.measures.profiles import Above, ClassProfile, Criterion, Determines, Distinct, RowsAtRisk, Violates

Level: TypeAlias = tuple[int, int]  # the second number decides between equal first ones


def level(criterion: Criterion, profile: ClassProfile) -> Level:
    """A figure that a further column never lowers: the number the criterion is about.

    Classes for the distinct ratio, separated pairs for keys and the separation ratio [Motwani & Xu, 2.2, 4.1, 4.2], and
    ours: rows at risk, and the smallest class, each helped by the pairs where columns are level.
    """
    if isinstance(criterion, Above):
        return level(criterion.criterion, profile)
    if isinstance(criterion, (Distinct, Determines)):
        return profile.classes, 0
    if isinstance(criterion, RowsAtRisk):
        return profile.rows_at_risk, -profile.colliding_pairs
    if isinstance(criterion, Violates):
        return -profile.smallest, -profile.colliding_pairs
    return -profile.colliding_pairs, 0


def gain(before: Level, after: Level, weight: int) -> tuple[Fraction, Fraction]:
    """What a column of that weight brings, per weight."""
    return Fraction(after[0] - before[0], weight), Fraction(after[1] - before[1], weight)


def column_weights(weights: Sequence[int] | None, columns: int) -> tuple[int, ...]:
    """The weights, 1 each where none are given. Raises UsageError."""
    if weights is None:
        return (1,) * columns
    if len(weights) != columns or any(weight < 1 for weight in weights):
        raise UsageError(f"expected one positive whole weight for each of the {columns} columns, got {list(weights)}")
    return tuple(weights)
