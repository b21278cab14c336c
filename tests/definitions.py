"""The definitions, written again from the papers, for tests to compare with.

Slow and plain on purpose: every row is held against every other row. Nothing here may use how qidsql computes;
`ClassProfile` only holds the numbers.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import combinations

from qidsql.measures.profiles import ClassProfile, ClassSizes

Values = Sequence[Hashable]


def projected(rows: Sequence[Values], places: Collection[int]) -> list[Values]:
    """The rows on some of their columns."""
    return [tuple(row[place] for place in sorted(places)) for row in rows]


def profile_of(rows: Sequence[Values], k: int) -> ClassProfile:
    """The class profile of rows, all columns taken together."""
    crowds = [sum(other == row for other in rows) for row in rows]  # of each row: the rows that agree with it
    return ClassProfile(
        rows=len(rows),
        classes=len(set(rows)),
        smallest=min(crowds, default=0),
        largest=max(crowds, default=0),
        k=k,
        classes_at_risk=len({row for row, crowd in zip(rows, crowds, strict=True) if crowd < k}),
        rows_at_risk=sum(crowd < k for crowd in crowds),
        unique_rows=sum(crowd == 1 for crowd in crowds),
        colliding_pairs=sum(crowd - 1 for crowd in crowds),
    )


def matching_profile_of(rows: Sequence[Values], k: int) -> ClassProfile:
    """The profile of rows where a None on either side matches anything [sdcMicro's frequency count]."""
    crowds = frequencies(rows)
    return ClassProfile(
        rows=len(rows),
        classes=0,
        smallest=min(crowds, default=0),
        largest=max(crowds, default=0),
        k=k,
        classes_at_risk=0,
        rows_at_risk=sum(crowd < k for crowd in crowds),
        unique_rows=sum(crowd == 1 for crowd in crowds),
        colliding_pairs=sum(crowd - 1 for crowd in crowds),
        wildcard=True,
    )


def frequencies(rows: Sequence[Values]) -> list[int]:
    """Of each row, how many rows match it, itself included, where a None matches anything."""

    def match(one: Values, other: Values) -> bool:
        return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))

    return [sum(match(row, other) for other in rows) for row in rows]


def sizes_of(rows: Sequence[Values]) -> ClassSizes:
    """How many classes, and how many rows, there are of each class size."""
    crowd = {row: sum(other == row for other in rows) for row in rows}
    sizes = set(crowd.values())
    return ClassSizes(
        classes={size: sum(each == size for each in crowd.values()) for size in sizes},
        rows={size: sum(crowd[row] == size for row in rows) for size in sizes},
    )


def entity_profile_of(rows: Sequence[Values], entities: Sequence[Hashable], k: int) -> ClassProfile:
    """The class profile that counts distinct entities; `entities` tells whose each row is, and None is an entity."""
    members = _members(rows, entities)
    worst = {e: min(len(m) for m in members.values() if e in m) for e in set(entities)}
    return ClassProfile(
        rows=len(worst),
        classes=len(members),
        smallest=min((len(m) for m in members.values()), default=0),
        largest=max((len(m) for m in members.values()), default=0),
        k=k,
        classes_at_risk=sum(len(m) < k for m in members.values()),
        rows_at_risk=sum(size < k for size in worst.values()),
        unique_rows=sum(size == 1 for size in worst.values()),
        colliding_pairs=sum(one != other for m in members.values() for one in m for other in m),
        entities=True,
    )


def entity_sizes_of(rows: Sequence[Values], entities: Sequence[Hashable]) -> ClassSizes:
    """How many classes hold so many entities, and how many entities have a smallest class of that size."""
    members = _members(rows, entities)
    worst = {e: min(len(m) for m in members.values() if e in m) for e in set(entities)}
    return ClassSizes(
        classes={size: sum(len(m) == size for m in members.values()) for size in {len(m) for m in members.values()}},
        rows={size: sum(w == size for w in worst.values()) for size in set(worst.values())},
        entities=True,
    )


def subsets(columns: int) -> Iterator[tuple[int, ...]]:
    """Every non-empty set of columns, smaller ones first."""
    for size in range(1, columns + 1):
        yield from combinations(range(columns), size)


def mask_of(places: Collection[int]) -> int:
    return sum(1 << place for place in places)


def _members(rows: Sequence[Values], entities: Sequence[Hashable]) -> dict[Values, set[Hashable]]:
    """The entities in each class."""
    return {row: {e for other, e in zip(rows, entities, strict=True) if other == row} for row in rows}
