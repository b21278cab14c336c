"""Functional dependencies between two columns, by their class profiles."""

from itertools import combinations

from qidsql.measures.profiles import Profiler


def dependencies(profiler: Profiler) -> list[tuple[int, int]]:
    """The pairs of columns whose first determines the second, in all present rows.

    A determines B if and only if adding B splits no class of A: d(A) = d(A, B). Trivial pairs are left out: a key
    determines every column, and every column determines a constant. NULL is one more value.

    Needs m profiles, then one for each pair of the remaining columns. Raises Stopped.
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
