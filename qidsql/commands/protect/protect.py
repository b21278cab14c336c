"""Coarser values that make each row equal to k - 1 others: the levels, what they keep, and the copy."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.comparison import compared
from qidsql.commands.protect.frontier import frontier_of_levels, frontier_of_values
from qidsql.commands.protect.lattice import Lattice, coarsest_rows, codes_of, withheld_columns
from qidsql.commands.protect.result import AskedLevels, FrontierPoint, NodeFigures, ProtectResult, UnsafeNode, judged
from qidsql.commands.protect.way import Way
from qidsql.commands.table_protection import Printed, TableProtection, printed, until_stopped
from qidsql.commands.table_search import one_answer
from qidsql.core.copies import Script
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Comparison
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Stopped, Unconfirmed, UsageError
from qidsql.generalization.hierarchies import Codes
from qidsql.generalization.levels import MOST_NODES, FoundLevels, Levels, PricedNode, Search
from qidsql.generalization.local_recoding import ROWS_BOUNDED, LocalFigures, LocalRecoding
from qidsql.generalization.moves import STATEMENTS
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.disclosing import disclosing
from qidsql.protection.copies import GivenBack, ProtectedCopy, rows_of_query
from qidsql.sql.copies import in_own_order, rows_not_in_both
from qidsql.wording.texts import setting

OF_A_COPY = 8  # statements that write and audit it
COUNTINGS = 4  # a copy takes about as long as so many countings of the columns


def protect(
    engine: Engine, request: ProtectRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> ProtectResult:
    """The levels that keep most of all that reach k, proved, or a plan row by row; and the copy if one was requested.
    Without a way, what each of them keeps.

    The engine codes the values by their hierarchies. By levels, it then counts the classes of one choice of levels
    after another, a batch a statement; by values, one statement makes the plan. A copy is written and audited in one
    transaction of the engine, and kept only if it has k equal rows of each. When --max-seconds ends the search, the
    best choice so far is checked and written, and is called not proved. A stop before, a lost connection or Ctrl-C
    make the verdict inconclusive, and nothing is written. Raises UsageError, UnknownName, AccessError, StatementError,
    SourceError.
    """
    if request.way is None:
        return compared(engine, request, partial(_by_one_way, bounded=False), on_stage)
    return _by_one_way(engine, request, on_stage)


def rows_to_query(engine: Engine, request: ProtectRequest) -> ProtectResult:
    """The same, by values or levels; its script is a query for the rows of the copy, which were audited. It is right
    for the rows as they are alone: later ones may have no code. Raises as `protect`."""
    return _by_one_way(engine, request, lambda stage: None, bounded=False, queried=True)


def generalizing(protection: TableProtection, codes: Codes, levels: Levels, k: int, script: Script) -> Printed:
    """The statement that makes the copy at these levels, printed instead. Raises UsageError."""
    query = codes.labelled_copy(levels, k, protection.copied)
    return printed(protection.engine, script, protection.table, "_protected", query, protection.copied)


def recoding_rows(protection: TableProtection, recoding: LocalRecoding, found: LocalFigures, script: Script) -> Printed:
    """The statement that makes the copy by values, printed instead. Raises UsageError."""
    query = recoding.printed_copy(protection.copied, found)
    columns = tuple(recoding.published(protection.copied, found))
    return printed(protection.engine, script, protection.table, "_protected", query, columns)


@one_answer
def _by_one_way(
    engine: Engine,
    request: ProtectRequest,
    on_stage: Callable[[str], None],
    bounded: bool = True,
    queried: bool = False,
) -> ProtectResult:
    on_stage("reading the catalog")
    return _Protection(engine, request, on_stage, bounded, queried).run()


class _Protection:
    """One run of `protect`; collects its result."""

    def __init__(
        self,
        engine: Engine,
        request: ProtectRequest,
        on_stage: Callable[[str], None],
        bounded: bool,
        queried: bool,
    ) -> None:
        self._engine, self._request, self._on_stage = engine, request, on_stage
        self._protection = TableProtection.of(engine, request)
        self._bounded = bounded  # a plan by values is compared with a bound of all plans
        self._queried = queried  # the rows of the copy are returned as a query
        self._bound: Fraction | None = None
        self._lattice: Lattice | None = None
        self._search: Search | None = None
        self._coarsest = ""  # why there is no finer plan
        self._open: list[str] = []  # what informs beside the plan, and did not finish
        self._frontier: list[FrontierPoint] = []
        self._turns: tuple[AskedLevels, ...] = ()
        self._figures: NodeFigures | None = None  # of the best choice
        self._recoded: LocalFigures | None = None
        self._found_back: tuple[GivenBack, ...] | None = None
        self._rows: int | None = None
        self._after: ClassProfile | None = None
        self._written = False
        self._recognised = 0.0  # seconds that it took to count the columns
        self._script: tuple[str, ...] | None = None

    def run(self) -> ProtectResult:
        return until_stopped(self._anytime, self._result)

    def _anytime(self) -> ProtectResult:
        """The plan. Where a budget ends before there is one, the coarsest, if it is known to be safe, or as a copy."""
        try:
            return self._run()
        except Unconfirmed as stop:
            return self._result(str(stop), stop.reason)
        except BudgetSpent as spent:
            request, protection = self._request, self._protection
            if self._recoded or self._figures or request.script is not None or request.turns:
                raise
            if self._copied and protection.profiler.statements_left < OF_A_COPY:
                raise
            enough = protection.counted >= request.k and not protection.persons and len(request.policy.criteria) == 1
            if not self._copied and not enough:
                raise
            self._coarsest, self._search = str(spent), None
            if self._copied:
                made = partial(coarsest_rows, protection)
                if protection.persons:  # whom the audit counts instead
                    self._rows, _ = protection.profiler.counts()
                self._write(protection.copy, made, withheld_columns(protection), protection.counted or None)
            return self._result()

    @property
    def _copied(self) -> bool:
        """Whether the copy is made, or its rows are returned."""
        return self._protection.copy is not None or self._queried

    def _planning(self) -> AbstractContextManager[None]:
        """What comes before there is a plan: it leaves what a copy of the coarsest takes."""
        if not self._copied:
            return nullcontext()
        deadline, seconds = self._protection.profiler.deadline, 0.0
        if deadline is not None:
            seconds = min(max(1, COUNTINGS * self._recognised), (deadline - time.monotonic()) / 2)
        return self._protection.profiler.leaving(seconds, OF_A_COPY)

    def _run(self) -> ProtectResult:
        protection, dialect = self._protection, self._engine.dialect
        if self._request.way is Way.VALUES and not dialect.nested_recursion:
            raise UsageError(
                f"--by values needs an engine such as DuckDB or Postgres; on {dialect.name} take --by levels"
            )
        began = time.monotonic()
        protection.recognise(self._on_stage, several=True)
        if protection.persons and self._request.script is not None:
            raise UsageError(
                f"a printed statement does not hold {setting('k')} persons of later rows, and "
                f"{protection.persons.name} repeats: use --into"
            )
        self._recognised = time.monotonic() - began
        if self._request.way is Way.LEVELS and self._request.limits:
            disclosing(protection.profiler, protection.table, self._request.policy.criteria)  # refuses their columns
        self._on_stage("reading the levels of each column")
        with self._planning():
            codes = codes_of(protection, self._request.declared)
        return self._by_values(codes) if self._request.way is Way.VALUES else self._by_levels(codes)

    def _by_levels(self, codes: Codes) -> ProtectResult:
        """The levels that were asked for, or else those that keep most."""
        protection, request = self._protection, self._request
        self._on_stage("coding the rows")
        with self._planning():
            policy = protection.counting(request.policy)
            lattice = self._lattice = Lattice(protection, codes, policy, request.chosen_measure, request.share)
        rows = self._rows = lattice.shape.rows
        if not rows:
            return self._result()
        if request.turns:
            best = self._tried(lattice, request.turns)
        else:
            self._on_stage("searching the levels")
            self._search = lattice.search(self._limit, protection.search_deadline(1))
            if rows >= request.k and lattice.rule.plain:
                self._search.begin_at(lattice.shape.heights)
            best = self._best(self._search, protection.search_deadline(1))
            if best is None and not (lattice.rule.monotone or self._search.found.proved):
                raise Stopped("no levels that meet the limits were found before the search ended")
        if best is None:
            return self._result()
        self._figures = lattice.known(best)
        if self._figures.kept is None:
            [self._figures] = lattice.figures([best.levels], [best.below])
        if request.frontier:
            deadline = protection.search_deadline(1)
            self._draw(frontier_of_levels(lattice, request.k, self._limit, deadline, self._on_stage))
        self._carry_out(codes, best, rows - best.below)
        return self._result()

    @contextmanager
    def _beside(self, what: str) -> Iterator[None]:
        """For what informs beside a plan: the end of a budget ends it alone."""
        try:
            yield
        except BudgetSpent as spent:
            self._open.append(f"{what}: {spent}")

    def _draw(self, points: Iterator[FrontierPoint]) -> None:
        """Collect what is kept for other k, as far as a budget gets without what the copy needs."""
        deadline = self._protection.search_deadline(1)
        with self._beside("the frontier"):
            for point in points:
                self._frontier.append(point)
                self._check_left(deadline)

    @staticmethod
    def _best(search: Search, deadline: float | None) -> PricedNode | None:
        """The best node by the end, or by the budget's end, which ends the search alone. Raises Stopped."""
        try:
            search.run(deadline)
        except BudgetSpent:
            if search.found.best is None:
                raise
        return search.found.best

    @property
    def _limit(self) -> int:
        """The rows that may be left out."""
        return int(self._request.share * (self._rows or 0))

    def _tried(self, lattice: Lattice, texts: Sequence[str]) -> PricedNode | None:
        """Measure the levels that were asked for; the best of those that reach k."""
        nodes = [lattice.chosen(text) for text in texts]
        self._on_stage("measuring the levels")
        classes = [lattice.labelled(node) for node in nodes]
        below = [each.left_out for each in classes]
        figures = lattice.figures(nodes, below)
        self._turns = tuple(
            AskedLevels(
                asked=text,
                classes_below_k=each.classes,
                rows_beyond=each.beyond,
                cells_shown=lattice.cells_shown(own.levels, each.left_out),
                enough=each.within(self._limit),
                **vars(own),
            )
            for text, each, own in zip(texts, classes, figures, strict=True)
        )
        costs = lattice.price(nodes, below)
        priced = [
            PricedNode(*each)
            for each, own in zip(zip(nodes, below, costs, strict=True), classes, strict=True)
            if own.within(self._limit)
        ]
        return min(priced, key=lambda each: each.rank, default=None)

    def _by_values(self, codes: Codes) -> ProtectResult:
        """The plan by local recoding, row by row."""
        protection = self._protection
        policy = protection.counting(self._request.policy)
        dialect, table = self._engine.dialect, protection.table
        recoding = LocalRecoding(dialect, table, codes, protection.weights, policy)
        self._on_stage("recoding row by row")
        held = self._request.script is None and not self._queried  # what is printed makes its plan anew
        with self._planning():
            if held:
                recoding.hold(protection.profiler.hold)
            [found] = protection.profiler.ask([recoding.figures()])
        self._rows = found.rows
        if not found.rows or found.unsafe:
            return self._result()
        self._recoded = found
        if held:
            found = self._recoded = self._improved(recoding, found)
        if self._bounded and found.rows <= ROWS_BOUNDED:
            self._on_stage("finding what no plan exceeds")
            with self._beside("the bound"):
                [self._bound] = protection.profiler.ask([recoding.bound()])
        if self._request.frontier:
            self._draw(frontier_of_values(protection, codes, policy, bool(found.moves), self._on_stage))
        columns = recoding.published(protection.columns, found)
        if self._request.script is not None:
            made = recoding_rows(protection, recoding, found, self._request.script)
            if self._passes(partial(rows_of_query, dialect, made.rows), columns, found.rows):
                self._found_back, self._script = self._given_back(recoding, found), made.statements
        elif protection.copy is not None or self._queried:
            made_rows = partial(recoding.copy, figures=found)
            self._write(protection.copy, made_rows, columns, found.rows, lambda: self._given_back(recoding, found))
        return self._result()

    def _improved(self, recoding: LocalRecoding, found: LocalFigures) -> LocalFigures:
        """The plan after moves of rows, as far as a budget gets without what the copy needs."""
        profiler, deadline, moves = self._protection.profiler, self._protection.search_deadline(1), 0
        self._on_stage("moving rows to groups where they keep more")
        with self._beside("the improvement of the plan"):
            self._check_left(deadline, STATEMENTS)
            for number in recoding.improve(profiler.hold, profiler.ask):
                moves = number
                self._check_left(deadline, STATEMENTS)
        if not moves:
            return found
        [better] = profiler.ask([recoding.figures()])
        return replace(better, moves=moves)

    def _check_left(self, deadline: float | None, statements: int = 0) -> None:
        """Raises BudgetSpent if a budget has no more than the copy needs, and so many statements."""
        wanted = self._copied or self._request.script is not None
        if self._protection.profiler.statements_left < OF_A_COPY * wanted + statements:
            raise BudgetSpent("the statements that are left are those of the copy")
        if wanted and deadline is not None and time.monotonic() > deadline:
            raise BudgetSpent("the time that is left is that of the copy")

    def _given_back(self, recoding: LocalRecoding, found: LocalFigures) -> tuple[GivenBack, ...]:
        """The coarser cells whose values other columns of the copy give back."""
        coarser = {each.name: sum(each.cells[1:]) for each in found.columns}
        protection = self._protection
        rows = partial(rows_of_query, self._engine.dialect, recoding.copy(protection.copied, found, blank=True))
        return protection.given_back(rows, coarser, protection.profiler.deadline)

    def _carry_out(self, codes: Codes, best: PricedNode, rows: int) -> None:
        """Write the copy at these levels, with so many rows, or print a statement that makes it."""
        protection, k, script = self._protection, self._request.k, self._request.script
        if script is not None:
            made = generalizing(protection, codes, best.levels, k, script)
            if self._passes(partial(rows_of_query, self._engine.dialect, made.rows), protection.columns, rows):
                self._script = made.statements
        elif protection.copy is not None or self._queried:
            assert self._lattice is not None
            self._write(protection.copy, partial(self._lattice.copy, best.levels), protection.columns, rows)

    def _write(
        self,
        copy: ProtectedCopy | None,
        made: Callable[[Sequence[Column]], exp.Query],
        columns: Sequence[Column],
        rows: int | None,
        given_back: Callable[[], tuple[GivenBack, ...] | None] = lambda: None,
    ) -> None:
        """Write the copy, audit it, and keep it only if it passes, with so many rows; without one, the same query.

        `made`: the query for the rows, with these columns. Persons are in no copy: they are counted among the rows that
        the query makes, and the copy must have the same rows."""
        protection, dialect = self._protection, self._engine.dialect
        query = made(protection.copied)
        planned = query if protection.persons is None else made((*protection.copied, protection.persons))
        if copy is None:
            if self._passes(partial(rows_of_query, dialect, planned), columns, rows):
                self._found_back = given_back()
                self._script = (dialect.render(in_own_order(dialect, query)),)
            return
        self._on_stage(f"writing {copy}")
        copy.write_rows(query, protection.profiler.deadline)
        safe = self._passes(
            copy.rows if protection.persons is None else partial(rows_of_query, dialect, planned), columns, rows
        )
        if safe and (protection.persons is None or self._has_rows_of(copy, query, columns)):
            self._found_back = given_back()
            copy.keep()
            self._written = True

    def _passes(
        self, rows_with: Callable[[Sequence[Column]], exp.Expr], columns: Sequence[Column], rows: int | None
    ) -> bool:
        """Audit the rows of the copy: whether it meets the policy, and has so many, if they were counted."""
        self._on_stage(f"auditing {self._protection.copy or 'the rows of the statement'}")
        policy = self._request.policy
        found = self._after = self._protection.audited(rows_with, columns, policy)
        exceeded = any(limit.met_by(found) for limit in limits_among(policy.criteria))
        counted = found.rows if rows is None or found.entities else rows
        self._rows = found.rows if self._rows is None and not found.entities else self._rows
        return not (found.rows_below_k or exceeded) and found.rows == counted > 0

    def _has_rows_of(self, copy: ProtectedCopy, query: exp.Query, columns: Sequence[Column]) -> bool:
        """Whether the written copy has the rows of the query, each as often."""
        published = {each.name: each for each in columns}
        copied = [published.get(each.name, each) for each in self._protection.copied]
        written = copy.rows([replace(each, comparison=Comparison.VALUE) for each in copied])
        [others] = self._protection.profiler.ask([rows_not_in_both(self._engine.dialect, query, written, copied)])
        return not others

    def _result(self, unfinished: str = "", reason: str = "") -> ProtectResult:
        """The result so far. `unfinished`: why the work ended before its plan, or its copy, was complete; `reason`: the
        same for the headline."""
        protection, request, lattice = self._protection, self._request, self._lattice
        found = self._search.found if self._search else FoundLevels()
        local, best = self._recoded, self._figures
        if best is None and found.best is not None and lattice is not None:  # ended before its figures were asked
            best = lattice.known(found.best)
        stopped = [unfinished or self._coarsest] if unfinished or self._coarsest else []
        if self._search and best is not None and not found.proved and not unfinished:
            few = lattice is None or lattice.shape.nodes <= MOST_NODES
            stopped = ["the proof: " + ("the time was used up" if few else "there are too many choices of levels")]
        stopped += self._open
        result = ProtectResult(
            verdict=Verdict.INCONCLUSIVE if unfinished else Verdict.FINISHED,
            reason=reason,
            by=request.way,
            measure=request.chosen_measure,
            suppress=request.share,
            hierarchies=None if request.hierarchies is None else str(request.hierarchies),
            turns=self._turns,
            frontier=tuple(self._frontier),
            columns_published=lattice.columns(best.levels) if lattice and best else (),
            recoded=local,
            coarsest=bool(self._coarsest),
            rows_left_out=best.rows_below_k if best else 0 if local or self._coarsest else None,
            kept=local.kept if local else best.kept if best else Fraction(0) if self._coarsest else None,
            precision=best.precision if best else None,
            precision_charged=best.precision_charged if best else None,
            bound=self._bound if found.lower_bound is None else 1 - found.lower_bound,
            proved=found.proved and best is not None,
            choices=lattice.shape.nodes if lattice and not local else None,
            measured=len(found.asked),
            unsafe=self._certificate(found),
            after=self._after,
            target=str(protection.copy) if self._written else None,
            copied=tuple(column.name for column in protection.copied) if self._written else (),
            not_copied=protection.not_copied,
            kept_columns=protection.kept or None,
            given_back=self._found_back,
            sql=request.script,
            script=self._script,
            account=protection.account(self._rows, stopped),
        )
        return judged(result)

    def _certificate(self, found: FoundLevels) -> tuple[UnsafeNode, ...]:
        """The unsafe nodes that were asked, without those that the proof does not need."""
        cheaper = self._lattice.cheaper(found.lower_bound) if self._lattice and found.lower_bound is not None else None
        unsafe = {node: rows for node, rows in found.sure.items() if rows > self._limit}
        needed = cheaper.needed(unsafe) if cheaper else []
        return tuple(UnsafeNode(levels=node, rows_below_k=unsafe[node]) for node in needed)
