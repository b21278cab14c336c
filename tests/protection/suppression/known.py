"""Whom an attacker finds who knows people, by the definitions over all people and all rows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

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


def by_definition(rows: Sequence[Record], masks: Sequence[int], k: int) -> KnownPeople:
    shown = released(rows, masks)
    people = range(len(rows))
    rows_of = [{row for row in people if fits(shown[row], rows[person])} for person in people]
    people_of = [sum(fits(shown[row], rows[person]) for person in people) for row in people]
    weights = [sum((Fraction(1, people_of[row]) for row in rows_of[person]), Fraction()) for person in people]
    assignments = [each for each in permutations(people) if all(each[i] in rows_of[i] for i in people)]
    theirs = [{each[person] for each in assignments} for person in people]
    return KnownPeople(
        people=len(rows),
        alone=sum(len(found) == 1 for found in rows_of),
        below_k=sum(len(found) < k for found in rows_of),
        rows_below_k=sum(found < k for found in people_of),
        likely=sum(Fraction(k, people_of[person]) > weights[person] for person in people),
        admissible_below_k=sum(len(found) < k for found in theirs),
    )
