"""An audit by a sample of the classes: two scans of a table that is too large to be audited exactly."""

from collections.abc import Callable
from dataclasses import replace

from qidsql.commands.audit.draft import Draft
from qidsql.commands.audit.request import AuditRequest
from qidsql.core.policy import Policy
from qidsql.core.tables import Role
from qidsql.errors import UsageError
from qidsql.measures.sampling import share_for
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import TableOverview
from qidsql.wording.texts import count, setting


def estimated(
    profiler: TableProfiler, request: AuditRequest, draft: Draft, on_stage: Callable[[str], None] = lambda stage: None
) -> bool:
    """Fill the draft by an estimate; False if the table has so few rows that all its classes have to be counted.

    Columns with about as many values as rows are left out, as identifiers: what the others violate, all violate. One
    statement counts rows and values, one more the sampled classes. Raises UsageError, Stopped, StatementError.
    """
    assert request.error is not None
    if profiler.engine.dialect.class_hash is None:
        raise UsageError(f"this engine draws no sample of classes: leave out {setting('approximate')}")
    on_stage(f"counting the values of {profiler.columns} columns")
    overview = overview_of(profiler, request.policy)
    draft.rows = overview.rows
    if not draft.rows:
        return True
    share = share_for(draft.rows, request.policy.k, float(request.error))
    if share == 1:
        draft.notes.append(f"{count(draft.rows)} rows are too few for an estimate of this error: counted exactly")
        return False
    estimate_by(share, overview, profiler, request.policy, draft, on_stage)
    return True


def overview_of(profiler: TableProfiler, policy: Policy) -> TableOverview:
    """What decides which columns are identifiers: values of those of which the policy does not say. One statement."""
    kept = {name.lower() for name in policy.quasi_identifiers}
    declared = policy.columns or policy.keep_identifiers
    return profiler.overview([] if declared else [name for name in profiler.names if name.lower() not in kept])


def estimate_by(
    share: int,
    overview: TableOverview,
    profiler: TableProfiler,
    policy: Policy,
    draft: Draft,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Fill the draft by one class in so many. Raises Stopped, StatementError."""
    draft.rows, present, identifiers = overview.rows, overview.present, overview.identifiers
    for place, finding in enumerate(draft.columns):
        if finding.name not in present:
            continue
        finding = replace(finding, nulls=draft.rows - present[finding.name])
        if finding.name in identifiers:
            values = count(overview.values[finding.name])
            why = f"about as many values ({values}) as rows that have one: taken for an identifier"
            finding = replace(finding, role=Role.DIRECT_IDENTIFIER, reason=why)
        draft.columns[place] = finding
    audited = profiler.narrowed(
        [finding.name for finding in draft.columns if finding.name in present and finding.audited]
    )
    if audited.columns:
        on_stage(f"counting one class in {count(share)}")
        draft.estimate = audited.estimate(share, draft.rows)
