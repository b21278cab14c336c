"""Failing column sets: each proves that every solution contains a column outside it, a maximal one most."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import or_
from random import Random
from typing import Protocol, TypeAlias

from qidsql.core.tables import positions
from qidsql.measures.profiles import ClassProfile, Profiler


class FailingSets:
    """Facts known about a monotone test on profiles: sets that meet it, with their profiles, and sets that do not.

    No set is profiled whose result follows from earlier ones. The empty set counts as failing and is never profiled.
    `hints`, a profiler of a sample to which the criterion applies too, only decides which sets are tested first.

    `maximal` are the failing sets that are grown. With `at_once` they are all known failing sets that no other
    contains: each is a proof, so that nothing waits for the end of a growth.
    """

    def __init__(
        self,
        profiler: Profiler,
        met_by: Callable[[ClassProfile], bool],
        hints: Profiler | None = None,
        seed: int = 0,
        at_once: bool = False,
    ) -> None:
        self.meeting: dict[int, ClassProfile] = {}  # every set seen to meet the criterion
        self.growing: list[_Growth] = []
        self._met: list[int] = []  # those that contain no other
        self._failed = [0]  # the known failing sets that no other contains
        self._grown: list[int] = []
        self._profiler, self._met_by, self._hints = profiler, met_by, hints
        self._at_once = at_once
        self._everything = (1 << profiler.columns) - 1
        self._random = Random(seed)  # only decides the order in which columns are tried

    @property
    def maximal(self) -> list[int]:
        return self._failed if self._at_once else self._grown

    @property
    def complements(self) -> list[int]:
        """The sets that solutions must hit, the smallest first: each solution shares a column with every one of these.

        None of them contains another.
        """
        return sorted((self._everything ^ failing for failing in self.maximal), key=int.bit_count)

    def test(self, masks: Sequence[int]) -> list[bool]:
        """Whether each set meets the criterion. One batch of profiles. Raises Stopped."""
        new = [mask for mask in dict.fromkeys(masks) if self.inferred(mask) is None]
        self.learn(dict(zip(new, self._profiler.profiles(new), strict=True)))
        return [bool(self.inferred(mask)) for mask in masks]

    def learn(self, profiles: Mapping[int, ClassProfile]) -> None:
        """Note the profiles of these sets."""
        for mask, profile in profiles.items():
            if self._met_by(profile):
                self.meeting[mask] = profile
                if not _contains(mask, self._met):
                    self._met = [*(met for met in self._met if mask & ~met), mask]
            elif not _within(mask, self._failed):
                self._failed = [*(failing for failing in self._failed if failing & ~mask), mask]

    def start(self, masks: Sequence[int]) -> None:
        """Let failing sets grow from the next `advance` on."""
        self.growing += [self._growth(mask) for mask in masks]

    def advance(self, candidates: Sequence[int] = ()) -> list[bool]:
        """Test the candidates, as `test`, and in the same batch the next sets of those that grow. Raises Stopped."""
        met = self.test([*candidates, *(step for growth in self.growing for step in growth.steps())])
        for growth in self.growing:
            growth.follow(self.inferred)
            if not growth.left and not _within(growth.mask, self._grown):
                self._grown.append(growth.mask)
        self.growing = [growth for growth in self.growing if growth.left]
        return met[: len(candidates)]

    def inferred(self, mask: int) -> bool | None:
        """Whether the set meets the criterion, if that follows from what is known."""
        if _within(mask, self._failed):
            return False
        return True if mask in self.meeting or _contains(mask, self._met) else None

    def _growth(self, mask: int) -> "_Growth":
        order = [1 << place for place in positions(self._everything & ~mask)]
        self._random.shuffle(order)
        likely: list[int] = []
        if self._hints is not None:
            grown = mask
            for column in order:
                if not self._met_by(self._hints.profiles([grown | column])[0]):
                    likely.append(column)
                    grown |= column
            order = [*likely, *(column for column in order if column not in likely)]
        return _AtOnce(mask, order) if self._at_once else _ByStrides(mask, order, max(1, len(likely)))


def _within(mask: int, sets: Sequence[int]) -> bool:
    """Whether one of the sets contains it."""
    for each in sets:  # noqa: SIM110 - called millions of times, and a generator takes twice as long
        if mask & each == mask:
            return True
    return False


def _contains(mask: int, sets: Sequence[int]) -> bool:
    """Whether it contains one of the sets."""
    for each in sets:  # noqa: SIM110 - as in `_within`
        if mask & each == each:
            return True
    return False


Known: TypeAlias = Callable[[int], bool | None]  # whether a set meets the criterion; None: not known


class _Growth(Protocol):
    """One failing set while it grows to a maximal one. `left` are the columns that may still be added."""

    mask: int
    left: list[int]

    def steps(self) -> list[int]:
        """The sets to test next."""

    def follow(self, known: Known) -> None:
        """Grow by what is known after that."""


class _ByStrides:
    """Tests one set at a time: with twice as many columns after a success, half as many after a failure.

    At first with `stride` columns. About (columns that meet the criterion with the set) * log(columns) tests.
    """

    def __init__(self, mask: int, left: list[int], stride: int) -> None:
        self.mask, self.left, self._stride = mask, left, stride

    def steps(self) -> list[int]:
        return [self.mask | sum(self.left[: self._stride])]

    def follow(self, known: Known) -> None:
        if not known(self.steps()[0]):
            self.mask |= sum(self.left[: self._stride])
            del self.left[: self._stride]
            self._stride *= 2
        elif self._stride == 1:
            del self.left[0]
        else:
            self._stride = max(1, self._stride // 2)


class _AtOnce:
    """Tests the set with the first column, the first 2, 4, 8 and so on, all at once."""

    def __init__(self, mask: int, left: list[int]) -> None:
        self.mask, self.left = mask, left

    def steps(self) -> list[int]:
        return [mask for number, mask in enumerate(accumulate(self.left, or_, initial=self.mask)) if _power(number)]

    def follow(self, known: Known) -> None:
        unsure = []
        for column in self.left:
            meets = known(self.mask | column)
            if meets is None:
                unsure.append(column)
            elif not meets:
                self.mask |= column
        self.left = unsure


def _power(number: int) -> bool:
    """Whether it is a power of two."""
    return number.bit_count() == 1
