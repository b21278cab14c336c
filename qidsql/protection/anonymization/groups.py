"""The groups of rows that suppression could make identical: the classes of k rows or more on each column set."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions, weight_of
from qidsql.protection.records import Records


def number_type(records: Records, k: int) -> "np.dtype[np.signedinteger]":
    """The type of the numbers of classes of k rows."""
    return np.dtype(np.int16 if records.rows // k < 1 << 15 else np.int32)


class Groups:
    """The classes of k rows or more on column sets, numbered set by set, those that lose least first.

    `numbers[s, r]` is the class of record r on the set `sets[s]`, or -1 if it has fewer than k rows; `first[s]` plus
    that is the number of the group. `losses[s]` is the weight of the columns that the set does not keep. The first set
    keeps all columns, the last one none; of the sets given, those at the end are left out if the numbers would need
    more than `memory` bytes: 2 or 4 for each record and set. `complete`: no column set is missing.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        column_sets: Iterable[int],
        memory: int,
        check: Callable[[int], object] = lambda work: None,
    ) -> None:
        self.records, self.k, self._check = records, k, check
        everything = (1 << records.columns) - 1
        kind = number_type(records, k)
        room = max(2, memory // (kind.itemsize * records.count))
        wanted = list(dict.fromkeys([everything, 0, *column_sets]))[:room]
        losses = {kept: weight_of(everything & ~kept, weights) for kept in wanted}
        self.sets = sorted(wanted, key=lambda kept: (losses[kept], kept))
        self.losses = np.array([losses[kept] for kept in self.sets], dtype=np.int64)
        self.complete = len(self.sets) == everything + 1
        self.numbers = np.full((len(self.sets), records.count), -1, dtype=kind)
        self.first = np.concatenate(([0], np.cumsum(self._number_classes())))

    @property
    def count(self) -> int:
        return int(self.first[-1])

    @property
    def root(self) -> int:
        """The group of all rows, which keep nothing."""
        return self.count - 1

    def set_of(self, groups: NDArray[np.int64]) -> NDArray[np.intp]:
        """The place of the column set of each group."""
        return np.searchsorted(self.first, groups, side="right") - 1

    def losses_in(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a row loses in each group."""
        found: NDArray[np.int64] = self.losses[self.set_of(groups)]
        return found

    def members(self) -> dict[tuple[int, ...], int]:
        """The records of every group, with the column set that loses least of those they all agree on."""
        found: dict[tuple[int, ...], int] = {}
        for place, kept in enumerate(self.sets):
            order = np.argsort(self.numbers[place], kind="stable")
            ends = np.cumsum(np.bincount(self.numbers[place] + 1))
            for part in np.split(order, ends)[1:-1]:
                found.setdefault(tuple(part.tolist()), kept)
        return found

    def least_losses(self) -> NDArray[np.int64]:
        """For each record the least loss with which k rows agree on what it keeps."""
        found = np.full(self.records.count, self.losses[-1])
        for place in reversed(range(len(self.sets))):
            found[self.numbers[place] >= 0] = self.losses[place]
        return found

    def _number_classes(self) -> list[int]:
        """Fill `numbers`; return the number of classes of each set."""
        counts = [0] * len(self.sets)
        for place, rows, classes in large_classes(self.records, self.k, self.sets, self._check):
            self.numbers[place, rows] = classes
            counts[place] = int(classes.max(initial=-1)) + 1
        return counts


def large_classes(
    records: Records, k: int, sets: Sequence[int], check: Callable[[int], object]
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.int64]]]:
    """For the place of each column set the records in classes of k rows or more, and the numbers of their classes.

    Each set is refined from one that it extends. `check` is called for each set and may raise.
    """
    rows = np.arange(records.count)
    path = [(0, rows, np.zeros(len(rows), dtype=np.int64))]  # each a beginning of the next
    for place in sorted(range(len(sets)), key=lambda place: tuple(positions(sets[place]))):
        check(0)
        kept = sets[place]
        while path[-1][0] != kept & ((1 << path[-1][0].bit_length()) - 1):
            path.pop()
        for column in positions(kept & ~path[-1][0]):
            before, rows, classes = path[-1]
            path.append((before | 1 << column, *_refined(records, k, rows, classes, column)))
        yield place, *path[-1][1:]


def least_losses(records: Records, k: int, weights: Sequence[int], check: Callable[[int], object]) -> NDArray[np.int64]:
    """For each record the least loss with which k rows agree on what it keeps, of all column sets."""
    everything = (1 << records.columns) - 1
    found = np.full(records.count, sum(weights))
    for kept, rows, _ in large_classes(records, k, range(everything + 1), check):
        found[rows] = np.minimum(found[rows], weight_of(everything & ~kept, weights))
    return found


def _refined(
    records: Records, k: int, rows: NDArray[np.intp], classes: NDArray[np.int64], column: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The records that are still in classes of k rows after one more column, and their classes."""
    keys = records.refined(rows, classes, column)
    large = np.bincount(keys, weights=records.sizes[rows]) >= k  # exact below 2^53 rows
    chosen = large[keys]
    return rows[chosen], (np.cumsum(large) - 1)[keys[chosen]]
