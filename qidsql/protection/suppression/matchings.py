"""Suppression so that k disjoint matchings of all people with all released rows remain, each row with its owner in one.

A row that loses the columns in which it differs from another person fits that person too. If each row is made to fit
another person, and each person has another row, by a permutation, then everybody has a second row even for someone who
knows all people: both matchings are possible. So for k = 2 the fewest cells are a transport problem between rows and
people, whose prices prove the optimum. For k > 2, one permutation after another is found that uses no pair again, and
then each of them once more with the others fixed: a plan, without a proof. Equal rows fit each other's people as they
are, so that all works on records with their numbers of rows.

Such permutations are more than (k,k)-anonymity, which k blank rows can buy [Gionis, Mazza & Tassa, k-Anonymization
Revisited, ICDE 2008; Wong, Mamoulis & Cheung, Non-homogeneous generalization, ICDM 2010].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.row_patterns import Records
from qidsql.search.integer_programs import Transport

# Which cells rows must lose so that they fit other people: weights of differences, for all pairs, in blocks.


BYTES = 1 << 22  # of the weights in a block


class Fits:
    """What it costs that a row fits a person: the weight of the row's visible cells that are no values of the person.

    A row is one of the records, a person too, and a NULL of a row shows nothing. Work for all pairs: about
    rows * records * columns byte operations. `check` is called for each block and may raise to end it.
    """

    def __init__(self, records: Records, weights: Sequence[int], check: Callable[[], object] = lambda: None) -> None:
        self.records, self.weights, self._check = records, tuple(weights), check
        self.never = 2 * sum(weights) + 1  # the weight of a pair that may not be used
        self._kind = np.min_scalar_type(self.never)
        self._codes = np.stack(records.codes, axis=1)
        self._weights = np.array(weights, dtype=np.int64)

    def shown(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """A line of flags for each row: the columns that are not NULL in it."""
        found: NDArray[np.bool_] = self._codes[rows] != 0
        return found

    def differences(self, rows: NDArray[np.intp], people: NDArray[np.intp]) -> NDArray[np.bool_]:
        """A line of flags for each pair of a row and a person: the columns that the row must lose to fit the person."""
        found: NDArray[np.bool_] = self.shown(rows) & (self._codes[rows] != self._codes[people])
        return found

    def weigh(self, lost: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The weight of each line of flags."""
        found: NDArray[np.int64] = lost @ self._weights
        return found

    def blocks(
        self, rows: NDArray[np.intp], visible: NDArray[np.bool_]
    ) -> Iterator[tuple[slice, NDArray[np.unsignedinteger]]]:
        """For blocks of the rows, which show these columns only: the weight that each must lose to fit each person."""
        step = max(1, BYTES // (self.records.count * self._kind.itemsize))
        for start in range(0, len(rows), step):
            self._check()
            block = slice(start, min(start + step, len(rows)))
            found = np.zeros((block.stop - start, self.records.count), dtype=self._kind)
            for column, codes in enumerate(self.records.codes):
                differs = codes[rows[block], None] != codes
                shows = visible[block, column]
                if not shows.all():
                    differs &= shows[:, None]
                weight = self.weights[column]
                found += differs.view(np.uint8) if weight == 1 else differs * self._kind.type(weight)
            yield block, found


NEAREST = 20  # people whom a row may be made to fit at first
PENALTY = 1  # weights of all columns, at first, for a row without a person
VIOLATED = 10  # pairs added for a row whose prices do not hold


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """Rows of one record that fit the same people: the `record`, the number of rows, and for each permutation found the
    record of the person (`fitted`, a line for each unit)."""

    record: NDArray[np.intp]
    sizes: NDArray[np.int64]
    fitted: NDArray[np.intp]

    def without(self, permutation: int) -> "MatchedRows":
        return MatchedRows(self.record, self.sizes, np.delete(self.fitted, permutation, axis=1))

    def lost(self, fits: Fits) -> NDArray[np.bool_]:
        """A line of flags for each unit: the columns that it loses."""
        found = np.zeros((len(self.record), fits.records.columns), dtype=bool)
        for people in self.fitted.T:
            found |= fits.differences(self.record, people)
        return found

    def cost(self, fits: Fits) -> int:
        return int(self.sizes @ fits.weigh(self.lost(fits)))


@dataclass(frozen=True, slots=True)
class Matchings:
    """The units of k - 1 permutations beside the identity, and what they lose, a line of flags for each.

    No k disjoint matchings cost less than `lower_bound`, by `prices` of people: see `bound_by_prices`.
    """

    units: MatchedRows
    lost: NDArray[np.bool_]
    cost: int
    lower_bound: int
    prices: NDArray[np.int64]


def matchings(
    records: Records, k: int, weights: Sequence[int], check: Callable[[], object] = lambda: None
) -> Matchings:
    """The permutations: at k = 2 the cheapest, with proof. Sends no statement.

    `check` is called several times a second and may raise to end it. All pairs of records are compared a few times.
    """
    fits = Fits(records, weights, check)
    nobody = np.empty((records.count, 0), dtype=np.intp)
    units = MatchedRows(np.arange(records.count), records.sizes, nobody)
    bound, prices = 0, np.zeros(records.count, dtype=np.int64)
    for number in range(k - 1):
        units, least, found = _Permutation(fits, units, check).cheapest()
        if not number:
            bound, prices = least, found
    for _ in range(k - 1 if k > 2 else 0):
        again, _, _ = _Permutation(fits, units.without(0), check).cheapest()  # the oldest, which becomes the newest
        if again.cost(fits) < units.cost(fits):
            units = again
        else:
            units = MatchedRows(units.record, units.sizes, np.roll(units.fitted, -1, axis=1))
    return Matchings(units, units.lost(fits), units.cost(fits), bound, prices)


class _Permutation:
    """The search for the cheapest permutation that uses no pair of the units' permutations, nor a row with its owner.

    A record's row may fit its people as often as there are others with the record.
    """

    def __init__(self, fits: Fits, units: MatchedRows, check: Callable[[], object]) -> None:
        self._fits, self._units, self._check = fits, units, check
        self._visible = fits.shown(units.record) & ~units.lost(fits)
        self._sizes = fits.records.sizes
        own = units.record[:, None]
        known = np.concatenate((own, units.fitted), axis=1)  # the identity is used too
        used = (known[:, :, None] == known[:, None, :]).sum(axis=2)
        self._full = np.where(used >= self._sizes[known], known, -1)  # people whom no further pair may use
        order = np.argsort(units.record, kind="stable")
        first = np.searchsorted(units.record[order], np.arange(fits.records.count))
        self._first_unit = order[first]

    def cheapest(self) -> tuple[MatchedRows, int, NDArray[np.int64]]:
        """The units after it, a lower bound of what it costs in addition, and the prices of people that prove it."""
        penalty = PENALTY * sum(self._fits.weights) + 1
        transport = Transport(self._units.sizes, self._sizes, penalty)
        rows, people = self._nearest()
        transport.add(rows, people, self._costs(rows, people))
        bound, prices = -1, np.zeros(len(self._sizes), dtype=np.int64)
        while True:
            shipment = transport.solve(self._check)
            least, more_rows, more_people = self._violated(shipment.supplied, shipment.demanded)
            if least > bound:
                bound, prices = least, shipment.demanded
            if len(more_rows):
                transport.add(more_rows, more_people, self._costs(more_rows, more_people))
                rows, people = np.concatenate((rows, more_rows)), np.concatenate((people, more_people))
            elif shipment.unmet:
                penalty *= 8
                transport.penalize(penalty)
            else:
                break
        taken = np.flatnonzero(shipment.amounts)
        units, fitted = rows[taken], people[taken]
        after = np.concatenate((self._units.fitted[units], fitted[:, None]), axis=1)
        return MatchedRows(self._units.record[units], shipment.amounts[taken], after), bound, prices

    def _blocks(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The costs of all pairs, block by block of the units; `never` for pairs that may not be used."""
        for block, costs in self._fits.blocks(self._units.record, self._visible):
            full = self._full[block]
            line, place = np.nonzero(full >= 0)
            costs[line, full[line, place]] = self._fits.never
            yield block, costs

    def _nearest(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The pairs of each unit with its nearest people, and of a unit of each of them with the unit's people."""
        number = min(NEAREST, len(self._sizes))
        rows, people = [], []
        for block, costs in self._blocks():
            nearest = np.argpartition(costs, number - 1, axis=1)[:, :number]
            rows.append(np.repeat(np.arange(block.start, block.stop), number))
            people.append(nearest.reshape(-1))
        unit, person = np.concatenate(rows), np.concatenate(people)
        rows, people = [unit, self._first_unit[person]], [person, self._units.record[unit]]
        pairs = np.unique(np.concatenate(rows) * len(self._sizes) + np.concatenate(people))
        unit, person = np.divmod(pairs, len(self._sizes))
        allowed = ~(self._full[unit] == person[:, None]).any(axis=1)
        return unit[allowed], person[allowed]

    def _costs(self, units: NDArray[np.intp], people: NDArray[np.intp]) -> NDArray[np.int64]:
        return self._fits.weigh(self._visible[units] & self._fits.differences(self._units.record[units], people))

    def _violated(
        self, supplied: NDArray[np.int64], demanded: NDArray[np.int64]
    ) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
        """The bound that these prices prove, and some pairs that cost less than their prices."""
        bound = int(self._sizes @ demanded)
        rows, people = [], []
        number = min(VIOLATED, len(self._sizes))
        for block, costs in self._blocks():
            left = costs - demanded
            left[costs == self._fits.never] = np.iinfo(left.dtype).max
            least = left.min(axis=1)
            bound += int(self._units.sizes[block] @ least)
            lines = np.flatnonzero(least < supplied[block])
            if len(lines):
                few = np.argpartition(left[lines], number - 1, axis=1)[:, :number]
                line, place = np.nonzero(np.take_along_axis(left[lines], few, axis=1) < supplied[block][lines, None])
                rows.append(block.start + lines[line])
                people.append(few[line, place])
        none = np.empty(0, dtype=np.intp)
        return bound, np.concatenate((none, *rows)), np.concatenate((none, *people))


# Matchings of all people with all rows by rings: in each group of an anonymization a row also fits the next ones.
#
# A group's rows stand in a ring, similar ones beside each other, and each row is made to fit the people of the k - 1
# rows after it: k disjoint matchings, with no more lost than by the anonymization [Wong, Mamoulis & Cheung, Non-
# homogeneous generalization, ICDM 2010]. Rows of several groups that are matched anew among themselves, exactly for k =
# 2, stay so.


ROWS_MATCHED_ANEW = 500  # rows of similar groups that are matched anew at once
MATCHING_WORK = 30_000  # the work of matching a row, beside that of comparing it


class Rings:
    """The matchings of all rows, cheaper with each block that is matched anew.

    `table` is an anonymization with groups of k rows or more: pattern, kept columns, rows. Blocks are groups beside
    each other; those that lose most come first.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        table: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        self._records, self._k, self._weights = records, k, tuple(weights)
        pattern, kept = (np.repeat(each, table[2]) for each in table[:2])
        codes = np.stack(records.codes, axis=1).astype(np.int64)[pattern]
        bits = 1 << np.arange(len(weights), dtype=np.int64)
        shared = np.where(kept[:, None] & bits, codes, -1)  # equal exactly in a group
        order = np.lexsort((*codes.T[::-1], kept, *shared.T[::-1]))
        pattern, shared, kept = pattern[order], shared[order], kept[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (shared[1:] != shared[:-1]).any(axis=1) | (kept[1:] != kept[:-1])
        starts = np.flatnonzero(new)
        sizes = np.diff(starts, append=len(order))
        assert int(sizes.min()) >= k, "a ring needs k rows"
        start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        place = np.arange(len(order)) - start
        fitted = np.stack([pattern[start + (place + step) % size] for step in range(1, k)], axis=1)
        ends = np.searchsorted(starts, np.arange(ROWS_MATCHED_ANEW, len(order), ROWS_MATCHED_ANEW), side="left")
        cuts = np.unique(np.concatenate(([0], np.append(starts, len(order))[ends], [len(order)])))
        ones = np.ones(len(order), dtype=np.int64)
        self._blocks = [
            MatchedRows(pattern[begin:end], ones[begin:end], fitted[begin:end])
            for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        ]
        self._fits = Fits(records, weights)
        self._costs = [block.cost(self._fits) for block in self._blocks]

    @property
    def cost(self) -> int:
        return sum(self._costs)

    @property
    def order(self) -> list[int]:
        """The blocks, those with the highest cost first."""
        return sorted(range(len(self._blocks)), key=lambda block: (-self._costs[block], block))

    def compared(self, block: int) -> int:
        """About how many numbers are looked at where the block is matched anew."""
        rows = len(self._blocks[block].record)
        return 2 * (self._k - 1) * rows * (rows * len(self._weights) + MATCHING_WORK)

    def match_anew(self, block: int) -> None:
        """Match the block's rows with its people anew, if that is cheaper."""
        rows = self._blocks[block]
        own, place = np.unique(rows.record, return_inverse=True)
        sizes = np.bincount(place.reshape(-1), rows.sizes).astype(np.int64)
        part = Records(tuple(codes[own] for codes in self._records.codes), sizes)
        found = matchings(part, self._k, self._weights)
        if found.cost < self._costs[block]:
            units = found.units
            self._blocks[block] = MatchedRows(own[units.record], units.sizes, own[units.fitted])
            self._costs[block] = found.cost

    def matched(self) -> MatchedRows:
        """All rows as they are matched now."""
        return MatchedRows(
            np.concatenate([each.record for each in self._blocks]),
            np.concatenate([each.sizes for each in self._blocks]),
            np.concatenate([each.fitted for each in self._blocks]),
        )


# An independent check of k disjoint matchings of all people with all rows, computed from the codes.


def disjoint_matchings(records: Records, units: MatchedRows, lost: NDArray[np.bool_], k: int) -> bool:
    """Whether the rows that lose these cells fit the people of k matchings without a common pair, owners first.

    A record's rows may fit the people of a record as often as there are such people; in each matching every record's
    people have as many rows as they are. Then equal people can share them out so that no row fits one of them twice:
    the pairs are a k-regular graph, of which each pair is in a perfect matching, so that k rows can be anyone's.
    """
    everyone = np.concatenate((units.record[:, None], units.fitted), axis=1)
    if everyone.shape[1] != k or int(units.sizes.min(initial=1)) < 1:
        return False
    for people in everyone.T:
        if (np.bincount(people, units.sizes, records.count) != records.sizes).any():
            return False
        for place, codes in enumerate(records.codes):
            mine = codes[units.record]
            if (~lost[:, place] & (mine != 0) & (mine != codes[people])).any():
                return False
    ordered = np.sort(everyone, axis=1)
    run = np.ones(len(ordered), dtype=np.int64)  # how often the record of a place has come so far
    within = np.ones(len(ordered), dtype=bool)
    for place in range(1, k):
        run = np.where(ordered[:, place] == ordered[:, place - 1], run + 1, 1)
        within &= run <= records.sizes[ordered[:, place]]
    return bool(within.all())
