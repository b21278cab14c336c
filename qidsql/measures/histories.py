"""Persons with many rows: the candidates left to whoever knows some of a person's rows, or all of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, exp, fsum, lgamma, log, log1p
from typing import Annotated


class KnownRows(StrEnum):
    """How many rows of a person somebody may know."""

    ONE = "1"
    TWO = "2"
    ALL = "all"

    @property
    def words(self) -> str:
        return {"1": "one known row", "2": "two known rows", "all": "all known rows"}[self.value]


@dataclass(frozen=True, slots=True)
class Certain:
    """The persons of whom known rows tell a value: all who have these rows have it, in some row of theirs."""

    sensitive: str
    persons: int


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
    alone: Annotated[int | None, "persons whose rows nobody else has, if all are known"] = None
    certain: Annotated[
        tuple[Certain, ...] | None, "with --l 2: persons of whom a choice of rows leaves only candidates alike"
    ] = None
    tried: Annotated[int | None, "persons, if only some of their choices were tried: none proves nothing"] = None


@dataclass(frozen=True, slots=True)
class Tried:
    """Some persons, of whom pairs of rows were tried."""

    persons: int
    smallest: int
    below_k: int


@dataclass(frozen=True, slots=True)
class Choices:
    """The persons with so many rows, and of one or two of their rows the choices that few have; of two, twice."""

    own_rows: int
    persons: int
    alone: int
    rare: int
    smallest: int
    below_k: int
    pairs: int = 0  # of different rows that others have, twice
    most_copies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersOfRows:
    """How many rows a person has, as somebody may know it: an identifier by itself."""

    persons: int
    numbers: Annotated[int, "different ones"]
    most: Annotated[int, "rows of a person"]
    alone: Annotated[int, "persons whose number of rows nobody else has"]
    below_k: Annotated[int, "persons whose number of rows fewer than k have"]
    cut: Annotated[int | None, "with so many rows of each at most, k persons have each number; null: no cut does"]
    rows_cut: Annotated[int | None, "rows that go then"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Persons drawn at random, with so many rows (6: more than 5), by who has their first 1, 2, ... 5 drawn rows."""

    own_rows: int
    persons: int
    alone: tuple[int, ...]
    rare: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unicity:
    """What so many of a person's rows, taken at random, or all of them if there are fewer, leave: on average.

    [de Montjoye et al. 2013; of persons with fewer rows all are known, so that the curve rises]
    """

    known_rows: Annotated[str, "1, 2, ... or all"]
    alone: Annotated[Fraction, "the share that leaves nobody else"]
    below_k: Annotated[Fraction, "the share that leaves fewer than k candidates"]
    alone_of_many: Annotated[Fraction | None, "`alone`, of the persons with so many rows at least"] = None
    drawn: Annotated[int | None, "persons drawn at random; null: all were counted"] = None
    low: Annotated[float | None, "of `alone`, with a confidence of 99 %"] = None
    high: Annotated[float | None, "of `alone`, with a confidence of 99 %"] = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a coarser column of times would leave, by a sample."""

    column: str
    unit: str
    unicity: tuple[Unicity, ...]


def unicity_of_choices(known: KnownRows, ones: Sequence[Choices], twos: Sequence[Choices] = ()) -> Unicity:
    """The unicity of one or two known rows, exactly.

    >>> of_two = Choices(own_rows=2, persons=3, alone=1, rare=6, smallest=1, below_k=3)
    >>> unicity_of_choices(KnownRows.ONE, [of_two]).alone
    Fraction(1, 6)
    """
    parts = [(each, each.own_rows) for each in ones if known is KnownRows.ONE or each.own_rows == 1]
    parts += [(each, each.own_rows * (each.own_rows - 1)) for each in twos if each.own_rows > 1]
    persons = sum(each.persons for each, _ in parts)
    many = [(each, choices) for each, choices in parts if each.own_rows >= int(known.value)]
    of_many = sum(each.persons for each, _ in many)

    def total(some: Iterable[tuple[int, int]]) -> Fraction:
        return sum((Fraction(few, choices) for few, choices in some), Fraction(0))

    return Unicity(
        known_rows=known.value,
        alone=_short(total((each.alone, choices) for each, choices in parts) / persons),
        below_k=_short(total((each.rare, choices) for each, choices in parts) / persons),
        alone_of_many=_short(total((each.alone, choices) for each, choices in many) / of_many) if many else None,
    )


def _short(share: Fraction) -> Fraction:
    """The share; rounded up where it would have more digits than anybody reads."""
    return share if share.denominator.bit_length() < 200 else Fraction(ceil(share * 10**18), 10**18)


def histories_of(known: KnownRows, counted: Sequence[Choices]) -> Histories:
    """The persons below k for whoever knows one or two of their rows.

    >>> one, two = Choices(1, 9, 0, 2, 3, below_k=2), Choices(2, 5, 1, 4, 1, below_k=4)
    >>> found = histories_of(KnownRows.TWO, [one, two])
    >>> found.persons, found.smallest, found.persons_below_k
    (14, 1, 6)
    """
    return Histories(
        known_rows=known,
        persons=sum(each.persons for each in counted),
        smallest=min((each.smallest for each in counted), default=0),
        persons_below_k=sum(each.below_k for each in counted),
    )


def numbers_of_rows(ones: Sequence[Choices], k: int) -> NumbersOfRows:
    """Persons by their number of rows, ascending; a cut makes that of those who have more the same.

    >>> found = numbers_of_rows([Choices(1, 9, 0, 0, 9, 0), Choices(2, 4, 0, 0, 4, 0), Choices(7, 1, 1, 1, 1, 1)], k=5)
    >>> found.most, found.below_k, found.cut, found.rows_cut
    (7, 5, 2, 5)
    """
    cut, above = None, 0
    for place in reversed(range(len(ones))):
        above += ones[place].persons
        if above >= k and all(each.persons >= k for each in ones[:place]):
            cut = ones[place].own_rows
            break
    return NumbersOfRows(
        persons=sum(each.persons for each in ones),
        numbers=len(ones),
        most=ones[-1].own_rows,
        alone=sum(each.persons for each in ones if each.persons == 1),
        below_k=sum(each.persons for each in ones if each.persons < k),
        cut=cut,
        rows_cut=None if cut is None else sum(each.persons * max(0, each.own_rows - cut) for each in ones),
    )


def unicity_of_histories(found: Histories) -> Unicity:
    """The unicity of all rows of a person, of whom somebody knows that they are all.

    >>> found = Histories(known_rows=KnownRows.ALL, persons=8, smallest=1, persons_below_k=6, alone=2)
    >>> unicity_of_histories(found).alone
    Fraction(1, 4)
    """
    return Unicity(
        known_rows=found.known_rows.value,
        alone=Fraction(found.alone or 0, found.persons),
        below_k=Fraction(found.persons_below_k, found.persons),
    )


def unicity_of_draws(known_rows: int, drawn: Sequence[Drawn]) -> Unicity:
    """The unicity of so many known rows, estimated.

    >>> found = unicity_of_draws(2, [Drawn(own_rows=2, persons=100, alone=(10, 50), rare=(20, 60))])
    >>> found.alone, round(found.low, 2), round(found.high, 2)
    (Fraction(1, 2), 0.37, 0.63)
    """
    place, persons = known_rows - 1, sum(each.persons for each in drawn)
    alone, many = sum(each.alone[place] for each in drawn), [each for each in drawn if each.own_rows >= known_rows]
    of_many = sum(each.persons for each in many)
    low, high = clopper_pearson(alone, persons, 0.005)
    return Unicity(
        known_rows=str(known_rows),
        alone=Fraction(alone, persons),
        below_k=Fraction(sum(each.rare[place] for each in drawn), persons),
        alone_of_many=Fraction(sum(each.alone[place] for each in many), of_many) if of_many else None,
        drawn=persons,
        low=low,
        high=high,
    )


# Bounds of a share of which a sample is known. [Clopper & Pearson 1934: they hold at 0 and 1 too]


def clopper_pearson(some: int, drawn: int, miss: float) -> tuple[float, float]:
    """The least and the greatest share that so many of the drawn may come from, each missed with that probability.

    >>> [round(each, 4) for each in clopper_pearson(0, 1000, 0.005)]
    [0.0, 0.0053]
    """
    low, high = 0.0, 1.0
    if some > 0:
        low = _boundary(lambda share: 1 - _at_most(some - 1, drawn, share) > miss)
    if some < drawn:
        high = _boundary(lambda share: _at_most(some, drawn, share) < miss)
    return low, high


def exceeds(some: int, drawn: int, limit: Fraction) -> bool | None:
    """Whether the share that so many of the drawn come from is above a limit; None: 99 % are not reached either way.

    >>> exceeds(0, 100, Fraction(1, 20)), exceeds(50, 100, Fraction(1, 20)), exceeds(5, 100, Fraction(1, 20))
    (False, True, None)
    """
    if no_more_than(some, drawn, limit) * 100 <= 1:
        return False
    return True if (1 - no_more_than(some - 1, drawn, limit)) * 100 <= 1 else None


def no_more_than(some: int, drawn: int, share: Fraction) -> Fraction:
    """The probability that no more than so many of the drawn are of that share.

    >>> no_more_than(0, 2, Fraction(1, 3))
    Fraction(4, 9)
    """
    part, rest = share.numerator, share.denominator - share.numerator
    ways = sum(comb(drawn, number) * part**number * rest ** (drawn - number) for number in range(some + 1))
    return Fraction(ways, share.denominator**drawn)


def _at_most(some: int, drawn: int, share: float) -> float:
    """The same in floats, for display."""
    if not 0 < share < 1:
        return 1.0 if share <= 0 or some >= drawn else 0.0
    heads, tails = log(share), log1p(-share)
    ways = _logarithms_of_ways(drawn)
    return min(1.0, fsum(exp(ways[i] + i * heads + (drawn - i) * tails) for i in range(some + 1)))


@lru_cache(maxsize=4)
def _logarithms_of_ways(drawn: int) -> tuple[float, ...]:
    return tuple(lgamma(drawn + 1) - lgamma(i + 1) - lgamma(drawn - i + 1) for i in range(drawn + 1))


def _boundary(beyond: Callable[[float], bool]) -> float:
    """The least share from which on something holds, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return (low + high) / 2
