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

from qidsql.protection.records import Records
from qidsql.protection.suppression.fits import Fits
from qidsql.search.transport import Transport

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
