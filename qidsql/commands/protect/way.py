"""The ways of `protect`: what is changed so that nobody stands out."""

from enum import StrEnum
from typing import Annotated, TypeAlias

from qidsql.core.results import SearchAccount
from qidsql.declarations.options import Option
from qidsql.wording.texts import count, few

WAY = "What is changed"  # the panel of its options


class Way(StrEnum):
    """What is changed. The options of a way that has a folder are in there, those of the others in `command`."""

    VALUES = "values"  # each row gets coarser where it needs to
    LEVELS = "levels"  # each column gets coarser as a whole
    TURNS = "turns"  # columns are recoded or dropped turn by turn, as asked for
    CELLS = "cells"  # some cells are blanked
    COLUMNS = "columns"  # some columns are withheld


By: TypeAlias = Annotated[
    str | None,
    Option(
        "values: each row as fine as it can be; levels: one level for all values of a column; turns: recode or drop "
        "columns, turn by turn; cells: blank the fewest; columns: withhold the fewest; default: the ways are compared. "
        "Each way has options of its own, which the help lists if it is named",
        "|".join(Way),
        values=tuple(Way),
        panel=WAY,
    ),
]


def nobody_found(account: SearchAccount, target: str | None) -> str:
    """The first words of a plan by which each row is identical to k - 1 others, or to rows of other persons."""
    copy, names, k = "this copy" if target else "such a copy", few(account.columns), account.policy.k
    if account.policy.entity is not None:
        return f"in {copy} a row of a person leaves {count(k)} persons or more by {names}, if rows cannot be linked"
    return f"in {copy} nobody is found by {names}, not even by someone who knows everybody (k = {k})"
