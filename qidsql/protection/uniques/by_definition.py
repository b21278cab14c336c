"""Minimal unsafe combinations by their definition: the rows that agree with each record, counted anew on each set.

It checks what a search found, and shares nothing with the searches: none of what one set shows is used for another.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions
from qidsql.protection.records import Records

MOST_SETS = 1 << 18
MOST = 1_000_000_000  # column sets times records: about half a minute, and an eighth of it in bytes
KEPT = 64  # column sets whose classes stay in memory: a set comes soon after the one without its first column


class UniquesByDefinition:
    """The combinations of so many columns at most that fewer than k rows share, while k rows share each part of them.

    With `wildcard` a NULL agrees with everything.
    """

    def __init__(self, records: Records, k: int, largest: int, wildcard: bool) -> None:
        self._records, self._k, self._largest = records, k, min(largest, records.columns)
        self._everyone = np.arange(records.count)
        self._nulls = np.zeros(records.count, dtype=np.int64)
        for place, codes in enumerate(records.codes if wildcard else ()):
            self._nulls |= (codes == 0).astype(np.int64) << place
        self._unsafe: dict[int, NDArray[np.uint8]] = {}
        self._classes = lru_cache(KEPT)(self._classes_of)

    @property
    def sets(self) -> int:
        """The number of column sets."""
        return sum(comb(self._records.columns, size) for size in range(self._largest + 1))

    @property
    def countable(self) -> bool:
        """Whether all column sets can be counted in a minute or so."""
        return self.sets <= MOST_SETS and self.sets * self._records.count <= MOST

    def __iter__(self) -> Iterator[tuple[NDArray[np.intp], int]]:
        """The records that have such a combination on a column set, set by set."""
        places = range(self._records.columns)
        sizes = range(self._largest + 1)
        for mask in sorted(
            sum(1 << each for each in chosen) for size in sizes for chosen in combinations(places, size)
        ):
            yield np.flatnonzero(self.minimal(mask)), mask

    def minimal(self, mask: int) -> NDArray[np.bool_]:
        """Whether each record has such a combination on these columns."""
        found = self._unsafe_on(mask)
        for place in positions(mask):
            found &= ~self._unsafe_on(mask ^ 1 << place)
        return found

    def _unsafe_on(self, mask: int) -> NDArray[np.bool_]:
        """Whether fewer than k rows agree with each record on these columns."""
        known = self._unsafe.get(mask)
        if known is None:
            known = self._unsafe[mask] = np.packbits(self._agreeing(mask) < self._k)
        return np.unpackbits(known, count=self._records.count).astype(bool)

    def _agreeing(self, mask: int) -> NDArray[np.int64]:
        """The rows that agree with each record on these columns: those of each kind of rows by the columns in which
        they are NULL agree on what both show."""
        found = np.zeros(self._records.count, dtype=np.int64)
        hidden = self._nulls & mask
        kinds = np.unique(hidden).tolist()
        for own in kinds:
            asked = hidden == own
            for other in kinds:
                classes = self._classes(mask & ~(own | other))
                sizes = np.where(hidden == other, self._records.sizes, 0)
                rows = np.bincount(classes, weights=sizes).astype(np.int64)  # exact below 2^53 rows
                found[asked] += rows[classes[asked]]
        return found

    def _classes_of(self, mask: int) -> NDArray[np.int64]:
        """The number of each record's class on these columns."""
        if not mask:
            return np.zeros(self._records.count, dtype=np.int64)
        first = mask & -mask
        return self._records.refined(self._everyone, self._classes(mask ^ first), first.bit_length() - 1)
