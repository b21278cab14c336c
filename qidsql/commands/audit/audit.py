"""The audit of one table against one policy, from the catalog to a verdict."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from qidsql.column_roles.resolution import Columns, given_columns
from qidsql.commands.audit.causes import explaining
from qidsql.commands.audit.command import AuditRequest, AuditResult, ColumnFinding
from qidsql.commands.audit.facts import AuditFacts, AuditWork, Earlier, Stage
from qidsql.commands.audit.figures import estimated, findings_of, measuring
from qidsql.commands.audit.verdict import assumptions, verdict_on
from qidsql.commands.table_search import Accounting, comparison_notes, order_notes, table_profiler, unknown_table
from qidsql.core.budget import within, within_bytes
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Table
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, SnapshotLost, Stopped
from qidsql.profiling.samples import coded
from qidsql.sql.templates import Statement

BEGUN_ANEW = 2  # restarts at most, where the snapshot is lost


def audit(
    engine: Engine,
    request: AuditRequest,
    on_stage: Callable[[str], None] = lambda stage: None,
    on_table: Callable[[Table], None] = lambda table: None,
    earlier: Earlier | None = None,
) -> AuditResult:
    """Audit one table against a policy.

    First each column alone and all audited columns together, which decides k-anonymity for every column set
    [Yuan & Wang, Corollary 1]; only if that fails, the minimal column sets to blame, then the effect of withholding
    columns. `on_stage` is called with a description of each stage, `on_table` with the table before the first statement
    on its rows, `request.on_part` with the result so far: when the verdict is known, and after each search. Among the
    fewest columns to withhold, those of least weight are reported. What an `earlier` audit of the table found is
    measured first, and only what no longer holds is searched: the result is the same.

    Scans: one counts rows and NULLs, which decides whether columns can be recognised as identifiers; one reads each
    column alone (in a row store all of them together, once for each session); one reads all audited columns together,
    and gives the verdict. Each column set that a search measures takes one more, of its columns alone, as do the
    options for withholding. Without max_statements, each search is limited by the values that it reads. With
    `approximate`: two scans, and no search (see `estimated`).

    A stop (budget, lost connection, Ctrl-C) ends the work and is reported in `unfinished`; facts proved by then remain
    valid. All statements see one state of the data: if its snapshot is lost before the verdict, the audit starts again
    on another, twice at most, and notes it. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    accounting, policy = Accounting(engine), request.policy
    lost: list[str] = []

    def on_part(facts: AuditFacts) -> None:
        if request.on_part is not None:
            request.on_part(_result(facts, request, accounting, lost))

    with within(policy.max_seconds), within_bytes(policy.max_bytes):
        while True:
            with engine.answer(), engine.on_credit():
                facts = _found(engine, request, earlier or Earlier(), on_stage, on_part, on_table, changing=bool(lost))
            verdict, _ = verdict_on(facts, policy)
            if not isinstance(engine.stopped_by, SnapshotLost) or verdict is not Verdict.INCONCLUSIVE:
                break
            if len(lost) == BEGUN_ANEW:
                break
            lost.append(str(engine.stopped_by))
            on_stage(f"starting again: {lost[-1]}")
    return _result(facts, request, accounting, lost)


def _result(facts: AuditFacts, request: AuditRequest, accounting: Accounting, lost: Sequence[str]) -> AuditResult:
    """The result of the facts known so far."""
    policy = request.policy
    verdict, reason = verdict_on(facts, policy)
    notes = (
        *facts.table.notes,
        *comparison_notes(_measured(facts.table, facts.columns)),
        *order_notes(facts.table, policy.criteria),
        *facts.notes,
        *(f"started again: {reason}" for reason in lost),
    )
    return AuditResult(
        verdict=verdict,
        reason=reason,
        entities=_entities(facts, policy),
        columns=facts.columns,
        profile=facts.profile,
        profile_with_proposed=facts.profile_with_proposed,
        estimate=facts.estimate,
        class_sizes=facts.class_sizes,
        histories=facts.histories,
        numbers_of_rows=facts.numbers,
        unicity=facts.unicity or None,
        resolutions=facts.resolutions or None,
        disclosed=facts.disclosed,
        persons=facts.persons or None,
        column_sets=facts.column_sets,
        searches=facts.searches,
        withheld=facts.withheld,
        least_withheld=facts.least_withheld,
        coarser=facts.coarser,
        blanked=facts.blanked,
        hierarchies=None if request.declared is None else str(request.declared),
        assumptions=assumptions(policy, facts.columns, verdict),
        account=accounting.account(facts.table, policy, facts.rows, facts.sets_profiled, facts.unfinished, notes),
        interrupted=facts.interrupted,
        cut_short=facts.cut_short,
    )


def _found(
    engine: Engine,
    request: AuditRequest,
    earlier: Earlier,
    on_stage: Callable[[str], None],
    on_part: Callable[[AuditFacts], None],
    on_table: Callable[[Table], None],
    changing: bool,
) -> AuditFacts:
    """What the stages find, from the catalog on, as far as they get. This is the one place that catches a stop. Of
    `changing` data the verdict is kept if the rest is lost.
    """
    progress = _Progress(engine, AuditFacts(unknown_table(request.table)), changing)
    try:
        on_stage("reading the catalog")
        table, columns = _described(engine, request)
        progress.facts = replace(progress.facts, table=table, columns=findings_of(columns))
        on_table(table)
        every = table_profiler(engine, table, columns.searched, request.policy)  # whose budget begins here
        if engine.workspace:
            on_stage(f"coding {every.columns} columns")
            every, note = coded(every)
            progress.facts = replace(progress.facts, notes=(note,))
        try:
            progress.run(AuditWork(request, table, columns, every, on_stage, earlier), on_part)
        finally:
            progress.facts = replace(progress.facts, sets_profiled=every.sets)
        progress.settle()
    except Stopped as stop:
        progress.stopped(str(engine.stopped_by or stop), engine.stopped_by or stop, isinstance(stop, Interrupted))
    except KeyboardInterrupt as stop:
        progress.stopped("interrupted", stop, interrupted=True)
    return progress.facts


class _Progress:
    """The facts so far. What is not shown to be of one state of the data is not among them at the end, nor at each part
    that is shown."""

    def __init__(self, engine: Engine, facts: AuditFacts, changing: bool) -> None:
        self._engine, self._changing = engine, changing
        self.facts = self._settled = facts
        self._undone: Sequence[str] = ()  # if the work ends now

    def run(self, work: AuditWork, on_part: Callable[[AuditFacts], None]) -> None:
        """Runs the stages of an audit until one ends it. Raises Stopped, StatementError, UsageError."""
        for stage, later in _stages(work.request):
            if not stage.needed(work, self.facts):
                continue
            self._undone = [stage.name, *(later if stage.explains else ())]
            if stage.told:
                if work.request.on_part is not None or (self._changing and self._settled.profile is None):
                    self.settle()  # what is shown, or the verdict
                on_part(self.facts)
            self._undone = later if stage.explains else self._undone
            try:
                for facts in stage.run(work, self.facts):
                    self.facts = facts
            except stage.ends_with as end:
                self.facts = self.facts.left(f"{stage.said}{end}", end, self._undone)
                break
        self._undone = ()

    def settle(self) -> None:
        """Shows that the facts are of one state of the data, or goes back to those that are. Raises Stopped."""
        try:
            self._engine.settle()
        except BaseException:
            self.facts = self._settled
            raise
        self._settled = self.facts

    def stopped(self, reason: str, stop: BaseException, interrupted: bool) -> None:
        """Note why the work ends here."""
        with suppress(Stopped):
            self.settle()
        self.facts = replace(self.facts.left(reason, stop, self._undone), interrupted=interrupted)


def _described(engine: Engine, request: AuditRequest) -> tuple[Table, Columns]:
    """The table as the catalog describes it, and its columns in their given roles."""
    table = engine.narrowed(engine.describe(request.table), request.policy.where)
    table.resolve([*request.column_weights])
    return table, given_columns(table, request.policy)


def _stages(request: AuditRequest) -> Iterator[tuple[Stage, list[str]]]:
    """The stages of an audit, each with the names of those after it."""
    by_sample = [Stage(estimated)] if request.error is not None else []
    stages = [*by_sample, *measuring(request.policy), *explaining(request.policy)]
    for number, stage in enumerate(stages, start=1):
        yield stage, [each.name for each in stages[number:]]


def planned_statements(engine: Engine, request: AuditRequest) -> list[Statement[Any]]:
    """The statements that an audit sends first, in order: those behind the verdict. The column sets that it measures
    later depend on the answers. Reads only the catalog. With a workspace: the statement that makes the copy.
    """
    if engine.workspace or request.error is not None:
        return engine.planned_statements(lambda: audit(engine, request))
    policy = request.policy
    table, columns = _described(engine, request)
    return table_profiler(engine, table, columns.searched, policy).planned_first()[: policy.max_statements]


def _entities(facts: AuditFacts, policy: Policy) -> int | None:
    if policy.entity is None:
        return None
    return next((finding.profile.rows for finding in facts.columns if finding.profile is not None), None)


def _measured(table: Table, findings: Sequence[ColumnFinding]) -> list[Column]:
    measured = {finding.name for finding in findings if finding.profile is not None}
    return [column for column in table.columns if column.name in measured]
