"""A plan in which rows of one pattern lose different cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.errors import UsageError
from qidsql.protection.certificates import BoundProof
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import BY_ROWS, MAX_COLUMNS, SuppressionPlan, plan_masks
from qidsql.sql.templates import fill


@dataclass(frozen=True, slots=True)
class LostCells:
    """Rows of each `record`, so many (`sizes`), lose the flagged columns: a line of flags for each."""

    record: NDArray[np.intp]
    sizes: NDArray[np.int64]
    lost: NDArray[np.bool_]


def divided_plan(
    patterns: RowPatterns,
    k: int,
    weights: Sequence[int],
    found: LostCells,
    method: str,
    bound: int,
    deadline: float | None,
    proof: BoundProof = BY_ROWS,
) -> SuppressionPlan:
    """The plan by which rows lose these cells: its `patterns` are divided by what they lose.

    `bound` is a lower bound of the weight of all such plans, by `proof`. Queries the workbench only. Raises Stopped,
    StatementError.
    """
    bench = patterns.bench
    masks = found.lost @ (1 << np.arange(len(weights), dtype=np.int64))
    bench.query(fill("workbench/suppression/shares"), "making of a table", deadline)
    pairs, place = np.unique(np.stack((found.record, masks)), axis=1, return_inverse=True)
    rows = np.zeros(pairs.shape[1], dtype=np.int64)
    np.add.at(rows, place.reshape(-1), found.sizes)
    bench.add("shares", "noting of the plan", pattern=pairs[0], mask=pairs[1], size=rows)
    codes = [exp.column(f"c{number}", table="patterns") for number in range(len(weights))]
    bench.query(fill("workbench/suppression/divided_patterns", codes=codes), "patterns of the plan", deadline)
    bench.query(fill("workbench/suppression/divided_plan"), "the plan", deadline)
    divided = replace(patterns, patterns=pairs.shape[1])
    cost = int(found.sizes @ (found.lost @ np.array(weights, dtype=np.int64)))
    masks_now = plan_masks(divided, deadline)
    return SuppressionPlan(divided, k, tuple(weights), masks_now, (method,), min(bound, cost), proof)


def check_columns(patterns: RowPatterns) -> None:
    """Raise UsageError for more columns than a mask has bits."""
    if len(patterns.names) > MAX_COLUMNS:
        raise UsageError(
            f"suppression takes up to {MAX_COLUMNS} columns, not {len(patterns.names)}; name them with --column"
        )
