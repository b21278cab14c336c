"""A message about the changes of a run: as text, as a JSON document, and in the formats of Slack and Teams.

It contains the names of sources, tables and owners, and verdicts with their reasons, which have counts and column
names but never a cell value. Names may be hostile, so each format escapes them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, TypeAlias

from qidsql.core.policy import question
from qidsql.core.results import Verdict, worst
from qidsql.declarations.results import UNWRITTEN, plain, reported
from qidsql.operations.alerts.settings import WORSE, Alert
from qidsql.operations.changes import Extent
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import CAUSES, Finding, FindingKind
from qidsql.version import __version__
from qidsql.wording.texts import plural

# Changes to report: tables whose verdict differs from the last one sent, and violations that got worse.
#
# Each alert remembers what it sent. An alert on violations only sends one message for each, a table that flickers
# between inconclusive and violation is sent as often as the alert listens to, and a change during a snooze is sent when
# the snooze ends and the change still holds.


WHOLE_RUN = ("", "")  # changes of no single table, such as a pattern without a matching table
GRAVEST_FIRST = list(Verdict)
POLICY_CHANGED = "the policy changed, so findings are not compared with those sent before"


Findings: TypeAlias = Mapping[str, tuple[str, Extent]]  # broken requirements by id: text and extent


@dataclass(frozen=True, slots=True)
class LastSent:
    """The last verdict that an alert sent of a table, with the broken requirements and the policy."""

    verdict: Verdict
    broken: Mapping[str, Extent] = field(default_factory=dict)
    question: str | None = None  # a fingerprint of the policy; None if not known


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A table whose verdict differs from the last one sent, or whose violation is worse than the one sent."""

    source: str
    table: str
    owner: str | None
    was: Annotated[Verdict | None, "the last verdict sent; null if none was sent of this table"]
    now: Verdict
    reason: str
    worse: Annotated[tuple[str, ...], "the findings of a violation sent before that are new or worse"] = ()
    broken: Annotated[Mapping[str, Extent], UNWRITTEN] = field(default_factory=dict, compare=False)
    question: Annotated[str | None, UNWRITTEN] = field(default=None, compare=False)

    @property
    def as_sent(self) -> LastSent:
        """The state to remember once this change was sent."""
        return LastSent(self.now, self.broken, self.question)

    @property
    def subject(self) -> tuple[str, str]:
        return self.source, self.table

    @property
    def name(self) -> str:
        """The name to show."""
        if self.subject == WHOLE_RUN:
            return "the run"
        return f"{self.table} ({self.source})" if self.source else self.table


def changes(alert: Alert, run: RunResult, sent: Mapping[tuple[str, str], LastSent], today: date) -> list[VerdictChange]:
    """The changes of a run that this alert has to send, the worst first; `sent` has the last verdict sent, by source
    and table.

    A table without a message counts as passing. After an interrupted run an inconclusive table is skipped,
    since the interruption says nothing about the table; a spent budget is no interruption. A violation that was sent
    under another policy is sent once more, and later ones are compared with that.
    """
    found = []
    for source, table, owner, now, reason, findings, policy in _verdicts(run):
        concerned = alert.concerns(source, table, owner) and not alert.snoozed(source, table, today)
        if not concerned and (source, table) != WHOLE_RUN:
            continue
        if run.interrupted and now is Verdict.INCONCLUSIVE:
            continue
        last = sent.get((source, table))
        other_policy = last is not None and None not in (last.question, policy) and last.question != policy
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
        broken = {id: extent for id, (_, extent) in findings.items()}
        was = None if last is None else last.verdict
        found.append(VerdictChange(source, table, owner, was, now, reason, worse, broken, policy))
    return sorted(found, key=lambda change: GRAVEST_FIRST.index(change.now))


def _worse(findings: Findings, last: LastSent) -> tuple[str, ...]:
    """The findings of a violation that are new or worse since it was sent."""
    sent = last.broken
    return tuple(text for id, (text, now) in findings.items() if id not in sent or now.worse_than(sent[id]))


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
    """The verdict of each table of a run, and of the run itself if it is worse than those of its tables."""
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
                _stable_id(finding): (finding.text, Extent.of(finding.measures))
                for finding in table.open_findings
                if finding.kind not in CAUSES
            },
            question=question(table.audit.account.policy) if table.audit else None,
        )
        for table in run.tables
    ]


def _covered(tables: Sequence[_Verdict], coverage: Coverage | None) -> list[_Verdict]:
    """The tables with the violations of the coverage; a table in no entry of the policy is added."""
    found = {(table.source, table.table): table for table in tables}
    for gap in coverage.violations if coverage else ():
        table = found.get((gap.source, gap.table), _Verdict(gap.source, gap.table, gap.owner, Verdict.PASS, "", {}))
        reason = table.reason if table.now is Verdict.VIOLATION else ""
        now = worst([table.now, Verdict.VIOLATION])
        found[gap.source, gap.table] = table._replace(
            now=now,
            reason="; ".join(filter(None, [reason, gap.text])) if now is Verdict.VIOLATION else table.reason,
            broken={**table.broken, gap.id: (gap.text, Extent(0, 0, 0))},
        )
    return list(found.values())


def _stable_id(finding: Finding) -> str:
    """The id of a finding; for k-anonymity of the whole table it does not depend on the columns."""
    return str(finding.kind) if finding.kind is FindingKind.K_ANONYMITY else finding.id


CHANGES_SHOWN = 20  # changes listed in a chat or an e-mail; the document has all
REASON = 600  # characters of a reason shown in a chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The message of an alert about one run: the document that a webhook or a command receives."""

    format: int = field(default=1, init=False)
    qidsql: str = __version__
    kind: str = field(default="alert", init=False)
    id: Annotated[str, "the same in each attempt, so that a receiver can recognise duplicates"]
    alert: str
    run: str
    started: datetime
    changes: tuple[VerdictChange, ...]

    @reported
    def text(self) -> Annotated[str, "the number of changes of each kind"]:
        if not self.changes:
            return f"qidsql: a test of the alert {self.alert}; nothing happened"
        words = {Verdict.ERROR: "broke", Verdict.VIOLATION: "in violation"}
        words |= {Verdict.INCONCLUSIVE: "inconclusive", Verdict.PASS: "passing again"}
        kinds = ["worse" if change.worse else words[change.now] for change in self.changes]
        ordered = ("broke", "in violation", "worse", "inconclusive", "passing again")
        parts = [f"{kinds.count(word)} {word}" for word in ordered if word in kinds]
        return f"qidsql: {plural(len(self.changes), 'change')}: {', '.join(parts)}"

    @property
    def lines(self) -> list[str]:
        """A line for each change, the first CHANGES_SHOWN of them."""
        lines = [_line(change) for change in self.changes[:CHANGES_SHOWN]]
        more = len(self.changes) - CHANGES_SHOWN
        return [*lines, f"... and {more} more"] if more > 0 else lines

    @property
    def plain_text(self) -> str:
        """The whole message as plain text."""
        started = self.started.isoformat(timespec="seconds")
        return "\n".join([self.text, "", *self.lines, "", f"run {self.run}, started {started}"])


def body(message: Message, kind: str) -> bytes:
    """The message as JSON for a webhook of this kind: our document, or the format of Slack or Teams."""
    formats = {"slack": _slack, "teams": _teams}
    return json.dumps(formats[kind](message) if kind in formats else plain(message)).encode()


def _slack(message: Message) -> dict[str, Any]:
    """[Slack: incoming webhooks; formatting text]: `text` is the notification, `blocks` the content."""
    sections = [f"*{_for_slack(message.text)}*", *(_for_slack(line) for line in message.lines)]
    return {
        "text": _for_slack(message.text),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in sections],
    }


def _teams(message: Message) -> dict[str, Any]:
    """[Teams: workflows that a webhook request starts]: an adaptive card as the only attachment."""
    blocks: list[dict[str, Any]] = [{"type": "TextBlock", "text": _for_teams(message.text), "weight": "Bolder"}]
    blocks += [{"type": "TextBlock", "text": _for_teams(line)} for line in message.lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{**block, "wrap": True} for block in blocks],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _line(change: VerdictChange) -> str:
    reason = " ".join("; ".join([change.reason, *change.worse]).split())
    reason = reason if len(reason) <= REASON else f"{reason[:REASON]} ..."
    owner = f" (owner: {change.owner})" if change.owner else ""
    now = "PASSES AGAIN" if change.now is Verdict.PASS else change.now.upper()
    return _visible(f"{now} {change.name}{owner}, {_before(change)}: {reason}")


def _before(change: VerdictChange) -> str:
    """The state of the table when this alert last sent it."""
    if change.was is None:
        return "first alert"
    if change.worse:
        return "worse than before"
    return "was passing" if change.was is Verdict.PASS else f"was {change.was}"


def _visible(text: str) -> str:
    """Escapes line breaks, control characters and changes of the text direction, which a name can contain."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _for_slack(text: str) -> str:
    """Escapes links, mentions and markup."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    return re.sub(r"([*_~`])", "\u200b\\1", text)  # after a zero-width space they start no markup


def _for_teams(text: str) -> str:
    """Escapes the special characters of Markdown."""
    return re.sub(r"([\\`*_\[\]()#<>])", r"\\\1", text)
