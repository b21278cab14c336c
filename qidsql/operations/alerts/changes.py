"""What is to be told: the tables whose verdict is another than the one told last, and violations that got worse.

Each alert has its own memory of what it told. So whoever hears of violations only hears once of each, a table that
flickers between inconclusive and violation is told as often as the alert listens to, and what changed during a snooze
is told when it ends and still holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from qidsql.core.policy import question
from qidsql.operations.alerts.settings import WORSE, Alert

PASS, VIOLATION = "pass", "violation"
WHOLE_RUN = ("", "")  # what is not about one table: a pattern that no table meets, a source that has none
ORDER = ("error", VIOLATION, "inconclusive", PASS)  # the worst first, as for the exit code
CLOSED = ("gone", "excepted")  # states of findings that nobody has to answer for
WHOLE_TABLE = "k-anonymity"  # the kind of the finding that is about all audited columns
REASONS = ("below-k", "key")  # kinds of findings that tell why the policy is broken, not that it is
MARGIN = Fraction(1, 100)  # of all rows: a share at risk that grows by less is no news, as for the findings of a run
POLICY_CHANGED = "the policy changed, so nothing is compared with what was told before"


class Standing(NamedTuple):
    """How bad a finding is: its smallest class, and its rows below k of how many; 0 where that is not told."""

    k: int
    at_risk: int
    whole: int

    def worse_than(self, told: "Standing | None") -> bool:
        return told is None or 0 < self.k < told.k or self.share - told.share >= MARGIN

    @property
    def share(self) -> Fraction:
        return Fraction(self.at_risk, self.whole) if self.whole else Fraction(0)


Findings: TypeAlias = Mapping[str, tuple[str, Standing]]  # what is broken: the words of each, and how bad it is


@dataclass(frozen=True, slots=True)
class Told:
    """What an alert told last of a table: its verdict, what was broken of the policy, and what the policy asked."""

    verdict: str
    broken: Mapping[str, Standing] = field(default_factory=dict)
    question: str | None = None  # a fingerprint of the policy; None: not known


@dataclass(frozen=True, slots=True)
class Change:
    """A table whose verdict is another than the one told last, or that is a worse violation than was told."""

    source: str
    table: str
    owner: str | None
    was: str | None  # the verdict told last; None where nothing was told of the table before
    now: str
    reason: str
    worse: tuple[str, ...] = ()  # the findings of a violation told before that are new or worse
    broken: Mapping[str, Standing] = field(default_factory=dict, compare=False)  # to be remembered, not to be told
    question: str | None = field(default=None, compare=False)  # the same

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

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key not in ("broken", "question")}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Change":
        """The change whose `to_dict` this is."""
        return cls(**{**document, "worse": tuple(document.get("worse", ()))})


def changes(
    alert: Alert, document: Mapping[str, Any], told: Mapping[tuple[str, str], Told], today: date
) -> list[Change]:
    """What this alert has to tell of a run, the worst first; `told` is what it told last, by source and table.

    A table of which nothing was told counts as passing. When the run was interrupted, a table that came out
    inconclusive is left as it was: that is no news of the table. A budget that is spent is no interruption.
    A violation told under another policy is reported once more, and later ones are compared with that.
    """
    interrupted = document["interrupted"]
    found = []
    for source, table, owner, now, reason, findings, asked in _verdicts(document):
        heard = alert.concerns(source, table, owner) and not alert.snoozed(source, table, today)
        if not heard and (source, table) != WHOLE_RUN:
            continue
        if interrupted and now == "inconclusive":
            continue
        last = told.get((source, table))
        other_policy = last is not None and None not in (last.question, asked) and last.question != asked
        worse: tuple[str, ...] = ()
        if now == (PASS if last is None else last.verdict):
            if last is None or now != VIOLATION or WORSE not in alert.on:
                continue
            worse = (POLICY_CHANGED,) if other_policy else _worse(findings, last)
            if not worse:
                continue
        elif now != PASS and now not in alert.on:
            continue
        elif other_policy:
            reason = f"{reason}; {POLICY_CHANGED}"
        broken = {id: bad for id, (_, bad) in findings.items()}
        was = None if last is None else last.verdict
        found.append(Change(source, table, owner, was, now, reason, worse, broken, asked))
    return sorted(found, key=lambda change: ORDER.index(change.now))


def _worse(findings: Findings, last: Told) -> tuple[str, ...]:
    """The findings of a violation that are new or worse since it was told."""
    return tuple(text for id, (text, bad) in findings.items() if bad.worse_than(last.broken.get(id)))


class _Verdict(NamedTuple):
    """A table of a run, what is broken there, and what its policy asked."""

    source: str
    table: str
    owner: str | None
    now: str
    reason: str
    broken: Findings
    question: str | None = None


def _verdicts(document: Mapping[str, Any]) -> list[_Verdict]:
    """The verdict of each table of a run document, and of the run where the tables do not account for it."""
    tables = _covered(_audited(document), document.get("coverage") or {})
    worst = min((table.now for table in tables), key=ORDER.index, default=PASS)
    verdict = str(document["verdict"])
    accounted = ORDER.index(verdict) >= ORDER.index(worst)
    whole = _Verdict(*WHOLE_RUN, None, PASS if accounted else verdict, str(document.get("reason") or ""), {})
    return [*tables, whole]


def _audited(document: Mapping[str, Any]) -> list[_Verdict]:
    return [
        _Verdict(
            source=str(table.get("source") or ""),
            table=str(table["table"]),
            owner=table.get("owner"),
            now=str(table["verdict"]),
            reason=str(table.get("error") or table.get("reason") or ""),
            broken={
                _known_by(finding): (str(finding["text"]), _standing(finding["measures"]))
                for finding in table.get("findings", ())
                if finding["state"] not in CLOSED and finding["kind"] not in REASONS
            },
            question=question(table["audit"]["policy"]) if table.get("audit") else None,
        )
        for table in document["tables"]
    ]


def _covered(tables: Sequence[_Verdict], coverage: Mapping[str, Any]) -> list[_Verdict]:
    """The tables with what the policy has to cover and does not; one that no entry names is a table of its own."""
    found = {(table.source, table.table): table for table in tables}
    for gap in coverage.get("gaps", ()):
        if gap["severity"] != VIOLATION:
            continue
        subject, text = (str(gap["source"]), str(gap["table"])), str(gap["text"])
        table = found.get(subject, _Verdict(*subject, gap["owner"], PASS, "", {}))
        reason = table.reason if table.now == VIOLATION else ""
        now = min(table.now, VIOLATION, key=ORDER.index)
        found[subject] = table._replace(
            now=now,
            reason="; ".join(filter(None, [reason, text])) if now == VIOLATION else table.reason,
            broken={**table.broken, str(gap["id"]): (text, Standing(0, 0, 0))},
        )
    return list(found.values())


def _known_by(finding: Mapping[str, Any]) -> str:
    """The id of a finding; that the whole table is below k stays the same finding when its columns change."""
    return str(finding["kind"] if finding["kind"] == WHOLE_TABLE else finding["id"])


def _standing(measures: Mapping[str, Any]) -> Standing:
    """How bad a finding is; a figure that --min-count left out is 0, so that nothing is told that it would tell."""
    whole = measures.get("rows", measures.get("entities"))
    return Standing(*(int(each or 0) for each in (measures.get("k"), measures.get("rows_at_risk"), whole)))
