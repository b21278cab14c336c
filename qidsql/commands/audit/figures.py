"""The stages behind the verdict of an audit: each column alone, all together, and what they disclose."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from qidsql.column_roles import resolution
from qidsql.column_roles.proposal import ValueCounts
from qidsql.column_roles.resolution import Columns, Resolved
from qidsql.commands.audit.command import AuditRequest, ColumnFinding, Persons, UndeclaredRoles
from qidsql.commands.audit.facts import AuditFacts, AuditWork, Stage
from qidsql.commands.table_search import named_like_persons
from qidsql.core.policy import Policy
from qidsql.core.tables import EMPTY, Nulls, Role, Table, ValueKind, identifies, kind_of
from qidsql.errors import StatementError, Stopped, UsageError
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile, bin_starts, size_bins
from qidsql.measures.sampling import share_for
from qidsql.profiling.by_entity import ByEntity
from qidsql.profiling.disclosing import disclosing, disclosures
from qidsql.profiling.known_rows import LINKED_PAIRS, RowsOfPersons, refuse_unlisted
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.classes import TableOverview, column_counts
from qidsql.sql.relation import relation
from qidsql.wording.texts import count, percent, setting

# The roles proposed for columns that are not declared, as in `init`, or marked CHECK in a policy.
#
# A column is only left out if its proposal is beyond doubt. The verdict does not rest on that (`verdict.judge`).


def findings_in_roles(
    findings: Sequence[ColumnFinding], profiler: TableProfiler, table: Table, request: AuditRequest
) -> list[ColumnFinding]:
    """The columns, with those left out for which a proposal says so. Queries only the system catalog.

    Nothing is proposed if the request names the columns to audit, nor if no quasi-identifier would remain.
    """
    if request.undeclared is UndeclaredRoles.NONE or request.policy.columns:
        return list(findings)
    given = {
        each.name: Resolved(Role.QUASI_IDENTIFIER if each.recognised else each.role, each.reason) for each in findings
    }
    columns, counts = Columns(table, given), counts_of(findings, profiler)
    policy, marked = request.policy, request.unconfirmed
    found = resolution.with_proposals(profiler.engine, columns, policy, counts, marked=marked).roles
    accepted = request.undeclared is UndeclaredRoles.ACCEPTED
    new = [_in_role(each, found[each.name], accepted) for each in findings]
    return new if any(each.audited for each in new) else list(findings)


def _in_role(finding: ColumnFinding, found: Resolved, accepted: bool) -> ColumnFinding:
    """The column in its proposed role, if that leaves it out. A direct identifier by its values stays one."""
    recognised = finding.recognised and found.role is Role.DIRECT_IDENTIFIER and not accepted
    if not found.proposed or recognised:
        return finding
    reason = found.reason.replace("proposed", "accepted", 1) if accepted else found.reason
    return replace(finding, role=found.role, reason=reason, recognised=False, proposed=not accepted)


def counts_of(findings: Sequence[ColumnFinding], profiler: TableProfiler) -> dict[str, ValueCounts]:
    """The counts of the columns that were measured."""
    by_value = profiler.by_value.known()
    return {
        each.name: ValueCounts(by_value[each.name], each.nulls)
        for each in findings
        if each.nulls is not None and each.name in by_value
    }


# What a row is: another person, or one of several of a person, where nobody has said which.
#
# A pass by rows counts only if no column that is named like the persons repeats, or if the table also passes by each
# such column. An entity confirms what a row is: a column, or "row".


def unconfirmed_persons(
    profiler: TableProfiler,
    table: Table,
    policy: Policy,
    published: Sequence[str],
    measured: Mapping[str, ValueCounts],
) -> tuple[Persons, ...]:
    """The columns that may identify the persons, as far as nobody has confirmed what a row is.

    As many statements as `named_like_persons` sends, and two for each column that repeats and is not `published`.
    Raises Stopped, StatementError.
    """
    found = named_like_persons(profiler, table, policy, measured)
    return tuple(_in_persons(profiler, table, policy, published, name) for name in found)


def _in_persons(
    profiler: TableProfiler, table: Table, policy: Policy, published: Sequence[str], column: str
) -> Persons:
    """The column, with the classes of the published columns counted in its values."""
    if column in published or policy.nulls != Nulls.EQUAL or not table.column(column).readable:
        return Persons(column)
    try:
        replace(policy, entity=column)
    except UsageError:  # a requirement measures rows
        return Persons(column)
    dialect = profiler.engine.dialect
    source = relation(dialect, table, table.resolve([*published, column]))
    about = profiler.engine, source, published, profiler.k
    counting = ByEntity(*about, column, profiler.rows, meter=profiler.meter)
    limited = disclosing(counting, table, policy.criteria)
    profile = limited.profile(limited.everything)
    [(_, (unnamed,))] = counting.ask([column_counts(dialect, source, (column,))])
    return Persons(column, profile, unnamed)


def measuring(policy: Policy) -> list[Stage]:
    """The stages that find all that the verdict rests on."""
    known = "" if policy.known_rows is None else f"the persons by {KnownRows(policy.known_rows).words}"

    def profiled(work: AuditWork, facts: AuditFacts) -> bool:
        return facts.profile is not None

    def open_so_far(work: AuditWork, facts: AuditFacts) -> bool:
        return facts.profile is not None and not facts.violates(policy)

    def stage(
        run: Callable[[AuditWork, AuditFacts], Iterator[AuditFacts]],
        name: str,
        needed: Callable[[AuditWork, AuditFacts], bool] = profiled,
    ) -> Stage:
        return Stage(run, name, needed, ends_with=(StatementError,))  # what was measured is proved

    return [
        Stage(_one_by_one, needed=lambda work, facts: not facts.by_sample),
        Stage(_all_together, needed=lambda work, facts: bool(facts.rows) and not facts.by_sample),
        stage(_disclosed, "what is disclosed about sensitive columns"),
        stage(_limits, "the limits on disclosure"),
        stage(_with_proposed, "the columns left out by proposal"),
        stage(_without_entity, "the rows without an entity"),
        stage(_histories, known, lambda work, facts: open_so_far(work, facts) and policy.known_rows is not None),
        stage(_persons, "what a row is", open_so_far),
        stage(_unicity, "what known rows of a person leave on average"),
    ]


def _one_by_one(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """Each column alone, which decides on roles."""
    every, policy = work.every, work.policy
    work.on_stage(f"profiling {every.columns} columns one by one")
    with suppress(Stopped):  # a stop shows again at the next statement
        every.begin()
    rows, nulls = every.counts()
    facts = replace(facts, rows=rows)
    yield facts
    if not rows:
        return
    every.compare_entities()
    try:
        every.foresee(work.earlier.sets)
        every.singles()
    finally:  # keep the results that came before the work had to end
        facts = replace(facts, columns=_with_profiles(facts.columns, every, nulls, policy))
        yield facts
    found = findings_in_roles(facts.columns, every, work.table, work.request)
    yield replace(facts, columns=_with_empty(found, work.table, rows, policy))


def _all_together(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """All audited columns together, which decides k-anonymity."""
    every, k = work.every, work.policy.k
    kept = {finding.name for finding in facts.columns if finding.audited}
    audited = every.narrowed([name for name in every.names if name in kept])
    if not audited.columns:
        return
    work.on_stage("profiling all columns together")
    every.foresee_sizes(audited.names, _names_with_proposed(audited, facts))
    audited = every.narrowed(audited.names)
    sizes = audited.sizes(audited.everything)
    bins = size_bins(sizes, bin_starts(k))
    yield replace(facts, profile=sizes.profile(k), class_sizes=bins, audited=audited, limited=audited)


def _disclosed(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """What the classes disclose about each sensitive column."""
    assert facts.audited is not None
    sensitive = [each.name for each in facts.columns if each.role is Role.SENSITIVE and not each.proposed]
    for each in disclosures(facts.audited, work.table, sensitive):
        facts = replace(facts, disclosed=(*facts.disclosed, each))
        yield facts


def _limits(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The policy's limits on disclosure; and the profilers of more than columns."""
    audited, policy = facts.audited, work.policy
    assert audited is not None
    limited = disclosing(audited, work.table, policy.criteria)
    if limited is not audited:
        work.on_stage("measuring the limits on disclosure")
        facts = replace(facts, profile=limited.profile(limited.everything), limited=limited)
        yield facts
    if policy.entity is not None:
        yield replace(facts, rows_of_persons=RowsOfPersons(audited, limited.source, policy.entity, policy.k))


def _with_proposed(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The audited columns together with those left out by proposal: one statement, and one for each limit."""
    assert facts.audited is not None
    every = work.every
    names = _names_with_proposed(facts.audited, facts)
    if len(names) > facts.audited.columns:
        some = every.narrowed([name for name in every.names if name in names])
        wide = disclosing(some, work.table, work.policy.criteria)
        yield replace(facts, profile_with_proposed=wide.profile(wide.everything))


def _names_with_proposed(audited: TableProfiler, facts: AuditFacts) -> Sequence[str]:
    return [*audited.names, *(finding.name for finding in facts.columns if finding.proposed)]


def _without_entity(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """How many rows have no entity: they count as one more. One statement, if there are entities."""
    every, rows = work.every, 0
    if every.entity is not None:
        [(_, (rows,))] = every.ask([column_counts(every.engine.dialect, every.source, (every.entity,))])
    yield replace(facts, unnamed=rows)


def _histories(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """What whoever knows more than one row of a person finds, as the policy asks for it."""
    persons, policy = facts.rows_of_persons, work.policy
    if persons is None:
        return
    known = KnownRows(policy.known_rows or KnownRows.ONE)
    undone = (f"the persons by {known.words}",)
    refuse_unlisted(work.every.engine, known)
    work.on_stage(f"comparing persons by {known.words}")
    histories, most = persons.histories(known), count(LINKED_PAIRS)
    if histories is None:
        why = f"more pairs of rows of a person than the {most} that are compared, and no violation found"
        yield facts.left(why, undone=undone)
        return
    facts = replace(facts, histories=histories)
    yield facts
    certain = [(each, persons.certain(known, each.sensitive)) for each in limits_among(policy.criteria)]
    for limit, found in certain:
        if found is None:
            why = f"more values of {limit.sensitive} in pairs of rows than the {most} that are compared"
            facts = facts.left(why, undone=undone)
    found_certain = tuple(found for _, found in certain if found) or None
    yield replace(facts, histories=replace(histories, certain=found_certain))


def _persons(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """What a row is, where nobody has said it."""
    published = [each.name for each in facts.columns if each.audited or each.proposed]
    counts = counts_of(facts.columns, work.every)
    yield replace(facts, persons=unconfirmed_persons(work.every, work.table, work.policy, published, counts))


def _unicity(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """What known rows leave on average, if some person has several rows. It informs: a stop ends it alone."""
    persons, profile, audited = facts.rows_of_persons, facts.profile, facts.audited
    assert profile is not None and audited is not None
    if persons is None or (facts.rows == profile.rows and not work.policy.require):
        return
    if not persons.ones:  # the entity is NULL in all rows
        return
    work.on_stage("comparing persons by some of their rows")
    facts = replace(facts, numbers=persons.numbers)
    yield facts
    varying = persons.varying
    facts = replace(facts, columns=tuple(replace(each, varying=varying.get(each.name)) for each in facts.columns))
    yield facts
    for point in persons.curve():
        facts = replace(facts, unicity=(*facts.unicity, point))
        yield facts
    for name, units in _times(audited):
        facts = replace(facts, resolutions=(*facts.resolutions, *persons.resolutions(name, units)))
        yield facts


def findings_of(columns: Columns) -> tuple[ColumnFinding, ...]:
    """The columns with their given roles, not measured yet."""
    return tuple(
        ColumnFinding(name=column.name, type=column.type, role=role, reason=reason, profile=None, nulls=None)
        for column in columns.table.columns
        for role, reason, _ in [columns.roles[column.name]]
    )


UNITS = {ValueKind.DATE: ("week", "month"), ValueKind.TIMESTAMP: ("hour", "day", "week", "month")}


def _times(audited: TableProfiler) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The audited columns of times, with the coarser units by which they may be published."""
    patterns = audited.engine.dialect.recodable
    for name in audited.names:
        kind = kind_of(audited.source.types.get(name, ""), patterns)
        if kind in UNITS:
            yield name, UNITS[kind]


def _with_profiles(
    findings: Sequence[ColumnFinding], profiler: TableProfiler, nulls: Sequence[int], policy: Policy
) -> tuple[ColumnFinding, ...]:
    """The columns with their own profiles, as far as they are known; direct identifiers recognised."""
    profiles, missing = profiler.known(), dict(zip(profiler.names, nulls, strict=True))
    by_value = profiler.by_value.known()
    return tuple(
        _recognised(
            replace(finding, profile=profiles[finding.name], nulls=missing[finding.name]),
            by_value.get(finding.name),
            policy,
        )
        if finding.name in profiles
        else finding
        for finding in findings
    )


def _with_empty(
    findings: Sequence[ColumnFinding], table: Table, rows: int, policy: Policy
) -> tuple[ColumnFinding, ...]:
    """The columns, with the reason why a pass may not rest on them: nothing shows that their values were found."""
    confirmed = {column.name for column in table.resolve(policy.empty)}
    return tuple(
        replace(each, reason="; ".join(filter(None, (each.reason, EMPTY))), unfound=True)
        if table.by_name and each.nulls == rows and each.name not in confirmed
        else each
        for each in findings
    )


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


def estimated(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """An estimate; if the table has so few rows that all its classes have to be counted, a note.

    Columns with about as many values as rows are left out, as identifiers: what the others violate, all violate. One
    statement counts rows and values, one more the sampled classes. Raises UsageError, Stopped, StatementError.
    """
    profiler, policy, error = work.every, work.policy, work.request.error
    assert error is not None
    if profiler.engine.dialect.class_hash is None:
        raise UsageError(f"this engine draws no sample of classes: leave out {setting('approximate')}")
    work.on_stage(f"counting the values of {profiler.columns} columns")
    overview = overview_of(profiler, policy)
    facts = replace(facts, rows=overview.rows, by_sample=True)
    yield facts
    if not overview.rows:
        return
    share = share_for(overview.rows, policy.k, float(error))
    if share == 1:
        note = f"{count(overview.rows)} rows are too few for an estimate of this error: counted exactly"
        yield replace(facts, notes=(*facts.notes, note), by_sample=False)
        return
    if share < SPARING:
        exact = f"{setting('only')} counts all exactly"
        note = f"one class in {count(share)} takes about as long as all of them: {exact}"
        facts = replace(facts, notes=(*facts.notes, note))
    yield from estimate_by(share, overview, work, facts)


def overview_of(profiler: TableProfiler, policy: Policy) -> TableOverview:
    """What decides which columns are identifiers: values of those of which the policy does not say. One statement."""
    kept = {name.lower() for name in policy.quasi_identifiers}
    declared = policy.columns or policy.keep_identifiers
    return profiler.overview([] if declared else [name for name in profiler.names if name.lower() not in kept])


def estimate_by(share: int, overview: TableOverview, work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The estimate by one class in so many. Raises Stopped, StatementError."""
    columns = tuple(_estimated(each, overview) if each.name in overview.present else each for each in facts.columns)
    facts = replace(facts, rows=overview.rows, columns=columns)
    yield facts
    audited = work.every.narrowed([each.name for each in columns if each.name in overview.present and each.audited])
    if audited.columns:
        work.on_stage(f"counting one class in {count(share)}")
        yield replace(facts, estimate=audited.estimate(share, overview.rows))


def _estimated(finding: ColumnFinding, overview: TableOverview) -> ColumnFinding:
    """The column with its NULLs, as a direct identifier if it has about as many values as rows."""
    finding = replace(finding, nulls=overview.rows - overview.present[finding.name])
    if finding.name not in overview.identifiers:
        return finding
    values = count(overview.values[finding.name])
    why = f"about as many values ({values}) as rows that have one: taken for an identifier"
    return replace(finding, role=Role.DIRECT_IDENTIFIER, reason=why)
