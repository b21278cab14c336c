"""A suppression plan counted anew: do k rows fit what each row leaves visible, and are all blanks needed?"""

from dataclasses import dataclass

from sqlglot import exp

from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.verification import wildcard_check
from qidsql.sql.masks import Packing
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill

MOST = 100_000_000  # patterns x column sets that are grouped; a plan with more of them is checked in part
SAMPLE = 100  # patterns of which single cells are restored


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """`patterns` of the plan were checked; fewer than k rows agree with what `unsafe` of them leave visible.

    `needless` times a cell could be restored alone and k rows would still agree, in the patterns that lose most.
    """

    patterns: int
    unsafe: int
    needless: int


def plan_check(plan: SuppressionPlan, deadline: float | None = None) -> PlanCheck:
    """Counts a plan that takes a NULL for a value, in which each row is safe by its own blank cells.

    Two statements to the workbench. Raises Stopped, StatementError.
    """
    patterns = plan.patterns
    packing, bench = Packing(patterns.values), patterns.bench
    bench.ask(packing.table(), "packing of row patterns", deadline)
    sets = max(1, MOST // patterns.patterns)
    chosen = sorted(plan.masks, key=lambda mask: -plan.masks[mask])[:sets]
    inside = exp.column("mask").isin(*(exp.Literal.number(mask) for mask in chosen))
    checked, unsafe = _fits(plan, exp.select("pattern", "mask").from_("plan").where(inside), packing, deadline)
    bits = exp.values([(1 << place,) for place in range(len(patterns.names))], alias="restored", columns=["bit"])
    sample = fill("workbench/suppression/plan_sample", restored=bits, most=min(SAMPLE, sets))
    assert isinstance(sample, exp.Query)
    restored, needed = _fits(plan, sample, packing, deadline)
    return PlanCheck(checked, unsafe, restored - needed)


def rows_at_risk(plan: SuppressionPlan, deadline: float | None = None) -> int:
    """How many rows of the table match fewer than k rows of it once both are suppressed by the plan.

    A NULL matches anything then, as in a copy. Asks the workbench only. Raises Stopped, StatementError.
    """
    codes = [
        exp.alias_(exp.func("IF", exp.BitwiseAnd(this=exp.column("mask"), expression=bit).neq(0), 0, code), code.name)
        for code, bit in (
            (exp.column(f"c{place}"), exp.Literal.number(1 << place)) for place in range(len(plan.patterns.names))
        )
    ]
    released = fill("workbench/suppression/released_patterns", codes=codes)
    plan.patterns.bench.ask(released, "suppressed patterns", deadline)
    return wildcard_check(plan.patterns, plan.k, deadline, "released").at_risk


def _fits(plan: SuppressionPlan, rows: exp.Query, packing: Packing, deadline: float | None) -> tuple[int, int]:
    """How many patterns there are with a mask, and how many of these have fewer than k rows that agree."""
    names = [f"key{lane}" for lane in packing.lanes]
    keys = [
        exp.alias_(exp.BitwiseAnd(this=exp.column(f"k{lane}"), expression=exp.column(f"v{lane}")), name)
        for lane, name in zip(packing.lanes, names, strict=True)
    ]
    query = fill(
        "workbench/suppression/fits_of_plan",
        plan=rows.subquery("plan"),
        visible=packing.visible(exp.column("mask")),
        keys=keys,
        names=[exp.to_identifier(name) for name in names],
        k=plan.k,
    )
    [[checked, unsafe]] = plan.patterns.bench.ask(query, "check of the plan", deadline)
    return integer(checked), integer(unsafe)
