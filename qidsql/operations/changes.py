"""Findings held against those of an earlier run, and against the exceptions of the policy file."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from qidsql.commands.audit.result import AuditResult
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.operations.policy_file import Exemption
from qidsql.operations.table_run import CAUSES, Excuse, Finding, FindingKind, FindingState, Measures

MARGIN = Fraction(1, 100)  # of all rows: a share at risk that moves by less is unchanged, tables change every night


class Standing(NamedTuple):
    """How bad a finding is: its smallest class, and its rows below k of how many; 0 where that is not known."""

    k: int
    at_risk: int
    whole: int

    @classmethod
    def of(cls, measures: Measures) -> "Standing":
        """A figure that --min-count left out is 0, so that no message gives it away."""
        return cls(measures.k or 0, measures.rows_at_risk or 0, measures.whole or 0)

    @property
    def share(self) -> Fraction:
        """Rows at risk of all rows, exactly."""
        return Fraction(self.at_risk, self.whole) if self.whole else Fraction(0)

    def worse_than(self, other: "Standing") -> bool:
        """Whether the smallest class is smaller or not known any more, or the share at risk larger by `MARGIN`."""
        return self.k < other.k or self.share - other.share >= MARGIN


def compared(
    now: Iterable[Finding], before: Iterable[Finding], listed: Collection[FindingKind], same_question: bool = True
) -> list[Finding]:
    """The findings with what became of them, and those that are gone.

    Of the kinds in `listed` the list of today is whole; what another kind no longer lists may still be there, and is
    left out. New: also one whose exception has ended. Worse: see `Standing`; better: the other way round. Answers to
    different questions are not compared: none is new or gone then.
    """
    if not same_question:
        return [each if each.exception else replace(each, state=FindingState.POLICY_CHANGED, was=None) for each in now]
    old = {finding.id: finding for finding in before if finding.state is not FindingState.GONE}
    found: list[Finding] = []
    for finding in now:
        was = old.pop(finding.id, None)
        if was is not None and was.state is FindingState.EXCEPTED and not finding.exception:
            was = None  # nobody has had to answer for it since it was accepted: to whoever fails on new it is new
        state = FindingState.NEW if was is None else _change(was.measures, finding.measures)
        kept = FindingState.EXCEPTED if finding.exception else state
        found.append(replace(finding, state=kept, was=None if was is None else was.measures))
    for gone in old.values():
        if gone.kind in listed:
            found.append(replace(gone, state=FindingState.GONE, was=gone.measures, measures=Measures(), exception=None))
    return found


def excused(findings: Iterable[Finding], exemptions: Sequence[Exemption], today: date) -> list[Finding]:
    """The findings, those that a valid exception accepts marked so."""
    valid = [each for each in exemptions if today <= each.expires]
    marked = []
    for finding in findings:
        given = next((each for each in valid if each.covers(finding.kind, finding.columns)), None)
        excuse = None if given is None else Excuse(given.reason, given.expires)
        marked.append(finding if excuse is None else replace(finding, exception=excuse, state=FindingState.EXCEPTED))
    return marked


def expired(findings: Iterable[Finding], exemptions: Sequence[Exemption], today: date) -> list[Exemption]:
    """The exceptions that would accept a finding, had their day not passed."""
    there = list(findings)
    return [e for e in exemptions if e.expires < today and any(e.covers(f.kind, f.columns) for f in there)]


def verdict_with_exceptions(
    result: AuditResult, findings: Sequence[Finding], listed: Collection[FindingKind]
) -> Verdict:
    """The verdict once what is accepted does not count. Never a pass while anything is open.

    That the table as a whole is below k is accepted where an exception says so, or where each of the minimal sets
    below k, the list of them being whole, is accepted.
    """
    verdict = result.verdict
    if verdict is not Verdict.VIOLATION or result.profile is None or not any(f.exception for f in findings):
        return verdict
    small = [finding for finding in findings if finding.kind is FindingKind.BELOW_K]
    explained = bool(small) and FindingKind.BELOW_K in listed and all(finding.exception for finding in small)
    for finding in findings:
        if finding.exception or finding.kind in CAUSES:
            continue  # a minimal set or key is why the whole table is below k, and not one more violation
        if not (finding.kind is FindingKind.K_ANONYMITY and explained):
            return verdict
    if any(column.role is Role.UNREADABLE for column in result.columns):
        return Verdict.INCONCLUSIVE
    return Verdict.PASS


def _change(before: Measures, now: Measures) -> FindingState:
    was, bad = Standing.of(before), Standing.of(now)
    if bad.worse_than(was):
        return FindingState.WORSE
    return FindingState.BETTER if was.worse_than(bad) else FindingState.UNCHANGED
