"""A plan with fewer cells than the best of every row on its own: suppressed cells of one row protect others too."""

from dataclasses import replace

from sqlglot import exp

from qidsql.core.tables import weight_of
from qidsql.protection.suppression.plan import SuppressionPlan, plan_masks
from qidsql.protection.suppression.restoration import Suppressed, restorable
from qidsql.sql.masks import Packing, big
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill, fill_query, union_all

SETS_AT_ONCE = 12


def shared(plan: SuppressionPlan, *, deadline: float | None = None) -> SuppressionPlan:
    """The plan with patterns restored that others protect, in the same table. Such plans have no proved bound.

    A statement to the workbench per dozen suppressed column sets. Raises Stopped, StatementError.
    """
    patterns, bench = plan.patterns, plan.patterns.bench
    packing, everything = Packing(patterns.values), (1 << len(patterns.names)) - 1
    bench.query(fill("workbench/suppression/suppressed"), "patterns that lose cells", deadline)
    masks = [mask for mask in plan.masks if mask]
    pairs: list[tuple[int, int]] = []
    for first in range(0, len(masks), SETS_AT_ONCE):
        queries = []
        for mask in masks[first : first + SETS_AT_ONCE]:
            agree = packing.agree(everything & ~mask, "protector", "protected")
            query = fill_query("workbench/suppression/protected_pairs", mask=big(mask), agree=agree)
            queries.append(query)
        found = union_all(queries)
        rows = bench.query(found, "rows that blank cells protect", deadline)
        pairs += ((integer(one), integer(other)) for one, other in rows)
    losing = exp.select("pattern", "size", "mask").from_("suppressed").order_by(exp.column("pattern"))
    suppressed = [
        Suppressed(integer(pattern), integer(size), integer(size) * weight_of(integer(mask), plan.weights))
        for pattern, size, mask in bench.query(losing, "patterns that lose cells", deadline)
    ]
    whole = restorable(suppressed, pairs, plan.k)
    if not whole:
        return replace(plan, lower_bound=None)
    spared = exp.update("plan", {"mask": 0}, where=exp.column("pattern").isin(*whole))
    bench.query(spared, "patterns that stay whole", deadline)
    masks_now = plan_masks(patterns, deadline)
    return replace(
        plan, masks=masks_now, methods=(*plan.methods, f"{len(whole):,} patterns whole again"), lower_bound=None
    )
