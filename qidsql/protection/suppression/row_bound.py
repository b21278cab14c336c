"""A lower bound by what each row loses at least, whatever the others do."""

from collections.abc import Callable, Sequence

from qidsql.core.tables import weight_of
from qidsql.errors import BudgetSpent, StatementError
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan, plan_masks


def bound_by_rows(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    deadline: float | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
    *,
    wildcard: bool = False,
) -> int:
    """The least cost if each row could choose its company freely: no anonymization costs less.

    With `wildcard` a NULL agrees with anything, which bounds the plans in which a NULL shows nothing. At the deadline,
    rows whose least loss is not known yet count with the lightest column. Raises Stopped other than BudgetSpent,
    StatementError.
    """
    try:
        return SuppressionPlan.of(patterns, k, weights, wildcard=wildcard, deadline=deadline, on_stage=on_stage).weight
    except BudgetSpent:
        try:
            masks = plan_masks(patterns, None)  # each is its row's optimum as soon as it is in the table
        except StatementError:  # no table yet
            return 0
        unknown = patterns.rows - sum(masks.values())
        return sum(weight_of(mask, weights) * rows for mask, rows in masks.items()) + unknown * min(weights)
