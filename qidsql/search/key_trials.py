"""Some small minimal keys, by greedy trials: an answer where there are too many keys to list."""

from collections.abc import Sequence
from heapq import nsmallest
from random import Random

from qidsql.core.tables import positions
from qidsql.measures.profiles import Profiler
from qidsql.search.anchors import Anchors
from qidsql.search.hitting_sets import transposed

KEPT = 1_000  # keys, the smallest
SHORT = 2_000  # masks that trials begin with: those with the fewest columns are the hardest to hit
LEARNED = 20_000  # masks kept from earlier trials, the latest
TRIALS = 8  # in one batch of statements


class KeyTrials:
    """Minimal keys found and proved in trials, at most KEPT, the smallest: memory stays constant.

    A trial hits the hardest known masks, taking the column that hits most first, and removes columns that are not
    needed. The engine then returns the difference masks of the rows that agree on the set; with columns that separate
    those too it is a key. Columns that are not needed are removed again, by the profiles of the rest. The first trial
    always takes the best column, later ones the best of a random half. `failing` are the sets that prove the keys
    minimal: each key without one of its columns.
    """

    def __init__(self, anchors: Anchors, profiler: Profiler, seed: int = 0) -> None:
        self.keys: set[int] = set()
        self.failing: set[int] = set()
        self._anchors, self._profiler = anchors, profiler
        self._learned: list[int] = []
        self._random: Random | None = None
        self._seed = seed

    def run(self) -> None:
        """Run a batch of trials (at first one): a statement per trial, some batches of profiles. Raises Stopped."""
        masks = self._anchors.masks[:SHORT] + self._learned  # smallest first
        trials = {_hitting(masks, self._random) for _ in range(TRIALS if self._random else 1)}
        self._random = self._random or Random(self._seed)
        larger = []
        for trial, answer in zip(trials, self._anchors.agreeing(list(trials)), strict=True):
            self._learned = (self._learned + list(answer.masks[:SHORT]))[-LEARNED:]
            if answer.complete and 0 not in answer.masks:
                larger.append(trial | (_hitting(answer.masks, None) if answer.masks else 0))
        for key in larger:
            self.keys.add(self._shrunk(key))
        if len(self.keys) > KEPT:
            self.keys = set(nsmallest(KEPT, self.keys, key=int.bit_count))
        self.failing = {key ^ 1 << place for key in self.keys for place in positions(key)} - {0}

    def _shrunk(self, key: int) -> int:
        """A minimal key inside the key: a column needed now is needed in every smaller one too."""
        unsure = list(positions(key))
        while unsure:
            profiles = self._profiler.profiles([key ^ 1 << place for place in unsure if key != 1 << place])
            unsure = [place for place, profile in zip(unsure, profiles, strict=False) if not profile.colliding_pairs]
            if unsure:
                key ^= 1 << unsure.pop()
        return key


def _hitting(masks: Sequence[int], random: Random | None) -> int:
    """A minimal hitting set of the masks, none of them empty; greedy, with a random choice of columns to look at."""
    columns = max(mask.bit_length() for mask in masks)
    hit = transposed(masks, columns)
    left = (1 << len(masks)) - 1
    chosen: list[int] = []
    while left:
        useful = [place for place in range(columns) if hit[place] & left]
        some = useful if random is None else random.sample(useful, -(-len(useful) // 2))
        place = max(some, key=lambda place: (hit[place] & left).bit_count())
        chosen.append(place)
        left &= ~hit[place]
    for place in list(chosen):  # the earlier a column was chosen, the likelier it is that later ones replaced it
        others = 0
        for other in chosen:
            others |= hit[other] if other != place else 0
        if others.bit_count() == len(masks):
            chosen.remove(place)
    return sum(1 << place for place in chosen)
