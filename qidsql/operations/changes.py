"""Compares findings with those of an earlier run, and with the exceptions of the policy file."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, NamedTuple

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.audit.verdict import unicity_limits
from qidsql.commands.judgement import judged_again
from qidsql.core.policy import changed_settings
from qidsql.core.results import Verdict, worst
from qidsql.core.tables import Role
from qidsql.measures.disclosure_limits import limits_among
from qidsql.operations.coverage import Coverage, Gap
from qidsql.operations.document import PackedTables, RunResult
from qidsql.operations.findings import complete_kinds, findings
from qidsql.operations.policy_entries import Exemption
from qidsql.operations.table_run import CAUSES, Acceptance, Finding, FindingKind, FindingState, Measures, TableRun

MARGIN = Fraction(1, 100)  # of all rows: a share below k that moves by less is unchanged: tables change every night


class Extent(NamedTuple):
    """The extent of a finding: smallest class, rows below k, and all rows; 0 if not known."""

    smallest: int
    rows_below_k: int
    whole: int

    @classmethod
    def of(cls, measures: Measures) -> "Extent":
        """The extent of a finding; a figure hidden by --min-count is 0, so that no message reveals it."""
        return cls(measures.smallest or 0, measures.rows_below_k or 0, measures.total or 0)

    @property
    def share(self) -> Fraction:
        """Rows below k / all rows, exactly."""
        return Fraction(self.rows_below_k, self.whole) if self.whole else Fraction(0)

    def worse_than(self, other: "Extent") -> bool:
        """Whether the smallest class is smaller or no longer known, or the share below k larger by `MARGIN`."""
        return self.smallest < other.smallest or self.share - other.share >= MARGIN


def with_states(
    now: Iterable[Finding], before: Iterable[Finding], listed: Collection[FindingKind], same_question: bool = True
) -> list[Finding]:
    """The findings with their states, followed by those that are gone.

    `listed` are the kinds whose findings were all listed this time; a finding of another kind that is missing may
    still exist, and is left out. New: also a finding whose exception ended. Worse: see `Extent`; better: the reverse.
    Without `same_question` (the policy differs) nothing is compared, and no finding is new or gone.
    """
    if not same_question:
        return [each if each.exception else replace(each, state=FindingState.POLICY_CHANGED, was=None) for each in now]
    old = {finding.id: finding for finding in before if finding.state is not FindingState.GONE}
    found: list[Finding] = []
    for finding in now:
        was = old.pop(finding.id, None)
        if was is not None and was.state is FindingState.EXCEPTED and not finding.exception:
            was = None  # its exception ended, so --fail-on new must count it
        state = FindingState.NEW if was is None else _state(was.measures, finding.measures)
        kept = FindingState.EXCEPTED if finding.exception else state
        found.append(replace(finding, state=kept, was=None if was is None else was.measures))
    for gone in old.values():
        if gone.kind in listed:
            found.append(replace(gone, state=FindingState.GONE, was=gone.measures, measures=Measures(), exception=None))
    return found


def as_found(recorded: Iterable[Finding]) -> list[Finding]:
    """The findings of a recorded table as its audit had them: not compared, without exceptions."""
    there = (each for each in recorded if each.state is not FindingState.GONE)
    return [replace(each, state=FindingState.NEW, was=None, exception=None) for each in there]


def with_exceptions(findings: Iterable[Finding], exemptions: Sequence[Exemption], today: date) -> list[Finding]:
    """The findings; those that a valid exception accepts have the state `excepted`."""
    valid = [each for each in exemptions if today <= each.expires]
    marked = []
    for finding in findings:
        given = next((each for each in valid if each.covers(finding.kind, finding.columns)), None)
        excuse = None if given is None else Acceptance(given.reason, given.expires)
        marked.append(finding if excuse is None else replace(finding, exception=excuse, state=FindingState.EXCEPTED))
    return marked


def expired(findings: Iterable[Finding], exemptions: Sequence[Exemption], today: date) -> list[Exemption]:
    """The exceptions that would accept a finding if they had not expired."""
    there = list(findings)
    return [e for e in exemptions if e.expires < today and any(e.covers(f.kind, f.columns) for f in there)]


def verdict_with_exceptions(
    result: AuditResult, findings: Sequence[Finding], listed: Collection[FindingKind]
) -> Verdict:
    """The verdict without the accepted findings. Never a pass while any finding is open.

    The finding that the whole table is below k is accepted by an exception of its own, or if the list of minimal sets
    below k, by all rows that may be known of a person, is complete and each of them is accepted.
    """
    verdict = result.verdict
    if verdict is not Verdict.VIOLATION or result.profile is None or not any(f.exception for f in findings):
        return verdict
    policy = result.account.policy
    below_k = FindingKind(policy.below_k.finding)
    small = [finding for finding in findings if finding.kind is below_k]
    explained = bool(small) and below_k in listed and all(finding.exception for finding in small)
    for finding in findings:
        if finding.exception or finding.kind in CAUSES:
            continue  # a minimal set or key explains why the whole table is below k; it is no further violation
        if not (finding.kind is FindingKind.K_ANONYMITY and explained):
            return verdict
    by_persons = [above for *_, above in unicity_limits(policy, result.unicity, result.numbers_of_rows)]
    if any(by_persons):
        return verdict  # no finding tells it
    unmeasured = not all(each.measured_by(result.profile) for each in policy.criteria) or None in by_persons
    if policy.known_rows and limits_among(policy.criteria):  # what these tell of sensitive columns, after a violation
        unmeasured = True
    if result.interrupted or unmeasured or any(column.role is Role.UNREADABLE for column in result.columns):
        return Verdict.INCONCLUSIVE
    return Verdict.PASS


def _state(before: Measures, now: Measures) -> FindingState:
    if before == now:  # most of a long list
        return FindingState.UNCHANGED
    was, extent = Extent.of(before), Extent.of(now)
    if extent.worse_than(was):
        return FindingState.WORSE
    return FindingState.BETTER if was.worse_than(extent) else FindingState.UNCHANGED


# The changes between two recorded runs.


SAME = (FindingState.UNCHANGED, FindingState.EXCEPTED)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs."""

    run: str
    started: datetime
    verdict: Verdict
    accepted: Annotated[int, "findings that exceptions accept, in tables that pass"]


@dataclass(frozen=True, slots=True)
class CoverageDiff:
    """The coverage of each run, and the gaps that are new or gone."""

    before: str
    after: str
    new: tuple[Gap, ...]
    gone: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class TableDiff:
    """A table, with its verdict in each run (null: not audited)."""

    source: str
    table: str
    was: Verdict | None
    now: Verdict | None
    policy_changed: Annotated[tuple[str, ...], "the settings that differ; findings are compared only if none does"]
    findings: tuple[Finding, ...]
    accepted: Annotated[tuple[int, int], "findings that exceptions accept where it passes: before, and now"] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The changes between two runs."""

    format: int = field(default=2, init=False)
    kind: str = field(default="diff", init=False)
    before: ComparedRun
    after: ComparedRun
    coverage: Annotated[CoverageDiff | None, "null if one of the runs has no coverage"]
    tables: tuple[TableDiff, ...]
    not_selected: Annotated[int, "tables of one run that --only left out of the other; not in `tables`"]


def diff(before: RunResult, after: RunResult) -> Diff:
    """Compares two runs: the tables with both verdicts, and the findings that changed."""
    old, new = _places(before), _places(after)
    tables, not_selected = [], 0
    for source, table in dict.fromkeys([*old, *new]):
        if (before.only and (source, table) not in old) or (after.only and (source, table) not in new):
            not_selected += 1
            continue
        was = before.tables[old[source, table]] if (source, table) in old else None
        now = after.tables[new[source, table]] if (source, table) in new else None
        tables.append(_table(source, table, was, now))
    return Diff(
        before=ComparedRun(before.run, before.started, before.verdict, before.accepted),
        after=ComparedRun(after.run, after.started, after.verdict, after.accepted),
        coverage=_coverage(before.coverage, after.coverage),
        tables=tuple(tables),
        not_selected=not_selected,
    )


def _table(source: str, table: str, was: TableRun | None, now: TableRun | None) -> TableDiff:
    changed: list[Finding] = []
    policy_changed: list[str] = []
    if was and now and now.audit:
        if was.audit:
            policy_changed = changed_settings(was.audit.account.policy, now.audit.account.policy)
        if not policy_changed:
            there = [finding for finding in was.findings if finding.state is not FindingState.GONE]
            found = [finding for finding in now.findings if finding.state is not FindingState.GONE]
            changed = [each for each in with_states(found, there, complete_kinds(now.audit)) if each.state not in SAME]
    return TableDiff(
        source=source,
        table=table,
        was=was.verdict if was else None,
        now=now.verdict if now else None,
        accepted=(was.accepted if was else 0, now.accepted if now else 0),
        policy_changed=tuple(policy_changed),
        findings=tuple(changed),
    )


def _coverage(before: Coverage | None, after: Coverage | None) -> CoverageDiff | None:
    if before is None or after is None:
        return None
    was, now = ({gap.id for gap in each.gaps} for each in (before, after))
    new = tuple(gap for gap in after.gaps if gap.id not in was)
    return CoverageDiff(before.text, after.text, new, tuple(gap for gap in before.gaps if gap.id not in now))


def _places(run: RunResult) -> dict[tuple[str, str], int]:
    """The index of each table in the run, so that tables can be unpacked one at a time."""
    return {(table.source, table.table): place for place, table in enumerate(run.tables)}


# The verdicts of a run's document, derived again from the audits and findings in it.


OPEN = (Verdict.INCONCLUSIVE, Verdict.ERROR)


def run_judged_again(document: RunResult) -> RunResult | None:
    """The document with the verdicts that follow from its figures; None if it states another one."""
    tables, verdicts = PackedTables(), []
    for table in document.tables:
        anew = _judged_table(table)
        if anew is None:
            return None
        tables.append(anew)
        verdicts.append(anew.verdict)
    covered = [document.coverage.verdict] if document.coverage else []
    agrees = document.verdict is worst([worst(verdicts), *covered])
    return replace(document, tables=tables) if agrees else None


def _judged_table(table: TableRun) -> TableRun | None:
    audit = table.audit
    if audit is None:
        return table if table.verdict in OPEN else None
    if audit.hidden:  # its counts, but not its findings
        return None if table.verdict is Verdict.PASS and table.open_findings else table
    anew = judged_again(audit)
    if not isinstance(anew, AuditResult):
        return None
    accepted = {each.id: each.exception for each in table.findings}
    found = [replace(each, exception=accepted.get(each.id)) for each in findings(anew, table.source)]
    if table.verdict is not verdict_with_exceptions(anew, found, complete_kinds(anew)):
        return None
    reason = table.reason if table.reason.startswith(anew.reason) else anew.reason
    return replace(table, audit=anew, reason=reason)
