"""Proofs about keys from pairs of rows: difference masks, and anchors, whose supersets are all decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, inf, log
from types import MappingProxyType
from typing import Protocol

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent
from qidsql.measures.profiles import ClassProfile, Profiler
from qidsql.search.hitting_sets import minimal_masks

# The columns on which pairs of rows differ, as bit masks: what a search for keys uses besides profiles.


@dataclass(frozen=True, slots=True)
class AgreeingPairs:
    """The pairs of rows that agree on a column set.

    `pairs` counts them, ordered: sum c * (c - 1) over the classes. Each mask is the set of columns on which one of
    them differs; 0 for duplicate rows. `complete`: every pair differs on a superset of one of the masks. There is a
    mask whenever there is a pair.
    """

    pairs: int
    masks: tuple[int, ...]
    complete: bool


class RowPairs(Protocol):
    """Pairs of rows as evidence against keys: a key must contain a column of every mask.

    `agreeing` returns an item for each column set in order; complete if at most `max_pairs` pairs agree, unless those
    have too many masks to transfer. Raises Stopped.
    """

    @property
    def max_pairs(self) -> int: ...

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]: ...


BEAM = 24  # sets kept at each size in the search for an anchor
SOME = 5_000  # masks kept of an incomplete answer: they refute candidates, and prove nothing else
MOST_MASKS = 500_000  # masks kept in all
EXPECTED_PAIRS = 3_000  # pairs that a query for masks could well have more of: a scan costs as much
PAIR_SCANS = 1.5  # cost of comparing two rows, in steps of a scan
NEARNESS = 0.3  # weight of how many pairs a set has lost, against how many candidates contain it


class Anchors:
    """The masks known so far, and the anchors: sets whose agreeing pairs are all known.

    Every key hits every mask. A set that hits all masks and contains an anchor is a key: each pair that agrees on it
    agrees on the anchor too, so its mask, or a smaller one, is among the masks, and would not be hit. The result does
    not depend on chance: estimates only decide which sets to query. Needs the profile of every single column; those
    `known` of other sets refute candidates that are part of these, and tell how many pairs a query compares.
    """

    def __init__(
        self,
        profiler: Profiler,
        row_pairs: RowPairs,
        rows: int,
        known: Mapping[int, ClassProfile] = MappingProxyType({}),
    ) -> None:
        self._answers: dict[int, AgreeingPairs] = {}
        self._unlearned: list[int] = []
        self._incomplete = False  # some answer was not complete
        self._without = 3  # columns that a part of a candidate lacks, see `learn_of`
        self._profiler, self._row_pairs = profiler, row_pairs
        self._columns = profiler.columns
        self._most = log(max(2, row_pairs.max_pairs))
        self._rows = log(max(2, rows))
        pairs = max(1, rows * (rows - 1))
        singles = profiler.profiles([1 << place for place in range(profiler.columns)])
        self.crowded = False  # some set had more masks than can be transferred: there may be too many keys to list
        self.anchors = [1 << place for place, single in enumerate(singles) if not single.colliding_pairs]
        everything = (1 << self._columns) - 1
        agreeing = {mask: profile.colliding_pairs for mask, profile in known.items()}
        agreeing |= {1 << place: single.colliding_pairs for place, single in enumerate(singles)}
        # A set that is no key contains no key: every key contains a column outside it.
        self.masks = minimal_masks(everything ^ mask for mask, number in agreeing.items() if number)
        few = {mask: log(number) for mask, number in agreeing.items() if 0 < number <= row_pairs.max_pairs}
        self.least_columns = _least_columns(rows, [profile.classes for profile in singles])
        # logarithms of the factors by which one more column reduces the agreeing pairs
        self._loss = [log(pairs) - log(max(1, single.colliding_pairs)) for single in singles]
        self._measured = {0: log(pairs), **few}  # logarithm of the pairs that agree on a set

    def settles(self, mask: int) -> bool:
        """True if the masks decide whether the set is a key: it is one if and only if it hits all of them."""
        return any(mask & anchor == anchor for anchor in self.anchors)

    def learn(self, candidates: Sequence[int], anchors: int) -> None:
        """Query sets chosen so that they decide the candidates, which hit all masks and are not decided.

        At most `anchors` statements, in parallel. Afterwards there is a mask that some candidate does not hit, or one
        more anchor. Raises Stopped.
        """
        sets: list[int] = []
        while candidates and len(sets) < anchors:
            chosen = self._choose(candidates)
            sets.append(chosen)
            candidates = [c for c in candidates if c & chosen not in (c, chosen)]
        self._learn(sets)

    def learn_of(self, candidate: int) -> None:
        """Query a part of a candidate, which hits all masks and is not decided. One statement. Raises Stopped.

        Until an answer is incomplete, the part is chosen as by `learn`: a set with many pairs. From then on it is the
        candidate without a few columns, those that divide the fewest pairs by themselves: one column fewer is left out
        after an incomplete answer, one more after an answer of few pairs. Such a part has the pairs that matter to the
        candidate and those like it, and few others.
        """
        if not self._incomplete:
            self._learn([self._choose([candidate])])
            return
        least = sorted(positions(candidate), key=lambda place: self._loss[place])
        part = candidate & ~sum(1 << place for place in least[: self._without])
        part = candidate if part in self._answers or not part else part
        self._learn([part])
        answer = self._answers[part]
        if not answer.complete:
            self._without = max(0, self._without - 1)
        elif answer.pairs < EXPECTED_PAIRS:
            self._without += 1

    def _learn(self, sets: Sequence[int]) -> None:
        self.agreeing(sets)
        masks, complete = list(self.masks), []
        for chosen in {*sets, *self._unlearned}:
            answer = self._answers[chosen]
            masks += answer.masks if answer.complete else sorted(answer.masks, key=int.bit_count)[:SOME]
            if answer.complete:
                complete.append(chosen)
                self._measured[chosen] = log(max(1, answer.pairs))
            else:  # too many pairs, or too many masks: treated like too many pairs
                self._measured[chosen] = max(log(max(1, answer.pairs)), self._most + 1)
                self.crowded |= answer.pairs <= self._row_pairs.max_pairs
            self._answers[chosen] = replace(answer, masks=())
        self._unlearned.clear()
        self._incomplete |= not all(self._answers[chosen].complete for chosen in sets)
        self.masks = minimal_masks(masks, lambda: self._profiler.profiles([]))
        self.anchors += complete  # only now: an anchor decides nothing without its masks
        if len(self.masks) > MOST_MASKS:
            raise BudgetSpent(
                f"the rows differ in more than {MOST_MASKS:,} ways; search fewer columns, or up to a --max-size"
            )

    def agreeing(self, sets: Sequence[int]) -> list[AgreeingPairs]:
        """The agreeing pairs of each set; one statement for each set that was not queried before. Raises Stopped.

        The masks of a set that `learn` has processed are not repeated. `learn` processes new sets, except keys.
        """
        new = [mask for mask in dict.fromkeys(sets) if mask not in self._answers]
        for mask, answer in zip(new, self._row_pairs.agreeing(new), strict=True):
            self._answers[mask] = answer
            if answer.pairs:
                self._unlearned.append(mask)
        return [self._answers[mask] for mask in sets]

    def _choose(self, candidates: Sequence[int]) -> int:
        """A set with few enough agreeing pairs that is contained in as many candidates as possible.

        A candidate too small to contain one is extended. [FACTS 10.1]
        """
        best = self._common_part(candidates)
        if best is not None:
            return best
        chosen = candidate = min(candidates, key=self._pairs)
        while self._pairs(chosen) > self._most:
            grown = [chosen | 1 << place for place in range(self._columns) if not chosen >> place & 1]
            useful = [more for more in grown if 0 < self._pairs(more) < self._pairs(chosen)]
            if not useful:
                break
            chosen = min(useful, key=self._pairs)
        # A known anchor did not refute the candidate: then query the candidate itself.
        return candidate if chosen in self._answers else chosen

    def _common_part(self, candidates: Sequence[int]) -> int | None:
        """The best set inside candidates by beam search; None if all candidates have too many pairs."""
        if self._pairs(0) <= self._most:
            return 0
        members: dict[int, list[int]] = {}
        for number, candidate in enumerate(candidates):
            for place in positions(candidate):
                members.setdefault(place, []).append(number)
        holders = {place: sum(1 << number for number in numbers) for place, numbers in members.items()}
        beam, seen = [(0, (1 << len(candidates)) - 1)], {0}
        best: tuple[float, float, int] | None = None
        while beam:
            grown: list[tuple[float, int, int]] = []
            for chosen, holding in beam:
                for place, others in holders.items():
                    more = chosen | 1 << place
                    if more in seen:
                        continue
                    seen.add(more)
                    both = holding & others
                    count = both.bit_count()
                    if count < (best[0] if best else 1):  # not even if it cost only a scan
                        continue
                    pairs = self._pairs(more)
                    if pairs > self._most:
                        grown.append((log(count) - NEARNESS * pairs, more, both))
                    elif best is None or (count / self._cost(pairs), pairs) > best[:2]:
                        best = (count / self._cost(pairs), pairs, more)
            beam = [(more, both) for _, more, both in nlargest(BEAM, grown)]
        return best[2] if best else None

    def _cost(self, pairs: float) -> float:
        """The cost of a query in scans of the table, where comparing pairs dominates; else 1."""
        return 1 + PAIR_SCANS * exp(pairs - self._rows) if self._most > self._rows else 1.0

    def _pairs(self, mask: int) -> float:
        """The estimated logarithm of the pairs that agree on the set, assuming that columns are independent."""
        least = -inf
        for measured, pairs in self._measured.items():
            if mask & measured == measured:
                least = max(least, pairs - sum(self._loss[place] for place in positions(mask & ~measured)))
        return least


def _least_columns(rows: int, classes: Sequence[int]) -> int:
    """A lower bound for the columns of a key: fewer do not have as many combinations of values as there are rows."""
    combinations = 1
    for size, values in enumerate(sorted(classes, reverse=True), 1):
        combinations *= values
        if combinations >= rows:
            return size
    return len(classes)
