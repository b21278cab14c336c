"""The plan that withstands someone who knows people: k disjoint matchings of all people with all released rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sqlglot import exp

from qidsql.core.time_limit import check_time
from qidsql.errors import UsageError
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.matchings import matchings
from qidsql.protection.suppression.plan import MAX_COLUMNS, SuppressionPlan, plan_masks
from qidsql.protection.suppression.price_check import bound_by_prices
from qidsql.sql.templates import fill
from qidsql.wording.numbers import count, plural

MOST_PATTERNS = 100_000  # all pairs of which are compared, at k = 2; each further permutation multiplies the arcs


def plan_for_known_people(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    deadline: float | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> SuppressionPlan:
    """The plan in which everybody fits k rows even for someone who knows all people; at k = 2 the lightest, proved.

    Rows of one pattern may lose different cells: its `patterns` are divided accordingly. Cells that are NULL are not
    in the plan, since they show nothing as they are. The bound is of all plans that leave k disjoint matchings. Queries
    the workbench only. Raises UsageError for too many columns or patterns, Stopped, StatementError.
    """
    if len(patterns.names) > MAX_COLUMNS:
        raise UsageError(
            f"suppression takes up to {MAX_COLUMNS} columns, not {len(patterns.names)}; name them with --column"
        )
    most = MOST_PATTERNS // (k - 1) ** 2
    if patterns.patterns > most:
        raise UsageError(
            f"--against known-person compares all pairs of {plural(patterns.patterns, 'distinct row')}, more than the "
            f"{count(most)} that are possible for k = {k}; leave out columns (--exclude), make values coarser, or use "
            f"qidsql anonymize"
        )

    check = partial(check_time, deadline)
    on_stage(f"matching {plural(patterns.rows, 'row')} with other people")
    records = patterns.records()
    found = matchings(records, k, weights, check)
    on_stage("checking the bound")
    bound = bound_by_prices(records, weights, found.prices, check)
    if k > 2 and not records.has_null:  # each row fits k people, so it loses no less than by Wilson's optimum
        bound = max(bound, SuppressionPlan.of(patterns, k, weights, deadline=deadline, on_stage=on_stage).weight)
    masks = found.lost @ (1 << np.arange(len(weights), dtype=np.int64))
    bench = patterns.bench
    bench.query(fill("workbench/suppression/shares"), "making of a table", deadline)
    pairs, place = np.unique(np.stack((found.units.record, masks)), axis=1, return_inverse=True)
    rows = np.zeros(pairs.shape[1], dtype=np.int64)
    np.add.at(rows, place.reshape(-1), found.units.sizes)
    bench.add("shares", "noting of the plan", pattern=pairs[0], mask=pairs[1], size=rows)
    codes = [exp.column(f"c{number}", table="patterns") for number in range(len(weights))]
    bench.query(fill("workbench/suppression/divided_patterns", codes=codes), "patterns of the plan", deadline)
    bench.query(fill("workbench/suppression/divided_plan"), "the plan", deadline)
    divided = replace(patterns, patterns=pairs.shape[1])
    return SuppressionPlan(
        divided, k, tuple(weights), plan_masks(divided, deadline), ("k disjoint matchings",), min(bound, found.cost)
    )
