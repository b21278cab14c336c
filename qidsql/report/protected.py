"""What a protected copy tells: the blank cells that its unprotected columns give back, whom an attacker finds."""

from collections.abc import Sequence

from qidsql.protection.copies import GivenBack
from qidsql.protection.suppression.known_people import KnownPeople
from qidsql.report.blocks import Fields
from qidsql.wording.texts import count, few, plural, share

MOST_LINES = 8  # lines


def given_back_facts(rows: Fields, found: Sequence[GivenBack] | None) -> None:
    """Add a line for each pair of columns, the most cells first; nothing if no cell is given back."""
    for number, each in enumerate((found or ())[:MOST_LINES]):
        certain = "" if each.certain == each.cells else f", {count(each.certain)} of them for certain"
        rows.add("" if number else "Given back", f"{each}{certain}")
    if not found:
        return
    if len(found) > MOST_LINES:
        rows.add("", f"and {count(len(found) - MOST_LINES)} more pairs of columns")
    rows.add("", "filled in from rows of the copy with the same value there; at least nine in ten are right")
    rows.add("", f"leave out or protect {few(list(dict.fromkeys(each.column for each in found)))}")


# Whom an attacker finds who knows people, in words: the attacks that are withstood, and those that are not.


def known_people_lines(known: KnownPeople, k: int) -> tuple[list[str], list[str]]:
    """The attacks that released rows withstand; and whom the others find, with the attacks that were not counted."""
    found, withstood = [], []
    if known.rows_below_k:
        found.append(f"{plural(known.rows_below_k, 'released row')} with fewer than {k} people who fit")
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
    if known.shown_below_k:
        rare = f"; {count(known.shown_below_k)} one that fewer than {k} rows show" if k > 2 else ""
        found.append(
            f"{plural(known.shown_once or 0, 'released row')} still {'shows' if known.shown_once == 1 else 'show'} a "
            f"combination of values that is unique among them{rare} (--against unique-combinations)"
        )
    elif known.shown_below_k is None:
        found.append("not counted: combinations of values that few released rows show")
    else:
        withstood.append(f"someone who searches the rows for unique combinations: at least {k} rows show each")
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
        found.append(f"--against anyone withstands all of these: each row equals {plural(k - 1, 'other')}")
    return withstood, found


def singled_out(known: KnownPeople, columns: str) -> str:
    """Whom someone who knows people's values of these columns still finds, in a sentence for people who sign."""
    if known.alone:
        return f"Whoever knows a person's values of {columns} still finds {plural(known.alone, 'person', 'people')}."
    nobody = f"By {columns} alone, nobody is found by exactly one row"
    if known.below_k or known.rows_below_k or known.admissible_below_k:
        return f"{nobody}, but who knows people's values can narrow some down to too few rows."
    return f"{nobody}."
