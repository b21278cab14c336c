"""Local search for cheaper anonymizations: rows move, groups are dissolved, and groups are opened."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.anonymization.groups import Groups
from qidsql.protection.anonymization.units import Units

NOWHERE = 1 << 60  # the loss of a row that no open group takes
SETS_AT_ONCE, UNITS_AT_ONCE = 64, 1 << 15
LOOK = 20_000  # the work of looking at one group


class LocalSearch:
    """An anonymization that steps make cheaper: `placed` is the group of each unit, `cost` that of them all.

    `check` is called in each step and may raise to end the search. Deterministic.
    """

    def __init__(
        self,
        groups: Groups,
        units: Units,
        placed: NDArray[np.int64],
        check: Callable[[int], object] = lambda work: None,
    ) -> None:
        self._groups, self._units, self._check = groups, units, check
        self.placed = placed.copy()
        self._losses = groups.losses_in(placed)
        self._sizes = np.bincount(placed, weights=units.sizes, minlength=groups.count).astype(np.int64)
        self._members: defaultdict[int, set[int]] = defaultdict(set)
        for unit, group in enumerate(placed.tolist()):
            self._members[group].add(unit)

    @property
    def cost(self) -> int:
        return int(self._losses @ self._units.sizes)

    def run(self) -> Iterator[int]:
        """Search until no step saves anything; yields the cost at first, and after each step that lowered it.

        Only when it yields is the state an anonymization for certain.
        """
        steps = [self._move_units, self._dissolve_groups]
        steps += [partial(self._open_groups, place) for place in range(len(self._groups.sets))]
        since, cost = 0, self.cost  # since so many steps
        yield cost
        for step in cycle(steps):
            self._check(len(self.placed))
            step()
            since = since + 1 if self.cost == cost else 0
            if not since:
                cost = self.cost
                yield cost
            elif since == len(steps):
                return

    # steps

    def _move_units(self) -> None:
        """Move units out of groups of more than k rows into cheaper open groups."""
        losses, others = self._cheapest_others(np.arange(len(self.placed)))
        gains = np.where(self._units.sizes == 1, self._losses - losses, 0)
        for unit in _falling(gains):
            if self._spare(self.placed[unit]) > 0 and self._sizes[others[unit]] > 0:
                self._put(unit, int(others[unit]), int(losses[unit]))

    def _dissolve_groups(self) -> None:
        """Dissolve groups whose rows lose less in other open groups."""
        losses, _ = self._cheapest_others(np.arange(len(self.placed)))
        gains = np.bincount(self.placed, weights=(self._losses - losses) * self._units.sizes)
        for group in _falling(gains):
            self._check(LOOK)
            members = self._units_in(group)
            losses, others = self._cheapest_others(members)
            if _all_placed(others) and int((self._losses[members] - losses) @ self._units.sizes[members]) > 0:
                self._put_all(members, others, losses)

    def _open_groups(self, place: int) -> None:
        """Open groups of one column set, or draw rows into open ones, where that saves anything."""
        groups, loss = self._groups, int(self._groups.losses[place])
        numbers = groups.numbers[place, self._units.records]
        first, end = groups.first[place : place + 2]
        losing = np.flatnonzero((self._losses >= loss) & (numbers >= 0))
        lacking = groups.k - np.bincount(numbers[losing], minlength=end - first) - self._sizes[first:end]
        gains = np.bincount(numbers[losing], self._losses[losing] - loss, end - first) - np.maximum(lacking, 0)
        if not (gains > 0).any():
            return
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], np.arange(end - first + 1))
        for number in _falling(gains):
            self._check(LOOK)
            self._open(place, int(first) + number, order[starts[number] : starts[number + 1]])

    def _open(self, place: int, group: int, members: NDArray[np.intp]) -> None:
        """Open a group, or draw rows into it, if that saves anything.

        Units that lose less there leave groups that can spare them. A group that cannot spare all of those is
        dissolved where that saves more. Units that lose more there fill it up.
        """
        loss = int(self._groups.losses[place])
        members = members[(self.placed[members] != group) & (self._units.sizes[members] == 1)]
        gains = self._losses[members] - loss
        if not (gains > 0).any():
            return
        order = np.lexsort((members, -gains, self.placed[members]))
        members, gains = members[order], gains[order]
        homes = self.placed[members]
        starts = np.flatnonzero(np.diff(homes, prepend=-1))
        rank = np.arange(len(homes)) - np.repeat(starts, np.diff(starts, append=len(homes)))
        free = rank < self._sizes[homes] - self._groups.k
        taken = free & (gains > 0)
        saved, dissolved = int(gains[taken].sum()), []
        for home in np.unique(homes[~free & (gains > 0)]).tolist():
            mine = homes == home
            leaving = self._units_in(home)
            rest = np.setdiff1d(leaving, members[mine], assume_unique=True)
            losses, others = self._cheapest_others(rest)
            more = int(gains[mine].sum() - gains[mine & taken].sum()) + int((self._losses[rest] - losses).sum())
            if _all_placed(others) and more > 0:
                saved += more
                dissolved.append(home)
                taken, free = taken | mine, free & ~mine
        rests = [np.setdiff1d(self._units_in(home), members, assume_unique=True) for home in dissolved]
        lacking = self._groups.k - int(self._sizes[group]) - int(taken.sum())
        if lacking > 0:
            fillers = np.flatnonzero(free & ~taken)
            fillers = fillers[np.argsort(-gains[fillers], kind="stable")][:lacking]
            if len(fillers) < lacking:
                return
            saved += int(gains[fillers].sum())
            taken[fillers] = True
        if saved > 0:
            self._try(group, loss, members[taken], np.concatenate([*rests, members[:0]]))

    def _try(self, group: int, loss: int, joining: NDArray[np.intp], homeless: NDArray[np.intp]) -> None:
        """Put units into the group, and those homeless then into the cheapest others; undo it if that saves nothing.

        The estimate can be too high: homeless units may have no longer the groups that were open for them.
        """
        moved = np.concatenate((joining, homeless))
        before = self.placed[moved], self._losses[moved]
        self._put_all(joining, np.full(len(joining), group), np.full(len(joining), loss))
        closed = np.unique(self.placed[homeless])
        left, self._sizes[closed] = self._sizes[closed], 0
        losses, others = self._cheapest_others(homeless)
        self._sizes[closed] = left
        saved = int((before[1] - np.concatenate((np.full(len(joining), loss), losses))).sum())
        if _all_placed(others) and saved > 0:
            self._put_all(homeless, others, losses)
        else:
            self._put_all(joining, *(each[: len(joining)] for each in before))

    # state

    def _spare(self, group: int) -> int:
        return int(self._sizes[group]) - self._groups.k

    def _units_in(self, group: int) -> NDArray[np.intp]:
        return np.array(sorted(self._members[group]), dtype=np.intp)

    def _put(self, unit: int, group: int, loss: int) -> None:
        before, size = int(self.placed[unit]), int(self._units.sizes[unit])
        self._members[before].discard(unit)
        self._members[group].add(unit)
        self._sizes[before] -= size
        self._sizes[group] += size
        self.placed[unit], self._losses[unit] = group, loss

    def _put_all(self, units: NDArray[np.intp], groups: NDArray[np.int64], losses: NDArray[np.int64]) -> None:
        for unit, group, loss in zip(units.tolist(), groups.tolist(), losses.tolist(), strict=True):
            self._put(unit, group, loss)

    def _cheapest_others(self, units: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each unit the loss in the cheapest open group that takes it, other than its own, and that group."""
        if len(units) > UNITS_AT_ONCE:
            parts = [self._cheapest_others(part) for part in np.array_split(units, len(units) // UNITS_AT_ONCE + 1)]
            return np.concatenate([losses for losses, _ in parts]), np.concatenate([found for _, found in parts])
        losses, found = np.full(len(units), NOWHERE), np.full(len(units), -1)
        left = np.arange(len(units))
        for start in range(0, len(self._groups.sets), SETS_AT_ONCE):
            numbers = self._groups.numbers[start : start + SETS_AT_ONCE, self._units.records[units[left]]]
            self._check(numbers.size)
            groups = numbers + self._groups.first[start : start + len(numbers), None]
            fits = (numbers >= 0) & (self._sizes[groups] > 0) & (groups != self.placed[units[left]])
            hit = np.flatnonzero(fits.any(axis=0))
            place = fits.argmax(axis=0)[hit]
            losses[left[hit]], found[left[hit]] = self._groups.losses[start + place], groups[place, hit]
            left = np.delete(left, hit)
            if not len(left):
                break
        return losses, found


def _all_placed(groups: NDArray[np.int64]) -> bool:
    """Whether each unit has a group: sums of `NOWHERE` overflow, and are no reason to keep one out."""
    return bool((groups >= 0).all())


def _falling(gains: NDArray[np.number]) -> list[int]:
    """The places of positive gains, the largest first."""
    places = np.flatnonzero(gains > 0)
    found: list[int] = places[np.argsort(-gains[places], kind="stable")].tolist()
    return found
