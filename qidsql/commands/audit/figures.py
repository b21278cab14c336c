"""The figures behind the verdict of an audit: each column alone, all together, and what they disclose."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from qidsql.column_roles.resolution import Columns
from qidsql.commands.audit.command import AuditRequest, ColumnFinding
from qidsql.commands.audit.draft import Draft
from qidsql.commands.audit.roles import counts_of, findings_in_roles, unconfirmed_persons
from qidsql.core.policy import Policy
from qidsql.core.tables import EMPTY, Role, Table, ValueKind, identifies, kind_of
from qidsql.errors import StatementError, Stopped, UsageError
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile, bin_starts, size_bins
from qidsql.measures.sampling import share_for
from qidsql.profiling.disclosing import disclosing, disclosures
from qidsql.profiling.known_rows import LINKED_PAIRS, RowsOfPersons, refuse_unlisted
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import TableOverview, column_counts
from qidsql.wording.texts import count, percent, setting


def measure(
    every: TableProfiler,
    table: Table,
    request: AuditRequest,
    columns: Columns,
    draft: Draft,
    on_stage: Callable[[str], None],
) -> tuple[TableProfiler, TableProfiler] | None:
    """Fill the draft with all that the verdict rests on. Raises Stopped if the work ends early.

    If the audited columns violate the policy, returns their profiler, and the one with all limits on disclosure.
    """
    policy = request.policy
    on_stage(f"profiling {every.columns} columns one by one")
    with suppress(Stopped):  # a stop shows again at the next statement
        every.begin()
    draft.rows, nulls = every.counts()
    if draft.rows == 0:
        return None
    every.compare_entities()
    try:
        every.foresee(draft.earlier.sets)
        every.singles()
    finally:
        draft.columns = _with_profiles(draft.columns, every, nulls, policy)
    draft.columns = _with_empty(findings_in_roles(draft.columns, every, table, request), table, draft.rows, policy)
    sensitive = [each.name for each in draft.columns if each.role is Role.SENSITIVE and not each.proposed]
    kept = {finding.name for finding in draft.columns if finding.audited}
    audited = every.narrowed([name for name in every.names if name in kept])
    if not audited.columns:
        return None
    on_stage("profiling all columns together")
    sizes = audited.sizes(audited.everything)
    draft.profile = sizes.profile(policy.k)
    draft.class_sizes = size_bins(sizes, bin_starts(policy.k))
    try:
        draft.todo = ["what is disclosed about sensitive columns"]
        for each in disclosures(audited, table, sensitive):
            draft.disclosed.append(each)
        draft.todo = ["the limits on disclosure"]
        limited = disclosing(audited, table, policy.criteria)
        if limited is not audited:
            on_stage("measuring the limits on disclosure")
            draft.profile = limited.profile(limited.everything)
        draft.todo = []
        _measure_with_proposed(every, audited, table, policy, draft)
        if policy.entity is not None:
            draft.rows_of_persons = RowsOfPersons(audited, limited.source, policy.entity, policy.k)
        draft.unnamed = _rows_without_entity(every, draft)
        if any(criterion.met_by(draft.profile) for criterion in policy.criteria):
            _measure_unicity(audited, policy, draft, on_stage)
            return audited, limited
        _measure_histories(audited, policy, draft, on_stage)
        draft.todo = ["what a row is"]
        published = [each.name for each in draft.columns if each.audited or each.proposed]
        draft.persons = unconfirmed_persons(every, table, policy, published, counts_of(draft.columns, every))
        draft.todo = []
        _measure_unicity(audited, policy, draft, on_stage)
        if draft.histories is not None and draft.histories.smallest < policy.k:
            return audited, limited
    except StatementError as error:  # what was measured is proved
        draft.leave(str(error), error)
    return None


def findings_of(columns: Columns) -> list[ColumnFinding]:
    return [
        ColumnFinding(name=column.name, type=column.type, role=role, reason=reason, profile=None, nulls=None)
        for column in columns.table.columns
        for role, reason, _ in [columns.roles[column.name]]
    ]


def _measure_with_proposed(
    every: TableProfiler, audited: TableProfiler, table: Table, policy: Policy, draft: Draft
) -> None:
    """Measure the audited columns together with those left out by proposal: one statement, and one for each limit."""
    names = {*audited.names, *(finding.name for finding in draft.columns if finding.proposed)}
    if len(names) > audited.columns:
        draft.todo = ["the columns left out by proposal"]
        wide = disclosing(every.narrowed([name for name in every.names if name in names]), table, policy.criteria)
        draft.profile_with_proposed = wide.profile(wide.everything)
        draft.todo = []


def _measure_histories(audited: TableProfiler, policy: Policy, draft: Draft, on_stage: Callable[[str], None]) -> None:
    """What whoever knows more than one row of a person finds, if the policy asks for it."""
    if policy.known_rows is None or draft.rows_of_persons is None:
        return
    known = KnownRows(policy.known_rows)
    draft.todo = [f"the persons by {known.words}"]
    refuse_unlisted(audited.engine, known)
    on_stage(f"comparing persons by {known.words}")
    draft.histories = draft.rows_of_persons.histories(known)
    if draft.histories is None:
        draft.leave(
            f"more pairs of rows of a person than the {count(LINKED_PAIRS)} that are compared, and no violation found"
        )
        return
    certain = [(each, draft.rows_of_persons.certain(known, each.sensitive)) for each in limits_among(policy.criteria)]
    for limit, found in certain:
        if found is None:
            draft.leave(
                f"more values of {limit.sensitive} in pairs of rows than the {count(LINKED_PAIRS)} that are compared"
            )
    draft.histories = replace(draft.histories, certain=tuple(found for _, found in certain if found) or None)
    draft.todo = []


def _measure_unicity(audited: TableProfiler, policy: Policy, draft: Draft, on_stage: Callable[[str], None]) -> None:
    """What known rows leave on average, if some person has several rows. It informs: a stop ends it alone."""
    persons = draft.rows_of_persons
    if persons is None or draft.profile is None or (draft.rows == draft.profile.rows and not policy.require):
        return
    if not persons.ones:  # the entity is NULL in all rows
        return
    draft.todo = ["what known rows of a person leave on average"]
    on_stage("comparing persons by some of their rows")
    draft.numbers = persons.numbers
    draft.columns = [replace(each, varying=persons.varying.get(each.name)) for each in draft.columns]
    for point in persons.curve():
        draft.unicity.append(point)
    for name, units in _times(audited):
        draft.resolutions += persons.resolutions(name, units)
    draft.todo = []


UNITS = {ValueKind.DATE: ("week", "month"), ValueKind.TIMESTAMP: ("hour", "day", "week", "month")}


def _times(audited: TableProfiler) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The audited columns of times, with the coarser units by which they may be published."""
    patterns = audited.engine.dialect.recodable
    for name in audited.names:
        kind = kind_of(audited.source.types.get(name, ""), patterns)
        if kind in UNITS:
            yield name, UNITS[kind]


def _rows_without_entity(profiler: TableProfiler, draft: Draft) -> int:
    """How many rows have no entity: they count as one more. One statement, if there are entities."""
    if profiler.entity is None:
        return 0
    draft.todo = ["the rows without an entity"]
    [(_, (rows,))] = profiler.ask([column_counts(profiler.engine.dialect, profiler.source, (profiler.entity,))])
    draft.todo = []
    return rows


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


def _with_empty(findings: Sequence[ColumnFinding], table: Table, rows: int, policy: Policy) -> list[ColumnFinding]:
    """The columns, with the reason why a pass may not rest on them: nothing shows that their values were found."""
    confirmed = {column.name for column in table.resolve(policy.empty)}
    return [
        replace(each, reason="; ".join(filter(None, (each.reason, EMPTY))), unfound=True)
        if table.by_name and each.nulls == rows and each.name not in confirmed
        else each
        for each in findings
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


# An audit by a sample of the classes: two scans of a table that is too large to be audited exactly.


SPARING = 16  # of so many classes one is sampled at least, or counting all takes about as long (Postgres: half as long)


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
    if share < SPARING:
        exact = f"{setting('only')} counts all exactly"
        draft.notes.append(f"one class in {count(share)} takes about as long as all of them: {exact}")
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
