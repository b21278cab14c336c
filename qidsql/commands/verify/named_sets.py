"""The column sets that a result names."""

from collections.abc import Sequence

from qidsql.errors import UsageError
from qidsql.wording.texts import plural


def masks_of(names: Sequence[str], sets: Sequence[Sequence[str]], kind: str = "its") -> list[int]:
    """The sets as masks of these columns. Raises UsageError if one has another, none of columns of this kind."""
    places = {name: place for place, name in enumerate(names)}
    try:
        return [sum(1 << places[name] for name in set(each)) for each in sets]
    except KeyError as missing:
        raise UsageError(f"the result names {missing.args[0]}, which is none of {kind} columns") from None


def how_many_sets(masks: Sequence[int]) -> str:
    """How many, in words."""
    return plural(len(masks), "column set")
