"""What statements cost on a Spark Connect server, where calls are dear (`python -m tests.benchmarks sail`)."""

from qidsql.engines.costs import Costs

COSTS = Costs(
    grouping_pays=True,  # a statement costs more than its work: 16 sets of a small table 1.8 s, not 12.9 s
    union_rows=200_000,
    finest_sets=32,
    finest_rows=200_000,
    calls_are_dear=True,
    cancel_seconds=1.0,  # as the server notices that a connection is cut
)
