"""Cells that need not be suppressed after all, since a suppressed cell protects other rows as well.

If every row is suppressed on its own, two rows that differ from all others but match each other except for one cell
both lose that cell. One would suffice: a suppressed cell matches anything, so that the other matches the first. Which
rows may stay whole is a dominating set problem, for which this is a greedy answer without a proof.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A row pattern that loses cells: its number, its rows, and the weight of its cells over all rows."""

    pattern: int
    rows: int
    weight: int


def restorable(patterns: Sequence[Suppressed], protectors: Iterable[tuple[int, int]], k: int) -> list[int]:
    """The patterns that can stay whole at once; each still matches k rows, including its own.

    `protectors` pairs a pattern with one that it matches through its suppressed cells. A pattern that stays suppressed
    is matched by the rows that it was suppressed for, whole or not. Patterns that protect the fewest others come first.
    """
    rows: Mapping[int, int] = {each.pattern: each.rows for each in patterns}
    protects: dict[int, list[int]] = {}
    matching = dict(rows)  # the rows that match each pattern if it is whole
    for protector, protected in protectors:
        protects.setdefault(protector, []).append(protected)
        matching[protected] += rows[protector]
    whole: set[int] = set()
    for each in sorted(patterns, key=lambda each: (len(protects.get(each.pattern, ())), -each.weight, each.pattern)):
        dependent = protects.get(each.pattern, ())
        if matching[each.pattern] < k or any(other in whole and matching[other] - each.rows < k for other in dependent):
            continue
        whole.add(each.pattern)
        for other in dependent:
            matching[other] -= each.rows
    return sorted(whole)
