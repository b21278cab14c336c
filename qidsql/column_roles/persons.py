"""The columns that may identify the persons of a table in which one has several rows: by their names, and by counts.

That values repeat does not tell what they count: most columns that repeat as persons do are firms, countries or days.
A column is taken for the persons by its name, and counts say only whether it repeats.
"""

import re
from collections.abc import Mapping
from enum import IntEnum

from qidsql.column_roles import names
from qidsql.column_roles.proposal import BOOLEAN, TableEvidence, whose_number
from qidsql.core.catalog import CatalogColumn
from qidsql.core.tables import PolicyRole

SIGNS = 5  # values: a person without a number (subject, member) has more; with fewer it is a sign, a member or not


class Likely(IntEnum):
    """How a column identifies the persons, the likeliest first."""

    NUMBER = 0  # of a person that tables are about: patient_id
    GIVEN = 1  # the number of an insurance or of a study: ssn, usubjid
    ALONE = 2  # a person without a number: subject
    EMPLOYED = 3
    HELD = 4  # of what a person has: a card, a device
    BARE = 5  # id, which is not the number of the row if it repeats
    SERVING = 6  # the number of a doctor or a teacher, in a table about those whom they serve


MEANINGS = {
    "a number given to one person": Likely.GIVEN,
    "a number of an account or card": Likely.HELD,
    "a vehicle or device": Likely.HELD,
}


def entity(table: TableEvidence, roles: Mapping[str, PolicyRole]) -> tuple[str | None, str]:
    """The column that identifies persons in a table where one can have several rows, and the reason.

    None if there is none, or if several could be meant: the reason then names them.
    """
    found = persons(table, roles)
    if len(found) != 1:
        return None, ", ".join(found)
    [(name, who)] = found.items()
    more = "" if table.measured.get(name) is None else ", seen more than once"
    return name, f"identifies the persons ({who}{more})"


def persons(table: TableEvidence, roles: Mapping[str, PolicyRole]) -> dict[str, str]:
    """The columns that are named like the persons and repeat, each with a word for these: only the likeliest.

    None if the rows are persons, since their number is unique. `roles` are those of columns, as far as they are known.
    """
    found: dict[Likely, dict[str, str]] = {}
    unique: set[Likely] = set()
    for column in table.listed.columns:
        likely, who = named_like(table, column)
        if likely is None or not column.readable:
            continue
        counts = table.measured.get(column.name)
        if (column.name,) in table.listed.unique or (counts is not None and not counts.repeated):
            unique.add(likely)
        elif _repeats(table, column.name, likely) and roles.get(column.name) not in (
            PolicyRole.SENSITIVE,
            PolicyRole.OTHER,
        ):
            found.setdefault(likely, {})[column.name] = who
    if Likely.NUMBER in unique:
        return {}
    if Likely.BARE in unique:  # the number of the row; in a table of persons that of a person
        listed = (Likely.EMPLOYED, Likely.HELD) if table.person is not None else ()
        found = {each: columns for each, columns in found.items() if each not in (Likely.SERVING, *listed)}
    return found[min(found)] if found else {}


def named_like(table: TableEvidence, column: CatalogColumn) -> tuple[Likely | None, str]:
    """How the name of a column says that it identifies persons, and the word for them."""
    who, parts = whose_number(table, column.name), names.words(column.name)
    if who is not None:
        if names.is_subject(who):
            return Likely.NUMBER, who
        return (Likely.EMPLOYED if names.is_employed(who) else Likely.SERVING), who
    hit = names.find(parts)
    if names.is_number_in_studies(parts):
        return Likely.GIVEN, column.name
    if hit is not None and hit.exact and hit.last - hit.first == len(parts) and hit.concept.meaning in MEANINGS:
        return MEANINGS[hit.concept.meaning], hit.concept.meaning
    if names.is_one_person(parts) and not re.fullmatch(BOOLEAN, column.base or column.type):
        return Likely.ALONE, parts[0]
    return (Likely.BARE, "a number") if names.is_bare_number(parts) else (None, "")


def _repeats(table: TableEvidence, column: str, likely: Likely) -> bool:
    """Whether the column has fewer values than rows. Without counts, what the names of column and table suggest."""
    counts = table.measured.get(column)
    if counts is not None:
        return likely is not Likely.ALONE or counts.values > SIGNS
    numbered = likely in (Likely.NUMBER, Likely.EMPLOYED, Likely.SERVING)
    return numbered and (table.person is None or column in table.references)
