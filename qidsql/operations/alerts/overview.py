"""The alerts of a policy file, with the last verdicts sent and the messages not yet delivered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated

from qidsql.core.results import Verdict
from qidsql.operations.alerts.delivery import Record
from qidsql.operations.alerts.settings import Alert, Snooze


@dataclass(frozen=True, slots=True)
class SentVerdict:
    """The last verdict that an alert sent of a table, unless it is a pass; an empty table means the whole run."""

    source: str
    table: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message that has not been delivered."""

    id: str
    since: datetime
    attempts: int
    failure: Annotated[str, "why the last attempt failed; empty before the first"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """An alert with its filters and its state, without addresses."""

    alert: Annotated[str, "its name in the policy file"]
    kind: str
    on: tuple[str, ...]
    owners: Annotated[tuple[str, ...], "only tables of these owners; empty: all"]
    tables: Annotated[tuple[str, ...], "only these tables and patterns; empty: all"]
    snoozed: Annotated[tuple[Snooze, ...], "those still in effect"]
    told: tuple[SentVerdict, ...]
    kept: Annotated[tuple[KeptMessage, ...], "oldest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertsOverview:
    """The alerts of a policy file."""

    format: int = field(default=1, init=False)
    kind: str = field(default="alerts", init=False)
    alerts: tuple[AlertState, ...]


def overview(alerts: Sequence[Alert], record: Record, today: date) -> AlertsOverview:
    """The alerts with their recorded state. Raises QidsqlError."""
    return AlertsOverview(alerts=tuple(_state(alert, record, today) for alert in alerts))


def _state(alert: Alert, record: Record, today: date) -> AlertState:
    sent = sorted(record.last_sent(alert.name).items(), key=lambda each: each[0])
    return AlertState(
        alert=alert.name,
        kind=alert.kind,
        on=alert.on,
        owners=alert.owners,
        tables=alert.tables,
        snoozed=tuple(snooze for snooze in alert.snoozes if today < snooze.until),
        told=tuple(SentVerdict(*subject, last.verdict) for subject, last in sent if last.verdict is not Verdict.PASS),
        kept=tuple(
            KeptMessage(each.message.id, each.since, each.attempts, each.failure, each.message.text)
            for each in record.pending()
            if each.message.alert == alert.name
        ),
    )
