"""An independent check of a suppression plan: k rows fit the visible cells of each row, and no blank is superfluous."""

from dataclasses import dataclass

from sqlglot import exp

from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.verification import wildcard_check
from qidsql.sql.masks import Packing
from qidsql.sql.statements import Row, integer
from qidsql.sql.templates import fill, fill_query

MOST = 100_000_000  # patterns x column sets that are grouped; larger plans are checked in part
SAMPLE = 100  # patterns whose single cells are restored


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """The result for `patterns` of the plan: fewer than k rows agree with the visible cells of `unsafe` of them.

    `needless` counts cells that could be restored alone with k rows still agreeing, in the patterns that lose most.
    """

    patterns: int
    unsafe: int
    needless: int


def plan_check(plan: SuppressionPlan, deadline: float | None = None) -> PlanCheck:
    """Check a plan in which NULL is a value and each row is safe by its own suppressed cells.

    Two statements to the workbench. Raises Stopped, StatementError.
    """
    patterns = plan.patterns
    packing, bench = Packing(patterns.values), patterns.bench
    bench.query(packing.table(), "packing of row patterns", deadline)
    sets = max(1, MOST // patterns.patterns)
    chosen = sorted(plan.masks, key=lambda mask: -plan.masks[mask])[:sets]
    inside = exp.column("mask").isin(*(exp.Literal.number(mask) for mask in chosen))
    checked, unsafe = _fits(plan, exp.select("pattern", "mask").from_("plan").where(inside), packing, deadline)
    bits = exp.values([(1 << place,) for place in range(len(patterns.names))], alias="restored", columns=["bit"])
    sample = fill_query("workbench/suppression/plan_sample", restored=bits, most=min(SAMPLE, sets))
    restored, needed = _fits(plan, sample, packing, deadline)
    return PlanCheck(checked, unsafe, restored - needed)


def rows_below_k(plan: SuppressionPlan, deadline: float | None = None) -> int:
    """The number of rows that match fewer than k rows once all are suppressed by the plan.

    A NULL matches anything then, as in a copy. Queries the workbench only. Raises Stopped, StatementError.
    """
    _release(plan, deadline)
    return wildcard_check(plan.patterns, plan.k, deadline, "released").rows_below_k


def released_sizes(plan: SuppressionPlan) -> list[Row]:
    """How many different rows the plan releases, by the columns that they hide and by how many rows are equal.

    Queries the workbench only. Raises Stopped, StatementError.
    """
    _release(plan, None)
    return sizes_of_copy(plan.patterns, "released")


def sizes_of_copy(patterns: RowPatterns, table: str = "patterns") -> list[Row]:
    """The same of the patterns of a copy: what is written is what was planned, whatever the codes of its values are."""
    codes = [exp.column(f"c{place}") for place in range(len(patterns.names))]
    query = fill(
        "workbench/suppression/released_sizes",
        hidden=Packing(patterns.values).nulls(),
        codes=codes,
        rows=exp.to_table(table),
    )
    return patterns.bench.query(query, "released rows by size")


def _release(plan: SuppressionPlan, deadline: float | None) -> None:
    """Make the table `released` of the patterns as the plan leaves them."""
    codes = [
        exp.alias_(exp.func("IF", exp.BitwiseAnd(this=exp.column("mask"), expression=bit).neq(0), 0, code), code.name)
        for code, bit in (
            (exp.column(f"c{place}"), exp.Literal.number(1 << place)) for place in range(len(plan.patterns.names))
        )
    ]
    released = fill("workbench/suppression/released_patterns", codes=codes)
    plan.patterns.bench.query(released, "suppressed patterns", deadline)


def _fits(plan: SuppressionPlan, rows: exp.Query, packing: Packing, deadline: float | None) -> tuple[int, int]:
    """The number of patterns with a mask, and of those with fewer than k rows that agree."""
    keys, names = packing.shown()
    query = fill(
        "workbench/suppression/fits_of_plan",
        plan=rows.subquery("plan"),
        visible=packing.visible(exp.column("mask")),
        keys=keys,
        names=names,
        k=plan.k,
    )
    [[checked, unsafe]] = plan.patterns.bench.query(query, "check of the plan", deadline)
    return integer(checked), integer(unsafe)
