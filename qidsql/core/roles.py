"""What recognises a direct identifier by its measures, and why columns are left out."""

from qidsql.measures.profiles import ClassProfile

NO_RIGHT = "this user has no right to read it"
EMPTY = "NULL in every row, as where files have another name or type for it"
NO_PERSONS = "persons are counted by {}: name another column of theirs, or {} if each row is another person"
IDENTIFIER_ROWS = 20  # with fewer rows, nearly every column looks like a key


def identifies(profile: ClassProfile, nulls: int, entity: str | None) -> bool:
    """True for a direct identifier: 95 % of the rows that have a value are alone with it (or of the entities)."""
    having = profile.rows - (0 if entity else nulls)
    return having >= IDENTIFIER_ROWS and 100 * profile.unique_rows >= 95 * having
