"""The audit of a suppressed copy, on its own row patterns: whether every row is safe if NULL matches anything.

Rows that match on all columns match on every subset of them, so a row that k rows match on all columns is matched by k
on every column set: all columns decide, as without NULLs [Yuan & Wang, Prop. 1]. Matching is no equivalence, since two
rows can match a third and not each other, so that classes overlap and each row has its own count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.sql.masks import Packing, add, big
from qidsql.sql.relation import making
from qidsql.sql.templates import Row, fill, fill_query, integer, union_all

GROUPED, COMPARED = 60.0, 6.0  # relative costs of a row in a grouping and of a pair of patterns
GROUPS_PAIRED = 1500  # if there are more sets of NULLs, they are not paired with each other
SETS_CHECKED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class WildcardCheck:
    """`smallest`: the fewest rows that one row matches, itself included; None if all match k or more.

    `rows_below_k` rows match fewer than k.
    """

    k: int
    rows: int
    rows_below_k: int
    smallest: int | None

    @property
    def passes(self) -> bool:
        return self.rows_below_k == 0


def wildcard_check(
    patterns: RowPatterns, k: int, deadline: float | None = None, table: str = "patterns"
) -> WildcardCheck:
    """Count the rows that match fewer than k rows, exactly. Queries the workbench only. Raises Stopped, StatementError.

    `table` is the workbench's table of row patterns, or one of the same form.

    Two rows match if they agree on the columns where neither has a NULL. So the rows that match a row, and have NULLs
    together with it in exactly a column set W, are those that agree with it outside W: a grouping per W. If there are
    too many W, every pair of remaining patterns is compared.
    """
    bench, packing = patterns.bench, Packing(patterns.values, wildcard=True)
    everything = (1 << len(patterns.names)) - 1
    nulls = [
        exp.case().when(exp.column(f"c{place}").eq(0), big(1 << place)).else_(big(0))
        for place in range(len(patterns.names))
    ]
    unverified = fill("workbench/suppression/unverified", nulls=add(nulls), patterns=exp.to_table(table))
    everyone = making(exp.to_table("everyone"), exp.select("*").from_("unverified"), replace=True)
    bench.query(packing.table(table), "packing of row patterns", deadline)
    bench.query(unverified, "patterns to check", deadline)
    bench.query(everyone, "patterns with their NULLs", deadline)
    common_first = (
        exp.select("nulls").from_("unverified").group_by("nulls").order_by("COUNT(*) DESC", exp.column("nulls"))
    )
    groups = [integer(nulls) for (nulls,) in bench.query(common_first, "sets of NULLs", deadline)]

    def matched(found: Sequence[exp.Query]) -> tuple[int, int, int | None]:
        query = union_all(found)
        still = fill("workbench/suppression/still_unverified", found=query.subquery("found"), k=k)
        bench.query(still, "rows that match", deadline)
        totals = exp.select("COUNT(*)", "COALESCE(SUM(size), 0)", "MIN(seen)").from_("unverified")
        [[left, rows, seen]] = bench.query(totals, "rows still to check", deadline)
        return integer(left), integer(rows), None if seen is None else integer(seen)

    left, below, smallest = patterns.patterns, patterns.rows, None
    if len(groups) <= GROUPS_PAIRED:
        unions = dict.fromkeys(groups) | dict.fromkeys(one | other for one in groups for other in groups)
        todo = iter(unions)
        tried = 0
        while left:
            if left * COMPARED < (len(unions) - tried) * GROUPED:
                break
            if not (batch := list(islice(todo, SETS_CHECKED_AT_ONCE))):
                return WildcardCheck(k, patterns.rows, below, smallest)
            tried += len(batch)
            found = []
            for union in batch:
                outside = everything & ~union
                keys = packing.key(outside, "others")
                names = [f"key{place}" for place in range(len(keys))]
                mine = packing.key(outside, "unverified")
                found.append(
                    _query(
                        "matching_by_nulls",
                        nulls=big(union),
                        outside=big(outside),
                        keys=[exp.alias_(key, name) for key, name in zip(keys, names, strict=True)],
                        groups=keys,
                        agree=exp.and_(
                            *(key.eq(exp.column(name, table="classes")) for key, name in zip(mine, names, strict=True))
                        ),
                    )
                )
            left, below, smallest = matched(found)
    if left:
        bench.query(exp.update("unverified", {"seen": 0}), "rows still to check", deadline)
        same = exp.and_(*(exp.column(f"d{lane}").eq(0) for lane in packing.lanes))
        differences = packing.differences("unverified", "packed")
        left, below, smallest = matched([_query("matching_by_pairs", differences=differences, same=same)])
    return WildcardCheck(k, patterns.rows, below if left else 0, smallest)


def _query(template: str, **holes: exp.Expr | Sequence[exp.Expr]) -> exp.Query:
    return fill_query(f"workbench/suppression/{template}", **holes)


# An independent check of a suppression plan: k rows fit the visible cells of each row, and no blank is superfluous.


MOST_PATTERNS_GROUPED = 100_000_000  # patterns x column sets that are grouped; larger plans are checked in part
PATTERNS_RESTORED = 100  # patterns whose single cells are restored


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
    sets = max(1, MOST_PATTERNS_GROUPED // patterns.patterns)
    chosen = sorted(plan.masks, key=lambda mask: -plan.masks[mask])[:sets]
    inside = exp.column("mask").isin(*(exp.Literal.number(mask) for mask in chosen))
    checked, unsafe = _fits(plan, exp.select("pattern", "mask").from_("plan").where(inside), packing, deadline)
    bits = exp.values([(1 << place,) for place in range(len(patterns.names))], alias="restored", columns=["bit"])
    sample = fill_query("workbench/suppression/plan_sample", restored=bits, most=min(PATTERNS_RESTORED, sets))
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
    """The sizes of a copy, by its patterns: what is written is what was planned, whatever the codes of values are."""
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


# An independent check of a bound by prices of people: computed from the codes, row by row, in whole numbers.


def bound_by_prices(
    records: Records, weights: Sequence[int], prices: NDArray[np.int64], check: Callable[[], object] = lambda: None
) -> int:
    """The weight that these prices prove to be lost by every plan that leaves two disjoint matchings.

    In a second matching, each person has one row and each row one person, another than its owner. So the matching costs
    all prices, and for each row at least the least cost of a person beyond the person's price. Compares all pairs.
    """
    bound = int(records.sizes @ prices)
    for row in range(records.count):
        check()
        costs = -prices
        for codes, weight in zip(records.codes, weights, strict=True):
            if codes[row]:
                costs += weight * (codes != codes[row])
        if records.sizes[row] == 1:
            costs[row] = np.iinfo(np.int64).max
        bound += int(records.sizes[row]) * int(costs.min())
    return bound
