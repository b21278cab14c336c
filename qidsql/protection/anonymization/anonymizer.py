"""Anonymizations of row patterns on the workbench: optimal by integer program, or greedy and then improved.

[Chakaravarthy, Pandit & Sabharwal, 2 and 4]
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby
from random import Random

from sqlglot import exp

from qidsql.core.tables import positions
from qidsql.errors import BudgetSpent, Interrupted, Stopped
from qidsql.protection.anonymization.assignment import Assignment, Group, Share, cheapest_assignment, cost_of, lost
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.statements import Row, Statement, integer
from qidsql.sql.table_changes import inserting, making
from qidsql.sql.templates import Filling, fill, fill_query

EXACT_PAIRS = 60_000  # row patterns x column sets solved exactly by default
MOST_PAIRS = 2_000_000  # ... solved exactly on request
BLOCK_PAIRS = 8_000  # ... improved in one block
BLOCK_SECONDS = 2.0
SETTLED = 1000  # a round that saves less than this part of the cost is the last
SETS_AT_ONCE = 16
FEW_COLUMNS = 12  # up to this number every column set is tried


@dataclass(frozen=True, slots=True)
class Anonymization:
    """A plan for all rows: the workbench's table `shares` (pattern, kept, size: so many rows of the row pattern keep
    these columns). No anonymization costs less than `lower_bound`.

    `cells` counts the suppressed cells of each column, `cost` is their weight, `rows` the rows that lose a cell,
    `rows_blank` those that lose all. `stopped` is why the search ended without a proof, if it did.
    """

    algorithm: str
    cost: int
    lower_bound: int
    cells: tuple[int, ...]
    rows: int
    rows_blank: int
    stopped: Stopped | None = None

    @property
    def optimal(self) -> bool:
        return self.cost == self.lower_bound


class Anonymizer:
    """Anonymizations of some row patterns of at least k rows. Works in tables of their workbench and sends the source
    no statement. `deadline` is of `time.monotonic`.
    """

    def __init__(self, patterns: RowPatterns, k: int, weights: Sequence[int], deadline: float | None = None) -> None:
        self._bench, self._deadline = patterns.bench, deadline
        self._k, self._weights = k, tuple(weights)
        self._codes = [exp.column(f"c{place}") for place in range(len(patterns.names))]
        self._values = patterns.values
        self._pairs = patterns.patterns << len(self._codes)
        self._run("shares", "making of a table")

    @property
    def small(self) -> bool:
        """Whether the integer program is small enough to be solved as a whole."""
        return self._pairs <= EXACT_PAIRS

    @property
    def solvable(self) -> bool:
        """Whether the solver may find a better plan within an hour, though hardly a proof."""
        return self._pairs <= MOST_PAIRS

    def exact(self, lower_bound: int = 0) -> Anonymization:
        """The cheapest anonymization, or the best found by the deadline or Ctrl-C. Starts from the present shares."""
        known = self._shares("shares")
        found = self._solve(exp.to_table("patterns"), known, lower_bound, self._deadline)
        self._run("shares", "making of a table")
        self._insert("shares", [astuple(share) for share in found.shares])
        return self._account("integer program", found.lower_bound, found.stopped)

    def greedy(self, wishes: Iterable[int], on_stage: Callable[[str], None] = lambda stage: None) -> None:
        """Make shares for all rows: column set by column set, those that lose least first, place rows in classes of k.

        Tries every column set if there are few columns, else those that rows would keep if they could choose
        (`wishes`), and ever smaller ones, without the columns of most values. Of the column sets that lose the same,
        the one that places most comes first. A few statements per column set, on ever fewer rows. Raises Stopped.
        """
        unplaced = making(exp.to_table("unplaced"), exp.select("*").from_("patterns"), replace=True)
        self._ask(unplaced, "making of a table")
        for cost, level in groupby(sorted(self._column_sets(wishes), key=self._lost), key=self._lost):
            on_stage(f"placing rows that lose {cost} of {sum(self._weights)}")
            waiting = list(level)
            while waiting:
                self._check_time()
                gains = self._gains(waiting)
                waiting = sorted((kept for kept in waiting if gains[kept]), key=lambda kept: (-gains[kept], kept))
                if waiting:
                    self._place(waiting.pop(0))
        left = self._number("COALESCE(SUM(size), 0)", "unplaced")
        rest = exp.select("pattern", "0", "size").from_("unplaced")
        self._ask(inserting("shares", rest), "placing of the rest")
        if 0 < left < self._k:
            weight = self._each("CASE WHEN kept & {bit} <> 0 THEN {weight} ELSE 0 END", " + ")
            self._run("dissolve_group", "company for the rest", key=self._common(), weight=weight)

    def _column_sets(self, wishes: Iterable[int]) -> set[int]:
        everything = (1 << len(self._codes)) - 1
        if len(self._codes) <= FEW_COLUMNS:
            return set(range(1, everything + 1))
        found = {everything, *wishes}
        kept = everything
        for place in sorted(range(len(self._codes)), key=lambda place: -self._values[place]):
            kept &= ~(1 << place)
            found.add(kept)
        return found - {0}

    def improve(self, lower_bound: int, on_stage: Callable[[str], None] = lambda stage: None) -> Anonymization:
        """Solve the integer program for blocks of neighbouring groups, in changing neighbourhoods, while costs drop.

        Ends at the deadline, at Ctrl-C, or when a round over all blocks saves next to nothing.
        """
        places, draw = list(range(len(self._codes))), Random(0)
        if len(self._codes) > FEW_COLUMNS:  # a block has more column sets than patterns
            return self._account("greedy", lower_bound, None)
        cost = saved = self._account("", 0, None).cost
        stopped: Stopped | None = None
        while stopped is None and cost > lower_bound and saved * SETTLED >= cost:
            draw.shuffle(places)
            saved, stopped = self._round(places, cost, on_stage)
            cost -= saved
        return self._account("greedy, improved in blocks", lower_bound, stopped)

    def _round(self, places: Sequence[int], cost: int, on_stage: Callable[[str], None]) -> tuple[int, Stopped | None]:
        """The saving of one round over all blocks, and the stop that ended it early."""
        order = [self._bench.node(f"common[{place + 1}]") for place in places]
        self._run(
            "blocks",
            "blocks of neighbours",
            key=self._common(),
            order=order,
            block=BLOCK_PAIRS >> len(places),
        )
        self._run("improved", "making of a table")
        blocks = self._number("COALESCE(MAX(block), -1) + 1", "blocks")
        saved, stopped = 0, None
        try:
            for block in range(blocks):
                on_stage(f"improving a cost of {cost - saved:,}: block {block + 1} of {blocks}")
                saved += self._improve_block(block)
        except Stopped as stop:
            stopped = stop
        except KeyboardInterrupt:
            stopped = Interrupted("interrupted; what was found by then is kept")
        if self._bench.stopped_by is None:
            self._run("keep_improved", "keeping of improvements")
        return saved, stopped

    def _improve_block(self, block: int) -> int:
        """The saving of solving one block again."""
        self._check_time()
        codes = [self._bench.node(f"ANY_VALUE({code.name}) AS {code.name}") for code in self._codes]
        source = fill_query("workbench/anonymization/block_patterns", block=block, codes=codes)
        known = self._shares("blocks", exp.column("block").eq(block))
        limit = time.monotonic() + BLOCK_SECONDS
        limit = limit if self._deadline is None else min(limit, self._deadline)
        found = self._solve(source.subquery("block_patterns"), known, 0, limit)
        if isinstance(found.stopped, Interrupted):
            raise found.stopped
        before = cost_of(known, self._weights)
        if found.cost < before:
            self._insert("improved", [(block, *astuple(share)) for share in found.shares])
        return before - found.cost

    def _solve(self, source: exp.Expr, known: Sequence[Share], lower_bound: int, deadline: float | None) -> Assignment:
        """The cheapest assignment of the source's row patterns that the solver finds, never worse than `known`."""
        sizes = exp.select("pattern", "size").from_(source).order_by(exp.column("pattern"))
        rows = self._ask(sizes, "sizes of row patterns")
        place_of = {integer(pattern): place for place, (pattern, _) in enumerate(rows)}
        groups = self._run(
            "shared_patterns",
            "groups that could be made identical",
            source=source,
            columns=self._codes,
            kept=self._each("(1 - GROUPING({code})) * {bit}", " + "),
            weight=self._each("(1 - GROUPING({code})) * {weight}", " + "),
            k=self._k,
        )
        start = [Share(place_of[share.pattern], share.kept, share.rows) for share in known]
        found = cheapest_assignment(
            [integer(size) for _, size in rows],
            [Group(integer(kept), tuple(place_of[member] for member in members)) for kept, members in groups],  # type: ignore[attr-defined]
            self._k,
            self._weights,
            deadline,
            Assignment(tuple(start), cost_of(start, self._weights), lower_bound) if start else None,
        )
        numbers = list(place_of)
        shares = tuple(Share(numbers[share.pattern], share.kept, share.rows) for share in found.shares)
        return Assignment(shares, found.cost, found.lower_bound, found.stopped)

    def _account(self, algorithm: str, lower_bound: int, stopped: Stopped | None) -> Anonymization:
        lost_cells = [
            self._bench.node(f"COALESCE(SUM(CASE WHEN kept & {1 << place} = 0 THEN size ELSE 0 END), 0)")
            for place in range(len(self._codes))
        ]
        everything = (1 << len(self._codes)) - 1
        [row] = self._run("suppressed_cells", "account of the cells", lost=lost_cells, everything=everything)
        rows, blank, *cells = map(integer, row)
        cost = sum(weight * number for weight, number in zip(self._weights, cells, strict=True))
        return Anonymization(algorithm, cost, lower_bound, tuple(cells), rows, blank, stopped)

    def wrong(self) -> int:
        """The number of groups with fewer than k rows, and of row patterns whose shares do not add up."""
        [row] = self._run("wrong_shares", "check of the plan", key=self._common(), k=self._k)
        return sum(map(integer, row))

    def _check_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise BudgetSpent("the time budget (--max-seconds) is used up")

    # one column set

    def _gains(self, column_sets: Sequence[int]) -> dict[int, int]:
        """The number of rows that each column set would place."""
        gains: dict[int, int] = {}
        for start in range(0, len(column_sets), SETS_AT_ONCE):
            queries = [
                self._bench.dialect.render(
                    fill("workbench/anonymization/placeable_rows", kept=kept, columns=self._columns(kept), k=self._k)
                )
                for kept in column_sets[start : start + SETS_AT_ONCE]
            ]
            statement = Statement("\nUNION ALL\n".join(queries), "rows that column sets would place", lambda rows: rows)
            gains |= {integer(kept): integer(rows) for rows, kept in self._bench.run(statement)}
        return gains

    def _place(self, kept: int) -> None:
        columns = self._columns(kept)
        holes: dict[str, Filling] = {"columns": columns, "key": exp.Tuple(expressions=columns), "k": self._k}
        self._run("place_rows", "placing of rows", kept=kept, **holes)
        self._run("remove_placed", "placing of rows", **holes)

    def _columns(self, kept: int) -> list[exp.Expr]:
        return [self._codes[place] for place in positions(kept)]

    def _lost(self, kept: int) -> int:
        return lost(kept, self._weights)

    # the workbench's tables; their names and columns are generated here

    def _common(self) -> exp.Expr:
        """The common values of a group's rows, as a list: the codes of kept columns, -1 for the others."""
        return self._bench.node(f"[{self._text('CASE WHEN kept & {bit} <> 0 THEN {code} ELSE -1 END', ', ')}]")

    def _each(self, form: str, between: str) -> exp.Expr:
        """An expression of one part per column."""
        return self._bench.node(self._text(form, between))

    def _text(self, form: str, between: str) -> str:
        return between.join(
            form.format(code=f"c{place}", bit=1 << place, weight=weight) for place, weight in enumerate(self._weights)
        )

    def _shares(self, table: str, condition: exp.Expr | None = None) -> list[Share]:
        query = exp.select("pattern", "kept", "size").from_(table).where(condition)
        return [Share(*map(integer, row)) for row in self._ask(query, "shares")]

    def _insert(self, table: str, rows: Sequence[tuple[int, ...]]) -> None:
        if rows:
            self._ask(inserting(table, exp.select("*").from_(exp.values(rows, alias="shares"))), "shares")

    def _number(self, number: str, table: str) -> int:
        return integer(self._ask(exp.select(number).from_(table), "a number")[0][0])

    def _run(self, template: str, purpose: str, **holes: Filling) -> list[Row]:
        return self._ask(fill(f"workbench/anonymization/{template}", **holes), purpose)

    def _ask(self, statement: exp.Expr, purpose: str) -> list[Row]:
        """The rows of a statement. It has no deadline: it is fast, and exceeding one would lose the workbench."""
        return self._bench.query(statement, purpose, None)


def write_plan(patterns: RowPatterns) -> None:
    """Make the table `plan` (pattern, mask, first_row, last_row) of the workbench's shares."""
    everything = (1 << len(patterns.names)) - 1
    patterns.bench.query(fill("workbench/anonymization/plan_of_shares", everything=everything), "plan")
