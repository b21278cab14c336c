"""Changes to report: tables whose verdict differs from the last one sent, and violations that got worse.

Each alert remembers what it sent. An alert on violations only sends one message for each, a table that flickers
between inconclusive and violation is sent as often as the alert listens to, and a change during a snooze is sent when
the snooze ends and the change still holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, NamedTuple, TypeAlias

from qidsql.core.policy import question
from qidsql.core.results import Verdict, worst
from qidsql.declarations.results import UNWRITTEN
from qidsql.operations.alerts.settings import WORSE, Alert
from qidsql.operations.changes import Standing
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import CAUSES, Finding, FindingKind

WHOLE_RUN = ("", "")  # not about one table: a pattern that no table meets, a source that has none
GRAVEST_FIRST = list(Verdict)
POLICY_CHANGED = "the policy changed, so nothing is compared with what was told before"


Findings: TypeAlias = Mapping[str, tuple[str, Standing]]  # broken requirements: the words of each, and how bad it is


@dataclass(frozen=True, slots=True)
class Told:
    """What an alert sent last of a table: its verdict, the broken requirements, and the policy."""

    verdict: Verdict
    broken: Mapping[str, Standing] = field(default_factory=dict)
    question: str | None = None  # a fingerprint of the policy; None: not known


@dataclass(frozen=True, slots=True)
class Change:
    """A table whose verdict differs from the last one sent, or that is a worse violation than was sent."""

    source: str
    table: str
    owner: str | None
    was: Annotated[Verdict | None, "the verdict sent last; null where none was sent of the table before"]
    now: Verdict
    reason: str
    worse: Annotated[tuple[str, ...], "the findings of a violation sent before that are new or worse"] = ()
    broken: Annotated[Mapping[str, Standing], UNWRITTEN] = field(default_factory=dict, compare=False)
    question: Annotated[str | None, UNWRITTEN] = field(default=None, compare=False)

    @property
    def told(self) -> Told:
        """What is remembered of it."""
        return Told(self.now, self.broken, self.question)

    @property
    def subject(self) -> tuple[str, str]:
        return self.source, self.table

    @property
    def name(self) -> str:
        """What people call it."""
        if self.subject == WHOLE_RUN:
            return "the run"
        return f"{self.table} ({self.source})" if self.source else self.table


def changes(alert: Alert, run: RunResult, told: Mapping[tuple[str, str], Told], today: date) -> list[Change]:
    """The changes that this alert has to send of a run, the worst first; `told` is what it sent last, by source and
    table.

    A table of which nothing was sent counts as passing. When the run was interrupted, a table that came out
    inconclusive is left as it was: that is no news of the table. A budget that is spent is no interruption.
    A violation told under another policy is reported once more, and later ones are compared with that.
    """
    found = []
    for source, table, owner, now, reason, findings, asked in _verdicts(run):
        heard = alert.concerns(source, table, owner) and not alert.snoozed(source, table, today)
        if not heard and (source, table) != WHOLE_RUN:
            continue
        if run.interrupted and now is Verdict.INCONCLUSIVE:
            continue
        last = told.get((source, table))
        other_policy = last is not None and None not in (last.question, asked) and last.question != asked
        worse: tuple[str, ...] = ()
        if now == (Verdict.PASS if last is None else last.verdict):
            if last is None or now is not Verdict.VIOLATION or WORSE not in alert.on:
                continue
            worse = (POLICY_CHANGED,) if other_policy else _worse(findings, last)
            if not worse:
                continue
        elif now is not Verdict.PASS and now not in alert.on:
            continue
        elif other_policy:
            reason = f"{reason}; {POLICY_CHANGED}"
        broken = {id: bad for id, (_, bad) in findings.items()}
        was = None if last is None else last.verdict
        found.append(Change(source, table, owner, was, now, reason, worse, broken, asked))
    return sorted(found, key=lambda change: GRAVEST_FIRST.index(change.now))


def _worse(findings: Findings, last: Told) -> tuple[str, ...]:
    """The findings of a violation that are new or worse since it was told."""
    return tuple(
        text for id, (text, bad) in findings.items() if id not in last.broken or bad.worse_than(last.broken[id])
    )


class _Verdict(NamedTuple):
    """A table of a run, its broken requirements, and its policy."""

    source: str
    table: str
    owner: str | None
    now: Verdict
    reason: str
    broken: Findings
    question: str | None = None


def _verdicts(run: RunResult) -> list[_Verdict]:
    """The verdict of each table of a run, and of the run where the tables do not account for it."""
    tables = _covered(_audited(run), run.coverage)
    gravest = worst([*(table.now for table in tables), Verdict.PASS])
    accounted = worst([gravest, run.verdict]) is gravest
    return [*tables, _Verdict(*WHOLE_RUN, None, Verdict.PASS if accounted else run.verdict, run.reason, {})]


def _audited(run: RunResult) -> list[_Verdict]:
    return [
        _Verdict(
            source=table.source,
            table=table.table,
            owner=table.owner,
            now=table.verdict,
            reason=table.sentence,
            broken={
                _known_by(finding): (finding.text, Standing.of(finding.measures))
                for finding in table.open_findings
                if finding.kind not in CAUSES
            },
            question=question(table.audit.account.policy) if table.audit else None,
        )
        for table in run.tables
    ]


def _covered(tables: Sequence[_Verdict], coverage: Coverage | None) -> list[_Verdict]:
    """The tables with what the policy has to cover and does not; one that no entry names is a table of its own."""
    found = {(table.source, table.table): table for table in tables}
    for gap in coverage.violations if coverage else ():
        table = found.get((gap.source, gap.table), _Verdict(gap.source, gap.table, gap.owner, Verdict.PASS, "", {}))
        reason = table.reason if table.now is Verdict.VIOLATION else ""
        now = worst([table.now, Verdict.VIOLATION])
        found[gap.source, gap.table] = table._replace(
            now=now,
            reason="; ".join(filter(None, [reason, gap.text])) if now is Verdict.VIOLATION else table.reason,
            broken={**table.broken, gap.id: (gap.text, Standing(0, 0, 0))},
        )
    return list(found.values())


def _known_by(finding: Finding) -> str:
    """The id of a finding; that the whole table is below k stays the same finding when its columns change."""
    return str(finding.kind) if finding.kind is FindingKind.K_ANONYMITY else finding.id
