"""The audit of one table against one policy, from the catalog to a verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from qidsql.commands import gate
from qidsql.commands.accounting import Accounting
from qidsql.commands.audit.request import AuditRequest
from qidsql.commands.audit.result import (
    AuditResult,
    ColumnFinding,
    ColumnSetFinding,
    LeastWithheld,
    SearchFinding,
    Withheld,
)
from qidsql.commands.audit.verdict import assumptions, judge
from qidsql.commands.table_search import comparison_notes, table_profiler, unknown_table
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.roles import assign_roles, audited_columns, identifies
from qidsql.core.tables import Column, Nulls, Role, Table, names_of, positions
from qidsql.core.time_limit import within
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, SnapshotLost, StatementError, Stopped
from qidsql.measures.criteria import Criterion, Key
from qidsql.measures.profiles import ClassProfile, SizeBin, bin_starts, size_bins
from qidsql.profiling.coded_copy import coded
from qidsql.profiling.profiler import TableProfiler
from qidsql.profiling.row_pairs import PairsThatAgree
from qidsql.search.borders import borders
from qidsql.search.greedy_minimal import greedy_minimal
from qidsql.search.levelwise import levelwise
from qidsql.search.minimal_keys import minimal_keys
from qidsql.search.minimum_hitting_set import minimum_hitting_set
from qidsql.search.result import Found, SearchResult
from qidsql.sql.statements import Statement
from qidsql.wording.numbers import few, percent, plural
from qidsql.wording.option_names import setting

WITHHOLD_STEPS = 3  # columns withheld at most in the what-if
WITHHOLD_CHOICE = 8  # columns tried at the later steps: those that helped most at the first
BEGUN_ANEW = 2  # restarts at most, where the snapshot is lost
MAX_SETS = 1000  # minimal sets listed by one search; qidsql keys --all lists them all
MAX_STATEMENTS = 1000  # unless the policy sets it, and fewer where that would scan more than ...
MAX_ROWS_SCANNED = 2_000_000_000  # ... so many rows in all


@dataclass
class _Draft:
    """The facts known so far."""

    table: Table
    columns: list[ColumnFinding] = field(default_factory=list)
    rows: int | None = None
    profile: ClassProfile | None = None
    class_sizes: tuple[SizeBin, ...] = ()
    column_sets: list[ColumnSetFinding] = field(default_factory=list)
    searches: list[SearchFinding] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    least_withheld: LeastWithheld | None = None
    unfinished: list[str] = field(default_factory=list)
    sets_profiled: int = 0
    notes: list[str] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)  # parts that have not begun, in words
    weights: Mapping[str, int] = field(default_factory=dict)  # of columns; 1 where there is none
    interrupted: bool = False

    def leave(self, reason: str) -> None:
        """Note why the work ends here, and which parts are not done."""
        undone = f"; not done: {', '.join(self.todo)}" if self.todo else ""
        if not any(reason in noted for noted in self.unfinished) or undone:
            self.unfinished.append(reason + undone)


def audit(engine: Engine, request: AuditRequest, on_stage: Callable[[str], None] = lambda stage: None) -> AuditResult:
    """Audit one table against a policy.

    First each column alone and all audited columns together, which decides k-anonymity for every column set
    [Yuan & Wang, Corollary 1]; only if that fails, the effect of withholding columns and the minimal column sets to
    blame. `on_stage` is called with a description of each stage. Among the fewest columns to withhold, those of least
    weight are reported. A stop (budget, lost connection, Ctrl-C) ends the work and is reported in `unfinished`; facts
    proved by then remain valid. All statements see one state of the data: if its snapshot is lost before the verdict,
    the audit starts again on another, twice at most, and notes it. Raises UsageError, UnknownName, AccessError,
    StatementError.
    """
    accounting, policy = Accounting(engine), request.policy
    lost: list[str] = []
    with within(policy.max_seconds):
        while True:
            draft = _Draft(unknown_table(request.table), weights=request.column_weights)
            with engine.answer():
                _fill(engine, request.table, policy, draft, on_stage)
            name = str(draft.table.name)
            verdict, reason = judge(name, policy, draft.rows, draft.columns, draft.profile)
            if not isinstance(engine.stopped_by, SnapshotLost) or verdict is not Verdict.INCONCLUSIVE:
                break
            if len(lost) == BEGUN_ANEW:
                break
            lost.append(str(engine.stopped_by))
            on_stage(f"starting again: {lost[-1]}")
    if draft.interrupted:
        proved = f" Proved by then: {reason}" if verdict is Verdict.VIOLATION else ""
        verdict, reason = Verdict.INCONCLUSIVE, f"{name} was interrupted before the end.{proved}"
    return AuditResult(
        verdict=verdict,
        reason=reason,
        entities=_entities(draft, policy),
        columns=tuple(draft.columns),
        profile=draft.profile,
        class_sizes=draft.class_sizes,
        column_sets=tuple(draft.column_sets),
        searches=tuple(draft.searches),
        withheld=tuple(draft.withheld),
        least_withheld=draft.least_withheld,
        assumptions=assumptions(policy, draft.columns),
        account=accounting.account(
            draft.table,
            policy,
            draft.rows,
            draft.sets_profiled,
            draft.unfinished,
            (
                *draft.table.notes,
                *comparison_notes(_measured(draft.table, draft.columns)),
                *draft.notes,
                *(f"started again: {reason}" for reason in lost),
            ),
        ),
        interrupted=draft.interrupted,
    )


def _fill(engine: Engine, table: str | None, policy: Policy, draft: _Draft, on_stage: Callable[[str], None]) -> None:
    """Fill the draft, from the catalog on, as far as the work gets."""
    try:
        on_stage("reading the catalog")
        described = engine.narrowed(engine.describe(table), policy.where)
        roles = assign_roles(described, policy)
        draft.table, draft.columns = described, _findings(described, roles)
        _examine(engine, described, policy, roles, draft, on_stage)
    except Stopped as stop:
        draft.leave(str(stop))
        draft.interrupted = isinstance(stop, Interrupted)
    except KeyboardInterrupt:
        draft.leave("interrupted")
        draft.interrupted = True


def planned_statements(engine: Engine, request: AuditRequest) -> list[Statement[Any]]:
    """The statements that an audit sends first, in order: those behind the verdict and the effects of withholding one
    column. The column sets that a search visits later depend on the answers. Reads only the catalog.
    With a workspace: the statement that makes the copy.
    """
    if engine.workspace:
        return engine.planned_statements(lambda: audit(engine, request))
    policy = request.policy
    described = engine.narrowed(engine.describe(request.table), policy.where)
    profiler = table_profiler(engine, described, audited_columns(described, assign_roles(described, policy)), policy)
    without = [profiler.everything & ~(1 << place) for place in range(profiler.columns)]
    most = policy.max_statements or default_statements(described.estimated_rows or 0)
    return (profiler.planned_first() + profiler.planned([mask for mask in without if mask]))[:most]


def default_statements(rows: int) -> int:
    """The default budget of statements of an audit: fewer the larger the table, since each is a scan."""
    return max(MAX_STATEMENTS // 10, min(MAX_STATEMENTS, MAX_ROWS_SCANNED // max(1, rows)))


def _findings(table: Table, roles: dict[str, tuple[Role, str]]) -> list[ColumnFinding]:
    found = []
    for column in table.columns:
        role, reason = roles[column.name]
        finding = ColumnFinding(name=column.name, type=column.type, role=role, reason=reason, profile=None, nulls=None)
        found.append(finding)
    return found


def _examine(
    engine: Engine,
    table: Table,
    policy: Policy,
    roles: dict[str, tuple[Role, str]],
    draft: _Draft,
    on_stage: Callable[[str], None],
) -> None:
    """Fill the draft, stage by stage. Raises Stopped if the work ends early."""
    every = table_profiler(engine, table, audited_columns(table, roles), policy)
    if engine.workspace:
        on_stage(f"coding {every.columns} columns")
        every, note = coded(every)
        draft.notes.append(note)
    try:
        on_stage(f"profiling {every.columns} columns one by one")
        draft.rows, nulls = every.counts()
        if draft.rows == 0:
            return
        if policy.max_statements is None:
            every.limit_statements(default_statements(draft.rows))
        try:
            every.singles()
        finally:
            draft.columns = _with_profiles(draft.columns, every, nulls, policy)
        kept = {finding.name for finding in draft.columns if finding.audited}
        audited = every.narrowed([name for name in every.names if name in kept])
        if not audited.columns:
            return
        on_stage("profiling all columns together")
        sizes = audited.sizes(audited.everything)
        draft.profile = sizes.profile(policy.k)
        draft.class_sizes = size_bins(sizes, bin_starts(policy.k))
        if not any(criterion.met_by(draft.profile) for criterion in policy.criteria):
            return
        try:
            _explain(audited, policy, draft.profile, draft, on_stage)
        except StatementError as error:  # the verdict is proved; only the reasons stay incomplete
            draft.leave(str(error))
    finally:
        draft.sets_profiled = every.sets


def _explain(
    audited: TableProfiler, policy: Policy, whole: ClassProfile, draft: _Draft, on_stage: Callable[[str], None]
) -> None:
    """Why the table fails: the effects of withholding columns, and the minimal column sets to blame."""
    criteria = (policy.criteria[0], Key(), *policy.criteria[1:])
    draft.todo = ["the effects of withholding columns", *(f"minimal sets: {c.name}" for c in criteria)]
    on_stage("violation found; measuring the effects of withholding columns")
    _withhold(audited, policy, draft)
    del draft.todo[0]
    for criterion in criteria:
        on_stage(f"violation found; looking for each minimal {criterion.name}")
        del draft.todo[0]
        _search(audited, criterion, whole, policy, draft)


def _with_profiles(
    findings: Sequence[ColumnFinding], profiler: TableProfiler, nulls: Sequence[int], policy: Policy
) -> list[ColumnFinding]:
    """The columns with their own profiles, as far as they are known; direct identifiers recognised."""
    profiles, missing = profiler.known(), dict(zip(profiler.names, nulls, strict=True))
    by_value = profiler.by_value.known()
    return [
        _recognised(
            replace(finding, profile=profiles[finding.name], nulls=missing[finding.name]),
            by_value.get(finding.name),
            policy,
        )
        if finding.name in profiles
        else finding
        for finding in findings
    ]


def _recognised(finding: ColumnFinding, profile: ClassProfile | None, policy: Policy) -> ColumnFinding:
    """The column, as a direct identifier if its profile shows that and the policy does not name it."""
    nulls = finding.nulls
    declared = finding.name.lower() in map(str.lower, policy.quasi_identifiers)
    if declared or policy.columns or policy.keep_identifiers or profile is None or nulls is None:
        return finding
    if not identifies(profile, nulls, policy.entity):
        return finding
    having = profile.rows - (0 if policy.entity else nulls)
    share = percent(Fraction(profile.unique_rows, having))
    whose = "entities have a value that no other has" if policy.entity else "rows with a value have it alone"
    reason = f"recognised as a direct identifier: {share} of the {whose}"
    return replace(finding, role=Role.DIRECT_IDENTIFIER, reason=reason, recognised=True)


def _withhold(profiler: TableProfiler, policy: Policy, draft: _Draft) -> None:
    """Profile the table without each column, then without the best two, then three.

    Columns + 2 * WITHHOLD_CHOICE profiles at most.
    """
    left, choice = profiler.everything, list(positions(profiler.everything))
    while left & (left - 1) and len(draft.withheld) < WITHHOLD_STEPS:
        options = [left & ~(1 << place) for place in choice if left >> place & 1]
        ranked = sorted(
            zip(options, profiler.profiles(options), strict=True),
            key=lambda option: (option[1].rows_at_risk, -option[1].smallest, -option[1].colliding_pairs),
        )
        if not draft.withheld:
            without = {profiler.names[(left ^ mask).bit_length() - 1]: profile for mask, profile in ranked}
            draft.columns = [replace(finding, without=without.get(finding.name)) for finding in draft.columns]
            choice = [(left ^ mask).bit_length() - 1 for mask, _ in ranked[:WITHHOLD_CHOICE]]
        left, profile = ranked[0]
        obstacles = [criterion.obstacle for criterion in policy.criteria if criterion.met_by(profile)]
        others = [c.name for c in draft.columns if c.recognised or c.role is Role.UNREADABLE]
        still = ", ".join(obstacles) or (f"{few(others)} must not be published either" if others else "")
        names = names_of(profiler.everything ^ left, profiler.names)
        draft.withheld.append(Withheld(columns=names, passes=not still, still=still, profile=profile))
        if not obstacles:
            return


def _search(profiler: TableProfiler, criterion: Criterion, whole: ClassProfile, policy: Policy, draft: _Draft) -> None:
    """Append the findings of one search. Raises Stopped if no more statements can be sent."""
    if not criterion.met_by(whole):
        draft.searches.append(
            SearchFinding(
                criterion=criterion.name,
                complete=True,
                complete_to_size=profiler.columns,
                algorithm="profile of all columns",
                impossible=criterion.impossible(whole),
            )
        )
        return
    early: tuple[Found, ...] = ()
    if criterion.pairs_decide and profiler.entity is None and profiler.nulls is Nulls.EQUAL:
        result = minimal_keys(profiler, PairsThatAgree(profiler), policy.max_size, MAX_SETS)
    elif any(criterion.met_by(profile) for profile in profiler.singles()):
        result = _minimal_sets(profiler, criterion, policy)
    else:  # one set at once, in case the list does not become complete
        result = greedy_minimal(profiler, criterion, _weakest_first(profiler))
        if result.stopped is None:
            early, result = result.found, _minimal_sets(profiler, criterion, policy)
    result = gate.column_sets(result, profiler, [1] * profiler.columns)
    known = {found.mask for found in result.found}
    sets = (*result.found, *(found for found in early if found.mask not in known))
    draft.searches.append(_finding(result, policy))
    for found in sorted(sets, key=lambda found: (found.size, -found.profile.rows_at_risk, -found.profile.classes)):
        names = names_of(found.mask, profiler.names)
        draft.column_sets.append(ColumnSetFinding(criterion=criterion.name, columns=names, profile=found.profile))
    if criterion == policy.criteria[0] and result.complete:
        # Every column set below k contains a minimal one, so the withheld columns have to hit each of these.
        each = [draft.weights.get(name, 1) for name in profiler.names]
        one = sum(each) + 1  # more than all together: first the number of withheld columns counts, then their weights
        least = minimum_hitting_set([found.mask for found in result.found], [one + weight for weight in each])
        fewest = least.lower_bound // one  # a set of that weight has so many columns at least
        gate.withheld(least.mask, criterion, profiler)
        draft.least_withheld = LeastWithheld(columns=names_of(least.mask, profiler.names), at_least=fewest)
    if result.stopped is not None:
        draft.unfinished.append(f"{criterion.name}: {result.stopped}")
        if profiler.spent:
            raise result.stopped


def _minimal_sets(profiler: TableProfiler, criterion: Criterion, policy: Policy) -> SearchResult:
    """All minimal sets: level by level where they are small, as those below k are, else by the two borders."""
    if criterion.few_columns:
        return levelwise(profiler, criterion, policy.max_size)
    return borders(profiler, criterion, policy.max_size, limit=MAX_SETS)


def _weakest_first(profiler: TableProfiler) -> list[int]:
    """Columns in the order in which greedy descent tries to remove them: fewest classes first."""
    singles = profiler.singles()
    return sorted(
        range(profiler.columns), key=lambda place: (singles[place].classes, -singles[place].colliding_pairs, -place)
    )


def _finding(result: SearchResult, policy: Policy) -> SearchFinding:
    unfinished = ""
    if not result.complete:
        unfinished = f"complete up to {plural(result.complete_to_size, 'column')}"
        unfinished += f" ({setting('max_size')} {policy.max_size})" if result.stopped is None else f": {result.stopped}"
    return SearchFinding(
        criterion=result.criterion.name,
        complete=result.complete,
        complete_to_size=result.complete_to_size,
        algorithm=result.algorithm,
        unfinished=unfinished,
    )


def _entities(draft: _Draft, policy: Policy) -> int | None:
    if policy.entity is None:
        return None
    return next((finding.profile.rows for finding in draft.columns if finding.profile is not None), None)


def _measured(table: Table, findings: Sequence[ColumnFinding]) -> list[Column]:
    measured = {finding.name for finding in findings if finding.profile is not None}
    return [column for column in table.columns if column.name in measured]
