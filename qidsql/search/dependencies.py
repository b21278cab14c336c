"""Functional dependencies between two columns, by their class profiles."""

from itertools import combinations

from qidsql.measures.profiles import Profiler


def dependencies(profiler: Profiler) -> list[tuple[int, int]]:
    """The pairs of columns of which the first determines the second, in every row that there is.

    A determines B exactly when adding B splits no class of A: d(A) = d(A, B). Left out is what tells nothing: a key
    determines every column, and every column determines a constant. NULL is one more value.

    Asks m profiles, then one for each two columns that are left. Raises Stopped.
    """
    singles = profiler.profiles([1 << column for column in range(profiler.columns)])
    open_ones = [column for column, alone in enumerate(singles) if 1 < alone.classes < alone.rows]
    pairs = list(combinations(open_ones, 2))
    found = []
    for (left, right), both in zip(pairs, profiler.profiles([1 << a | 1 << b for a, b in pairs]), strict=True):
        if both.classes == singles[left].classes:
            found.append((left, right))
        if both.classes == singles[right].classes:
            found.append((right, left))
    return found
