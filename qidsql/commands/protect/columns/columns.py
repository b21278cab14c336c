"""Which columns of a table can be published together, and a script to publish them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from qidsql.column_roles.resolution import columns_of
from qidsql.commands import gate
from qidsql.commands.protect.columns.command import ColumnsRequest, ColumnsResult, judged
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.core.options import DELTA
from qidsql.core.results import Verdict
from qidsql.core.tables import FILES, Table, TableName
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.protection.masking import MaskingPlan, exact_masking, greedy_masking, sampled_masking
from qidsql.sql.copies import granting_columns, publishing_view

# Statements that publish columns of a table, printed.


def publishing(engine: Engine, table: Table, published: Sequence[str], view: str | None, role: str) -> tuple[str, ...]:
    """A view of these columns, or a grant of them to the role. Empty for files and if nothing is published."""
    dialect = engine.dialect
    if not published or table.kind in FILES:
        return ()
    name = TableName(view or dialect.name_beside(table.name.name, "_published"), table.name.schema, table.name.catalog)
    statements = publishing_view(dialect, table, published, name, role)
    if dialect.has_roles and table.condition is None:  # a grant of columns would publish every row
        statements += granting_columns(dialect, table, published, role)
    return dialect.script(*statements)


@one_answer
def columns(
    engine: Engine, request: ColumnsRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> ColumnsResult:
    """Which columns to publish so that they do not meet the criterion, measured on the full table.

    Greedy unless an exact or a sampled plan is requested. A stop (budget, lost connection, Ctrl-C, a statement that
    fails after earlier ones succeeded) makes the verdict inconclusive: the result is the best plan known to be safe by
    then, with the proved bound. Applies nothing. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    resolve = partial(columns_of, engine, policy=request.policy, named=request.column_weights, publishing=True)
    search = TableSearch(engine, request.table, request.policy, request.column_weights, resolve)
    if request.view is not None and (request.view == search.table.name.name or not engine.dialect.keeps(request.view)):
        raise UsageError(f"--view {request.view} is the table itself, or longer than names of {engine.label} can be")
    plan, unfinished = None, ""
    try:
        with interruptible():
            search.confirm_rows(None, by_persons=True)
            search.use_workspace(on_stage)
            search.measure(request.forbidden)
            on_stage(f"searching columns without a {request.criterion.name}")
            plan = gate.masking(_plan(search, request), search.weights)
        unfinished = str(plan.stopped or "")
    except Stopped as stop:
        unfinished = str(stop)
    everything, total = search.profiler.everything, sum(search.weights)
    published = plan.published if plan else 0
    measured = None if plan is None or plan.safe is None else plan.profile
    singles = search.profiler.known().values()  # no statement: a plan that publishes nothing has measured these
    rows = next((profile.rows for profile in ([measured] if measured else singles)), None)
    if rows == 0:  # nothing was measured, so nothing is known to be safe
        plan, published, measured = None, 0, None
    names = search.names(published)
    shown = plan is not None and plan.safe is not False
    found = ColumnsResult(
        verdict=Verdict.INCONCLUSIVE,
        reason="",
        criterion=request.forbidden.name,
        options=request.criterion.options.strip(),
        algorithm=plan.algorithm.replace(" ", "-") if plan else "none",
        published=names,
        withheld=search.names(everything & ~published),
        weight=plan.weight if plan else 0,
        bound=plan.bound if plan else None if search.stopped else total,
        safe=plan.safe if plan else None,
        profile=measured,
        quasi_identifiers=search.proof(plan.met if plan else ()),
        certificate=plan.certificate if plan else None,
        view=request.view,
        role=request.role,
        script=publishing(engine, search.table, names, request.view, request.role) if shown else (),
        account=search.account(rows, [unfinished] if unfinished else []),
    )
    return judged(found)


def _plan(search: TableSearch, request: ColumnsRequest) -> MaskingPlan:
    criterion, sampling = request.forbidden, request.sampling
    if request.exact or not request.sampled:
        with suppress(Stopped):  # a stop shows again at the next profile
            search.profiler.singles()  # a greedy plan compares these first; they show how many rows there are
        breadth = search.profiler.breadth
        if request.exact:
            return exact_masking(search.profiler, criterion, search.weights, search.witnesses(criterion), breadth)
        return greedy_masking(search.profiler, criterion, search.weights, breadth)
    delta = sampling.delta or DELTA
    if sampling.epsilon is None:
        [size] = sampling.sizes
    else:
        size = request.criterion.near_sample(sampling.epsilon, delta, search.profiler.columns)
    sampler = search.sampler(sampling.seed or 0)
    return sampled_masking(search.profiler, criterion, sampler, size, delta, search.weights, verify=sampling.verify)
