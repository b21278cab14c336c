"""Local search for cheaper anonymizations: rows move, groups are dissolved, and groups are opened."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle as repeated
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions
from qidsql.protection.anonymization.assignment import Groups, Plan, Units
from qidsql.protection.row_patterns import Records, narrow
from qidsql.protection.suppression.matchings import matchings
from qidsql.protection.suppression.verification import bound_by_prices

LOSS_OF_NO_GROUP = 1 << 60  # the loss of a row that no open group takes
SETS_AT_ONCE, UNITS_AT_ONCE = 64, 1 << 15
GROUP_WORK = 20_000  # the work of looking at one group


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
        for step in repeated(steps):
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
            self._check(GROUP_WORK)
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
            self._check(GROUP_WORK)
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
        losses, found = np.full(len(units), LOSS_OF_NO_GROUP), np.full(len(units), -1)
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
    """Whether each unit has a group: sums of `LOSS_OF_NO_GROUP` overflow, and are no reason to keep one out."""
    return bool((groups >= 0).all())


def _falling(gains: NDArray[np.number]) -> list[int]:
    """The places of positive gains, the largest first."""
    places = np.flatnonzero(gains > 0)
    found: list[int] = places[np.argsort(-gains[places], kind="stable")].tolist()
    return found


# 2-anonymity from the cheapest permutation of the rows: its cycles, cut into groups of two and three rows.
#
# Each group of an anonymization has a permutation of its rows in which every row differs from the next in suppressed
# columns only. So the cheapest permutation without fixed points, which a transport problem finds with proof, costs no
# more than any 2-anonymization. Its cycles join rows that are alike; cut into runs of two and three rows they are a
# plan.


ALGORITHM = "cycles of the cheapest permutation"


def plan_by_cycles(
    records: Records, weights: Sequence[int], check: Callable[[], object]
) -> tuple[Plan, int, NDArray[np.int64]]:
    """A 2-anonymization of the records, two rows or more, a lower bound of every one, and the prices that prove it.

    Compares all pairs of records a few times; `check` is called several times a second and may raise to end it.
    """
    valued = Records(tuple(narrow(codes.astype(np.int64) + 1) for codes in records.codes), records.sizes)  # NULL too
    found = matchings(valued, 2, weights, check)
    bound = bound_by_prices(valued, weights, found.prices, check)
    codes = np.stack(valued.codes, axis=1)
    bits, every = 1 << np.arange(len(weights), dtype=np.int64), (1 << len(weights)) - 1
    whole, cycles = _cycles(found.units.record, found.units.fitted[:, 0], found.units.sizes)
    patterns, rows = [pattern for pattern, _ in whole], [size for _, size in whole]
    kept = [every] * len(whole)
    for cycle in cycles:
        around = np.array([*cycle, *cycle[:2]])
        differ = codes[around[:-1]] != codes[around[1:]]
        for start, end in _runs(differ, np.array(weights)):
            lost = int(differ[start : end - 1].any(axis=0) @ bits)
            patterns += around[start:end].tolist()
            kept += [every & ~lost] * (end - start)
            rows += [1] * (end - start)
    pairs, place = np.unique(np.stack((patterns, kept)), axis=1, return_inverse=True)
    sizes = np.bincount(place.reshape(-1), rows).astype(np.int64)
    lost_weight = ((pairs[1][:, None] & bits) == 0) @ np.array(weights)
    return Plan(ALGORITHM, int(sizes @ lost_weight), lambda: (pairs[0], pairs[1], sizes)), bound, found.prices


def _cycles(
    rows: NDArray[np.intp], people: NDArray[np.intp], sizes: NDArray[np.int64]
) -> tuple[list[tuple[int, int]], Iterator[list[int]]]:
    """Equal rows that are a group of themselves (pattern, rows), and the cycles of the others, pattern by pattern."""
    whole: list[tuple[int, int]] = []
    single: set[int] = set()  # patterns of which one more row stands beside another
    following: dict[int, list[int]] = {}
    for row, person, size in zip(rows.tolist(), people.tolist(), sizes.tolist(), strict=True):
        if row != person:
            following.setdefault(row, []).extend([person] * size)
        elif size > 1:
            whole.append((row, size))
        else:
            single.add(row)

    def walked() -> Iterator[list[int]]:
        for start in following:
            while following[start]:
                cycle, at = [], start
                while True:
                    cycle += [at, at] if at in single else [at]
                    single.discard(at)
                    at = following[at].pop()
                    if at == start:
                        break
                yield cycle

    return whole, walked()


def _runs(differ: NDArray[np.bool_], weights: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The cheapest runs of two and three rows that a cycle is cut into, as places of first and last row + 1.

    `differ` has a line for each row: the columns in which the next differs; the first two come again at the end.
    """
    length = len(differ) - 1
    if length < 4:
        yield 0, length
        return
    two = 2 * (differ @ weights)
    three = 3 * ((differ[:-1] | differ[1:]) @ weights)
    best: tuple[int, list[int]] | None = None
    for first in range(3):  # one of the first three rows begins a run
        costs, lengths = [0, -1], [0, 0]
        for end in range(2, length + 1):
            begin = (first + end - 2) % length, (first + end - 3) % length
            options = [
                (costs[end - size] + int(each[at]), size)
                for size, each, at in ((2, two, begin[0]), (3, three, begin[1]))
                if end >= size and costs[end - size] >= 0
            ]
            cost, size = min(options)
            costs.append(cost)
            lengths.append(size)
        if best is None or costs[-1] < best[0]:
            ends = [length]
            while ends[-1]:
                ends.append(ends[-1] - lengths[ends[-1]])
            best = costs[-1], [first + end for end in reversed(ends)]
    assert best is not None
    yield from pairwise(best[1])


# The column sets that are opened where all would be too many.


NUMBERED = 50_000_000  # records x column sets, so that a search ends within minutes
SAMPLE_PAIRS_COMPARED = 200_000_000  # pairs of a record of the sample and another one
NEIGHBOUR_SAMPLE = 2_000  # records whose neighbours are searched
PAIRS = 400_000  # of kept sets, to count what they have in common
FARTHEST = 1 << 40


def nested(values: Sequence[int]) -> Iterator[int]:
    """Ever smaller column sets, without the columns of most values first. `values` counts those of each column."""
    kept = (1 << len(values)) - 1
    for place in sorted(range(len(values)), key=lambda place: -values[place]):
        kept &= ~(1 << place)
        yield kept


def wishes(
    records: Records, k: int, weights: Sequence[int], values: Sequence[int], check: Callable[[int], object]
) -> list[int]:
    """The nested sets; those that rows would keep with their neighbours; and those that two such sets have in common,
    the most frequent first: rows that wish different columns can become identical on what they both wish.

    Deterministic: the neighbours are those of evenly spaced records, the pairs come from a fixed seed. `check` is
    called for each record and may raise.
    """
    most = max(4 * records.columns, NUMBERED // records.count)
    chosen = np.linspace(
        0, records.count - 1, min(records.count, NEIGHBOUR_SAMPLE, max(64, SAMPLE_PAIRS_COMPARED // records.count))
    )
    found: Counter[int] = Counter()
    for record in np.unique(chosen.astype(np.intp)).tolist():
        check(0)
        found[_kept_with_neighbours(records, k, weights, record)] += 1
    kept, numbers = np.array(list(found)), np.array(list(found.values()))
    drawn = np.random.default_rng(0).choice(kept, (2, PAIRS), p=numbers / numbers.sum())
    common, number = np.unique(drawn[0] & drawn[1], return_counts=True)
    frequent = [each for each, _ in found.most_common(most // 3)]
    ranked = [*nested(values), *frequent, *common[np.argsort(-number, kind="stable")].tolist()]
    return list(islice(dict.fromkeys(ranked), most))


def _kept_with_neighbours(records: Records, k: int, weights: Sequence[int], record: int) -> int:
    """What the record keeps in company of k - 1 rows, added one by one where they cost fewest more columns."""
    differs = [codes != codes[record] for codes in records.codes]
    distance: NDArray[np.int64] = np.zeros(records.count, dtype=np.int64)
    for each, weight in zip(differs, weights, strict=True):
        distance += each * weight
    kept, rows = (1 << records.columns) - 1, int(records.sizes[record])
    distance[record] = FARTHEST
    while rows < k:
        nearest = int(distance.argmin())
        rows += int(records.sizes[nearest])
        distance[nearest] = FARTHEST
        for place in positions(kept):
            if differs[place][nearest]:
                kept &= ~(1 << place)
                distance -= differs[place] * weights[place]
    return kept
