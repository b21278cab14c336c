"""Local suppression: the lightest cells to suppress per record, so that it keeps no unsafe combination of values.

A suppressed cell matches anything [Wilson, section 3]. The visible cells of a record are then safe if and only if at
least k - 1 other records agree with it on all of them: every unsafe combination is in a set of columns that fewer agree
on, and has to lose a cell. So a record's optimum is the lightest column set M such that k records agree with it on the
rest, and no integer program is needed; for k = 2 that is the (weighted) Hamming distance to the nearest other record.
Among sets of equal weight the smallest as a number is taken, so that every search gives the same plan.

This module has the parts that need no table: sets of columns in the order of their weight, blocks of columns, and the
search among nearby records.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.row_patterns import Records
from qidsql.protection.uniques.column_lattice import Agreement


@dataclass(frozen=True)
class Levels:
    """The column sets by their weight. Weights are positive."""

    weights: tuple[int, ...]

    @property
    def counts(self) -> dict[int, int]:
        """The number of column sets of each weight."""
        return self._counts[-1]

    @cached_property
    def _counts(self) -> list[dict[int, int]]:
        """The counts over the first columns, for 0 and more of them."""
        counts: list[dict[int, int]] = [{0: 1}]
        for weight in self.weights:
            more = dict(counts[-1])
            for lighter, number in counts[-1].items():
                more[lighter + weight] = more.get(lighter + weight, 0) + number
            counts.append(more)
        return counts

    def above(self, weight: int) -> int | None:
        """The least weight above this one that a column set has."""
        return min((other for other in self.counts if other > weight), default=None)

    def sets(self, weight: int) -> Iterator[int]:
        """All column sets of that weight, in the order of their numbers."""

        def choose(first: int, left: int, mask: int) -> Iterator[int]:
            if left not in self._counts[first]:
                return
            if first == 0:
                yield mask
                return
            yield from choose(first - 1, left, mask)
            yield from choose(first - 1, left - self.weights[first - 1], mask | 1 << first - 1)

        return choose(len(self.weights), weight, 0)


def blocks(number: int, weights: Sequence[int], values: Sequence[int]) -> list[int]:
    """The columns in so many disjoint blocks, for the pigeonhole principle: see `radius`.

    Heavy columns are together, so that the radius is large; among equals, the blocks have similar numbers of
    combinations of values, so that few records agree on one.
    """
    order = sorted(range(len(weights)), key=lambda place: (-weights[place], -values[place], place))
    found = [1 << place for place in order[:number]]
    lightest = [weights[place] for place in order[:number]]
    combinations = [values[place] + 1 for place in order[:number]]
    for place in order[number:]:
        least_loss = min(range(number), key=lambda b: (lightest[b] - weights[place], combinations[b], b))
        found[least_loss] |= 1 << place
        lightest[least_loss] = weights[place]
        combinations[least_loss] *= values[place] + 1
    return found


def radius(parts: Sequence[int], weights: Sequence[int]) -> int:
    """Records that differ by at most this weight agree on a whole block: else each block would contain a difference."""
    return sum(min(weights[place] for place in range(len(weights)) if part >> place & 1) for part in parts) - 1


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """The columns in which a record differs from a number of others, and their weight."""

    mask: int
    weight: int
    records: int


def lightest_union(differences: Sequence[Difference], needed: int, weights: Sequence[int], everything: int) -> int:
    """The lightest column set that contains the differences to `needed` other records; the smallest number of equals.

    Any minimal such set is a union of differences, which are joined depth first, the lightest first. A branch ends
    when the lacking records cannot be included without weighing as much as the best set known.
    """
    weigh = _weigher(weights)
    best = (weigh(everything), everything)

    def grow(union: int, candidates: Sequence[Difference], refused: list[int]) -> None:
        nonlocal best
        inside = [each for each in candidates if each.mask & ~union == 0]
        lacking = needed - sum(each.records for each in inside)
        if lacking <= 0:
            best = min(best, (weigh(union), union))
            return
        wider = [(union | each.mask, each) for each in candidates if each.mask & ~union]
        joined = sorted((weigh(mask), mask, each.mask, each) for mask, each in wider)
        for place, (weight, mask, added, _) in enumerate(joined):
            if (weight, mask) >= best or _reach(joined[place:], lacking, best[0]) < lacking:
                return
            # Supersets of a rejected candidate were already searched in its branch.
            if not any(other & ~mask == 0 for other in refused):
                grow(mask, [*(each for *_, each in joined[place:]), *inside], list(refused))
                refused.append(added)

    grow(0, differences, [])
    return best[1]


def _reach(joined: Sequence[tuple[int, int, int, Difference]], lacking: int, limit: int) -> int:
    """How many records can be included without a union above the limit; counted up to the number lacking."""
    found = 0
    for weight, _, _, each in joined:
        if weight > limit or found >= lacking:
            break
        found += each.records
    return found


def _weigher(weights: Sequence[int]) -> Callable[[int], int]:
    """`weight_of`, faster for many sets."""
    classes = [(w, sum(1 << place for place, other in enumerate(weights) if other == w)) for w in set(weights)]
    if len(classes) == 1:
        [(only, _)] = classes
        return lambda mask: only * mask.bit_count()
    return lambda mask: sum(weight * (mask & members).bit_count() for weight, members in classes)


# The optimal suppression of records by counts on every column set: any k, few columns.
#
# For records side by side, the rows that differ from each of them in exactly a column set are counted, and summed over
# all subsets: the rows that agree on the rest. A record loses the lightest set whose count is k.


COUNTS = 1 << 25  # bytes of counts at once
CACHED = 1 << 19  # ... that are summed together first, so that they stay in the processor's cache
LINE = 1 << 12  # counts that one minimum compares: with an array numpy is 20 times faster than with a number


class SuppressionByCounts:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights. Work for a record: about 2^columns byte operations for each column. `check` is called
    several times a second and may raise to end it.
    """

    def __init__(self, sizes: NDArray[np.int64], k: int, weights: Sequence[int], check: Callable[[], object]) -> None:
        self._sizes, self._k, self._check = sizes, k, check
        every = np.zeros(1, dtype=np.int64)  # weights of all column sets
        for weight in weights:
            every = np.concatenate((every, every + weight))
        self._order = np.argsort(every, kind="stable")
        self._rows = np.zeros(len(every), dtype=np.int64)
        self._kind: np.dtype[np.unsignedinteger] = np.dtype(
            np.uint8 if k < 1 << 7 else np.uint16 if k < 1 << 15 else np.uint64
        )

    def of(self, differences: NDArray[np.uint32]) -> NDArray[np.int64]:
        """What each record must lose, from a line of its differences to all records."""
        found = np.empty(len(differences), dtype=np.int64)
        word = 8 // self._kind.itemsize
        lanes = word * max(1, min(8, COUNTS // 8 // len(self._order)))
        for first in range(0, len(found), lanes):
            self._check()
            some = differences[first : first + lanes]
            counts = np.zeros((len(self._order), -(-len(some) // word) * word), dtype=self._kind)
            for lane, each in enumerate(some):
                np.add.at(self._rows, each, self._sizes)
                counts[each, lane] = np.minimum(self._rows[each], self._k)
                self._rows[each] = 0
            add_subsets(counts, self._k)
            found[first : first + lanes] = self._lightest(counts, len(some))
        return found

    def _lightest(self, counts: NDArray[np.unsignedinteger], lanes: int) -> NDArray[np.int64]:
        """The first set in each lane with a count of k."""
        found = np.full(lanes, -1, dtype=np.int64)
        for first in range(0, len(self._order), LINE):
            some = self._order[first : first + LINE]
            enough = counts.take(some, axis=0) >= self._k
            for lane in np.flatnonzero(enough[:, :lanes].any(axis=0) & (found < 0)).tolist():
                found[lane] = some[enough[:, lane].argmax()]
            if (found >= 0).all():
                break
        return found


def add_subsets(counts: NDArray[np.unsignedinteger], most: int) -> None:
    """Turn counts by column set, a line for each set, into counts of the set and all its subsets, in place.

    Counts above `most` may be lowered to any number from there on. Their type must have room for 2 * most, and their
    lines must be whole words of 8 bytes. In two passes over memory: the first columns, and then the others.
    """
    sets, lanes = counts.shape
    inner = min(sets, 1 << max(0, (CACHED // counts[0].nbytes).bit_length() - 1))
    for start in range(0, sets, inner):
        _add(counts[start : start + inner], most)
    outer = counts.reshape(sets // inner, inner * lanes)
    step = max(lanes, inner * lanes * inner // sets)
    for start in range(0, inner * lanes, step):
        _add(outer[:, start : start + step], most)


def _add(counts: NDArray[np.unsignedinteger], most: int) -> None:
    """Add lines that need not be next to each other."""
    words = counts.view(np.uint64)
    sets, lanes = counts.shape
    joined = min(sets, 1 << max(0, (LINE // lanes).bit_length() - 1))  # a power of two, as `sets` is: it divides them
    lines = counts.reshape(-1, joined * lanes) if counts.flags.c_contiguous else counts
    highest = np.full(lines.shape[1], most, dtype=counts.dtype)
    doublings = (int(np.iinfo(counts.dtype).max) // most).bit_length() - 1
    columns = sets.bit_length() - 1
    for column in range(columns):
        pairs = words.reshape(-1, 2, 1 << column, words.shape[1])
        np.add(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        if (column + 1) % doublings == 0 or column + 1 == columns:
            np.minimum(lines, highest, out=lines)


# The optimal suppression of records by the column sets around differences: any k, few where others are near.
#
# A record may lose a column set that contains its differences to k - 1 other rows. So the lightest sets that contain a
# difference are listed, once for each difference inside them, and one that is listed often enough is the answer.


LIGHT = 1 << 17  # column sets, the lightest, that may be added to a difference
LISTED = 1 << 18  # column sets listed at once
WEIGHT_STEPS = 64  # of weights, at most
BUCKET_BITS = 18  # bits of a hash: sets in a bucket with too few rows need no sorting

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
        self._halves = [_weights_of_sets(relative[first : first + 16], self._kind) for first in (0, 16)]
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
        while len(levels := {weight // self._step for weight in every}) > WEIGHT_STEPS:
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
            bucket = ((listed >> self._row_bits).view(np.uint64) * HASH >> np.uint64(64 - BUCKET_BITS)).view(np.int64)
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

    def _weigh(self, masks: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
        halves = masks.astype(np.uint32, copy=False).view(np.uint16)
        found: NDArray[np.unsignedinteger] = self._halves[0].take(halves[::2])
        found += self._halves[1].take(halves[1::2])
        return found


# The optimal suppression of records for k = 2: what differs from the nearest other.


class SuppressionByNearest:
    """The lightest column set that a record must lose so that another agrees on the rest; the smallest among equals.

    Exact, also with weights, at most 32 columns.
    """

    def __init__(self, sizes: NDArray[np.int64], weights: Sequence[int]) -> None:
        self._single, self._alike = sizes < 2, set(weights) == {1}
        kind = np.min_scalar_type(sum(weights) + 1)
        self._halves = [_weights_of_sets(weights[first : first + 16], kind) for first in (0, 16)]
        self._most = kind.type(sum(weights) + 1)

    def of(self, some: NDArray[np.intp], differences: NDArray[np.uint32]) -> NDArray[np.int64]:
        """What these records must lose, from a line of the differences to all records for each."""
        weighs = self._weigh(differences)
        alone = np.flatnonzero(self._single[some])
        weighs[alone, some[alone]] = self._most
        least = weighs.min(axis=1)
        lines = zip(differences, weighs, least, strict=True)
        return np.array([line[weigh == lightest].min() for line, weigh, lightest in lines], dtype=np.int64)

    def _weigh(self, differences: NDArray[np.uint32]) -> NDArray[np.unsignedinteger]:
        if self._alike and hasattr(np, "bitwise_count"):  # of numpy 2, five times as fast
            bits: NDArray[np.unsignedinteger] = np.bitwise_count(differences)
            return bits
        halves = differences.view(np.uint16)
        weighs: NDArray[np.unsignedinteger] = self._halves[0].take(halves[:, ::2])
        weighs += self._halves[1].take(halves[:, 1::2])
        return weighs


def _weights_of_sets(columns: Sequence[int], kind: np.dtype[Any]) -> NDArray[np.unsignedinteger]:
    """The weights of all sets of these columns."""
    found: NDArray[np.unsignedinteger] = np.zeros(1, dtype=kind)
    for weight in columns:
        found = np.concatenate((found, found + kind.type(weight)))
    return found


# The optimal suppression of records that are compared with all others: around few differences, else on all sets.


COUNTED_COLUMNS = 22  # counts on all sets of so many columns are 4 megabytes a record
COUNTS_PER_SET = 50  # counts that are summed while one set around a difference is listed
AT_ONCE, PAIRS = 1 << 9, 1 << 22  # records, and pairs of records, compared at once

Solved = tuple[NDArray[np.intp], NDArray[np.int64]]  # records, and the column set that each must lose


class SuppressionByComparison:
    """The lightest column set that a record must lose so that k rows agree on the rest; the smallest among equals.

    Exact, also with weights and with `wildcard`, at most 32 columns. Of more than COUNTED_COLUMNS, records far from k
    others are left. Work for a record: columns * records byte operations, and that of the two ways. `check` is called
    several times a second and may raise to end it.
    """

    def __init__(
        self,
        records: Records,
        k: int,
        weights: Sequence[int],
        wildcard: bool = False,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._records, self._check = records, check
        self._agreement = Agreement(records, wildcard)
        most, columns = LIGHT, len(weights)
        self._by_counts = None
        if columns <= COUNTED_COLUMNS:
            most = min(most, (columns << columns) // COUNTS_PER_SET)
            self._by_counts = SuppressionByCounts(records.sizes, k, weights, check)
        self._by_supersets = SuppressionBySupersets(records.sizes, k, weights, most, check)
        self._by_nearest = SuppressionByNearest(records.sizes, weights) if k == 2 else None

    def of(self, todo: NDArray[np.intp]) -> Iterator[Solved]:
        """Solve these records, block by block."""
        number = max(8, min(AT_ONCE, PAIRS // self._records.count))
        for start in range(0, len(todo), number):
            some = todo[start : start + number]
            differences = self._differences(some)
            if self._by_nearest:
                yield some, self._by_nearest.of(some, differences)
                continue
            found = self._by_supersets.of(differences)
            left = np.flatnonzero(found < 0)
            if self._by_counts and len(left):
                found[left] = self._by_counts.of(differences[left])
            yield some[found >= 0], found[found >= 0]

    def _differences(self, some: NDArray[np.intp]) -> NDArray[np.uint32]:
        found = np.zeros((len(some), self._records.count), dtype=np.uint32)
        every = np.uint32((1 << self._records.columns) - 1)
        for record, line in zip(some, found, strict=True):
            self._agreement.masks(record, line.view(np.int32))
            np.bitwise_xor(line, every, out=line)
            self._check()
        return found


# For each record, others that agree with it on much: of all pairs, or of those that are close in sorted orders.


# pairs of records that are compared, at most; of more, those within the window of an order
MOST_PAIRS_COMPARED = 4_000_000_000
WINDOW = 6
CELLS = 1 << 22  # in a block


def neighbours(
    records: Records, weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    """For each record a line of others, the most similar first: the weight of the values that both have in common.

    A NULL is in common with nobody. `check` is called for each block with the pairs compared, and may raise.
    """
    codes = np.stack(records.codes, axis=1).astype(np.int32)
    number = min(number, records.count - 1)
    if records.count**2 <= MOST_PAIRS_COMPARED:
        return _of_all_pairs(codes, weights, number, check)
    return _of_orders(codes, weights, number, check)


def common(ones: NDArray[np.int32], others: NDArray[np.int32], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """The weight of the values in common, for lines of codes along the last axis."""
    found: NDArray[np.int64] = ((ones == others) & (ones > 0)) @ weights
    return found


def _of_all_pairs(
    codes: NDArray[np.int32], weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    count = len(codes)
    kind = np.min_scalar_type(-int(weights.sum()) - 1)
    found = np.empty((count, number), dtype=np.intp)
    columns = [np.ascontiguousarray(codes[:, place]) for place in range(codes.shape[1])]
    step = max(1, CELLS // count)
    for start in range(0, count, step):
        check(step * count)
        block = np.arange(start, min(start + step, count))
        apart = np.zeros((len(block), count), dtype=kind)
        for column, weight in zip(columns, weights, strict=True):
            mine = np.where(column[block] > 0, column[block], -1)  # a NULL agrees with nothing
            apart -= (mine[:, None] == column) * kind.type(weight)
        apart[np.arange(len(block)), block] = 1
        near = np.argpartition(apart, number - 1, axis=1)[:, :number]
        order = np.lexsort((near, np.take_along_axis(apart, near, axis=1)), axis=1)
        found[block] = np.take_along_axis(near, order, axis=1)
    return found


def _of_orders(
    codes: NDArray[np.int32], weights: NDArray[np.int64], number: int, check: Callable[[int], object]
) -> NDArray[np.intp]:
    count, columns = codes.shape
    found = np.empty((count, 0), dtype=np.intp)
    for first in range(columns):
        places = [(first + step) % columns for step in range(columns)]
        order = np.lexsort([codes[:, place] for place in reversed(places)])
        near = np.empty((count, 2 * WINDOW), dtype=np.intp)
        for place, shift in enumerate([*range(-WINDOW, 0), *range(1, WINDOW + 1)]):
            near[order, place] = np.roll(order, shift)
        near = np.sort(np.concatenate((found, near), axis=1), axis=1)
        best = np.empty((count, min(number, near.shape[1])), dtype=np.intp)
        step = max(1, CELLS // (near.shape[1] * columns))
        for start in range(0, count, step):
            check(step * near.shape[1])
            block = near[start : start + step]
            apart = -common(codes[start : start + step, None], codes[block], weights)
            apart[:, 1:][block[:, 1:] == block[:, :-1]] = 1  # twice in the line
            apart[block == np.arange(start, start + len(block))[:, None]] = 1
            chosen = np.argsort(apart, axis=1, kind="stable")[:, : best.shape[1]]
            best[start : start + step] = np.take_along_axis(block, chosen, axis=1)
        found = best
    return found
