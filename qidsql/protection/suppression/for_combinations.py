"""The plan after which k released rows show each combination of values that a released row shows."""

from collections.abc import Callable, Sequence

from qidsql.errors import BudgetSpent
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.combinations import Cores
from qidsql.protection.suppression.divided import check_columns, divided_plan
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.row_bound import bound_by_rows
from qidsql.protection.work_limit import WorkLimit

METHOD = "cores that k rows share, by local search"


def plan_for_combinations(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    limit: WorkLimit,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> tuple[SuppressionPlan, BudgetSpent | None]:
    """A plan that leaves no combination to fewer than k rows [Wilson, 3.3], and why the search ended early, if it did.

    There is a plan at any moment, and the limit only ends its improvement. The bound is what rows lose if each is
    safe on its own, which takes a third of the time at most. Rows of one pattern may lose different cells: its
    `patterns` are divided accordingly. Queries the workbench only. Raises UsageError for too many columns, Stopped if
    interrupted, StatementError.
    """
    check_columns(patterns)
    records = patterns.records()
    bound = bound_by_rows(patterns, k, weights, limit.third(), on_stage, wildcard=records.has_null)
    cores = Cores(records, k, weights, limit.spend)
    stopped = None
    try:
        for cost in cores.improve():
            on_stage(f"improving a cost of {cost:,}, of which {bound:,} are needed")
    except BudgetSpent as spent:
        stopped = spent if limit.given else None
    return divided_plan(patterns, k, weights, cores.plan(), METHOD, bound, None), stopped
