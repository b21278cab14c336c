"""A published table held against a population: k-map, delta-presence, journalist and marketer risk.

Both tables are put into classes on the same columns; a class has f published rows and F people in the population. The
published rows shall be a sample of the people: 0 < f <= F. Independent of engines and SQL.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True, slots=True)
class MatchedClasses:
    """So many classes that have this many published rows and this many people.

    `null`: with a NULL in one of the columns. Nobody can look a NULL up, so its rows match no people.
    """

    rows: int
    people: int
    null: bool
    classes: int


@dataclass(frozen=True)
class PopulationMatch:
    """The classes of a published table and of a population, by their sizes in both; figures are exact.

    A class *matches* if it has no NULL and both rows and people; the risks are those of the rows in such classes.
    `uncounted`: rows of a population given as counts that have none, or a negative one; they stand for nobody.
    """

    sizes: Sequence[MatchedClasses]
    k: int
    uncounted: int = 0

    # the published table

    @cached_property
    def rows(self) -> int:
        return _rows(self.sizes)

    @cached_property
    def classes(self) -> int:
        return _classes(self._published)

    @cached_property
    def smallest(self) -> int | None:
        """The published table alone is k-anonymous for k up to that."""
        return min((each.rows for each in self._published), default=None)

    @cached_property
    def sample_uniques(self) -> int:
        """Rows that are alone in their class in the published table."""
        return _classes(each for each in self._published if each.rows == 1)

    @cached_property
    def rows_with_null(self) -> int:
        return _rows(each for each in self._published if each.null)

    @cached_property
    def rows_absent(self) -> int:
        """Rows without a NULL whose class has no people: the population lacks them."""
        return _rows(self._absent)

    @cached_property
    def classes_absent(self) -> int:
        return _classes(self._absent)

    @cached_property
    def rows_exceeding(self) -> int:
        """Rows in classes of more rows than people, but some: the population lacks people of these classes."""
        return _rows(self._exceeding)

    @cached_property
    def classes_exceeding(self) -> int:
        return _classes(self._exceeding)

    @cached_property
    def rows_matched(self) -> int:
        return _rows(self._matched)

    # the population

    @cached_property
    def people(self) -> int:
        return _people(self.sizes)

    @cached_property
    def people_with_null(self) -> int:
        return _people(each for each in self.sizes if each.null)

    @cached_property
    def population_classes(self) -> int:
        return _classes(each for each in self.sizes if each.people)

    @cached_property
    def population_classes_absent(self) -> int:
        """Classes of the population without a published row."""
        return _classes(each for each in self.sizes if each.people and (each.null or not each.rows))

    @cached_property
    def population_uniques(self) -> int:
        """People who are alone in their class in the population."""
        return _classes(each for each in self.sizes if each.people == 1)

    # the risks

    @cached_property
    def k_map(self) -> int | None:
        """The fewest people that a published row could be [Sweeney 2002, k-map]; 0 if a class is absent. None: no row
        without a NULL."""
        return 0 if self._absent else min((each.people for each in self._matched), default=None)

    @cached_property
    def rows_below_k(self) -> int:
        """Rows that could be fewer than k people, but some."""
        return _rows(each for each in self._matched if each.people < self.k)

    @cached_property
    def classes_below_k(self) -> int:
        return _classes(each for each in self._matched if each.people < self.k)

    @cached_property
    def rows_of_one(self) -> int:
        """Rows that could be one person only."""
        return _rows(each for each in self._matched if each.people == 1)

    @cached_property
    def uniques_of_both(self) -> int:
        """Rows that are alone in both tables: the sample uniques that are population unique."""
        return _classes(each for each in self._matched if each.people == each.rows == 1)

    @cached_property
    def journalist_max(self) -> Fraction | None:
        """The highest chance that a row is the person picked from its class: 1 / smallest F."""
        return Fraction(1, min(each.people for each in self._matched)) if self._matched else None

    @cached_property
    def journalist_by_classes(self) -> Fraction | None:
        """The average of that over classes, as the number of classes / their people [El Emam 2013]."""
        return Fraction(_classes(self._matched), _people(self._matched)) if self._matched else None

    @cached_property
    def marketer(self) -> Fraction | None:
        """The share of the rows that whoever links all of them gets right on average: the mean over rows of 1 / F."""
        if not self._matched:
            return None
        rows: Counter[int] = Counter()
        for each in self._matched:
            rows[each.people] += each.rows * each.classes
        return _sum([Fraction(number, people) for people, number in rows.items()]) / self.rows_matched

    @property
    def journalist_average(self) -> Fraction | None:
        """The greater of the two averages, by classes and by rows (`marketer`) [ARX]."""
        averages = [each for each in (self.journalist_by_classes, self.marketer) if each is not None]
        return max(averages, default=None)

    @cached_property
    def presence(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest share of people who are published, over ALL classes of the population without a
        NULL [Nergiz et al. 2007, delta-presence]: 0 for a class without a published row."""
        shares = [Fraction(each.rows, each.people) for each in self.sizes if each.people and not each.null]
        return (min(shares), max(shares)) if shares else None

    @cached_property
    def _published(self) -> list[MatchedClasses]:
        return [each for each in self.sizes if each.rows]

    @cached_property
    def _absent(self) -> list[MatchedClasses]:
        return [each for each in self._published if not each.people and not each.null]

    @cached_property
    def _matched(self) -> list[MatchedClasses]:
        return [each for each in self._published if each.people and not each.null]

    @cached_property
    def _exceeding(self) -> list[MatchedClasses]:
        return [each for each in self._matched if each.rows > each.people]


def _rows(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.rows * each.classes for each in classes)


def _people(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.people * each.classes for each in classes)


def _classes(classes: Iterable[MatchedClasses]) -> int:
    return sum(each.classes for each in classes)


def _sum(parts: list[Fraction]) -> Fraction:
    """The exact sum, in pairs: the numbers stay short for as long as possible."""
    while len(parts) > 1:
        parts = [sum(parts[place : place + 2], Fraction(0)) for place in range(0, len(parts), 2)]
    return parts[0]
