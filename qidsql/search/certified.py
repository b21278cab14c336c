"""All minimal column sets of a table that has changed, by the list of an earlier search: measured before any search."""

from collections.abc import Sequence
from itertools import islice

from qidsql.core.tables import positions
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import Profiler
from qidsql.search.hitting_sets import MinimalHittingSets
from qidsql.search.result import Found, SearchResult

ALGORITHM = "the last list, measured again"
MOST_FAILING_SETS = 2_000  # sets that fail; of more, a search is better


def certified(profiler: Profiler, criterion: Criterion, earlier: Sequence[int]) -> SearchResult | None:
    """All minimal sets that meet the criterion, if these are still all of them; else None, and what was measured is
    known to the profiler.

    The list and the largest sets that contain none of it certify each other: if each of the former meets the criterion
    and none of the latter does, then a set meets it only if it contains one of the list, and each of these less any
    column is contained in a set that fails. One batch of profiles. Raises Stopped, StatementError.

    >>> from qidsql.measures.criteria import Violates
    >>> [found.mask for found in certified(people, Violates(2), [2, 4]).found]
    [2, 4]
    >>> certified(people, Violates(2), [2])
    """
    everything = (1 << profiler.columns) - 1
    largest = [
        everything ^ mask for mask in islice(MinimalHittingSets(earlier), MOST_FAILING_SETS) if mask != everything
    ]
    if not earlier or len(largest) >= MOST_FAILING_SETS:
        return None
    profiles = dict(zip([*earlier, *largest], profiler.profiles([*earlier, *largest]), strict=True))
    if any(criterion.met_by(profiles[mask]) is not (mask in earlier) for mask in profiles):
        return None
    order = sorted(earlier, key=lambda mask: (mask.bit_count(), tuple(positions(mask))))
    found = tuple(Found(mask, profiles[mask]) for mask in order)
    return SearchResult(criterion, ALGORITHM, found, True, profiler.columns, failing=tuple(largest))
