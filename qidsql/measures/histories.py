"""Persons with many rows: the candidates left to whoever knows some of a person's rows, or all of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated


class KnownRows(StrEnum):
    """How many rows of a person somebody may know."""

    ONE = "1"
    TWO = "2"
    ALL = "all"

    @property
    def words(self) -> str:
        return {"1": "one known row", "2": "two known rows", "all": "all known rows"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories:
    """The candidates, persons who have all the known rows; of all rows, persons with the same rows, each as often.

    `smallest` is the least over all persons and all choices of so many of their rows, or all if they have fewer.
    [Terrovitis, Mamoulis, Kalnis 2008: k^m-anonymity; whole histories: Google's k-anonymity with an entity]
    """

    known_rows: KnownRows
    persons: Annotated[int, "with a row and a name; rows without a person are left out"]
    smallest: Annotated[int, "candidates, at least, for any choice of known rows"]
    persons_below_k: Annotated[int, "persons of whom some choice of rows leaves fewer than k candidates"]
    classes: Annotated[int | None, "of persons with the same rows, if all are known"] = None
