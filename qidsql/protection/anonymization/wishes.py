"""The column sets that are opened where all would be too many."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from qidsql.core.tables import positions
from qidsql.protection.records import Records

NUMBERED = 50_000_000  # records x column sets, so that a search ends within minutes
COMPARED = 200_000_000  # pairs of a record of the sample and another one
SAMPLE = 2_000  # records whose neighbours are searched
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
    chosen = np.linspace(0, records.count - 1, min(records.count, SAMPLE, max(64, COMPARED // records.count)))
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
