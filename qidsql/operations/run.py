"""A run: audits each table of a policy file in turn; one that fails does not stop the others."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from typing import TypeVar, cast

from qidsql.column_roles.resolution import given_columns
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.commands.audit.facts import Earlier
from qidsql.commands.table_search import Accounting
from qidsql.core.budget import within, within_bytes
from qidsql.core.policy import Policy, changed_settings, relaxed_settings
from qidsql.core.results import Verdict, worst
from qidsql.core.tables import Table, TableName
from qidsql.engines.base import Engine
from qidsql.errors import (
    BudgetSpent,
    Interrupted,
    QidsqlError,
    StatementError,
    Stopped,
    StoreError,
    UsageError,
    internal,
)
from qidsql.operations.changes import as_found, expired, verdict_with_exceptions, with_exceptions, with_states
from qidsql.operations.coverage import Coverage, Gap, GapKind
from qidsql.operations.coverage_survey import changed_columns, coverage
from qidsql.operations.current_source import CurrentSource
from qidsql.operations.document import Baseline, ConfigFile, PackedTables, RunResult, verdict_on_new
from qidsql.operations.findings import FailOn, complete_kinds, exit_code, findings
from qidsql.operations.history.records import History, PastTable, RunSummary, UnfinishedTable
from qidsql.operations.plan import PlannedTable, Resumption, SourcePlan, of_models, plan, selected, tables_of
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.table_run import Finding, TableRun, Unchanged, passes_with
from qidsql.operations.unchanged import asked_of, file_fingerprint_of, fingerprint_of, stands
from qidsql.sql.relation import table_node
from qidsql.wording.texts import POLICY_FILE, count, few, plural, written_as

Value = TypeVar("Value")
INTERRUPTED = "interrupted"
SECONDS_USED = "the run's seconds are used up"
FAILURES = 2  # consecutive failed connections before a source is skipped for the rest of the run
TABLES_NAMED = 6  # tables listed in a sentence


@dataclass
class RunCallbacks:
    """Functions called with each stage, and with each engine that is opened."""

    stage: Callable[[str], None] = lambda words: None
    opened: Callable[[Engine], None] = lambda engine: None


@dataclass
class _Budget:
    """The budget of a whole run."""

    statements: int | None
    deadline: float | None
    used: int = 0

    @property
    def spent(self) -> str:
        """What is used up, in words; empty while budget remains."""
        if self.statements is not None and self.used >= self.statements:
            return f"the run's {plural(self.statements, 'statement')} are used up"
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return SECONDS_USED
        return ""

    def within(self, policy: Policy) -> Policy:
        """The policy of a table, with its budget limited to the remaining one."""
        if self.statements is not None:
            left = self.statements - self.used
            policy = replace(policy, max_statements=min(left, policy.max_statements or left))
        if self.deadline is not None:
            seconds = max(0.001, self.deadline - time.monotonic())
            policy = replace(policy, max_seconds=min(seconds, policy.max_seconds or seconds))
        return policy


@dataclass
class _EarlierRuns:
    """The run to compare with, and the tables of an interrupted run, from the history."""

    history: History | None
    named: RunSummary | None = None  # the requested baseline
    last: RunSummary | None = None
    unfinished: list[UnfinishedTable] = field(default_factory=list)
    tables: dict[tuple[str, str], PastTable] = field(default_factory=dict)  # by source and name
    secret: str = ""  # of the history
    fresh: bool = False  # no earlier verdict stands
    check: bool = False  # no table is read

    @property
    def baseline(self) -> RunSummary | None:
        return self.named or self.last


def run(
    file: PolicyFile,
    history: History | None = None,
    *,
    only: Sequence[str] = (),
    models: Sequence[TableName] = (),
    baseline: str | None = None,
    fail_on: FailOn = FailOn.ANY,
    resume: bool = True,
    fresh: bool = False,
    check: bool = False,
    today: date | None = None,
    callbacks: RunCallbacks | None = None,
) -> RunResult:
    """Audits every table of the file, or those of `only` and `models` of dbt, and compares with the last complete run.

    A table that is as it was when it was last audited keeps its verdict, unless `fresh`. To `check` reads the catalog
    and no table: no table passes, and the history is only read.
    Writes only unfinished tables to the history, for resuming; the caller records the result. A table that fails has
    the verdict error; after Ctrl-C or a spent budget the remaining tables are inconclusive. Raises UsageError,
    UnknownName (of `only` or `baseline`), StoreError.
    """
    callbacks = callbacks or RunCallbacks()
    started, clock = now(), time.monotonic()
    past = _past(history, baseline, resume, fresh, check)
    budget = _Budget(file.max_statements, None if file.max_seconds is None else clock + file.max_seconds)
    source = CurrentSource(callbacks.opened)
    name, notes = run_id(started), list[str]()
    resumption = Resumption(name, past.history, past.unfinished, notes)
    current = _Run(file, name, past, budget, today or started.date(), callbacks, source, resumption, notes=notes)
    planned: list[PlannedTable] = []
    covered: Coverage | None = None
    plans: list[SourcePlan] = []
    done, summaries, on_new, accepted = PackedTables(), list[TableRun](), list[Verdict](), 0
    with within(file.max_seconds), within_bytes(file.max_bytes), closing(source):
        try:
            plans = plan(file, source, callbacks.stage)
            planned = selected(tables_of(plans, file), only, file)
            if models:
                planned = of_models(planned, models, plans)
                only = tuple(f"{each.entry.source}.{each.table}" for each in planned)
            covered = coverage(plans, file, planned if only else None)
            current.read_history(planned)
        except (KeyboardInterrupt, Interrupted):
            current.stopped = INTERRUPTED
        except BudgetSpent:
            current.stopped = SECONDS_USED
        for place, each in enumerate(planned, start=1):
            table = current.table(place, len(planned), each)
            packed = done.append(table)
            if current.kept is not None:
                resumption.keep(current.kept, packed)
            summaries.append(replace(table, audit=None, findings=(), trend=()))
            accepted += table.accepted
            on_new.append(verdict_on_new(table))
            del table  # the audits of all tables together may not fit into memory
    if current.stopped:
        with within(0.0 if current.stopped == INTERRUPTED else None):  # after Ctrl-C the user is waiting
            resumption.write()
    gone = _vanished(summaries, past, only, file)
    if covered is not None:
        covered = current.with_states(covered, plans if not only else [], gone)
    of_tables = worst(table.verdict for table in summaries)  # inconclusive if there are none
    verdict = worst([of_tables, *([covered.verdict] if covered else [])])
    if check and verdict is Verdict.PASS:
        verdict = of_tables
    return RunResult(
        run=current.run,
        started=started,
        finished=now(),
        seconds=round(time.monotonic() - clock, 3),
        config=ConfigFile(str(file.path), file.hash),
        release=file.release,
        verdict=verdict,
        reason=reason(summaries, covered, current.stopped, accepted),
        only=tuple(only),
        complete=not current.stopped,
        interrupted=current.stopped == INTERRUPTED,
        fail_on=fail_on,
        exit_code=exit_code(fail_on, verdict, on_new, covered),
        baseline=None if past.baseline is None else Baseline(past.baseline.run, past.baseline.started),
        statements=budget.used,
        spared=sum(table.spared for table in summaries),
        notes=(*current.notes, *current.last_notes(), *gone.notes),
        coverage=covered,
        accepted=accepted,
        tables=done,
    )


def now() -> datetime:
    """The current time to the second, as in documents."""
    return datetime.now(UTC).replace(microsecond=0)


def run_id(moment: datetime) -> str:
    """A new run id: sorted by time, made unique by random digits."""
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass
class _Run:
    """A run in progress."""

    file: PolicyFile
    run: str
    past: _EarlierRuns
    budget: _Budget
    today: date
    callbacks: RunCallbacks
    source: CurrentSource
    resumption: Resumption
    stopped: str = ""  # why no further table is audited
    notes: list[str] = field(default_factory=list)
    elsewhere: dict[str, list[str]] = field(
        default_factory=dict
    )  # tables compared with another run than the baseline, by that run
    kept: UnfinishedTable | None = None  # under which the last table is stored for a run that resumes
    fitting: dict[int, set[str]] = field(default_factory=dict)  # columns of the tables of a pattern, by its line

    def table(self, place: int, many: int, planned: PlannedTable) -> TableRun:
        """Audits one table. An error of this table becomes its verdict and is not raised."""
        entry, name = planned.entry, planned.table
        blank = TableRun(
            source=entry.source,
            source_label=planned.label,
            table=name,
            line=entry.line,
            owner=entry.owner,
            verdict=Verdict.INCONCLUSIVE,
            reason="",
            trend=self._past_of(entry.source, name).trend,  # also if it breaks: it tells when it last did not
        )
        self.stopped, self.kept = self.stopped or self.budget.spent, None
        if self.stopped:
            return replace(blank, reason=f"{name} was not audited: {self.stopped}")
        head = f"{place} of {many}, {name}"
        try:
            if planned.error is not None:
                return _failed(blank, planned.error)
            if self.source.failures[entry.source] >= FAILURES:
                return _failed(blank, f"source {entry.source} could not be reached for earlier tables either")
            with written_as(POLICY_FILE):
                return self._audited(blank, planned, lambda words: self.callbacks.stage(f"{head}: {words}"))
        except (KeyboardInterrupt, Interrupted):
            self.stopped = INTERRUPTED
            return replace(blank, reason=f"{name} was interrupted")
        except Stopped as stop:
            return replace(blank, reason=f"{name} was not fully audited: {stop}")
        except QidsqlError as error:
            return _failed(blank, str(error))
        except Exception as error:  # noqa: BLE001 - one table must not stop the rest; the text could contain values
            return _failed(blank, internal(error))

    def _audited(self, blank: TableRun, planned: PlannedTable, stage: Callable[[str], None]) -> TableRun:
        entry, source = planned.entry, self.file.sources[planned.entry.source]
        with self.source.engine(source) as engine:
            stage("reading the catalog")
            described = engine.describe(planned.typed)
            columns = [column.name for column in described.columns]
            self.fitting.setdefault(entry.line, set()).update(column.lower() for column in columns)
            entry, gone = entry.fitted(described)
            if gone:
                place = f"line {entry.line} of {self.file.path.name}"
                self.notes.append(
                    f"{blank.table}: audited without {few(gone)} ({place}), not in the table: dropped, or misspelt?"
                )
            policy = entry.policy(columns)
            weights = entry.weights_of(columns)
            narrowed = engine.narrowed(described, policy.where)
            if self.past.check:
                return self._checked(replace(blank, source_label=engine.label), narrowed, policy)
            past = self._past_of(entry.source, blank.table)
            before, run = past.table, past.run
            kept = self.resumption.key(entry, engine, narrowed, policy, self.today)
            known = None if kept is None else self.resumption.resumed(kept)
            if known is not None:
                resumed = replace(
                    blank,
                    source_label=engine.label,
                    verdict=known.verdict,
                    reason=known.reason,
                    resumed=True,
                    fingerprint=known.fingerprint,
                    file_fingerprint=known.file_fingerprint,
                    unchanged=known.unchanged,
                    spared=known.spared,
                    audit=known.audit,
                )
                there = with_exceptions(as_found(known.findings), entry.exemptions, self.today)
                return self._with_history(resumed, there, entry, before, run)
            blank, result = self._result(
                blank, engine, narrowed, policy, weights, entry.options.get("hierarchies"), before, run, stage
            )
        alone = as_found(before.findings) if blank.unchanged and before else findings(result, entry.source)
        found = with_exceptions(alone, entry.exemptions, self.today)
        verdict = verdict_with_exceptions(result, found, complete_kinds(result))
        words = result.reason
        if verdict is not result.verdict:
            accepted = sum(finding.exception is not None for finding in found)
            passes = passes_with(accepted) if verdict is Verdict.PASS else verdict
            words = f"{result.reason}; {passes}: {plural(accepted, 'finding')} accepted in {self.file.path.name}"
        words = f"{words}; {blank.unchanged.text}" if blank.unchanged else words
        table = replace(blank, source_label=engine.label, verdict=verdict, reason=words, audit=result)
        if result.interrupted:
            self.stopped = INTERRUPTED
        elif kept is not None and not result.account.unfinished:
            self.kept = kept
        return self._with_history(table, found, entry, before, run)

    def _checked(self, blank: TableRun, table: Table, policy: Policy) -> TableRun:
        """What the catalog tells about a policy, and the last audit: whether it asks for less. Reads no table."""
        given_columns(table, policy)
        before = self._past_of(blank.source, blank.table)
        audit = None if before.table is None else before.table.audit
        relaxed = relaxed_settings(audit.account.policy, policy) if isinstance(audit, AuditResult) else []
        if relaxed:
            words = f"the policy of {blank.table} may ask for less than in run {before.run}: {', '.join(relaxed)}"
            return replace(blank, verdict=Verdict.VIOLATION, reason=words, policy_changed=tuple(relaxed))
        words = f"the policy of {blank.table} fits its columns; no row was read"
        return replace(blank, verdict=Verdict.FINISHED, reason=words)

    def _result(
        self,
        blank: TableRun,
        engine: Engine,
        described: Table,
        policy: Policy,
        weights: Mapping[str, int],
        hierarchies: str | None,
        before: TableRun | None,
        run: str | None,
        stage: Callable[[str], None],
    ) -> tuple[TableRun, AuditResult]:
        """The audit of a table, or the one before, of that run, if it stands; and the table with its fingerprints."""
        spent, mark = Accounting(engine), None
        typed = None if described.kind == "file" else table_node(described.name).sql(engine.dialect.name)
        asked, table = asked_of(engine, policy, weights, hierarchies), None if self.past.fresh else before

        def check(described: Table) -> None:
            nonlocal mark
            stage("comparing the table with its fingerprint")
            try:
                mark = fingerprint_of(engine, described, asked, self.past.secret)
            except StatementError:
                mark = None  # not that of a state before, where the audit began again
                raise _NoFingerprint from None
            if stands(table, mark):
                raise _Stands

        policy, whole = self.budget.within(policy), policy
        checked, most = bool(self.past.secret) and policy.max_statements != 1, policy.max_statements
        by_files = file_fingerprint_of(engine, described, asked, self.past.secret) if checked else None
        if checked and most is not None:
            policy = replace(policy, max_statements=most - 1)
        request = replace(_request(typed, policy, weights), hierarchies=hierarchies)
        try:
            if stands(table, by_files):
                raise _Stands
            result = audit(engine, request, stage, check if checked else lambda described: None, _earlier(table))
        except _NoFingerprint:
            result = audit(engine, request, stage, earlier=_earlier(table))
        except _Stands:
            assert table is not None
            mark = table.fingerprint
            result = cast(AuditResult, table.audit)
            since = table.unchanged or Unchanged(run=str(run), started=result.account.started)
            blank, result = (
                replace(blank, unchanged=since),
                replace(result, account=replace(result.account, **spent.spent)),
            )
        self.budget.used += spent.spent["statements"]
        limited = not result.complete and whole.max_statements != most  # by what other tables of the run left
        if result.cut_short or limited:
            mark = by_files = None
        else:
            blank = replace(blank, spared=_spared(table, result, spent.spent["statements"]))
        return replace(blank, fingerprint=mark, file_fingerprint=by_files), result

    def _with_history(
        self, table: TableRun, found: Sequence[Finding], entry: TableEntry, before: TableRun | None, run: str | None
    ) -> TableRun:
        """The table with its findings compared with those before, of that run."""
        for each in expired(found, entry.exemptions, self.today):
            self.notes.append(
                f"{table.table}: the exception of line {each.line} of {self.file.path.name} expired on {each.expires}"
            )
        if run is not None and self.past.baseline is not None and run != self.past.baseline.run:
            self.elsewhere.setdefault(run, []).append(table.table)
        listed = complete_kinds(table.audit) if table.audit else set()
        old = () if before is None else before.findings
        changed: list[str] = []
        if before is not None and before.audit and table.audit:
            changed = changed_settings(before.audit.account.policy, table.audit.account.policy)
        states = with_states(found, old, listed, same_question=not changed)
        return replace(table, findings=tuple(states), policy_changed=tuple(changed))

    def _past_of(self, source: str, table: str) -> PastTable:
        return self.past.tables.get((source, table), PastTable())

    def read_history(self, planned: Sequence[PlannedTable]) -> None:
        """Reads, in one transaction, what these tables are compared with: the requested baseline, else for each table
        the last run with a verdict on it."""
        history, named = self.past.history, self.past.named
        if history is not None:
            tables = [(each.entry.source, each.table) for each in planned]
            past = self._from_history(
                lambda: history.past_tables(tables, None if named is None else named.run), "the tables"
            )
            self.past.tables = past or {}

    def _from_history(self, query: Callable[[], Value], subject: str) -> Value | None:
        """The result of a query of the history. If it fails, the run goes on without the history, with a note."""
        try:
            return query()
        except StoreError as error:
            self.past.history = None  # each further query could take as long to fail
            self.notes.append(f"{subject} were not compared with earlier runs: {error}")
            return None

    def with_states(self, covered: Coverage, plans: Sequence[SourcePlan], gone: "_Gone") -> Coverage:
        """The coverage compared with earlier runs: adds tables and columns that vanished or changed their type."""
        history, named = self.past.history, self.past.named
        if history is None:
            return covered
        there = {each.source.name: {str(t.name) for t in each.catalog.tables} for each in plans if each.catalog}
        more = [
            Gap(source, table, None, GapKind.VANISHED, f"{table} was audited in run {run}, but is not in the source")
            for source, table, run in gone.tables
            if table not in there.get(source, {table})  # nothing is known of a source that could not be read
        ]
        more += changed_columns(plans, self._from_history(history.last_columns, "the catalogs") or {})
        known = self._from_history(lambda: history.last_coverage(named), "the catalogs")
        return covered.with_gaps(more).with_states({gap.id for gap in known.gaps} if known else ())

    def last_notes(self) -> list[str]:
        """Notes on all tables together."""
        notes = [
            f"{few(tables, TABLES_NAMED)}: compared with run {run}, the last on {'it' if len(tables) == 1 else 'them'}"
            for run, tables in self.elsewhere.items()
        ]
        for entry in self.file.tables:
            there = self.fitting.get(entry.line)
            unmet = [name for name in (*entry.roles, *entry.weights) if there and name.lower() not in there]
            if entry.is_pattern and unmet:
                place = f"line {entry.line} of {self.file.path.name}"
                notes.append(
                    f"no table that matches {entry.label} has a column {few(unmet)} ({place}); is it misspelt?"
                )
        return notes


class _Stands(Exception):
    """The table is as it was when it was last audited."""


class _NoFingerprint(Exception):
    """The engine cannot hash the rows, by a type of theirs."""


def _request(table: str | None, policy: Policy, weights: Mapping[str, int]) -> AuditRequest:
    """The request for the audit of a table: its policy and the weights of its columns."""
    options = {each.name: getattr(policy, each.name) for each in fields(policy)}
    return AuditRequest(table, weights=weights, roles="none", **options)


def _earlier(before: TableRun | None) -> Earlier:
    """What the audit before found, if there was one."""
    return Earlier.of(before.audit) if before is not None and isinstance(before.audit, AuditResult) else Earlier()


def _spared(before: TableRun | None, result: AuditResult, statements: int) -> int:
    """How many more statements the last audit took that knew of no earlier one; 0 if it asked another question."""
    if before is None or not isinstance(before.audit, AuditResult) or before.audit.complete > result.complete:
        return 0
    changed = changed_settings(before.audit.account.policy, result.account.policy)
    return 0 if changed else max(0, before.from_nothing - statements)


def _failed(blank: TableRun, error: str) -> TableRun:
    return replace(blank, verdict=Verdict.ERROR, reason=f"{blank.table} could not be audited: {error}", error=error)


def _past(history: History | None, baseline: str | None, resume: bool, fresh: bool, check: bool) -> _EarlierRuns:
    if history is None:
        if baseline is not None:
            raise UsageError("--baseline needs a history; remove --no-history")
        return _EarlierRuns(None, check=check)
    secret = "" if check else history.prepare()
    named = None if baseline is None else history.find(baseline)
    unfinished = history.unfinished() if resume and not fresh and not check else []
    return _EarlierRuns(history, named, history.last_complete(), unfinished, secret=secret, fresh=fresh, check=check)


@dataclass(frozen=True, slots=True)
class _Gone:
    """Tables that an earlier run audited and this one does not: source, name and run of each; and notes on them."""

    tables: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()


def _vanished(tables: Sequence[TableRun], past: _EarlierRuns, only: Sequence[str], file: PolicyFile) -> _Gone:
    """Tables of the last run on the whole file, or of the requested baseline, that are not in this run."""
    if past.history is None or only:
        return _Gone()
    now = {(table.source, table.table) for table in tables}
    now |= {(entry.source, entry.label) for entry in file.tables}  # for patterns and missing tables
    try:
        known = past.history.last_tables()
        if past.named is not None:
            known = {**dict.fromkeys(past.history.audited_tables(past.named.run), past.named.run), **known}
    except StoreError as error:  # the run itself succeeded
        return _Gone(notes=(f"it is not known whether tables of earlier runs are gone: {error}",))
    found = [(source, table, last) for (source, table), last in known.items() if (source, table) not in now]
    gone: dict[str, list[str]] = {}
    for _, table, last in found:
        gone.setdefault(last, []).append(table)
    notes = [
        f"no longer audited since run {last}: {few(tables)}; were they dropped, or is a privilege missing?"
        for last, tables in gone.items()
    ]
    return _Gone(tuple(found), tuple(notes))


def reason(tables: Sequence[TableRun], covered: Coverage | None, stopped: str, accepted: int) -> str:
    """The result of a run in one sentence. `accepted`: the findings that exceptions accept, in tables that pass."""
    waived = f" with {plural(accepted, 'exception')}" if accepted else ""
    words = {
        Verdict.ERROR: ("could not be audited", "could not be audited"),
        Verdict.VIOLATION: ("violates the policy", "violate the policy"),
        Verdict.INCONCLUSIVE: ("came to no conclusion", "came to no conclusion"),
        Verdict.PASS: (f"passes{waived}", f"pass{waived}"),
        Verdict.FINISHED: ("is not read, its policy fits", "are not read, their policies fit"),
    }
    parts = []
    for verdict, phrases in words.items():
        names = [table.table for table in tables if table.verdict is verdict]
        if names:
            listed = f" ({few(names, TABLES_NAMED)})" if verdict not in (Verdict.PASS, Verdict.FINISHED) else ""
            parts.append(f"{count(len(names))} {phrases[len(names) > 1]}{listed}")
    text = f"of {plural(len(tables), 'table')}, {', '.join(parts)}" if parts else "no table was audited"
    text = "; ".join([text, *([covered.text] if covered else []), *([stopped] if stopped else [])])
    return text[0].upper() + text[1:]
