"""A run: every table of a policy file audited, one after the other, whatever becomes of the others."""

import hashlib
import json
import secrets
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.request import AuditRequest
from qidsql.core.policy import Policy, changed_settings
from qidsql.core.results import Verdict, worst
from qidsql.core.tables import Table
from qidsql.core.time_limit import within
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError, SourceError, Stopped, StoreError, UsageError
from qidsql.operations.changes import compared, excused, expired, verdict_with_exceptions
from qidsql.operations.compact_form import PackedTables
from qidsql.operations.coverage import Change, Coverage, Gap
from qidsql.operations.coverage_survey import changed_columns, coverage
from qidsql.operations.document import Baseline, ConfigFile, RunResult, known_apart
from qidsql.operations.exit_codes import FailOn, exit_code
from qidsql.operations.findings import findings, looked_for
from qidsql.operations.history.records import History, Past, RunHead, Unfinished
from qidsql.operations.plan import Planned, SourcePlan, chosen, plan, tables_of
from qidsql.operations.policy_file import PolicyFile, TableEntry
from qidsql.operations.table_run import Finding, TableRun
from qidsql.sql.relation import table_node
from qidsql.version import __version__
from qidsql.wording.numbers import count, plural, some
from qidsql.wording.option_names import POLICY_FILE, written_as

Answer = TypeVar("Answer")
RESUMABLE = ("table", "materialized view", "file", "data file")  # what nothing but their own source can change
INTERRUPTED = "interrupted"
SECONDS_USED = "the run's seconds are used up"
FAILURES = 2  # connections in a row that fail before a source is given up for the run
SHOWN = 6  # tables named in a sentence


@dataclass
class Watch:
    """Who is told what goes on."""

    stage: Callable[[str], None] = lambda words: None
    opened: Callable[[Engine], None] = lambda engine: None


@dataclass
class _Budget:
    """What a whole run may take."""

    statements: int | None
    deadline: float | None
    asked: int = 0

    @property
    def spent(self) -> str:
        """What is used up, in words; empty while something is left."""
        if self.statements is not None and self.asked >= self.statements:
            return f"the run's {plural(self.statements, 'statement')} are asked"
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return SECONDS_USED
        return ""

    def within(self, policy: Policy) -> Policy:
        """The policy of a table with no more than is left."""
        if self.statements is not None:
            left = self.statements - self.asked
            policy = replace(policy, max_statements=min(left, policy.max_statements or left))
        if self.deadline is not None:
            seconds = max(0.001, self.deadline - time.monotonic())
            policy = replace(policy, max_seconds=min(seconds, policy.max_seconds or seconds))
        return policy


@dataclass
class _Past:
    """What the history says: the run to compare with, and what an interrupted run has left."""

    history: History | None
    named: RunHead | None = None  # the baseline that was asked for
    last: RunHead | None = None
    unfinished: list[Unfinished] = field(default_factory=list)

    @property
    def baseline(self) -> RunHead | None:
        return self.named or self.last

    def of(self, source: str, table: str) -> Past:
        """The table in the run to compare with; without a named one: in the last that came to a verdict on it."""
        if self.history is None:
            return Past()
        return self.history.past(source, table, self.named.run if self.named else None)


def run(
    file: PolicyFile,
    history: History | None = None,
    *,
    only: Sequence[str] = (),
    baseline: str | None = None,
    fail_on: FailOn = FailOn.ANY,
    resume: bool = True,
    today: date | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """Audits every table of the file, or those `only` names, and compares with the last complete run in the history.

    Writes nothing but, into the history, what a later run could resume from; the caller records the result. A table
    that fails is an error of its own; Ctrl-C and a spent budget leave the rest inconclusive. Raises UsageError,
    UnknownName (of `only` or `baseline`), StoreError.
    """
    watch = watch or Watch()
    started, clock = now(), time.monotonic()
    past = _past(history, baseline, resume)
    budget = _Budget(file.max_statements, None if file.max_seconds is None else clock + file.max_seconds)
    made = _Run(file, run_id(started), past, budget, today or started.date(), watch)
    planned: list[Planned] = []
    covered: Coverage | None = None
    plans: list[SourcePlan] = []
    done, heads, apart = PackedTables(), list[TableRun](), list[Verdict]()
    with within(file.max_seconds):
        try:
            plans = plan(file, watch.stage)
            planned = chosen(tables_of(plans, file), only, file)
            covered = coverage(plans, file, planned if only else None)
        except (KeyboardInterrupt, Interrupted):
            made.stopped = INTERRUPTED
        except BudgetSpent:
            made.stopped = SECONDS_USED
        for place, each in enumerate(planned, start=1):
            table = made.table(place, len(planned), each)
            done.append(table)
            heads.append(replace(table, audit=None, findings=(), trend=()))
            apart.append(known_apart(table))
            del table  # the audits of all tables together may not fit into memory
    gone = _vanished(heads, past, only, file)
    if covered is not None:
        covered = made.compared(covered, plans if not only else [], gone)
    of_tables = worst(table.verdict for table in heads)  # inconclusive where there is none
    verdict = worst([of_tables, *([covered.verdict] if covered else [])])
    return RunResult(
        run=made.run,
        started=started,
        finished=now(),
        seconds=round(time.monotonic() - clock, 3),
        config=ConfigFile(str(file.path), file.hash),
        verdict=verdict,
        reason=reason(heads, covered, made.stopped),
        only=tuple(only),
        complete=not made.stopped,
        interrupted=made.stopped == INTERRUPTED,
        fail_on=fail_on,
        exit_code=exit_code(fail_on, verdict, apart, covered),
        baseline=None if past.baseline is None else Baseline(past.baseline.run, past.baseline.started),
        statements=budget.asked,
        notes=(*made.notes, *made.last_notes(), *gone.notes),
        coverage=covered,
        tables=done,
    )


def now() -> datetime:
    """The moment, to the second, as documents have it."""
    return datetime.now(UTC).replace(microsecond=0)


def run_id(moment: datetime) -> str:
    """A new id: sorted by time as far as clocks can be trusted, and told apart by chance."""
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass
class _Run:
    """A run on its way."""

    file: PolicyFile
    run: str
    past: _Past
    budget: _Budget
    today: date
    watch: Watch
    stopped: str = ""  # why nothing more is begun
    notes: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)  # connections of a source that failed in a row
    elsewhere: dict[str, list[str]] = field(default_factory=dict)  # tables by the run, not the baseline, compared with
    fitting: dict[int, set[str]] = field(default_factory=dict)  # columns of the tables that fit a pattern, by its line

    def table(self, place: int, many: int, planned: Planned) -> TableRun:
        """One table, from the catalog to its verdict; never raises what concerns this table alone."""
        entry, name = planned.entry, planned.table
        blank = TableRun(
            source=entry.source,
            source_label=planned.label,
            table=name,
            line=entry.line,
            owner=entry.owner,
            verdict=Verdict.INCONCLUSIVE,
            reason="",
        )
        self.stopped = self.stopped or self.budget.spent
        if self.stopped:
            return replace(blank, reason=f"{name} was not begun: {self.stopped}")
        head = f"{place} of {many}, {name}"
        try:
            if planned.error is not None:
                return _failed(blank, planned.error)
            if self.failures.get(entry.source, 0) >= FAILURES:
                return _failed(blank, f"source {entry.source} could not be reached for the tables before it either")
            with written_as(POLICY_FILE):
                return self._audited(blank, planned, lambda words: self.watch.stage(f"{head}: {words}"))
        except (KeyboardInterrupt, Interrupted):
            self.stopped = INTERRUPTED
            return replace(blank, reason=f"{name} was interrupted before the end.")
        except Stopped as stop:
            return replace(blank, reason=f"{name} was not examined to the end: {stop}")
        except QidsqlError as error:
            return _failed(blank, str(error))
        except Exception as error:  # noqa: BLE001 - one table must not stop the rest; its text could hold values
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
            return _failed(blank, f"internal error ({where}); please report it")

    def _audited(self, blank: TableRun, planned: Planned, stage: Callable[[str], None]) -> TableRun:
        entry, source = planned.entry, self.file.sources[planned.entry.source]
        try:
            engine = connect(source.url, workers=source.workers, snapshot=source.snapshot, gentle=source.gentle)
        except SourceError:
            self.failures[entry.source] = self.failures.get(entry.source, 0) + 1
            raise
        self.failures[entry.source] = 0
        with engine:
            self.watch.opened(engine)
            stage("reading the catalog")
            described = engine.describe(planned.typed)
            columns = [column.name for column in described.columns]
            self.fitting.setdefault(entry.line, set()).update(column.lower() for column in columns)
            policy = entry.policy(columns)
            if not entry.is_pattern:
                described.resolve([*entry.roles, *entry.weights])
            weights = entry.weights_of(columns)
            kept = self._kept(entry, engine, engine.narrowed(described, policy.where), policy)
            before = None if kept is None else self._resumed(kept)
            if before is not None:
                resumed = replace(
                    blank,
                    source_label=engine.label,
                    verdict=before.verdict,
                    reason=before.reason,
                    resumed=True,
                    audit=before.audit,
                )
                return self._judged(resumed, before.findings, entry)
            typed = None if described.kind == "file" else table_node(described.name).sql(engine.dialect.name)
            result = audit(engine, _request(typed, self.budget.within(policy), weights), stage)
        self.budget.asked += result.account.statements
        found = excused(findings(result, entry.source), entry.exemptions, self.today)
        verdict = verdict_with_exceptions(result, found, looked_for(result))
        words = result.reason
        if verdict is not result.verdict:
            accepted = sum(finding.exception is not None for finding in found)
            words = f"{result.reason}. {plural(accepted, 'finding')} accepted by exceptions of {self.file.path.name}"
        table = replace(blank, source_label=engine.label, verdict=verdict, reason=words, audit=result)
        if result.interrupted:
            self.stopped = INTERRUPTED
        elif kept is not None and not result.account.unfinished:
            self._keep(kept, replace(table, findings=tuple(found)))
        return self._judged(table, found, entry)

    def _judged(self, table: TableRun, found: Sequence[Finding], entry: TableEntry) -> TableRun:
        """The table with its findings held against the past."""
        for each in expired(found, entry.exemptions, self.today):
            self.notes.append(
                f"{table.table}: the exception of line {each.line} of {self.file.path.name} expired on {each.expires}"
            )
        past = self._remembered(lambda: self.past.of(table.source, table.table), table.table) or Past()
        before, trend = past.table, past.trend
        if past.run is not None and self.past.baseline is not None and past.run != self.past.baseline.run:
            self.elsewhere.setdefault(past.run, []).append(table.table)
        listed = looked_for(table.audit) if table.audit else set()
        old = () if before is None else before.findings
        changed: list[str] = []
        if before is not None and before.audit and table.audit:
            changed = changed_settings(before.audit.account.policy, table.audit.account.policy)
        states = compared(found, old, listed, same_question=not changed)
        return replace(table, findings=tuple(states), trend=trend, policy_changed=tuple(changed))

    def _remembered(self, ask: Callable[[], Answer], table: str) -> Answer | None:
        """What the history says, as long as it answers: that it does not is said, and no reason to lose an audit."""
        try:
            return ask()
        except StoreError as error:
            self.past.history = None  # asked no more: each time could be as long a wait as this one
            self.notes.append(f"from {table} on nothing was compared with earlier runs: {error}")
            return None

    def compared(self, covered: Coverage, plans: Sequence[SourcePlan], gone: "_Gone") -> Coverage:
        """The coverage with what vanished or changed its type since earlier runs, and with what was a gap before."""
        history, named = self.past.history, self.past.named
        if history is None:
            return covered
        there = {each.source.name: {str(t.name) for t in each.catalog.tables} for each in plans if each.catalog}
        more = [
            Gap(source, table, None, Change.VANISHED, f"{table} was audited in run {run}, and is not in the source")
            for source, table, run in gone.tables
            if table not in there.get(source, {table})  # of a source that could not be read nothing is known
        ]
        more += changed_columns(plans, self._remembered(history.last_columns, "the catalogs") or {})
        known = self._remembered(lambda: history.last_coverage(named), "the catalogs")
        return covered.with_gaps(more).compared({gap.id for gap in known.gaps} if known else ())

    def last_notes(self) -> list[str]:
        """What can only be said of all tables together."""
        notes = [
            f"{some(tables, SHOWN)}: compared with run {run}, the last on {'it' if len(tables) == 1 else 'them'}"
            for run, tables in self.elsewhere.items()
        ]
        for entry in self.file.tables:
            there = self.fitting.get(entry.line)
            unmet = [name for name in (*entry.roles, *entry.weights) if there and name.lower() not in there]
            if entry.is_pattern and unmet:
                place = f"line {entry.line} of {self.file.path.name}"
                notes.append(f"no table that fits {entry.table} has a column {some(unmet)} ({place}); is it misspelt?")
        return notes

    def _kept(self, entry: TableEntry, engine: Engine, table: Table, policy: Policy) -> Unfinished | None:
        """What this table's answer could be kept as; None where nothing promises that the data stays the same."""
        token = engine.state_token()
        momentary = table.condition is not None and table.condition.momentary
        if self.past.history is None or token is None or table.kind not in RESUMABLE or momentary:
            return None
        asked = [__version__, engine.version, plain(policy), entry.exemptions, entry.all_weights, self.today]
        question = hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()
        return Unfinished(self.run, engine.label, str(table.name), question, token)

    def _resumed(self, kept: Unfinished) -> TableRun | None:
        """What an interrupted run has left of the table, where it still holds; that it does not is said."""
        history = self.past.history
        same = [e for e in self.past.unfinished if (e.source, e.table) == (kept.source, kept.table)]
        if history is None or not same:
            return None
        for entry in reversed(same):
            if (entry.question, entry.token) == (kept.question, kept.token):
                return self._remembered(partial(history.unfinished_table, entry), kept.table)
        changed = "policy" if same[-1].token == kept.token else "source"
        self.notes.append(f"{kept.table}: audited again, since the {changed} has changed since run {same[-1].run}")
        return None

    def _keep(self, kept: Unfinished, table: TableRun) -> None:
        """Keeps the table for a resumed run. That it cannot be kept is no reason to stop."""
        try:
            if self.past.history is not None:
                self.past.history.keep_unfinished(kept, table)
        except StoreError as error:
            if not any("could be resumed from" in note for note in self.notes):
                self.notes.append(f"nothing is kept that could be resumed from: {error}")


def _request(table: str | None, policy: Policy, weights: Mapping[str, int]) -> AuditRequest:
    """What the audit of a table is asked: its policy, and what its columns weigh."""
    options = {each.name: getattr(policy, each.name) for each in fields(policy)}
    return AuditRequest(table, weights=weights, **options)


def _failed(blank: TableRun, error: str) -> TableRun:
    return replace(blank, verdict=Verdict.ERROR, reason=f"{blank.table} could not be audited: {error}", error=error)


def _past(history: History | None, baseline: str | None, resume: bool) -> _Past:
    if history is None:
        if baseline is not None:
            raise UsageError("--baseline needs a history to find the run in; leave --no-history out")
        return _Past(None)
    history.prepare()
    named = None if baseline is None else history.find(baseline)
    return _Past(history, named, history.last_complete(), history.unfinished() if resume else [])


@dataclass(frozen=True, slots=True)
class _Gone:
    """Tables that earlier runs audited and this one does not: source, name and run of each; and notes in words."""

    tables: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()


def _vanished(tables: Sequence[TableRun], past: _Past, only: Sequence[str], file: PolicyFile) -> _Gone:
    """Tables of the last run on the whole file, and of a named baseline, that are in this one no more."""
    if past.history is None or only:
        return _Gone()
    now = {(table.source, table.table) for table in tables}
    now |= {(entry.source, entry.label) for entry in file.tables}  # also as typed: of a pattern, or of what was missing
    try:
        known = past.history.last_tables()
        if past.named is not None:
            known = {**dict.fromkeys(past.history.audited_tables(past.named.run), past.named.run), **known}
    except StoreError as error:  # no reason to lose the run
        return _Gone(notes=(f"whether tables of earlier runs are gone is not known: {error}",))
    found = [(source, table, last) for (source, table), last in known.items() if (source, table) not in now]
    gone: dict[str, list[str]] = {}
    for _, table, last in found:
        gone.setdefault(last, []).append(table)
    notes = [
        f"no longer audited since run {last}: {some(tables)}; were they dropped, or is a right missing?"
        for last, tables in gone.items()
    ]
    return _Gone(tuple(found), tuple(notes))


def reason(tables: Sequence[TableRun], covered: Coverage | None, stopped: str) -> str:
    """What came out of a run, in one sentence."""
    words = {
        Verdict.ERROR: ("could not be audited", "could not be audited"),
        Verdict.VIOLATION: ("violates the policy", "violate the policy"),
        Verdict.INCONCLUSIVE: ("came to no conclusion", "came to no conclusion"),
        Verdict.PASS: ("passes", "pass"),
    }
    parts = []
    for verdict, what in words.items():
        names = [table.table for table in tables if table.verdict is verdict]
        if names:
            listed = f" ({some(names, SHOWN)})" if verdict is not Verdict.PASS else ""
            parts.append(f"{count(len(names))} {what[len(names) > 1]}{listed}")
    said = f"of {plural(len(tables), 'table')}, {', '.join(parts)}" if parts else "no table was audited"
    said = "; ".join([said, *([covered.text] if covered else []), *([stopped] if stopped else [])])
    return said[0].upper() + said[1:]
