"""Keys found by trials: minimal, and proved so by the failing sets that the search reports."""

from random import Random

from qidsql.core.tables import positions
from qidsql.measures.criteria import Key
from qidsql.search.difference_masks import Anchors
from qidsql.search.minimal_keys import _Progress
from qidsql.search.redundant_columns import WithoutTwins
from tests.search.tables import MemoryProfiler, MemoryWitnesses, class_sizes

COLUMNS = 14


def test_each_key_without_a_column_is_inside_a_failing_set() -> None:
    random = Random(3)
    rows = [tuple(random.randrange(2 + place % 3) for place in range(COLUMNS)) for _ in range(80)]
    profiler = MemoryProfiler(rows, COLUMNS)
    everything = (1 << COLUMNS) - 1
    [whole] = profiler.profiles([everything])
    reduced = WithoutTwins(profiler, Key(), {everything: whole})
    anchors = Anchors(reduced, reduced.row_pairs(MemoryWitnesses(rows, 10**6, max_masks=50)), len(rows))
    progress = _Progress(anchors, reduced, 0)
    for _ in range(4):
        progress._trials.run()
    keys, _ = progress.proved(1000)
    assert keys
    for key in keys:
        assert max(class_sizes(rows, key)) == 1
        for place in positions(key):
            rest = key ^ 1 << place
            assert max(class_sizes(rows, rest)) > 1
            assert any(not rest & ~failing for failing in progress.failing)
