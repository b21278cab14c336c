"""What statements cost in Postgres: `python -m tests.benchmarks costs postgres` measures the choices again."""

from qidsql.engines.costs import Costs

COSTS = Costs(
    grouping_pays=True,  # a scan per session for six columns of 5 million rows: 14 s; separate or in one scan: 21 s
    union_sets=16,
    union_rows=200_000,
    finest_sets=16,
    finest_rows_per_class=8,  # of a million rows 12 columns with 39 minimal sets: 12 CPU s, not 16
    cancel_seconds=1.0,  # as the server notices that a connection is cut
)
