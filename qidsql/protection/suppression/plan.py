"""The optimal suppression of every row pattern, computed on the workbench.

Weights of suppressed cells are tried in ascending order. All patterns whose optimum is the next weight are found by
the cheapest of the methods: by column sets (group the rows by the remaining columns, any k), by nearest neighbours
(k = 2: similar patterns agree on one of a few blocks of columns, or every pair is compared). For k > 2, and for k = 2
of few patterns, all patterns left are compared with all others, and what is left of wide tables then is searched among
nearby records. A solved pattern is skipped from then on.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from sqlglot import exp

from qidsql.core.budget import check_time
from qidsql.core.tables import positions, weight_of
from qidsql.errors import UsageError
from qidsql.protection.certificates import BoundProof, ProvedBy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.row_search import Difference, Levels, blocks, lightest_union, radius
from qidsql.sql.masks import Packing
from qidsql.sql.relation import inserting
from qidsql.sql.templates import Filling, Row, fill, fill_query, integer, union_all
from qidsql.wording.texts import count, plural

BY_ROWS = BoundProof(ProvedBy.ROWS)
MAX_COLUMNS = 63  # a mask is a signed 64-bit integer
COMPARED_COLUMNS = 32  # that are compared in memory
# The relative costs of the methods. In the workbench: a row in a grouping, a pair of patterns, a statement. In memory:
# a pair of patterns, a pattern beside its pairs. Of the search in Python: a pattern.
GROUPED, JOINED, STATEMENT = 30.0, 12.0, 2e6
COMPARED, SOLVED, SEARCHED = 5.0, 6e4, 3e6
SETS_PLANNED_AT_ONCE = 12
PAIRS_AT_ONCE = 20_000_000
FEW_PAIRS = 400_000_000  # that are compared in memory at once, for k = 2: 5 CPU seconds


@dataclass(frozen=True, slots=True)
class SuppressionPlan:
    """The lightest cells to suppress, as the table `plan` (pattern, mask) beside the `patterns` of a workbench.

    `masks` counts rows by the column set suppressed in them, over all rows. `lower_bound` is a proved lower bound of
    the weight of plans in which each row is safe by its own suppressed cells, if there is one, and `proof` what it
    follows from. `methods` are those that found the plan.
    """

    patterns: RowPatterns
    k: int
    weights: tuple[int, ...]
    masks: dict[int, int]
    methods: tuple[str, ...]
    lower_bound: int | None
    proof: BoundProof = BY_ROWS

    @classmethod
    def of(
        cls,
        patterns: RowPatterns,
        k: int,
        weights: Sequence[int] | None = None,
        *,
        wildcard: bool = False,
        deadline: float | None = None,
        on_stage: Callable[[str], None] = lambda stage: None,
    ) -> "SuppressionPlan":
        """The optimal plan. Queries the workbench only. With `wildcard` a NULL matches anything from the start.

        Raises UsageError if the table has fewer than k rows or more than 63 columns, Stopped, StatementError.
        """
        if patterns.rows < k:
            raise UsageError(
                f"no suppression helps: the table has {plural(patterns.rows, 'row')}, fewer than k = {k}; "
                f"even blank rows would be identifiable"
            )
        if len(patterns.names) > MAX_COLUMNS:
            raise UsageError(
                f"suppression takes up to {MAX_COLUMNS} columns, not {len(patterns.names)}; name them with --column"
            )
        planner = _Planner(patterns, k, tuple(weights or [1] * len(patterns.names)), wildcard, deadline, on_stage)
        planner.solve()
        masks = plan_masks(patterns, deadline)
        return cls(patterns, k, planner.weights, masks, planner.methods, _weight(masks, planner.weights))

    @property
    def weight(self) -> int:
        """The weight of all suppressed cells."""
        return _weight(self.masks, self.weights)

    @property
    def optimal(self) -> bool:
        """True if the proved bound shows that no plan of this kind weighs less."""
        return self.weight == self.lower_bound

    @property
    def cells(self) -> int:
        return sum(mask.bit_count() * rows for mask, rows in self.masks.items())

    @property
    def records(self) -> int:
        """The number of rows that lose a cell."""
        return sum(rows for mask, rows in self.masks.items() if mask)

    @property
    def by_cells(self) -> dict[int, int]:
        """The number of rows by lost cells."""
        found: Counter[int] = Counter()
        for mask, rows in self.masks.items():
            found[mask.bit_count()] += rows
        return dict(sorted(found.items()))

    @property
    def by_column(self) -> tuple[int, ...]:
        """The number of cells that each column loses."""
        found = [0] * len(self.patterns.names)
        for mask, rows in self.masks.items():
            for place in positions(mask):
                found[place] += rows
        return tuple(found)


def plan_masks(patterns: RowPatterns, deadline: float | None) -> dict[int, int]:
    """The number of rows by suppressed column set, from the table `plan`. Raises Stopped, StatementError."""
    rows = patterns.bench.query(fill("workbench/suppression/plan_masks"), "totals of the plan", deadline)
    return {integer(mask): integer(number) for mask, _, number in rows}


def _weight(masks: Mapping[int, int], weights: Sequence[int]) -> int:
    return sum(weight_of(mask, weights) * rows for mask, rows in masks.items())


class _Planner:
    """Solves the patterns weight by weight. `unsolved` is the number of patterns without a mask."""

    def __init__(
        self,
        patterns: RowPatterns,
        k: int,
        weights: tuple[int, ...],
        wildcard: bool,
        deadline: float | None,
        on_stage: Callable[[str], None],
    ) -> None:
        self._patterns, self._k, self.weights = patterns, k, weights
        self._deadline, self._on_stage = deadline, on_stage
        self._everything = (1 << len(weights)) - 1
        self._levels = Levels(weights)
        self._wildcard = wildcard
        self._packing = Packing(patterns.values, wildcard)
        self._used: Counter[str] = Counter()
        self.unsolved = patterns.patterns

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(f"{method} ({plural(solved, 'pattern')})" for method, solved in self._used.items() if solved)

    def _run(self, template: str, purpose: str, **holes: Filling) -> list[Row]:
        return self._ask(fill(f"workbench/suppression/{template}", **holes), purpose)

    def _ask(self, statement: exp.Expr, purpose: str) -> list[Row]:
        return self._patterns.bench.query(statement, purpose, self._deadline)

    def solve(self) -> None:
        self._ask(self._packing.table(), "packing of row patterns")
        self._run("start_plan", "patterns that are safe whole", k=self._k)
        self._count("safe whole")
        done = -1 if self._wildcard else 0  # optima up to this weight are found
        while self.unsolved:
            level = self._levels.above(done)
            assert level is not None, "at the last level all columns are suppressed, and then k rows agree"
            done = self._solve_level(level)

    def _solve_level(self, level: int) -> int:
        """Solve the patterns with this optimum; return the weight up to which all are solved then."""
        total, last = float(self._patterns.patterns), max(self._levels.counts)
        by_sets = self._levels.counts[level] * (total * GROUPED + STATEMENT)
        all_pairs = self.unsolved * total * JOINED
        if self._k == 2 and len(self.weights) <= COMPARED_COLUMNS and self.unsolved * total <= FEW_PAIRS:
            self._by_comparison()
            return last
        if self._k > 2:
            # A level of sets may solve little, so it may cost only a part of what finishes the work.
            compared = len(self.weights) <= COMPARED_COLUMNS
            pattern = total * COMPARED + SOLVED if compared else total * JOINED + SEARCHED
            if not self._wildcard and 4 * by_sets <= self.unsolved * pattern:
                return self._by_sets(level)
            if compared:
                self._by_comparison()
            if self.unsolved:
                self._by_nearby()
            return last
        if not self._wildcard:
            parts = self._blocks(level)
            cheapest = min(by_sets, all_pairs)
            by_blocks = sum(self._pairs(part) for part in parts) if parts else cheapest + 1
            if by_blocks < cheapest:
                return self._by_blocks(parts, level)
            if by_sets <= all_pairs:
                return self._by_sets(level)
        return self._by_all_pairs()

    # by column sets

    def _by_sets(self, level: int) -> int:
        sets = self._levels.sets(level)
        few = 4 * self.unsolved < self._patterns.patterns
        while self.unsolved and (batch := list(islice(sets, SETS_PLANNED_AT_ONCE))):
            found = [self._solved_by(mask, few) for mask in batch]
            self._run("add_to_plan", plural(len(batch), "column set"), found=_together(found))
            self._count("by column sets")
        return level

    def _solved_by(self, mask: int, few: bool) -> exp.Query:
        kept, packing = self._everything & ~mask, self._packing
        rows: exp.Expr = exp.to_table("packed")
        if few:
            agree = packing.agree(kept, "packed", "unsolved")
            near = exp.select("packed.*").from_("packed").join("unsolved", on=agree, join_type="semi")
            rows = near.subquery("packed")
        keys = packing.key(kept, "packed")
        names = [f"key{place}" for place in range(len(keys))]
        return fill_query(
            "workbench/suppression/solved_by_set",
            mask=mask,
            rows=rows,
            keys=[exp.alias_(key, name) for key, name in zip(keys, names, strict=True)],
            groups=keys,
            k=self._k,
            agree=exp.and_(
                *(
                    key.eq(exp.column(name, table="safe"))
                    for key, name in zip(packing.key(kept, "unsolved"), names, strict=True)
                )
            ),
        )

    # by nearest neighbours, k = 2

    def _blocks(self, level: int) -> list[int]:
        """The fewest blocks of columns such that patterns within the level agree on one; empty if there are none."""
        for number in range(1, len(self.weights) + 1):
            parts = blocks(number, self.weights, self._patterns.values)
            if radius(parts, self.weights) >= level:
                return parts
        return []

    def _pairs(self, block: int) -> float:
        """The cost of comparing the pairs that agree on a block."""
        keys = {table: self._packing.key(block, table) for table in ("packed", "unsolved")}
        named = {
            table: [exp.alias_(key, f"key{place}") for place, key in enumerate(found)] for table, found in keys.items()
        }
        agree = exp.and_(
            *(
                exp.column(f"key{place}", table="packed").eq(exp.column(f"key{place}", table="unsolved"))
                for place in range(len(keys["packed"]))
            )
        )
        [[pairs]] = self._run(
            "count_pairs",
            "pairs that agree on a block of columns",
            keys=named["packed"],
            groups=keys["packed"],
            unsolved_keys=named["unsolved"],
            unsolved_groups=keys["unsolved"],
            agree=agree,
        )
        return float(str(pairs)) * JOINED + STATEMENT

    def _by_blocks(self, parts: Sequence[int], within: int) -> int:
        """Compare the patterns that agree on one of the blocks: all patterns within that weight do."""
        unsolved, radius_ = exp.to_table("unsolved"), exp.convert(within)
        self._nearest(
            [self._near(unsolved, self._packing.agree(part, "unsolved", "packed"), radius_) for part in parts]
        )
        return within

    def _by_all_pairs(self) -> int:
        """Compare each remaining pattern with all others: first for the weights only, then for the columns."""
        packing = self._packing
        radii = fill_query(
            "workbench/suppression/radii",
            differences=packing.differences("unsolved", "packed"),
            weight=packing.weight(self.weights),
        )
        self._nearest([self._near(radii.subquery("unsolved"), exp.true(), exp.column("radius", table="unsolved"))])
        return max(self._levels.counts)

    def _near(self, unsolved: exp.Expr, joined: exp.Expr, radius_: exp.Expr) -> exp.Query:
        packing = self._packing
        return fill_query(
            "workbench/suppression/nearest",
            unsolved=unsolved,
            joined=joined,
            radius=radius_,
            differences=packing.differences("unsolved", "packed"),
            weight=packing.weight(self.weights),
            mask=packing.mask(),
        )

    def _nearest(self, found: Sequence[exp.Query]) -> None:
        self._run("add_nearest", "nearest patterns", found=_together(found))
        self._count("by nearest neighbours")

    # by comparison or by nearby records, k > 2

    def _by_comparison(self) -> None:
        import numpy as np

        from qidsql.protection.suppression.row_search import SuppressionByComparison

        patterns, bench = self._patterns, self._patterns.bench
        query = exp.select("pattern").from_("unsolved").order_by(exp.column("pattern"))
        todo = bench.numbers(query, "patterns without a mask")["pattern"].astype(np.intp)
        records = patterns.records()
        search = SuppressionByComparison(records, self._k, self.weights, self._wildcard, self._check_time)
        for solved, masks in search.of(todo):
            bench.add("plan", "patterns solved", pattern=solved.astype(np.int32), mask=masks)
            self._credit("by comparison with all patterns", self.unsolved - len(solved))
        self._count("by comparison with all patterns")

    def _by_nearby(self) -> None:
        packing = self._packing
        while self.unsolved:
            rows = self._run(
                "nearby",
                "nearby patterns",
                some=max(1, PAIRS_AT_ONCE // self._patterns.patterns),
                k=self._k,
                differences=packing.differences("unsolved", "packed"),
                mask=packing.mask(),
                weight=packing.weight(self.weights),
                union_weight=packing.weight_of_mask(self.weights),
            )
            found = [
                (pattern, self._lightest(needed, [integer(cell) for row in group for cell in row[2:]]))
                for (pattern, needed), group in groupby(rows, key=lambda row: (integer(row[0]), integer(row[1])))
            ]
            values = exp.select("*").from_(exp.values(found, alias="found"))
            self._ask(inserting("plan", values), "patterns solved")
            self._count("by the search among nearby records")

    def _lightest(self, needed: int, cells: Sequence[int]) -> int:
        differences = [Difference(*cells[place : place + 3]) for place in range(0, len(cells), 3)]
        return lightest_union(differences, needed, self.weights, self._everything)

    def _count(self, method: str) -> None:
        """Credit the patterns solved since the last count to this method."""
        self._run("unsolved", "patterns without a mask")
        [[left]] = self._ask(exp.select("COUNT(*)").from_("unsolved"), "patterns without a mask")
        self._credit(method, integer(left))

    def _credit(self, method: str, left: int) -> None:
        self._used[method] += self.unsolved - left
        self.unsolved = left
        self._on_stage(f"suppressing: {count(self.unsolved)} of {plural(self._patterns.patterns, 'pattern')} left")

    def _check_time(self) -> None:
        check_time(self._deadline)


def _together(queries: Sequence[exp.Query]) -> exp.Subquery:
    """The rows of all queries, as the table `found`."""
    return union_all(queries).subquery("found")
