"""The fewest cells to suppress so that no row stands out: the plan, a script for it, or the copy itself."""

import time
from collections.abc import Callable, Collection, Sequence

from sqlglot import exp

from qidsql.commands import gate
from qidsql.commands.protect.cells.command import Attack, CellsMethod, CellsRequest
from qidsql.commands.protect.cells.matching_result import ColumnLoss, MatchingRows, ValueLoss, judged
from qidsql.commands.table_protection import Printed, TableProtection, printed, refuse_files, until_stopped
from qidsql.commands.table_search import one_answer
from qidsql.core.budget import WorkLimit
from qidsql.core.copies import Script
from qidsql.core.results import Verdict
from qidsql.core.tables import Nulls, names_of, weight_of
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, UsageError
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.certificates import CellPlan
from qidsql.protection.copies import GivenBack, ProtectedCopy
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.combinations import plan_for_combinations, shared
from qidsql.protection.suppression.known_people import KnownPeople, known_people, people_of_copy, plan_for_known_people
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.values_lost import CellsLost, values_lost
from qidsql.protection.suppression.verification import released_sizes, sizes_of_copy, wildcard_check
from qidsql.sql.copies import suppressed_by_counts, suppression_in_place
from qidsql.sql.masks import people_and_rows
from qidsql.sql.relation import Relation
from qidsql.sql.row_codes import values_at
from qidsql.sql.templates import Statement, integer
from qidsql.wording.texts import count

# Statements that suppress the cells of a plan in the engine alone, printed instead of a copy.


MAX_WINDOWS = 200  # column sets that a printed statement tries: each is a sort of the table there


def suppressing(engine: Engine, protection: TableProtection, masks: Collection[int], k: int, script: Script) -> Printed:
    """The statements; each row loses the lightest of these column sets that make it safe. Raises UsageError."""
    table, dialect = protection.table, engine.dialect
    refuse_files(table)
    ordered = sorted(masks, key=lambda mask: (weight_of(mask, protection.weights), mask))
    if len(ordered) > MAX_WINDOWS:
        raise UsageError(
            f"the plan suppresses {count(len(ordered))} different column sets, too many for one statement "
            f"({MAX_WINDOWS}); write the copy with --into, or suppress fewer columns (--column)"
        )
    if script is Script.UPDATE:
        if not table.row_address:
            raise UsageError(f"{table.name} is a {table.kind}, whose rows have no addresses; use --sql view")
        lost = {name for mask in ordered for name in names_of(mask, protection.names)}
        fixed = [column.name for column in protection.columns if column.name in lost and not column.nullable]
        if fixed:
            raise UsageError(f"{', '.join(fixed)} may not be NULL in {table.name}; use --sql view, or --into")
        columns = tuple(column for column in table.columns if column.readable)
        query = suppressed_by_counts(dialect, table, protection.columns, columns, ordered, k)
        made = suppression_in_place(dialect, table, protection.columns, ordered, k)
        return Printed(dialect.script(made), query, columns)
    query = suppressed_by_counts(dialect, table, protection.columns, protection.copied, ordered, k)
    return printed(engine, script, table, "_suppressed", query, protection.copied)


NAMED_VALUES = 3
WHOLE = exp.select("pattern", "mask", "size").from_("plan").join("patterns", using=["pattern"])
DIVIDED = exp.select("pattern", "mask", "size").from_("shares")  # rows of one pattern can lose different cells


@one_answer
def matching_rows(
    engine: Engine, request: CellsRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> MatchingRows:
    """The lightest cells to suppress so that every row matches k - 1 others, and the copy if one was requested.

    One statement codes the rows, and a local workbench computes the plan; a copy is written and audited in one
    transaction of the engine and kept only if every row of it matches k rows. A stop (budget, lost connection, Ctrl-C)
    makes the verdict inconclusive, and nothing is written. Raises UsageError, UnknownName, AccessError, StatementError,
    SourceError.
    """
    on_stage("reading the catalog")
    return _Suppression(engine, request, on_stage).run()


class _Suppression:
    """One run; collects its result."""

    def __init__(self, engine: Engine, request: CellsRequest, on_stage: Callable[[str], None]) -> None:
        self._engine, self._request, self._on_stage = engine, request, on_stage
        self._protection = TableProtection.of(engine, request)
        self._rows: int | None = None
        self._plan: SuppressionPlan | None = None
        self._cells: CellPlan | None = None
        self._losses: tuple[ColumnLoss, ...] = ()
        self._written = False
        self._rows_below_k: int | None = None
        self._known: KnownPeople | None = None
        self._spent: BudgetSpent | None = None
        self._script: tuple[str, ...] = ()
        self._given_back: tuple[GivenBack, ...] | None = None

    def run(self) -> MatchingRows:
        return until_stopped(self._run, self._result)

    def _run(self) -> MatchingRows:
        request = self._request
        self._protection.recognise(self._on_stage)
        self._on_stage("coding the rows")
        began = time.monotonic()
        with RowPatterns.of(self._profiler) as patterns:
            self._rows = patterns.rows
            if patterns.rows < request.policy.k:
                return self._result()
            plan = self._planned(patterns, time.monotonic() - began)
            patterns = plan.patterns
            self._plan, self._losses = plan, self._lost(plan)
            own = WHOLE if request.attack is Attack.RELEASED_ROWS else DIVIDED
            self._cells = CellPlan.of(patterns.bench, self._names, own)
            if request.policy.nulls == Nulls.EQUAL and self._known is None:
                self._known = self._count_known(plan)
            if request.script is not None:
                masks = plan.masks
                printed = suppressing(self._engine, self._protection, masks, request.policy.k, request.script)
                self._script = printed.statements
                self._given_back = printed.given_back(self._protection, self._blank, self._deadline)
            if self._protection.copy is not None:
                return self._write(self._protection.copy, patterns)
        return self._result()

    def _planned(self, patterns: RowPatterns, coding: float) -> SuppressionPlan:
        """The checked plan against the requested attack. `coding` is how long the coding of the rows took."""
        match self._request.attack:
            case Attack.UNIQUE_COMBINATIONS:
                return self._against_unique_combinations(patterns, coding)
            case Attack.KNOWN_PERSON:
                return self._against_known_person(patterns, coding)
            case _:
                return self._against_released_rows(patterns)

    def _against_released_rows(self, patterns: RowPatterns) -> SuppressionPlan:
        """The checked plan by which each released row fits k people."""
        request, deadline = self._request, self._profiler.deadline
        wildcard = request.policy.nulls == Nulls.WILDCARD
        plan = SuppressionPlan.of(
            patterns,
            request.policy.k,
            self._protection.weights,
            wildcard=wildcard,
            deadline=deadline,
            on_stage=self._on_stage,
        )
        if request.shared:
            self._on_stage("searching rows that suppressed cells of others protect")
            plan = shared(plan, deadline=deadline)
        self._on_stage("checking the plan")
        return gate.suppression(plan, not request.shared and not wildcard, deadline)

    def _against_unique_combinations(self, patterns: RowPatterns, coding: float) -> SuppressionPlan:
        """The checked plan by which k released rows show each combination that a row shows. It is checked and written
        also where the time or the work for its improvement is spent."""
        limit = WorkLimit(self._protection.search_deadline(coding), self._request.work)
        k, weights = self._request.policy.k, self._protection.weights
        plan, self._spent = plan_for_combinations(patterns, k, weights, limit, self._on_stage)
        self._on_stage("checking the plan")
        gate.suppression(plan, False, self._deadline)
        self._known = gate.combinations_safe(known_people(plan, self._deadline))
        return plan

    def _against_known_person(self, patterns: RowPatterns, coding: float) -> SuppressionPlan:
        """The checked plan by which k released rows can be each person's; also where the limit is spent."""
        limit = WorkLimit(self._protection.search_deadline(coding), self._request.work)
        k, weights = self._request.policy.k, self._protection.weights
        found = plan_for_known_people(patterns, k, weights, limit, self._on_stage)
        self._spent = found.stopped
        self._on_stage("checking the plan")
        gate.matched(found.holds)
        known = known_people(found.plan) or KnownPeople.of_matchings(patterns.rows)
        self._known = gate.known_people_safe(known, found.holds)
        return found.plan

    def _count_known(self, plan: SuppressionPlan) -> KnownPeople | None:
        """Whom the rows of a checked plan single out. None where time is up: the plan is right without the counts."""
        self._on_stage("counting people whom the rows still single out")
        try:
            return known_people(plan, self._profiler.deadline)
        except BudgetSpent:
            return None

    @property
    def _deadline(self) -> float | None:
        """The end of the work; none once a plan is to be checked and written although the time is spent."""
        return self._profiler.deadline if self._request.attack is Attack.RELEASED_ROWS else None

    @property
    def _profiler(self) -> TableProfiler:
        return self._protection.profiler

    @property
    def _names(self) -> tuple[str, ...]:
        return self._protection.names

    def _lost(self, plan: SuppressionPlan) -> tuple[ColumnLoss, ...]:
        """The losses of each column and its values."""
        patterns, losses = plan.patterns, []
        lost = values_lost(plan, NAMED_VALUES, self._deadline)
        for place, cells in enumerate(plan.by_column):
            touched, gone, most = lost[place]
            shown = self._values(place, most, patterns.shuffle_key) if self._request.show_values and most else ()
            losses.append(
                ColumnLoss(
                    self._names[place],
                    self._protection.weights[place],
                    cells,
                    patterns.values[place],
                    touched,
                    gone,
                    shown,
                )
            )
        return tuple(losses)

    def _values(self, place: int, most: Sequence[CellsLost], shuffle_key: str) -> tuple[ValueLoss, ...]:
        """The values that lose most, as text. Queried only with --show-values."""
        name = self._names[place]
        codes = [loss.code for loss in most]
        query = values_at(self._engine.dialect, self._profiler.source, name, place, codes, shuffle_key)
        statement = Statement(query, f"values of {name}", lambda rows: rows)
        texts = {integer(code): str(value) for code, value in self._profiler.ask([statement])[0]}
        return tuple(ValueLoss(texts.get(loss.code), loss.cells, loss.of) for loss in most)

    def _write(self, copy: ProtectedCopy, patterns: RowPatterns) -> MatchingRows:
        """Write the copy, audit it, and keep it only if it passes."""
        k, attack = self._request.policy.k, self._request.attack
        assert self._plan is not None
        known_person = attack is Attack.KNOWN_PERSON
        planned = released_sizes(self._plan) if known_person else []
        self._on_stage(f"writing {copy}")
        divided = attack is not Attack.RELEASED_ROWS  # rows of one pattern may lose different cells
        copy.write(patterns, self._protection.columns, self._deadline, parting=divided)
        self._on_stage(f"auditing {copy}")
        profiler_of_copy = ByValue(self._engine, Relation(copy.rows(self._protection.columns)), self._names, k)
        with RowPatterns.of(profiler_of_copy) as written:
            check = wildcard_check(written, k, self._deadline)
            as_planned = known_person and sizes_of_copy(written) == planned
        self._rows_below_k = check.rows_below_k
        if not check.passes or check.rows != patterns.rows:
            return self._result()
        if divided:
            self._on_stage(f"counting people whom {copy} singles out")
            known = self._people_of(copy)
            if not known_person:
                gate.combinations_safe(known)
            elif as_planned:  # then the plan's matchings are those of the copy
                gate.known_people_safe(known or KnownPeople.of_matchings(check.rows), matched=True)
            else:
                gate.known_people_safe(known)
        self._given_back = self._protection.given_back(copy.rows, self._blank, self._deadline)
        copy.keep()
        self._written = True
        return self._result()

    @property
    def _blank(self) -> dict[str, int]:
        """The blank cells of each column."""
        return {loss.name: loss.cells for loss in self._losses}

    def _people_of(self, copy: ProtectedCopy) -> KnownPeople | None:
        """Whom the written copy singles out, from its rows and those of the table. One statement, one scan of each."""
        profiler, written = self._profiler, Relation(copy.rows(self._protection.columns))
        sides = ((each.node, each.columns(self._names)) for each in (profiler.source, written))
        both = ByValue(self._engine, *people_and_rows(*sides), self._request.policy.k)
        with RowPatterns.of(both) as patterns:
            return people_of_copy(patterns, both.k, self._deadline)

    def _result(self, unfinished: str = "") -> MatchingRows:
        """The result so far. `unfinished`: why the work ended before its plan, or its copy, was complete."""
        plan, request = self._plan, self._request
        stopped = bool(unfinished)
        unfinished = unfinished or (str(self._spent) if self._spent else "")
        found = MatchingRows(
            verdict=Verdict.INCONCLUSIVE if stopped else Verdict.FINISHED,
            reason="",
            k=request.policy.k,
            method=CellsMethod.SHARED if request.shared else CellsMethod.OPTIMAL,
            against=request.attack,
            cost=plan.weight if plan else None,
            lower_bound=plan.lower_bound if plan else None,
            cells=plan.cells if plan else None,
            records=plan.records if plan else None,
            by_cells=plan.by_cells if plan else {},
            losses=self._losses,
            plan=self._cells,
            proof=plan.proof if plan and plan.lower_bound is not None else None,
            algorithm=plan.methods if plan else (),
            masks=len(plan.masks) if plan else 0,
            target=str(self._protection.copy) if self._written else None,
            copied=tuple(column.name for column in self._protection.copied) if self._written else (),
            not_copied=self._protection.not_copied,
            kept=self._protection.kept or None,
            given_back=self._given_back,
            rows_below_k=self._rows_below_k,
            known=self._known,
            sql=request.script,
            script=self._script,
            account=self._protection.account(self._rows, [unfinished] if unfinished else []),
        )
        return judged(found)
