"""The audit of a suppressed copy, on its own row patterns: whether every row is safe if NULL matches anything.

Rows that match on all columns match on every subset of them, so a row that k rows match on all columns is matched by k
on every column set: all columns decide, as without NULLs [Yuan & Wang, Prop. 1]. Matching is no equivalence, since two
rows can match a third and not each other, so that classes overlap and each row has its own count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp

from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.masks import Packing, add, big
from qidsql.sql.statements import integer
from qidsql.sql.table_changes import making
from qidsql.sql.templates import fill, fill_query, union_all

GROUPED, COMPARED = 60.0, 6.0  # relative costs of a row in a grouping and of a pair of patterns
GROUPS = 1500  # if there are more sets of NULLs, they are not paired with each other
SETS_AT_ONCE = 8


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
    if len(groups) <= GROUPS:
        unions = dict.fromkeys(groups) | dict.fromkeys(one | other for one in groups for other in groups)
        todo = iter(unions)
        tried = 0
        while left:
            if left * COMPARED < (len(unions) - tried) * GROUPED:
                break
            if not (batch := list(islice(todo, SETS_AT_ONCE))):
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
