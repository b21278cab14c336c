"""The audit of one table against one policy, from the catalog to a verdict."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from qidsql.column_roles.resolution import Columns, given_columns
from qidsql.commands.audit.causes import allow, search, withhold
from qidsql.commands.audit.command import AuditRequest, AuditResult, ColumnFinding
from qidsql.commands.audit.draft import Draft
from qidsql.commands.audit.earlier import Earlier
from qidsql.commands.audit.figures import estimated, findings_of, measure
from qidsql.commands.audit.verdict import assumptions, verdict_on
from qidsql.commands.table_search import Accounting, comparison_notes, order_notes, table_profiler, unknown_table
from qidsql.core.budget import within, within_bytes
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Table
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Interrupted, SnapshotLost, StatementError, Stopped, UsageError
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.known_rows import linking
from qidsql.profiling.profiler import TableProfiler
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

    def on_part(draft: Draft) -> None:
        if request.on_part is not None:
            request.on_part(_result(draft, policy, accounting, lost))

    with within(policy.max_seconds), within_bytes(policy.max_bytes):
        while True:
            draft = Draft(unknown_table(request.table), weights=request.column_weights, earlier=earlier or Earlier())
            draft.hierarchies = request.declared
            with engine.answer(), engine.on_credit():
                _fill(engine, request, draft, on_stage, on_part, on_table)
            verdict, _ = verdict_on(draft, policy)
            if not isinstance(engine.stopped_by, SnapshotLost) or verdict is not Verdict.INCONCLUSIVE:
                break
            if len(lost) == BEGUN_ANEW:
                break
            lost.append(str(engine.stopped_by))
            on_stage(f"starting again: {lost[-1]}")
    return _result(draft, policy, accounting, lost)


def _result(draft: Draft, policy: Policy, accounting: Accounting, lost: Sequence[str]) -> AuditResult:
    """The result of the facts known so far."""
    verdict, reason = verdict_on(draft, policy)
    notes = (
        *draft.table.notes,
        *comparison_notes(_measured(draft.table, draft.columns)),
        *order_notes(draft.table, policy.criteria),
        *draft.notes,
        *(f"started again: {reason}" for reason in lost),
    )
    return AuditResult(
        verdict=verdict,
        reason=reason,
        entities=_entities(draft, policy),
        columns=tuple(draft.columns),
        profile=draft.profile,
        profile_with_proposed=draft.profile_with_proposed,
        estimate=draft.estimate,
        class_sizes=draft.class_sizes,
        histories=draft.histories,
        numbers_of_rows=draft.numbers,
        unicity=tuple(draft.unicity) or None,
        resolutions=tuple(draft.resolutions) or None,
        disclosed=tuple(draft.disclosed),
        persons=draft.persons or None,
        column_sets=tuple(draft.column_sets),
        searches=tuple(draft.searches),
        withheld=tuple(draft.withheld),
        least_withheld=draft.least_withheld,
        coarser=draft.coarser,
        blanked=draft.blanked,
        hierarchies=None if draft.hierarchies is None else str(draft.hierarchies),
        assumptions=assumptions(policy, draft.columns, verdict),
        account=accounting.account(draft.table, policy, draft.rows, draft.sets_profiled, draft.unfinished, notes),
        interrupted=draft.interrupted,
        cut_short=draft.cut_short,
    )


COARSER = "coarser values and blank cells"

OnPart: TypeAlias = Callable[[Draft], None]


def _fill(
    engine: Engine,
    request: AuditRequest,
    draft: Draft,
    on_stage: Callable[[str], None],
    on_part: OnPart,
    on_table: Callable[[Table], None],
) -> None:
    """Fill the draft, from the catalog on, as far as the work gets. What is not shown to be of one state of the data is
    not in it at the end, nor at each part."""
    facts = draft.facts()

    def settle() -> None:
        nonlocal facts
        try:
            engine.settle()
        except BaseException:
            vars(draft).update(facts)
            raise
        facts = draft.facts()

    def on_settled(draft: Draft) -> None:
        if request.on_part is not None or not facts["profile"]:  # what is shown, or the verdict
            settle()
        on_part(draft)

    try:
        on_stage("reading the catalog")
        described = engine.narrowed(engine.describe(request.table), request.policy.where)
        columns = given_columns(described, request.policy)
        draft.table, draft.columns = described, findings_of(columns)
        on_table(described)
        _examine(engine, described, request, columns, draft, on_stage, on_settled)
        settle()
    except Stopped as stop:
        with suppress(Stopped):
            settle()
        draft.leave(str(engine.stopped_by or stop), engine.stopped_by or stop)
        draft.interrupted = isinstance(stop, Interrupted)
    except KeyboardInterrupt as stop:
        with suppress(Stopped):
            settle()
        draft.leave("interrupted", stop)
        draft.interrupted = True


def planned_statements(engine: Engine, request: AuditRequest) -> list[Statement[Any]]:
    """The statements that an audit sends first, in order: those behind the verdict. The column sets that it measures
    later depend on the answers. Reads only the catalog. With a workspace: the statement that makes the copy.
    """
    if engine.workspace or request.error is not None:
        return engine.planned_statements(lambda: audit(engine, request))
    policy = request.policy
    described = engine.narrowed(engine.describe(request.table), policy.where)
    profiler = table_profiler(engine, described, given_columns(described, policy).searched, policy)
    return profiler.planned_first()[: policy.max_statements]


def _examine(
    engine: Engine,
    table: Table,
    request: AuditRequest,
    columns: Columns,
    draft: Draft,
    on_stage: Callable[[str], None],
    on_part: OnPart,
) -> None:
    """Fill the draft, stage by stage. Raises Stopped if the work ends early."""
    policy = request.policy
    every = table_profiler(engine, table, columns.searched, policy)
    if engine.workspace:
        on_stage(f"coding {every.columns} columns")
        every, note = coded(every)
        draft.notes.append(note)
    try:
        if request.error is not None and estimated(every, request, draft, on_stage):
            return
        violating = measure(every, table, request, columns, draft, on_stage)
        if violating is not None:
            try:
                _explain(*violating, table, policy, draft, on_stage, on_part)
            except StatementError as error:  # the verdict is proved; only the reasons stay incomplete
                draft.leave(str(error), error)
    finally:
        draft.sets_profiled = every.sets


def _explain(
    audited: TableProfiler,
    limited: TableProfiler,
    table: Table,
    policy: Policy,
    draft: Draft,
    on_stage: Callable[[str], None],
    on_part: OnPart,
) -> None:
    """Why the table fails: the minimal column sets to blame, and the effects of withholding columns.

    `limited` profiles the audited columns with all limits on disclosure.
    """
    whole = draft.profile
    assert whole is not None
    criteria = policy.explaining
    draft.todo = [*(f"minimal sets: {c.name}" for c in criteria), "the effects of withholding columns", COARSER]
    for criterion in criteria:
        on_part(draft)
        on_stage(f"violation found; looking for each minimal {criterion.name}")
        del draft.todo[0]
        allow(audited, policy, criterion)
        profiler = linking(disclosing(audited, table, [criterion]), criterion.linked, draft.histories)
        search(profiler, criterion, profiler.profile(profiler.everything), policy, draft)
    on_part(draft)
    on_stage("violation found; measuring the effects of withholding columns")
    del draft.todo[0]
    allow(audited, policy)
    try:
        withhold(linking(limited, policy.below_k.linked, draft.histories), policy, whole, draft)
    except BudgetSpent as stop:
        draft.leave(f"withholding columns: {stop}", stop)
        return
    from qidsql.commands.audit.remedies import compare_remedies  # where a table fails, so that loading stays fast

    on_stage(f"violation found; measuring {COARSER}")
    del draft.todo[0]
    try:
        compare_remedies(audited, table, policy, whole, draft)
    except (BudgetSpent, UsageError) as stop:  # such as too many values for codes
        draft.leave(f"{COARSER}: {stop}", stop)


def _entities(draft: Draft, policy: Policy) -> int | None:
    if policy.entity is None:
        return None
    return next((finding.profile.rows for finding in draft.columns if finding.profile is not None), None)


def _measured(table: Table, findings: Sequence[ColumnFinding]) -> list[Column]:
    measured = {finding.name for finding in findings if finding.profile is not None}
    return [column for column in table.columns if column.name in measured]
