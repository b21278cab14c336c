"""Maximal failing column sets: each proves that every solution contains a column outside it."""

from collections.abc import Callable, Sequence
from random import Random

from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile, Profiler


class FailingSets:
    """Facts known about a monotone criterion: profiles, sets that meet it, and maximal sets that do not.

    No set is profiled whose result follows from earlier ones. The empty set counts as failing and is never profiled.
    `hints`, a profiler of a sample to which the criterion applies too, only decides which sets are tested first.
    `prove` may prove that a set meets the criterion; while failing sets grow, such sets are not profiled.
    """

    def __init__(
        self,
        profiler: Profiler,
        criterion: Criterion,
        hints: Profiler | None = None,
        seed: int = 0,
        prove: Callable[[int], bool] = lambda mask: False,
    ) -> None:
        self.maximal: list[int] = []
        self.meeting: dict[int, ClassProfile] = {}  # every set seen to meet the criterion
        self._failed: set[int] = {0}
        self._profiler, self._criterion, self._hints, self._prove = profiler, criterion, hints, prove
        self._everything = (1 << profiler.columns) - 1
        self._random = Random(seed)  # only decides the order in which columns are tried

    @property
    def complements(self) -> list[int]:
        """The sets that solutions must hit: each solution shares a column with every one of these."""
        return [self._everything ^ failing for failing in self.maximal]

    def test(self, masks: Sequence[int]) -> list[bool]:
        """Whether each set meets the criterion. One batch of profiles. Raises Stopped."""
        new = [mask for mask in dict.fromkeys(masks) if self._inferred(mask) is None]
        for mask, profile in zip(new, self._profiler.profiles(new), strict=True):
            if self._criterion.met_by(profile):
                self.meeting[mask] = profile
            else:
                self._failed.add(mask)
        return [bool(self._inferred(mask)) for mask in masks]

    def grow(self, masks: Sequence[int]) -> None:
        """Grow failing sets to maximal ones, all of them in step: each adds columns until none can be added.

        It adds as many columns at once as succeeded the last time, twice as many after that, half as many after a
        failure; at first all that pass on the hints. A column that failed once keeps failing. About (failed columns) *
        log(columns) batches. Raises Stopped.
        """
        growing = [self._growth(mask) for mask in masks]
        while growing:
            steps = [growth.step() for growth in growing]
            for growth, met in zip(growing, self._meet(steps), strict=True):
                growth.answer(met)
            for growth in growing:
                if not growth.left and not any(growth.mask & ~failing == 0 for failing in self.maximal):
                    self.maximal.append(growth.mask)
            growing = [growth for growth in growing if growth.left]

    def _meet(self, masks: Sequence[int]) -> list[bool]:
        """As `test`, but the sets that meet the criterion need not have a profile."""
        proved = [self._inferred(mask) is None and self._prove(mask) for mask in masks]
        rest = iter(self.test([mask for mask, sure in zip(masks, proved, strict=True) if not sure]))
        return [sure or next(rest) for sure in proved]

    def _growth(self, mask: int) -> "_Growth":
        order = [1 << place for place in positions(self._everything & ~mask)]
        self._random.shuffle(order)
        if self._hints is None:
            return _Growth(mask, order, 1)
        likely, grown = [], mask
        for column in order:
            if not self._criterion.met_by(self._hints.profiles([grown | column])[0]):
                likely.append(column)
                grown |= column
        return _Growth(mask, [*likely, *(column for column in order if column not in likely)], max(1, len(likely)))

    def _inferred(self, mask: int) -> bool | None:
        if mask in self._failed or any(mask & ~failing == 0 for failing in self.maximal):
            return False
        if mask in self.meeting or any(met & ~mask == 0 for met in self.meeting):
            return True
        return None


class _Growth:
    """One failing set while it grows to a maximal one."""

    def __init__(self, mask: int, left: list[int], stride: int) -> None:
        self.mask, self.left, self._stride = mask, left, stride

    def step(self) -> int:
        """The set to test next."""
        return self.mask | sum(self.left[: self._stride])

    def answer(self, met: bool) -> None:
        if not met:
            self.mask |= sum(self.left[: self._stride])
            del self.left[: self._stride]
            self._stride *= 2
        elif self._stride == 1:
            del self.left[0]
        else:
            self._stride = max(1, self._stride // 2)
