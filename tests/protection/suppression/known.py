"""Whom an attacker finds who knows people, by the definitions over all people and all rows."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

from qidsql.protection.suppression.known_people import KnownPeople
from tests.protection.coded import Record


def released(rows: Sequence[Record], masks: Sequence[int]) -> list[Record]:
    return [
        tuple(None if mask >> p & 1 else cell for p, cell in enumerate(row))
        for row, mask in zip(rows, masks, strict=True)
    ]


def fits(shown: Record, person: Record) -> bool:
    """All that the row shows are values of the person."""
    return all(cell is None or cell == own for cell, own in zip(shown, person, strict=True))


def rarest(shown: Sequence[Sequence[object]]) -> list[int]:
    """For each row the fewest rows that show a combination of its visible values [Wilson, 3.3]; many for none."""
    found = []
    for row in shown:
        visible = [place for place, cell in enumerate(row) if cell is not None]
        crowds = [10**9]
        for size in range(1, len(visible) + 1):
            for places in combinations(visible, size):
                crowds.append(sum(all(other[p] == row[p] for p in places) for other in shown))
        found.append(min(crowds))
    return found


def of_copy(people: Sequence[Record], shown: Sequence[Record], k: int) -> KnownPeople:
    """What can be counted without knowing whose row is whose; admissible rows only if the rows can be the people's."""
    rows_of = [{number for number, row in enumerate(shown) if fits(row, person)} for person in people]
    people_of = [sum(fits(row, person) for person in people) for row in shown]
    assignments = [
        each
        for each in permutations(range(len(shown)))
        if len(shown) == len(people) and all(each[i] in rows_of[i] for i in range(len(people)))
    ]
    theirs = [{each[person] for each in assignments} for person in range(len(people))]
    crowds = rarest(shown)
    return KnownPeople(
        people=len(people),
        alone=sum(len(found) == 1 for found in rows_of),
        below_k=sum(len(found) < k for found in rows_of),
        rows_below_k=sum(found < k for found in people_of),
        likely=None,
        admissible_below_k=sum(len(found) < k for found in theirs) if assignments else None,
        shown_once=sum(crowd == 1 for crowd in crowds),
        shown_below_k=sum(crowd < k for crowd in crowds),
    )


def by_definition(rows: Sequence[Record], masks: Sequence[int], k: int) -> KnownPeople:
    """The counts of a plan, in which each row is that of the person at its place."""
    shown = released(rows, masks)
    people_of = [sum(fits(row, person) for person in rows) for row in shown]
    weights = [sum(Fraction(1, n) for row, n in zip(shown, people_of, strict=True) if fits(row, each)) for each in rows]
    likely = sum(Fraction(k, number) > weight for number, weight in zip(people_of, weights, strict=True))
    return replace(of_copy(rows, shown, k), likely=likely)
