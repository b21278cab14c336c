"""Compares findings with those of an earlier run, and with the exceptions of the policy file."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from qidsql.commands.audit.result import AuditResult
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.operations.policy_entries import Exemption
from qidsql.operations.table_run import CAUSES, Acceptance, Finding, FindingKind, FindingState, Measures

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
    below k is complete and each of them is accepted.
    """
    verdict = result.verdict
    if verdict is not Verdict.VIOLATION or result.profile is None or not any(f.exception for f in findings):
        return verdict
    small = [finding for finding in findings if finding.kind is FindingKind.BELOW_K]
    explained = bool(small) and FindingKind.BELOW_K in listed and all(finding.exception for finding in small)
    for finding in findings:
        if finding.exception or finding.kind in CAUSES:
            continue  # a minimal set or key explains why the whole table is below k; it is no further violation
        if not (finding.kind is FindingKind.K_ANONYMITY and explained):
            return verdict
    unmeasured = not all(each.measured_by(result.profile) for each in result.account.policy.criteria)
    if result.interrupted or unmeasured or any(column.role is Role.UNREADABLE for column in result.columns):
        return Verdict.INCONCLUSIVE
    return Verdict.PASS


def _state(before: Measures, now: Measures) -> FindingState:
    was, extent = Extent.of(before), Extent.of(now)
    if extent.worse_than(was):
        return FindingState.WORSE
    return FindingState.BETTER if was.worse_than(extent) else FindingState.UNCHANGED
