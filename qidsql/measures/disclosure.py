"""Attribute disclosure: what whoever knows some columns learns about a sensitive one.

Rows that agree on the known columns form a class. Independent of engines and SQL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class ClassValues:
    """The classes that hold so many different values, NULL being one of them; `stated` without NULL.

    `small`: classes of fewer than k rows. `guessed`: rows that hold the commonest value of their class.
    """

    values: int
    stated: int
    small: bool
    rows: int
    guessed: int


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What the classes of a column set disclose about one sensitive column, in exact counts.

    With `entities`, "rows" are distinct entities: an entity is counted by its class of the fewest values, and there is
    no guess, as an entity can have several values. A value that all entities of a class have counts as its only one.
    """

    rows: int
    values: int  # different values in the table, NULL being one of them
    fewest_values: int  # in any class: the table is distinct l-diverse for l up to that [Machanavajjhala et al. 2006]
    revealed: int  # rows in classes of a single value: the homogeneity attack
    revealed_null: int  # those of them whose single value is NULL: "not stated"
    nearly_revealed: int  # rows in classes of a single value and NULL, which hides nothing if NULL means "unknown"
    k: int
    guessed_blindly: int | None = None  # rows that hold the commonest value of the table
    guessed: int | None = None  # rows that hold the commonest value of their class
    rows_in_large: int | None = None  # rows in classes of at least k rows
    guessed_in_large: int | None = None  # those of them that hold the commonest value of their class
    entities: bool = False

    @property
    def share_revealed(self) -> Fraction:
        """Rows in classes of a single value / rows; 0 for an empty table."""
        return Fraction(self.revealed, self.rows) if self.rows else Fraction(0)

    @property
    def guess_before(self) -> Fraction | None:
        """The share guessed right by always naming the table's commonest value [Smith 2009, Bayes vulnerability]."""
        return _share(self.guessed_blindly, self.rows)

    @property
    def guess_after(self) -> Fraction | None:
        """The share guessed right by naming the commonest value of each class. Never below `guess_before`."""
        return _share(self.guessed, self.rows)

    @property
    def guess_in_large(self) -> Fraction | None:
        """The share guessed right among the rows in classes of k or more; None if there are none."""
        return _share(self.guessed_in_large, self.rows_in_large)

    @classmethod
    def of_classes(cls, classes: Iterable[ClassValues], values: int, guessed_blindly: int, k: int) -> "Disclosure":
        """The disclosure of these classes; `values` and `guessed_blindly` are those of the whole table."""
        found = list(classes)
        large = [each for each in found if not each.small]
        return replace(
            _counted(found, values, k),
            guessed_blindly=guessed_blindly,
            guessed=sum(each.guessed for each in found),
            rows_in_large=sum(each.rows for each in large),
            guessed_in_large=sum(each.guessed for each in large),
        )

    @classmethod
    def of_entities(cls, entities: Iterable[ClassValues], values: int, k: int) -> "Disclosure":
        """What is disclosed about distinct entities, which are the `rows` of `entities`."""
        return replace(_counted(list(entities), values, k), entities=True)


def _counted(found: Sequence[ClassValues], values: int, k: int) -> Disclosure:
    return Disclosure(
        rows=sum(each.rows for each in found),
        values=values,
        fewest_values=min((each.values for each in found), default=0),
        revealed=sum(each.rows for each in found if each.values == 1),
        revealed_null=sum(each.rows for each in found if each.values == 1 and not each.stated),
        nearly_revealed=sum(each.rows for each in found if each.values == 2 and each.stated == 1),
        k=k,
    )


def _share(part: int | None, whole: int | None) -> Fraction | None:
    return Fraction(part, whole) if part is not None and whole else None
