"""The main job: one table against one policy, from the catalog to a verdict."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from qidsql import __version__
from qidsql.engines.base import Engine
from qidsql.errors import Interrupted, Stopped, UsageError
from qidsql.measures import ClassProfile, Criterion, Key, SizeBin, Violates, bin_starts, size_bins
from qidsql.policy import Policy
from qidsql.profiler import Budget, TableProfiler
from qidsql.schema import Column, Comparison, Role, Table, names_of, positions
from qidsql.search.greedy_minimal import greedy_minimal
from qidsql.search.levelwise import levelwise
from qidsql.search.result import Found, SearchResult
from qidsql.sql.relation import relation
from qidsql.sql.statements import Statement

WITHHOLD_STEPS = 3  # columns withheld at most in the what-if
WITHHOLD_CHOICE = 8  # columns tried at the later steps: those that helped most at the first
IDENTIFIER_ROWS = 20  # with fewer rows, nearly every column looks like a key
MAX_STATEMENTS = 1000  # unless the policy says otherwise


class Verdict(StrEnum):
    PASS = "pass"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class ColumnFinding:
    """One column: what it is to the audit and why, and its own profile where it was measured."""

    name: str
    type: str
    role: Role
    reason: str  # empty for an audited column
    profile: ClassProfile | None
    nulls: int | None
    without: ClassProfile | None = None  # of the other audited columns together: what withholding this one would leave

    @property
    def audited(self) -> bool:
        return self.role is Role.QUASI_IDENTIFIER

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "type": self.type,
            "role": str(self.role),
            "audited": self.audited,
            "reason": self.reason,
            "nulls": self.nulls,
            "profile": self.profile and self.profile.to_dict(),
            "without": self.without and self.without.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class ColumnSetFinding:
    """A column set with its measures."""

    columns: tuple[str, ...]
    profile: ClassProfile

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), **self.profile.to_dict()}


@dataclass(frozen=True, slots=True)
class SearchFinding:
    """The minimal column sets that meet one criterion, smallest first, then those that put most rows at risk.

    `impossible` says why there can be none (and no search was needed); `unfinished` why the list is not whole.
    """

    criterion: str
    column_sets: tuple[ColumnSetFinding, ...]
    complete: bool
    complete_to_size: int
    algorithm: str
    impossible: str = ""
    unfinished: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "criterion": self.criterion,
            "column_sets": [found.to_dict() for found in self.column_sets],
            "complete": self.complete,
            "complete_to_size": self.complete_to_size,
            "algorithm": self.algorithm,
            "impossible": self.impossible,
            "unfinished": self.unfinished,
        }


@dataclass(frozen=True, slots=True)
class Withheld:
    """What would be left when these columns were not published."""

    columns: tuple[str, ...]
    profile: ClassProfile

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), **self.profile.to_dict()}


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All that an audit found out; a report is rendered from nothing else."""

    verdict: Verdict
    reason: str  # why, in one sentence
    source: str
    engine: str
    table: str
    kind: str
    snapshot: str
    started: datetime
    seconds: float
    policy: Policy
    rows: int | None
    entities: int | None
    columns: tuple[ColumnFinding, ...]
    profile: ClassProfile | None  # of all audited columns together
    class_sizes: tuple[SizeBin, ...]
    searches: tuple[SearchFinding, ...]
    withheld: tuple[Withheld, ...]
    statements: int
    sets_profiled: int
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            "format": 1,
            "qidsql": __version__,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "source": self.source,
            "engine": self.engine,
            "table": self.table,
            "kind": self.kind,
            "snapshot": self.snapshot,
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "policy": self.policy.to_dict(),
            "rows": self.rows,
            "entities": self.entities,
            "columns": [column.to_dict() for column in self.columns],
            "profile": self.profile and self.profile.to_dict(),
            "class_sizes": [asdict(size) for size in self.class_sizes],
            "column_sets": [
                {"criterion": search.criterion, **found.to_dict()}
                for search in self.searches
                for found in search.column_sets
            ],
            "complete": not self.unfinished and all(search.complete for search in self.searches),
            "searches": [search.to_dict() for search in self.searches],
            "withheld": [option.to_dict() for option in self.withheld],
            "statements": self.statements,
            "sets_profiled": self.sets_profiled,
            "unfinished": list(self.unfinished),
            "notes": list(self.notes),
        }


@dataclass
class _Draft:
    """What is known so far."""

    columns: list[ColumnFinding] = field(default_factory=list)
    rows: int | None = None
    profile: ClassProfile | None = None
    class_sizes: tuple[SizeBin, ...] = ()
    searches: list[SearchFinding] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    sets_profiled: int = 0


def audit(
    engine: Engine, table: str | None, policy: Policy, on_stage: Callable[[str], None] = lambda stage: None
) -> AuditResult:
    """Audits one table against a policy.

    First every column by itself and all audited columns together, which decides k-anonymity for every column set
    [Yuan & Wang, Corollary 1]; only when that fails, what would help and which sets are to blame. `on_stage` is told
    in words what begins. A stop (budget, lost connection, Ctrl-C) ends the work and is said in `unfinished`; what is
    proved by then stands. Raises UsageError, UnknownName, AccessError, StatementError.
    """
    started, clock, asked = datetime.now(UTC), time.monotonic(), engine.asked
    on_stage("reading the catalog")
    described = engine.describe(table)
    roles = assign_roles(described, policy)
    draft = _Draft(columns=_findings(described, roles))
    interrupted = False
    try:
        _examine(engine, described, policy, roles, draft, on_stage)
    except Stopped as stop:
        draft.unfinished.append(str(stop))
        interrupted = isinstance(stop, Interrupted)
    except KeyboardInterrupt:
        draft.unfinished.append("interrupted")
        interrupted = True
    verdict, reason = _judge(draft, policy, described, interrupted)
    return AuditResult(
        verdict=verdict,
        reason=reason,
        source=engine.label,
        engine=engine.version,
        table=str(described.name),
        kind=described.kind,
        snapshot=engine.snapshot,
        started=started,
        seconds=time.monotonic() - clock,
        policy=policy,
        rows=draft.rows,
        entities=_entities(draft, policy),
        columns=tuple(draft.columns),
        profile=draft.profile,
        class_sizes=draft.class_sizes,
        searches=tuple(draft.searches),
        withheld=tuple(draft.withheld),
        statements=engine.asked - asked,
        sets_profiled=draft.sets_profiled,
        unfinished=tuple(draft.unfinished),
        notes=described.notes + _notes(described, draft.columns),
    )


def planned_statements(engine: Engine, table: str | None, policy: Policy) -> list[Statement[Any]]:
    """The statements that an audit is sure to ask, or asks first when the table is not k-anonymous, in their order.

    Only the catalog is read. Which column sets a search goes on to depends on the answers.
    """
    described = engine.describe(table)
    profiler = _profiler(engine, described, policy, assign_roles(described, policy))
    everything = profiler.everything
    without = [everything & ~(1 << place) for place in range(profiler.columns)]
    pairs = [1 << low | 1 << high for high in range(profiler.columns) for low in range(high)]
    sets = [mask for mask in dict.fromkeys(without + pairs) if mask and mask & (mask - 1)]
    return profiler.planned_first() + profiler.planned(sets)[: statement_budget(policy, described.estimated_rows)]


def assign_roles(table: Table, policy: Policy) -> dict[str, tuple[Role, str]]:
    """The role of every column and the reason for it, from the policy and the rights of the user.

    Raises UnknownName, UsageError (a column in two roles, nothing left to audit), AccessError is left to the engine.
    """
    given = {
        Role.ENTITY: (policy.entity,) if policy.entity else (),
        Role.EXCLUDED: policy.exclude,
        Role.DIRECT_IDENTIFIER: policy.identifiers,
        Role.SENSITIVE: policy.sensitive,
        Role.QUASI_IDENTIFIER: policy.columns,
    }
    table.resolve([name for names in given.values() for name in names])  # one error with all wrong names
    reasons = {
        Role.ENTITY: "tells the entities apart (--entity)",
        Role.EXCLUDED: "left out on request (--exclude)",
        Role.DIRECT_IDENTIFIER: "declared a direct identifier (--identifier)",
        Role.SENSITIVE: "declared sensitive (--sensitive)",
        Role.QUASI_IDENTIFIER: "",
    }
    roles: dict[str, tuple[Role, str]] = {}
    for role, names in given.items():
        for column in table.resolve(names):
            if column.name in roles:
                raise UsageError(f"column {column.name} is given as {roles[column.name][0]} and as {role}; choose one")
            if role in (Role.ENTITY, Role.QUASI_IDENTIFIER) and not column.readable:
                raise UsageError(
                    f"this user has no right to read column {column.name} of {table.name}; "
                    f"grant SELECT ({column.name}), or leave it out"
                )
            roles[column.name] = (role, reasons[role])
    for column in table.columns:
        if column.name in roles:
            continue
        if policy.columns:
            roles[column.name] = (Role.EXCLUDED, "not among the columns asked for (--column)")
        elif not column.readable:
            roles[column.name] = (Role.UNREADABLE, "this user has no right to read it")
        else:
            roles[column.name] = (Role.QUASI_IDENTIFIER, "")
    if not any(role is Role.QUASI_IDENTIFIER for role, _ in roles.values()):
        raise UsageError(
            f"no column of {table.name} is left to audit; every one is left out by an option or unreadable"
        )
    return roles


def audited_columns(table: Table, roles: dict[str, tuple[Role, str]]) -> tuple[Column, ...]:
    """The columns that the audit puts into classes."""
    return tuple(column for column in table.columns if roles[column.name][0] is Role.QUASI_IDENTIFIER)


def statement_budget(policy: Policy, rows: int | None) -> int:
    """How many statements the audit may ask: the policy's number, else fewer the larger the table is."""
    if policy.max_statements is not None:
        return policy.max_statements
    return max(MAX_STATEMENTS // 10, min(MAX_STATEMENTS, 2_000_000_000 // max(1, rows or 0)))


def _findings(table: Table, roles: dict[str, tuple[Role, str]]) -> list[ColumnFinding]:
    return [ColumnFinding(c.name, c.type, *roles[c.name], profile=None, nulls=None) for c in table.columns]


def _examine(
    engine: Engine,
    table: Table,
    policy: Policy,
    roles: dict[str, tuple[Role, str]],
    draft: _Draft,
    on_stage: Callable[[str], None],
) -> None:
    """Fills the draft, stage by stage. Raises Stopped when the work ends early."""
    every = _profiler(engine, table, policy, roles)
    try:
        on_stage(f"profiling {every.columns} columns one by one")
        draft.rows, nulls = every.counts()
        if draft.rows == 0:
            return
        singles = every.singles()
        draft.columns = _with_profiles(draft.columns, singles, nulls, policy)
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
        on_stage("trying what withholding columns would change")
        _withhold(audited, draft)
        for criterion in (policy.criteria[0], Key(), *policy.criteria[1:]):
            on_stage(f"looking for each minimal {criterion.name}")
            _search(audited, criterion, draft.profile, policy, draft)
    finally:
        draft.sets_profiled = every.sets


def _profiler(engine: Engine, table: Table, policy: Policy, roles: dict[str, tuple[Role, str]]) -> TableProfiler:
    """The profiler of the columns that may be audited."""
    columns = audited_columns(table, roles)
    entity = table.resolve([policy.entity]) if policy.entity else ()
    return TableProfiler(
        engine,
        relation(engine.dialect, table, columns + entity, policy.where),
        [column.name for column in columns],
        policy.k,
        entity[0].name if entity else None,
        table.estimated_rows,
        Budget(statement_budget(policy, table.estimated_rows), policy.max_seconds),
    )


def _with_profiles(
    findings: Sequence[ColumnFinding], singles: Sequence[ClassProfile], nulls: Sequence[int], policy: Policy
) -> list[ColumnFinding]:
    """The columns with their own profiles, direct identifiers recognised."""
    measured = iter(zip(singles, nulls, strict=True))
    unit = "row" if policy.entity is None else policy.entity
    completed = []
    for finding in findings:
        if finding.audited:
            profile, missing = next(measured)
            role, reason = finding.role, ""
            if not policy.columns and not policy.keep_identifiers and identifies(profile, missing, policy.entity):
                share = 100 * profile.unique_rows / (profile.rows - (0 if policy.entity else missing))
                role = Role.DIRECT_IDENTIFIER
                reason = f"recognised as a direct identifier: {share:.4g} % of its values belong to one {unit} each"
            finding = ColumnFinding(finding.name, finding.type, role, reason, profile, missing)
        completed.append(finding)
    return completed


def identifies(profile: ClassProfile, nulls: int, entity: str | None) -> bool:
    """True for a direct identifier: 95 % of the rows that have a value have it alone (or the entities, each)."""
    having = profile.rows - (0 if entity else nulls)
    return having >= IDENTIFIER_ROWS and 100 * profile.unique_rows >= 95 * having


def _withhold(profiler: TableProfiler, draft: _Draft) -> None:
    """What the table would be without each column, then without the best two, then three.

    Columns + 2 * WITHHOLD_CHOICE profiles at most.
    """
    left, choice = profiler.everything, list(positions(profiler.everything))
    while left & (left - 1) and len(draft.withheld) < WITHHOLD_STEPS:
        options = [left & ~(1 << place) for place in choice if left >> place & 1]
        ranked = sorted(
            zip(options, profiler.profiles(options), strict=True),
            key=lambda option: (option[1].rows_at_risk, -option[1].smallest, option[1].colliding_pairs * -1),
        )
        if not draft.withheld:
            without = {profiler.names[(left ^ mask).bit_length() - 1]: profile for mask, profile in ranked}
            draft.columns = [replace(finding, without=without.get(finding.name)) for finding in draft.columns]
            choice = [(left ^ mask).bit_length() - 1 for mask, _ in ranked[:WITHHOLD_CHOICE]]
        left, profile = ranked[0]
        draft.withheld.append(Withheld(names_of(profiler.everything ^ left, profiler.names), profile))
        if profile.smallest >= profile.k:
            return


def _search(profiler: TableProfiler, criterion: Criterion, whole: ClassProfile, policy: Policy, draft: _Draft) -> None:
    """Appends what one search found. Raises Stopped when no statement can follow."""
    if not criterion.met_by(whole):
        draft.searches.append(
            SearchFinding(
                criterion.name, (), True, profiler.columns, "profile of all columns", _impossible(whole, policy)
            )
        )
        return
    single = any(criterion.met_by(profile) for profile in profiler.singles())
    early = () if single else greedy_minimal(profiler, criterion, _weakest_first(profiler)).found
    result = levelwise(profiler, criterion, policy.max_size)
    known = {found.mask for found in result.found}
    sets = (*result.found, *(found for found in early if found.mask not in known))
    draft.searches.append(_finding(result, sets, profiler, policy))
    if result.stopped is not None:
        draft.unfinished.append(f"{criterion.name}: {result.stopped}")
        if profiler.spent:
            raise result.stopped


def _weakest_first(profiler: TableProfiler) -> list[int]:
    """Columns in the order in which greedy descent should try to leave them out: fewest classes first."""
    singles = profiler.singles()
    return sorted(range(profiler.columns), key=lambda place: (singles[place].classes, -place))


def _impossible(whole: ClassProfile, policy: Policy) -> str:
    if policy.entity is not None:
        return f"none: even all columns together hold entities ({policy.entity}) that share every value"
    if whole.duplicate_rows:
        return f"none: {whole.duplicate_rows:,} rows are duplicates of another row in all columns"
    return "none: not even all columns together"


def _finding(result: SearchResult, sets: Sequence[Found], profiler: TableProfiler, policy: Policy) -> SearchFinding:
    ordered = sorted(sets, key=lambda found: (found.size, -found.profile.rows_at_risk, -found.profile.classes))
    unfinished = ""
    if not result.complete:
        unfinished = f"complete up to {result.complete_to_size} columns"
        unfinished += f" (--max-size {policy.max_size})" if result.stopped is None else f": {result.stopped}"
    return SearchFinding(
        criterion=result.criterion.name,
        column_sets=tuple(ColumnSetFinding(names_of(f.mask, profiler.names), f.profile) for f in ordered),
        complete=result.complete,
        complete_to_size=result.complete_to_size,
        algorithm=result.algorithm,
        unfinished=unfinished,
    )


def _entities(draft: _Draft, policy: Policy) -> int | None:
    if policy.entity is None:
        return None
    return next((finding.profile.rows for finding in draft.columns if finding.profile is not None), None)


def _judge(draft: _Draft, policy: Policy, table: Table, interrupted: bool) -> tuple[Verdict, str]:
    """The verdict and the sentence that gives its reason. Never a pass while anything is open."""
    name = str(table.name)
    found = [f for f in draft.columns if f.role is Role.DIRECT_IDENTIFIER and f.profile is not None]
    unreadable = [f.name for f in draft.columns if f.role is Role.UNREADABLE]
    profile = draft.profile
    if interrupted:
        known = f"; known so far: {_k_sentence(name, profile, policy)}" if profile else ""
        return Verdict.INCONCLUSIVE, f"{name}: interrupted before the end{known}"
    if draft.rows == 0:
        which = "no row meets --where" if policy.where else "the table is empty"
        return Verdict.INCONCLUSIVE, f"{name} cannot be judged: {which}"
    if profile is not None and Violates(policy.k).met_by(profile):
        return Verdict.VIOLATION, _k_sentence(name, profile, policy)
    if profile is None and any(f.profile and Violates(policy.k).met_by(f.profile) for f in draft.columns if f.audited):
        worst = next(f for f in draft.columns if f.audited and f.profile and Violates(policy.k).met_by(f.profile))
        return Verdict.VIOLATION, f"{name} is below k = {policy.k} already on {worst.name} alone"
    if profile is not None:
        for criterion in policy.criteria[1:]:
            if criterion.met_by(profile):
                return Verdict.VIOLATION, (
                    f"{name} is {profile.smallest}-anonymous, but its audited columns hold a {criterion.name}"
                )
    if found:
        names = ", ".join(f.name for f in found)
        rest = f"the other columns are {profile.smallest}-anonymous" if profile else "nothing else was audited"
        return Verdict.VIOLATION, (
            f"{name} holds a direct identifier: {names}; {rest}. "
            f"If it is not published, say so with --identifier {found[0].name}"
        )
    if profile is None:
        return Verdict.INCONCLUSIVE, f"{name} was not examined to the end"
    if unreadable:
        return Verdict.INCONCLUSIVE, (
            f"{name} is {profile.smallest}-anonymous on the columns audited, but {', '.join(unreadable)} could not be "
            f"read; grant SELECT on it, or --exclude it"
        )
    return Verdict.PASS, _k_sentence(name, profile, policy)


def _k_sentence(name: str, profile: ClassProfile, policy: Policy) -> str:
    unit = "rows" if policy.entity is None else f"entities ({policy.entity})"
    if profile.smallest >= policy.k:
        return f"{name} is {profile.smallest}-anonymous; the policy asks for {policy.k}"
    percent = 100 * float(profile.share_at_risk)
    return (
        f"{name} is {profile.smallest}-anonymous; the policy asks for {policy.k}: {profile.rows_at_risk:,} of "
        f"{profile.rows:,} {unit} ({percent:.3g} %) share their values with fewer than {policy.k - 1} others"
    )


def _notes(table: Table, findings: Sequence[ColumnFinding]) -> tuple[str, ...]:
    measured = {finding.name for finding in findings if finding.profile is not None}
    compared = {
        Comparison.TEXT: "compared by their text, since the type has no equality of its own, or a looser one",
        Comparison.BYTES: "compared byte by byte, since the collation merges texts that a reader can tell apart",
    }
    notes = []
    for comparison, words in compared.items():
        names = [c.name for c in table.columns if c.comparison is comparison and c.name in measured]
        if names:
            notes.append(f"{', '.join(names)}: {words}")
    return tuple(notes)
