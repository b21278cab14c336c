"""The optimal suppression of records by the column sets around differences: any k, few where others are near.

A record may lose a column set that contains its differences to k - 1 other rows. So the lightest sets that contain a
difference are listed, once for each difference inside them, and one that is listed often enough is the answer.
"""

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.suppression.lightest import Levels

LIGHT = 1 << 17  # column sets, the lightest, that may be added to a difference
LISTED = 1 << 18  # column sets listed at once
STEPS = 64  # of weights, at most
BUCKETS = 18  # bits of a hash: sets in a bucket with too few rows need no sorting

HASH = np.uint64(0x9E3779B97F4A7C15)

Keys = NDArray[np.int64]  # a line, a column set and a number of rows, up to k, in the bits of one number


class SuppressionBySupersets:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights. Weights come in steps: one for each number of columns, if all weigh the same. Work for a
    record: the column sets that contain a difference, step by step up to the optimum. A record for which that is more
    than `most` in a step is left. `check` is called several times a second and may raise to end it.
    """

    def __init__(
        self, sizes: NDArray[np.int64], k: int, weights: Sequence[int], most: int, check: Callable[[], object]
    ) -> None:
        self._sizes, self._k, self._most, self._check = np.minimum(sizes, k), k, most, check
        relative = [weight // gcd(*weights) for weight in weights]
        self._kind = np.min_scalar_type(sum(relative))
        self._halves = [self._weights(relative[first : first + 16]) for first in (0, 16)]
        self._row_bits = k.bit_length()
        self._line_place = self._row_bits + len(weights)
        self._rows, self._mask = (1 << self._row_bits) - 1, (1 << len(weights)) - 1
        light = np.zeros(1, dtype=np.int64)
        for column in range(len(weights)):
            light = np.concatenate((light, light | 1 << column))
            light = light[np.argsort(self._weigh(light), kind="stable")[: LIGHT + 1]]
        self._light, self._lightness = light, self._weigh(light).astype(np.int64)
        self._reach = int(self._lightness[-1]) if len(light) > LIGHT else 2 * sum(relative)  # all lighter are there
        self._step = sorted(relative)[len(relative) // 2]
        every = Levels(tuple(relative)).counts
        while len(levels := {weight // self._step for weight in every}) > STEPS:
            self._step *= 2
        self._levels = sorted(levels)

    def of(self, differences: NDArray[np.uint32]) -> NDArray[np.int64]:
        """What each record must lose, from a line of its differences to all records; -1 if it is left."""
        lines, count = differences.shape
        if self._line_place + lines.bit_length() > 63:
            return np.full(lines, -1)
        levels = np.empty(differences.shape, dtype=self._kind)
        for number, each in enumerate(differences):
            levels[number] = self._weigh(each) // self._kind.type(self._step)
        same, other = np.divmod(np.flatnonzero(differences == 0), count)
        needed = self._k - np.bincount(same, self._sizes[other], lines).astype(np.int64)
        found = np.where(needed <= 0, 0, -1)
        todo = np.flatnonzero(found)
        near: Keys = np.zeros(0, dtype=np.int64)
        for level in self._levels:
            if not len(todo):
                break
            self._check()
            line, other = np.divmod(np.flatnonzero(levels[todo] == level), count)
            line = todo[line]
            masks = differences[line, other].astype(np.int64)
            more = line << self._line_place | masks << self._row_bits | self._sizes[other]
            near = np.concatenate((near, self._merged(more[masks > 0])))
            left = self._search(near, level * self._step, needed, found)
            todo = todo[(found[todo] < 0) & ~left[todo]]
            near = near[np.isin(near >> self._line_place, todo)]
        return found

    def _search(self, near: Keys, least: int, needed: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Note in `found` the answers that weigh `least` to a step more; the lines that would take too long."""
        line = near >> self._line_place
        lack = least - self._weigh(near >> self._row_bits & self._mask).astype(np.int64)
        sets = np.searchsorted(self._lightness, lack + self._step) - np.searchsorted(self._lightness, lack)
        sets[lack + self._step > self._reach] = self._most + 1
        rows, cost = (np.bincount(line, each, len(needed)).astype(np.int64) for each in (near & self._rows, sets))
        asked = rows >= needed
        left = asked & (cost > self._most)
        cost[left | ~asked] = 0
        batch = np.where(cost > 0, np.cumsum(cost) // LISTED, -1)[line]
        for number in range(int(batch.max(initial=-1)) + 1):
            self._check()
            some = batch == number
            listed = self._listed(near[some], lack[some])
            bucket = ((listed >> self._row_bits).view(np.uint64) * HASH >> np.uint64(64 - BUCKETS)).view(np.int64)
            enough = np.bincount(bucket, listed & self._rows)[bucket] >= needed[listed >> self._line_place]
            listed = self._merged(listed[enough])
            listed = listed[listed & self._rows >= needed[listed >> self._line_place]]
            lines, masks = listed >> self._line_place, listed >> self._row_bits & self._mask
            best = np.lexsort((masks, self._weigh(masks), lines))
            best = best[np.diff(lines[best], prepend=-1) > 0]
            found[lines[best]] = masks[best]
        return left

    def _listed(self, near: Keys, lack: NDArray[np.int64]) -> Keys:
        """Each difference with each column set beside it that weighs what it lacks, up to a step more."""
        found = [near[:0]]
        for least in np.unique(lack).tolist():
            first, end = np.searchsorted(self._lightness, (least, least + self._step))
            ones, others = near[lack == least][:, None], self._light[first:end] << self._row_bits
            found.append((ones | others)[ones & others == 0])
        return np.concatenate(found)

    def _merged(self, keys: Keys) -> Keys:
        """Sorted, the rows of the same line and column set together."""
        keys = np.sort(keys)
        first = np.flatnonzero(np.diff(keys >> self._row_bits, prepend=-1))
        rows = np.add.reduceat(keys & self._rows, first) if len(first) else first
        merged: Keys = keys[first] & ~self._rows | np.minimum(rows, self._k)
        return merged

    def _weights(self, columns: Sequence[int]) -> NDArray[np.unsignedinteger]:
        """The weights of all sets of these columns."""
        found = np.zeros(1, dtype=self._kind)
        for weight in columns:
            found = np.concatenate((found, found + self._kind.type(weight)))
        return found

    def _weigh(self, masks: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
        halves = masks.astype(np.uint32, copy=False).view(np.uint16)
        found: NDArray[np.unsignedinteger] = self._halves[0].take(halves[::2])
        found += self._halves[1].take(halves[1::2])
        return found
