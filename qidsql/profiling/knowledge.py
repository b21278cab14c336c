"""What is known of column sets, and what follows from it without a statement."""

from collections.abc import Sequence
from itertools import combinations
from math import prod

from qidsql.core.tables import positions
from qidsql.measures.profiles import ClassProfile


class Knowledge(dict[int, ClassProfile]):
    """The profiles of column sets that are known so far, of so many columns."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self._fine: list[int] = []  # known sets that separate the same rows as all columns
        self._compared = 0  # known sets compared with all columns

    @property
    def everything(self) -> int:
        """The set of all columns."""
        return (1 << self.columns) - 1

    @property
    def singles(self) -> list[int]:
        return [1 << place for place in range(self.columns)]

    def infer(self, masks: Sequence[int]) -> None:
        """Note the profiles of those sets that contain one which separates the same rows as all columns together.

        A column more only divides classes: a set with as many classes as all columns has the same classes, and so has
        every set in between. With wildcards, the pairs of rows that match take the place of the classes.
        """
        whole = self.get(self.everything)
        if whole is None:
            return
        for mask in list(self)[self._compared :]:
            known = self[mask]
            same = known.colliding_pairs == whole.colliding_pairs if whole.wildcard else known.classes == whole.classes
            if same and not any(mask & fine == fine for fine in self._fine):
                self._fine.append(mask)
        self._compared = len(self)
        self.update({m: whole for m in masks if m not in self and any(m & f == f for f in self._fine)})

    def twins(self) -> dict[int, int]:
        """Each column known to have the same classes as an earlier one, with the earliest of these."""
        alike: dict[ClassProfile, list[int]] = {}
        for place, mask in enumerate(self.singles):
            if mask in self:
                alike.setdefault(self[mask], []).append(place)
        twins: dict[int, int] = {}
        for profile, places in alike.items():
            for first, other in combinations(places, 2):
                if self.get(1 << first | 1 << other) == profile:
                    twins.setdefault(other, first)
        return twins

    def most_classes(self, mask: int, rows: int) -> int:
        """At most so many classes does the set have, of so many rows, by what is known of its columns and of all."""
        whole = self.get(self.everything)
        columns = [self.get(1 << place) for place in positions(mask)]
        together = prod(column.classes for column in columns if column is not None) if all(columns) else rows
        return min(together, rows if whole is None else whole.classes)
