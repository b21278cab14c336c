"""Whether the names of two columns suggest that they contain the same thing."""

import re
from functools import cache

from qidsql.core.catalog import Attribute


def names_agree(one: Attribute, other: Attribute) -> bool:
    """True for equal names with a meaningful word, and for a table's column under that table's name:
    customers.id and orders.customer_id, or orders.customer.

    Letter case, underscores and a plural s do not count.
    """
    own, others = name_words(one.column), name_words(other.column)
    if own == others:
        return not GENERIC.issuperset(own)
    return _named_after(own, other) or _named_after(others, one)


def names_in_joins(attribute: Attribute) -> list[tuple[str, ...]]:
    """The names under which an attribute can appear elsewhere: two whose names agree have one in common."""
    own, table = name_words(attribute.column), name_words(attribute.table.name)
    return [own, table + own, table] if GENERIC.issuperset(own) else [own]


def _named_after(name: tuple[str, ...], referenced: Attribute) -> bool:
    """True for customer_id or customer as a name for customers.id."""
    table, column = name_words(referenced.table.name), name_words(referenced.column)
    if not GENERIC.issuperset(column):
        return False
    return name == table + column or (name == table and column in (("id",), ("key",), ("code",), ("number",)))


@cache
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name: birthDate, BIRTH_DATE and "birth dates" are all (birth, date)."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(_singular(word) for word in re.split(r"[\W_]+", parts.lower()) if word) or (name,)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


# Words that do not describe the content of a column.
GENERIC = frozenset(
    _singular(word)
    for word in re.findall(
        r"\w+",
        """id key code number no nr num name type kind status state value date time day text note comment description
        title flag level order position rank count total amount created updated modified deleted at by on is has active
        version source data info""",
    )
)
