"""Whom an attacker finds who knows people, in words: the attacks that are withstood, and those that are not."""

from rich.table import Table

from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.wording.numbers import count, plural, share


def known_people_facts(rows: Table, known: KnownPeople, k: int) -> None:
    """Add the attacks that released rows withstand, whom the others find, and the attacks that were not counted."""
    found, withstood = [], []
    if known.rows_below_k:
        found.append(f"{plural(known.rows_below_k, 'released row')} with fewer than {k} people whom it could fit")
    else:
        withstood.append(f"someone who looks up a released row: each fits at least {k} people")
    if known.below_k:
        alone = f"{plural(known.alone, 'person', 'people')} of {count(known.people)}"
        found.append(
            f"{alone} ({share(known.alone, known.people)}) can still be found by someone who knows them: exactly one "
            f"released row fits; {plural(known.below_k, 'fits', 'fit')} fewer than {k} rows"
        )
    else:
        withstood.append(f"someone who knows a person: everybody fits at least {k} released rows")
    if known.admissible_below_k:
        found.append(
            f"someone who knows everybody rules out rows: {plural(known.admissible_below_k, 'person', 'people')} left "
            f"with fewer than {k}"
        )
    elif known.admissible_below_k == 0:
        withstood.append(f"someone who knows everybody: at least {k} rows can be anyone's")
    else:
        found.append("not counted: the rows that someone who knows everybody can rule out")
    if known.likely is None:
        found.append("not counted: how likely each row is whose, since a copy does not say whose row is whose")
    elif known.likely:
        found.append(
            f"someone who weighs rows by the people whom they fit: for {plural(known.likely, 'person', 'people')} the "
            f"own row has more than 1/{k} of the weight"
        )
    if found:
        found.append(f"qidsql anonymize withstands all of these: each row equals {plural(k - 1, 'other')}")
    for label, lines in (("Withstands", withstood), ("Open", found)):
        for number, line in enumerate(lines):
            rows.add_row("" if number else label, line)
